"""Which candidates of a search stand side by side: neighbours give each other context."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from schemory.model.entry import Status
from schemory.storage.memory_protocols import Match
from schemory.storage.sqlite.space import Space

_BETWEEN: Final = """
  SELECT 1 FROM memory_entries AS e INDEXED BY memory_entries_by_place
  WHERE e.project = ? AND e.scope_key = ? AND e.topic_key = ?
    AND (e.created_at, e.id) > (?, ?) AND (e.created_at, e.id) < (?, ?){among} LIMIT 1
"""


def side_by_side(space: Space, matches: Iterable[Match], statuses: Sequence[Status]) -> list[Match]:
    """Return the candidates with their neighbours, in the order given.

    Only candidates need asking: who is none gives no context.
    """
    found = list(matches)
    marks = ", ".join("?" * len(statuses))
    sql = _BETWEEN.replace("{among}", f" AND e.status IN ({marks})" if statuses else "")
    among = [status.value for status in statuses]
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for one, other in pairwise(sorted(found, key=_by_place)):
        bound = (*one.place, one.created_at, one.id, other.created_at, other.id, *among)
        if one.place == other.place and space.row(sql, *bound) is None:
            after[one.id] = other.id
            before[other.id] = one.id
    return [
        match._replace(previous_id=before.get(match.id), next_id=after.get(match.id))
        if match.id in before or match.id in after
        else match
        for match in found
    ]


def _by_place(match: Match) -> tuple[tuple[str, str], str, str]:
    return match.place, match.created_at, match.id
