"""What every store promises about nodes."""

from collections.abc import Callable

import pytest

from schemory.model.edge import Edge, EdgeKey, NewEdge
from schemory.model.node import NewNode, Node, NodeChange, TypedValue
from schemory.storage.protocols import Capability, GraphStore, WriteContext

WRITE = WriteContext(operation="test", author="tester/1.0", client="stdio")
START = "2026-03-08T09:05:07.000Z"
LATER = "2026-03-08T09:06:07.000Z"
ROLE = TypedValue(property_name="role", line="Role: Wizard", value="Wizard")


def new(name: str, node_type: str = "npc", *lines: str) -> NewNode:
    return NewNode(node=Node(name, node_type, lines))


def add(store: GraphStore, *nodes: NewNode, space: str = "default") -> list[int]:
    with store.transaction(space, WRITE) as tx:
        return [record.id for record in tx.insert_nodes(nodes)]


@pytest.mark.covers("storage.nodes.insert")
def test_inserted_nodes_come_back_as_they_were_given_in_order(store: GraphStore) -> None:
    gandalf = NewNode(
        node=Node("Gandalf", "npc", ("Role: Wizard", "free text", "Role: Wizard")),
        typed=(ROLE,),
        extra={"version": 3, "tags": ["a", {"b": None}]},
    )
    with store.transaction("default", WRITE) as tx:
        first, second = tx.insert_nodes([gandalf, new("Shire", "location")])
        assert list(tx.find_nodes(["Gandalf"]).values()) == [first]
    assert 0 < first.id < second.id
    assert (first.node, first.typed, first.extra) == (gandalf.node, (ROLE,), gandalf.extra)
    assert (first.created_at, first.updated_at, first.revision) == (START, START, 1)
    assert first.author == "tester/1.0"
    with store.read("default") as reader:
        assert reader.find_nodes(["Shire", "Gandalf", "nobody"]) == {
            "Shire": second,
            "Gandalf": first,
        }
        assert reader.find_nodes_by_id([second.id, first.id, 10_000]) == {
            first.id: first,
            second.id: second,
        }


@pytest.mark.covers("storage.nodes.claims")
def test_a_files_dates_are_kept_as_its_claim(store: GraphStore) -> None:
    claimed = NewNode(node=Node("old", "npc"), created_at="1999-01-01T00:00:00.000Z")
    both = NewNode(
        node=Node("older", "npc"),
        created_at="1998-01-01T00:00:00.000Z",
        updated_at="1998-06-01T00:00:00.000Z",
    )
    with store.transaction("default", WRITE) as tx:
        first, second = tx.insert_nodes([claimed, both])
    assert (first.created_at, first.updated_at) == (claimed.created_at, claimed.created_at)
    assert (second.created_at, second.updated_at) == (both.created_at, both.updated_at)


@pytest.mark.covers("storage.nodes.update")
def test_an_update_changes_only_what_it_names(
    store: GraphStore, advance: Callable[[float], None]
) -> None:
    (node_id,) = add(store, new("Frodo", "npc", "Role: Hobbit"))
    advance(60)
    with store.transaction("default", WRITE) as tx:
        (changed,) = tx.update_nodes([NodeChange(id=node_id, metadata=("Role: Bearer",))])
        assert tx.find_nodes_by_id([node_id]) == {node_id: changed}
    assert changed.node == Node("Frodo", "npc", ("Role: Bearer",))
    assert (changed.created_at, changed.updated_at, changed.revision) == (START, LATER, 2)
    with store.transaction("default", WRITE) as tx:
        (changed,) = tx.update_nodes(
            [NodeChange(id=node_id, node_type="hero", typed=(ROLE,), extra={"a": 1})]
        )
    assert changed.node == Node("Frodo", "hero", ("Role: Bearer",))
    assert (changed.typed, changed.extra, changed.revision) == ((ROLE,), {"a": 1}, 3)


@pytest.mark.covers("storage.nodes.update")
def test_an_update_can_carry_a_files_dates(store: GraphStore) -> None:
    (node_id,) = add(store, new("A"))
    with store.transaction("default", WRITE) as tx:
        (changed,) = tx.update_nodes(
            [NodeChange(id=node_id, created_at="1999-01-01", updated_at="2001-01-01")]
        )
    assert (changed.created_at, changed.updated_at) == ("1999-01-01", "2001-01-01")


