"""Entries of project memory: verbatim notes with a source, a status and a date (memory.md §4)."""

from collections.abc import Mapping
from enum import StrEnum

from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json

DEFAULT_IMPORTANCE = 3
MIN_IMPORTANCE, MAX_IMPORTANCE = 1, 5


class SourceType(StrEnum):
    """What kind of thing an entry records."""

    AGENT_NOTE = "agent_note"
    DECISION = "decision"
    HANDOFF = "handoff"
    TICKET_SUMMARY = "ticket_summary"
    COMMIT_CONTEXT = "commit_context"
    DOC_OBSERVATION = "doc_observation"
    FILE_OBSERVATION = "file_observation"
    BUG_PATTERN = "bug_pattern"
    WORKAROUND = "workaround"
    USER_PREFERENCE = "user_preference"
    ENVIRONMENT_NOTE = "environment_note"


class Status(StrEnum):
    """Whether an entry still holds."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    ARCHIVED = "archived"


class Relation(StrEnum):
    """What a link says of its source, seen from the source: `source supersedes target`."""

    RELATED_TO = "related_to"
    SUPERSEDES = "supersedes"
    DERIVED_FROM = "derived_from"
    BLOCKS = "blocks"
    EXPLAINS = "explains"
    DUPLICATES = "duplicates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One note, as it is stored and exported.

    Attributes:
        id: UUIDv7 text.
        scope: Normalised (NFC, trimmed, one space); compared case-insensitively.
        topic: As scope.
        content: Byte for byte as given.
        content_sha256: Hex SHA-256 of the content's UTF-8 bytes.
        confidence: In [0, 1], or None when not said.
        importance: 1 (low) to 5 (critical).
        source_path: Relative to the project when inside it, else absolute; `/`-separated.
        source_sha256: Hex SHA-256 of the source file when the entry was written; None = no file.
        source_bytes: Its size.
        source_blob: Its git blob id (hex SHA-1 of git's blob header and the bytes).
        created_at: ISO 8601 UTC with milliseconds and `Z`, like every other time here.
        metadata: Free fields, set only by import; None = none.
        tags: Case-folded, distinct, sorted.
        revision: 1 when added, +1 at each change.
    """

    id: str
    project_id: str
    scope: str
    topic: str
    content: str
    content_sha256: str
    source_type: SourceType
    created_at: str
    updated_at: str
    title: str | None = None
    summary: str | None = None
    source_ref: str | None = None
    source_path: str | None = None
    source_uri: str | None = None
    source_sha256: str | None = None
    source_bytes: int | None = None
    source_blob: str | None = None
    status: Status = Status.ACTIVE
    confidence: float | None = None
    importance: int = DEFAULT_IMPORTANCE
    created_by: str | None = None
    invalidated_at: str | None = None
    invalidation_reason: str | None = None
    metadata: Mapping[str, Json] | None = None
    tags: tuple[str, ...] = ()
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A relation between two entries of one project."""

    id: str
    source_entry_id: str
    target_entry_id: str
    relation: Relation
    created_at: str
    label: str | None = None
    metadata: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag of a project; description and metadata come only from an import."""

    name: str
    created_at: str
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What is known of a project beside its entries."""

    id: str
    display_name: str | None = None
    canonical_path: str | None = None
    git_remote: str | None = None
    created_at: str = ""
    updated_at: str = ""
    metadata: Mapping[str, Json] | None = field(default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """A redacted record of one write, success or refusal (memory.md §8).

    Attributes:
        params: Redacted arguments: free text is replaced by `{field, sha256, bytes, chars}`.
        result: Outcome: `{"outcome": "ok" | "refused", "error_code"?…}`; no stored content.
    """

    id: str
    timestamp: str
    project_id: str
    operation: str
    entry_id: str | None
    actor: str
    params: Mapping[str, Json]
    result: Mapping[str, Json]
