"""What a memory holds by name: scopes, topics, tags, and the projects of a store."""

from schemory.memory.faults import Faults, one_of
from schemory.memory.filters import label_filter, statuses_of
from schemory.memory.inputs import NamesRequest, ProjectRef
from schemory.memory.limiting import clamped
from schemory.memory.results import NamesListed, ProjectsListed
from schemory.memory.settings import DEFAULT_NAMES_LIMIT, MAX_NAMES_LIMIT
from schemory.memory.work import Work
from schemory.model.entry import Project
from schemory.storage.memory_protocols import EntryFilter

KINDS = ("scope", "topic", "tag")


def list_names(work: Work, ref: ProjectRef, request: NamesRequest) -> NamesListed:
    """Return the project's scopes, topics or tags with their counts."""
    faults = Faults()
    if request.kind not in KINDS:
        faults.add(one_of("kind", request.kind, KINDS))
    entry_filter = EntryFilter(
        statuses=statuses_of(request.status),
        scope=label_filter(faults, "scope", request.scope),
        topic=label_filter(faults, "topic", request.topic),
    )
    faults.raise_any()
    with work.reading(ref) as reading:
        limit = clamped(
            request.limit, MAX_NAMES_LIMIT, reading.warnings, default=DEFAULT_NAMES_LIMIT
        )
        items = reading.reader.list_names(request.kind, entry_filter, limit=limit + 1)
        return NamesListed(
            project=reading.place.project,
            warnings=reading.told(),
            kind=request.kind,
            status=request.status,
            scope=entry_filter.scope,
            topic=entry_filter.topic,
            items=items[:limit],
            truncated=len(items) > limit,
        )


def list_projects(work: Work, ref: ProjectRef, after: str, limit: int) -> ProjectsListed:
    """Return the projects that hold entries, as far as the caller may see them."""
    warnings: list[str] = []
    most = clamped(limit, MAX_NAMES_LIMIT, warnings, default=DEFAULT_NAMES_LIMIT)
    shown: list[Project] = []
    while len(shown) <= most:
        page = work.store.list_projects(after=after, limit=most + 1)
        allowed = ref.allowed_ids
        shown += [one for one in page if allowed is None or one.id in allowed]
        if len(page) <= most:
            break
        after = page[-1].id
    more = shown[most - 1].id if len(shown) > most else None
    return ProjectsListed(projects=tuple(shown[:most]), more=more, warnings=tuple(warnings))
