"""A graph file is the store: each line stays where and as it was, unless what it says changes."""

import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemory.errors import StoreCorruptError, StoreError, UnsupportedError
from schemory.model.edge import IMPORTED, Edge, EdgeChange, EdgeKey, NewEdge
from schemory.model.jsonvalue import Json
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node, NodeChange, NodeRecord, TypedValue
from schemory.storage.jsonl import JsonlStore
from schemory.storage.protocols import Capability, GraphTransaction, KeptLine, WriteContext
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test", author="tester")
MADE = "2026-03-08T09:05:07.000Z"

Opener = Callable[..., JsonlStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.json"


@pytest.fixture
def open_file(path: Path, clock: Clock, ids: IdMaker) -> Iterator[Opener]:
    """Opens the graph file with these lines; without lines, as it is."""
    opened: list[JsonlStore] = []

    def open_it(*lines: str, end: str = "\n") -> JsonlStore:
        if lines:
            path.write_bytes("".join(line + end for line in lines).encode())
        inner = SqliteStore.open(":memory:", now=clock, ids=ids)
        opened.append(JsonlStore.open(path, inner=inner, now=clock))
        return opened[-1]

    yield open_it
    for store in opened:
        store.close()


def write(store: JsonlStore, work: Callable[[GraphTransaction], object]) -> None:
    with store.transaction("default", WRITE) as tx:
        work(tx)


def add_node(store: JsonlStore, name: str, *lines: str, node_type: str = "t") -> None:
    write(store, lambda tx: tx.insert_nodes([NewNode(node=Node(name, node_type, lines))]))


def add_edge(store: JsonlStore, start: str, end: str, edge_type: str) -> None:
    edge = Edge(start, end, edge_type)
    write(store, lambda tx: tx.insert_edges([NewEdge(edge=edge)]))


def change(store: JsonlStore, old: str, /, **what: object) -> None:
    def work(tx: GraphTransaction) -> None:
        blank = NodeChange(id=tx.find_nodes([old])[old].id)
        tx.update_nodes([replace(blank, **what)])  # type: ignore[arg-type]  # checked at run time

    write(store, work)


def change_edge(store: JsonlStore, key: tuple[str, str, str], **what: object) -> None:
    def work(tx: GraphTransaction) -> None:
        blank = EdgeChange(id=tx.find_edges([EdgeKey(*key)])[EdgeKey(*key)].id)
        tx.update_edges([replace(blank, **what)])  # type: ignore[arg-type]  # checked at run time

    write(store, work)


def delete(store: JsonlStore, *names: str) -> None:
    write(store, lambda tx: tx.delete_nodes([r.id for r in tx.find_nodes(names).values()]))


def nodes(store: JsonlStore) -> list[Node]:
    with store.read("default") as reader:
        return [record.node for record in reader.list_nodes(limit=999)]


def record(store: JsonlStore, name: str) -> NodeRecord:
    with store.read("default") as reader:
        return reader.find_nodes([name])[name]


def edges(store: JsonlStore) -> list[Edge]:
    with store.read("default") as reader:
        return [found.edge for found in reader.list_edges(limit=999)]


def warnings(store: JsonlStore) -> list[str]:
    told = store.status()["warnings"]
    assert isinstance(told, list)
    return [str(text) for text in told]


A = '{"type":"node","name":"A","nodeType":"t","metadata":["k: v"]}'
B = '{"type":"node","name":"B","nodeType":"t","metadata":[]}'
AB = '{"type":"edge","from":"A","to":"B","edgeType":"knows","weight":1}'


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.covers("graph.graph-file.own-place")
def test_new_nodes_follow_the_last_node_and_new_edges_the_last_edge(
    open_file: Opener, path: Path
) -> None:
    store = open_file('{"type":"head","v":1}', A, B, AB, '{"type":"tail"}')
    add_node(store, "C")
    add_edge(store, "C", "A", "sees")
    kinds = [json.loads(line) for line in lines_of(path)]
    assert [found.get("name") or found.get("edgeType") or found["type"] for found in kinds] == [
        "head", "A", "B", "C", "knows", "sees", "tail",
    ]  # fmt: skip
    untouched = [line for line in lines_of(path) if "_schemory" not in line]
    assert untouched == ['{"type":"head","v":1}', A, B, AB, '{"type":"tail"}']


@pytest.mark.covers("graph.graph-file.untouched")
def test_odd_spelling_survives_on_lines_that_are_not_touched(open_file: Opener, path: Path) -> None:
    odd = [
        '\ufeff{ "nodeType" : "t", "name":"A" , "type":"node"  }',
        "",
        '{"type": "entity", "name": "\\u00e9", "entityType": "t", "observations": [], "w": 1.50}',
        '{"type":"mystery"}',
        "prose",
        '{"type":"node","name":"torn","meta',
    ]
    store = open_file(*odd, end="\r\n")
    add_node(store, "N")
    now = path.read_bytes().decode().split("\r\n")
    assert [line for line in now if '"N"' not in line] == [*odd, ""]
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")


@pytest.mark.covers("graph.graph-file.own-dialect")
def test_a_changed_line_keeps_its_words_order_and_spelling(open_file: Opener, path: Path) -> None:
    store = open_file(
        A,
        '{"observations": ["one"], "entityType": "t", "name": "É", "by": "x", "type": "entity"}',
        '{"to": "A", "relationType": "r", "from": "É", "type": "relation", "since": 3}',
    )
    change(store, "É", metadata=("one", "two"))
    change_edge(store, ("É", "A", "r"), weight=0.5)
    first, second, third = lines_of(path)
    assert first == A
    beside = '"_schemory": {"updatedAt": "2026-03-08T09:05:07.000Z"}}'
    assert second == (
        '{"observations": ["one", "two"], "entityType": "t", "name": "É", "by": "x", '
        f'"type": "entity", {beside}'
    )
    assert third == (
        '{"to": "A", "relationType": "r", "from": "É", "type": "relation", "since": 3, '
        f'"weight": 0.5, {beside}'
    )


@pytest.mark.covers("graph.graph-file.majority")
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([A, B], {"type": "node", "name": "N", "nodeType": "t", "metadata": []}),
        (
            ['{"type": "entity", "name": "A", "entityType": "t", "observations": []}'],
            {"type": "entity", "name": "N", "entityType": "t", "observations": []},
        ),
        (
            ['{"name":"A","entityType":"t","observations":[]}'],
            {"name": "N", "entityType": "t", "observations": []},
        ),
        (
            ['{"name":"A","entityType":"t","observations":[],"_type":"entity"}'],
            {"_type": "entity", "name": "N", "entityType": "t", "observations": []},
        ),
    ],
)
def test_new_lines_speak_like_most_lines_of_the_file(
    open_file: Opener, path: Path, lines: list[str], expected: dict[str, Json]
) -> None:
    add_node(open_file(*lines), "N")
    new = lines_of(path)[-1]
    assert json.loads(new) == {**expected, "_schemory": {"createdAt": MADE}}
    assert ('": ' in new) == ('": ' in lines[0])


