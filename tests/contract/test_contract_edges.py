"""What every store promises about edges, neighbours and kept lines."""

from collections.abc import Callable, Sequence

import pytest

from schemory.model.edge import Edge, EdgeChange, EdgeKey, NewEdge
from schemory.model.node import NewNode, Node
from schemory.storage.protocols import GraphCounts, GraphReader, GraphStore, KeptLine, WriteContext

WRITE = WriteContext(operation="test", author="tester")
START = "2026-03-08T09:05:07.000Z"
LATER = "2026-03-08T09:06:07.000Z"


def nodes(store: GraphStore, names: str, space: str = "default") -> list[int]:
    """Add one node per letter."""
    with store.transaction(space, WRITE) as tx:
        records = tx.insert_nodes([NewNode(node=Node(name, "npc")) for name in names])
    return [record.id for record in records]


def link(
    store: GraphStore, *pairs: str, edge_type: str = "to", space: str = "default"
) -> list[int]:
    """Add one edge per pair of letters."""
    with store.transaction(space, WRITE) as tx:
        records = tx.insert_edges(
            [NewEdge(edge=Edge(a, b, edge_type)) for a, b in map(tuple, pairs)]
        )
    return [record.id for record in records]


def pairs(edges: Sequence[object]) -> list[str]:
    return [f"{e.key.from_name}{e.key.to_name}" for e in edges]  # type: ignore[attr-defined]  # EdgeRecord


@pytest.mark.covers("storage.edges.insert")
def test_inserted_edges_come_back_as_they_were_given(store: GraphStore) -> None:
    first, second = nodes(store, "AB")
    with store.transaction("default", WRITE) as tx:
        made = tx.insert_edges(
            [
                NewEdge(edge=Edge("A", "B", "knows", 0.1 + 0.2), property_name="friend"),
                NewEdge(edge=Edge("A", "A", "knows", 1), extra={"x": 1}, created_at="1999-01-01"),
            ]
        )
        assert tx.find_edges([made[0].key]) == {made[0].key: made[0]}
    assert (made[0].from_id, made[0].to_id, made[0].property_name) == (first, second, "friend")
    assert (made[0].created_at, made[0].updated_at, made[0].revision) == (START, START, 1)
    assert (made[1].property_name, made[1].extra) == (None, {"x": 1})
    assert (made[1].created_at, made[1].updated_at) == ("1999-01-01", "1999-01-01")
    with store.read("default") as reader:
        found = reader.find_edges(
            [EdgeKey("A", "A", "knows"), EdgeKey("A", "B", "knows"), EdgeKey("B", "A", "knows")]
        )
        assert found == {made[1].key: made[1], made[0].key: made[0]}
        assert found[made[0].key].edge.weight == 0.1 + 0.2
        assert reader.list_edges(limit=9) == made


def test_an_edge_to_nothing_is_a_programming_error(store: GraphStore) -> None:
    nodes(store, "A")
    with pytest.raises(ValueError, match="end"), store.transaction("default", WRITE) as tx:
        tx.insert_edges([NewEdge(edge=Edge("A", "nobody", "to"))])
    with store.read("default") as reader:
        assert reader.last_seq() == 1


@pytest.mark.covers("storage.edges.update")
def test_an_edge_changes_only_what_is_named(
    store: GraphStore, advance: Callable[[float], None]
) -> None:
    nodes(store, "ABC")
    with store.transaction("default", WRITE) as tx:
        (made,) = tx.insert_edges([NewEdge(edge=Edge("A", "B", "to", 0.5), property_name="p")])
    advance(60)
    with store.transaction("default", WRITE) as tx:
        (changed,) = tx.update_edges([EdgeChange(id=made.id, weight=0.25)])
    assert (changed.edge, changed.property_name) == (Edge("A", "B", "to", 0.25), "p")
    assert (changed.created_at, changed.updated_at, changed.revision) == (START, LATER, 2)
    with store.transaction("default", WRITE) as tx:
        (changed,) = tx.update_edges(
            [
                EdgeChange(
                    id=made.id, key=EdgeKey("C", "B", "from"), property_name="", extra={"a": [1]}
                )
            ]
        )
        assert changed.id == made.id
    assert changed.edge == Edge("C", "B", "from", 0.25)
    assert (changed.property_name, changed.extra, changed.revision) == (None, {"a": [1]}, 3)
    with store.read("default") as reader:
        assert reader.list_edges(limit=9) == (changed,)


def test_an_edge_that_stays_as_it_is_leaves_no_trace(store: GraphStore) -> None:
    nodes(store, "AB")
    (edge_id,) = link(store, "AB")
    with store.transaction("default", WRITE) as tx:
        (same,) = tx.update_edges([EdgeChange(id=edge_id, key=EdgeKey("A", "B", "to"), weight=1.0)])
        twice = tx.update_edges([EdgeChange(id=edge_id), EdgeChange(id=edge_id)])
    assert (same.revision, twice) == (1, (same, same))
    with store.read("default") as reader:
        assert reader.last_seq() == 2


