"""What the memory's verbs answer: frozen values that tools, command line and web only render."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from schemory.hints import TYPE_CHECKING
from schemory.memory.handoff_results import Answer
from schemory.model.frozen import dataclass, field

if TYPE_CHECKING:
    from schemory.memory.vector_backend import VectorHealth
    from schemory.model.entry import AuditRow, Entry, Link, Project, Status
    from schemory.storage.memory_protocols import EarlierText, IndexState, NameCount
    from schemory.storage.protocols import Position
    from schemory.storage.vector_protocols import VectorCount

SourceState: TypeAlias = Literal["unchanged", "changed", "missing"]
"""How the file an entry speaks of stands to what it was when the entry was written."""

MatchKind: TypeAlias = Literal["fts", "like", "vector", "hybrid"]
"""How a hit was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStatus(Answer):
    """What a project's memory holds and how the store stands.

    Attributes:
        stored: The project's row; None = nothing was ever written for it.
        counts: Entries by status, each of the four.
        location: Of the store, for people.
        index: Whether search can rely on its index.
        features: What is switched on: `fts`, `vector`, `audit_log`.
        vectors: How search by meaning stands, where it was asked for.
        vector_count: How many entries have a vector; None where no model tells which.
    """

    stored: Project | None
    counts: Mapping[Status, int]
    location: str
    index: IndexState
    features: Mapping[str, bool]
    vectors: VectorHealth | None = None
    vector_count: VectorCount | None = None

    @property
    def entries(self) -> int:
        """How many entries there are in all."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarEntry:
    """A stored entry and how alike it is, 0 to 1 (1 = the same words in the same order).

    Attributes:
        match: With vectors: whether words, meaning or both say so.
    """

    entry: Entry
    similarity: float
    snippet: str
    match: MatchKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryAdded(Answer):
    """An entry that was added, or the one that was there.

    Attributes:
        entry: As it is stored.
        deduped: Nothing was written: `entry` has exactly this content.
        differing: Fields of the call that the existing entry has otherwise.
        similar: Active entries that say nearly the same, most alike first.
    """

    entry: Entry
    deduped: bool = False
    differing: tuple[str, ...] = ()
    similar: tuple[SimilarEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryUpdated(Answer):
    """An entry after a change; `changed` names the fields that have new values, may be empty."""

    entry: Entry
    changed: tuple[str, ...]
    similar: tuple[SimilarEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChanged(Answer):
    """An entry whose status was asked to change; `changed` False = it was so already."""

    entry: Entry
    previous_status: Status
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDeleted(Answer):
    """An entry that is gone for good.

    Attributes:
        links_removed: How many links went with it.
        restored: Entries it had superseded, which have their status back.
    """

    entry_id: str
    links_removed: int
    restored: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParts:
    """How a hit's place came about.

    Attributes:
        held: `some`, `all`, `exact` or `literal`: how much of the query it holds: some words, all,
            identifiers whole, every sign; more ranks first.
        relevance: Its own words (bm25, or words held where the index is damaged), nearness with
            vectors, and what standing close together adds.
        from_neighbour: What a better entry before or after it in its scope and topic adds.
        from_parent: What a better hit of its scope and topic adds.
        words: The query's words it holds.
        together: How much of the query its best passage holds, 0 to 1; None = not looked at.
        by_words: With vectors: how well its words match (bm25), of which `relevance` is made.
        similarity: Of its vector to the query's, -1 to 1; None = it has none.
        weight: How much nearness counted in `relevance`, 0 to 1; None = words alone did.
    """

    held: str
    relevance: float
    from_neighbour: float
    from_parent: float
    words: tuple[str, ...]
    together: float | None = None
    by_words: float | None = None
    similarity: float | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One hit.

    Attributes:
        snippet: The telling passage, matches marked `>>>…<<<`.
        score: Never rises along the list; 0 where nothing was searched for.
        match: None where nothing was searched for.
        codes: Warnings in short: `stored_instructions`, `status_superseded`…
        position: Where to go on behind this hit (`SearchRequest.after`).
    """

    entry: Entry
    snippet: str
    score: float
    match: MatchKind | None
    verification_hint: str
    codes: tuple[str, ...]
    position: Position
    parts: ScoreParts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Something that matched and is not among the hits, and why: `status`, `duplicate`."""

    entry_id: str
    reason: str
    status: Status
    of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage(Answer):
    """A page of hits.

    Attributes:
        more: Where to go on (`SearchRequest.after`); None = the end.
        hint: What to do instead, when nothing was found.
        scopes: At most ten of the project's scopes, when nothing was found; `topics` likewise.
        dropped: Function words of the query that were not searched for.
        left_out: With `explain`: what matched and is not shown.
        projects_searched: In cross-project mode how many were looked into.
    """

    hits: tuple[SearchHit, ...]
    more: Position | None = None
    hint: str | None = None
    scopes: tuple[NameCount, ...] = ()
    topics: tuple[NameCount, ...] = ()
    dropped: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    projects_searched: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRead(Answer):
    """An entry to be read.

    Attributes:
        entry: All of it.
        content: The stretch that was asked for.
        content_chars: How long the content is in all.
        next_offset: Where the content goes on; None = it ended here.
        source_state: None where the entry has no file to compare, or it may not be looked at.
        successors: Entries that supersede this one, directly; the last one of the chain behind.
        history: Its states before its changes, newest first.
        has_older_texts: Whether there are more of them than `history` holds.
    """

    entry: Entry
    content: str
    content_chars: int
    next_offset: int | None
    verification_hint: str
    codes: tuple[str, ...] = ()
    source_state: SourceState | None = None
    successors: tuple[str, ...] = ()
    history: tuple[EarlierText, ...] = ()
    has_older_texts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesListed(Answer):
    """Names by count descending, then name; `truncated` = there are more."""

    kind: str
    status: Status | None
    scope: str | None
    topic: str | None
    items: tuple[NameCount, ...]
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWritten(Answer):
    """A link; `changed` False = it was there. `target` as it stands now."""

    link: Link
    changed: bool
    target: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRemoved(Answer):
    """A link that is gone; `restored` = the target, where it has its status back."""

    link: Link
    restored: Entry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksListed(Answer):
    """Links of one entry by id; `truncated` = there are more."""

    entry_id: str
    direction: str
    links: tuple[Link, ...]
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarFound(Answer):
    """Entries like the one asked about, most alike first, without itself."""

    results: tuple[SimilarEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRebuilt(Answer):
    """How many entries the project's search index holds now.

    Attributes:
        vectors: How many have a vector again; the rest get theirs in the background.
    """

    indexed: int
    vectors: VectorCount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditListed(Answer):
    """Rows of the audit log, oldest first; `more` = where to go on."""

    rows: tuple[AuditRow, ...]
    more: Position | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPruned(Answer):
    """How many audit rows were deleted, all older than `before`."""

    before: str
    pruned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectsListed:
    """Projects that hold entries, by id; `more` is the id to go on after."""

    projects: tuple[Project, ...]
    more: str | None = None
    warnings: tuple[str, ...] = field(default=())
