"""What stores with a history promise: a node's past, undo and purge."""

from collections.abc import Callable

import pytest

from schemory.errors import InvalidParamError, NodeNotFoundError, UndoConflictError
from schemory.model.edge import Edge, EdgeChange, EdgeKey, NewEdge
from schemory.model.node import NewNode, Node, NodeChange, TypedValue
from schemory.model.text import fold
from schemory.storage.protocols import (
    Capability,
    GraphReader,
    GraphStore,
    GraphTransaction,
    KeptLine,
    SearchQuery,
    WriteContext,
)

UNDO = WriteContext(operation="undo", author="cli")
ROLE = TypedValue(property_name="role", line="Role: Wizard", value={"a": [1, 2.5]})


@pytest.fixture
def past(store: GraphStore) -> GraphStore:
    if Capability.HISTORY not in store.capabilities:
        pytest.skip("this backend keeps no history")
    return store


def write(store: GraphStore, operation: str, *steps: Callable[[GraphTransaction], object]) -> int:
    """Run steps in one transaction; returns its number."""
    with store.transaction("default", WriteContext(operation=operation, author="tester")) as tx:
        for step in steps:
            step(tx)
        return tx.seq


def undo(store: GraphStore, seq: int) -> None:
    with store.transaction("default", UNDO) as tx:
        assert tx.undo(seq).seq == seq


def nodes(*names: str) -> Callable[[GraphTransaction], object]:
    return lambda tx: tx.insert_nodes([NewNode(node=Node(name, "npc")) for name in names])


def edges(*keys: tuple[str, str, str]) -> Callable[[GraphTransaction], object]:
    return lambda tx: tx.insert_edges([NewEdge(edge=Edge(*key)) for key in keys])


def change(of: str, /, **fields: object) -> Callable[[GraphTransaction], object]:
    return lambda tx: tx.update_nodes(
        [NodeChange(id=tx.find_nodes([of])[of].id, **fields)]  # type: ignore[arg-type]  # a test's shorthand
    )


def move(
    old: tuple[str, str, str], new: tuple[str, str, str]
) -> Callable[[GraphTransaction], object]:
    return lambda tx: tx.update_edges(
        [EdgeChange(id=tx.find_edges([EdgeKey(*old)])[EdgeKey(*old)].id, key=EdgeKey(*new))]
    )


def remove(*names: str) -> Callable[[GraphTransaction], object]:
    return lambda tx: tx.delete_nodes([r.id for r in tx.find_nodes(names).values()])


def cut(*keys: tuple[str, str, str]) -> Callable[[GraphTransaction], object]:
    wanted = [EdgeKey(*key) for key in keys]
    return lambda tx: tx.delete_edges([e.id for e in tx.find_edges(wanted).values()])


def content(reader: GraphReader) -> tuple[object, ...]:
    """Everything a space holds but revisions and times."""
    return (
        [(r.id, r.node, r.typed, r.extra, r.created_at) for r in reader.list_nodes(limit=99)],
        [(e.id, e.edge, e.property_name, e.extra) for e in reader.list_edges(limit=99)],
        reader.list_kept(limit=99),
    )


def state(store: GraphStore) -> tuple[object, ...]:
    with store.read("default") as reader:
        return content(reader)


def found(store: GraphStore, text: str) -> list[str]:
    with store.read("default") as reader:
        page = reader.search(SearchQuery(terms=(fold(text),)), after=None, limit=99)
    return [hit.record.name for hit in page.hits]


# History --------------------------------------------------------------------------------------


@pytest.mark.covers("storage.history.versions")
def test_a_nodes_past_is_told_newest_first(
    past: GraphStore, advance: Callable[[float], None]
) -> None:
    write(past, "add", nodes("A", "B"))
    advance(1)
    write(past, "link", edges(("A", "B", "to")))
    advance(1)
    write(past, "tell", change("A", metadata=("x",)))
    write(past, "elsewhere", nodes("C"))
    advance(1)
    write(past, "remove", remove("B"))
    with past.read("default") as reader:
        versions = reader.history("A")
        assert reader.history("A", limit=2) == versions[:2]
    assert [(v.seq, v.operation, v.author) for v in versions] == [
        (5, "remove", "tester"),
        (3, "tell", "tester"),
        (2, "link", "tester"),
        (1, "add", "tester"),
    ]
    assert [v.record.node.metadata for v in versions if v.record] == [("x",), ("x",), (), ()]
    assert [v.recorded_at[17:19] for v in versions] == ["10", "09", "08", "07"]
    assert [[(word, e.key) for word, e in v.edges] for v in versions] == [
        [("removed", ("A", "B", "to"))],
        [],
        [("added", ("A", "B", "to"))],
        [],
    ]