@pytest.mark.covers("graph.graph-file.beside")
def test_types_origins_and_dates_survive_a_restart(
    open_file: Opener, path: Path, advance: Callable[[float], None]
) -> None:
    store = open_file()
    typed = (TypedValue(property_name="traits", line="Traits: a, b", value=["a", "b"]),)
    new = NewNode(node=Node("A", "npc", ("Traits: a, b",)), typed=typed, extra={"x": 1})
    write(store, lambda tx: tx.insert_nodes([new, NewNode(node=Node("B", "t"))]))
    made = [
        NewEdge(edge=Edge("A", "B", kind), property_name=origin)
        for kind, origin in (("by-hand", None), ("made", "home"), ("read", IMPORTED))
    ]
    write(store, lambda tx: tx.insert_edges(made))
    advance(60)
    change(store, "A", node_type="hero")
    before = record(store, "A")
    again = open_file()
    after = record(again, "A")
    assert (after.node, after.typed, after.extra) == (Node("A", "hero", new.node.metadata), typed,
                                                      {"x": 1})  # fmt: skip
    assert (after.created_at, after.updated_at) == (before.created_at, before.updated_at)
    assert before.updated_at == "2026-03-08T09:06:07.000Z"
    with again.read("default") as reader:
        origins = {e.edge.edge_type: e.property_name for e in reader.list_edges(limit=9)}
    assert origins == {"by-hand": None, "made": "home", "read": IMPORTED}
    plain = next(line for line in lines_of(path) if '"read"' in line)
    assert json.loads(plain)["_schemory"] == {"createdAt": MADE}


