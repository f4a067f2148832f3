"""Records of one name become one node, in any order of arrival, and merging again is idle."""

import pytest

from schemory.model.jsonvalue import Json
from schemory.model.lines.merge import merge_nodes, stored_as_line
from schemory.model.lines.read import read_node
from schemory.model.lines.records import NodeLine, Place
from schemory.model.node import Node, NodeRecord, TypedValue


def line(**found: Json) -> NodeLine:
    return read_node(Place(1, "-"), {"name": "A", "nodeType": "t", **found})


def stored(node: Node, extra: dict[str, Json] | None = None) -> NodeRecord:
    moment = "2026-01-05T00:00:00.000Z"
    return NodeRecord(
        id=1, node=node, typed=(), extra=extra or {}, created_at=moment, updated_at=moment,
        revision=1, author="",
    )  # fmt: skip


@pytest.mark.covers("graph.files.merge-names")
def test_entries_are_united_in_order_and_doubles_inside_one_line_stay() -> None:
    merged = merge_nodes(
        [line(metadata=["a", "b", "a"]), line(metadata=["b", "c", "c"]), line(metadata=["c", "d"])]
    )
    assert merged.node.node.metadata == ("a", "b", "a", "c", "c", "d")
    assert merged.differing == ()


@pytest.mark.covers("graph.files.merge-names")
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {}, "first"),
        ({"version": 1}, {"version": 2}, "second"),
        ({"version": 2}, {"version": 1}, "first"),
        ({"version": 2}, {}, "first"),
        ({"createdAt": "2026-01-01"}, {"createdAt": "2026-01-02"}, "second"),
        ({"createdAt": "2026-01-03"}, {"createdAt": "2026-01-02"}, "first"),
        ({"createdAt": 1, "updatedAt": 9e8}, {"createdAt": 8e8}, "first"),
        ({"updatedAt": "2026-01-10T20:52:01.906182"}, {"updatedAt": "2026-01-10T20:52:01.906183"},
         "second"),
        ({"version": 2, "createdAt": 1}, {"version": 1, "createdAt": 2}, "first"),
        ({"createdAt": 1}, {"version": 9}, "first"),
    ],
)  # fmt: skip
def test_the_newest_type_wins_where_versions_or_times_tell(
    first: dict[str, Json], second: dict[str, Json], expected: str
) -> None:
    merged = merge_nodes([line(nodeType="first", **first), line(nodeType="second", **second)])
    assert merged.node.node.node_type == expected
    assert "nodeType" in merged.differing


def test_the_newest_of_three_wins_wherever_it_stands() -> None:
    old, new, middle = (line(nodeType=f"v{v}", version=v) for v in (1, 3, 2))
    for order in ([old, new, middle], [new, middle, old], [middle, old, new]):
        merged = merge_nodes(order).node
        assert merged.node.node_type == "v3"
        assert merged.extra["version"] == 3


def test_a_stated_type_wins_over_none() -> None:
    typeless = read_node(Place(1, "-"), {"type": "node", "name": "A"})
    assert merge_nodes([typeless, line(nodeType="t")]).node.node.node_type == "t"
    assert merge_nodes([line(nodeType="t"), typeless]).differing == ()


def test_the_claims_of_all_records_span_the_merged_one() -> None:
    merged = merge_nodes(
        [line(createdAt="2026-01-02", updatedAt="2026-01-03"), line(createdAt="2026-01-01")]
    ).node
    assert merged.claims.created == "2026-01-01T00:00:00.000Z"
    assert merged.claims.updated == "2026-01-03T00:00:00.000Z"


def test_other_fields_keep_the_first_value_and_the_difference_is_told() -> None:
    merged = merge_nodes([line(path="a.py", x=1), line(path="b.py", y=2)])
    assert merged.node.extra == {"path": "a.py", "x": 1, "y": 2}
    assert merged.differing == ("path",)


def test_observation_objects_are_united() -> None:
    one: dict[str, Json] = {"text": "1", "at": 1}
    two: dict[str, Json] = {"text": "2"}
    merged = merge_nodes([line(metadata=[one]), line(metadata=[one, two])]).node
    assert merged.node.metadata == ("1", "2")
    assert merged.extra == {"observations": [one, two]}


def test_typed_values_join_while_their_line_is_there() -> None:
    beside: Json = {"typed": ["role"]}
    merged = merge_nodes([line(), line(metadata=["Role: x"], _schemory=beside)]).node
    assert merged.typed == (TypedValue(property_name="role", line="Role: x", value="x"),)


@pytest.mark.covers("graph.files.merge-stored")
def test_a_stored_node_merges_like_a_first_record_and_again_without_change() -> None:
    record = stored(Node("A", "old", ("a",)), {"version": 1})
    found = line(nodeType="new", metadata=["b"], version=2, by="x")
    once = merge_nodes([stored_as_line(record), found]).node
    assert once.node == Node("A", "new", ("a", "b"))
    assert once.extra == {"version": 2, "by": "x"}
    again = stored(once.node, dict(once.extra))
    assert merge_nodes([stored_as_line(again), found]).node.node == once.node
    assert merge_nodes([stored_as_line(again), found]).node.extra == once.extra


@pytest.mark.covers("graph.files.merge-stored")
def test_a_stored_node_keeps_its_type_against_an_older_claim() -> None:
    record = stored(Node("A", "ours"))  # changed on 5 January
    older, newer = (line(nodeType="theirs", updatedAt=f"2026-01-0{d}") for d in (4, 6))
    assert merge_nodes([stored_as_line(record), older]).node.node.node_type == "ours"
    assert merge_nodes([stored_as_line(record), newer]).node.node.node_type == "theirs"
    assert merge_nodes([stored_as_line(record), line(nodeType="x")]).node.node.node_type == "ours"
