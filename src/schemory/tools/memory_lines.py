"""The parts of answers that a session's brief needs as well, where every import is waited for."""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from schemory.memory.handoff_results import HandoffLine
    from schemory.model.jsonvalue import Json
    from schemory.model.project import ProjectIdentity


def project_wire(project: ProjectIdentity) -> dict[str, Json]:
    """Return which project an answer is about, and what told it."""
    wire: dict[str, Json] = {
        "id": project.id,
        "resolved_by": project.resolved_by.value,
        "display_name": project.display_name,
    }
    if project.canonical_path is not None:
        wire["canonical_path"] = project.canonical_path
    return wire


def line_wire(line: HandoffLine) -> dict[str, Json]:
    """Return one line of a handoff."""
    return {
        "entry_id": line.entry_id,
        "text": line.text,
        "scope": line.scope,
        "topic": line.topic,
        "status": line.status.value,
        "updated_at": line.updated_at,
    }
