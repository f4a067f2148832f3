"""How a stored node stands to its schema: a property's present value, and what no longer fits."""

import json

from schemory.errors import Problem
from schemory.model.jsonvalue import Json, child_path, place
from schemory.model.metadata import has_key, normal_key, parse_line
from schemory.model.node import NodeRecord
from schemory.model.schema import NodeSchema, Property, PropertyType
from schemory.schemas.values import ITEM_SEPARATOR, Trouble, coerce_value, listed

_MAX_SHOWN_KEY = 100


def property_lines(prop: Property, record: NodeRecord) -> tuple[str, ...]:
    """Return the node's lines whose key means `prop`, in order."""
    spellings = prop.spellings
    return tuple(line for line in record.node.metadata if has_key(line, spellings))


def typed_value(prop: Property, record: NodeRecord) -> Json:
    """Return the typed value kept for `prop`, while its line is unchanged; else None."""
    kept = [typed for typed in record.typed if typed.property_name == prop.name]
    if not kept:
        return None
    first = property_lines(prop, record)[:1]
    return next((typed.value for typed in kept if first == (typed.line,)), None)


def property_value(prop: Property, record: NodeRecord) -> Json:
    """Return the node's present value of `prop`, or None.

    A typed value counts first. Without one the line's text is read by the property's type: a
    joined array is split at `", "`, which is a guess, and a text that is no number stays a text.
    """
    typed = typed_value(prop, record)
    if typed is not None:
        return typed
    line = next(iter(property_lines(prop, record)), None)
    if line is None:
        return None
    text = parse_line(line).value
    if prop.type is PropertyType.ARRAY:
        return text.split(ITEM_SEPARATOR) if text else []
    return _read_text(prop, text, Trouble())


def names_target(prop: Property, record: NodeRecord, target: str) -> bool:
    """Whether the node's present value of `prop` names `target` (alone or between `", "`)."""
    typed = typed_value(prop, record)
    if typed is not None:
        return typed == target or (not isinstance(typed, str) and target in _items(typed))
    sought = f"{ITEM_SEPARATOR}{target}{ITEM_SEPARATOR}"
    texts = (parse_line(line).value for line in property_lines(prop, record))
    return any(sought in f"{ITEM_SEPARATOR}{text}{ITEM_SEPARATOR}" for text in texts)


def node_faults(schema: NodeSchema, record: NodeRecord) -> tuple[Problem, ...]:
    """Return what in a stored node does not fit its schema, each with a call that mends it.

    Whether a unique value is shared and whether targets exist is the graph's to tell.
    """
    trouble = Trouble()
    for prop in schema.properties.values():
        if prop.name == "name":
            _check_name(schema, prop, record, trouble)
        else:
            _check_property(schema, prop, record, trouble)
    if not schema.allows_additional:
        _check_additional(schema, record, trouble)
    return tuple(trouble.problems)


def _check_name(schema: NodeSchema, prop: Property, record: NodeRecord, trouble: Trouble) -> None:
    found = Trouble()
    path = child_path(f"$.{schema.node_type}", prop.name)
    coerce_value(prop, record.name, path, found)
    for problem in found.problems:
        hint = "rename the node, or change the schema"
        trouble.add(path, problem.message, nearest=problem.nearest, suggestion=hint)


def _check_property(
    schema: NodeSchema, prop: Property, record: NodeRecord, trouble: Trouble
) -> None:
    path = child_path(f"$.{schema.node_type}", prop.name)
    mend = _update_call(schema, record, prop.name, "…")
    lines = property_lines(prop, record)
    text = next((parse_line(line).value for line in lines), "")
    if not text.strip():
        if prop.is_required:
            what = f"{prop.name} is required, but there is no line with a value for it"
            trouble.add(path, what, suggestion=f"call {mend}")
        return
    if len(lines) > 1 and prop.type is not PropertyType.ARRAY:
        what = f"{prop.name} has {len(lines)} lines where one is due"
        trouble.add(path, what, suggestion=f"call {mend}, which leaves one")
    found = Trouble()
    typed = typed_value(prop, record)
    if typed is not None:
        coerce_value(prop, typed, path, found)
    elif prop.type is not PropertyType.ARRAY:
        _read_text(prop, text, found, path)
    elif prop.enum and not _is_joined_from(text, prop.enum):
        found.add(path, f"{prop.name} holds an item that is none of {listed(prop.enum)}")
    for problem in found.problems:
        hint = f"call {mend}" + ("" if prop.is_required else ", or with null to remove it")
        trouble.add(path, problem.message, nearest=problem.nearest, suggestion=hint)


def _check_additional(schema: NodeSchema, record: NodeRecord, trouble: Trouble) -> None:
    seen: set[str] = set()
    for line in record.node.metadata:
        key = parse_line(line).key
        if not key or schema.find_property(key) or normal_key(key) in seen:
            continue
        seen.add(normal_key(key))
        path = child_path(f"$.{schema.node_type}", key)
        what = f"{place(path)} is no property of {schema.node_type}, which allows no others"
        is_short = len(key) <= _MAX_SHOWN_KEY
        mend = _update_call(schema, record, key, None) if is_short else "delete_metadata"
        trouble.add(path, what, suggestion=f"call {mend}")


def _read_text(prop: Property, text: str, trouble: Trouble, path: str = "$") -> Json:
    """Read a line's text by the property's type; a text that does not fit is told and kept."""
    if not text.strip():
        return text
    flags: dict[str, Json] = {"true": True, "false": False}
    is_flag = prop.type is PropertyType.BOOLEAN
    value = coerce_value(prop, flags.get(text, text) if is_flag else text, path, trouble)
    return text if value is None else value


def _is_joined_from(text: str, values: tuple[str, ...]) -> bool:
    """Whether `text` can be read as some of `values` joined by comma and space."""
    ends = {0}
    todo = [0]
    while todo:
        start = todo.pop()
        for value in values:
            end = start + len(value)
            if not text.startswith(value, start) or end in ends:
                continue
            if end == len(text):
                return True
            if text.startswith(ITEM_SEPARATOR, end):
                ends.add(end)
                todo.append(end + len(ITEM_SEPARATOR))
    return False


def _items(value: Json) -> tuple[Json, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _update_call(schema: NodeSchema, record: NodeRecord, key: str, value: str | None) -> str:
    entity = {"name": record.name, key: value}
    return f"update_{schema.node_type} {json.dumps({schema.node_type: entity}, ensure_ascii=False)}"
