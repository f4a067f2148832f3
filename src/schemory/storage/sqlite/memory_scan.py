"""Finding candidates without an index: a bounded look at the newest entries, with the same terms.

Source: memory.md §6, "one degraded path".
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from schemory.model.entry import Entry
from schemory.model.frozen import dataclass, field
from schemory.model.text import fold
from schemory.storage.memory_protocols import (
    Holds,
    IndexState,
    IndexTerms,
    Match,
    Matches,
    TermGroup,
)
from schemory.storage.sqlite.memory_beside import side_by_side
from schemory.storage.sqlite.memory_filter import Condition
from schemory.storage.sqlite.memory_rows import entry_of_row, entry_rows, index_text
from schemory.storage.sqlite.memory_search import SHORT_BYTES, Search, original_texts
from schemory.storage.sqlite.memory_terms import Has, held_by, holds_of
from schemory.storage.sqlite.space import Space

MOST_SCANNED: Final = 5000
MOST_CHARACTERS: Final = 4_000_000
"""A scan ends there: a million characters take about a second."""

_CHUNK: Final = 100
_A_PART_ONLY: Final = 0.5


@dataclass(slots=True)
class _Found:
    """What a scan has met so far."""

    matches: list[Match] = field(default_factory=list[Match])
    frequency: Counter[int] = field(default_factory=Counter[int])
    is_partial: bool = False


def scan(search: Search, terms: IndexTerms, holds: Condition, entries: int) -> Matches:
    """Return the candidates among the newest entries, by how many groups they hold."""
    found = _Found()
    characters = 0
    for scanned, (row_id, entry) in enumerate(_newest_first(search, holds)):
        if scanned == MOST_SCANNED or characters > MOST_CHARACTERS:
            found.is_partial = True
            break
        characters += len(entry.content)
        _look(search, terms, row_id, entry, found)
    found.matches.sort(key=lambda match: (-match.score, match.row_id))
    best = found.matches[: 2 * search.limit]
    return Matches(
        matches=tuple(side_by_side(search.space, best, search.wanted.statuses)),
        entries=entries,
        document_frequency=tuple(found.frequency[i] for i in range(len(search.groups))),
        index=IndexState.DAMAGED,
        is_partial=found.is_partial,
    )


def _look(search: Search, terms: IndexTerms, row_id: int, entry: Entry, found: _Found) -> None:
    has = has_terms(entry, terms)
    held = held_by(search.groups, has)
    found.frequency.update(held)
    how_much = holds_of(search.groups, has)
    if how_much is None or (search.verify and not search.verify(original_texts(entry))):
        return
    found.matches.append(_match(row_id, entry, len(held) or _A_PART_ONLY, how_much))


def _newest_first(search: Search, holds: Condition) -> Iterator[tuple[int, Entry]]:
    space = search.space
    sql = f"""
        SELECT e.row_id FROM memory_entries AS e INDEXED BY memory_entries_by_project
        WHERE e.project = :project AND e.row_id < :below{holds.sql}
        ORDER BY e.row_id DESC LIMIT :chunk
    """  # noqa: S608 (a condition of ours)
    bound = {"project": space.number, "below": 1 << 62, "chunk": _CHUNK, **holds.bound}
    while ids := [int(str(row[0])) for row in space.db.execute(sql, bound)]:
        rows = entry_rows(space, ids)
        for row_id in ids:
            yield row_id, entry_of_row(rows[row_id], search.project_id)
        bound["below"] = ids[-1]


def has_terms(entry: Entry, terms: IndexTerms) -> Has:
    """Return what tells whether an entry has a term, or one that begins with it."""
    own = frozenset(" ".join(index_text(entry, terms)).split())

    def has(term: str, is_prefix: bool) -> bool:  # noqa: FBT001 (called in one place)
        return any(each.startswith(term) for each in own) if is_prefix else term in own

    return has


def held_without_index(
    space: Space,
    project_id: str,
    groups: Sequence[TermGroup],
    row_ids: Sequence[int],
    terms: IndexTerms,
) -> dict[int, frozenset[int]]:
    """Return which groups each entry holds, from its own texts."""
    entries = {i: entry_of_row(row, project_id) for i, row in entry_rows(space, row_ids).items()}
    return {i: held_by(groups, has_terms(entry, terms)) for i, entry in entries.items()}


def _match(row_id: int, entry: Entry, score: float, holds: Holds) -> Match:
    return Match(
        id=entry.id,
        row_id=row_id,
        score=score,
        holds=holds,
        place=(fold(entry.scope), fold(entry.topic)),
        status=entry.status,
        importance=entry.importance,
        confidence=entry.confidence,
        created_at=entry.created_at,
        updated_at=entry.updated_at,
        content_bytes=len(content := entry.content.encode()),
        asks=len(content) <= SHORT_BYTES and any(sign in entry.content for sign in "?\uff1f"),
    )
