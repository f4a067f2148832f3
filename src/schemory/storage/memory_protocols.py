"""What a store can do for project memory: verbs over one project's snapshot and transaction.

The same rules as in `protocols.py` hold: services speak only these protocols; searching, paging
and ordering are verbs; a listing returns at most `limit`. One store holds both halves, and one
ledger: a memory transaction takes its number from the same project row as a graph transaction.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import IntEnum, StrEnum
from typing import NamedTuple

from schemory.hints import Protocol
from schemory.model.entry import AuditRow, Entry, Link, Project, Status, Tag
from schemory.model.frozen import dataclass
from schemory.storage.memory_pages import AuditPage, EntryPage
from schemory.storage.protocols import Commit, Position, WriteContext
from schemory.storage.vector_protocols import Nearest, VectorReader, VectorWriter


@dataclass(frozen=True, slots=True)
class IndexTerms:
    """How a text becomes what the search index holds; handed to a store when it is opened.

    Attributes:
        version: Names the rules; an index made by other rules is built anew at the first write.
        terms: Returns the terms of a text, separated by blanks, in order; deterministic.
    """

    version: str
    terms: Callable[[str], str]


class IndexText(NamedTuple):
    """What one entry is indexed by: ready-made terms, a field per weighted column.

    Attributes:
        place: Of scope, topic and tags.
    """

    title: str
    content: str
    summary: str
    place: str


class IndexState(StrEnum):
    """Whether a project's search index can be relied on."""

    SOUND = "sound"
    OUTDATED = "outdated"  # made by other rules; searched all the same; the next write mends it
    DAMAGED = "damaged"  # or missing: searches scan; `rebuild_index` mends it


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which entries are meant; empty fields do not filter.

    Attributes:
        scope: Compared case-insensitively, like `topic`.
        tags: Case-folded names.
        match_all_tags: All of `tags`, else any.
        created_after: Stored time text, inclusive; `created_before` is exclusive.
        updated_after: Inclusive.
    """

    statuses: tuple[Status, ...] = ()
    scope: str | None = None
    topic: str | None = None
    tags: tuple[str, ...] = ()
    match_all_tags: bool = True
    source_types: tuple[str, ...] = ()
    created_after: str | None = None
    created_before: str | None = None
    updated_after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TermGroup:
    """One word of a query, in terms of the index (`retrieval.query.QueryWord`, field by field).

    An entry holds it when it has any term of `whole`, or of each of `parts` any term.

    Attributes:
        whole: Terms that are the word itself, its stems included; empty for spaceless pieces.
        parts: What an identifier or a spaceless piece consists of, with each part's alternatives.
        is_prefix: `whole` stands for every term that begins with it.
        is_required: A word of a quoted phrase: entries without it are no candidates.
    """

    whole: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    is_prefix: bool = False
    is_required: bool = False


class ColumnWeights(NamedTuple):
    """How much a hit counts by where it stands; the fields are those of `IndexText`."""

    title: float = 4.0
    content: float = 1.0
    summary: float = 2.0
    place: float = 2.0


DEFAULT_WEIGHTS = ColumnWeights()


class Holds(IntEnum):
    """How much of a query an entry holds; the numbers are those of `retrieval.ranking.Held`."""

    SOME = 0  # at least one term, if only part of a group
    ALL = 1  # every group
    EXACT = 2  # every group, identifiers as a whole, not only by their parts


class Match(NamedTuple):
    """A candidate of a search: all that ranking needs of an entry, not the entry.

    Attributes:
        row_id: Internal number, grows with insertion.
        score: bm25 over the terms that select, more is better, above 0; in a scan the number of
            groups held, 0.5 for less than one.
        place: Folded scope and topic: equal where those are the same to a search.
        previous_id: The candidate that was made just before it in its place, by created_at and id,
            no other entry that the filter lets pass by status being between; None = none such.
        next_id: The candidate made just after it, likewise.
        content_bytes: How long its content is, in UTF-8.
        asks: It is short (300 bytes at most) and holds a question mark.
        similarity: Of its vector to the query's, -1 to 1; None = none was compared. A candidate
            found by its vector alone has score 0.
    """

    id: str
    row_id: int
    score: float
    holds: Holds
    place: tuple[str, str]
    status: Status
    importance: int
    confidence: float | None
    created_at: str
    updated_at: str
    previous_id: str | None = None
    next_id: str | None = None
    content_bytes: int = 0
    asks: bool = False
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The best candidates of a search, and what the ranking needs to know of the project.

    Attributes:
        matches: By score descending, then row id; the best `limit` that have any term, and of those
            that hold all groups the best `limit` as well.
        entries: How many entries the project has.
        document_frequency: In how many entries each group stands, at least: the frequency of its
            most frequent alternative (of its rarest part).
        unselective: Groups of which no term chose candidates, because all are too common.
        is_partial: There may be candidates that were not looked at: a scan came to its bound, or
            too many did not pass `verify`.
        embedded: How many entries had a vector to compare; None = vectors were not asked for.
    """

    matches: tuple[Match, ...]
    entries: int
    document_frequency: tuple[int, ...]
    unselective: frozenset[int] = frozenset()
    index: IndexState = IndexState.SOUND
    is_partial: bool = False
    embedded: int | None = None


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
class Sharing:
    """Entries that share rare terms with a text.

    Attributes:
        entries: Those that share the most first.
        rare: How many of the terms asked for are rare ones; absent ones do not count.
        common: How many are common ones.
    """

    entries: tuple[Entry, ...] = ()
    rare: int = 0
    common: int = 0


