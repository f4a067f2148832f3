"""Candidates of a search by their vectors: the nearest that pass the filter, and how near all are.

The nearest of all are taken first, since a filter mostly lets most pass; only where too few do are
the entries that pass it gathered, and the nearest among them taken.
"""

from collections.abc import Callable, Collection, Iterable
from math import fsum, sqrt
from typing import Final

from schemory.storage.memory_protocols import DEFAULT_WEIGHTS, EntryFilter
from schemory.storage.sqlite.memory_filter import Condition, condition
from schemory.storage.sqlite.memory_search import Search
from schemory.storage.sqlite.memory_shelf import Shelves, query_floats, similarities
from schemory.storage.sqlite.space import Space, id_list
from schemory.storage.vector_protocols import Nearest

_MORE: Final = 1.5  # as many times the wanted are looked at before the filter is asked first
_SAMPLE: Final = 256  # as many entries, or up to twice as many, tell how near entries mostly are
_FEW: Final = 50  # of fewer that is not known

_PASSING: Final = """
  SELECT e.row_id FROM memory_entries AS e INDEXED BY memory_entries_by_project
  WHERE e.project = :project{holds}
"""
_PASSING_OF: Final = """
  SELECT e.row_id FROM carray(:found) AS wanted CROSS JOIN memory_entries AS e
  WHERE e.row_id = wanted.value AND e.project = :project{holds}
"""
_IDS: Final = """
  SELECT e.row_id, e.id FROM carray(?2) AS wanted CROSS JOIN memory_entries AS e
  WHERE e.row_id = wanted.value AND e.project = ?1
"""

Passing = Callable[[Iterable[int]], list[int]]
"""Returns which of the entries pass the filter, in the same order."""


class Near:
    """One search by vectors.

    Attributes:
        embedded: How many entries have a vector.
    """

    def __init__(self, search: Search, holds: Condition, passing: Passing) -> None:
        if search.nearest is None:
            raise ValueError("a search without vectors")  # a programming error
        self._search = search
        self._holds = holds
        self._passing = passing
        self._nearest = search.nearest
        self._query = query_floats(search.nearest.vector)
        self._known: dict[int, float] = {}
        model = search.nearest.model
        self._shelf = search.shelves.of(search.space, model.model, model.dimensions)
        self.embedded = self._shelf.size

    def among(self, found: Iterable[int], *, admits_others: bool) -> dict[int, float]:
        """Return the similarities of these entries, and of the nearest others where admitted."""
        by_words = dict.fromkeys(found)
        others = [row for row in self._closest() if row not in by_words] if admits_others else []
        near = self._similarities([*by_words, *others])
        floor = self._floor() if others else self._nearest.floor
        return {row: each for row, each in near.items() if row in by_words or each > floor}

    def _floor(self) -> float:
        """Return how near an entry must be to be found by its vector alone."""
        floor, outstanding = self._nearest.floor, self._nearest.outstanding
        if outstanding is None:
            return floor
        rows = self._shelf.rows[:: max(1, self._shelf.size // _SAMPLE)]
        near = self._similarities(int(row) for row in rows).values()
        if len(near) < _FEW:
            return floor
        mean = fsum(near) / len(near)
        deviation = sqrt(fsum((each - mean) ** 2 for each in near) / len(near))
        return min(floor, mean + outstanding * deviation)

    def _closest(self) -> list[int]:
        """Return the nearest entries that pass the filter, about as many as are wanted."""
        limit = self._search.limit
        most = int(limit * _MORE)
        passed = self._passing(self._best(most, None))
        if len(passed) < limit and most < self._shelf.size:
            allowed = _rows(self._search.space, _PASSING, self._holds, {})
            passed = self._passing(self._best(limit, allowed))
        return passed[:limit]

    def _best(self, count: int, among: Collection[int] | None) -> list[int]:
        """Return the nearest entries; of those that bits chose, by their vectors' own order."""
        rows = self._shelf.nearest(self._query, count, among)
        if self._shelf.floats is None and len(rows) > count:
            near = self._similarities(rows)
            rows = sorted(near, key=lambda row: (-near[row], row))
        return rows[:count]

    def _similarities(self, rows: Iterable[int]) -> dict[int, float]:
        """Return how near these entries' vectors are; each is read once."""
        wanted = list(rows)
        new = [row for row in wanted if row not in self._known]
        if new:
            model = self._nearest.model.model
            self._known |= similarities(self._search.space, model, self._query, new)
        return {row: self._known[row] for row in wanted if row in self._known}


def find_nearest(
    space: Space, shelves: Shelves, nearest: Nearest, wanted: EntryFilter, limit: int
) -> tuple[tuple[str, float], ...]:
    """Return (id, similarity) of the entries whose vectors are nearest, nearest first."""
    holds = condition(space, wanted)
    if holds.is_impossible or not space.number or limit < 1:
        return ()
    search = Search(
        space=space,
        project_id="",
        groups=(),
        wanted=wanted,
        limit=limit,
        weights=DEFAULT_WEIGHTS,
        verify=None,
        nearest=nearest,
        shelves=shelves,
    )

    def passing(rows: Iterable[int]) -> list[int]:
        given = list(rows)
        passed = set(_rows(space, _PASSING_OF, holds, {"found": id_list(given)}) if given else ())
        return [row for row in given if row in passed]

    near = Near(search, holds, passing).among((), admits_others=True)
    best = sorted(near, key=lambda row: (-near[row], row))[:limit]
    ids: dict[int, str] = dict(space.rows(_IDS, id_list(best)) if best else ())
    return tuple((ids[row], near[row]) for row in best)


def _rows(space: Space, sql: str, holds: Condition, bound: dict[str, object]) -> list[int]:
    found = space.db.execute(
        sql.replace("{holds}", holds.sql), {"project": space.number, **bound, **holds.bound}
    )
    return [int(str(row[0])) for row in found]
