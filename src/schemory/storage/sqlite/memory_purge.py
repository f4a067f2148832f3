"""Removing entries with every trace of their text from tables, index and ledger (storage.md).

The pages are freed, not yet overwritten: `vacuum` does that.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from schemory.model.frozen import dataclass
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.purge import forget_images, mark_torn
from schemory.storage.sqlite.space import Space, text_list
from schemory.storage.sqlite.writers import Writers

_PRESENT: Final = """
  SELECT e.row_id FROM carray(?2) AS wanted
  CROSS JOIN memory_entries AS e INDEXED BY memory_entries_by_id
  WHERE e.id = wanted.value AND e.project = ?1
"""
_GONE: Final = """
  SELECT p.row_id FROM carray(?2) AS wanted CROSS JOIN memory_entry_past AS p
  WHERE p.id = wanted.value AND p.project = ?1
"""
_LINKS_EVER: Final = """
  SELECT l.number FROM carray(?2) AS wanted
  CROSS JOIN memory_links AS l INDEXED BY memory_links_by_ends
  WHERE l.project = ?1 AND l.source_entry_id = wanted.value
  UNION SELECT l.number FROM carray(?2) AS wanted
  CROSS JOIN memory_links AS l INDEXED BY memory_links_by_target
  WHERE l.project = ?1 AND l.target_entry_id = wanted.value
  UNION SELECT t.link FROM carray(?2) AS wanted CROSS JOIN memory_link_touch AS t
  WHERE t.project = ?1 AND t.entry_id = wanted.value
"""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge took.

    Attributes:
        deleted: Entries that were there.
        removed: Rows of tables and ledger altogether.
    """

    deleted: int
    removed: int


def purge_entries(space: Space, writers: Writers, ids: Sequence[str]) -> Purged:
    """Remove these entries, also those that an undo took back."""
    if not ids:
        return Purged(0, 0)
    before = space.db.total_changes()
    present = space.ints(_PRESENT, text_list(ids))
    gone = space.ints(_GONE, text_list(ids))
    links = space.ints(_LINKS_EVER, text_list(ids))
    if not present and not gone:
        return Purged(0, 0)
    row_ids = [*present, *gone]
    mark_torn(space, [(Kind.ENTRY, i) for i in row_ids] + [(Kind.LINK, i) for i in links])
    for link in links:
        forget_images(space, Kind.LINK, link)
    space.write("DELETE FROM memory_link_touch WHERE project = ? AND link = ?", _each(links))
    space.write("DELETE FROM memory_links WHERE project = ? AND number = ?", _each(links))
    for row_id in row_ids:
        forget_images(space, Kind.ENTRY, row_id)
    writers.memory.entries.delete(present, keeps_past=False)
    space.write("DELETE FROM memory_entry_past WHERE project = ? AND id = ?", _each(ids))
    writers.memory.tags.drop_unused()
    return Purged(len(present), space.db.total_changes() - before)


def _each(items: Iterable[int | str]) -> Iterator[tuple[int | str]]:
    return ((item,) for item in items)
