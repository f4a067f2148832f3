"""Reads one property of a schema document: its type, its facets and the edge it makes."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json, json_kind
from schemory.model.likeness import nearest
from schemory.model.metadata import normal_key
from schemory.model.schema import Property, PropertyType
from schemory.model.text import nfc, text_fault
from schemory.schemas.parse_relationship import parse_relationship
from schemory.schemas.parse_rules import (
    as_object,
    check_description,
    check_keys,
    check_order,
    read_count,
    read_flag,
    read_number,
    word_key,
)
from schemory.schemas.report import Findings, Steps
from schemory.schemas.values import Trouble, coerce_value, is_array, is_empty

_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_MAX_KEY = 64
_MAX_LABEL = 100
_RESERVED = ("max", "per", "dated")
_BOUNDS = ("minimum", "maximum", "minLength", "maxLength")
_KEYS = (
    "type", "description", "required", "enum", "default", *_BOUNDS, "items", "minItems",
    "maxItems", "unique", "label", "relationship", *_RESERVED,
)  # fmt: skip
_ITEM_KEYS = ("type", "description", "enum", *_BOUNDS)
_TEXT = frozenset({PropertyType.STRING})
_NUMBERS = frozenset({PropertyType.NUMBER, PropertyType.INTEGER})
_ARRAY = frozenset({PropertyType.ARRAY})
_FITS: Mapping[str, frozenset[PropertyType]] = {
    "enum": _TEXT | _ARRAY,
    "minimum": _NUMBERS,
    "maximum": _NUMBERS,
    "minLength": _TEXT,
    "maxLength": _TEXT,
    "items": _ARRAY,
    "minItems": _ARRAY,
    "maxItems": _ARRAY,
    "unique": frozenset(PropertyType) - _ARRAY,
    "relationship": _TEXT | _ARRAY,
}
_ALIASES: Mapping[str, str] = {
    "str": "string", "text": "string", "char": "string", "uuid": "string", "url": "string",
    "enum": "string", "int": "integer", "long": "integer", "float": "number",
    "double": "number", "decimal": "number", "bool": "boolean", "list": "array",
    "set": "array", "tuple": "array", "date-time": "datetime", "timestamp": "datetime",
    "time": "datetime",
}  # fmt: skip
_ITEM_TYPES = tuple(kind.value for kind in PropertyType if kind is not PropertyType.ARRAY)


class _Facets(NamedTuple):
    """Facets of a single value: the property's own, or of each item."""

    enum: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None


def parse_property(key: str, data: object, findings: Findings) -> Property | None:
    """Return the property `key`, or None when something in it is at fault."""
    steps: Steps = ("properties", key)
    before = len(findings.faults)
    _check_key(key, steps, findings)
    members = as_object(data)
    if members is None:
        what = f'"{key}" must be an object, not {json_kind(data)}'
        hint = f'"{key}": {{"type": "string", "description": "…"}}'
        findings.fault(steps, what, suggestion=hint)
        return None
    check_keys(members, _KEYS, steps, findings)
    _note_reserved(members, steps, findings)
    is_required = read_flag(members, "required", steps, findings)
    label = _read_label(members, steps, findings)
    kind = _read_type(members, steps, findings)
    if kind is None:
        check_description(members, steps, findings, subject=f'"{key}"')
        return None
    prop = _typed_property(key, kind, members, findings)
    if len(findings.faults) > before:
        return None
    default = _read_default(prop, members, steps, findings)
    return replace(prop, is_required=is_required, label=label, default=default)


def _typed_property(
    key: str, kind: PropertyType, members: Mapping[str, object], findings: Findings
) -> Property:
    steps: Steps = ("properties", key)
    _check_fit(kind, members, steps, findings)
    facets = _read_facets(members, kind, steps, findings)
    item_type = PropertyType.STRING
    if kind is PropertyType.ARRAY:
        item_type, facets = _read_items(members, facets, steps, findings)
    min_items = read_count(members, "minItems", steps, findings)
    max_items = read_count(members, "maxItems", steps, findings)
    check_order(min_items, max_items, ("minItems", "maxItems"), steps, findings)
    relationship = None
    if "relationship" in members:
        where = (*steps, "relationship")
        relationship = parse_relationship(members["relationship"], where, findings)
        if item_type is not PropertyType.STRING:
            findings.fault(where, "the items of a relationship are names, so they must be strings")
    return Property(
        name=key,
        type=kind,
        description=_read_description(key, members, findings),
        item_type=item_type,
        min_items=min_items,
        max_items=max_items,
        is_unique=read_flag(members, "unique", steps, findings),
        relationship=relationship,
        **facets._asdict(),
    )