class MemoryReader(VectorReader, Protocol):
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
        self,
        groups: Sequence[TermGroup],
        entry_filter: EntryFilter,
        *,
        limit: int,
        weights: ColumnWeights = DEFAULT_WEIGHTS,
        verify: Callable[[Sequence[str]], bool] | None = None,
        nearest: Nearest | None = None,
    ) -> Matches:
        """Return the best candidates that have any term, and hold every required group.

        Never fails for the index: a damaged or missing one is replaced by a bounded scan of the
        newest entries with the same terms, and `Matches.index` says so.

        Args:
            groups: What is searched for; () = nothing is found.
            entry_filter: Which entries may be found.
            limit: How many candidates, see `Matches.matches`.
            weights: Of the index's columns.
            verify: Told an entry's original texts (title, content, summary, scope, topic, tags),
                whether it may be a candidate: for phrases. Bounded work.
            nearest: Compare vectors too: candidates are told their similarity, and unless a group
                is required the nearest `limit` entries are candidates whatever their words. Not
                where a scan stands in for the index.
        """
        ...

    def held_groups(
        self, groups: Sequence[TermGroup], ids: Iterable[str]
    ) -> dict[str, frozenset[int]]:
        """Return which groups each entry holds, as indexes; costs about a search."""
        ...

    def document_frequencies(self, terms: Iterable[str]) -> Mapping[str, int]:
        """Return in how many entries each term of the index stands; a damaged index gives 0."""
        ...

    def find_sharing(
        self,
        terms: Iterable[str],
        *,
        statuses: Sequence[Status],
        most_common: int,
        least_share: float,
        limit: int,
    ) -> Sharing:
        """Return the entries whose texts share the most with these terms of the index.

        Cheaper than `match`: rare terms alone are looked at, the rarer the heavier. With a damaged
        index nothing is found, and no term is known.

        Args:
            terms: Each costs a look-up.
            statuses: Which entries are meant; () = all.
            most_common: A term in more entries than this is common, and not looked at.
            least_share: How much of the weight of all rare terms an entry must hold.
            limit: How many entries.
        """
        ...

    def index_state(self) -> IndexState:
        """Return whether the search index can be relied on; a few look-ups, not a full check."""
        ...

    def count_statuses(self) -> dict[Status, int]:
        """Return how many entries have each status; absent = none."""
        ...

    def list_names(
        self, kind: str, entry_filter: EntryFilter, *, limit: int
    ) -> tuple[NameCount, ...]:
        """Return `scope`, `topic` or `tag` names by count descending, then name.

        Of spellings that differ only by case the first written is shown.
        """
        ...

    def list_links(
        self,
        entry_ids: Sequence[str] | None = None,
        *,
        direction: str = "both",
        after_id: str = "",
        limit: int,
    ) -> tuple[Link, ...]:
        """Return links by id after `after_id`: of the project, or those that touch any entry given.

        `direction` is `in` (an entry is the target), `out` or `both`.
        """
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

    def last_seq(self) -> int:
        """Return the number of the project's newest committed transaction; 0 = none."""
        ...

    def commits(self, *, after_seq: int = 0, limit: int) -> tuple[Commit, ...]:
        """Return committed transactions, the graph's too, in order after `after_seq`."""
        ...


