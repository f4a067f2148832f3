"""What a search of memory is, and what it tells of each candidate."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from schemory.model.entry import Entry, Status
from schemory.model.frozen import dataclass
from schemory.storage.memory_protocols import (
    ColumnWeights,
    EntryFilter,
    Holds,
    Match,
    TermGroup,
)
from schemory.storage.sqlite.memory_shelf import Shelves
from schemory.storage.sqlite.rows import Row
from schemory.storage.sqlite.space import Space
from schemory.storage.vector_protocols import Nearest

Verify: TypeAlias = Callable[[Sequence[str]], bool]
"""Whether an entry with these original texts may be a candidate."""

SHORT_BYTES: Final = 300
"""Up to there a content may be a turn of a conversation (`Match.asks`)."""

FACTS: Final = f"""
  e.row_id, e.id, e.scope_key, e.topic_key, e.status, e.importance, e.confidence, e.created_at,
  e.updated_at, octet_length(e.content),
  octet_length(e.content) <= {SHORT_BYTES} AND (instr(e.content, '?') OR instr(e.content, '\uff1f'))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One search of a project.

    Attributes:
        groups: Without those that ask for nothing.
        wanted: Which entries may be found.
        verify: See `MemoryReader.match`.
        nearest: Likewise.
        shelves: Where vectors are looked for.
    """

    space: Space
    project_id: str
    groups: tuple[TermGroup, ...]
    wanted: EntryFilter
    limit: int
    weights: ColumnWeights
    verify: Verify | None
    nearest: Nearest | None
    shelves: Shelves


def match_of(row: Row, score: float, holds: Holds, similarity: float | None = None) -> Match:
    """Return the candidate of a row of FACTS."""
    row_id, entry_id, scope, topic, status, importance, confidence, created, updated = row[:9]
    size, asks = row[9:]
    return Match(
        entry_id,
        row_id,
        score,
        holds,
        (scope, topic),
        _STATUSES[status],
        importance,
        confidence,
        created,
        updated,
        content_bytes=size,
        asks=bool(asks),
        similarity=similarity,
    )


_STATUSES: Final = {status.value: status for status in Status}


def original_texts(entry: Entry) -> tuple[str, ...]:
    """Return what a phrase may stand in: title, content, summary, scope, topic and tags."""
    given = (entry.title, entry.content, entry.summary, entry.scope, entry.topic, *entry.tags)
    return tuple(text for text in given if text)