@pytest.mark.covers("storage.history.names")
def test_a_deleted_or_renamed_node_is_found_by_the_name_it_had(past: GraphStore) -> None:
    write(past, "add", nodes("A", "B"))
    write(past, "rename", change("A", name="Z"))
    write(past, "remove", remove("B"))
    with past.read("default") as reader:
        by_old, by_new = reader.history("A"), reader.history("Z")
        assert by_old == by_new
        assert [v.record and v.record.name for v in by_old] == ["Z", "A"]
        assert [v.record and v.record.name for v in reader.history("B")] == [None, "B"]
        assert reader.history("nobody") == ()


@pytest.mark.covers("storage.history.names")
def test_a_name_that_was_used_again_tells_both_lives(past: GraphStore) -> None:
    write(past, "add", nodes("A"))
    write(past, "remove", remove("A"))
    write(past, "again", nodes("A"))
    with past.read("default") as reader:
        versions = reader.history("A")
    assert [(v.seq, v.record is not None) for v in versions] == [(3, True), (2, False), (1, True)]
    ids = {v.record.id for v in versions if v.record}
    assert len(ids) == 2


@pytest.mark.covers("storage.history.names")
def test_what_never_was_has_no_past(past: GraphStore) -> None:
    write(past, "add", nodes("A"))
    for space, name in (("default", "\ud800"), ("nowhere", "A"), ("\ud800", "A")):
        with past.read(space) as reader:
            assert reader.history(name) == ()


@pytest.mark.covers("storage.history.edges")
def test_edges_that_moved_or_changed_are_told_at_every_node_they_touched(past: GraphStore) -> None:
    write(past, "add", nodes("A", "B", "C"), edges(("A", "B", "to")))
    write(past, "move", move(("A", "B", "to"), ("C", "B", "to")))
    write(past, "rename", change("C", name="D"))
    with past.read("default") as reader:
        told = {
            name: [[(w, e.key) for w, e in v.edges] for v in reader.history(name)]
            for name in ("A", "B", "D")
        }
    assert told == {
        "A": [[("removed", ("A", "B", "to"))], [("added", ("A", "B", "to"))]],
        "B": [[("changed", ("C", "B", "to"))], [("added", ("A", "B", "to"))]],
        "D": [[], [("added", ("C", "B", "to"))], []],
    }


# Undo -----------------------------------------------------------------------------------------


def full(tx: GraphTransaction) -> None:
    tx.insert_nodes(
        [
            NewNode(node=Node("A", "npc", ("Role: Wizard",)), typed=(ROLE,), extra={"v": 1.0}),
            NewNode(node=Node("B", "place"), created_at="1999-01-01T00:00:00.000Z"),
            NewNode(node=Node("C", "place")),
        ]
    )
    tx.insert_edges(
        [
            NewEdge(edge=Edge("A", "B", "to", 0.1 + 0.2), property_name="p", extra={"x": [1]}),
            NewEdge(edge=Edge("B", "A", "to")),
            NewEdge(edge=Edge("A", "A", "is")),
        ]
    )
    tx.insert_kept([KeptLine(text="kept")])


