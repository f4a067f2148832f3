"""What callers hand to the graph's verbs: plain values, checked by the verbs, not here."""

from typing import Literal, TypeAlias

from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json

WeightMode: TypeAlias = Literal["blend", "set"]
"""How a given weight changes an edge: the mean with the current one (G§10.2), or as it is."""


@dataclass(frozen=True, slots=True)
class NodeInput:
    """A node to add."""

    name: str
    node_type: str
    metadata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUpdate:
    """A change of one node; None keeps what is there.

    Attributes:
        metadata: Replaces all lines.
        expected_revision: Refuse with CONFLICT when the node has another revision by now.
    """

    name: str
    node_type: str | None = None
    metadata: tuple[str, ...] | None = None
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True)
class EdgeInput:
    """An edge to add; no weight means 1.0."""

    from_name: str
    to_name: str
    edge_type: str
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeUpdate:
    """A change of one edge, addressed by its triple; None keeps what is there.

    Attributes:
        weight: New evidence, or with `weight_mode="set"` the new weight.
        expected_revision: Refuse with CONFLICT when the edge has another revision by now.
    """

    from_name: str
    to_name: str
    edge_type: str
    weight: float | None = None
    weight_mode: WeightMode = "blend"
    new_from: str | None = None
    new_to: str | None = None
    new_edge_type: str | None = None
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True)
class MetadataItem:
    """Lines to append to or remove from one node.

    Attributes:
        name_path: Where the name stands in the caller's input, for problems.
        lines_path: Where the lines stand likewise.
    """

    node_name: str
    lines: tuple[str, ...]
    name_path: str = "$.nodeName"
    lines_path: str = "$.metadata"


FilterOp: TypeAlias = Literal["eq", "ne", "contains", "lt", "le", "gt", "ge", "in", "exists"]
"""How a property is compared with a value."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one property of a node.

    Attributes:
        property_name: A property key, a line's key in any spelling, or `name`/`nodeType`.
        value: What to compare with; for `in` a list, for `exists` a bool (default true).
    """

    property_name: str
    op: FilterOp
    value: Json = None


@dataclass(frozen=True, slots=True)
class Sort:
    """Order by a property; nodes without it come last either way."""

    property_name: str
    descending: bool = False
