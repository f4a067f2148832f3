"""Reads a schema document into a node type, with everything that is wrong in it told at once."""

import re
from collections.abc import Iterator, Mapping, Sequence

from schemory.model.frozen import replace
from schemory.model.hidden import find_hidden
from schemory.model.jsonvalue import is_finite_number, json_kind
from schemory.model.likeness import nearest
from schemory.model.schema import NodeSchema, Property, PropertyType
from schemory.schemas.parse_property import parse_property
from schemory.schemas.parse_rules import (
    as_list,
    as_object,
    check_description,
    check_keys,
    read_flag,
    word_key,
)
from schemory.schemas.report import Findings, ParsedSchema, Steps

RESERVED_TYPES = frozenset({"node", "nodes", "edges", "metadata"})
"""Types whose generated tools would take the names of the static ones."""

PREFIX = "add_"
MAX_TYPE_CHARS = 48 - len("delete_")
"""The longest type: `delete_<type>` must be a tool name that every host takes."""

_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_ROOT_KEYS = ("name", "description", "properties", "additionalProperties", "required")
_JSON_SCHEMA_KEYS = frozenset({"$schema", "$id", "$defs", "definitions", "$ref"})
_SHAPE = (
    'write {"name": "add_TYPE", "description": "…", "properties": {"name": {"type": "string", '
    '"description": "…"}}}; `schemory schema new TYPE` makes a file to start from'
)


def parse_schema(data: object, origin: str = "") -> ParsedSchema:
    """Return what `data` (parsed JSON) says as a schema; never raises on any JSON value.

    Args:
        data: The document's root.
        origin: Where it comes from (a path, `pack:rpg`), kept in the schema.
    """
    findings = Findings()
    root = as_object(data)
    if root is None:
        what = f"a schema must be a JSON object, not {json_kind(data)}"
        findings.fault((), what, suggestion=_SHAPE)
        return findings.parsed(None)
    if _is_ordinary_json_schema(root):
        what = "this is an ordinary JSON Schema, not the schema of a node type"
        findings.fault((), what, suggestion=_SHAPE)
        return findings.parsed(None)
    _check_texts(root, findings)
    node_type = _parse_name(root, origin, findings)
    description = check_description(root, (), findings, subject="the schema")
    properties = _parse_properties(root, findings)
    required = _parse_required(root, findings)
    allows_additional = read_flag(root, "additionalProperties", (), findings, default=True)
    check_keys(root, _ROOT_KEYS, (), findings)
    schema = NodeSchema(
        node_type=node_type,
        description=description,
        properties=_with_required(properties, required),
        allows_additional=allows_additional,
        origin=origin,
    )
    return findings.parsed(schema)


def type_fault(node_type: str) -> str | None:
    """Return why `node_type` cannot name generated tools, or None."""
    if not _TYPE.fullmatch(node_type):
        return "a type has lower-case letters, digits and _ and starts with a letter"
    if len(node_type) > MAX_TYPE_CHARS:
        longest = f"delete_{node_type}"
        return f"the tool name {longest} has {len(longest)} characters; hosts take at most 48"
    if node_type in RESERVED_TYPES:
        return f"the type {node_type} is reserved, since add_{node_type} is taken by another tool"
    return None


def _is_ordinary_json_schema(root: Mapping[str, object]) -> bool:
    if "name" in root:
        return False
    return root.get("type") == "object" or not _JSON_SCHEMA_KEYS.isdisjoint(root)


def _check_texts(root: Mapping[str, object], findings: Findings) -> None:
    """Fault every hidden character and every number that JSON does not know."""
    for steps, value in _walk(root):
        if isinstance(value, str):
            found = find_hidden(value)
            if found is not None:
                at, name = found
                what = f"there is the hidden character {name} (at character {at + 1})"
                findings.fault(steps, what, suggestion="remove it")
        elif isinstance(value, float) and not is_finite_number(value):
            findings.fault(steps, "NaN and infinite numbers are no JSON")


def _walk(root: object) -> Iterator[tuple[Steps, object]]:
    """Yield every key and value under `root` with its place, without recursion."""
    todo: list[tuple[Steps, object]] = [((), root)]
    while todo:
        steps, value = todo.pop()
        yield steps, value
        inner: list[tuple[Steps, object]] = []
        for key, member in (as_object(value) or {}).items():
            yield (*steps, key), key
            inner.append(((*steps, key), member))
        for index, item in enumerate(as_list(value) or ()):
            inner.append(((*steps, index), item))
        todo.extend(reversed(inner))