def _read_description(key: str, members: Mapping[str, object], findings: Findings) -> str:
    items = as_object(members.get("items")) or {}
    if "description" not in members and "description" in items:
        members = items
    return check_description(members, ("properties", key), findings, subject=f'"{key}"')


def _check_key(key: str, steps: Steps, findings: Findings) -> None:
    if _KEY.fullmatch(key) and any(character.isalnum() for character in key):
        return
    better = word_key(key)[:_MAX_KEY].rstrip("_") or "some_key"
    what = f"a property key has 1 to {_MAX_KEY} letters, digits, _ . or - (hosts refuse others)"
    hint = f'name it "{better}" and give "label" for display'
    findings.fault(steps, what, nearest=(better,), suggestion=hint)


def _note_reserved(members: Mapping[str, object], steps: Steps, findings: Findings) -> None:
    for key in _RESERVED:
        if key in members:
            findings.note((*steps, key), f'"{key}" is reserved: accepted, without effect yet')


def _read_label(members: Mapping[str, object], steps: Steps, findings: Findings) -> str | None:
    if "label" not in members:
        return None
    label = members["label"]
    where = (*steps, "label")
    if not isinstance(label, str) or not label.strip() or label != label.strip():
        findings.fault(where, "a label must be a text that neither starts nor ends with a space")
        return None
    if ": " in label or label.endswith(":") or not label.isprintable():
        what = 'a label must be one line without ": ", since it becomes the key of a metadata line'
        findings.fault(where, what)
    if len(label) > _MAX_LABEL:
        findings.fault(where, f"a label has at most {_MAX_LABEL} characters, not {len(label)}")
    if not normal_key(label):
        findings.fault(where, "a label must hold a letter or digit")
    return nfc(label)


def _read_type(
    members: Mapping[str, object], steps: Steps, findings: Findings
) -> PropertyType | None:
    value = members.get("type")
    where = (*steps, "type")
    allowed = tuple(PropertyType)
    if isinstance(value, str) and value in allowed:
        return PropertyType(value)
    if "type" not in members:
        what = f"a property needs a type: one of {', '.join(allowed)}"
        findings.fault(where, what, suggestion='add "type": "string"')
    elif not isinstance(value, str):
        what = f"a type must be one of {', '.join(allowed)}, not {json_kind(value)}"
        findings.fault(where, what, suggestion='write one type, such as "type": "string"')
    elif value == "object":
        what = "an object cannot become a metadata line"
        findings.fault(where, what, nearest=("string", "array"), suggestion=_OBJECT_WAY_OUT)
    else:
        _fault_type(value, allowed, where, findings)
    return None


def _fault_type(value: str, allowed: Sequence[str], where: Steps, findings: Findings) -> None:
    alias = _ALIASES.get(value.lower())
    near = (alias,) if alias in allowed else nearest(value, allowed)
    hint = f'write "{near[0]}"' if near else None
    what = f'"{value}" is no type; the types are {", ".join(allowed)}'
    findings.fault(where, what, nearest=tuple(filter(None, near)), suggestion=hint)


def _check_fit(
    kind: PropertyType, members: Mapping[str, object], steps: Steps, findings: Findings
) -> None:
    for facet, kinds in _FITS.items():
        if facet in members and kind not in kinds:
            fitting = ", ".join(k for k in PropertyType if k in kinds)
            what = f'"{facet}" does not fit the type {kind}; it goes with {fitting}'
            findings.fault((*steps, facet), what, suggestion=_better_facet(facet, kind))


def _better_facet(facet: str, kind: PropertyType) -> str:
    end = facet[:3]
    if kind is PropertyType.ARRAY and facet in _BOUNDS:
        return f'put it inside "items", or use "{end}Items" for the number of items'
    if kind is PropertyType.STRING and facet in _BOUNDS:
        return f'use "{end}Length"'
    if kind in _NUMBERS and facet in _BOUNDS:
        return f'use "{end}imum"'
    return f'remove "{facet}" or change the type'


def _read_facets(
    members: Mapping[str, object], kind: PropertyType, steps: Steps, findings: Findings
) -> _Facets:
    facets = _Facets(
        minimum=read_number(members, "minimum", steps, findings),
        maximum=read_number(members, "maximum", steps, findings),
        min_length=read_count(members, "minLength", steps, findings),
        max_length=read_count(members, "maxLength", steps, findings),
        enum=_read_enum(members, steps, findings) if kind in _FITS["enum"] else (),
    )
    check_order(facets.minimum, facets.maximum, ("minimum", "maximum"), steps, findings)
    lengths = facets.min_length, facets.max_length
    check_order(*lengths, ("minLength", "maxLength"), steps, findings)
    for index, value in enumerate(facets.enum):
        low, high = lengths
        if (low is not None and len(value) < low) or (high is not None and len(value) > high):
            where = (*steps, "enum", index)
            findings.fault(where, "this value breaks the property's own minLength or maxLength")
    return facets


