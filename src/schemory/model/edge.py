"""Edges of the graph and what the store knows about them beside their wire form (graph.md §1)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json
from schemory.model.weight import DEFAULT_WEIGHT

IMPORTED: Final = "*"
"""The `property_name` of an edge that was read from a file: which property made it is unknown.

No property can have this key. An update of a property treats such an edge of its edge type as its
own unless another property's line names the target (graph.md §4).
"""


class EdgeKey(NamedTuple):
    """What identifies an edge in its space: both ends' names and the edge type."""

    from_name: str
    to_name: str
    edge_type: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed, typed, weighted relation between two nodes; the wire form of an edge."""

    from_name: str
    to_name: str
    edge_type: str
    weight: float = DEFAULT_WEIGHT

    @property
    def key(self) -> EdgeKey:
        """The triple that is unique in the space."""
        return EdgeKey(self.from_name, self.to_name, self.edge_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEdge:
    """What is handed to the store to insert: a checked edge whose ends exist.

    Attributes:
        property_name: The schema property that made it; None = made by `add_edges`; `IMPORTED` =
            read from a file that does not say.
        extra: Fields of a foreign file that have no place in the wire form.
        created_at: A file's claim; None = the transaction's time.
    """

    edge: Edge
    property_name: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])
    created_at: str | None = None
    updated_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRecord:
    """A stored edge.

    Attributes:
        id: Internal, positive, never reused.
        from_id: Internal id of the from-node.
        to_id: Internal id of the to-node.
        property_name: The schema property that made it, None (`add_edges`) or `IMPORTED`.
        revision: 1 when inserted, +1 at each change.
    """

    id: int
    from_id: int
    to_id: int
    edge: Edge
    property_name: str | None
    extra: Mapping[str, Json]
    created_at: str
    updated_at: str
    revision: int
    author: str

    @property
    def key(self) -> EdgeKey:
        """The triple that is unique in the space."""
        return self.edge.key


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeChange:
    """The new state of one stored edge; None keeps what is there.

    Attributes:
        key: The new triple (its ends exist).
        property_name: The new origin; the empty string removes it.
    """

    id: int
    key: EdgeKey | None = None
    weight: float | None = None
    property_name: str | None = None
    extra: Mapping[str, Json] | None = None
