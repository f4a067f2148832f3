"""Stretches of listings of a project's memory, as a store hands them out."""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from schemory.model.entry import AuditRow, Entry
    from schemory.storage.protocols import Position


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryHit:
    """An entry of a listing and where it stands there."""

    entry: Entry
    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """A stretch of a listing; `more` is where to go on, None = the end."""

    hits: tuple[EntryHit, ...]
    more: Position | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """A stretch of the audit log."""

    rows: tuple[AuditRow, ...]
    more: Position | None