@pytest.mark.covers("storage.undo.exact")
@pytest.mark.parametrize(
    "steps",
    [
        (nodes("D"), edges(("D", "A", "to"), ("B", "C", "to"))),
        (remove("A"),),
        (remove("A", "B", "C"),),
        (change("A", metadata=(), typed=(), extra={}, node_type="other"),),
        (change("A", created_at="1970-01-01"),),
        (change("A", name="Ä"), change("B", name="A")),
        (change("A", name="tmp"), change("B", name="A"), change("tmp", name="B")),
        (remove("A"), change("B", name="A")),
        (remove("A"), nodes("A"), edges(("A", "B", "to"))),
        (move(("A", "B", "to"), ("A", "C", "to")),),
        (
            move(("A", "B", "to"), ("A", "C", "to")),
            move(("B", "A", "to"), ("A", "B", "to")),
        ),
        (move(("A", "B", "to"), ("A", "C", "to")), remove("B")),
        (nodes("D"), move(("A", "B", "to"), ("A", "D", "to"))),
        (cut(("A", "A", "is"), ("A", "B", "to")),),
        (cut(("A", "B", "to")), edges(("A", "B", "to"))),
        (lambda tx: tx.insert_kept([KeptLine(text="more"), KeptLine(text="kept")]),),
    ],
)
def test_undo_brings_back_exactly_what_was_there(
    past: GraphStore, steps: tuple[Callable[[GraphTransaction], object], ...]
) -> None:
    write(past, "import", full)
    before = state(past)
    seq = write(past, "change", *steps)
    after = state(past)
    assert after != before
    undo(past, seq)
    assert state(past) == before
    undo(past, seq + 1)
    assert state(past) == after
    undo(past, seq + 2)
    assert state(past) == before


@pytest.mark.covers("storage.undo.exact")
def test_a_whole_import_is_undone_and_redone(past: GraphStore) -> None:
    write(past, "import", full)
    full_state = state(past)
    undo(past, 1)
    assert state(past) == ([], [], ())
    assert found(past, "wizard") == []
    undo(past, 2)
    assert state(past) == full_state
    assert found(past, "wizard") == ["A"]


@pytest.mark.covers("storage.undo.ledger")
def test_an_undo_is_a_transaction_of_its_own(past: GraphStore) -> None:
    write(past, "add", nodes("A"))
    write(past, "tell", change("A", metadata=("x",)))
    undo(past, 2)
    with past.read("default") as reader:
        last = reader.commits(after_seq=2, limit=9)
        assert [(c.seq, c.operation, c.author, c.items) for c in last] == [
            (3, "undo", "cli", {"nodes_updated": 1})
        ]
        assert reader.find_nodes(["A"])["A"].revision == 3
        assert reader.find_nodes(["A"])["A"].author == "cli"


@pytest.mark.covers("storage.undo.conflict")
@pytest.mark.parametrize(
    ("later", "told"),
    [
        (change("A", metadata=("other",)), "node 'A' has changed since"),
        (change("A", name="Z"), "node 'Z' has changed since"),
        (remove("A"), "node 'A' has gone since"),
        (cut(("A", "B", "to")), "edge 'A' -[to]-> 'B' has gone since"),
        (edges(("A", "X", "to")), "edge 'A' -[to]-> 'X' was added since"),
        (move(("A", "B", "to"), ("X", "B", "to")), "has changed since"),
    ],
)
def test_what_changed_since_is_named_and_nothing_is_undone(
    past: GraphStore, later: Callable[[GraphTransaction], object], told: str
) -> None:
    write(past, "add", nodes("X"))
    write(past, "import", full)
    write(past, "later", later)
    before = state(past)
    with pytest.raises(UndoConflictError) as caught:
        undo(past, 2)
    assert any(told in problem.message for problem in caught.value.problems)
    assert caught.value.context["seq"] == 2
    assert state(past) == before
    with past.read("default") as reader:
        assert reader.last_seq() == 3


@pytest.mark.covers("storage.undo.conflict")
@pytest.mark.parametrize(
    ("first", "later", "told"),
    [
        ((remove("C"),), (nodes("C"),), "the name 'C' was given to another node since"),
        ((change("C", name="D"),), (nodes("C"),), "the name 'C' was given"),
        ((cut(("A", "B", "to")),), (edges(("A", "B", "to")),), "was added anew since"),
        ((cut(("A", "B", "to")),), (remove("B"),), "has gone since"),
        ((move(("A", "B", "to"), ("A", "C", "to")),), (remove("B"),), "has gone since"),
    ],
)
def test_what_stands_in_the_way_is_named(
    past: GraphStore,
    first: tuple[Callable[[GraphTransaction], object], ...],
    later: tuple[Callable[[GraphTransaction], object], ...],
    told: str,
) -> None:
    write(past, "import", full)
    seq = write(past, "first", *first)
    write(past, "later", *later)
    before = state(past)
    with pytest.raises(UndoConflictError) as caught:
        undo(past, seq)
    assert told in caught.value.message
    assert state(past) == before


