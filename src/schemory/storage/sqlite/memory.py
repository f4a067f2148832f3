"""Reading one project's memory at one moment (storage.memory_protocols.MemoryReader)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import apsw

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import replace
from schemory.model.late import LateModule
from schemory.storage.memory_pages import AuditPage, EntryPage
from schemory.storage.memory_protocols import (
    DEFAULT_WEIGHTS,
    ColumnWeights,
    EarlierText,
    EntryFilter,
    IndexState,
    IndexTerms,
    Matches,
    NameCount,
    Sharing,
    TermGroup,
)
from schemory.storage.sqlite import memory_listing
from schemory.storage.sqlite.memory_index import is_index_fault
from schemory.storage.sqlite.memory_rows import (
    audit_of_row,
    entry_of_row,
    entry_rows_by_id,
    project_of_row,
    tag_of_row,
)
from schemory.storage.sqlite.memory_shelf import Shelves
from schemory.storage.sqlite.memory_statistics import Figures, Statistics
from schemory.storage.sqlite.memory_terms import terms_of
from schemory.storage.sqlite.rows import text_ids

if TYPE_CHECKING:
    from schemory.model.entry import Entry, Link, Project, Status, Tag
    from schemory.storage.protocols import Commit, Position
    from schemory.storage.sqlite import (
        ledger,
        memory_held,
        memory_links,
        memory_match,
        memory_near,
        memory_past,
        memory_search,
        memory_sharing,
        memory_vectors,
    )
    from schemory.storage.sqlite.space import Space
    from schemory.storage.vector_protocols import Nearest, TextWithoutVector, VectorCount
else:  # listing entries, which every session begins with, needs none of it
    ledger = LateModule("schemory.storage.sqlite.ledger")
    memory_held = LateModule("schemory.storage.sqlite.memory_held")
    memory_links = LateModule("schemory.storage.sqlite.memory_links")
    memory_match = LateModule("schemory.storage.sqlite.memory_match")
    memory_near = LateModule("schemory.storage.sqlite.memory_near")
    memory_past = LateModule("schemory.storage.sqlite.memory_past")
    memory_search = LateModule("schemory.storage.sqlite.memory_search")
    memory_sharing = LateModule("schemory.storage.sqlite.memory_sharing")
    memory_vectors = LateModule("schemory.storage.sqlite.memory_vectors")


class SqliteMemoryReader:
    """One project as it stands inside the connection's current transaction.

    Args:
        space: Where; a project that does not exist reads as empty.
        project_id: Its text id.
        terms: The rules of the search index.
        statistics: What searches remember; None where uncommitted rows are seen.
        shelves: What searches by vectors remember; None likewise.
    """

    def __init__(
        self,
        space: Space,
        project_id: str,
        terms: IndexTerms,
        statistics: Statistics | None,
        shelves: Shelves | None = None,
    ) -> None:
        self._space = space
        self._project_id = project_id
        self._terms = terms
        self._statistics = statistics
        self._shelves = shelves or Shelves()

    @property
    def project_id(self) -> str:
        """The project's id."""
        return self._project_id

    def find_project(self) -> Project | None:
        """Return the project's row, or None when nothing was ever written for it."""
        sql = """
            SELECT id, display_name, canonical_path, git_remote, created_at, updated_at,
              metadata_json
            FROM projects WHERE number = ?
        """
        row = self._space.row(sql)
        return None if row is None else project_of_row(row)

    def find_entries(self, ids: Iterable[str]) -> dict[str, Entry]:
        """Return the project's entries with these ids; another project's are absent."""
        rows = entry_rows_by_id(self._space, text_ids(ids))
        return {i: entry_of_row(row, self._project_id) for i, row in rows.items()}

    def find_by_sha(self, sha256: str, *, statuses: Sequence[Status] = ()) -> tuple[Entry, ...]:
        """Return entries with exactly this content hash, oldest first."""
        sql = """
            SELECT id FROM memory_entries INDEXED BY memory_entries_by_sha
            WHERE project = ? AND content_sha256 = ? ORDER BY row_id
        """
        ids = [row[0] for row in self._space.rows(sql, sha256)]
        found = self.find_entries(ids)
        return tuple(found[i] for i in ids if not statuses or found[i].status in statuses)

    def list_entries(
        self,
        entry_filter: EntryFilter,
        *,
        order: str = "updated",
        after: Position | None = None,
        limit: int,
    ) -> EntryPage:
        """Return entries by `updated` (newest first), `created` (oldest first) or `id`."""
        return memory_listing.list_entries(
            self._space, self._project_id, entry_filter, order=order, after=after, limit=limit
        )

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
        """Return the best candidates that have any term, and hold every required group."""
        figures = self._figures()
        asking = {i: group for i, group in enumerate(groups) if terms_of(group)}
        if not figures.entries or not asking:
            frequency = (0,) * len(groups)
            return Matches(matches=(), entries=figures.entries, document_frequency=frequency)
        search = memory_search.Search(
            space=self._space,
            project_id=self._project_id,
            groups=tuple(asking.values()),
            wanted=entry_filter,
            limit=limit,
            weights=weights,
            verify=verify,
            nearest=nearest,
            shelves=self._shelves,
        )
        found = memory_match.find_matches(search, figures, self._terms, self._rules_state())
        return found if len(asking) == len(groups) else _spread(found, list(asking), len(groups))

    def find_nearest(
        self, nearest: Nearest, entry_filter: EntryFilter, *, limit: int
    ) -> tuple[tuple[str, float], ...]:
        """Return (id, similarity) of entries with the nearest vectors, nearest first."""
        return memory_near.find_nearest(self._space, self._shelves, nearest, entry_filter, limit)

    def list_without_vector(
        self, model: str, *, below: int | None = None, limit: int, chars: int
    ) -> tuple[TextWithoutVector, ...]:
        """Return entries that have no vector of a model, newest first."""
        return memory_vectors.list_without(
            self._space, model, below=below, limit=limit, chars=chars
        )

    def count_vectors(self, model: str) -> VectorCount:
        """Return how many entries have a vector of a model, of how many."""
        return memory_vectors.count_vectors(self._space, model)

    def held_groups(
        self, groups: Sequence[TermGroup], ids: Iterable[str]
    ) -> dict[str, frozenset[int]]:
        """Return which groups each entry holds, as indexes."""
        rows = entry_rows_by_id(self._space, text_ids(ids))
        row_ids = {row[0]: entry_id for entry_id, row in rows.items()}
        held = memory_held.held_groups(
            self._space, self._project_id, groups, list(row_ids), self._terms
        )
        return {row_ids[i]: indexes for i, indexes in held.items()}

    def document_frequencies(self, terms: Iterable[str]) -> Mapping[str, int]:
        """Return in how many entries each term of the index stands; a damaged index gives 0."""
        wanted = list(dict.fromkeys(terms))
        figures = self._figures()
        if not figures.entries:
            return dict.fromkeys(wanted, 0)
        try:
            found = figures.frequencies((term, False) for term in wanted)
        except apsw.Error as error:
            if is_index_fault(error):
                return dict.fromkeys(wanted, 0)
            raise
        return {term: count for (term, _), count in found.items()}

    def find_sharing(
        self,
        terms: Iterable[str],
        *,
        statuses: Sequence[Status],
        most_common: int,
        least_share: float,
        limit: int,
    ) -> Sharing:
        """Return the entries whose texts share the most with these terms of the index."""
        return memory_sharing.find_sharing(
            self._space,
            self._project_id,
            terms,
            statuses=statuses,
            most_common=most_common,
            least_share=least_share,
            limit=limit,
        )

    def _figures(self) -> Figures:
        statistics = Statistics() if self._statistics is None else self._statistics
        return statistics.of(self._space, self.last_seq())

    def index_state(self) -> IndexState:
        """Return whether the search index can be relied on; a few look-ups, not a full check."""
        if not self._figures().entries or memory_match.answers_for(self._space, self._terms):
            return self._rules_state()
        return IndexState.DAMAGED

    def _rules_state(self) -> IndexState:
        row = self._space.row("SELECT index_rules FROM projects WHERE number = ?")
        rules = None if row is None else row[0]
        is_ours = rules is None or rules == self._terms.version
        return IndexState.SOUND if is_ours else IndexState.OUTDATED

    def count_statuses(self) -> dict[Status, int]:
        """Return how many entries have each status; absent = none."""
        return memory_listing.count_statuses(self._space)

    def list_names(
        self, kind: str, entry_filter: EntryFilter, *, limit: int
    ) -> tuple[NameCount, ...]:
        """Return `scope`, `topic` or `tag` names by count descending, then name."""
        return memory_listing.list_names(self._space, kind, entry_filter, limit)

    def list_links(
        self,
        entry_ids: Sequence[str] | None = None,
        *,
        direction: str = "both",
        after_id: str = "",
        limit: int,
    ) -> tuple[Link, ...]:
        """Return links by id after `after_id`: of the project, or those that touch any entry."""
        ids = None if entry_ids is None else text_ids(entry_ids)
        return memory_links.list_links(self._space, ids, direction, after_id, limit)

    def find_link(self, link_id: str) -> Link | None:
        """Return one link of the project."""
        known = text_ids([link_id])
        return memory_links.find_link(self._space, known[0]) if known else None

    def list_tags(self) -> tuple[Tag, ...]:
        """Return all tags of the project, by name."""
        sql = """
            SELECT name, description, created_at FROM memory_tags INDEXED BY memory_tags_by_name
            WHERE project = ? ORDER BY name
        """
        return tuple(map(tag_of_row, self._space.rows(sql)))

    def list_earlier_texts(self, entry_id: str, *, limit: int) -> tuple[EarlierText, ...]:
        """Return an entry's states before its changes, newest first."""
        known = text_ids([entry_id])
        rows = entry_rows_by_id(self._space, known)
        if not rows:
            return ()
        return memory_past.earlier_texts(self._space, self._project_id, rows[entry_id][0], limit)

    def list_audit(self, *, after: Position | None = None, limit: int) -> AuditPage:
        """Return the project's audit rows, oldest first."""
        sql = """
            SELECT number, id, timestamp, project_id, operation, entry_id, actor,
              params_redacted_json, result_json
            FROM audit_log INDEXED BY audit_log_by_project
            WHERE project_id = ? AND number > ? ORDER BY number LIMIT ?
        """
        bound = (self._project_id, after[0] if after else 0, limit + 1)
        rows = list(self._space.db.execute(sql, bound)) if text_ids([self._project_id]) else []
        shown = rows[:limit]
        more = (int(str(shown[-1][0])),) if shown and len(rows) > limit else None
        return AuditPage(rows=tuple(audit_of_row(row[1:]) for row in shown), more=more)

    def last_seq(self) -> int:
        """Return the number of the project's newest committed transaction; 0 = none."""
        return ledger.last_seq(self._space)

    def commits(self, *, after_seq: int = 0, limit: int) -> tuple[Commit, ...]:
        """Return committed transactions, the graph's too, in order after `after_seq`."""
        return ledger.commits(self._space, after_seq, limit)


def _spread(found: Matches, asking: Sequence[int], count: int) -> Matches:
    """Return what was told of the groups that ask for something, told of all of them."""
    frequency = dict(zip(asking, found.document_frequency, strict=True))
    return replace(
        found,
        document_frequency=tuple(frequency.get(i, 0) for i in range(count)),
        unselective=frozenset(asking[i] for i in found.unselective),
    )