def _read_enum(members: Mapping[str, object], steps: Steps, findings: Findings) -> tuple[str, ...]:
    if "enum" not in members:
        return ()
    values = members["enum"]
    where = (*steps, "enum")
    if not is_array(values) or not values:
        findings.fault(where, '"enum" must be a list of at least one string')
        return ()
    seen: dict[str, int] = {}
    for index, value in enumerate(values):
        if not isinstance(value, str):
            what = f"an allowed value must be a string, not {json_kind(value)}"
            findings.fault((*where, index), what, suggestion="write it in double quotes")
        elif not value.strip() or text_fault(value):
            findings.fault((*where, index), "an allowed value must not be blank or hold controls")
        elif nfc(value) in seen:
            what = f"this value is listed twice (first at {seen[nfc(value)]})"
            findings.fault((*where, index), what, suggestion="remove one")
        else:
            seen[nfc(value)] = index
    return tuple(value for value in values if isinstance(value, str))


def _read_items(
    members: Mapping[str, object], outer: _Facets, steps: Steps, findings: Findings
) -> tuple[PropertyType, _Facets]:
    """Return type and facets of an array's items; without `items` they are strings."""
    only_enum = _Facets(enum=outer.enum)
    if "items" not in members:
        return PropertyType.STRING, only_enum
    where = (*steps, "items")
    inner = as_object(members["items"])
    if inner is None:
        what = f'"items" must be an object, not {json_kind(members["items"])}'
        findings.fault(where, what, suggestion='"items": {"type": "string"}')
        return PropertyType.STRING, only_enum
    kind = _read_item_type(inner, where, findings)
    if kind is None:
        return PropertyType.STRING, only_enum
    check_keys(inner, _ITEM_KEYS, where, findings)
    _check_fit(kind, inner, where, findings)
    facets = _read_facets(inner, kind, where, findings)
    outer_enum = outer.enum
    if outer_enum and kind is not PropertyType.STRING:
        findings.fault((*steps, "enum"), f'"enum" does not fit items of type {kind}')
    elif outer_enum and facets.enum and outer_enum != facets.enum:
        what = '"enum" stands beside and inside "items" with different values'
        findings.fault((*steps, "enum"), what, suggestion='keep the one inside "items"')
    return kind, facets._replace(enum=facets.enum or outer_enum)


def _read_item_type(
    items: Mapping[str, object], where: Steps, findings: Findings
) -> PropertyType | None:
    value = items.get("type", "string")
    if isinstance(value, str) and value in _ITEM_TYPES:
        return PropertyType(value)
    at = (*where, "type")
    if value == "object":
        what = "items that are objects cannot be joined into a metadata line or name a node"
        findings.fault(at, what, nearest=("string",), suggestion=_OBJECT_WAY_OUT)
    elif value == "array":
        what = "items that are arrays cannot be joined into a metadata line"
        findings.fault(at, what, nearest=("string",), suggestion='use "type": "string" items')
    elif isinstance(value, str):
        _fault_type(value, _ITEM_TYPES, at, findings)
    else:
        findings.fault(at, f"a type must be one of {', '.join(_ITEM_TYPES)}")
    return None


def _read_default(
    prop: Property, members: Mapping[str, object], steps: Steps, findings: Findings
) -> Json:
    value = cast("Json", members.get("default"))
    where = (*steps, "default")
    if value is None:
        return None
    if is_empty(value):
        findings.fault(where, "a blank default has no effect", suggestion="remove it")
        return None
    trouble = Trouble()
    coerced = coerce_value(prop, value, "default", trouble)
    for problem in trouble.problems:
        findings.fault(where, f"the {problem.message}", nearest=problem.nearest)
    if not trouble.problems and _kinds(coerced) != _kinds(value):
        what = f"the default must have the property's type {prop.type}, not {json_kind(value)}"
        findings.fault(where, what)
    return coerced


def _kinds(value: Json) -> list[str]:
    return [json_kind(item) for item in (value if is_array(value) else [value])]


_OBJECT_WAY_OUT = (
    "make a node type of its own for these objects (a further file, say add_scene) and let this "
    'property name the nodes: {"type": "array", "items": {"type": "string"}, "relationship": '
    '{"edgeType": "has_scene", "nodeType": "scene"}}'
)
