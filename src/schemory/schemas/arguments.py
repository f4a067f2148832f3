"""Reads a call's arguments against a schema: which property each key means, and its value."""

from collections.abc import Mapping

from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json, child_path, place
from schemory.model.likeness import nearest
from schemory.model.metadata import display_name, normal_key
from schemory.model.schema import NodeSchema, Property
from schemory.model.text import MAX_NAME_CHARS, name_fault, nfc, text_fault
from schemory.schemas.values import (
    Trouble,
    coerce_extra,
    coerce_value,
    is_empty,
    listed,
    unwrap,
)

_METADATA = "metadata"
_METADATA_WAY_OUT = (
    'add lines with add_metadata {"nodeName": "…", "metadata": ["…"]}, replace all of them with '
    'update_nodes {"nodes": [{"name": "…", "metadata": ["…"]}]}'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A property or extra with its coerced value.

    Attributes:
        key: The property's name; an extra's key as given.
        prop: None for an extra.
        value: None = remove it (only on update).
    """

    key: str
    display: str
    spellings: frozenset[str]
    prop: Property | None
    value: Json
    path: str


@dataclass(slots=True, kw_only=True)
class Reading:
    """What the arguments say: properties in schema order, then extras as given."""

    name: str = ""
    given: list[Given] = field(default_factory=list[Given])
    warnings: list[str] = field(default_factory=list[str])
    trouble: Trouble = field(default_factory=Trouble)


@dataclass(slots=True)
class _Sorted:
    """Arguments sorted into declared ones (by property name) and extras, with their paths."""

    declared: dict[str, tuple[str, Json]] = field(default_factory=dict[str, tuple[str, Json]])
    extras: dict[str, tuple[str, Json]] = field(default_factory=dict[str, tuple[str, Json]])


def read_add(schema: NodeSchema, arguments: Mapping[str, Json], path: str) -> Reading:
    """Read the arguments of an add: defaults fill in, what is required must be there."""
    reading = Reading()
    found = _sort(schema, arguments, path, reading.trouble)
    reading.name = _new_name(schema, found, path, reading.trouble)
    for prop in _but_name(schema):
        at, raw = found.declared.get(prop.name, (child_path(path, prop.name), None))
        value = unwrap(prop, raw)
        if is_empty(value):
            value = prop.default
        if value is not None:
            coerced = coerce_value(prop, value, at, reading.trouble)
            reading.given.append(_declared(prop, coerced, at))
        elif prop.is_required:
            _tell_missing(prop, at, found, reading.trouble)
    for key, (at, raw) in found.extras.items():
        if is_empty(raw):
            continue
        if _is_allowed(schema, key, at, reading):
            reading.given.append(_extra(key, coerce_extra(raw, at, reading.trouble), at))
    return reading


def read_update(schema: NodeSchema, arguments: Mapping[str, Json], path: str) -> Reading:
    """Read the arguments of an update: null or `[]` removes, a blank text changes nothing."""
    reading = Reading()
    found = _sort(schema, arguments, path, reading.trouble)
    reading.name = read_name(schema, arguments, path, reading.trouble)
    for prop in _but_name(schema):
        if prop.name not in found.declared:
            continue
        at, raw = found.declared[prop.name]
        value = unwrap(prop, raw)
        if _is_blank(value, at, reading, is_required=prop.is_required):
            continue
        if is_empty(value):
            _check_removable(prop, at, reading.trouble)
            reading.given.append(_declared(prop, None, at))
        else:
            coerced = coerce_value(prop, value, at, reading.trouble)
            reading.given.append(_declared(prop, coerced, at))
    for key, (at, raw) in found.extras.items():
        if _is_blank(raw, at, reading):
            continue
        if is_empty(raw):
            reading.given.append(_extra(key, None, at))
        elif _is_allowed(schema, key, at, reading):
            reading.given.append(_extra(key, coerce_extra(raw, at, reading.trouble), at))
    return reading


def read_name(
    schema: NodeSchema, arguments: Mapping[str, Json], path: str, trouble: Trouble
) -> str:
    """Return the name (NFC) that addresses an existing node, or tell what is wrong with it."""
    named = (key for key in arguments if _means(schema, key) == "name")
    value = arguments.get(next(named, "name"))
    at = child_path(path, "name")
    if is_empty(value):
        what = f"{place(at)} is required: the name of the {schema.node_type}"
        trouble.add(at, what, suggestion='give "name"')
        return ""
    name = coerce_value(Property(name="name"), value, at, trouble)
    return nfc(name) if isinstance(name, str) else ""


def _but_name(schema: NodeSchema) -> tuple[Property, ...]:
    return tuple(prop for key, prop in schema.properties.items() if key != "name")


def _means(schema: NodeSchema, key: str) -> str | None:
    prop = schema.find_property(key)
    if prop is not None:
        return prop.name
    return "name" if normal_key(key) == "name" else None


def _declared(prop: Property, value: Json, path: str) -> Given:
    return Given(
        key=prop.name,
        display=prop.display,
        spellings=prop.spellings,
        prop=prop,
        value=value,
        path=path,
    )


def _extra(key: str, value: Json, path: str) -> Given:
    display = display_name(nfc(key))
    spellings = frozenset({normal_key(key), normal_key(display)})
    return Given(key=key, display=display, spellings=spellings, prop=None, value=value, path=path)


def _sort(
    schema: NodeSchema, arguments: Mapping[str, Json], path: str, trouble: Trouble
) -> _Sorted:
    found = _Sorted()
    spelt: dict[str, str] = {}
    for key, value in arguments.items():
        at = child_path(path, key)
        meant = _means(schema, key)
        same = meant if meant is not None else normal_key(display_name(nfc(key)))
        if same in spelt:
            what = f"{place(at)} means the same as {spelt[same]!r}, which is given too"
            trouble.add(at, what, suggestion="give one of the two")
            continue
        spelt[same] = key
        if meant is not None:
            found.declared[meant] = (at, value)
        elif same == _METADATA:
            what = f"{place(at)} cannot be set here, since the properties make the lines"
            trouble.add(at, what, suggestion=_METADATA_WAY_OUT)
        else:
            found.extras[key] = (at, value)
    return found


def _new_name(schema: NodeSchema, found: _Sorted, path: str, trouble: Trouble) -> str:
    at, value = found.declared.get("name", (child_path(path, "name"), None))
    if is_empty(value):
        what = f"{place(at)} is required: the unique name of the new {schema.node_type}"
        trouble.add(at, what, suggestion='give "name"')
        return ""
    prop = schema.properties.get("name", Property(name="name"))
    name = coerce_value(prop, value, at, trouble)
    if not isinstance(name, str):
        return ""
    fault = name_fault(name) if text_fault(name) is None else None
    if fault is not None:
        trouble.add(at, f"{place(at)} {fault}")
    return nfc(name)


def _tell_missing(prop: Property, path: str, found: _Sorted, trouble: Trouble) -> None:
    what = f"{place(path)} is required"
    if prop.enum:
        what += f" (one of {listed(prop.enum)})"
    near = nearest(prop.name, found.extras)
    hint = f'rename "{near[0]}" to "{prop.name}"' if near else f'give "{prop.name}"'
    trouble.add(path, what, nearest=near, suggestion=hint)


def _check_removable(prop: Property, path: str, trouble: Trouble) -> None:
    if prop.is_required:
        what = f"{place(path)} is required, so it cannot be removed"
        trouble.add(path, what, suggestion="give a value, or leave it out to keep the present one")


def _is_blank(value: Json, path: str, reading: Reading, *, is_required: bool = False) -> bool:
    """Whether a text is blank: clients fill in what they do not mean, so nothing is removed."""
    if not isinstance(value, str) or value.strip():
        return False
    hint = "" if is_required else "; null removes it"
    reading.warnings.append(f"{place(path)} is blank and was left as it is{hint}")
    return True


def _is_allowed(schema: NodeSchema, key: str, path: str, reading: Reading) -> bool:
    near = nearest(key, schema.properties)
    if not schema.allows_additional:
        what = f"{place(path)} is no property of {schema.node_type}, which allows no others"
        known = ", ".join(schema.properties)
        hint = f'did you mean "{near[0]}"?' if near else f"its properties are {known}"
        reading.trouble.add(path, what, nearest=near, suggestion=hint)
        return False
    fault = _extra_key_fault(key)
    if fault is not None:
        reading.trouble.add(path, f"the key {place(path)} {fault}", suggestion="rename the key")
        return False
    if near:
        what = f"{place(path)} is no declared property and was stored as an extra"
        reading.warnings.append(f'{what}; did you mean "{near[0]}"?')
    return True


def _extra_key_fault(key: str) -> str | None:
    fault = name_fault(key)
    if fault is not None:
        return fault
    if ": " in key or key.endswith(":") or "\n" in key or "\r" in key:
        return 'must be one line without ": ", since it becomes the key of a metadata line'
    if not normal_key(display_name(key)):
        return f"must hold a letter or digit and at most {MAX_NAME_CHARS} characters"
    return None
