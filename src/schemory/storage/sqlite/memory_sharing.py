"""Entries that share rare words with a text: a few short postings, without ranking the rest."""

from collections.abc import Iterable, Sequence
from math import log
from typing import Final

import apsw

from schemory.model.entry import Status
from schemory.storage.memory_protocols import Sharing
from schemory.storage.sqlite.memory_index import for_project, is_index_fault
from schemory.storage.sqlite.memory_rows import entry_of_row, entry_rows
from schemory.storage.sqlite.memory_terms import quoted
from schemory.storage.sqlite.rows import is_storable
from schemory.storage.sqlite.space import Space, id_list

_POSTINGS: Final = """
SELECT rowid FROM memory_index_{n} WHERE memory_index_{n} MATCH ? LIMIT ?
"""
_STATUSES: Final = """
SELECT e.row_id, e.status FROM carray(?2) AS wanted CROSS JOIN memory_entries AS e
WHERE e.row_id = wanted.value AND e.project = ?1
"""
_LOOKED_AT: Final = 8  # for each entry that is wanted, since some may have another status


def find_sharing(
    space: Space,
    project_id: str,
    terms: Iterable[str],
    *,
    statuses: Sequence[Status],
    most_common: int,
    least_share: float,
    limit: int,
) -> Sharing:
    """Return the entries that share the most of the rare terms."""
    postings = _postings(space, [term for term in terms if is_storable(term)], most_common + 1)
    rare = [ids for ids in postings if len(ids) <= most_common]
    weights: dict[int, float] = {}
    for ids in rare:
        weight = log((most_common + 1) / len(ids))
        for row_id in ids:
            weights[row_id] = weights.get(row_id, 0.0) + weight
    enough = least_share * sum(log((most_common + 1) / len(ids)) for ids in rare)
    heavy = [row_id for row_id, weight in weights.items() if weight >= enough]
    best = sorted(heavy, key=lambda row_id: (-weights[row_id], row_id))[: limit * _LOOKED_AT]
    chosen = _with_status(space, best, statuses)[:limit]
    rows = entry_rows(space, chosen)
    return Sharing(
        entries=tuple(entry_of_row(rows[row_id], project_id) for row_id in chosen),
        rare=len(rare),
        common=len(postings) - len(rare),
    )


def _postings(space: Space, terms: Sequence[str], most: int) -> list[list[int]]:
    """Return where each term stands that stands anywhere; at most so many places of each."""
    if not space.number:
        return []
    sql = for_project(_POSTINGS, space.number)
    asked = (space.db.execute(sql, (quoted((term, False)), most)) for term in terms)
    try:
        found = [[row[0] for row in rows] for rows in asked]
    except apsw.Error as error:
        if is_index_fault(error):
            return []
        raise
    return [ids for ids in found if ids]


def _with_status(space: Space, row_ids: list[int], statuses: Sequence[Status]) -> list[int]:
    """Return those of the entries that are there and have one of the statuses, in order."""
    if not row_ids:
        return []
    wanted = {status.value for status in statuses or Status}
    found = {row[0] for row in space.rows(_STATUSES, id_list(row_ids)) if row[1] in wanted}
    return [row_id for row_id in row_ids if row_id in found]
