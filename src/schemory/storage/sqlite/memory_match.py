"""Finding the best candidates of a search through a project's full-text index (storage.md).

The query is an OR of all terms, ranked by bm25. Entries that hold every group are asked for once
more, so that none of them is lost behind many that hold some. The best are taken before the filter
is checked, since it mostly lets all pass; only where it does not is the index asked through it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import apsw

from schemory.storage.memory_protocols import Holds, IndexState, IndexTerms, Match, Matches
from schemory.storage.sqlite.memory_filter import Condition, condition
from schemory.storage.sqlite.memory_index import for_project, is_index_fault
from schemory.storage.sqlite.memory_rows import entry_of_row, entry_rows
from schemory.storage.sqlite.memory_scan import scan
from schemory.storage.sqlite.memory_search import FACTS, Search, match_of, original_texts
from schemory.storage.sqlite.memory_statistics import Figures
from schemory.storage.sqlite.memory_terms import (
    group_frequency,
    has_identifier,
    match_all,
    match_any,
    match_exact,
    terms_of,
)
from schemory.storage.sqlite.rows import Row
from schemory.storage.sqlite.space import Space, id_list

COMMON_FROM_ENTRIES: Final = 20_000
COMMON_SHARE: Final = 0.2
MOST_VERIFIED: Final = 2000
"""As many candidates are read to see whether they hold a phrase."""

_BEST: Final = """
  SELECT rowid, -bm25(memory_index_{n}, :w0, :w1, :w2, :w3) AS score
  FROM memory_index_{n} WHERE memory_index_{n} MATCH :expression
  ORDER BY score DESC, rowid LIMIT :limit
"""
_FACTS_OF: Final = """
  SELECT {facts} FROM carray(:found) AS wanted CROSS JOIN memory_entries AS e
  WHERE e.row_id = wanted.value AND e.project = :project{holds}
"""
_BEST_FILTERED: Final = """
  SELECT -bm25(memory_index_{n}, :w0, :w1, :w2, :w3) AS score, {facts}
  FROM memory_index_{n} AS f CROSS JOIN memory_entries AS e
  WHERE memory_index_{n} MATCH :expression AND e.row_id = f.rowid AND e.project = :project{holds}
  ORDER BY score DESC, e.row_id LIMIT :limit
