"""A transaction on a graph file: the inner store's, which also notes what the file must follow."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from schemory.model.edge import EdgeChange, EdgeKey, EdgeRecord, NewEdge
from schemory.model.node import NewNode, NodeChange, NodeRecord
from schemory.storage.jsonl.document import Document
from schemory.storage.jsonl.edits import EdgeEdit, Edits, NodeEdit
from schemory.storage.jsonl.sync import all_kept
from schemory.storage.protocols import (
    Commit,
    GraphCounts,
    GraphTransaction,
    KeptLine,
    LineHit,
    NodeVersion,
    Position,
    SearchPage,
    SearchQuery,
)

_PAGE = 2_000


class Touched:
    """What a transaction touched, each with its state before; rolled back savepoints included."""

    def __init__(self, tx: GraphTransaction) -> None:
        self._tx = tx
        self._nodes: dict[int, NodeRecord | None] = {}
        self._edges: dict[int, EdgeRecord | None] = {}
        self._kept: dict[str, None] = {}
        self.has_rewritten_past = False

    def new_nodes(self, records: Iterable[NodeRecord]) -> None:
        """Note nodes that were inserted just now."""
        for record in records:
            self._nodes.setdefault(record.id, None)

    def new_edges(self, records: Iterable[EdgeRecord]) -> None:
        """Note edges that were inserted just now."""
        for record in records:
            self._edges.setdefault(record.id, None)

    def new_kept(self, lines: Iterable[KeptLine]) -> None:
        """Note lines that may be new."""
        self._kept.update(dict.fromkeys(line.text for line in lines))

    def nodes(self, ids: Iterable[int]) -> None:
        """Note nodes that are about to change."""
        missing = [each for each in ids if each not in self._nodes]
        self._nodes.update(self._tx.find_nodes_by_id(missing))

    def edges_of(self, ids: Iterable[int]) -> None:
        """Note all edges of nodes that are about to go or be renamed."""
        for each in ids:
            after = 0
            while page := self._tx.edges_of(each, after_id=after, limit=_PAGE):
                for record in page:
                    self._edges.setdefault(record.id, record)
                after = page[-1].id

    def edges(self, ids: Iterable[int]) -> None:
        """Note edges that are about to change."""
        for each in ids:
            if each not in self._edges:
                record = self._edge(each)
                if record is not None:
                    self._edges[each] = record

    def _edge(self, each: int) -> EdgeRecord | None:
        found = self._tx.list_edges(after_id=each - 1, limit=1)
        return found[0] if found and found[0].id == each else None

    def edits(self, document: Document) -> Edits:
        """Return what became of all that was touched, for a file that stands at `document`."""
        now = self._tx.find_nodes_by_id(self._nodes)
        nodes = [
            NodeEdit(before.name if before else None, now.get(each))
            for each, before in self._nodes.items()
            if before != now.get(each)
        ]
        edges = [
            EdgeEdit(before.key if before else None, after)
            for each, before in self._edges.items()
            if (after := self._edge(each)) != before
        ]
        return Edits(nodes=tuple(nodes), edges=tuple(edges), kept=self._new_kept(document))

    def _new_kept(self, document: Document) -> tuple[str, ...]:
        if not self._kept:
            return ()
        known, stored = document.kept_texts, {line.text for line in all_kept(self._tx)}
        return tuple(text for text in self._kept if text in stored and text not in known)


class JsonlTransaction:
    """A GraphTransaction that hands everything to the inner store's and notes what it touches."""

    def __init__(self, tx: GraphTransaction) -> None:
        self._tx = tx
        self.touched = Touched(tx)

    @property
    def space(self) -> str:
        """The space's id."""
        return self._tx.space

    @property
    def now(self) -> str:
        """The transaction's time as stored text."""
        return self._tx.now

    @property
    def seq(self) -> int:
        """The number this transaction has in this process's ledger, if it writes anything."""
        return self._tx.seq

    def find_nodes(self, names: Iterable[str]) -> dict[str, NodeRecord]:
        """Return the nodes with exactly these names."""
        return self._tx.find_nodes(names)

    def find_nodes_by_id(self, ids: Iterable[int]) -> dict[int, NodeRecord]:
        """Return the nodes with these internal ids."""
        return self._tx.find_nodes_by_id(ids)

    def find_edges(self, keys: Iterable[EdgeKey]) -> dict[EdgeKey, EdgeRecord]:
        """Return the edges with exactly these triples."""
        return self._tx.find_edges(keys)

    def find_twins(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return, per name, existing other names with the same twin key."""
        return self._tx.find_twins(names)

    def suggest_names(self, name: str, limit: int = 3) -> tuple[str, ...]:
        """Return the existing names most like `name`."""
        return self._tx.suggest_names(name, limit)

    def suggest_edges(self, key: EdgeKey, limit: int = 3) -> tuple[EdgeKey, ...]:
        """Return existing edges most like `key`."""
        return self._tx.suggest_edges(key, limit)

    def list_nodes(
        self, *, after_id: int = 0, limit: int, node_types: Sequence[str] = ()
    ) -> tuple[NodeRecord, ...]:
        """Return nodes in creation order."""
        return self._tx.list_nodes(after_id=after_id, limit=limit, node_types=node_types)

    def list_edges(self, *, after_id: int = 0, limit: int) -> tuple[EdgeRecord, ...]:
        """Return edges in creation order."""
        return self._tx.list_edges(after_id=after_id, limit=limit)

    def edges_closing(
        self, first_id: int, last_id: int, *, after_id: int = 0, limit: int
    ) -> tuple[EdgeRecord, ...]:
        """Return edges whose later end is in the range of nodes."""
        return self._tx.edges_closing(first_id, last_id, after_id=after_id, limit=limit)

    def list_kept(self, *, after: int = 0, limit: int) -> tuple[tuple[int, KeptLine], ...]:
        """Return kept lines with their positions."""
        return self._tx.list_kept(after=after, limit=limit)

    def search(self, query: SearchQuery, *, after: Position | None, limit: int) -> SearchPage:
        """Return the matches after `after`."""
        return self._tx.search(query, after=after, limit=limit)

    def neighbours(
        self, ids: Sequence[int], *, after_id: int = 0, limit: int
    ) -> tuple[NodeRecord, ...]:
        """Return distinct nodes that share an edge with any of `ids`."""
        return self._tx.neighbours(ids, after_id=after_id, limit=limit)

    def edges_between(
        self, ids: Sequence[int], others: Sequence[int], *, after_id: int = 0, limit: int
    ) -> tuple[EdgeRecord, ...]:
        """Return edges with one end in `ids` and the other in `others`."""
        return self._tx.edges_between(ids, others, after_id=after_id, limit=limit)

    def edges_of(
        self,
        node_id: int,
        *,
        direction: str = "both",
        edge_types: Sequence[str] = (),
        after_id: int = 0,
        limit: int,
    ) -> tuple[EdgeRecord, ...]:
        """Return one node's edges."""
        return self._tx.edges_of(
            node_id, direction=direction, edge_types=edge_types, after_id=after_id, limit=limit
        )

    def lines_naming(self, name: str, *, limit: int) -> tuple[LineHit, ...]:
        """Return metadata lines whose parsed value is or lists `name`."""
        return self._tx.lines_naming(name, limit=limit)

    def count(self) -> GraphCounts:
        """Count everything."""
        return self._tx.count()

    def last_seq(self) -> int:
        """Return the number of the newest committed transaction of this process."""
        return self._tx.last_seq()

    def commits(self, *, after_seq: int = 0, limit: int) -> tuple[Commit, ...]:
        """Return this process's committed transactions."""
        return self._tx.commits(after_seq=after_seq, limit=limit)

    def history(self, name: str, *, limit: int = 50) -> tuple[NodeVersion, ...]:
        """Return a node's past as far as this process saw it."""
        return self._tx.history(name, limit=limit)

    def insert_nodes(self, nodes: Sequence[NewNode]) -> tuple[NodeRecord, ...]:
        """Insert all; returns them stored."""
        records = self._tx.insert_nodes(nodes)
        self.touched.new_nodes(records)
        return records

    def update_nodes(self, changes: Sequence[NodeChange]) -> tuple[NodeRecord, ...]:
        """Apply each change to its node."""
        self.touched.nodes(change.id for change in changes)
        self.touched.edges_of(change.id for change in changes if change.name is not None)
        return self._tx.update_nodes(changes)

    def delete_nodes(self, ids: Sequence[int]) -> int:
        """Delete nodes and every edge that touches them."""
        self.touched.nodes(ids)
        self.touched.edges_of(ids)
        return self._tx.delete_nodes(ids)

    def insert_edges(self, edges: Sequence[NewEdge]) -> tuple[EdgeRecord, ...]:
        """Insert all; returns them stored."""
        records = self._tx.insert_edges(edges)
        self.touched.new_edges(records)
        return records

    def update_edges(self, changes: Sequence[EdgeChange]) -> tuple[EdgeRecord, ...]:
        """Apply each change to its edge."""
        self.touched.edges(change.id for change in changes)
        return self._tx.update_edges(changes)

    def delete_edges(self, ids: Sequence[int]) -> None:
        """Delete these edges."""
        self.touched.edges(ids)
        self._tx.delete_edges(ids)

    def insert_kept(self, lines: Sequence[KeptLine]) -> int:
        """Append kept lines that are not there yet."""
        self.touched.new_kept(lines)
        return self._tx.insert_kept(lines)

    def undo(self, seq: int) -> Commit:
        """Reverse one transaction that this process committed since it opened the file."""
        self.touched.has_rewritten_past = True
        return self._tx.undo(seq)

    def purge_node(self, name: str) -> int:
        """Remove a node and every trace of its text; the file's lines of it go too."""
        self.touched.has_rewritten_past = True
        return self._tx.purge_node(name)

    def savepoint(self) -> AbstractContextManager[None]:
        """Enter a nested transaction."""
        return self._tx.savepoint()

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Call `undo` if the outermost transaction does not commit."""
        self._tx.on_rollback(undo)