class MemoryTransaction(MemoryReader, VectorWriter, Protocol):
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

    def find_taken_ids(self, ids: Iterable[str]) -> frozenset[str]:
        """Return which of these entry ids another project of this store holds."""
        ...

    def insert_entries(
        self, entries: Sequence[Entry], *, texts: Sequence[IndexText] | None = None
    ) -> None:
        """Insert entries with their tags.

        Args:
            entries: All of the row is the caller's, times and revision too; `project_id` must be
                the project's.
            texts: What `MemoryStore.index_text` gives for each, where it was made beforehand, so
                that a bulk load holds the write lock no longer than it must.
        """
        ...

    def update_entries(self, entries: Sequence[Entry]) -> None:
        """Replace entries (by id) by these states; the earlier ones stay in the ledger.

        `revision` and `updated_at` are the caller's; an entry that is not there or equals its
        stored state is passed over.
        """
        ...

    def delete_entries(self, ids: Sequence[str]) -> int:
        """Remove entries with tags, links, index rows, vectors and every ledger text of them.

        Also of entries that an undo took back. The store frees the pages at `vacuum()`.

        Returns:
            How many entries were there.
        """
        ...

    def remove_entries(self, ids: Sequence[str]) -> int:
        """Remove entries with tags, links and index rows; the ledger keeps them for an undo.

        Tags that only they had go as well.

        Returns:
            How many entries were there.
        """
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

    def forget_descriptions(self, names: Sequence[str]) -> None:
        """Take the descriptions from tags, for imports that tell all there is."""
        ...

    def insert_audit(self, row: AuditRow) -> None:
        """Append one audit row."""
        ...

    def undo(self, seq: int) -> Commit:
        """Reverse one committed transaction of this project, as a new one; returns the old one.

        Raises:
            UndoConflictError: Something it wrote has changed since; names what.
            InvalidParamError: No such transaction, or history does not reach back that far.
        """
        ...

    def rebuild_index(self) -> int:
        """Build the project's search index anew; returns how many entries it holds."""
        ...

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Call `undo` if the transaction does not commit; for things outside the store."""
        ...


class MemoryStore(Protocol):
    """A place where projects' memories live.

    Every verb raises UnsupportedError when the store was opened without `IndexTerms`.
    """

    @property
    def location(self) -> str:
        """The absolute path (or masked URL) for people."""
        ...

    @property
    def cursor_key(self) -> bytes:
        """A secret of this store that signs cursors."""
        ...

    def index_text(self, entry: Entry) -> IndexText:
        """Return what an entry is indexed by; costs the derivation, needs no lock."""
        ...

    def read_memory(self, project_id: str) -> AbstractContextManager[MemoryReader]:
        """Open a snapshot; an unknown project reads as empty and is not created."""
        ...

    def memory_transaction(
        self, project_id: str, context: WriteContext
    ) -> AbstractContextManager[MemoryTransaction]:
        """Open the write transaction of a project: commits at the end, rolls back on an exception.

        A project row is made at the first write. A transaction that wrote only audit rows takes
        no ledger number and makes no project.
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
