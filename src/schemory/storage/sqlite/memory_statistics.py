"""How many entries a project has and how common its terms are, remembered between searches."""

from __future__ import annotations

from collections.abc import Iterable

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass, field
from schemory.storage.sqlite.memory_index import count_entries, for_project
from schemory.storage.sqlite.memory_terms import Phrase, quoted

if TYPE_CHECKING:
    from typing import Final

    from schemory.storage.sqlite.space import Space

_MOST_PROJECTS: Final = 64
_MOST_TERMS: Final = 4096
_DRIFT: Final = 50  # a frequency holds until the project grew or shrank by a fiftieth


@dataclass(slots=True)
class _Known:
    """What is remembered of one project."""

    seq: int = -1
    entries: int = 0
    counted_at: int = 0
    frequencies: dict[Phrase, int] = field(default_factory=dict[Phrase, int])


class Statistics:
    """Figures of every project of one store; threads may share it, a lost update costs a count."""

    def __init__(self) -> None:
        self._projects: dict[int, _Known] = {}

    def of(self, space: Space, seq: int) -> Figures:
        """Return the figures of a project as of its ledger number `seq`."""
        known = self._projects.get(space.number)
        if known is None:
            if len(self._projects) >= _MOST_PROJECTS:
                self._projects.clear()
            known = self._projects[space.number] = _Known()
        if known.seq != seq:
            known.entries = count_entries(space.db, space.number)
            known.seq = seq
            has_drifted = abs(known.entries - known.counted_at) * _DRIFT > known.counted_at
            if has_drifted or len(known.frequencies) > _MOST_TERMS:
                known.frequencies = {}
                known.counted_at = known.entries
        return Figures(space, known.entries, known.frequencies)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one project at one moment.

    Attributes:
        entries: How many it has, exactly.
        known: Frequencies that were counted before, at most a fiftieth of the entries ago.
    """

    space: Space
    entries: int
    known: dict[Phrase, int]

    def frequencies(self, phrases: Iterable[Phrase]) -> dict[Phrase, int]:
        """Return in how many entries each term, or anything that begins with it, stands.

        A 0 is always exact.

        Raises:
            apsw.Error: The index is damaged or missing.
        """
        sql = for_project(_COUNT, self.space.number)
        found: dict[Phrase, int] = {}
        for phrase in phrases:
            count = self.known.get(phrase, 0)
            if not count:
                count = self.known[phrase] = int(self.space.db.execute(sql, (quoted(phrase),)).get)
            found[phrase] = count
        return found


_COUNT: Final = "SELECT count(*) FROM memory_index_{n} WHERE memory_index_{n} MATCH ?"