@pytest.mark.covers("storage.edges.update")
def test_two_edges_can_swap_their_places_in_one_call(store: GraphStore) -> None:
    nodes(store, "AB")
    first, second = link(store, "AB", "BA")
    with store.transaction("default", WRITE) as tx:
        tx.update_edges(
            [
                EdgeChange(id=first, key=EdgeKey("B", "A", "to")),
                EdgeChange(id=second, key=EdgeKey("A", "B", "to")),
            ]
        )
    with store.read("default") as reader:
        assert [(edge.id, *edge.key[:2]) for edge in reader.list_edges(limit=9)] == [
            (first, "B", "A"),
            (second, "A", "B"),
        ]


@pytest.mark.covers("storage.edges.delete")
def test_deleted_edges_are_gone_and_their_nodes_stay(store: GraphStore) -> None:
    nodes(store, "AB")
    first, second = link(store, "AB", "BA")
    with store.transaction("default", WRITE) as tx:
        tx.delete_edges([first, 10_000])
    with store.read("default") as reader:
        assert [edge.id for edge in reader.list_edges(limit=9)] == [second]
        assert len(reader.list_nodes(limit=9)) == 2


@pytest.mark.covers("storage.edges.list")
def test_edges_are_listed_in_creation_order_page_by_page(store: GraphStore) -> None:
    nodes(store, "ABC")
    ids = link(store, "CA", "AB", "BC", "AA")
    with store.read("default") as reader:
        assert [edge.id for edge in reader.list_edges(limit=3)] == ids[:3]
        assert [edge.id for edge in reader.list_edges(after_id=ids[2], limit=3)] == ids[3:]


@pytest.mark.covers("storage.edges.neighbours")
def test_neighbours_are_distinct_outside_the_set_and_in_creation_order(store: GraphStore) -> None:
    a, b, c, d, e, f = nodes(store, "ABCDEF")
    link(store, "AB", "CA", "AD", "DA", "BC", "AA", "BE", "FF")
    link(store, "AB", edge_type="also")
    with store.read("default") as reader:
        assert neighbour_ids(reader, [a]) == [b, c, d]
        assert neighbour_ids(reader, [a, b]) == [c, d, e]
        assert neighbour_ids(reader, [a, b, c, d]) == [e]
        assert neighbour_ids(reader, [a], limit=2) == [b, c]
        assert neighbour_ids(reader, [a], after_id=b, limit=1) == [c]
        assert neighbour_ids(reader, [f, e]) == [b]
        assert neighbour_ids(reader, []) == neighbour_ids(reader, [10_000]) == []


def neighbour_ids(
    reader: GraphReader, ids: Sequence[int], *, after_id: int = 0, limit: int = 9
) -> list[int]:
    return [record.id for record in reader.neighbours(ids, after_id=after_id, limit=limit)]


def test_many_neighbours_come_page_by_page_without_gap_or_repeat(store: GraphStore) -> None:
    with store.transaction("default", WRITE) as tx:
        hub, *others = tx.insert_nodes([NewNode(node=Node(f"n{i}", "npc")) for i in range(300)])
        tx.insert_edges(
            [
                NewEdge(edge=Edge(*(pair if i % 2 else pair[::-1]), "to"))
                for i, other in enumerate(others)
                for pair in [(hub.name, other.name)]
            ]
        )
    seen: list[int] = []
    with store.read("default") as reader:
        while page := reader.neighbours([hub.id], after_id=seen[-1] if seen else 0, limit=37):
            seen += [record.id for record in page]
    assert seen == [record.id for record in others]


@pytest.mark.covers("storage.edges.between")
def test_edges_between_two_sets_count_in_either_direction(store: GraphStore) -> None:
    a, b, c, d = nodes(store, "ABCD")
    ids = link(store, "AB", "CA", "BC", "AA", "DB", "AD")
    with store.read("default") as reader:
        assert pairs(reader.edges_between([a], [b, c], limit=9)) == ["AB", "CA"]
        assert pairs(reader.edges_between([b, c], [a], limit=9)) == ["AB", "CA"]
        assert pairs(reader.edges_between([a, b, c], [a, b, c], limit=9)) == [
            "AB",
            "CA",
            "BC",
            "AA",
        ]
        assert pairs(reader.edges_between([a, b], [b, d], limit=9)) == ["AB", "DB", "AD"]
        inside = reader.edges_between([a, b, c], [a, b, c], after_id=ids[1], limit=1)
        assert pairs(inside) == ["BC"]
        assert reader.edges_between([], [a], limit=9) == ()


