"""Every format is escaped so that a parser of that format gives back what is stored."""

import csv
import io
import json
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemory.errors import InvalidParamError, StoreError
from schemory.model.edge import IMPORTED, Edge, NewEdge
from schemory.model.jsonvalue import Json
from schemory.model.lines.records import Dialect
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node, TypedValue
from schemory.model.text import nfc
from schemory.storage.protocols import GraphStore, KeptLine, WriteContext
from schemory.storage.sqlite.store import SqliteStore
from schemory.transfer.exporter import ExportFormat, ExportOptions, export_graph
from schemory.transfer.importer import import_graph

WRITE = WriteContext(operation="test")
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def exported(store: GraphStore, **options: Any) -> str:
    pieces: list[bytes] = []
    export_graph(store, "default", pieces.append, ExportOptions(**options))
    return b"".join(pieces).decode()


def fill(
    store: GraphStore, nodes: list[Node], edges: list[Edge], kept: tuple[str, ...] = ()
) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=node) for node in nodes])
        tx.insert_edges([NewEdge(edge=edge) for edge in edges])
        tx.insert_kept([KeptLine(text=text) for text in kept])


@pytest.fixture
def rivendell(store: GraphStore) -> GraphStore:
    """A store with the seed's own example in it."""
    nodes = [
        Node("Gandalf", "npc", ("Role: Wizard", "Status: Active")),
        Node("Rivendell", "location", ("Region: Eriador",)),
    ]
    edges = [Edge("Gandalf", "Rivendell", "located_in"), Edge("Rivendell", "Gandalf", "hosts", 0.5)]
    fill(store, nodes, edges, ('{"type":"note","n":1}',))
    return store


@pytest.mark.covers("graph.files.seed-form")
def test_jsonl_is_the_seeds_form_nodes_then_edges_then_kept_lines(rivendell: GraphStore) -> None:
    assert exported(rivendell) == (
        '{"type":"node","name":"Gandalf","nodeType":"npc",'
        '"metadata":["Role: Wizard","Status: Active"]}\n'
        '{"type":"node","name":"Rivendell","nodeType":"location","metadata":["Region: Eriador"]}\n'
        '{"type":"edge","from":"Gandalf","to":"Rivendell","edgeType":"located_in","weight":1}\n'
        '{"type":"edge","from":"Rivendell","to":"Gandalf","edgeType":"hosts","weight":0.5}\n'
        '{"type":"note","n":1}\n'
    )


def test_jsonl_can_speak_the_official_dialect(rivendell: GraphStore) -> None:
    lines = exported(rivendell, dialect=Dialect.OFFICIAL).splitlines()
    assert lines[1] == (
        '{"type":"entity","name":"Rivendell","entityType":"location",'
        '"observations":["Region: Eriador"]}'
    )
    assert lines[2] == (
        '{"type":"relation","from":"Gandalf","to":"Rivendell","relationType":"located_in"}'
    )


@pytest.mark.covers("graph.files.export")
def test_a_file_is_replaced_when_all_is_written(rivendell: GraphStore, tmp_path: Path) -> None:
    target = tmp_path / "new" / "graph.jsonl"
    report = export_graph(rivendell, "default", target)
    assert (report.nodes, report.edges, report.kept) == (2, 2, 1)
    assert target.read_text(encoding="utf-8") == exported(rivendell)
    target.chmod(0o640)
    export_graph(rivendell, "default", target, ExportOptions(format=ExportFormat.DOT))
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(target.parent.iterdir()) == [target]
    with pytest.raises(StoreError):
        export_graph(rivendell, "default", tmp_path)


@pytest.mark.parametrize("options", [{"is_full": True}, {"dialect": Dialect.OFFICIAL}])
def test_what_only_jsonl_can_is_refused_elsewhere(store: GraphStore, options: Any) -> None:
    with pytest.raises(InvalidParamError):
        exported(store, format=ExportFormat.DOT, **options)


@pytest.mark.parametrize("form", list(ExportFormat))
def test_an_empty_space_exports_without_complaint(store: GraphStore, form: ExportFormat) -> None:
    text = exported(store, format=form)
    if form is ExportFormat.JSON_LD:
        assert json.loads(text)["@graph"] == []
    if form is ExportFormat.GRAPHML:
        assert ET.fromstring(text).find(f"{GRAPHML}graph") is not None  # noqa: S314 (our own)


# Parsers that give back (nodes, edges) of each format


Parsed = tuple[list[tuple[str, str, list[str]]], list[tuple[str, str, str, float]]]


