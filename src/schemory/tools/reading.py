"""Handlers of the three static tools that read: bounded pages with signed cursors (graph.md §2)."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from schemory.graph.results import GraphPage, PageOptions, Room
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import dataclass, field, replace
from schemory.model.jsonvalue import Json
from schemory.model.node import NodeRecord
from schemory.model.text import counted
from schemory.storage.protocols import Capability, GraphStore, Position
from schemory.tools.bench import Bench, flag_of, text_of, texts_of, whole_of
from schemory.tools.fitting import ENVELOPE_BYTES, fitted
from schemory.tools.long_nodes import (
    MIN_ROOM,
    Line,
    beginning_of,
    cut_wire,
    line_of,
    lines_within,
)
from schemory.tools.registry import Call, Reply
from schemory.tools.wire import COMMA_BYTES, edge_text, edge_wire, item_bytes, node_text, node_wire

_PASSES = 4
_WORTH_ANOTHER_PASS = 1_000
_MARGIN = 64
_NOT_FOUND_SHARE = 4

_Fetch: TypeAlias = Callable[[PageOptions], GraphPage]


@dataclass(frozen=True, slots=True)
class _View:
    """How the nodes and edges of one call are shown; each is made JSON once."""

    names_only: bool
    info: bool
    made: dict[int, tuple[NodeRecord | EdgeRecord, str]] = field(
        default_factory=dict[int, tuple[NodeRecord | EdgeRecord, str]]
    )

    def item(self, record: NodeRecord | EdgeRecord) -> dict[str, Json]:
        if isinstance(record, EdgeRecord):
            return edge_wire(record, info=self.info)
        return node_wire(record, info=self.info, names_only=self.names_only)

    def text(self, record: NodeRecord | EdgeRecord) -> str:
        # By identity: what is read again may differ, and the record is kept, so its id stays its.
        known = self.made.get(id(record))
        if known is not None:
            return known[1]
        if isinstance(record, EdgeRecord):
            text = edge_text(record, info=self.info)
        else:
            text = node_text(record, info=self.info, names_only=self.names_only)
        self.made[id(record)] = (record, text)
        return text

    def texts(self, records: Sequence[NodeRecord | EdgeRecord]) -> str:
        return f"[{','.join(map(self.text, records))}]"

    def size_of(self, record: NodeRecord | EdgeRecord) -> int:
        text = self.text(record)
        return COMMA_BYTES + (len(text) if text.isascii() else len(text.encode()))

    def bytes_of(self, page: GraphPage) -> int:
        """Return what the graph took this page to cost."""
        names = sum(map(item_bytes, page.matched))
        return names + sum(map(self.size_of, page.nodes)) + sum(map(self.size_of, page.edges))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call of one of these tools, and how it is answered."""

    bench: Bench
    call: Call
    tool: str
    view: _View


def read_graph(bench: Bench, call: Call) -> Reply:
    """Answer all nodes and edges in creation order, page by page.

    The first page of a file that people and other programs edit says what in it is not used: an
    agent that reads everything must know when that is not all, and hosts hide stderr.
    """
    graph = bench.graph_for(call)
    if call.arguments.get("cursor") is not None:
        return _answer(bench, call, "read_graph", graph.read_graph)
    told = _file_warnings(graph.store)

    def fetch(options: PageOptions) -> GraphPage:
        page = graph.read_graph(options)
        return replace(page, warnings=(*page.warnings, *told)) if told else page

    return _answer(bench, call, "read_graph", fetch)


def _file_warnings(store: GraphStore) -> tuple[str, ...]:
    if Capability.HISTORY in store.capabilities:
        return ()  # a store of our own, which nobody edits by hand
    told = store.status().get("warnings")
    return tuple(map(str, told)) if isinstance(told, list | tuple) else ()


def search_nodes(bench: Bench, call: Call) -> Reply:
    """Answer the nodes that hold the query's text, then their neighbours."""
    graph, query = bench.graph_for(call), text_of(call, "query")
    return _answer(bench, call, "search_nodes", lambda o: graph.search_nodes(query, o))


def open_nodes(bench: Bench, call: Call) -> Reply:
    """Answer the named nodes, their neighbours and touching edges."""
    graph, names = bench.graph_for(call), texts_of(call.arguments["names"])
    return _answer(bench, call, "open_nodes", lambda o: graph.open_nodes(names, o))


