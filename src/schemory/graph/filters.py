"""What a filter or a sorting of `query_nodes` reads from a node, and how values compare."""

import math
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias, get_args

from schemory.errors import Problem
from schemory.graph.checks import invalid
from schemory.graph.inputs import Filter, FilterOp
from schemory.model.jsonvalue import Json
from schemory.model.likeness import nearest
from schemory.model.metadata import normal_key, parse_line
from schemory.model.node import NodeRecord
from schemory.model.text import fold, nfc
from schemory.schemas.catalog import SchemaCatalog
from schemory.schemas.plan import property_value
from schemory.schemas.values import is_array, line_text

Scalar: TypeAlias = bool | int | float | str

_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[Tt ].*)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_ORDERED = frozenset({"lt", "le", "gt", "ge"})


class Key(NamedTuple):
    """A value as it is ordered: numbers, then moments, then texts; only one kind compares."""

    kind: int
    number: float
    text: str


def key_of(value: Scalar) -> Key:
    """Return how a value is ordered; a text that is a number or an ISO moment counts as that.

    >>> key_of("10") > key_of(9), key_of("2026-03-08") < key_of("2026-03-08T01:00:00Z")
    (True, True)
    """
    number = _number(value)
    if number is not None:
        return Key(0, number, "")
    text = line_text(value)
    moment = _moment(text)
    return Key(2, 0.0, fold(text)) if moment is None else Key(1, moment, "")


def _number(value: Scalar) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value.strip()):
            return None
        value = value.strip()
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _moment(text: str) -> float | None:
    if not _MOMENT.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


def values_of(record: NodeRecord, catalog: SchemaCatalog, name: str) -> tuple[Scalar, ...]:
    """Return a node's values of a property: none, one, or the items of an array.

    A property of the schema is read by its type; any other name means the lines of that key, in
    any spelling.
    """
    if name in ("name", "nodeType"):
        return (record.name if name == "name" else record.node.node_type,)
    schema = catalog.get(record.node.node_type)
    prop = schema.find_property(name) if schema is not None else None
    if prop is not None and prop.name != "name":
        return tuple(_scalars(property_value(prop, record)))
    typed = {value.line: value.value for value in record.typed}
    wanted = normal_key(name)
    lines = (line for line in record.node.metadata if normal_key(parse_line(line).key) == wanted)
    return tuple(s for line in lines for s in _scalars(typed.get(line, parse_line(line).value)))


def _scalars(value: Json) -> Iterator[Scalar]:
    if isinstance(value, bool | int | float | str):
        yield value
    elif is_array(value):
        for item in value:
            yield from _scalars(item)


def filter_problems(filters: Sequence[Filter]) -> Iterator[Problem]:
    """Yield what is wrong with the filters of a call."""
    for index, item in enumerate(filters):
        path = f"$.filters[{index}]"
        if not item.property_name.strip():
            yield invalid(f"{path}.property", f"filters[{index}].property must not be empty")
        if item.op not in get_args(FilterOp):
            near = nearest(item.op, get_args(FilterOp))
            yield Problem(
                code="INVALID_PARAM",
                path=f"{path}.op",
                message=f"filters[{index}].op must be one of {', '.join(get_args(FilterOp))}",
                nearest=near,
                suggestion=f'use "{near[0]}"' if near else None,
            )
        else:
            fault = _value_fault(item)
            if fault is not None:
                yield invalid(f"{path}.value", f"filters[{index}].value {fault}")


def _value_fault(item: Filter) -> str | None:
    value = item.value
    if item.op == "exists":
        return None if value is None or isinstance(value, bool) else "must be true or false"
    if item.op == "in":
        is_good = is_array(value) and all(isinstance(v, bool | int | float | str) for v in value)
        return None if is_good else "must be a list of texts or numbers"
    if item.op in _ORDERED and isinstance(value, bool):
        return "must be a number, a date or a text"
    if not isinstance(value, bool | int | float | str):
        return "must be a text, a number, true or false"
    return None


def fulfils(values: Sequence[Scalar], item: Filter) -> bool:
    """Whether a property with these values fulfils a filter; of an array any item may."""
    wanted = item.value
    if item.op == "exists":
        return bool(values) == (wanted is None or wanted is True)
    if item.op == "in":
        options = tuple(_scalars(wanted))
        return any(_equal(value, option) for value in values for option in options)
    (option,) = _scalars(wanted)
    if item.op == "ne":
        return not any(_equal(value, option) for value in values)
    if item.op == "eq":
        return any(_equal(value, option) for value in values)
    if item.op == "contains":
        return any(fold(line_text(option)) in fold(line_text(value)) for value in values)
    return any(_compares(value, item.op, option) for value in values)


def _equal(value: Scalar, option: Scalar) -> bool:
    if nfc(line_text(value)) == nfc(line_text(option)):
        return True
    one, other = key_of(value), key_of(option)
    return one.kind == other.kind != key_of("").kind and one == other


def _compares(value: Scalar, op: str, option: Scalar) -> bool:
    one, other = key_of(value), key_of(option)
    if one.kind != other.kind:
        return False
    if op in ("le", "ge") and one == other:
        return True
    return one < other if op in ("lt", "le") else one > other