def test_a_line_that_claims_no_time_is_as_old_as_the_file(open_file: Opener, path: Path) -> None:
    path.write_text(A + "\n", encoding="utf-8")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert record(open_file(), "A").created_at == "2001-09-09T01:46:40.000Z"


@pytest.mark.covers("graph.graph-file.same-name")
def test_lines_of_one_name_are_one_node_and_become_one_line_when_it_changes(
    open_file: Opener, path: Path
) -> None:
    more = '{"type":"node","name":"A","nodeType":"t","metadata":["more"]}'
    store = open_file(A, B, more, AB, AB.replace('"weight":1', '"weight":0.5'))
    assert nodes(store) == [Node("A", "t", ("k: v", "more")), Node("B", "t")]
    assert edges(store) == [Edge("A", "B", "knows", 1.0)]
    assert "same name" in warnings(store)[0]
    change(store, "B", node_type="u")
    assert lines_of(path).count(more) == 1
    change(store, "A", node_type="u")
    change_edge(store, ("A", "B", "knows"), weight=0.25)
    found = [json.loads(line) for line in lines_of(path)]
    assert [line.get("metadata") or line.get("weight") for line in found] == [
        ["k: v", "more"],
        None,
        0.25,
    ]
    assert nodes(open_file()) == [Node("A", "u", ("k: v", "more")), Node("B", "u")]


@pytest.mark.covers("graph.graph-file.delete")
def test_deleting_takes_all_lines_of_a_node_and_its_edges(open_file: Opener, path: Path) -> None:
    store = open_file(A, B, AB, A)
    delete(store, "A")
    assert lines_of(path) == [B]


@pytest.mark.covers("graph.graph-file.nested")
def test_relations_inside_a_record_are_edited_in_their_place(open_file: Opener, path: Path) -> None:
    owner: dict[str, Json] = {
        "name": "A", "entityType": "t", "observations": [],
        "relations": [
            {"relationType": "r", "to": "B"},
            {"type": "s", "to": "B", "note": 1},
            {"relationType": "r", "to": "nowhere"},
        ],
    }  # fmt: skip
    other = '{"name":"B","entityType":"t","observations":[]}'
    store = open_file(json.dumps(owner), other)
    assert edges(store) == [Edge("A", "B", "r"), Edge("A", "B", "s")]
    change_edge(store, ("A", "B", "s"), weight=0.5)
    delete_edge = EdgeKey("A", "B", "r")
    write(store, lambda tx: tx.delete_edges([tx.find_edges([delete_edge])[delete_edge].id]))
    first, second = lines_of(path)
    assert second == other
    assert json.loads(first)["relations"] == [
        {
            "relationType": "s",
            "to": "B",
            "note": 1,
            "weight": 0.5,
            "_schemory": {"updatedAt": MADE},
        },
        {"relationType": "r", "to": "nowhere"},
    ]
    change(store, "A", name="A2")
    assert edges(open_file()) == [Edge("A2", "B", "s", 0.5)]
    delete(store, "A2")
    assert lines_of(path) == [other]


