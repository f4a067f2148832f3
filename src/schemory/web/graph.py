"""The list of a space's nodes: searched, by type, page by page."""

from typing import TYPE_CHECKING, Final

from schemory.graph.results import GraphPage, PageOptions
from schemory.graph.service import KnowledgeGraph
from schemory.model.frozen import replace
from schemory.model.node import NodeRecord
from schemory.web.asked import Asked
from schemory.web.layout import Page, alert, badge, choice, note, pager, search_form, table, when
from schemory.web.markup import Child, el

if TYPE_CHECKING:
    from schemory.web.shelf import Shelf

_LIMIT: Final = 50
_LINES: Final = 3
_MOST_STEPS: Final = 20


def graph(shelf: "Shelf", asked: Asked) -> Page:
    """Return the list."""
    space = asked.exact("space") or shelf.first_space()
    one = shelf.graph(space)
    with one.reading() as reader:
        counts = reader.count()
    query, node_type = asked.text("q"), asked.exact("type")
    page = _find(one, query, node_type, asked)
    types = {name: f"{name} ({count:,})" for name, count in counts.node_types.items()}
    form = search_form(
        asked,
        query,
        choice("space", "Space", {each: each for each in shelf.spaces()}, space),
        choice("type", "Type", types, node_type, empty="any"),
        hint="any part of a name, a type or a line",
    )
    rows = [_row(record, space, asked) for record in page.nodes]
    return Page(
        title="Graph",
        content=(
            form,
            (alert(each) for each in page.warnings),
            note(f"{counts.nodes:,} nodes and {counts.edges:,} edges in this space."),
            table(("Name", "Type", "Lines", "Changed"), rows, label="Nodes") if rows else None,
            None if rows else note("Nothing found." if counts.nodes else "This space is empty."),
            pager(asked, page.more),
        ),
    )


def _find(one: KnowledgeGraph, query: str, node_type: str, asked: Asked) -> GraphPage:
    options = PageOptions(
        limit=_LIMIT,
        node_types=(node_type,) if node_type else (),
        with_neighbors=False,
        after=asked.after(),
    )
    if not query:
        return one.read_graph(options)
    page = one.search_nodes(query, options)
    for _ in range(_MOST_STEPS):  # a bounded scan may come back with nothing yet
        if page.nodes or page.more is None:
            break
        page = one.search_nodes(query, replace(options, after=page.more))
    return page


def _row(record: NodeRecord, space: str, asked: Asked) -> tuple[Child, ...]:
    lines = record.node.metadata
    rest = f"and {len(lines) - _LINES:,} more" if len(lines) > _LINES else None
    return (
        el("a", record.name, href=asked.to("node", space=space, name=record.name)),
        (badge(record.node.node_type), badge("stub") if record.is_stub else None),
        el("ul", (el("li", line) for line in lines[:_LINES]), el("li", rest) if rest else None)
        if lines
        else None,
        when(record.updated_at),
    )
