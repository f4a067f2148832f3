"""What a store can do for project memory: verbs over one project's snapshot and transaction.

The same rules as in `protocols.py` hold: services speak only these protocols; searching, paging
and ordering are verbs; a listing returns at most `limit`. One store holds both halves, and one
ledger: a memory transaction takes its number from the same project row as a graph transaction.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from schemory.model.entry import AuditRow, Entry, Link, Project, Status, Tag
from schemory.storage.protocols import Position, WriteContext


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which entries are meant; empty fields do not filter.

    Attributes:
        scope: Compared case-insensitively, like `topic`.
        tags: Case-folded names.
        match_all_tags: All of `tags`, else any.
        created_after: Stored time text, inclusive; `created_before` is exclusive.
    """

    statuses: tuple[Status, ...] = ()
    scope: str | None = None
    topic: str | None = None
    tags: tuple[str, ...] = ()
    match_all_tags: bool = True
    source_types: tuple[str, ...] = ()
    created_after: str | None = None
    created_before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryHit:
    """An entry of a listing and where it stands there."""

    entry: Entry
    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """A stretch of a listing; `more` is where to go on, None = the end."""

    hits: tuple[EntryHit, ...]
    more: Position | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TermGroup:
    """One term of a query: index tokens of which any one will do (the word, its stems).

    Attributes:
        tokens: Tokens as `retrieval.tokens` makes them; several in a row per alternative make a
            phrase (CJK bigrams, a dotted identifier): each alternative is a tuple of tokens.
    """

    alternatives: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A candidate of a search.

    Attributes:
        row_id: Internal number, grows with insertion.
        score: bm25 of the OR of all groups, larger is better, ≥ 0.
        held: Indexes of the groups this entry holds.
    """

    row_id: int
    entry: Entry
    score: float
    held: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The best candidates of a search, and what the ranking needs to know of the project.

    Attributes:
        matches: By score descending, then row id; at most the limit. Entries that hold all groups
            are among them before those that hold some.
        entries: How many entries the project's index holds.
        document_frequency: In how many of them each group occurs, by group index.
        degraded: The index is damaged or missing: found by a bounded scan with the same tokens.
    """

    matches: tuple[Match, ...]
    entries: int
    document_frequency: tuple[int, ...]
    degraded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Siblings:
    """Who stands beside an entry in its scope and topic, by created_at, then id."""

    previous_id: str | None
    next_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCount:
    """A scope, topic or tag as first written, and how many entries have it."""

    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierText:
    """An entry's text before a change, from the ledger."""

    revision: int
    changed_at: str
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """A stretch of the audit log."""

    rows: tuple[AuditRow, ...]
    more: Position | None


class MemoryReader(Protocol):
    """One project's memory as it stands at one moment."""

    @property
    def project_id(self) -> str:
        """The project's id."""
        ...

    def find_project(self) -> Project | None:
        """Return the project's row, or None when nothing was ever written for it."""
        ...

    def find_entries(self, ids: Iterable[str]) -> dict[str, Entry]:
        """Return the project's entries with these ids; another project's are absent."""
        ...

    def find_by_sha(self, sha256: str, *, statuses: Sequence[Status] = ()) -> tuple[Entry, ...]:
        """Return entries with exactly this content hash, oldest first."""
        ...

    def list_entries(
        self,
        entry_filter: EntryFilter,
        *,
        order: str = "updated",
        after: Position | None = None,
        limit: int,
    ) -> EntryPage:
        """Return entries by `updated` (newest first), `created` (oldest first) or `id`."""
        ...

    def match(
        self, groups: Sequence[TermGroup], entry_filter: EntryFilter, *, limit: int
    ) -> Matches:
        """Return the best candidates that hold at least one group."""
        ...

    def find_siblings(self, ids: Iterable[str]) -> dict[str, Siblings]:
        """Return who stands beside each entry in its scope and topic."""
        ...

    def count_statuses(self) -> dict[Status, int]:
        """Return how many entries have each status; absent = none."""
        ...

    def list_names(
        self, kind: str, entry_filter: EntryFilter, *, limit: int
    ) -> tuple[NameCount, ...]:
        """Return `scope`, `topic` or `tag` names by count descending, then name."""
        ...

    def list_links(
        self, entry_ids: Sequence[str], *, direction: str = "both", limit: int
    ) -> tuple[Link, ...]:
        """Return links that touch any of the entries; `direction` is `in`, `out` or `both`."""
        ...

    def find_link(self, link_id: str) -> Link | None:
        """Return one link of the project."""
        ...

    def list_tags(self) -> tuple[Tag, ...]:
        """Return all tags of the project, by name."""
        ...

    def list_earlier_texts(self, entry_id: str, *, limit: int) -> tuple[EarlierText, ...]:
        """Return an entry's states before its changes, newest first."""
        ...

    def list_audit(self, *, after: Position | None = None, limit: int) -> AuditPage:
        """Return the project's audit rows, oldest first."""
        ...


class MemoryTransaction(MemoryReader, Protocol):
    """One project inside one write transaction; reads see its own writes."""

    @property
    def now(self) -> str:
        """The transaction's time as stored text."""
        ...

    @property
    def seq(self) -> int:
        """The number this transaction has in the project's ledger, if it writes anything."""
        ...

    def put_project(self, project: Project) -> None:
        """Write what is known of the project; None keeps what is there."""
        ...

    def insert_entries(self, entries: Sequence[Entry]) -> None:
        """Insert entries with their tags."""
        ...

    def update_entries(self, entries: Sequence[Entry]) -> None:
        """Replace entries (by id) by these states; the earlier ones stay in the ledger."""
        ...

    def delete_entries(self, ids: Sequence[str]) -> None:
        """Remove entries with tags, links, index rows, vectors and every ledger text of them."""
        ...

    def insert_links(self, links: Sequence[Link]) -> None:
        """Insert links whose ends exist."""
        ...

    def delete_links(self, ids: Sequence[str]) -> None:
        """Remove links."""
        ...

    def put_tags(self, tags: Sequence[Tag]) -> None:
        """Write tags' own fields (description), for imports."""
        ...

    def insert_audit(self, row: AuditRow) -> None:
        """Append one audit row."""
        ...

    def rebuild_index(self) -> int:
        """Build the project's search index anew; returns how many entries it holds."""
        ...

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Call `undo` if the transaction does not commit; for things outside the store."""
        ...


class MemoryStore(Protocol):
    """A place where projects' memories live."""

    @property
    def location(self) -> str:
        """The absolute path (or masked URL) for people."""
        ...

    @property
    def cursor_key(self) -> bytes:
        """A secret of this store that signs cursors."""
        ...

    def read_memory(self, project_id: str) -> AbstractContextManager[MemoryReader]:
        """Open a snapshot; an unknown project reads as empty and is not created."""
        ...

    def memory_transaction(
        self, project_id: str, context: WriteContext
    ) -> AbstractContextManager[MemoryTransaction]:
        """Open the write transaction of a project: commits at the end, rolls back on an exception.

        A project row is made at the first write. A transaction that wrote only an audit row takes
        no ledger number.
        """
        ...

    def list_projects(self, *, after: str = "", limit: int) -> tuple[Project, ...]:
        """Return projects that hold entries, by id."""
        ...

    def find_entry_project(self, entry_id: str) -> str | None:
        """Return the project that holds an entry, for reads that said `cross_project`."""
        ...

    def prune_audit(self, *, before: str, project_id: str | None) -> int:
        """Delete audit rows older than `before`; returns how many."""
        ...
