"""Reads of a graph file: the inner store's, but for the past, which a graph file does not keep."""

from collections.abc import Iterable, Sequence

from schemory.errors import UnsupportedError
from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.node import NodeRecord
from schemory.storage.protocols import (
    Commit,
    GraphCounts,
    GraphReader,
    KeptLine,
    LineHit,
    NodeVersion,
    Position,
    SearchPage,
    SearchQuery,
)


def no_past(verb: str, *suggestions: str) -> UnsupportedError:
    """Return the refusal of what would need a ledger.

    The inner store has one, but it tells of this process only, and its first transaction is the
    file's content itself: to reverse that would empty the file.
    """
    return UnsupportedError(
        f"A graph file keeps no ledger, so it cannot {verb}",
        suggestions=[
            *suggestions,
            "A graph file has its history in git: see `git log` and `git restore`.",
            "Use a database (--db), which keeps a ledger.",
        ],
    )


class JsonlReader:
    """A GraphReader that asks the inner store's."""

    def __init__(self, inner: GraphReader) -> None:
        self._inner = inner

    @property
    def space(self) -> str:
        """The space's id."""
        return self._inner.space

    def find_nodes(self, names: Iterable[str]) -> dict[str, NodeRecord]:
        """Return the nodes with exactly these names."""
        return self._inner.find_nodes(names)

    def find_nodes_by_id(self, ids: Iterable[int]) -> dict[int, NodeRecord]:
        """Return the nodes with these internal ids."""
        return self._inner.find_nodes_by_id(ids)

    def find_edges(self, keys: Iterable[EdgeKey]) -> dict[EdgeKey, EdgeRecord]:
        """Return the edges with exactly these triples."""
        return self._inner.find_edges(keys)

    def find_twins(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return, per name, existing other names with the same twin key."""
        return self._inner.find_twins(names)

    def suggest_names(self, name: str, limit: int = 3) -> tuple[str, ...]:
        """Return the existing names most like `name`."""
        return self._inner.suggest_names(name, limit)

    def suggest_edges(self, key: EdgeKey, limit: int = 3) -> tuple[EdgeKey, ...]:
        """Return existing edges most like `key`."""
        return self._inner.suggest_edges(key, limit)

    def list_nodes(
        self, *, after_id: int = 0, limit: int, node_types: Sequence[str] = ()
    ) -> tuple[NodeRecord, ...]:
        """Return nodes in creation order."""
        return self._inner.list_nodes(after_id=after_id, limit=limit, node_types=node_types)

    def list_edges(self, *, after_id: int = 0, limit: int) -> tuple[EdgeRecord, ...]:
        """Return edges in creation order."""
        return self._inner.list_edges(after_id=after_id, limit=limit)

    def edges_closing(
        self, first_id: int, last_id: int, *, after_id: int = 0, limit: int
    ) -> tuple[EdgeRecord, ...]:
        """Return edges whose later end is in the range of nodes."""
        return self._inner.edges_closing(first_id, last_id, after_id=after_id, limit=limit)

    def list_kept(self, *, after: int = 0, limit: int) -> tuple[tuple[int, KeptLine], ...]:
        """Return kept lines with their positions."""
        return self._inner.list_kept(after=after, limit=limit)

    def search(self, query: SearchQuery, *, after: Position | None, limit: int) -> SearchPage:
        """Return the matches after `after`."""
        return self._inner.search(query, after=after, limit=limit)

    def neighbours(
        self, ids: Sequence[int], *, after_id: int = 0, limit: int
    ) -> tuple[NodeRecord, ...]:
        """Return distinct nodes that share an edge with any of `ids`."""
        return self._inner.neighbours(ids, after_id=after_id, limit=limit)

    def edges_between(
        self, ids: Sequence[int], others: Sequence[int], *, after_id: int = 0, limit: int
    ) -> tuple[EdgeRecord, ...]:
        """Return edges with one end in `ids` and the other in `others`."""
        return self._inner.edges_between(ids, others, after_id=after_id, limit=limit)

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
        return self._inner.edges_of(
            node_id, direction=direction, edge_types=edge_types, after_id=after_id, limit=limit
        )

    def lines_naming(self, name: str, *, limit: int) -> tuple[LineHit, ...]:
        """Return metadata lines whose parsed value is or lists `name`."""
        return self._inner.lines_naming(name, limit=limit)

    def count(self) -> GraphCounts:
        """Count everything."""
        return self._inner.count()

    def last_seq(self) -> int:
        """Return how often the graph has changed since this process opened the file.

        What others wrote counts when it is taken over, so a follower sees it too.
        """
        return self._inner.last_seq()

    def commits(self, *, after_seq: int = 0, limit: int) -> tuple[Commit, ...]:
        """Return the changes since this process opened the file, its load among them."""
        return self._inner.commits(after_seq=after_seq, limit=limit)

    def history(self, name: str, *, limit: int = 50) -> tuple[NodeVersion, ...]:
        """Refuse: what this process saw is not a node's past.

        Raises:
            UnsupportedError: Always.
        """
        del name, limit
        raise no_past("tell a node's past")
