"""The audit log as a person reads and shortens it (memory.md §8)."""

from schemory.memory.inputs import ProjectRef
from schemory.memory.limiting import clamped
from schemory.memory.moments import parse_moment
from schemory.memory.results import AuditListed, AuditPruned
from schemory.memory.settings import DEFAULT_NAMES_LIMIT, MAX_NAMES_LIMIT
from schemory.memory.work import Work
from schemory.storage.protocols import Position


def list_audit(work: Work, ref: ProjectRef, after: Position | None, limit: int) -> AuditListed:
    """Return the project's audit rows, oldest first."""
    with work.reading(ref) as reading:
        most = clamped(limit, MAX_NAMES_LIMIT, reading.warnings, default=DEFAULT_NAMES_LIMIT)
        page = reading.reader.list_audit(after=after, limit=most)
        return AuditListed(
            project=reading.place.project,
            warnings=reading.told(),
            rows=page.rows,
            more=page.more,
        )


def prune_audit(work: Work, ref: ProjectRef | None, before: str) -> AuditPruned:
    """Delete audit rows older than `before`; without a project those of all projects.

    Raises:
        InvalidParamError: `before` is no moment.
    """
    moment = parse_moment(before, "before", work.now())
    place = None if ref is None else work.place(ref)
    pruned = work.store.prune_audit(before=moment, project_id=place.id if place else None)
    return AuditPruned(
        project=place.project if place else None,
        warnings=place.warnings if place else (),
        before=moment,
        pruned=pruned,
    )
