"""One node: its lines, a drawing of what is around it, its edges, and its past."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from schemory.errors import NodeNotFoundError, UnsupportedError
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import dataclass
from schemory.model.node import NodeRecord
from schemory.storage.protocols import NodeVersion
from schemory.web.asked import Asked
from schemory.web.drawing import draw
from schemory.web.layout import Page, alert, badge, facts, note, pager, table, when
from schemory.web.markup import Child, Element, el

if TYPE_CHECKING:
    from schemory.web.shelf import Shelf

_EDGES: Final = 100
_DRAWN: Final = 24
_VERSIONS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What the page of one node is made from."""

    graph: KnowledgeGraph
    space: str
    asked: Asked

    def address(self, name: str) -> str:
        return self.asked.to("node", space=self.space, name=name)

    def link(self, name: str) -> Element:
        return el("a", name, href=self.address(name))


def node(shelf: "Shelf", asked: Asked) -> Page:
    """Return the page of one node, or of the past of one that is gone.

    Raises:
        NodeNotFoundError: There is no such node and never was.
    """
    space, name = asked.exact("space") or shelf.first_space(), asked.exact("name")
    shown = _Shown(graph=shelf.graph(space), space=space, asked=asked)
    after = asked.after()
    with shown.graph.reading() as reader:
        record = reader.find_nodes([name]).get(name)
        after_id = after[0] if after and isinstance(after[0], int) else 0
        edges = reader.edges_of(record.id, after_id=after_id, limit=_EDGES + 1) if record else ()
    history = _versions(shown.graph, name)
    if record is not None:
        return Page(title=name, content=tuple(_parts(shown, record, edges, history)))
    if not history:
        raise NodeNotFoundError(name)
    gone = alert("This node is gone or has another name now; this is its past.")
    return Page(title=name, content=(gone, _history(history)))


def _versions(graph: KnowledgeGraph, name: str) -> Sequence[NodeVersion]:
    try:
        return graph.node_history(name, limit=_VERSIONS).versions
    except (NodeNotFoundError, UnsupportedError):  # a graph file keeps no past
        return ()


def _parts(
    shown: _Shown,
    record: NodeRecord,
    edges: Sequence[EdgeRecord],
    history: Sequence[NodeVersion],
) -> Iterator[Child]:
    lines = record.node.metadata
    yield el(
        "p",
        badge(record.node.node_type),
        badge("stub") if record.is_stub else None,
        f" in {shown.space}",
        class_="note",
    )
    if lines:
        yield el("ul", (el("li", line) for line in lines), class_="stored lines")
    yield facts(
        (
            ("Written by", record.author),
            ("Created", when(record.created_at)),
            ("Changed", when(record.updated_at)),
            ("Revision", str(record.revision)),
        )
    )
    yield from _around(shown, record)
    yield from _edges(shown, record, edges)
    yield _history(history)


def _around(shown: _Shown, record: NodeRecord) -> Iterator[Child]:
    found = shown.graph.get_neighbors(record.name, limit=_DRAWN)
    if len(found.nodes) > 1:
        yield el("h2", "Around it")
        yield draw(found, shown.address)
        if found.is_truncated:
            yield note(f"There is more; the {len(found.nodes) - 1} oldest neighbours are drawn.")


def _edges(shown: _Shown, record: NodeRecord, edges: Sequence[EdgeRecord]) -> Iterator[Child]:
    listed = edges[:_EDGES]
    if not listed:
        return
    yield el("h2", "Edges")
    rows = (_edge(shown, record, each) for each in listed)
    yield table(("Direction", "Type", "Node", "Weight"), rows, label="Edges")
    yield pager(shown.asked, (listed[-1].id,) if len(edges) > _EDGES else None)


def _edge(shown: _Shown, record: NodeRecord, each: EdgeRecord) -> tuple[Child, ...]:
    is_out = each.from_id == record.id
    return (
        "out →" if is_out else "in ←",
        each.edge.edge_type,
        shown.link(each.edge.to_name if is_out else each.edge.from_name),
        f"{each.edge.weight:g}",
    )


def _history(versions: Sequence[NodeVersion]) -> Child:
    if not versions:
        return None
    earlier = (*versions[1:], None)
    return (
        el("h2", "History"),
        el(
            "ol",
            (_version(*each) for each in zip(versions, earlier, strict=True)),
            class_="history",
        ),
    )


def _version(version: NodeVersion, earlier: NodeVersion | None) -> Element:
    by = f"by {version.author} · " if version.author else ""
    return el(
        "li",
        el("p", when(version.recorded_at), f" · {by}{version.operation}", class_="note"),
        el("ul", (el("li", what) for what in _changes(version, earlier)), class_="stored lines"),
    )


def _changes(version: NodeVersion, earlier: NodeVersion | None) -> Iterator[str]:
    """Yield what a version changed, in words; all it held where nothing earlier is known."""
    now, before = version.record, earlier.record if earlier else None
    if now is None:
        yield "not there any more"
        return
    if before is not None and now.name != before.name:
        yield f"renamed from {before.name}"
    if before is not None and now.node.node_type != before.node.node_type:
        yield f"type {before.node.node_type} became {now.node.node_type}"
    old, new = before.node.metadata if before else (), now.node.metadata
    yield from (f"+ {line}" for line in new if line not in old)
    yield from (f"- {line}" for line in old if line not in new)
    for what, each in version.edges[:_EDGES]:
        edge = each.edge
        yield f"edge {what}: {edge.from_name} → {edge.to_name} ({edge.edge_type})"