@pytest.mark.covers("storage.nodes.no_change")
def test_an_update_that_changes_nothing_leaves_no_trace(
    store: GraphStore, advance: Callable[[float], None]
) -> None:
    (node_id,) = add(store, NewNode(node=Node("A", "npc", ("x",)), typed=(ROLE,), extra={"k": 1}))
    advance(60)
    with store.transaction("default", WRITE) as tx:
        (same,) = tx.update_nodes(
            [
                NodeChange(
                    id=node_id, name="A", node_type="npc", metadata=("x",), typed=(ROLE,),
                    extra={"k": 1},
                )
            ]
        )  # fmt: skip
    assert (same.revision, same.updated_at) == (1, START)
    with store.read("default") as reader:
        assert reader.last_seq() == 1


@pytest.mark.covers("storage.nodes.rename")
def test_a_rename_keeps_the_id_and_the_edges_follow(store: GraphStore) -> None:
    first, second = add(store, new("A"), new("B"))
    with store.transaction("default", WRITE) as tx:
        tx.insert_edges([NewEdge(edge=Edge("A", "B", "knows"))])
        tx.update_nodes([NodeChange(id=first, name="Å")])
        assert list(tx.find_edges([EdgeKey("Å", "B", "knows")])) == [EdgeKey("Å", "B", "knows")]
    with store.read("default") as reader:
        assert reader.find_nodes(["A"]) == {}
        assert reader.find_nodes(["Å"])["Å"].id == first
        assert [edge.key for edge in reader.edges_of(second, limit=9)] == [("Å", "B", "knows")]


@pytest.mark.covers("storage.nodes.rename")
def test_two_nodes_can_swap_their_names_in_one_call(store: GraphStore) -> None:
    first, second = add(store, new("A"), new("B"))
    with store.transaction("default", WRITE) as tx:
        tx.update_nodes([NodeChange(id=first, name="B"), NodeChange(id=second, name="A")])
    with store.read("default") as reader:
        assert {n: r.id for n, r in reader.find_nodes(["A", "B"]).items()} == {
            "A": second,
            "B": first,
        }


def test_one_node_can_change_twice_in_one_call(store: GraphStore) -> None:
    (node_id,) = add(store, new("A"))
    with store.transaction("default", WRITE) as tx:
        once, twice = tx.update_nodes(
            [NodeChange(id=node_id, metadata=("x",)), NodeChange(id=node_id, node_type="item")]
        )
    assert (once.revision, twice.revision) == (2, 3)
    assert twice.node == Node("A", "item", ("x",))


@pytest.mark.covers("storage.nodes.delete")
def test_deleting_a_node_takes_every_edge_that_touches_it(store: GraphStore) -> None:
    first, _, _ = add(store, new("A"), new("B"), new("C"))
    edges = [("A", "B"), ("B", "A"), ("A", "A"), ("B", "C")]
    with store.transaction("default", WRITE) as tx:
        tx.insert_edges([NewEdge(edge=Edge(start, end, "to")) for start, end in edges])
    with store.transaction("default", WRITE) as tx:
        assert tx.delete_nodes([first, 10_000]) == 3
    with store.read("default") as reader:
        assert [record.name for record in reader.list_nodes(limit=9)] == ["B", "C"]
        assert [edge.key for edge in reader.list_edges(limit=9)] == [("B", "C", "to")]


@pytest.mark.covers("storage.ids.never_again")
def test_ids_are_never_given_out_twice_while_a_store_is_open(store: GraphStore) -> None:
    ids = add(store, new("A"), new("B"))
    with store.transaction("default", WRITE) as tx:
        tx.delete_nodes(ids)
    assert min(add(store, new("A"))) > max(ids)


@pytest.mark.covers("storage.ids.never_again")
def test_ids_and_the_key_of_cursors_live_equally_long(open_again: Callable[[], GraphStore]) -> None:
    store = open_again()
    ids = add(store, new("A"), new("B"))
    with store.transaction("default", WRITE) as tx:
        tx.delete_nodes(ids)
    key = store.cursor_key
    store.close()
    again = open_again()
    # A graph file numbers anew when it opens; what was told of old numbers must then be refused.
    is_numbered_anew = min(add(again, new("A"))) <= max(ids)
    assert is_numbered_anew == (again.cursor_key != key)
    assert is_numbered_anew == (Capability.HISTORY not in again.capabilities)


