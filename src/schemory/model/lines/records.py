"""What a line of a graph file says, whatever its dialect: a node, an edge, or neither."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from schemory.model.edge import IMPORTED, Edge
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json
from schemory.model.node import UNKNOWN_TYPE as OF_NO_KNOWN_TYPE
from schemory.model.node import Node, TypedValue

UNKNOWN_TYPE: Final = OF_NO_KNOWN_TYPE
"""The nodeType of a node whose line states none, and of a stub."""


class Dialect(StrEnum):
    """Whose words a line uses."""

    SEED = "seed"  # node, edge, nodeType, metadata, edgeType
    OFFICIAL = "official"  # entity, relation, entityType, observations, relationType


class Place(NamedTuple):
    """Where a record stands: its line, its text and, inside a larger value, where in it."""

    line: int
    text: str
    inside: str = ""


class FaultKind(StrEnum):
    """Why something in a file could not be taken."""

    SYNTAX = "syntax"
    CONFLICT = "conflict"
    RECORD = "record"
    WEIGHT = "weight"
    SECRET = "secret"  # noqa: S105 (the word, not one)
    DANGLING = "dangling"


@dataclass(frozen=True, slots=True)
class Fault:
    """A record, or a line that holds none, which cannot be taken.

    Attributes:
        line: Number of the physical line it starts on, from 1.
        text: What to write down for the person who mends it.
        reason: Reads on after "line 7 ".
        is_graph: It was recognised as a node or an edge.
    """

    line: int
    text: str
    reason: str
    kind: FaultKind
    is_graph: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a line says about its own age; a file's claim, never our recording time.

    Attributes:
        created: As stored text, or None.
        updated: As stored text, or None.
        version: A number that grows with each change of the record, or None.
        latest: The later of both times with all its digits.
    """

    created: str | None = None
    updated: str | None = None
    version: float | None = None
    latest: datetime | None = None


NO_CLAIMS: Final = Claims()
_NO_FIELDS: Final[Mapping[str, Json]] = {}


def _no_fields() -> Mapping[str, Json]:
    return _NO_FIELDS  # one for all: most lines have nothing to keep beside


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLine:
    """An edge as a file has it; its weight is a number that may be out of range.

    Attributes:
        extra: Fields that have no place in an edge.
        property_name: As in `EdgeRecord`; `IMPORTED` when the line does not say.
        is_nested: It stood inside its from-node's record.
    """

    line: int
    text: str
    edge: Edge
    extra: Mapping[str, Json] = field(default_factory=_no_fields)
    property_name: str | None = IMPORTED
    claims: Claims = NO_CLAIMS
    is_nested: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLine:
    """A node as a file has it.

    Attributes:
        extra: Fields that have no place in a node. `observations` holds the entries that were
            objects, complete and in order.
        nested: The relations inside the record.
        has_type: False when the line states no type and `UNKNOWN_TYPE` stands in for it.
    """

    line: int
    text: str
    node: Node
    typed: tuple[TypedValue, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=_no_fields)
    claims: Claims = NO_CLAIMS
    nested: tuple[EdgeLine | Fault, ...] = ()
    has_type: bool = True


@dataclass(frozen=True, slots=True)
class OtherLine:
    """A JSON object that is neither node nor edge; kept to come back out.

    Attributes:
        text: One line of JSON.
    """

    line: int
    text: str


Record: TypeAlias = NodeLine | EdgeLine | OtherLine | Fault
