"""JSON values that arrive as JSON text, and the checks that make any JSON value safe to handle."""

import json
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, NoReturn, TypeGuard

from schemory.model.jsonvalue import Json, is_finite_number
from schemory.model.text import is_utf8

MAX_DEPTH = 64
"""How deeply lists and objects in arguments may nest; far more than any tool needs."""
MAX_NUMBER = int(sys.float_info.max)
"""The largest whole number that every JSON reader can hold, if roughly."""


class _NoJson(Enum):
    NO_JSON = "no JSON"


NO_JSON: Final = _NoJson.NO_JSON
"""What `parse_text` returns for text that is no usable JSON; None is a JSON value."""

JSON_KINDS: Mapping[str, str] = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
}


def is_object(value: object) -> TypeGuard[Mapping[str, Json]]:
    """Return whether `value` is a JSON object."""
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeGuard[Sequence[Json]]:
    """Return whether `value` is a JSON array."""
    return isinstance(value, list | tuple)


def parse_text(text: str) -> "Json | _NoJson":
    """Return the JSON value that `text` spells, or NO_JSON; NaN, infinities and bombs are none.

    >>> parse_text('["a", 1]')
    ['a', 1]
    >>> {parse_text(text) for text in ("a", "NaN", "1e999", "[" * 9999)} == {NO_JSON}
    True
    """
    try:
        value: Json = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return NO_JSON
    return value if json_fault(value) is None else NO_JSON


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def as_kind(kind: str, value: Json) -> "Json | _NoJson":
    """Return `value` as JSON type `kind`, read from JSON text if need be; NO_JSON = it is not one.

    Integers may be written 3.0; a boolean is never a number; text for a string is left alone.

    >>> as_kind("array", '["a"]'), as_kind("integer", 3.0), as_kind("string", "3")
    (['a'], 3, '3')
    """
    if isinstance(value, str) and kind != "string":
        parsed = parse_text(value)
        return NO_JSON if parsed is NO_JSON or isinstance(parsed, str) else as_kind(kind, parsed)
    if kind in {"integer", "number"}:
        return _as_number(kind, value)
    fits = {
        "object": is_object(value),
        "array": is_array(value),
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
    }[kind]
    return value if fits else NO_JSON


def _as_number(kind: str, value: Json) -> "Json | _NoJson":
    if isinstance(value, bool) or not isinstance(value, int | float):
        return NO_JSON
    if isinstance(value, float) and not is_finite_number(value):
        return NO_JSON
    if kind == "number" or isinstance(value, int):
        return value
    return int(value) if value.is_integer() else NO_JSON


def json_fault(value: object) -> str | None:
    """Return why `value` is not safe to handle as JSON, or None; never recurses.

    >>> json_fault({"a": [1, "x", None]}), json_fault([float("nan")])
    (None, 'must not contain NaN or an infinite number')
    """
    waiting: list[tuple[object, int]] = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        fault = _scalar_fault(item)
        if fault is not None:
            return fault
        if is_object(item) or is_array(item):
            if depth > MAX_DEPTH:
                return f"must not nest deeper than {MAX_DEPTH} levels"
            parts = [*item, *item.values()] if is_object(item) else item
            waiting.extend((part, depth + 1) for part in parts)
    return None


def _scalar_fault(item: object) -> str | None:
    if isinstance(item, str):
        return None if is_utf8(item) else "must not contain a lone surrogate"
    if isinstance(item, float):
        return None if is_finite_number(item) else "must not contain NaN or an infinite number"
    if isinstance(item, int):
        fits = abs(item) <= MAX_NUMBER
        return None if fits else "must not contain a number beyond the range of a double"
    known = item is None or is_object(item) or is_array(item)
    return None if known else "must be plain JSON"
