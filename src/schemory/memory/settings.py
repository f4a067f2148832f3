"""What a memory works with: limits and rules, handed in ready-made (memory.md §3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass, field, names_of

if TYPE_CHECKING:
    from schemory.model.project import ProjectIdentity

MAX_QUERY_CHARS = 4_000
MAX_REASON_CHARS = 1_000
MAX_LABEL_CHARS = 200
DEFAULT_LIMIT = 10
DEFAULT_NAMES_LIMIT = 100
MAX_NAMES_LIMIT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that inputs may have; each field is the setting `MEMORY_<FIELD>`.

    Attributes:
        max_entry_bytes: Of content, in UTF-8 bytes; all others count characters or things.
    """

    max_entry_bytes: int = 200_000
    max_search_results: int = 50
    max_tags: int = 20
    max_title_chars: int = 200
    max_summary_chars: int = 500
    max_source_ref_chars: int = 400
    max_source_uri_chars: int = 1_000
    max_project_id_chars: int = 200
    max_scope_chars: int = 120
    max_topic_chars: int = 200
    max_tag_chars: int = 80

    def by_key(self) -> dict[str, int]:
        """Return the limits by the names of their settings."""
        return {f"MEMORY_{name.upper()}": getattr(self, name) for name in names_of(self)}

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Limits:
        """Return the limits that settings (by name, parsed) give; others keep their default.

        >>> Limits.of({"MEMORY_MAX_TAGS": 5}).max_tags
        5
        """
        known = cls().by_key()
        given = {key: value for key, value in values.items() if key in known}
        numbers = {key: value for key, value in given.items() if isinstance(value, int)}
        return cls(**{key.removeprefix("MEMORY_").lower(): n for key, n in numbers.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """What holds for every call of one run.

    Attributes:
        audit: Whether writes are recorded.
        audit_file: JSON lines that each record is also appended to; None = none.
        allowed_roots: Folders in which projects and files must lie; none = the project's own.
        named_file: One that the person at the command line named themselves: where no roots are
            configured it may be read or written wherever it lies.
        server_project: The project of calls that name none.
        scope_default: Where an entry names no scope.
        allowed_tags: The only tags entries may have; none = any.
        folder_env: Project-domain settings of the `.env` in the server's working folder; a
            project's own come before them.
        warnings: For `status`: unknown settings and the like.
    """

    limits: Limits = field(default_factory=Limits)
    audit: bool = True
    audit_file: Path | None = None
    allowed_roots: tuple[str, ...] = ()
    named_file: str | None = None
    server_project: ProjectIdentity | None = None
    scope_default: str | None = None
    allowed_tags: tuple[str, ...] = ()
    folder_env: Mapping[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()