@pytest.mark.covers("storage.names.exact")
@pytest.mark.parametrize(
    ("stored", "other"),
    [
        ("straße", "STRASSE"),
        ("Istanbul", "İstanbul"),
        ("σας", "ΣΑΣ"),
        ("é", "e\u0301"),
        ("a b", "a  b"),
        ("A", "a"),
        ("ab", "a\0b"),
        ("__proto__", "__proto"),
    ],
)
def test_names_are_compared_exactly(store: GraphStore, stored: str, other: str) -> None:
    add(store, new(stored))
    with store.read("default") as reader:
        assert list(reader.find_nodes([stored, other])) == [stored]


@pytest.mark.covers("storage.names.impossible")
def test_a_name_that_no_store_can_hold_is_just_not_there(store: GraphStore) -> None:
    add(store, new("A"))
    lone = "\ud800"
    with store.read("default") as reader:
        assert reader.find_nodes([lone]) == {}
        assert reader.find_edges([EdgeKey(lone, "A", "to")]) == {}
        assert reader.find_twins([lone]) == {}
        assert reader.suggest_names(lone) == ()
        assert reader.suggest_edges(EdgeKey("A", lone, "to")) == ()
        assert reader.list_nodes(limit=9, node_types=[lone]) == ()
        assert reader.lines_naming(lone, limit=9) == ()
    with store.read(lone) as reader:
        assert reader.list_nodes(limit=9) == ()


@pytest.mark.covers("storage.nodes.twins")
def test_twins_differ_by_case_white_space_or_unicode_form_only(store: GraphStore) -> None:
    add(store, new("Data Service"), new("dataservice"), new("ﬁle"), new("Dataservices"))
    with store.read("default") as reader:
        assert reader.find_twins(["DataService", "file", "dataservice", "nothing"]) == {
            "DataService": ("Data Service", "dataservice"),
            "file": ("ﬁle",),
            "dataservice": ("Data Service",),
        }


@pytest.mark.covers("storage.nodes.list")
def test_nodes_are_listed_in_creation_order_page_by_page(store: GraphStore) -> None:
    kinds = ["npc", "item", "place", "npc", "item", "npc"]
    ids = add(store, *(new(f"n{i}", kind) for i, kind in enumerate(kinds)))
    with store.read("default") as reader:
        assert [r.id for r in reader.list_nodes(limit=4)] == ids[:4]
        assert [r.id for r in reader.list_nodes(after_id=ids[3], limit=4)] == ids[4:]
        some = reader.list_nodes(limit=3, node_types=["npc", "item", "nothing"])
        assert [r.id for r in some] == [ids[0], ids[1], ids[3]]
        rest = reader.list_nodes(after_id=ids[3], limit=3, node_types=["npc", "item"])
        assert [r.id for r in rest] == [ids[4], ids[5]]


@pytest.mark.covers("storage.text.nasty")
@pytest.mark.parametrize(
    "text",
    [
        "x" * 500,
        "👩‍👩‍👧‍👦 🏳️‍🌈",
        "שלום עולם",
        "line\nbreak\ttab\rreturn",
        "'; DROP TABLE node; --",
        '"quoted" \\ back',
        "\u2028\u200b\ufeff",
        "\U0010ffff\ue000",
        "中文字符",
        "%_*?[]",
    ],
)
def test_any_text_survives_to_the_letter(open_again: Callable[[], GraphStore], text: str) -> None:
    node = Node(text, text, (text, f"Key: {text}", text))
    store = open_again()
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=node, extra={text: text})])
        tx.insert_edges([NewEdge(edge=Edge(text, text, text))])
    store.close()
    with open_again().read("default") as reader:
        found = reader.find_nodes([text])[text]
        assert (found.node, found.extra) == (node, {text: text})
        assert list(reader.find_edges([EdgeKey(text, text, text)])) == [(text, text, text)]
