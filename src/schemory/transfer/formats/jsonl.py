"""JSON Lines: the seed's form exactly (G§2.4), the official server's, or one with all we know."""

from collections.abc import Iterator

from schemory.model.lines.records import Dialect
from schemory.model.lines.write import edge_object, full_edge, full_node, node_object, render
from schemory.transfer.walk import GraphWalk


def jsonl_pieces(walk: GraphWalk, dialect: Dialect, *, is_full: bool) -> Iterator[str]:
    """Yield a line per node in creation order, then per edge, then the kept lines."""
    for node in walk.nodes():
        found = full_node(node, dialect) if is_full else node_object(node.node, dialect)
        yield render(found) + "\n"
    for edge in walk.edges():
        found = full_edge(edge, dialect) if is_full else edge_object(edge.edge, dialect)
        yield render(found) + "\n"
    for line in walk.kept():
        yield line.text + "\n"
