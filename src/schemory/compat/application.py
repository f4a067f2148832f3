"""The seed's facade over one graph (G§4.1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from schemory.compat.events import EventEmitter
from schemory.compat.transactions import TransactionManager
from schemory.compat.values import EdgeLike, NodeLike, as_edge, as_key, as_node
from schemory.errors import EdgeNotFoundError, NodeNotFoundError
from schemory.graph.inputs import EdgeInput, EdgeUpdate, MetadataItem, NodeInput, NodeUpdate
from schemory.graph.results import GraphPage
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import Edge, EdgeKey, EdgeRecord
from schemory.model.frozen import dataclass
from schemory.model.graph import Graph
from schemory.storage.protocols import GraphReader


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeFilter:
    """Which edges to get; None = any."""

    from_name: str | None = None
    to_name: str | None = None
    edge_type: str | None = None

    def fits(self, record: EdgeRecord) -> bool:
        """Whether an edge is meant."""
        wanted = (self.from_name, self.to_name, self.edge_type)
        return all(w is None or w == own for w, own in zip(wanted, record.key, strict=True))


def _graph(page: GraphPage) -> Graph:
    nodes = tuple(record.node for record in page.nodes)
    return Graph(nodes, tuple(record.edge for record in page.edges))


class ApplicationManager:
    """All verbs of one graph in one place (G§4.1)."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.events = EventEmitter(graph.events)
        self.transactions = TransactionManager(graph)
        # The seed's facade has these by the transaction manager's own names.
        self.begin_transaction = self.transactions.begin_transaction
        self.commit = self.transactions.commit
        self.rollback = self.transactions.rollback
        self.with_transaction = self.transactions.with_transaction

    def add_nodes(self, nodes: Iterable[NodeLike]) -> None:
        """Add nodes with names that are not taken."""
        made = [NodeInput(n.name, n.node_type, n.metadata) for n in map(as_node, nodes)]
        self.graph.add_nodes(made)

    def update_nodes(self, updates: Iterable[Mapping[str, Any]]) -> None:
        """Change nodes: each of `updates` has `name` and `metadata` or `nodeType` or both."""
        self.graph.update_nodes(
            [
                NodeUpdate(
                    name=update["name"],
                    node_type=update.get("nodeType"),
                    metadata=tuple(update["metadata"]) if "metadata" in update else None,
                )
                for update in updates
            ]
        )

    def delete_nodes(self, names: Sequence[str]) -> None:
        """Delete nodes of these names and their edges; names that are not there are no error."""
        try:
            self.graph.delete_nodes(list(dict.fromkeys(names)))
        except NodeNotFoundError:
            return

    def add_edges(self, edges: Iterable[EdgeLike]) -> None:
        """Add edges between existing nodes; no weight means 1.0."""
        self.graph.add_edges([EdgeInput(*e.key, e.weight) for e in map(as_edge, edges)])

    def update_edges(self, updates: Iterable[Mapping[str, Any]]) -> None:
        """Blend `newWeight` into the weights of existing edges."""
        self.graph.update_edges(
            [
                EdgeUpdate(
                    from_name=update["from"],
                    to_name=update["to"],
                    edge_type=update["edgeType"],
                    weight=update.get("newWeight", update.get("weight")),
                )
                for update in updates
            ]
        )

    def delete_edges(self, identifiers: Iterable[EdgeLike | EdgeKey]) -> None:
        """Delete edges by exact triple; triples that are not there are no error."""
        try:
            self.graph.delete_edges(list(dict.fromkeys(map(as_key, identifiers))))
        except EdgeNotFoundError:
            return

    def get_edges(self, edge_filter: EdgeFilter | None = None) -> tuple[Edge, ...]:
        """Return all edges, or those that fit the filter, in the order in which they were made."""
        wanted = edge_filter or EdgeFilter()
        with self.graph.reading() as reader:
            return tuple(r.edge for r in _all_edges(reader, wanted) if wanted.fits(r))

    def add_metadata(self, node_name: str, entries: Sequence[str]) -> None:
        """Append entries that are not there yet."""
        self.graph.add_metadata([MetadataItem(node_name, tuple(entries))])

    def delete_metadata(self, node_name: str, entries: Sequence[str]) -> None:
        """Remove entries by exact text."""
        self.graph.delete_metadata([MetadataItem(node_name, tuple(entries))])

    def read_graph(self) -> Graph:
        """Return everything."""
        return _graph(self.graph.read_graph())

    def search_nodes(self, query: str) -> Graph:
        """Return matching nodes, their neighbours and the edges that touch a match."""
        return _graph(self.graph.search_nodes(query))

    def open_nodes(self, names: Sequence[str]) -> Graph:
        """Return the nodes of these names, their neighbours and touching edges."""
        return _graph(self.graph.open_nodes(names))


_CHUNK = 1_000


def _all_edges(reader: GraphReader, wanted: EdgeFilter) -> Iterator[EdgeRecord]:
    """Yield the edges of one given end, or all."""
    end = wanted.from_name if wanted.from_name is not None else wanted.to_name
    node = None if end is None else reader.find_nodes([end]).get(end)
    after_id = 0
    while end is None or node is not None:
        edges = (
            reader.list_edges(after_id=after_id, limit=_CHUNK)
            if node is None
            else reader.edges_of(node.id, after_id=after_id, limit=_CHUNK)
        )
        yield from edges
        if len(edges) < _CHUNK:
            return
        after_id = edges[-1].id
