"""Reading the graph: `nodes`, `edges`, `open`, `find`, `path`."""

import argparse
from collections.abc import Iterator, Sequence

from schemory.cli.command import FINDING, OK, Command, Request, count
from schemory.cli.output import Output, Style, shorten
from schemory.graph.results import GraphPage, PageOptions, PathFound
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.model.node import NodeRecord
from schemory.model.text import counted, fold, nfc
from schemory.storage.protocols import GraphReader
from schemory.tools.wire import edge_wire, node_wire

DEFAULT_LIMIT = 100
_ALL = 1_000_000_000
_EDGE_STEP = 1_000
_LINE_WIDTH = 76


def _limit(parser: argparse.ArgumentParser, noun: str) -> None:
    parser.add_argument(
        "--limit",
        type=count,
        default=DEFAULT_LIMIT,
        metavar="N",
        help=f"at most N {noun}; 0 = all (default {DEFAULT_LIMIT})",
    )


def _type(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--type", action="append", default=[], metavar="TYPE", help="only this type; repeatable"
    )


def _configure_nodes(parser: argparse.ArgumentParser) -> None:
    _type(parser)
    _limit(parser, "nodes")


def _run_nodes(request: Request) -> int:
    limit = request.args.limit or _ALL
    with request.app() as app, app.graph.reading() as reader:
        found = reader.list_nodes(limit=limit + 1, node_types=request.args.type)
    nodes, is_cut = found[:limit], len(found) > limit
    out = request.out
    if out.is_json:
        out.json({"nodes": [node_wire(record) for record in nodes], **_cut(is_cut=is_cut)})
        return OK
    rows = ((each.name, each.node.node_type, _summary(each)) for each in nodes)
    out.table(("name", "type", "metadata"), rows)
    _tell_rest(out, len(nodes), "node", is_cut=is_cut)
    return OK


def _configure_edges(parser: argparse.ArgumentParser) -> None:
    _type(parser)
    parser.add_argument("--from", dest="source", metavar="NODE", help="only edges from this node")
    parser.add_argument("--to", dest="target", metavar="NODE", help="only edges to this node")
    _limit(parser, "edges")


def _run_edges(request: Request) -> int:
    limit = request.args.limit or _ALL
    found: list[EdgeRecord] = []
    with request.app() as app, app.graph.reading() as reader:
        for edge in _edges(reader, request.args):
            found.append(edge)
            if len(found) > limit:
                break
    edges, is_cut = found[:limit], len(found) > limit
    out = request.out
    if out.is_json:
        out.json({"edges": [edge_wire(record) for record in edges], **_cut(is_cut=is_cut)})
        return OK
    rows = (
        (each.edge.from_name, each.edge.edge_type, each.edge.to_name, _weight(each))
        for each in edges
    )
    out.table(("from", "edge type", "to", "weight"), rows)
    _tell_rest(out, len(edges), "edge", is_cut=is_cut)
    return OK


def _edges(reader: GraphReader, args: argparse.Namespace) -> Iterator[EdgeRecord]:
    types: Sequence[str] = args.type
    source, target = args.source, args.target
    anchor = source if source is not None else target
    node = reader.find_nodes([nfc(anchor)]).get(nfc(anchor)) if anchor is not None else None
    if anchor is not None and node is None:
        return
    after = 0
    while True:
        if node is None:
            page = reader.list_edges(after_id=after, limit=_EDGE_STEP)
        else:
            direction = "out" if source is not None else "in"
            page = reader.edges_of(
                node.id, direction=direction, edge_types=types, after_id=after, limit=_EDGE_STEP
            )
        for record in page:
            is_of_type = not types or record.edge.edge_type in types
            if is_of_type and (target is None or record.edge.to_name == nfc(target)):
                yield record
        if len(page) < _EDGE_STEP:
            return
        after = page[-1].id


def _configure_open(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="NAME", help="exact names of nodes")
    parser.add_argument(
        "--neighbors", type=count, default=DEFAULT_LIMIT, metavar="N", help="at most N neighbours"
    )


def _run_open(request: Request) -> int:
    options = PageOptions(neighbor_limit=max(request.args.neighbors, 0))
    with request.app() as app:
        page = app.graph.open_nodes(request.args.names, options)
        with app.graph.reading() as reader:
            nearest = {name: list(reader.suggest_names(name)) for name in page.not_found}
    out = request.out
    if out.is_json:
        missing: dict[str, Json] = {"notFound": list(page.not_found)}
        out.json({**_page_wire(page), **missing, **({"nearest": nearest} if nearest else {})})
    else:
        _show_nodes(page, out)
        for name, likely in nearest.items():
            out.note(f"not found: {name}" + (f"; nearest: {', '.join(likely)}" if likely else ""))
    return FINDING if page.not_found else OK


def _configure_find(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="any part of a name, a type or a metadata line")
    _type(parser)
    _limit(parser, "matches")


def _run_find(request: Request) -> int:
    query = " ".join(request.args.query)
    limit = request.args.limit or _ALL
    options = PageOptions(limit=limit, node_types=tuple(request.args.type), with_neighbors=False)
    with request.app() as app:
        page = app.graph.search_nodes(query, options)
        while page.more is not None and not page.nodes:
            page = app.graph.search_nodes(query, replace(options, after=page.more))
    out = request.out
    if out.is_json:
        out.json(
            {
                **_page_wire(page),
                "matched": list(page.matched),
                "matchMode": page.match_mode,
                **({"warnings": list(page.warnings)} if page.warnings else {}),
                **_cut(is_cut=page.more is not None),
            }
        )
        return OK if page.matched else FINDING
    for warning in page.warnings:
        out.note(f"warning: {warning}")
    if not page.matched:
        out.note(f"nothing holds {query!r}")
        return FINDING
    if page.match_mode == "words":
        out.note("nothing holds this text as a whole; these hold all its words")
    rows = ((each.name, each.node.node_type, _matching_line(each, query)) for each in page.nodes)
    out.table(("name", "type", "metadata"), rows)
    _tell_rest(out, len(page.matched), "match", is_cut=page.more is not None)
    return OK


