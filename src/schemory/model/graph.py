"""A piece of the graph as plain values: some nodes and the edges between them (G§2.3)."""

from schemory.model.edge import Edge
from schemory.model.frozen import dataclass
from schemory.model.node import Node


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges, in an order that whoever made it says."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