"""


def find_matches(search: Search, figures: Figures, terms: IndexTerms, state: IndexState) -> Matches:
    """Return the best candidates; through the index, else by a bounded scan."""
    holds = condition(search.space, search.wanted)
    if holds.is_impossible or search.limit < 1:
        frequency = (0,) * len(search.groups)
        return Matches(
            matches=(), entries=figures.entries, document_frequency=frequency, index=state
        )
    if state is not IndexState.DAMAGED:
        try:
            found = _Indexed(search, holds, figures).find()
        except apsw.Error as error:
            if not is_index_fault(error):
                raise
        else:
            if found.matches or answers_for(search.space, terms):
                return replace(found, index=state)
    return scan(search, terms, holds, figures.entries)


class _Indexed:
    """A search through the index."""

    def __init__(self, search: Search, holds: Condition, figures: Figures) -> None:
        self._search = search
        self._holds = holds
        self._figures = figures
        self._is_partial = False

    def find(self) -> Matches:
        """Return the candidates; an index at fault raises apsw's error."""
        search = self._search
        groups = search.groups
        every = [term for group in groups for term in terms_of(group)]
        frequencies = self._figures.frequencies(every)
        common = self._common(frequencies)
        found = self._best(match_any(groups, common), Holds.SOME)
        if len(groups) > 1:
            self._raise(found, match_all(groups), Holds.ALL)
        else:
            found = {row_id: replace(match, holds=Holds.ALL) for row_id, match in found.items()}
        if not has_identifier(groups):
            found = {
                row_id: replace(match, holds=Holds.EXACT) if match.holds is Holds.ALL else match
                for row_id, match in found.items()
            }
        else:
            self._raise(found, match_exact(groups), Holds.EXACT)
        return Matches(
            matches=tuple(sorted(found.values(), key=lambda m: (-m.score, m.row_id))),
            entries=self._figures.entries,
            document_frequency=tuple(group_frequency(group, frequencies) for group in groups),
            unselective=frozenset(
                i for i, group in enumerate(groups) if common.issuperset(terms_of(group))
            ),
            is_partial=self._is_partial,
        )

    def _common(self, frequencies: Mapping[str, int]) -> frozenset[str]:
        """Return the terms that are too common to select, where others remain."""
        if self._figures.entries < COMMON_FROM_ENTRIES:
            return frozenset()
        most = self._figures.entries * COMMON_SHARE
        common = frozenset(term for term, count in frequencies.items() if count > most)
        return common if any(0 < n <= most for n in frequencies.values()) else frozenset()

    def _raise(self, found: dict[int, Match], expression: str, holds: Holds) -> None:
        """Note which entries hold more; those not found before come in."""
        for row_id, match in self._best(expression, holds).items():
            known = found.get(row_id)
            # Ranked by more terms where some were too common to select.
            found[row_id] = match if known is None else replace(known, holds=holds)

    def _best(self, expression: str, holds: Holds) -> dict[int, Match]:
        """Return the best that pass filter and verification, in order."""
        search = self._search
        first = 2 * search.limit if search.verify is None else MOST_VERIFIED
        bound: dict[str, Any] = {
            "expression": expression,
            **{f"w{i}": weight for i, weight in enumerate(search.weights)},
        }
        scores: dict[int, float] = dict(self._rows(_BEST, {**bound, "limit": first}))
        rows = self._facts(scores)
        if len(rows) < search.limit and len(scores) == first:
            bound |= {"limit": first, "project": search.space.number, **self._holds.bound}
            sql = _BEST_FILTERED.replace("{facts}", FACTS).replace("{holds}", self._holds.sql)
            filtered = self._rows(sql, bound)
            scores = {row[1]: row[0] for row in filtered}
            rows = {row[1]: row[1:] for row in filtered}
        passed = self._verified([row_id for row_id in scores if row_id in rows])
        if len(passed) < search.limit and search.verify is not None and len(rows) == first:
            self._is_partial = True
        return {row_id: match_of(rows[row_id], scores[row_id], holds) for row_id in passed}

    def _facts(self, row_ids: Iterable[int]) -> dict[int, Row]:
        wanted = list(row_ids)
        if not wanted:
            return {}
        sql = _FACTS_OF.replace("{facts}", FACTS).replace("{holds}", self._holds.sql)
        bound = {"found": id_list(wanted), "project": self._search.space.number}
        return {row[0]: row for row in self._rows(sql, {**bound, **self._holds.bound})}

    def _rows(self, sql: str, bound: dict[str, Any]) -> list[Row]:
        space = self._search.space
        return list(space.db.execute(for_project(sql, space.number), bound))

    def _verified(self, row_ids: Sequence[int]) -> list[int]:
        """Return the first of them that are verified, at most the limit."""
        search = self._search
        if search.verify is None:
            return list(row_ids[: search.limit])
        passed: list[int] = []
        for at in range(0, len(row_ids), 50):
            chunk = row_ids[at : at + 50]
            rows = entry_rows(search.space, chunk)
            for row_id in chunk:
                entry = entry_of_row(rows[row_id], search.project_id)
                if search.verify(original_texts(entry)):
                    passed.append(row_id)
                if len(passed) == search.limit:
                    return passed
        return passed


def answers_for(space: Space, terms: IndexTerms) -> bool:
    """Return whether the index knows the project's oldest and newest entry.

    A cheap question after an empty answer: an index that was emptied finds nothing, faultlessly.
    """
    ends = """
        SELECT row_id, content, scope FROM memory_entries
        WHERE row_id IN (
          (SELECT min(row_id) FROM memory_entries INDEXED BY memory_entries_by_project
           WHERE project = ?1),
          (SELECT max(row_id) FROM memory_entries INDEXED BY memory_entries_by_project
           WHERE project = ?1)) AND project = ?1
    """
    known = "SELECT count(*) FROM memory_index_{n} WHERE memory_index_{n} MATCH ? AND rowid = ?"
    try:
        for row_id, content, scope in space.rows(ends):
            own = (terms.terms(content) or terms.terms(scope)).split()
            sql = for_project(known, space.number)
            if own and not space.db.execute(sql, (f'"{own[0]}"', row_id)).get:
                return False
    except apsw.Error as error:
        if is_index_fault(error):
            return False
        raise
    return True