def _configure_path(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FROM")
    parser.add_argument("target", metavar="TO")
    parser.add_argument("--max-hops", type=int, default=6, metavar="N", help="default 6")
    parser.add_argument(
        "--weighted", action="store_true", help="prefer strong edges: least sum of 1 - weight"
    )


def _run_path(request: Request) -> int:
    args = request.args
    with request.app() as app:
        found = app.graph.find_path(
            args.source, args.target, max_hops=args.max_hops, weighted=args.weighted
        )
    out = request.out
    if out.is_json:
        out.json(
            {
                "nodes": [node_wire(record) for record in found.nodes],
                "edges": [edge_wire(record) for record in found.edges],
                "cost": found.cost,
                **_cut(is_cut=found.is_truncated),
            }
        )
    elif found.nodes:
        _show_path(found, out)
    else:
        bound = " (the search was cut short)" if found.is_truncated else ""
        out.note(f"no way from {args.source} to {args.target} in {args.max_hops} hops{bound}")
    return OK if found.nodes else FINDING


def _show_path(found: PathFound, out: Output) -> None:
    parts = [out.style(found.nodes[0].name, Style.BOLD)]
    for edge, node in zip(found.edges, found.nodes[1:], strict=True):
        is_forward = edge.edge.to_name == node.name
        arrow = f" -[{edge.edge.edge_type}]-> " if is_forward else f" <-[{edge.edge.edge_type}]- "
        parts += [out.style(arrow, Style.DIM), out.style(node.name, Style.BOLD)]
    out.line("".join(parts))


def _show_nodes(page: GraphPage, out: Output) -> None:
    by_name = {record.name: record for record in page.nodes}
    for position, name in enumerate(page.matched):
        record = by_name.get(name)
        if record is None:
            continue
        if position:
            out.line()
        kind = out.style(f"({record.node.node_type})", Style.DIM)
        out.line(f"{out.style(name, Style.BOLD)} {kind}")
        for line in record.node.metadata:
            out.line(f"  {out.style(line, Style.GREEN)}")
        for edge in page.edges:
            _show_edge(edge, name, out)
    if page.more is not None:
        out.note("more neighbours: --neighbors N shows them")


def _show_edge(record: EdgeRecord, name: str, out: Output) -> None:
    edge = record.edge
    if name not in (edge.from_name, edge.to_name):
        return
    is_out = edge.from_name == name
    arrow, other = ("->", edge.to_name) if is_out else ("<-", edge.from_name)
    kind, end = out.style(edge.edge_type, Style.CYAN), out.style(other, Style.BOLD)
    weight = f"  {_weight(record)}" if edge.weight != 1 else ""
    out.line(f"  {arrow} {kind} {end}{weight}")


def _page_wire(page: GraphPage) -> dict[str, Json]:
    return {
        "nodes": [node_wire(record) for record in page.nodes],
        "edges": [edge_wire(record) for record in page.edges],
    }


def _cut(*, is_cut: bool) -> dict[str, Json]:
    return {"truncated": True} if is_cut else {}


def _tell_rest(out: Output, shown: int, noun: str, *, is_cut: bool) -> None:
    if is_cut:
        out.note(f"the first {counted(shown, noun)}; --limit 0 shows all")
    elif out.is_terminal:
        plural = "matches" if noun == "match" and shown != 1 else None
        out.note(f"{shown:,} {plural}" if plural else counted(shown, noun))


def _summary(record: NodeRecord) -> str:
    return shorten("; ".join(record.node.metadata), _LINE_WIDTH)


def _matching_line(record: NodeRecord, query: str) -> str:
    """Return the first metadata line that holds the query or one of its words, else the first."""
    lines = record.node.metadata
    for wanted in (fold(query), *fold(query).split()):
        for line in lines:
            if wanted in fold(line):
                return shorten(line, _LINE_WIDTH)
    return shorten(lines[0], _LINE_WIDTH) if lines else ""


def _weight(record: EdgeRecord) -> str:
    return f"{record.edge.weight:g}"


COMMANDS: tuple[Command, ...] = (
    Command(
        name="nodes",
        summary="list nodes in the order in which they were made",
        configure=_configure_nodes,
        run=_run_nodes,
        examples=(
            "schemory nodes --type npc",
            "schemory nodes --limit 0 --json > nodes.json",
        ),
    ),
    Command(
        name="edges",
        summary="list edges in the order in which they were made",
        configure=_configure_edges,
        run=_run_edges,
        examples=("schemory edges --from Gandalf", "schemory edges --type located_in --limit 0"),
    ),
    Command(
        name="open",
        summary="show nodes by their exact names, with everything around them",
        configure=_configure_open,
        run=_run_open,
        examples=("schemory open Gandalf", 'schemory open "Minas Tirith" Rohan --json'),
    ),
    Command(
        name="find",
        summary="search names, types and metadata, whatever the case",
        configure=_configure_find,
        run=_run_find,
        examples=("schemory find wizard", "schemory find grey pilgrim --type npc"),
    ),
    Command(
        name="path",
        summary="find the shortest way between two nodes",
        configure=_configure_path,
        run=_run_path,
        examples=("schemory path Frodo Mordor", "schemory path Frodo Mordor --weighted"),
    ),
)