def parse_graphml(text: str) -> Parsed:
    graph = ET.fromstring(text).find(f"{GRAPHML}graph")  # noqa: S314 (our own)
    assert graph is not None

    def data(element: ET.Element) -> dict[str, str]:
        return {d.get("key", ""): d.text or "" for d in element.iter(f"{GRAPHML}data")}

    names = {n.get("id", ""): data(n) for n in graph.iter(f"{GRAPHML}node")}
    nodes = [(d["label"], d["nodeType"], json.loads(d["metadata"])) for d in names.values()]
    edges = [
        (
            names[e.get("source", "")]["label"],
            names[e.get("target", "")]["label"],
            data(e)["edgeType"],
            float(data(e)["weight"]),
        )
        for e in graph.iter(f"{GRAPHML}edge")
    ]
    return nodes, edges


def parse_csv(text: str) -> Parsed:
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    nodes = [
        (row["name"], row["type"], json.loads(row["metadata"]))
        for row in rows
        if row["kind"] == "node"
    ]
    edges = [
        (row["from"], row["to"], row["type"], float(row["weight"]))
        for row in rows
        if row["kind"] == "edge"
    ]
    return nodes, edges


def parse_jsonld(text: str) -> Parsed:
    found = json.loads(text)["@graph"]
    names = {item["@id"]: item["name"] for item in found if item["@type"] == "Node"}
    assert all(unquote(key) == f"urn:schemory:node:{name}" for key, name in names.items())
    nodes = [(i["name"], i["nodeType"], i["metadata"]) for i in found if i["@type"] == "Node"]
    edges = [
        (names[i["from"]], names[i["to"]], i["edgeType"], float(i["weight"]))
        for i in found
        if i["@type"] == "Edge"
    ]
    return nodes, edges


DOT_ITEM = re.compile(r'  (n\d+)(?: -> (n\d+))? \[((?:\w+="(?:[^"\\]|\\.)*"(?:, )?)+)\];\n')
DOT_FIELD = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def dot_text(quoted: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), quoted)


def parse_dot(text: str) -> Parsed:
    head, _, rest = text.partition("{\n")
    assert re.fullmatch(r'digraph "(?:[^"\\]|\\.)*" ', head)
    body = rest.removesuffix("}\n")
    items = list(DOT_ITEM.finditer(body))
    assert "".join(item[0] for item in items) == body
    fields = [{m[1]: dot_text(m[2]) for m in DOT_FIELD.finditer(item[3])} for item in items]
    both = list(zip(items, fields, strict=True))
    names = {item[1]: f["label"] for item, f in both if item[2] is None}
    nodes = [(f["label"], f["nodeType"], [f["tooltip"]]) for item, f in both if item[2] is None]
    edges = [
        (names[item[1]], names[item[2]], f["label"], float(f["edgeWeight"]))
        for item, f in both
        if item[2] is not None
    ]
    return nodes, edges


def parse_mermaid(text: str) -> Parsed:
    lines = text.splitlines()
    assert lines[0] == "flowchart LR"

    def plain(label: str) -> str:
        assert not set(label) & set('"[]{}|<>`\\')
        return re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label)

    nodes, edges, names = [], [], {}
    for line in lines[1:]:
        node = re.fullmatch(r'    (n\d+)\["(.*) \((.*?)\)"\]', line)
        edge = re.fullmatch(r'    (n\d+) -->\|"(.*)"\| (n\d+)', line)
        if node:
            names[node[1]] = plain(node[2])
            nodes.append((names[node[1]], plain(node[3]), list[str]()))
        else:
            assert edge, line
            edges.append((names[edge[1]], names[edge[3]], plain(edge[2]), 0.0))
    return nodes, edges


TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[chr(c) for c in range(32)])
    | st.sampled_from("\t\n\r\"'\\<>&{}[]|,;#`=%\u2028\ufeff\ufffe\uffff"),
    max_size=8,
)
NAMES = TEXT.map(nfc).filter(lambda text: bool(text.strip()))
WEIGHTS = st.sampled_from([0.0, 0.1, 0.5, 1.0, 1 / 3])


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Node], list[Edge]]:
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=4))
    nodes = [Node(n, draw(NAMES), tuple(draw(st.lists(TEXT, max_size=3)))) for n in names]
    ends = st.sampled_from(names)
    triples = draw(st.lists(st.tuples(ends, ends, NAMES), unique=True, max_size=4))
    return nodes, [Edge(*triple, draw(WEIGHTS)) for triple in triples]


any_graph = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def fresh(clock: Clock, ids: IdMaker) -> Iterator[Callable[[], SqliteStore]]:
    """Opens an empty store and closes the one before."""
    opened: list[SqliteStore] = []

    def open_fresh() -> SqliteStore:
        for old in opened:
            old.close()
        opened[:] = [SqliteStore.open(":memory:", now=clock, ids=ids)]
        return opened[0]

    yield open_fresh
    for store in opened:
        store.close()


