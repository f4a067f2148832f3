"""What a handoff answers: apart from other verbs' answers, since a session's brief waits for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from schemory.model.entry import Status
    from schemory.model.project import ProjectIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What every answer has.

    Attributes:
        project: The project that was meant; None in cross-project calls.
        warnings: Sentences for the caller.
    """

    project: ProjectIdentity | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffLine:
    """One line of a handoff: what the entry says of itself, not a retelling."""

    entry_id: str
    text: str
    scope: str
    topic: str
    status: Status
    updated_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff(Answer):
    """What came up since a moment.

    Attributes:
        since: The moment, as stored time text.
        groups: `decisions`, `handoffs`, `workarounds`, `bug_patterns`, `retired`; newest first.
        truncated: Some group has more than is shown.
    """

    since: str
    scope: str | None
    groups: Mapping[str, tuple[HandoffLine, ...]]
    truncated: bool
