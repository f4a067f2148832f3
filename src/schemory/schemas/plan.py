"""Plans what an `add_<type>` or `update_<type>` call changes; pure, and all problems at once."""

from collections.abc import Mapping

from schemory.errors import error_for
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.model.metadata import format_line, normal_key, replace_lines
from schemory.model.node import Node, NodeRecord, TypedValue
from schemory.model.schema import NodeSchema, PropertyType, Relationship
from schemory.model.text import nfc
from schemory.schemas.arguments import Given, read_add, read_name, read_update
from schemory.schemas.fit import names_target, node_faults, property_lines, property_value
from schemory.schemas.values import Trouble, is_array, line_text

__all__ = [
    "AddPlan",
    "PlannedRelation",
    "UniqueValue",
    "UpdatePlan",
    "entity_name",
    "names_target",
    "node_faults",
    "plan_add",
    "plan_update",
    "property_lines",
    "property_value",
]

_TEXTS = frozenset({PropertyType.STRING, PropertyType.DATE, PropertyType.DATETIME})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRelation:
    """The edges that one property is to have.

    Attributes:
        targets: Names in NFC, each once, in the order given; empty = the property is removed.
        path: Of the property in the call.
    """

    property_name: str
    relationship: Relationship
    targets: tuple[str, ...]
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueValue:
    """A value that no other node of the type may have.

    Attributes:
        display: Key of its metadata line.
        value: As it stands in that line.
    """

    property_name: str
    display: str
    value: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPlan:
    """What an add makes: the node, what is kept beside it, and its edges."""

    node: Node
    typed: tuple[TypedValue, ...]
    relations: tuple[PlannedRelation, ...]
    unique: tuple[UniqueValue, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlan:
    """What an update makes of a node.

    Attributes:
        metadata: All lines as they are to be.
        typed: All typed values as they are to be; those whose line is gone are left out.
        relations: One for each relationship property that the call names.
        has_changes: Whether the call names anything to change, be it equal to what is there.
    """

    metadata: tuple[str, ...]
    typed: tuple[TypedValue, ...]
    relations: tuple[PlannedRelation, ...]
    unique: tuple[UniqueValue, ...]
    warnings: tuple[str, ...]
    has_changes: bool


def entity_name(schema: NodeSchema, arguments: Mapping[str, Json], *, path: str) -> str:
    """Return the name (NFC) of the node that an update or delete addresses.

    Raises:
        InvalidParamError: There is none, or it is no string.
    """
    trouble = Trouble()
    name = read_name(schema, arguments, path, trouble)
    if trouble.problems:
        raise error_for(trouble.problems)
    return name


def plan_add(schema: NodeSchema, arguments: Mapping[str, Json], *, path: str) -> AddPlan:
    """Return what `add_<type>` with `arguments` (the object inside the wrapper) makes.

    Args:
        schema: The type.
        arguments: Properties and extras, as they came.
        path: Where the arguments stand in the call, such as `$.npc`.

    Raises:
        SchemoryError: `error_for` all problems, each with its path.
    """
    reading = read_add(schema, arguments, path)
    if reading.trouble.problems:
        raise error_for(reading.trouble.problems)
    given = [one for one in reading.given if one.value is not None]
    lines = tuple(format_line(one.display, line_text(one.value)) for one in given)
    return AddPlan(
        node=Node(reading.name, schema.node_type, lines),
        typed=_typed(given),
        relations=_relations(given),
        unique=_unique(given),
        warnings=tuple(reading.warnings),
    )


def plan_update(
    schema: NodeSchema, arguments: Mapping[str, Json], current: NodeRecord, *, path: str
) -> UpdatePlan:
    """Return what `update_<type>` with `arguments` makes of `current`.

    Only lines of properties that the call names change, in place; a property without a line gets
    one at the end. Arguments and errors are those of `plan_add`.
    """
    reading = read_update(schema, arguments, path)
    if reading.trouble.problems:
        raise error_for(reading.trouble.problems)
    metadata = current.node.metadata
    for one in reading.given:
        line = None if one.value is None else format_line(one.display, line_text(one.value))
        metadata = replace_lines(metadata, one.spellings, line)
    return UpdatePlan(
        metadata=metadata,
        typed=_typed_after(current, metadata, reading.given),
        relations=_relations(reading.given),
        unique=_unique(reading.given),
        warnings=tuple(reading.warnings),
        has_changes=bool(reading.given),
    )


def _typed_after(
    current: NodeRecord, metadata: tuple[str, ...], given: list[Given]
) -> tuple[TypedValue, ...]:
    """Return the typed values of an updated node; one that is given again keeps its place."""
    lines = frozenset(metadata)
    renewed = frozenset[str]().union(*(one.spellings for one in given))
    fresh = {typed.property_name: typed for typed in _typed(given)}
    after: list[TypedValue] = []
    for typed in current.typed:
        if normal_key(typed.property_name) not in renewed:
            after.extend([typed] if typed.line in lines else [])
        elif typed.property_name in fresh:
            after.append(fresh.pop(typed.property_name))
    return (*after, *fresh.values())


def _typed(given: list[Given]) -> tuple[TypedValue, ...]:
    """Return values that say more than their lines: a text can be read back, the rest cannot."""
    return tuple(
        TypedValue(
            property_name=one.key,
            line=format_line(one.display, line_text(one.value)),
            value=one.value,
        )
        for one in given
        if one.value is not None and not _is_plain_text(one)
    )


def _is_plain_text(one: Given) -> bool:
    return isinstance(one.value, str) and (one.prop is None or one.prop.type in _TEXTS)


def _relations(given: list[Given]) -> tuple[PlannedRelation, ...]:
    return tuple(
        PlannedRelation(
            property_name=one.key,
            relationship=one.prop.relationship,
            targets=_targets(one.value),
            path=one.path,
        )
        for one in given
        if one.prop is not None and one.prop.relationship is not None
    )


def _targets(value: Json) -> tuple[str, ...]:
    items = value if is_array(value) else [value]
    return tuple(dict.fromkeys(nfc(item) for item in items if isinstance(item, str)))


def _unique(given: list[Given]) -> tuple[UniqueValue, ...]:
    return tuple(
        UniqueValue(
            property_name=one.key,
            display=one.display,
            value=line_text(one.value),
            path=one.path,
        )
        for one in given
        if one.prop is not None and one.prop.is_unique and one.value is not None
    )
