"""What callers hand to the memory's verbs: plain values, checked by the verbs, not here."""

from __future__ import annotations

from collections.abc import Mapping

from schemory.hints import TYPE_CHECKING
from schemory.model.entry import Status
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json

if TYPE_CHECKING:
    from schemory.storage.protocols import Position

CROSS_PROJECT = "cross_project"
"""The only way across projects; it must be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRef:
    """Which project a call means.

    Attributes:
        project_path: The folder the caller works in, absolute.
        project_id: Comes before whatever the folder says.
        allowed_ids: The only projects this caller (a principal) may use; None = all.
        is_remote: The caller is a principal, whose files are not those of this machine.
    """

    project_path: str | None = None
    project_id: str | None = None
    allowed_ids: tuple[str, ...] | None = None
    is_remote: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """An entry to add; None = not given.

    Attributes:
        scope: May be left out where the project has a default.
        source_path: Relative to the project's folder, or absolute.
        dedupe: Do not write what the project already holds, byte for byte and active.
        allow_secret: Store although a text looks like a credential.
    """

    topic: str
    content: str
    source_type: str
    scope: str | None = None
    title: str | None = None
    summary: str | None = None
    source_ref: str | None = None
    source_path: str | None = None
    source_uri: str | None = None
    tags: tuple[str, ...] = ()
    importance: int | None = None
    confidence: float | None = None
    dedupe: bool = True
    allow_secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryUpdate:
    """A change of one entry.

    Attributes:
        changes: New values by field name (those of `NewEntry`, without the two flags); what is
            absent stays, None clears an optional field.
        expected_revision: Refuse with CONFLICT when the entry has another revision by now.
    """

    entry_id: str
    changes: Mapping[str, Json]
    expected_revision: int | None = None
    allow_secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search.

    Attributes:
        query: Plain text; only "quoted phrases" mean more. Blank = everything, newest first.
        status: None = any.
        tags_match: `all` or `any`.
        created_after: ISO date or time, inclusive; `created_before` is exclusive.
        mode: `project` or `cross_project`.
        limit: Over the cap it is lowered, with a warning; None = 10.
        after: `SearchHit.position` of the last hit shown, or `SearchPage.more`; otherwise the same
            arguments.
        explain: Also say how each score came about and what was left out.
    """

    query: str = ""
    scope: str | None = None
    topic: str | None = None
    tags: tuple[str, ...] = ()
    tags_match: str = "all"
    source_type: str | None = None
    status: Status | None = Status.ACTIVE
    created_after: str | None = None
    created_before: str | None = None
    mode: str = "project"
    limit: int | None = None
    after: Position | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """An entry to read.

    Attributes:
        offset: First character of the content to give.
        max_chars: As many characters of it at most; None = all.
        include_history: Also its earlier texts.
    """

    entry_id: str
    mode: str = "project"
    offset: int = 0
    max_chars: int | None = None
    include_history: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesRequest:
    """Scopes, topics or tags to count.

    Attributes:
        kind: `scope`, `topic` or `tag`.
        status: None = any.
        limit: None = 100.
    """

    kind: str
    status: Status | None = Status.ACTIVE
    scope: str | None = None
    topic: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRequest:
    """A link to make: the source `relation`s the target, as in `source supersedes target`."""

    source_entry_id: str
    target_entry_id: str
    relation: str
    label: str | None = None
    allow_secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlinkRequest:
    """A link to remove: by its id, or by the three fields that make it."""

    link_id: str | None = None
    source_entry_id: str | None = None
    target_entry_id: str | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffRequest:
    """What a handoff shall cover.

    Attributes:
        since: `7d`, `24h`, `90m`, `2w`, or an ISO date or time.
    """

    since: str = "7d"
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarRequest:
    """What similar entries are wanted to: a stored entry, or a text; one of the two."""

    entry_id: str | None = None
    text: str | None = None
    status: Status | None = Status.ACTIVE
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A write that was refused before it came to the memory: its arguments broke a schema.

    Attributes:
        operation: The tool.
        arguments: As they came; they are redacted before they are recorded.
        error_code: What the caller was told.
    """

    operation: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])
    error_code: str = "INVALID_PARAM"
