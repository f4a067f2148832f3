"""What whoever goes on should know: recent entries in their own words, by what they are."""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING
from schemory.memory.faults import Faults
from schemory.memory.filters import label_filter
from schemory.memory.handoff_results import Handoff, HandoffLine
from schemory.memory.moments import parse_moment
from schemory.model.entry import Entry, SourceType, Status
from schemory.model.frozen import dataclass
from schemory.storage.memory_protocols import EntryFilter, MemoryReader

if TYPE_CHECKING:
    from schemory.memory.inputs import HandoffRequest, ProjectRef
    from schemory.memory.work import Work

LINES_PER_GROUP = 10
LINE_CHARS = 200

_ACTIVE = (Status.ACTIVE,)
_RETIRED = (Status.SUPERSEDED, Status.INVALIDATED, Status.ARCHIVED)


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    source_types: tuple[str, ...]
    statuses: tuple[Status, ...]


_GROUPS = (
    _Group("decisions", (SourceType.DECISION,), _ACTIVE),
    _Group("handoffs", (SourceType.HANDOFF,), _ACTIVE),
    _Group("workarounds", (SourceType.WORKAROUND,), _ACTIVE),
    _Group("bug_patterns", (SourceType.BUG_PATTERN,), _ACTIVE),
    _Group("retired", (), _RETIRED),
)


def handoff_summary(work: Work, ref: ProjectRef, request: HandoffRequest) -> Handoff:
    """Return what was written or retired since a moment, newest first, at most ten lines a group.

    Raises:
        InvalidParamError: `since` is no moment.
    """
    since = parse_moment(request.since, "since", work.now())
    faults = Faults()
    scope = label_filter(faults, "scope", request.scope)
    faults.raise_any()
    groups: dict[str, tuple[HandoffLine, ...]] = {}
    truncated = False
    with work.reading(ref) as reading:
        for group in _GROUPS:
            entries = _entries(reading.reader, group, since, scope)
            groups[group.name] = tuple(map(_line, entries[:LINES_PER_GROUP]))
            truncated = truncated or len(entries) > LINES_PER_GROUP
        return Handoff(
            project=reading.place.project,
            warnings=reading.told(),
            since=since,
            scope=scope,
            groups=groups,
            truncated=truncated,
        )


def _entries(
    reader: MemoryReader, group: _Group, since: str, scope: str | None
) -> tuple[Entry, ...]:
    entry_filter = EntryFilter(
        statuses=group.statuses,
        source_types=group.source_types,
        scope=scope,
        updated_after=since,
    )
    page = reader.list_entries(entry_filter, limit=LINES_PER_GROUP + 1)
    return tuple(hit.entry for hit in page.hits)


def _line(entry: Entry) -> HandoffLine:
    """Return the entry's title, else its summary, else how its content begins."""
    from schemory.retrieval.query import SearchQuery  # noqa: PLC0415 (only where there is something)
    from schemory.retrieval.snippets import make_snippet  # noqa: PLC0415 (as above)

    said = entry.title or entry.summary or entry.content
    return HandoffLine(
        entry_id=entry.id,
        text=make_snippet(" ".join(said.split()), SearchQuery(""), LINE_CHARS),
        scope=entry.scope,
        topic=entry.topic,
        status=entry.status,
        updated_at=entry.updated_at,
    )