def test_relations_inside_a_double_record_outlive_it(open_file: Opener, path: Path) -> None:
    double = '{"name":"A","entityType":"t","observations":["x"],"relations":[%s]}'
    inner = '{"relationType":"r","to":"B"}'
    store = open_file(double % "", double % inner, '{"name":"B","entityType":"t"}')
    change(store, "A", node_type="u")
    assert len(lines_of(path)) == 3
    again = open_file()
    assert nodes(again) == [Node("A", "u", ("x",)), Node("B", "t")]
    assert edges(again) == [Edge("A", "B", "r")]


@pytest.mark.covers("graph.graph-file.observation-objects")
def test_entries_that_are_objects_stay_objects(open_file: Opener, path: Path) -> None:
    store = open_file(
        '{"name":"A","entityType":"t","observations":[{"text":"one","at":1},{"text":"two","at":2}]}'
    )
    change(store, "A", metadata=("two", "three"))
    assert json.loads(lines_of(path)[0])["observations"] == [{"text": "two", "at": 2}, "three"]
    assert nodes(open_file()) == [Node("A", "t", ("two", "three"))]


@pytest.mark.covers("graph.graph-file.glued")
def test_glued_records_are_parted_only_when_one_changes(open_file: Opener, path: Path) -> None:
    store = open_file(A + B, AB)
    add_node(store, "C")
    assert lines_of(path)[0] == A + B
    change(store, "B", node_type="u")
    assert lines_of(path)[0] == A
    assert json.loads(lines_of(path)[1])["nodeType"] == "u"


@pytest.mark.covers("graph.graph-file.torn")
def test_a_torn_last_line_is_warned_of_and_stays(open_file: Opener, path: Path) -> None:
    path.write_bytes(f"{A}\n{B}\n{AB[:-9]}".encode())
    store = open_file()
    assert [node.name for node in nodes(store)] == ["A", "B"]
    assert "line 3 is cut off in the middle of a record" in warnings(store)[0]
    add_node(store, "C")
    add_edge(store, "A", "C", "knows")
    add_edge(store, "B", "C", "knows")
    again = open_file()
    assert [node.name for node in nodes(again)] == ["A", "B", "C"]
    assert len(edges(again)) == 2
    assert AB[:-9] in lines_of(path)


@pytest.mark.covers("graph.graph-file.dangling")
def test_an_edge_without_its_end_waits_in_the_file_until_the_node_comes(
    open_file: Opener, path: Path
) -> None:
    store = open_file(A, AB)
    assert edges(store) == []
    assert '1 edge(s) lead to nodes that are not in the graph file ("B")' in warnings(store)[0]
    change(store, "A", node_type="u")
    assert lines_of(path)[1] == AB
    add_node(store, "B")
    assert edges(store) == [Edge("A", "B", "knows")]
    assert warnings(store) == []
    assert AB in lines_of(path)


def test_a_new_edge_takes_the_line_that_waited_for_it(open_file: Opener, path: Path) -> None:
    store = open_file(A, AB)

    def work(tx: GraphTransaction) -> None:
        tx.insert_nodes([NewNode(node=Node("B", "t"))])
        tx.insert_edges([NewEdge(edge=Edge("A", "B", "knows", 0.5))])

    write(store, work)
    assert edges(store) == edges(open_file()) == [Edge("A", "B", "knows", 0.5)]
    assert sum('"edge"' in line for line in lines_of(path)) == 1


def test_conflict_markers_are_warned_of_and_both_sides_used(open_file: Opener, path: Path) -> None:
    store = open_file("<<<<<<< HEAD", A, "=======", B, ">>>>>>> x")
    assert [node.name for node in nodes(store)] == ["A", "B"]
    assert "merge conflict markers (lines 1, 3, 5)" in warnings(store)[0]
    add_node(store, "C")
    assert lines_of(path)[:1] == ["<<<<<<< HEAD"]
    assert len(lines_of(path)) == 6