@pytest.mark.covers("storage.undo.conflict")
def test_a_kept_line_that_came_anew_stands_in_the_way(past: GraphStore) -> None:
    write(past, "import", full)
    undo(past, 1)
    write(past, "again", lambda tx: tx.insert_kept([KeptLine(text="kept")]))
    with pytest.raises(UndoConflictError, match="the same kept line was added anew since"):
        undo(past, 2)


@pytest.mark.covers("storage.undo.content")
def test_what_was_changed_and_changed_back_can_be_undone(past: GraphStore) -> None:
    write(past, "add", nodes("A"))
    write(past, "tell", change("A", metadata=("x",)))
    write(past, "away", change("A", metadata=("y",)))
    write(past, "back", change("A", metadata=("x",)))
    undo(past, 2)
    with past.read("default") as reader:
        assert reader.find_nodes(["A"])["A"].node == Node("A", "npc")


@pytest.mark.covers("storage.undo.conflict")
def test_many_conflicts_are_counted_and_some_named(past: GraphStore) -> None:
    write(past, "add", nodes(*(f"n{i}" for i in range(50))))
    write(past, "tell", *(change(f"n{i}", metadata=("x",)) for i in range(50)))
    with pytest.raises(UndoConflictError) as caught:
        undo(past, 1)
    assert (len(caught.value.problems), caught.value.context["problemCount"]) == (20, 50)


@pytest.mark.covers("storage.undo.unknown")
@pytest.mark.parametrize("seq", [0, -1, 2, 99])
def test_a_transaction_that_never_was_cannot_be_undone(past: GraphStore, seq: int) -> None:
    write(past, "add", nodes("A"))
    with pytest.raises(InvalidParamError, match="no transaction"):
        undo(past, seq)


# Purge ----------------------------------------------------------------------------------------


@pytest.mark.covers("storage.purge.node")
def test_a_purged_node_is_gone_with_its_edges_and_its_past(past: GraphStore) -> None:
    write(past, "import", full)
    write(past, "tell", change("A", metadata=("secret",)))
    write(past, "rename", change("A", name="A2"))
    with past.transaction("default", WriteContext(operation="purge")) as tx:
        assert tx.purge_node("A2") > 0
    with past.read("default") as reader:
        assert [record.name for record in reader.list_nodes(limit=9)] == ["B", "C"]
        assert reader.list_edges(limit=9) == ()
        assert (reader.history("A"), reader.history("A2")) == ((), ())
        assert all(v.edges == () for v in reader.history("B"))
        assert reader.commits(after_seq=3, limit=9)[0].items == {"nodes_purged": 1}
        assert "npc" not in reader.count().node_types
    assert (found(past, "secret"), found(past, "A2")) == ([], [])


@pytest.mark.covers("storage.purge.node")
def test_a_deleted_node_can_be_purged_by_the_name_it_had(past: GraphStore) -> None:
    write(past, "import", full)
    write(past, "remove", remove("A"))
    with past.transaction("default", WriteContext(operation="purge")) as tx:
        assert tx.purge_node("A") > 0
        with pytest.raises(NodeNotFoundError):
            tx.purge_node("A")
    with past.read("default") as reader:
        assert reader.history("A") == ()


@pytest.mark.covers("storage.purge.undo")
def test_what_was_purged_cannot_be_brought_back(past: GraphStore) -> None:
    write(past, "import", full)
    write(past, "tell", change("A", metadata=("secret",)))
    write(past, "elsewhere", change("C", metadata=("x",)))
    with past.transaction("default", WriteContext(operation="purge")) as tx:
        tx.purge_node("A")
    for seq in (1, 2, 4):
        with pytest.raises(InvalidParamError, match="purged"):
            undo(past, seq)
    undo(past, 3)


@pytest.mark.covers("storage.purge.node")
def test_a_former_name_of_a_living_node_purges_nothing(past: GraphStore) -> None:
    write(past, "add", nodes("A"))
    write(past, "rename", change("A", name="B"))
    with (
        pytest.raises(NodeNotFoundError, match="former name of 'B'"),
        past.transaction("default", WriteContext(operation="purge")) as tx,
    ):
        tx.purge_node("A")
    with past.read("default") as reader:
        assert [record.name for record in reader.list_nodes(limit=9)] == ["B"]
