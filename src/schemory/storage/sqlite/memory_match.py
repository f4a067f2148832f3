"""Finding the best candidates of a search through a project's full-text index (storage.md).

The query is an OR of all terms, ranked by bm25. Entries that hold every group are asked for once
more, so that none of them is lost behind many that hold some. The best are taken before the filter
is checked, since it mostly lets all pass; only where it does not is the index asked through it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import apsw

from schemory.model.frozen import replace
from schemory.storage.memory_protocols import Holds, IndexState, IndexTerms, Matches
from schemory.storage.sqlite.memory_beside import side_by_side
from schemory.storage.sqlite.memory_filter import Condition, condition
from schemory.storage.sqlite.memory_index import for_project, is_index_fault
from schemory.storage.sqlite.memory_near import Near
from schemory.storage.sqlite.memory_rows import entry_of_row, entry_rows
from schemory.storage.sqlite.memory_scan import scan
from schemory.storage.sqlite.memory_search import FACTS, Search, match_of, original_texts
from schemory.storage.sqlite.memory_statistics import Figures
from schemory.storage.sqlite.memory_terms import (
    Phrase,
    each_phrase,
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
_FACTS_OF: Final = f"""
  SELECT {FACTS} FROM carray(:found) AS wanted CROSS JOIN memory_entries AS e
  WHERE e.row_id = wanted.value AND e.project = :project{{holds}}
"""  # noqa: S608 (column names of ours)
_BEST_FILTERED: Final = f"""
  SELECT -bm25(memory_index_{{n}}, :w0, :w1, :w2, :w3) AS score, {FACTS}
  FROM memory_index_{{n}} AS f CROSS JOIN memory_entries AS e
  WHERE memory_index_{{n}} MATCH :expression
    AND e.row_id = f.rowid AND e.project = :project{{holds}}
  ORDER BY score DESC, e.row_id LIMIT :limit
"""  # noqa: S608 (column names of ours)


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
            # An outdated index need not know the terms that the question would be asked with.
            is_outdated = state is IndexState.OUTDATED
            has_words = any(match.score for match in found.matches)
            if has_words or is_outdated or answers_for(search.space, terms):
                return replace(found, index=state)
    return scan(search, terms, holds, figures.entries)


class _Indexed:
    """A search through the index."""

    def __init__(self, search: Search, holds: Condition, figures: Figures) -> None:
        self._search = search
        self._holds = holds
        self._figures = figures
        self._is_partial = False
        self._known: dict[int, Row] = {}  # rows of FACTS of entries that pass the filter

    def find(self) -> Matches:
        """Return the candidates; an index at fault raises apsw's error."""
        search = self._search
        groups = search.groups
        frequencies = self._figures.frequencies(each_phrase(groups))
        in_entries = tuple(group_frequency(group, frequencies) for group in groups)
        common = self._common(frequencies)
        # A lone word is held by whatever has a term of it; a lone identifier also by a part only.
        is_plain = len(groups) == 1 and not groups[0].parts
        scores = self._best(match_any(groups, common))
        holds = dict.fromkeys(scores, Holds.ALL if is_plain else Holds.SOME)
        if not is_plain and all(in_entries):
            self._raise(scores, holds, match_all(groups), Holds.ALL)
        if has_identifier(groups) and all(in_entries):
            self._raise(scores, holds, match_exact(groups), Holds.EXACT)
        else:
            full = Holds.EXACT
            holds = {i: full if h is Holds.ALL else h for i, h in holds.items()}
        near, embedded = self._near(scores)
        matches = [
            match_of(self._known[i], scores.get(i, 0.0), holds.get(i, Holds.SOME), near.get(i))
            for i in {**scores, **near}
        ]
        matches.sort(key=lambda match: (-match.score, match.row_id))
        return Matches(
            matches=tuple(side_by_side(search.space, matches, search.wanted.statuses)),
            entries=self._figures.entries,
            document_frequency=in_entries,
            unselective=frozenset(
                i for i, group in enumerate(groups) if common.issuperset(terms_of(group))
            ),
            is_partial=self._is_partial,
            embedded=embedded,
        )

    def _near(self, scores: Mapping[int, float]) -> tuple[dict[int, float], int | None]:
        """Return similarities of the candidates found by words and of the nearest entries."""
        search = self._search
        if search.nearest is None:
            return {}, None
        found = Near(search, self._holds, self._passing)
        is_open = not any(group.is_required for group in search.groups)
        return found.among(scores, admits_others=is_open), found.embedded

    def _common(self, frequencies: Mapping[Phrase, int]) -> frozenset[str]:
        """Return the terms that are too common to select, where others remain."""
        if self._figures.entries < COMMON_FROM_ENTRIES:
            return frozenset()
        most = self._figures.entries * COMMON_SHARE
        common = frozenset(term for (term, _), count in frequencies.items() if count > most)
        return common if any(0 < n <= most for n in frequencies.values()) else frozenset()

    def _raise(
        self, scores: dict[int, float], holds: dict[int, Holds], expression: str, level: Holds
    ) -> None:
        """Note which entries hold more; those not found before come in with this one's score."""
        best = self._best(expression)
        holds.update(dict.fromkeys(best, level))
        for row_id, score in best.items():
            scores.setdefault(row_id, score)

    def _best(self, expression: str) -> dict[int, float]:
        """Return the scores of the best that pass filter and verification, in order."""
        search = self._search
        # Most entries pass most filters: a few more than asked for are mostly enough.
        most = search.limit + search.limit // 4 + 10 if search.verify is None else MOST_VERIFIED
        bound: dict[str, Any] = {
            "expression": expression,
            "limit": most,
            **{f"w{i}": weight for i, weight in enumerate(search.weights)},
        }
        scores: dict[int, float] = dict(self._rows(_BEST, bound))
        passed = self._passing(scores)
        if len(passed) < search.limit and len(scores) == most:
            bound |= {"project": search.space.number, **self._holds.bound}
            rows = self._rows(_BEST_FILTERED.replace("{holds}", self._holds.sql), bound)
            self._known.update({row[1]: row[1:] for row in rows})
            scores = {row[1]: row[0] for row in rows}
            passed = list(scores)
        chosen = self._verified(passed)
        if search.verify and len(chosen) < search.limit and len(passed) == most:
            self._is_partial = True
        return {row_id: scores[row_id] for row_id in chosen}

    def _passing(self, row_ids: Iterable[int]) -> list[int]:
        """Return which of the entries pass the filter, in the same order; their facts are kept."""
        wanted = list(row_ids)
        new = [row_id for row_id in wanted if row_id not in self._known]
        if new:
            sql = _FACTS_OF.replace("{holds}", self._holds.sql)
            bound = {"found": id_list(new), "project": self._search.space.number}
            rows = self._rows(sql, {**bound, **self._holds.bound})
            self._known.update({row[0]: row for row in rows})
        return [row_id for row_id in wanted if row_id in self._known]

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
    known = """
        SELECT bm25(memory_index_{n}) FROM memory_index_{n}
        WHERE memory_index_{n} MATCH ? AND rowid = ?
    """
    try:
        for row_id, content, scope in space.rows(ends):
            own = (terms.terms(content) or terms.terms(scope)).split()
            sql = for_project(known, space.number)
            if own and space.db.execute(sql, (f'"{own[0]}"', row_id)).get is None:
                return False
    except apsw.Error as error:
        if is_index_fault(error):
            return False
        raise
    return True