@pytest.mark.covers("graph.graph-file.unknown-lines")
def test_unknown_lines_are_kept_once_and_new_ones_go_to_the_end(
    open_file: Opener, path: Path
) -> None:
    store = open_file('{"type":"note","n":1}', A)
    new = [KeptLine(text='{"type":"note","n":1}'), KeptLine(text='{"type":"note","n":2}')]
    write(store, lambda tx: tx.insert_kept(new))
    assert lines_of(path) == ['{"type":"note","n":1}', A, '{"type":"note","n":2}']


@pytest.mark.covers("graph.graph-file.missing")
def test_no_file_is_an_empty_store_and_the_first_write_makes_it(
    tmp_path: Path, clock: Clock, ids: IdMaker
) -> None:
    path = tmp_path / "deep" / "er" / "graph.jsonl"
    inner = SqliteStore.open(":memory:", now=clock, ids=ids)
    store = JsonlStore.open(path, inner=inner, now=clock)
    assert nodes(store) == []
    assert not path.parent.exists()
    write(store, lambda tx: tx.find_nodes(["A"]))
    assert not path.exists()
    add_node(store, "A")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert lines_of(path)[0].startswith('{"type":"node","name":"A"')
    store.close()


@pytest.mark.covers("graph.graph-file.same-file")
def test_a_write_keeps_the_files_mode_and_follows_a_link(
    tmp_path: Path, open_file: Opener, path: Path
) -> None:
    target = tmp_path / "real" / "graph.jsonl"
    target.parent.mkdir()
    target.write_text(A + "\n", encoding="utf-8")
    target.chmod(0o640)
    path.symlink_to(target)
    store = open_file()
    add_node(store, "B")
    assert path.is_symlink()
    assert len(lines_of(target)) == 2
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert store.location == str(target)


@pytest.mark.covers("graph.graph-file.failed-transaction")
def test_a_failed_transaction_leaves_file_and_graph_alone(open_file: Opener, path: Path) -> None:
    store = open_file(A, B, AB)
    before = (path.read_bytes(), path.stat().st_ino)
    with pytest.raises(KeyError), store.transaction("default", WRITE) as tx:
        tx.delete_nodes([tx.find_nodes(["A"])["A"].id])
        raise KeyError
    assert (path.read_bytes(), path.stat().st_ino) == before
    assert len(nodes(store)) == 2
    with store.transaction("default", WRITE) as tx, pytest.raises(KeyError), tx.savepoint():
        tx.insert_nodes([NewNode(node=Node("C", "t"))])
        tx.insert_kept([KeptLine(text='{"n":1}')])
        raise KeyError
    assert (path.read_bytes(), path.stat().st_ino) == before


def test_a_name_given_up_and_taken_again_in_one_transaction_ends_right(open_file: Opener) -> None:
    store = open_file(A, B, AB)

    def work(tx: GraphTransaction) -> None:
        found = tx.find_nodes(["A", "B"])
        tx.update_nodes([NodeChange(id=found["A"].id, name="X")])
        tx.update_nodes([NodeChange(id=found["B"].id, name="A")])
        tx.insert_nodes([NewNode(node=Node("B", "new"))])

    write(store, work)
    again = open_file()
    assert nodes(again) == [Node("X", "t", ("k: v",)), Node("A", "t"), Node("B", "new")]
    assert edges(again) == [Edge("X", "A", "knows")]


@pytest.mark.covers("graph.graph-file.no-ledger")
@pytest.mark.parametrize(
    "verb",
    [
        *(lambda tx, seq=seq: tx.undo(seq) for seq in range(4)),
        lambda tx: tx.purge_node("A"),
        lambda tx: tx.history("A"),
    ],
)
def test_what_needs_a_ledger_is_refused_and_the_file_stays(
    open_file: Opener, path: Path, verb: Callable[[GraphTransaction], object]
) -> None:
    store = open_file(A, B, AB)
    add_node(store, "C")
    before = (path.read_bytes(), path.stat().st_ino)
    with pytest.raises(UnsupportedError, match="no ledger") as caught:
        write(store, verb)
    assert any("git" in each for each in caught.value.suggestions)
    with store.read("default") as reader, pytest.raises(UnsupportedError):
        reader.history("A")
    assert (path.read_bytes(), path.stat().st_ino) == before
    assert [node.name for node in nodes(store)] == ["A", "B", "C"]
    assert Capability.HISTORY not in store.capabilities