def _parse_name(root: Mapping[str, object], origin: str, findings: Findings) -> str:
    name = root.get("name")
    if not isinstance(name, str):
        missing = "name" not in root
        what = (
            "there is no name" if missing else f"the name must be a string, not {json_kind(name)}"
        )
        stem = re.split(r"[/\\]", origin)[-1].removesuffix(".schema.json")
        hint = f'add "name": "{PREFIX}{word_key(stem) or "TYPE"}"'
        findings.fault(("name",), what, suggestion=hint)
        return ""
    node_type = name.removeprefix(PREFIX)
    if not name.startswith(PREFIX):
        fault = f'the name must start with "{PREFIX}"; what follows is the type'
    else:
        fault = type_fault(node_type) or ""
    if fault:
        better = re.sub(r"^(add|update|delete)_", "", word_key(name))
        is_other = f"{PREFIX}{better}" != name and type_fault(better) is None
        near = (f"{PREFIX}{better}",) if is_other else ()
        hint = f'write "{near[0]}"' if near else f'write "{PREFIX}TYPE" with another type'
        findings.fault(("name",), fault, nearest=near, suggestion=hint)
    return node_type


def _parse_properties(root: Mapping[str, object], findings: Findings) -> dict[str, Property]:
    members = as_object(root.get("properties"))
    if members is None:
        missing = "properties" not in root
        what = (
            "there are no properties"
            if missing
            else f"properties must be an object, not {json_kind(root['properties'])}"
        )
        hint = 'add "properties": {"name": {"type": "string", "description": "…"}}'
        findings.fault(("properties",), what, suggestion=hint)
        return {}
    properties = {} if "name" in members else {"name": _IMPLICIT_NAME}
    for key, member in members.items():
        prop = parse_property(key, member, findings)
        if prop is not None:
            properties[prop.name] = prop
    _check_clashes(properties, findings)
    if "name" in properties:
        _check_name_property(properties["name"], members, findings)
    return properties


def _check_clashes(properties: Mapping[str, Property], findings: Findings) -> None:
    taken: dict[str, str] = {}
    for prop in properties.values():
        others = {taken[s] for s in prop.spellings if s in taken}
        for other in sorted(others):
            what = (
                f'"{prop.name}" and "{other}" are the same key once case, spaces, _ and - are '
                "ignored (labels count), so their metadata lines could not be told apart"
            )
            findings.fault(("properties", prop.name), what, suggestion="rename one of them")
        taken.update(dict.fromkeys(prop.spellings, prop.name))


def _check_name_property(name: Property, members: Mapping[str, object], findings: Findings) -> None:
    steps: Steps = ("properties", "name")
    if name.type is not PropertyType.STRING:
        findings.fault((*steps, "type"), "the name of a node is a string")
    if name.relationship is not None:
        findings.fault((*steps, "relationship"), "the name cannot make an edge")
    if name.default is not None:
        findings.fault((*steps, "default"), "the name cannot have a default")
    if _is_flagged_optional(members, "name"):
        what = "the name is required all the same, since it identifies the node"
        findings.warn((*steps, "required"), what, suggestion='write "required": true')


def _parse_required(root: Mapping[str, object], findings: Findings) -> tuple[str, ...]:
    """Return the root `required` list, which stands beside or instead of the properties' flags."""
    if "required" not in root:
        return ()
    value = as_list(root["required"])
    if value is None:
        what = f'"required" here must be a list of property keys, not {json_kind(root["required"])}'
        findings.fault(("required",), what)
        return ()
    members = as_object(root.get("properties")) or {}
    for index, key in enumerate(value):
        where: Steps = ("required", index)
        if not isinstance(key, str):
            findings.fault(where, f"a property key must be a string, not {json_kind(key)}")
        elif key not in members and key != "name":
            near = nearest(key, members)
            hint = f'write "{near[0]}"' if near else "remove it or add the property"
            what = f'"{key}" is no property of this schema'
            findings.fault(where, what, nearest=near, suggestion=hint)
        elif _is_flagged_optional(members, key):
            what = f'"{key}" is listed as required, but its own flag says false'
            findings.warn(where, what, suggestion="the list wins; remove one of the two")
    keys = tuple(key for key in value if isinstance(key, str))
    findings.note(("required",), f"the list is honoured: required are {', '.join(keys)}")
    return keys


def _is_flagged_optional(members: Mapping[str, object], key: str) -> bool:
    prop = as_object(members.get(key)) or {}
    return prop.get("required") is False


def _with_required(
    properties: Mapping[str, Property], required: Sequence[str]
) -> dict[str, Property]:
    always = {"name", *required}
    return {
        key: replace(prop, is_required=prop.is_required or key in always)
        for key, prop in properties.items()
    }


_IMPLICIT_NAME = Property(name="name", description="Unique name", is_required=True)