def _answer(bench: Bench, call: Call, tool: str, fetch: _Fetch) -> Reply:
    """Return the largest page that the budget allows; estimates are corrected by measuring."""
    view = _View(flag_of(call, "namesOnly"), flag_of(call, "includeInfo"))
    asked = _Asked(bench, call, tool, view)
    line, after = line_of(bench.position(call, tool))
    options = PageOptions(
        limit=whole_of(call, "limit"),
        neighbor_limit=whole_of(call, "neighborLimit"),
        node_types=texts_of(call.arguments.get("nodeTypes")),
        names_only=view.names_only,
        with_neighbors=flag_of(call, "neighbors", default=True),
        after=after,
    )
    if bench.budget <= 0:
        return _reply(asked, fetch(options))

    def within(room: int) -> GraphPage:
        return fetch(replace(options, room=Room(max(1, room), view.size_of)))

    def stretch(page: GraphPage, start: Line) -> Reply:
        return _stretch(asked, page, start, after)

    if line is not None:
        page = within(1)
        if page.nodes and line.is_in(page.nodes[0]):
            return stretch(replace(page, matched=()), line)
    return _bounded(asked, within, stretch)


def _bounded(
    asked: _Asked,
    fetch: Callable[[int], GraphPage],
    stretch: Callable[[GraphPage, Line], Reply],
) -> Reply:
    bench, view = asked.bench, asked.view
    room = bench.budget - ENVELOPE_BYTES
    fitting: Reply | None = None
    passes_left = _PASSES
    while True:
        passes_left -= 1
        page = fetch(room)
        reply = _reply(asked, page)
        size = len(reply.text.encode())
        if size > bench.budget and len(page.nodes) + len(page.edges) > 1:
            if fitting is not None or not passes_left:
                return fitting or reply
            room -= size - bench.budget + _MARGIN
            continue
        if size > bench.budget and page.nodes and not view.names_only:
            return stretch(page, beginning_of(page.nodes[0]))
        # A page leaves room for the matches' names, which not every answer repeats.
        spare = view.bytes_of(page) + ENVELOPE_BYTES - size
        if page.more is None or spare < _WORTH_ANOTHER_PASS or not passes_left:
            return reply
        fitting = reply
        room = room * (bench.budget - ENVELOPE_BYTES) // size


def _stretch(asked: _Asked, page: GraphPage, start: Line, after: Position | None) -> Reply:
    """Return as many lines of a page's one node, from `start`, as the budget allows."""
    record, budget = page.nodes[0], asked.bench.budget
    room = budget - ENVELOPE_BYTES
    while True:
        lines, end = lines_within(record.node.metadata, start, room)
        shown = replace(record, node=replace(record.node, metadata=lines))
        more = page.more if end is None else end.position(after)
        cut = cut_wire(record.node, start, end)
        reply = _reply(asked, replace(page, nodes=(shown,), more=more), cut)
        excess = len(reply.text.encode()) - budget
        if excess <= 0 or room <= MIN_ROOM:
            return reply
        room -= excess


def _reply(asked: _Asked, page: GraphPage, cut: dict[str, Json] | None = None) -> Reply:
    bench, call, tool, view = asked.bench, asked.call, asked.tool, asked.view
    data: dict[str, Json] = {
        "nodes": [view.item(record) for record in page.nodes],
        "edges": [view.item(record) for record in page.edges],
    }
    if tool == "search_nodes":
        data |= {
            "matched": list(page.matched),
            "matchMode": page.match_mode,
            "order": page.order,
        }
    if page.warnings:
        data["warnings"] = list(page.warnings)
    if tool == "open_nodes":
        data |= _not_found(page.not_found, bench.budget)
    if cut is not None:
        data["cut"] = cut
    if page.more is not None:
        data |= {"truncated": True, "nextCursor": bench.cursor(call, tool, page.more)}
        totals = {"totalMatches": page.total_matches, "totalNeighbors": page.total_neighbors}
        data |= {key: total for key, total in totals.items() if total is not None}
    if len(page.nodes) + len(page.edges) <= 1:
        data = fitted(data, bench.budget)
    # `fitted` keeps lists of one item as they are.
    ready = {"nodes": view.texts(page.nodes), "edges": view.texts(page.edges)}
    return bench.replies.success(data, _action(tool, page), ready=ready)


def _not_found(names: Sequence[str], budget: int) -> dict[str, Json]:
    """Return the missing names; of very many the first, and how many they are."""
    room = budget // _NOT_FOUND_SHARE
    for index, name in enumerate(names):
        room -= item_bytes(name)
        if budget > 0 and room < 0:
            return {"notFound": list(names[:index]), "notFoundCount": len(names)}
    return {"notFound": list(names)}


def _action(tool: str, page: GraphPage) -> str:
    if tool == "read_graph":
        return f"Read {counted(len(page.nodes), 'node')} and {counted(len(page.edges), 'edge')}"
    verb = "Found" if tool == "search_nodes" else "Opened"
    neighbors = len(page.nodes) - len(page.matched)
    beside = f" and {counted(neighbors, 'neighbor')}" if neighbors > 0 else ""
    return f"{verb} {counted(len(page.matched), 'node')}{beside}"
