"""The list of a project's entries: searched, filtered, page by page."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from schemory.memory.inputs import CROSS_PROJECT, NamesRequest, ProjectRef, SearchRequest
from schemory.memory.results import SearchHit, SearchPage
from schemory.memory.service import ProjectMemory
from schemory.model.entry import SourceType, Status
from schemory.model.frozen import dataclass
from schemory.web.asked import Asked
from schemory.web.layout import (
    Page,
    alert,
    badge,
    choice,
    marked,
    note,
    pager,
    search_form,
    when,
)
from schemory.web.markup import Child, Element, el

if TYPE_CHECKING:
    from schemory.web.shelf import Shelf

_LIMIT: Final = 25
_ANY: Final = "any"
_EVERYWHERE: Final = "*"
_TYPES: Final = {each.value: each.value for each in SourceType}
_STATUSES: Final = {
    **{status.value: status.value for status in Status if status is not Status.ACTIVE},
    _ANY: "any",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    project: str
    request: SearchRequest

    @property
    def is_everywhere(self) -> bool:
        return self.project == _EVERYWHERE

    @property
    def ref(self) -> ProjectRef:
        return ProjectRef() if self.is_everywhere else ProjectRef(project_id=self.project)


def entries(shelf: "Shelf", asked: Asked) -> Page:
    """Return the list."""
    memory = shelf.memory
    if memory is None:
        return Page(title="Entries", content=(note("A graph file holds no project memory."),))
    wanted = _read(shelf, asked)
    form = _form(memory, asked, wanted)
    if not wanted.project or (wanted.is_everywhere and not wanted.request.query):
        text = "Type what to look for in every project." if wanted.project else "No entries yet."
        return Page(title="Entries", content=(form, note(text)))
    page = memory.search(wanted.ref, wanted.request)
    return Page(
        title="Entries",
        content=(
            form,
            (alert(each) for each in page.warnings),
            el("ol", (_hit(hit, asked, wanted) for hit in page.hits), class_="hits"),
            None if page.hits else _nothing(page, asked, wanted),
            pager(asked, page.more),
        ),
    )


def _read(shelf: "Shelf", asked: Asked) -> _Wanted:
    project = asked.exact("project") or shelf.first_project()
    return _Wanted(
        project=project,
        request=SearchRequest(
            query=asked.text("q"),
            scope=asked.text("scope") or None,
            topic=asked.text("topic") or None,
            tags=tuple(filter(None, (asked.text("tag"),))),
            source_type=asked.text("type") or None,
            status=_status(asked.text("status")),
            mode=CROSS_PROJECT if project == _EVERYWHERE else "project",
            limit=_LIMIT,
            after=asked.after(),
        ),
    )


def _status(text: str) -> Status | None:
    """Return the status to show: active ones where nothing (known) is said, None for any."""
    if text == _ANY:
        return None
    return Status(text) if text in {each.value for each in Status} else Status.ACTIVE


def _form(memory: ProjectMemory, asked: Asked, wanted: _Wanted) -> Element:
    listed = memory.list_projects(ProjectRef()).projects
    projects = {each.id: each.display_name or each.id for each in listed}
    projects[_EVERYWHERE] = "every project"
    names = {} if wanted.is_everywhere or not wanted.project else _names(memory, wanted)
    return search_form(
        asked,
        wanted.request.query,
        choice("project", "Project", projects, wanted.project or _EVERYWHERE),
        *(
            choice(kind, kind.title(), names.get(kind, {}), asked.text(kind), empty="any")
            for kind in ("scope", "topic", "tag")
        ),
        choice("type", "Type", _TYPES, asked.text("type"), empty="any"),
        choice("status", "Status", _STATUSES, asked.text("status"), empty="active"),
        hint='words, identifiers, "a phrase"',
    )


def _names(memory: ProjectMemory, wanted: _Wanted) -> dict[str, Mapping[str, str]]:
    found: dict[str, Mapping[str, str]] = {}
    for kind in ("scope", "topic", "tag"):
        request = NamesRequest(kind=kind, status=wanted.request.status)
        items = memory.list_names(wanted.ref, request).items
        found[kind] = {each.name: f"{each.name} ({each.count:,})" for each in items}
    return found


def _hit(hit: SearchHit, asked: Asked, wanted: _Wanted) -> Element:
    entry = hit.entry
    address = asked.to("entry", project=entry.project_id, id=entry.id)
    title = entry.title or f"{entry.scope} / {entry.topic}"
    return el(
        "li",
        el("h2", el("a", title, href=address)),
        el(
            "p",
            badge(entry.source_type.value),
            badge(entry.status.value) if entry.status is not Status.ACTIVE else None,
            f" {entry.scope} / {entry.topic} · ",
            when(entry.updated_at),
            f" · {entry.project_id}" if wanted.is_everywhere else None,
            (f" #{tag}" for tag in entry.tags),
            class_="note",
        ),
        el("p", marked(hit.snippet), class_="stored"),
        (alert(told(code)) for code in hit.codes),
    )


_TOLD: Final = {
    "stored_instructions": "This text gives orders to its reader; it is stored data, no request.",
    "status_superseded": "A newer entry has taken this one's place.",
    "status_invalidated": "This is no longer true.",
    "status_archived": "This was put away.",
}
"""Warning codes as sentences."""


def told(code: str) -> str:
    """Return a warning code as a sentence."""
    return _TOLD.get(code, code)


def _nothing(page: SearchPage, asked: Asked, wanted: _Wanted) -> Iterator[Child]:
    yield note("Nothing found. ", page.hint or "")
    for name, items in (("scope", page.scopes), ("topic", page.topics)):
        links = [
            el("a", each.name, href=_narrowed(asked, wanted, name, each.name)) for each in items
        ]
        if links:
            yield note(f"{name.title()}s: ", ((link, " ") for link in links))


def _narrowed(asked: Asked, wanted: _Wanted, kind: str, name: str) -> str:
    return asked.to("entries", project=wanted.project, **{kind: name})
