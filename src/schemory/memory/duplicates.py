"""Leaves out of a search's hits what somebody linked as a duplicate of another hit."""

from collections.abc import Mapping, Sequence

from schemory.model.entry import Relation
from schemory.storage.memory_protocols import MemoryReader

_MOST_LINKS = 10_000


def copies_of(
    reader: MemoryReader, ids: Sequence[str], rank_of: Mapping[str, int]
) -> dict[str, str]:
    """Return, of these hits, those that need not be shown, with the hit that stands for each.

    An entry that `duplicates` another hit is left out, unless the other points on to a further
    duplicate and ranks below: so of a circle the best one always stays.
    """
    originals = _originals(reader, ids, rank_of)
    if not originals:
        return {}
    further = _originals(
        reader, sorted({o for found in originals.values() for o in found}), rank_of
    )
    copies: dict[str, str] = {}
    for entry_id, found in originals.items():
        own = rank_of[entry_id]
        standing = [o for o in found if rank_of[o] < own or o not in further]
        if standing:
            copies[entry_id] = min(standing, key=lambda o: rank_of[o])
    return copies


def _originals(
    reader: MemoryReader, ids: Sequence[str], rank_of: Mapping[str, int]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if not ids:
        return found
    for link in reader.list_links(ids, direction="out", limit=_MOST_LINKS):
        if link.relation is Relation.DUPLICATES and link.target_entry_id in rank_of:
            found.setdefault(link.source_entry_id, []).append(link.target_entry_id)
    return found
