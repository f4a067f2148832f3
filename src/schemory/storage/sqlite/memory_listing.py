"""Listings of entries in a steady order, and what names there are."""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING
from schemory.model.entry import Status
from schemory.model.frozen import dataclass
from schemory.storage.memory_pages import EntryHit, EntryPage
from schemory.storage.memory_protocols import (
    EntryFilter,
    NameCount,
)
from schemory.storage.sqlite.memory_filter import Condition, condition, few_rows
from schemory.storage.sqlite.memory_rows import entry_of_row, entry_rows
from schemory.storage.sqlite.space import Space, id_list

if TYPE_CHECKING:
    from typing import Final

    from schemory.storage.protocols import Position
    from schemory.storage.sqlite.rows import Row


@dataclass(frozen=True, slots=True)
class _Order:
    """How a listing walks.

    Attributes:
        index: Which index has this order.
        keys: Its sort columns.
        sign: `<` for descending orders.
        by: The ORDER BY clause.
    """

    index: str
    keys: tuple[str, ...]
    sign: str
    by: str


_ORDERS: Final = {
    "updated": _Order(
        "memory_entries_by_update",
        ("e.updated_at", "e.id"),
        "<",
        "e.updated_at DESC, e.id DESC",
    ),
    "created": _Order(
        "memory_entries_by_creation", ("e.created_at", "e.id"), ">", "e.created_at, e.id"
    ),
    "id": _Order("memory_entries_by_id", ("e.id",), ">", "e.id"),
}


def list_entries(
    space: Space,
    project_id: str,
    wanted: EntryFilter,
    *,
    order: str,
    after: Position | None,
    limit: int,
) -> EntryPage:
    """Return a stretch of the entries that are meant."""
    holds = condition(space, wanted)
    if holds.is_impossible or limit < 1:
        return EntryPage(hits=(), more=None)
    found = _walk(space, wanted, holds, _ORDERS[order], after=after, limit=limit + 1)
    shown = found[:limit]
    rows = entry_rows(space, (row[0] for row in shown))
    hits = tuple(
        EntryHit(entry=entry_of_row(rows[row_id], project_id), position=tuple(position))
        for row_id, *position in shown
    )
    return EntryPage(hits=hits, more=hits[-1].position if len(found) > limit else None)


def _walk(
    space: Space,
    wanted: EntryFilter,
    holds: Condition,
    order: _Order,
    *,
    after: Position | None,
    limit: int,
) -> list[Row]:
    """Return (row id, position…) rows in order."""
    few = few_rows(space, wanted, holds)
    if few is not None and not few:
        return []
    source = f"memory_entries AS e INDEXED BY {order.index} WHERE"
    bound = {"project": space.number, "limit": limit, **holds.bound}
    if few is not None:
        source = "(SELECT DISTINCT value FROM carray(:few)) AS wanted CROSS JOIN"
        source += " memory_entries AS e WHERE e.row_id = wanted.value AND"
        bound["few"] = id_list(few)
    beyond = ""
    if after is not None:
        names = ", ".join(f":after{i}" for i in range(len(order.keys)))
        beyond = f" AND ({', '.join(order.keys)}) {order.sign} ({names})"
        bound |= {f"after{i}": key for i, key in enumerate(after)}
    sql = f"""
        SELECT e.row_id, {", ".join(order.keys)} FROM {source} e.project = :project
        {beyond}{holds.sql} ORDER BY {order.by} LIMIT :limit
    """  # noqa: S608 (clauses of ours; values are bound)
    return list(space.db.execute(sql, bound))


def count_statuses(space: Space) -> dict[Status, int]:
    """Return how many entries have each status."""
    sql = """
        SELECT status, count(*) FROM memory_entries INDEXED BY memory_entries_by_update
        WHERE project = ? GROUP BY status
    """
    found = {Status(status): count for status, count in space.rows(sql)}
    return {status: found[status] for status in Status if status in found}


_NAMES: Final = {
    "scope": """
        SELECT e.scope_key, count(*), min(e.row_id)
        FROM memory_entries AS e INDEXED BY memory_entries_by_place
        WHERE e.project = :project{holds} GROUP BY e.scope_key
        ORDER BY 2 DESC, 1 LIMIT :limit
    """,
    "topic": """
        SELECT e.topic_key, count(*), min(e.row_id)
        FROM memory_entries AS e INDEXED BY memory_entries_by_place
        WHERE e.project = :project{holds} GROUP BY e.topic_key
        ORDER BY 2 DESC, 1 LIMIT :limit
    """,
    "tag": """
        SELECT t.name, count(*), 0
        FROM memory_tags AS t INDEXED BY memory_tags_by_project
        CROSS JOIN memory_entry_tags AS a INDEXED BY memory_entry_tags_by_tag
        CROSS JOIN memory_entries AS e
        WHERE t.project = :project AND a.project = :project AND a.tag_id = t.id
          AND e.row_id = a.entry_row AND e.project = :project{holds}
        GROUP BY t.id ORDER BY 2 DESC, 1 LIMIT :limit
    """,
}
_SPELLED: Final = {
    "scope": "SELECT scope FROM memory_entries WHERE row_id = ?2 AND project = ?1",
    "topic": "SELECT topic FROM memory_entries WHERE row_id = ?2 AND project = ?1",
}


def list_names(space: Space, kind: str, wanted: EntryFilter, limit: int) -> tuple[NameCount, ...]:
    """Return scopes, topics or tags by how many of the entries meant have them."""
    holds = condition(space, wanted)
    if holds.is_impossible:
        return ()
    sql = _NAMES[kind].replace("{holds}", holds.sql)
    rows = list(space.db.execute(sql, {"project": space.number, "limit": limit, **holds.bound}))
    return tuple(
        NameCount(name=_spelled(space, kind, str(key), first), count=int(str(count)))
        for key, count, first in rows
    )


def _spelled(space: Space, kind: str, key: str, row_id: object) -> str:
    """Return a name as the first of its entries has it."""
    row = space.row(_SPELLED[kind], row_id) if kind in _SPELLED else None
    return key if row is None else str(row[0])
