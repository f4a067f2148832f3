"""The first page: what is stored where."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from schemory.memory.inputs import ProjectRef
from schemory.model.entry import Project, Status
from schemory.model.jsonvalue import Json
from schemory.web.asked import Asked
from schemory.web.layout import Page, alert, facts, note, table, when
from schemory.web.markup import Child, el

if TYPE_CHECKING:
    from schemory.web.shelf import Shelf


def overview(shelf: "Shelf", asked: Asked) -> Page:
    """Return the overview."""
    return Page(
        title="Overview",
        content=(
            (alert(text) for text in shelf.app.warnings()),
            facts(_store(shelf)),
            el("h2", "Project memories"),
            _projects(shelf, asked),
            el("h2", "Graph spaces"),
            _spaces(shelf, asked),
        ),
    )


def _store(shelf: "Shelf") -> Iterator[tuple[str, Child]]:
    status: Mapping[str, Json] = shelf.app.store.status()
    yield "Store", shelf.app.settings.store_location
    yield "Chosen by", shelf.app.settings.store_source
    yield "Backend", str(status.get("backend", ""))
    size = status.get("fileBytes")
    yield "Size", f"{size:,} bytes" if isinstance(size, int) else None


def _projects(shelf: "Shelf", asked: Asked) -> Child:
    memory = shelf.memory
    if memory is None:
        return note("A graph file holds no project memory.")
    listed = memory.list_projects(ProjectRef(), after=asked.text("after_project"))
    if not listed.projects:
        return note("No project has an entry yet. ", el("code", "schemory add"), " keeps one.")
    rows = (_project(shelf, asked, project) for project in listed.projects)
    heads = ("Project", "Active", "Other", "Last change")
    more = listed.more
    link = el("a", "More projects", href=asked.to("", after_project=more)) if more else None
    return (table(heads, rows, label="Projects"), link)


def _project(shelf: "Shelf", asked: Asked, project: Project) -> tuple[Child, ...]:
    counts: Mapping[Status, int] = {}
    if shelf.memory is not None:
        counts = shelf.memory.status(ProjectRef(project_id=project.id)).counts
    others = [f"{count:,} {s.value}" for s, count in counts.items() if count and s != Status.ACTIVE]
    name = el("a", project.display_name or project.id, href=asked.to("entries", project=project.id))
    return (
        (name, el("br"), el("small", project.id)),
        f"{counts.get(Status.ACTIVE, 0):,}",
        ", ".join(others),
        when(project.updated_at),
    )


def _spaces(shelf: "Shelf", asked: Asked) -> Child:
    spaces = shelf.spaces()
    if not spaces:
        return note("No graph yet. ", el("code", "schemory demo"), " shows what one is good for.")
    rows: list[tuple[Child, ...]] = []
    for space in spaces:
        with shelf.graph(space).reading() as reader:
            counts = reader.count()
        most = sorted(counts.node_types.items(), key=lambda item: (-item[1], item[0]))[:6]
        rows.append(
            (
                el("a", space, href=asked.to("graph", space=space)),
                f"{counts.nodes:,}",
                f"{counts.edges:,}",
                ", ".join(f"{name} {count:,}" for name, count in most),
            )
        )
    return table(("Space", "Nodes", "Edges", "Types"), rows, label="Graph spaces")