@pytest.mark.covers("graph.files.formats")
@any_graph
@given(graph=graphs())
def test_any_graph_reads_back_from_every_format(
    fresh: Callable[[], SqliteStore], graph: tuple[list[Node], list[Edge]]
) -> None:
    nodes, edges = graph
    store = fresh()
    fill(store, nodes, edges)
    wanted_nodes = [(n.name, n.node_type, list(n.metadata)) for n in nodes]
    wanted_edges = [(e.from_name, e.to_name, e.edge_type, e.weight) for e in edges]

    assert parse_csv(exported(store, format=ExportFormat.CSV)) == (wanted_nodes, wanted_edges)
    assert parse_jsonld(exported(store, format=ExportFormat.JSON_LD)) == (
        wanted_nodes,
        wanted_edges,
    )
    # U+FFFE and U+FFFF are no XML characters at all.
    graphml = parse_graphml(exported(store, format=ExportFormat.GRAPHML))
    assert graphml == _in_all((wanted_nodes, wanted_edges), _xml_characters)
    # DOT labels have one kind of line break.
    dot = parse_dot(exported(store, format=ExportFormat.DOT))
    joined = [(name, kind, ["\n".join(lines)]) for name, kind, lines in wanted_nodes]
    assert dot == _in_all((joined, wanted_edges), _dot_breaks)
    mermaid = parse_mermaid(exported(store, format=ExportFormat.MERMAID))
    assert mermaid == (
        [(name, kind, []) for name, kind, _ in wanted_nodes],
        [(start, end, kind, 0.0) for start, end, kind, _ in wanted_edges],
    )


def _xml_characters(text: str) -> str:
    return re.sub("[\ufffe\uffff]", "\ufffd", text)


def _dot_breaks(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", " ")


def _in_all(parsed: Parsed, change: Any) -> Parsed:
    nodes, edges = parsed
    return (
        [
            (change(name), change(kind), [change(line) for line in lines])
            for name, kind, lines in nodes
        ],
        [(change(start), change(end), change(kind), weight) for start, end, kind, weight in edges],
    )


KEPT = st.dictionaries(st.sampled_from(["x", "note", "v"]), st.integers() | TEXT, max_size=3)


@pytest.mark.covers("graph.files.round-trip")
@any_graph
@pytest.mark.parametrize("dialect", list(Dialect))
@given(graph=graphs(), kept=st.lists(KEPT, max_size=2))
def test_an_export_imported_into_an_empty_store_exports_again_byte_for_byte(
    fresh: Callable[[], SqliteStore],
    graph: tuple[list[Node], list[Edge]],
    kept: list[dict[str, Json]],
    dialect: Dialect,
) -> None:
    store = fresh()
    fill(store, *graph, tuple(json.dumps(found) for found in kept))
    once = exported(store, dialect=dialect)
    full = exported(store, dialect=dialect, is_full=True)
    again = fresh()
    report = import_graph(again, "default", once.encode())
    assert (report.rejected, report.merged, report.duplicates) == ((), 0, 0)
    assert exported(again, dialect=dialect) == once
    third = fresh()
    import_graph(third, "default", full.encode())
    assert exported(third, dialect=dialect, is_full=True) == full
    assert exported(third, dialect=dialect) == once


@pytest.mark.covers("graph.files.full")
def test_a_full_export_carries_all_that_is_known(
    store: GraphStore, clock: Clock, ids: IdMaker
) -> None:
    typed = (TypedValue(property_name="traits", line="Traits: a, b", value=["a", "b"]),)
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes(
            [
                NewNode(
                    node=Node("A", "npc", ("Traits: a, b",)),
                    typed=typed,
                    extra={"createdBy": "x", "observations": [{"text": "Traits: a, b", "at": 1}]},
                    created_at="2020-01-01T00:00:00.000Z",
                    updated_at="2020-01-02T00:00:00.000Z",
                )
            ]
        )
        origins: list[str | None] = [None, "friend", IMPORTED]
        tx.insert_edges(
            [
                NewEdge(edge=Edge("A", "A", f"e{at}"), property_name=origin, extra={"v": at})
                for at, origin in enumerate(origins)
            ]
        )
    again = SqliteStore.open(":memory:", now=clock, ids=ids)
    import_graph(again, "default", exported(store, is_full=True).encode())
    with store.read("default") as one, again.read("default") as other:
        (first,), (second,) = one.list_nodes(limit=9), other.list_nodes(limit=9)
        assert (second.node, second.typed, second.extra) == (first.node, first.typed, first.extra)
        assert (second.created_at, second.updated_at) == (first.created_at, first.updated_at)
        pairs = zip(one.list_edges(limit=9), other.list_edges(limit=9), strict=True)
        for before, after in pairs:
            assert (after.edge, after.property_name, after.extra, after.created_at) == (
                before.edge,
                before.property_name,
                before.extra,
                before.created_at,
            )
    again.close()


def test_a_large_graph_is_exported_in_pieces(store: GraphStore) -> None:
    fill(store, [Node(f"N{i}", "t", ("x" * 200,)) for i in range(2_500)], [])
    pieces: list[bytes] = []
    report = export_graph(store, "default", pieces.append)
    assert report.nodes == 2_500
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 70_000
    assert len(b"".join(pieces).splitlines()) == 2_500
