"""Removing entries so that an undo brings them back: every state goes to the ledger first."""

from collections.abc import Sequence
from typing import Final

from schemory.storage.sqlite.space import Space, id_list, text_list
from schemory.storage.sqlite.writers import Writers

_PRESENT: Final = """
  SELECT e.row_id FROM carray(?2) AS wanted
  CROSS JOIN memory_entries AS e INDEXED BY memory_entries_by_id
  WHERE e.id = wanted.value AND e.project = ?1
"""
_TOUCHING: Final = """
  SELECT l.number FROM carray(?2) AS wanted
  CROSS JOIN memory_links AS l INDEXED BY memory_links_by_ends
  WHERE l.project = ?1 AND l.source_entry_id = wanted.value
  UNION SELECT l.number FROM carray(?2) AS wanted
  CROSS JOIN memory_links AS l INDEXED BY memory_links_by_target
  WHERE l.project = ?1 AND l.target_entry_id = wanted.value
"""
_TAGS: Final = """
  SELECT DISTINCT u.tag_id FROM carray(?2) AS wanted CROSS JOIN memory_entry_tags AS u
  WHERE u.project = ?1 AND u.entry_row = wanted.value
"""


def remove_entries(space: Space, writers: Writers, ids: Sequence[str]) -> int:
    """Remove these entries, their links, and tags that nothing else has; returns how many."""
    present = space.ints(_PRESENT, text_list(ids)) if ids else []
    if not present:
        return 0
    tags = space.ints(_TAGS, id_list(present))
    writers.memory.links.delete_numbers(space.ints(_TOUCHING, text_list(ids)))
    writers.memory.entries.delete(present, keeps_past=True)
    writers.memory.tags.delete_unused(tags)
    return len(present)
