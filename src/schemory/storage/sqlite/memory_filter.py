"""An entry filter as SQL: conditions on `memory_entries AS e`, and cheap ways to what passes.

Listings walk an index in their order and check the rest row by row; where a tag or a place has
few entries, they start from those instead, so that a rare thing costs what it holds.
"""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass
from schemory.model.text import fold
from schemory.storage.sqlite.rows import is_storable

if TYPE_CHECKING:
    from typing import Any, Final

    from schemory.storage.memory_protocols import EntryFilter
    from schemory.storage.sqlite.space import Space

FEW: Final = 2000
"""As many entries are gathered and sorted rather than met along an index."""

_HAS_TAG: Final = """EXISTS (
  SELECT 1 FROM memory_entry_tags AS u
  WHERE u.project = e.project AND u.entry_row = e.row_id AND u.tag_id = {tag})"""


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of `memory_entries AS e`.

    Attributes:
        sql: Begins with ` AND `, or is empty.
        bound: Named values of it.
        tag_ids: Of the filter's tags, those that the project has.
        is_impossible: Nothing passes: a tag that the project does not have.
    """

    sql: str
    bound: dict[str, Any]
    tag_ids: tuple[int, ...] = ()
    is_impossible: bool = False


def condition(space: Space, wanted: EntryFilter) -> Condition:
    """Return the condition for the entries that are meant."""
    texts = (wanted.scope, wanted.topic, *wanted.tags)
    if not all(is_storable(text) for text in texts if text is not None):
        return Condition("", {}, is_impossible=True)
    parts: list[str] = []
    bound: dict[str, Any] = {}
    for column, name, values in (
        ("e.status", "status", [status.value for status in wanted.statuses]),
        ("e.source_type", "source", wanted.source_types),
    ):
        if values:
            parts.append(_one_of(column, name, len(values)))
            bound |= _numbered(name, values)
    for sql, name, value in (
        ("e.scope_key = :scope", "scope", _key(wanted.scope)),
        ("e.topic_key = :topic", "topic", _key(wanted.topic)),
        ("e.created_at >= :created_after", "created_after", wanted.created_after),
        ("e.created_at < :created_before", "created_before", wanted.created_before),
        ("e.updated_at >= :updated_after", "updated_after", wanted.updated_after),
    ):
        if value is not None:
            parts.append(sql)
            bound[name] = value
    tag_ids = _tag_ids(space, wanted.tags)
    if tag_ids:
        joint = " AND " if wanted.match_all_tags else " OR "
        holds = (_HAS_TAG.replace("{tag}", f":tag{i}") for i in range(len(tag_ids)))
        parts.append(f"({joint.join(holds)})")
        bound |= _numbered("tag", tag_ids)
    is_missing = len(tag_ids) < len(set(wanted.tags)) if wanted.match_all_tags else not tag_ids
    return Condition(
        "".join(f" AND {part}" for part in parts),
        bound,
        tag_ids,
        is_impossible=bool(wanted.tags) and is_missing,
    )


def _key(name: str | None) -> str | None:
    return None if name is None else fold(name)


def _one_of(column: str, name: str, count: int) -> str:
    return f"{column} IN ({', '.join(f':{name}{i}' for i in range(count))})"


def _numbered(name: str, values: Any) -> dict[str, Any]:
    return {f"{name}{i}": value for i, value in enumerate(values)}


def _tag_ids(space: Space, names: tuple[str, ...]) -> tuple[int, ...]:
    sql = "SELECT id FROM memory_tags WHERE project = ? AND name = ?"
    return tuple(i for name in dict.fromkeys(names) for i in space.ints(sql, name))


def few_rows(space: Space, wanted: EntryFilter, holds: Condition) -> list[int] | None:
    """Return row ids among which all that pass are, when a tag or place has but few; else None."""
    for ids in _tag_rows(space, wanted, holds):
        if len(ids) <= FEW:
            return ids
    here = _place_rows(space, wanted)
    return here if here is not None and len(here) <= FEW else None


def _tag_rows(space: Space, wanted: EntryFilter, holds: Condition) -> list[list[int]]:
    sql = """
        SELECT entry_row FROM memory_entry_tags INDEXED BY memory_entry_tags_by_tag
        WHERE project = ? AND tag_id = ? LIMIT ?
    """
    if not holds.tag_ids:
        return []
    found = [space.ints(sql, tag_id, FEW + 1) for tag_id in holds.tag_ids]
    if wanted.match_all_tags:
        return [min(found, key=len)]
    return [[row_id for ids in found for row_id in ids]]


def _place_rows(space: Space, wanted: EntryFilter) -> list[int] | None:
    if wanted.scope is None:
        return None
    if wanted.topic is None:
        sql = """
            SELECT row_id FROM memory_entries INDEXED BY memory_entries_by_place
            WHERE project = ? AND scope_key = ? LIMIT ?
        """
        return space.ints(sql, fold(wanted.scope), FEW + 1)
    sql = """
        SELECT row_id FROM memory_entries INDEXED BY memory_entries_by_place
        WHERE project = ? AND scope_key = ? AND topic_key = ? LIMIT ?
    """
    return space.ints(sql, fold(wanted.scope), fold(wanted.topic), FEW + 1)
