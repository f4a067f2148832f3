"""A property's value as it arrives: coerced by the few listed rules, then held to its facets."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import TypeGuard

from schemory.errors import InvalidParamError, Problem
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import (
    Json,
    child_path,
    is_finite_number,
    json_kind,
    place,
    plain_number,
)
from schemory.model.likeness import nearest
from schemory.model.schema import Property, PropertyType
from schemory.model.text import counted, encodable, nfc, text_fault

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATETIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.]\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?", re.ASCII
)
_SHOWN_VALUES = 20
ITEM_SEPARATOR = ", "


@dataclass(slots=True)
class Trouble:
    """Collects the problems of one call."""

    problems: list[Problem] = field(default_factory=list[Problem])

    def add(
        self,
        path: str,
        message: str,
        *,
        nearest: Sequence[str] = (),
        suggestion: str | None = None,
        code: str = InvalidParamError.code,
    ) -> None:
        """Record one problem."""
        self.problems.append(
            Problem(
                code=code,
                path=encodable(path),
                message=encodable(message),
                nearest=tuple(nearest),
                suggestion=encodable(suggestion) if suggestion else None,
            )
        )


def is_empty(value: object) -> bool:
    """Whether a value says nothing: null, a blank string, or an array without items."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (is_array(value) and len(value) == 0)


def unwrap(prop: Property, value: Json) -> Json:
    """Return `value` in the shape its property has, where the caller's meaning is plain.

    A JSON text is parsed where an array is due; a relationship takes `"X"` for an array and
    `["X"]` for a string. Source: graph.md §2, §4.
    """
    if prop.type is PropertyType.ARRAY and isinstance(value, str):
        parsed = _parsed_array(value)
        if parsed is not None:
            return parsed
        return [value] if prop.relationship and value.strip() else value
    is_single = prop.relationship is not None and prop.type is not PropertyType.ARRAY
    if is_single and is_array(value) and len(value) == 1:
        return value[0]
    return value


