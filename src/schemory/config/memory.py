"""What the project memory gets of the settings (memory.md §3).

The server's working folder may be a cloned repository, so its `.env` counts like that of any
project: for project-domain keys, and to make limits tighter.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from schemory.hints import TYPE_CHECKING, cast
from schemory.identity.dotenv import read_project_env
from schemory.memory.settings import Limits, MemorySettings

if TYPE_CHECKING:
    from schemory.config.settings import Settings


def memory_settings(settings: Settings) -> MemorySettings:
    """Return what holds for every call of the memory in this run."""
    values = settings.memory
    env = read_project_env(Path(settings.working_folder), whose="the server folder's")
    scope = str(values["MEMORY_SCOPE_DEFAULT"])
    audit_file = cast("str | None", values["MEMORY_AUDIT_JSONL"])
    return MemorySettings(
        limits=Limits.of(values),
        audit=bool(values["MEMORY_AUDIT_LOG"]),
        audit_file=Path(audit_file) if audit_file else None,
        allowed_roots=tuple(cast("Sequence[str]", values["MEMORY_ALLOWED_ROOTS"])),
        server_project=settings.project,
        scope_default=scope or None,
        allowed_tags=tuple(cast("Sequence[str]", values["MEMORY_ALLOWED_TAGS"])),
        folder_env=env.values,
        warnings=(*settings.warnings, *env.warnings),
    )
