"""A transaction on a graph file: the inner store's, which also notes what the file must follow."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from schemory.model.edge import EdgeChange, EdgeRecord, NewEdge
from schemory.model.node import NewNode, NodeChange, NodeRecord
from schemory.storage.jsonl.document import Document
from schemory.storage.jsonl.edits import EdgeEdit, Edits, NodeEdit
from schemory.storage.jsonl.reader import JsonlReader, no_past
from schemory.storage.jsonl.sync import all_kept
from schemory.storage.protocols import Commit, GraphTransaction, KeptLine

_PAGE = 2_000


class Touched:
    """What a transaction touched, each with its state before; rolled back savepoints included."""

    def __init__(self, tx: GraphTransaction) -> None:
        self._tx = tx
        self._nodes: dict[int, NodeRecord | None] = {}
        self._edges: dict[int, EdgeRecord | None] = {}
        self._kept: dict[str, None] = {}

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


class JsonlTransaction(JsonlReader):
    """A GraphTransaction that hands writes to the inner store's and notes what they touch."""

    def __init__(self, tx: GraphTransaction) -> None:
        super().__init__(tx)
        self._tx = tx
        self.touched = Touched(tx)

    @property
    def now(self) -> str:
        """The transaction's time as stored text."""
        return self._tx.now

    @property
    def seq(self) -> int:
        """The number of this change since the file was opened, if it writes anything."""
        return self._tx.seq

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
        """Refuse: the inner ledger's first transaction is the file itself.

        Raises:
            UnsupportedError: Always.
        """
        del seq
        raise no_past("undo a transaction")

    def purge_node(self, name: str) -> int:
        """Refuse: what git and other programs keep of the file is out of reach.

        Raises:
            UnsupportedError: Always.
        """
        del name
        raise no_past("purge a node", "Delete the node: its lines go. Only git can purge git.")

    def savepoint(self) -> AbstractContextManager[None]:
        """Enter a nested transaction."""
        return self._tx.savepoint()

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Call `undo` if the outermost transaction does not commit."""
        self._tx.on_rollback(undo)
