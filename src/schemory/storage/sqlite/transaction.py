"""One write transaction of one graph space (storage.protocols.GraphTransaction)."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schemory.model.edge import EdgeChange, EdgeRecord, NewEdge
from schemory.model.node import NewNode, NodeChange, NodeRecord
from schemory.storage.compensations import Compensations
from schemory.storage.protocols import Commit, KeptLine
from schemory.storage.sqlite.graph import SqliteGraphReader
from schemory.storage.sqlite.ledger import LedgerEntry
from schemory.storage.sqlite.purge import purge_node
from schemory.storage.sqlite.space import Space
from schemory.storage.sqlite.undo import undo
from schemory.storage.sqlite.writers import Writers

if TYPE_CHECKING:
    from schemory.storage.memory_protocols import IndexTerms


class SqliteGraphTransaction(SqliteGraphReader):
    """A space inside the writer connection's open transaction; reads see its own writes.

    Args:
        terms: How memory is indexed, for an undo that reaches into it.

    Attributes:
        compensations: For the store, which runs them when it does not commit.
    """

    def __init__(
        self, space: Space, name: str, entry: LedgerEntry, terms: "IndexTerms | None" = None
    ) -> None:
        super().__init__(space, name)
        self._entry = entry
        self._writers = Writers(space, entry, project_id=name, terms=terms)
        self.compensations = Compensations()
        self._purged = 0

    @property
    def now(self) -> str:
        """The transaction's time as stored text, the same for every row it writes."""
        return self._entry.now

    @property
    def seq(self) -> int:
        """The number this transaction has in the ledger, if it writes anything."""
        return self._entry.seq

    def insert_nodes(self, nodes: Sequence[NewNode]) -> tuple[NodeRecord, ...]:
        """Insert all; returns them stored, in order."""
        return self._writers.nodes.insert(nodes)

    def update_nodes(self, changes: Sequence[NodeChange]) -> tuple[NodeRecord, ...]:
        """Apply each change to its node; returns the new states, in order."""
        return self._writers.nodes.update(changes)

    def delete_nodes(self, ids: Sequence[int]) -> int:
        """Delete nodes and every edge that touches them; returns how many edges went."""
        return self._writers.delete_nodes(ids)

    def insert_edges(self, edges: Sequence[NewEdge]) -> tuple[EdgeRecord, ...]:
        """Insert all; returns them stored, in order."""
        return self._writers.edges.insert(edges)

    def update_edges(self, changes: Sequence[EdgeChange]) -> tuple[EdgeRecord, ...]:
        """Apply each change to its edge; returns the new states, in order."""
        return self._writers.edges.update(changes)

    def delete_edges(self, ids: Sequence[int]) -> None:
        """Delete these edges."""
        self._writers.edges.delete(ids)

    def insert_kept(self, lines: Sequence[KeptLine]) -> int:
        """Append kept lines that are not there yet (by exact text); returns how many were new."""
        return self._writers.insert_kept(lines)

    def undo(self, seq: int) -> Commit:
        """Reverse one committed transaction of this space, as a new one; returns the old one.

        Raises:
            UndoConflictError: Something it wrote has changed since; names what.
            InvalidParamError: No such transaction, or history does not reach back that far.
        """
        return undo(self._space, self._writers, seq)

    def purge_node(self, name: str) -> int:
        """Remove a node (present or past) and every trace of its text from the ledger.

        Returns:
            How many ledger rows were removed; the store frees the pages at `vacuum()`.

        Raises:
            NodeNotFoundError: Neither a present nor a past node has that name.
        """
        self._settle()
        removed = purge_node(self._space, self._writers, name)
        self._purged += 1
        return removed

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """Enter a nested transaction: an exception that leaves it undoes only what it wrote."""
        db = self._space.db
        mark, purged = self._writers.nodes.indexed_up_to, self._purged
        db.execute("SAVEPOINT nested")
        try:
            yield
        except BaseException:
            # A full disk may have ended the whole transaction; then there is nothing to go back to.
            if not db.get_autocommit():
                db.execute("ROLLBACK TO nested")
                db.execute("RELEASE nested")
                self._writers.forget(mark)
                self._purged = purged
            raise
        db.execute("RELEASE nested")

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Call `undo` if the outermost transaction does not commit; for things outside the store.

        Undoers run in reverse order; a failing one does not stop the rest, and all failures are
        raised together as an ExceptionGroup.
        """
        self.compensations.add(undo)

    def close(self) -> bool:
        """Write index rows and the ledger's entry; returns False when nothing was written."""
        self._settle()
        return self._entry.close(torn={"nodes_purged": self._purged})

    def _settle(self) -> None:
        self._writers.nodes.settle()
