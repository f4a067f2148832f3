"""What a graph store can do: verbs over one space's snapshot and one space's transaction.

Services speak only these protocols. All searching, paging and ordering are verbs here, never
loops above. Names handed in are NFC already; a name that is not there is simply absent from the
answer. Every listing takes `limit` and returns at most that many; ask for one more than you show
to know whether there is more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import TypeAlias

from schemory.hints import TYPE_CHECKING, Protocol
from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from schemory.model.edge import EdgeChange, EdgeKey, EdgeRecord, NewEdge
    from schemory.model.jsonvalue import Json
    from schemory.model.node import NewNode, NodeChange, NodeRecord

Position: TypeAlias = tuple[int | str, ...]
"""Where a listing stands: an opaque key of one hit, JSON-able, valid across writes."""


class Capability(StrEnum):
    """What a store may be able to do beyond the base."""

    HISTORY = "history"  # a lasting ledger; without it history, undo and purge raise Unsupported
    SPACES = "spaces"  # more than one space in one store


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext:
    """Who writes and why: one row of the ledger.

    Attributes:
        operation: The tool or command: `add_nodes`, `import-graph`, `undo`.
        author: Stored as `author` of each row written: client name/version, principal or `cli`.
        client: Transport and client for the ledger, may be empty.
    """

    operation: str
    author: str = ""
    client: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What to look for in names, types and metadata entries.

    Attributes:
        terms: Folded substrings (`model.text.fold`) that must all be held by the node, each in its
            name, its type or one metadata entry; one term = the whole string. Empty = everything.
        node_types: Only matches of these types; empty = all.
    """

    terms: tuple[str, ...]
    node_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A matching node and where it stands in the listing."""

    record: NodeRecord
    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """A stretch of a search's listing.

    Attributes:
        hits: In order; at most the limit.
        more: Where to go on when the listing has not ended (also when a bounded scan found
            nothing yet); None = the end.
        order: `rank` (name equals, starts with, contains, type, metadata; then name) up to 1,000
            matches, else `creation` (name hits, then others, each in creation order).
        total: How many match in all, where known without counting everything; else None.
        degraded: The search index is damaged or missing: the page is right, but was found by a
            scan; tell the user to run `schemory doctor --fix`.
    """

    hits: tuple[SearchHit, ...]
    more: Position | None
    order: str
    total: int | None
    degraded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineHit:
    """A metadata line of a node, found by its text."""

    node_name: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLine:
    """A line of a foreign file that is neither node nor edge, kept to come back out."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCounts:
    """How much a space holds; `node_types`/`edge_types` map a type to its count, sorted by type."""

    nodes: int
    edges: int
    kept: int
    node_types: Mapping[str, int]
    edge_types: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One committed transaction as the ledger has it.

    Attributes:
        seq: Its number in the space, from 1, without gaps.
        recorded_at: Our clock, never a file's claim; never earlier than the one before.
        items: How many nodes, edges and kept lines it inserted, updated and deleted.
    """

    seq: int
    recorded_at: str
    operation: str
    author: str
    client: str
    items: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVersion:
    """One state in a node's past: what it was from `seq` on; `record` None = it was not there.

    Attributes:
        edges: Touching edges that were made, changed or removed by that transaction, as
            (`added|changed|removed`, edge) pairs.
    """

    seq: int
    recorded_at: str
    operation: str
    author: str
    record: NodeRecord | None
    edges: tuple[tuple[str, EdgeRecord], ...]


class GraphReader(Protocol):
    """One space as it stands at one moment."""

    @property
    def space(self) -> str:
        """The space's id."""
        ...

    def find_nodes(self, names: Iterable[str]) -> dict[str, NodeRecord]:
        """Return the nodes with exactly these names, keyed by name."""
        ...

    def find_nodes_by_id(self, ids: Iterable[int]) -> dict[int, NodeRecord]:
        """Return the nodes with these internal ids, keyed by id."""
        ...

    def find_edges(self, keys: Iterable[EdgeKey]) -> dict[EdgeKey, EdgeRecord]:
        """Return the edges with exactly these triples."""
        ...

    def find_twins(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return, per name, existing *other* names with the same `twin_key`; only where any."""
        ...

    def suggest_names(self, name: str, limit: int = 3) -> tuple[str, ...]:
        """Return the existing names most like `name`, best first; bounded work."""
        ...

    def suggest_edges(self, key: EdgeKey, limit: int = 3) -> tuple[EdgeKey, ...]:
        """Return existing edges most like `key` (same ends, or same end and type); bounded work."""
        ...

    def list_nodes(
        self, *, after_id: int = 0, limit: int, node_types: Sequence[str] = ()
    ) -> tuple[NodeRecord, ...]:
        """Return nodes in creation order (by id) after `after_id`."""
        ...

    def list_edges(self, *, after_id: int = 0, limit: int) -> tuple[EdgeRecord, ...]:
        """Return edges in creation order (by id) after `after_id`."""
        ...

    def edges_closing(
        self, first_id: int, last_id: int, *, after_id: int = 0, limit: int
    ) -> tuple[EdgeRecord, ...]:
        """Return edges whose later end is a node from `first_id` to `last_id`, by edge id.

        The later end is the one with the greater id; a self edge closes at its node. So a walk over
        the nodes in creation order meets each edge once, when both its ends have come. Costs the
        edges returned and the nodes in the range, not the degree of a hub outside it.
        """
        ...

    def list_kept(self, *, after: int = 0, limit: int) -> tuple[tuple[int, KeptLine], ...]:
        """Return kept lines with their positions, in order, after position `after`."""
        ...

    def search(self, query: SearchQuery, *, after: Position | None, limit: int) -> SearchPage:
        """Return the matches after `after`, in the order `SearchPage.order` names."""
        ...

    def neighbours(
        self, ids: Sequence[int], *, after_id: int = 0, limit: int
    ) -> tuple[NodeRecord, ...]:
        """Return distinct nodes that share an edge with any of `ids` and are none of them, by id.

        A hub costs `limit`, not its degree.
        """
        ...

    def edges_between(
        self, ids: Sequence[int], others: Sequence[int], *, after_id: int = 0, limit: int
    ) -> tuple[EdgeRecord, ...]:
        """Return edges with one end in `ids` and the other in `others` (either way), by id.

        With `others` the same as `ids`: the edges inside the set, self edges included.
        """
        ...

    def edges_of(
        self,
        node_id: int,
        *,
        direction: str = "both",
        edge_types: Sequence[str] = (),
        after_id: int = 0,
        limit: int,
    ) -> tuple[EdgeRecord, ...]:
        """Return one node's edges by id; `direction` is `out`, `in` or `both`."""
        ...

    def lines_naming(self, name: str, *, limit: int) -> tuple[LineHit, ...]:
        """Return metadata lines whose parsed value is `name`, or lists it between `, `; by node id.

        Exact, case-sensitive; bounded work through the metadata index.
        """
        ...

    def count(self) -> GraphCounts:
        """Count everything; costs a scan of the type indexes."""
        ...

    def last_seq(self) -> int:
        """Return the number of the newest committed transaction; 0 = none."""
        ...

    def commits(self, *, after_seq: int = 0, limit: int) -> tuple[Commit, ...]:
        """Return committed transactions in order after `after_seq`."""
        ...

    def history(self, name: str, *, limit: int = 50) -> tuple[NodeVersion, ...]:
        """Return a node's past, newest first, also of a renamed or deleted name."""
        ...


class GraphTransaction(GraphReader, Protocol):
    """One space inside one write transaction; reads see its own writes.

    The verbs trust their input: rules are checked by the services first. What only the store can
    know (a triple taken by another writer in between) cannot happen, because the write lock is
    held from the start.
    """

    @property
    def now(self) -> str:
        """The transaction's time as stored text, the same for every row it writes."""
        ...

    @property
    def seq(self) -> int:
        """The number this transaction has in the ledger, if it writes anything."""
        ...

    def insert_nodes(self, nodes: Sequence[NewNode]) -> tuple[NodeRecord, ...]:
        """Insert all; returns them stored, in order."""
        ...

    def update_nodes(self, changes: Sequence[NodeChange]) -> tuple[NodeRecord, ...]:
        """Apply each change to its node; returns the new states, in order."""
        ...

    def delete_nodes(self, ids: Sequence[int]) -> int:
        """Delete nodes and every edge that touches them; returns how many edges went."""
        ...

    def insert_edges(self, edges: Sequence[NewEdge]) -> tuple[EdgeRecord, ...]:
        """Insert all; returns them stored, in order."""
        ...

    def update_edges(self, changes: Sequence[EdgeChange]) -> tuple[EdgeRecord, ...]:
        """Apply each change to its edge; returns the new states, in order."""
        ...

    def delete_edges(self, ids: Sequence[int]) -> None:
        """Delete these edges."""
        ...

    def insert_kept(self, lines: Sequence[KeptLine]) -> int:
        """Append kept lines that are not there yet (by exact text); returns how many were new."""
        ...

    def undo(self, seq: int) -> Commit:
        """Reverse one committed transaction of this space, as a new one.

        Returns:
            The reversed transaction.

        Raises:
            UndoConflictError: Something it wrote has changed since; names what.
            InvalidParamError: No such transaction, or history does not reach back that far.
        """
        ...

    def purge_node(self, name: str) -> int:
        """Remove a node (present or past) and every trace of its text from the ledger.

        Returns:
            How many ledger rows were removed; the store frees the pages at `vacuum()`.

        Raises:
            NodeNotFoundError: Neither a present nor a past node has that name.
        """
        ...

    def savepoint(self) -> AbstractContextManager[None]:
        """Enter a nested transaction: an exception that leaves it undoes only what it wrote."""
        ...

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Call `undo` if the outermost transaction does not commit; for things outside the store.

        Undoers run in reverse order; a failing one does not stop the rest, and all failures are
        raised together as an ExceptionGroup.
        """
        ...


class GraphStore(Protocol):
    """A place where graph spaces live."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this store can do beyond the base."""
        ...

    @property
    def location(self) -> str:
        """The absolute path (or masked URL) for people."""
        ...

    @property
    def cursor_key(self) -> bytes:
        """A secret of this store that signs cursors."""
        ...

    def read(self, space: str) -> AbstractContextManager[GraphReader]:
        """Open a snapshot of `space`; an unknown space reads as empty and is not created."""
        ...

    def transaction(
        self, space: str, context: WriteContext
    ) -> AbstractContextManager[GraphTransaction]:
        """Open the write transaction of `space`: commits at the end, rolls back on an exception.

        Raises:
            StoreBusyError: Another process kept the write lock for 15 s.
            StoreReadonlyError, StoreFullError, StoreCorruptError: As named.
        """
        ...

    def spaces(self) -> tuple[str, ...]:
        """Return the ids of all spaces that hold anything, sorted."""
        ...

    def status(self) -> Mapping[str, Json]:
        """Return facts for `status`: location, sizes, versions, features, warnings."""
        ...

    def vacuum(self) -> None:
        """Give back free pages, so that deleted text is nowhere in the file."""
        ...

    def close(self) -> None:
        """Release files and locks; later calls fail."""
        ...