def test_the_inner_ledger_tells_only_that_something_changed(open_file: Opener, path: Path) -> None:
    store, other = open_file(A), open_file()
    with store.read("default") as reader:
        seen = reader.last_seq()
    add_node(other, "B")
    with store.read("default") as reader:
        assert reader.last_seq() == seen + 1
        assert [each.operation for each in reader.commits(after_seq=seen, limit=9)] == ["reload"]
    assert len(lines_of(path)) == 2


def test_other_spaces_are_empty_and_cannot_be_written(open_file: Opener) -> None:
    store = open_file(A)
    with store.read("other") as reader:
        assert reader.list_nodes(limit=9) == ()
    with pytest.raises(UnsupportedError), store.transaction("other", WRITE):
        pytest.fail("no transaction was to be opened")
    assert store.spaces() == ("default",)


@pytest.mark.covers("graph.graph-file.refused")
@pytest.mark.parametrize(
    "data",
    [
        json.dumps([json.loads(A)]).encode(),
        f"[\n{A},\n{B}\n]\n".encode(),
        json.dumps({"entities": [json.loads(A)], "relations": []}).encode(),
        json.dumps({"entities": [json.loads(A)]}, indent=2).encode(),
        (A + "\n").encode("utf-16"),
        b"# A readme\n\nwith prose\n",
    ],
)
def test_a_file_that_adding_lines_would_spoil_is_refused_and_not_touched(
    open_file: Opener, path: Path, data: bytes
) -> None:
    path.write_bytes(data)
    with pytest.raises(StoreCorruptError) as caught:
        open_file()
    assert "import-graph" in caught.value.suggestions[0]
    assert path.read_bytes() == data
    assert list(path.parent.iterdir()) == [path]


def test_a_file_whose_last_good_record_was_deleted_opens_again(open_file: Opener) -> None:
    store = open_file(A, '{"type":"node","na')
    delete(store, "A")
    assert nodes(open_file()) == []


def test_status_says_what_and_where(open_file: Opener, path: Path) -> None:
    status = open_file(A, B, AB).status()
    facts = {"location": str(path), "lines": 3, "nodes": 2, "edges": 1, "warnings": []}
    assert facts.items() <= status.items()


def test_a_closed_store_fails(open_file: Opener) -> None:
    store = open_file(A)
    store.close()
    with pytest.raises(StoreError), store.read("default"):
        pytest.fail("nothing can be read")


PIECES = st.sampled_from(
    [A, B, AB, A + B, "", " ", "x", "{", "[", "]", "<<<<<<< a", '{"type":"n"}', A[:-3], "\ufeff"]
)


@pytest.mark.covers("graph.graph-file.untouched")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(PIECES, max_size=8),
    end=st.sampled_from(["\n", "\r\n"]),
    is_ended=st.booleans(),
)
def test_any_file_is_refused_or_keeps_its_other_lines(
    open_file: Opener, path: Path, pieces: list[str], end: str, *, is_ended: bool
) -> None:
    before = end.join(pieces).encode() + (end.encode() if is_ended else b"")
    path.write_bytes(before)
    try:
        store = open_file()
    except StoreCorruptError:
        assert path.read_bytes() == before
        return
    add_node(store, "new")
    after = path.read_bytes()
    mark = "\ufeff".encode()
    assert after.startswith(mark) == before.startswith(mark)
    old, now = (text.removeprefix(mark).split(b"\n") for text in (before, after))
    old = [line for line in old if line.strip()]
    now = [line for line in now if line.strip() and b'"new"' not in line]
    assert [line.rstrip(b"\r") for line in now] == [line.rstrip(b"\r") for line in old]
    assert "new" in [node.name for node in nodes(open_file())]