def is_array(value: object) -> TypeGuard[Sequence[Json]]:
    """Whether `value` is a JSON array."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _parsed_array(text: str) -> Sequence[Json] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed if is_array(parsed) else None


def coerce_value(prop: Property, value: Json, path: str, trouble: Trouble) -> Json:
    """Return `value` as the property holds it, or None after telling `trouble` what is wrong."""
    if prop.type is not PropertyType.ARRAY:
        return _coerce_scalar(prop, prop.type, value, path, trouble)
    if not is_array(value):
        what = f"an array of {_ITEMS[prop.item_type]}"
        hint = f'give an array, even for one item: "{prop.name}": ["…"]'
        trouble.add(path, f"{place(path)} must be {what}, not {json_kind(value)}", suggestion=hint)
        return None
    _check_count(prop, len(value), path, trouble)
    kind = prop.item_type
    return _items(
        value, path, trouble, lambda item, at: _coerce_scalar(prop, kind, item, at, trouble)
    )


def coerce_extra(value: Json, path: str, trouble: Trouble) -> Json:
    """Return an undeclared property's value, or None after telling `trouble` what is wrong.

    Texts, numbers, true and false stay what they are; an array may hold any of them.
    """
    if not is_array(value):
        return _plain(value, path, trouble)
    return _items(value, path, trouble, lambda item, at: _plain(item, at, trouble))


def _items(
    values: Sequence[Json], path: str, trouble: Trouble, coerce: Callable[[Json, str], Json]
) -> list[Json] | None:
    """Return the items coerced, each told its path, or None when one of them cannot be."""
    items: list[Json] = []
    for index, item in enumerate(values):
        at = child_path(path, index)
        if is_empty(item):
            trouble.add(at, f"{place(at)} must not be null, blank or empty")
        else:
            items.append(coerce(item, at))
    return items if len(items) == len(values) and None not in items else None


def line_text(value: Json) -> str:
    """Return a coerced value as it stands in a metadata line: items joined by comma and space.

    >>> line_text(["brave", "wise"]), line_text(3.0), line_text(True)
    ('brave, wise', '3', 'true')
    """
    if isinstance(value, str):
        return value
    if is_array(value):
        return ITEM_SEPARATOR.join(line_text(item) for item in value)
    return json.dumps(plain_number(value) if isinstance(value, float) else value)


def _check_count(prop: Property, count: int, path: str, trouble: Trouble) -> None:
    if prop.min_items is not None and count < prop.min_items:
        trouble.add(
            path, f"{place(path)} must have at least {counted(prop.min_items, 'item')}, has {count}"
        )
    if prop.max_items is not None and count > prop.max_items:
        trouble.add(
            path, f"{place(path)} must have at most {counted(prop.max_items, 'item')}, has {count}"
        )


def _coerce_scalar(
    prop: Property, kind: PropertyType, value: Json, path: str, trouble: Trouble
) -> Json:
    typed = _READERS[kind](value)
    if typed is None:
        way_out = _OBJECT_WAY_OUT if isinstance(value, Mapping) else None
        what = f"{place(path)} must be {_KINDS[kind]}, not {_described(kind, value)}"
        trouble.add(path, what, suggestion=way_out)
        return None
    if isinstance(typed, str):
        return _checked_text(prop, nfc(typed) if prop.relationship else typed, path, trouble)
    if isinstance(typed, bool):
        return typed
    return _checked_number(prop, typed, path, trouble)


def _described(kind: PropertyType, value: Json) -> str:
    if isinstance(value, str) and kind is not PropertyType.STRING:
        return "this text"
    if kind is PropertyType.INTEGER and json_kind(value) == "a number":
        return "this number"
    return json_kind(value)


def _checked_text(prop: Property, text: str, path: str, trouble: Trouble) -> Json:
    fault = text_fault(text)
    if fault is not None:
        trouble.add(path, f"{place(path)} {fault}")
        return None
    if prop.enum:
        return _enum_value(prop.enum, text, path, trouble)
    length = len(text)
    if prop.min_length is not None and length < prop.min_length:
        bound = counted(prop.min_length, "character")
        what = f"{place(path)} must have at least {bound}, has {length}"
        trouble.add(path, what)
    elif prop.max_length is not None and length > prop.max_length:
        bound = counted(prop.max_length, "character")
        what = f"{place(path)} must have at most {bound}, has {length}"
        trouble.add(path, what)
    return text


def _enum_value(enum: Sequence[str], text: str, path: str, trouble: Trouble) -> Json:
    if text in enum:
        return text
    same = next((value for value in enum if nfc(value) == nfc(text)), None)
    if same is not None:
        return same
    near = nearest(text, enum)
    hint = f'use "{near[0]}"' if near else None
    what = f"{place(path)} must be exactly one of {listed(enum)}"
    trouble.add(path, what, nearest=near, suggestion=hint)
    return None


def listed(values: Sequence[str]) -> str:
    """Return values for a message, separated by commas; a long list is cut and counted."""
    shown = ", ".join(values[:_SHOWN_VALUES])
    rest = len(values) - _SHOWN_VALUES
    return f"{shown} and {rest} more" if rest > 0 else shown


def _checked_number(prop: Property, number: float, path: str, trouble: Trouble) -> Json:
    if prop.minimum is not None and number < prop.minimum:
        trouble.add(path, f"{place(path)} must be at least {line_text(prop.minimum)}")
    elif prop.maximum is not None and number > prop.maximum:
        trouble.add(path, f"{place(path)} must be at most {line_text(prop.maximum)}")
    return number


def _plain(value: Json, path: str, trouble: Trouble) -> Json:
    if isinstance(value, str):
        fault = text_fault(value)
        if fault is not None:
            trouble.add(path, f"{place(path)} {fault}")
        return value
    if isinstance(value, bool):
        return value
    number = _as_number(value)
    if number is None:
        what = f"{place(path)} must be a text, number, true, false or an array of these"
        trouble.add(path, f"{what}, not {json_kind(value)}", suggestion=_OBJECT_WAY_OUT)
    return number


def _as_string(value: Json) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return line_text(value)
    number = _as_number(value)
    return None if number is None else line_text(number)


def _as_number(value: Json) -> int | float | None:
    if isinstance(value, str):
        return _read_number(value.strip())
    if not is_finite_number(value):
        return None
    return plain_number(value) if isinstance(value, float) else value


def _read_number(text: str) -> int | float | None:
    if len(text) > _MAX_DIGITS or not _NUMBER.fullmatch(text):
        return None
    is_whole = text.lstrip("-").isdigit()
    return _as_number(int(text) if is_whole else float(text))


def _as_integer(value: Json) -> int | None:
    number = _as_number(value)
    if isinstance(number, float) and number.is_integer():
        return int(number)
    return number if isinstance(number, int) else None


def _as_boolean(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _as_date(value: Json) -> str | None:
    return _as_moment(value, _DATE, date.fromisoformat)


def _as_datetime(value: Json) -> str | None:
    return _as_moment(value, _DATETIME, datetime.fromisoformat)


def _as_moment(value: Json, form: re.Pattern[str], read: Callable[[str], date]) -> str | None:
    if not isinstance(value, str) or not form.fullmatch(value):
        return None
    try:
        read(value)
    except ValueError:
        return None
    return value


_MAX_DIGITS = 400
_OBJECT_WAY_OUT = (
    "give each part as its own property, or make a node of it and relate the two with add_edges"
)
_KINDS: Mapping[PropertyType, str] = {
    PropertyType.STRING: "a string",
    PropertyType.ARRAY: "an array",
    PropertyType.NUMBER: "a finite number",
    PropertyType.INTEGER: "a whole number",
    PropertyType.BOOLEAN: "true or false (without quotes)",
    PropertyType.DATE: "a date like 2026-03-08",
    PropertyType.DATETIME: "a date and time like 2026-03-08T09:05:07Z",
}
_ITEMS: Mapping[PropertyType, str] = {
    PropertyType.STRING: "strings",
    PropertyType.ARRAY: "arrays",
    PropertyType.NUMBER: "numbers",
    PropertyType.INTEGER: "whole numbers",
    PropertyType.BOOLEAN: "true or false",
    PropertyType.DATE: "dates like 2026-03-08",
    PropertyType.DATETIME: "dates and times like 2026-03-08T09:05:07Z",
}
_READERS: Mapping[PropertyType, Callable[[Json], str | int | float | None]] = {
    PropertyType.STRING: _as_string,
    PropertyType.ARRAY: _as_string,
    PropertyType.NUMBER: _as_number,
    PropertyType.INTEGER: _as_integer,
    PropertyType.BOOLEAN: _as_boolean,
    PropertyType.DATE: _as_date,
    PropertyType.DATETIME: _as_datetime,
}