def test_edges_between_a_hub_and_a_few_are_found(store: GraphStore) -> None:
    with store.transaction("default", WRITE) as tx:
        hub, *others = tx.insert_nodes([NewNode(node=Node(f"n{i}", "npc")) for i in range(200)])
        edges = tx.insert_edges(
            [NewEdge(edge=Edge(hub.name, other.name, "out")) for other in others]
            + [NewEdge(edge=Edge(other.name, hub.name, "in")) for other in others[::2]]
        )
    some = [others[3].id, others[150].id]
    expected = [edge for edge in edges if {edge.from_id, edge.to_id} & set(some)]
    with store.read("default") as reader:
        assert list(reader.edges_between([hub.id], some, limit=99)) == expected
        assert list(reader.edges_between(some, [hub.id], limit=99)) == expected


@pytest.mark.covers("storage.edges.of_node")
def test_a_nodes_edges_by_direction_and_type(store: GraphStore) -> None:
    a, *_ = nodes(store, "ABC")
    ids = link(store, "AB", "CA", "AA")
    link(store, "AC", edge_type="knows")
    with store.read("default") as reader:
        assert pairs(reader.edges_of(a, limit=9)) == ["AB", "CA", "AA", "AC"]
        assert pairs(reader.edges_of(a, direction="out", limit=9)) == ["AB", "AA", "AC"]
        assert pairs(reader.edges_of(a, direction="in", limit=9)) == ["CA", "AA"]
        assert pairs(reader.edges_of(a, edge_types=["knows"], limit=9)) == ["AC"]
        assert pairs(reader.edges_of(a, edge_types=["to", "knows"], limit=2)) == ["AB", "CA"]
        assert reader.edges_of(a, edge_types=["nothing"], limit=9) == ()
        assert pairs(reader.edges_of(a, after_id=ids[0], limit=2)) == ["CA", "AA"]


@pytest.mark.covers("storage.edges.closing")
def test_each_edge_closes_at_its_later_end(store: GraphStore) -> None:
    a, b, c, d = nodes(store, "ABCD")
    ids = link(store, "DA", "AB", "CA", "CC", "BC")
    with store.read("default") as reader:
        assert pairs(reader.edges_closing(a, a, limit=9)) == []
        assert pairs(reader.edges_closing(a, b, limit=9)) == ["AB"]
        assert pairs(reader.edges_closing(b, c, limit=9)) == ["AB", "CA", "CC", "BC"]
        assert pairs(reader.edges_closing(c, d, limit=2)) == ["DA", "CA"]
        assert pairs(reader.edges_closing(c, d, after_id=ids[2], limit=9)) == ["CC", "BC"]


@pytest.mark.covers("storage.edges.suggest")
def test_a_missing_edge_is_answered_with_its_likes(store: GraphStore) -> None:
    nodes(store, "ABC")
    link(store, "AB", "CB", "BA")
    link(store, "AC", edge_type="owns")
    with store.read("default") as reader:
        same_ends = reader.suggest_edges(EdgeKey("A", "B", "knows"))
        assert same_ends[0] == EdgeKey("A", "B", "to")
        assert EdgeKey("A", "C", "owns") not in same_ends
        assert reader.suggest_edges(EdgeKey("A", "B", "TO"), limit=1) == (("A", "B", "to"),)
        assert reader.suggest_edges(EdgeKey("nobody", "B", "to")) == (
            ("A", "B", "to"),
            ("C", "B", "to"),
        )
        assert reader.suggest_edges(EdgeKey("nobody", "no one", "to")) == ()


@pytest.mark.covers("storage.kept")
def test_kept_lines_come_back_in_order_each_once(store: GraphStore) -> None:
    first, second = KeptLine(text='{"type":"patterns"}'), KeptLine(text="# ß comment")
    with store.transaction("default", WRITE) as tx:
        assert tx.insert_kept([first, second, first]) == 2
    with store.transaction("default", WRITE) as tx:
        assert tx.insert_kept([second]) == 0
    with store.read("default") as reader:
        listed = reader.list_kept(limit=9)
        assert [line for _, line in listed] == [first, second]
        assert reader.list_kept(after=listed[0][0], limit=9) == listed[1:]
        assert reader.last_seq() == 1


@pytest.mark.covers("storage.count")
def test_everything_is_counted_by_type(store: GraphStore) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes(
            [NewNode(node=Node(name, kind)) for name, kind in [("A", "z"), ("B", "a"), ("C", "z")]]
        )
        tx.insert_edges([NewEdge(edge=Edge("A", "B", "to")), NewEdge(edge=Edge("A", "B", "is"))])
        tx.insert_kept([KeptLine(text="x")])
    with store.read("default") as reader:
        counts = reader.count()
    assert counts == GraphCounts(
        nodes=3, edges=2, kept=1, node_types={"a": 1, "z": 2}, edge_types={"is": 1, "to": 1}
    )
    assert list(counts.node_types) == ["a", "z"]
    with store.transaction("default", WRITE) as tx:
        tx.delete_nodes([tx.find_nodes(["B"])["B"].id])
    with store.read("default") as reader:
        assert (reader.count().node_types, reader.count().edges) == ({"z": 2}, 0)
