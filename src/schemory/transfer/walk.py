"""Walk over an entire space in bounded memory, counting what passes."""

from collections.abc import Iterator

from schemory.model.edge import EdgeRecord
from schemory.model.node import NodeRecord
from schemory.storage.protocols import GraphReader, KeptLine
from schemory.transfer.resolve import kept_lines

_PAGE = 2_000


class GraphWalk:
    """One snapshot's nodes, edges and kept lines, each in creation order; each may be walked once.

    Attributes:
        node_count: How many nodes were handed out so far; `edge_count`, `kept_count` likewise.
    """

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader
        self.node_count = 0
        self.edge_count = 0
        self.kept_count = 0

    @property
    def space(self) -> str:
        """The space's id."""
        return self._reader.space

    def nodes(self) -> Iterator[NodeRecord]:
        """Yield every node."""
        after = 0
        while page := self._reader.list_nodes(after_id=after, limit=_PAGE):
            yield from page
            self.node_count += len(page)
            after = page[-1].id

    def edges(self) -> Iterator[EdgeRecord]:
        """Yield every edge."""
        after = 0
        while page := self._reader.list_edges(after_id=after, limit=_PAGE):
            yield from page
            self.edge_count += len(page)
            after = page[-1].id

    def kept(self) -> Iterator[KeptLine]:
        """Yield every kept line."""
        for line in kept_lines(self._reader):
            self.kept_count += 1
            yield line
