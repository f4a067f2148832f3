"""A record is recognised in any dialect, and nothing of it gets lost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.model.edge import IMPORTED, Edge
from schemory.model.jsonvalue import Json
from schemory.model.lines.read import dialect_of, kind_of, read_piece
from schemory.model.lines.records import (
    UNKNOWN_TYPE,
    Dialect,
    EdgeLine,
    Fault,
    FaultKind,
    NodeLine,
    OtherLine,
    Record,
)
from schemory.model.lines.scan import Scanner
from schemory.model.node import Node, TypedValue


def records(*found: object) -> list[Record]:
    text = "\n".join(json.dumps(item) for item in found)
    return [record for piece in Scanner(text.encode()) for record in read_piece(piece)]


def node(**found: Json) -> NodeLine:
    (record,) = records(found)
    assert isinstance(record, NodeLine), record
    return record


def edge(**found: Json) -> EdgeLine:
    (record,) = records(found)
    assert isinstance(record, EdgeLine), record
    return record


def fault(**found: Json) -> Fault:
    (record,) = records(found)
    assert isinstance(record, Fault), record
    return record


@pytest.mark.covers("graph.files.dialects")
@pytest.mark.parametrize(
    "found",
    [
        {"type": "node", "name": "A", "nodeType": "t", "metadata": ["x"]},
        {"metadata": ["x"], "nodeType": "t", "type": "node", "name": "A"},
        {"type": "entity", "name": "A", "entityType": "t", "observations": ["x"]},
        {"_type": "entity", "name": "A", "entityType": "t", "observations": ["x"]},
        {"name": "A", "entityType": "t", "observations": ["x"]},
        {"name": "A", "nodeType": "t", "metadata": "x"},
        {"type": "entity", "name": "A", "nodeType": "t", "observations": [{"text": "x"}]},
    ],
)
def test_a_node_is_the_same_in_every_dialect(found: dict[str, Json]) -> None:
    assert node(**found).node == Node("A", "t", ("x",))


@pytest.mark.covers("graph.files.dialects")
@pytest.mark.parametrize(
    "found",
    [
        {"type": "edge", "edgeType": "knows", "weight": 1},
        {"type": "edge", "edgeType": "knows"},
        {"type": "relation", "relationType": "knows"},
        {"_type": "relation", "relationType": "knows", "weight": None},
        {"relationType": "knows"},
        {"edgeType": "knows"},
    ],
)
def test_an_edge_is_the_same_in_every_dialect(found: dict[str, Json]) -> None:
    read = edge(**{"from": "A", "to": "B", **found})
    assert read.edge == Edge("A", "B", "knows", 1.0)
    assert read.property_name == IMPORTED


@pytest.mark.covers("graph.files.unknown-lines")
@pytest.mark.parametrize(
    "found",
    [
        {"type": "codegraph", "name": "x.py", "nodeType": "module", "dependencies": []},
        {"type": "hot_cache", "version": "4.0"},
        {"ts": "2026-01-26T08:48:41.000Z", "kind": "PATTERN", "message": "m"},
        {"name": "A"},
        {},
    ],
)
def test_a_line_of_unknown_type_is_neither_node_nor_edge(found: dict[str, Json]) -> None:
    assert kind_of(found) is None
    (record,) = records(found)
    assert isinstance(record, OtherLine)
    assert json.loads(record.text) == found


def test_the_entity_type_may_stand_beside_an_underscored_kind() -> None:
    assert node(_type="entity", name="A", entityType="t", type="Person").extra == {"type": "Person"}


@pytest.mark.covers("graph.files.observation-objects")
def test_an_observation_object_gives_its_text_and_keeps_the_rest() -> None:
    objects: list[Json] = [
        {"text": "one", "timestamp": "2025-05-06T14:09:36.202Z"},
        {"content": "two", "by": "me"},
    ]
    read = node(name="A", entityType="t", observations=[*objects, "three", 4, True])
    assert read.node.metadata == ("one", "two", "three", "4", "true")
    assert read.extra == {"observations": objects}


@pytest.mark.covers("graph.files.nested-relations")
def test_relations_inside_an_entity_are_edges_from_it() -> None:
    read = node(
        name="A",
        entityType="t",
        relations=[
            {"relationType": "uses", "to": "B"},
            {"type": "needs", "to": "C", "weight": 0.5, "since": 3},
            {"from": "X", "relationType": "uses", "to": "A"},
            {"relationType": "uses"},
        ],
    )
    edges = [inner.edge for inner in read.nested if isinstance(inner, EdgeLine)]
    assert edges == [
        Edge("A", "B", "uses"),
        Edge("A", "C", "needs", 0.5),
        Edge("X", "A", "uses"),
    ]
    assert isinstance(read.nested[1], EdgeLine)
    assert read.nested[1].extra == {"since": 3}
    broken = read.nested[3]
    assert isinstance(broken, Fault)
    assert json.loads(broken.text) == {"type": "relation", "from": "A", "relationType": "uses"}
    assert broken.reason == "(relations[3]) has no to"


@pytest.mark.covers("graph.files.claims")
@pytest.mark.parametrize(
    ("created", "expected"),
    [
        ("2026-01-14T22:28:02.540Z", "2026-01-14T22:28:02.540Z"),
        ("2026-01-14T23:28:02+01:00", "2026-01-14T22:28:02.000Z"),
        ("2026-01-14T22:28:02.906160", "2026-01-14T22:28:02.906Z"),
        ("2026-01-14", "2026-01-14T00:00:00.000Z"),
        (1768402102, "2026-01-14T14:48:22.000Z"),
        (1768402102123, "2026-01-14T14:48:22.123Z"),
        ("1768402102", "2026-01-14T14:48:22.000Z"),
    ],
)
def test_times_of_any_usual_form_are_claims(created: Json, expected: str) -> None:
    read = node(name="A", nodeType="t", createdAt=created)
    assert read.claims.created == expected
    assert read.extra == {}


@pytest.mark.parametrize("created", ["yesterday", True, None, 1e300, [], "2026-13-01"])
def test_what_tells_no_time_is_kept_as_it_is(created: Json) -> None:
    read = node(name="A", nodeType="t", createdAt=created)
    assert read.claims.created is None
    assert read.extra == {"createdAt": created}


@pytest.mark.covers("graph.files.node-weight")
def test_fields_without_a_place_in_a_node_are_kept_beside_it() -> None:
    read = node(name="A", entityType="t", weight=1000, version=3, createdBy="x", path="a/b")
    assert read.extra == {"weight": 1000, "version": 3, "createdBy": "x", "path": "a/b"}
    assert read.claims.version == 3


def test_names_and_types_are_normalised_and_entries_are_not() -> None:
    read = node(name="e\u0301", nodeType="e\u0301", metadata=["e\u0301"])
    assert read.node == Node("\xe9", "\xe9", ("e\u0301",))


@pytest.mark.covers("graph.files.tolerant-names")
def test_names_that_the_tools_would_refuse_are_taken_when_they_can_be_stored() -> None:
    assert node(name=" A ", nodeType="t").node.name == " A "
    assert len(node(name="x" * 600, nodeType="t").node.name) == 600


@pytest.mark.parametrize("stated", [None, "", "  "])
def test_a_node_without_a_type_gets_a_stand_in(stated: Json) -> None:
    read = node(type="node", name="A", nodeType=stated)
    assert (read.node.node_type, read.has_type) == (UNKNOWN_TYPE, False)


@pytest.mark.covers("graph.files.bad-records")
@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ({"type": "node", "nodeType": "t"}, "has no name"),
        ({"type": "node", "name": 5}, "name must be text"),
        ({"type": "node", "name": " "}, "name is blank"),
        ({"type": "node", "name": "a\0b"}, "name must not contain the control character U+0000"),
        ({"type": "node", "name": "\ud800"}, "name must not contain a lone surrogate"),
        ({"type": "node", "name": "A", "nodeType": 1}, "nodeType must be text"),
        ({"type": "node", "name": "A", "metadata": ["\x1b"]}, "metadata[0] must not contain"),
        ({"type": "node", "name": "A", "metadata": [{"a": 1}]}, "metadata[0] must be text"),
        ({"type": "node", "name": "A", "metadata": [None]}, "metadata[0] must be text"),
        ({"type": "node", "name": "A", "note": "a\0"}, "the field 'note' must not contain"),
        ({"type": "edge", "from": "A", "to": "B"}, "has no edgeType (or relationType)"),
        ({"type": "edge", "from": "A", "edgeType": "t"}, "has no to"),
        ({"type": "edge", "to": "A", "edgeType": "t"}, "has no from"),
    ],
)
def test_a_record_that_cannot_be_stored_says_why(found: dict[str, Any], reason: str) -> None:
    read = fault(**found)
    assert read.reason.startswith(reason)
    assert read.is_graph
    assert read.kind is FaultKind.RECORD


@pytest.mark.parametrize("weight", ["0.5", True, [], 10**400])
def test_a_weight_that_is_no_number_is_a_fault_of_the_edge(weight: Json) -> None:
    read = fault(**{"from": "A", "to": "B", "edgeType": "t", "weight": weight})
    assert read.kind is FaultKind.WEIGHT


def test_deep_nesting_in_a_foreign_field_is_refused() -> None:
    deep: Json = []
    for _ in range(100):
        deep = [deep]
    assert "nested too deeply" in fault(type="node", name="A", note=deep).reason


@pytest.mark.covers("graph.files.whole-object")
def test_a_whole_file_object_gives_its_lists_and_the_rest_is_kept() -> None:
    found = {
        "version": "3.2",
        "entities": [
            {"name": "A", "type": "module", "path": "a.py", "updated_at": "2026-01-10"},
            {"type": "entity", "name": "B", "entityType": "t", "observations": ["x"]},
            7,
        ],
        "relations": [{"from": "A", "to": "B", "relationType": "uses"}],
    }
    first, second, bad, link, rest = records(found)
    assert isinstance(first, NodeLine)
    assert first.node == Node("A", "module")
    assert first.extra == {"path": "a.py"}
    assert first.claims.updated == "2026-01-10T00:00:00.000Z"
    assert isinstance(second, NodeLine)
    assert second.node == Node("B", "t", ("x",))
    assert isinstance(bad, Fault)
    assert bad.reason == "(entities[2]) is not a JSON object"
    assert isinstance(link, EdgeLine)
    assert isinstance(rest, OtherLine)
    assert json.loads(rest.text) == {"version": "3.2"}


@pytest.mark.covers("graph.files.beside")
def test_our_own_key_gives_typed_values_origin_dates_and_extra() -> None:
    read = node(
        type="node",
        name="A",
        nodeType="t",
        metadata=["Role: Wizard", "Traits: brave, wise"],
        _schemory={
            "typed": [
                "role",
                {"property": "traits", "line": "Traits: brave, wise", "value": ["brave", "wise"]},
            ],
            "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-01-02T00:00:00.000Z",
            "extra": {"createdBy": "x"},
        },
    )
    assert read.typed == (
        TypedValue(property_name="role", line="Role: Wizard", value="Wizard"),
        TypedValue(property_name="traits", line="Traits: brave, wise", value=["brave", "wise"]),
    )
    assert read.claims.created == "2026-01-01T00:00:00.000Z"
    assert read.claims.updated == "2026-01-02T00:00:00.000Z"
    assert read.extra == {"createdBy": "x"}
    ends: dict[str, Json] = {"from": "A", "to": "B", "edgeType": "t"}
    assert edge(**ends, _schemory={"property": None}).property_name is None
    assert edge(**ends, _schemory={"property": "home"}).property_name == "home"
    assert edge(**ends, _schemory={}).property_name == IMPORTED


@pytest.mark.parametrize(
    "beside", [5, [], {"typed": 3}, {"typed": [1, {}, "nope"]}, {"property": 5}, {"extra": []}]
)
def test_our_own_key_spoilt_by_hand_is_passed_over(beside: Json) -> None:
    assert node(name="A", nodeType="t", _schemory=beside).node == Node("A", "t")
    ends: dict[str, Json] = {"from": "A", "to": "B", "edgeType": "t"}
    assert edge(**ends, _schemory=beside).property_name == IMPORTED


def test_whose_words_a_line_uses_is_told() -> None:
    assert dialect_of({"type": "node", "name": "A"}) is Dialect.SEED
    assert dialect_of({"type": "entity", "name": "A"}) is Dialect.OFFICIAL
    assert dialect_of({"name": "A", "entityType": "t"}) is Dialect.OFFICIAL
    assert dialect_of({"from": "A", "to": "B", "relationType": "t"}) is Dialect.OFFICIAL


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
_KEYS = "type _type name nodeType entityType metadata observations relations version from to"
_MORE = "edgeType relationType weight createdAt _schemory entities nodes edges x"
KEYS = st.sampled_from([*_KEYS.split(), *_MORE.split()])
WORDS = st.sampled_from(["node", "entity", "edge", "relation", "A", "", " "])


@pytest.mark.covers("graph.files.any-bytes")
@given(st.dictionaries(KEYS, WORDS | JSON_VALUES, max_size=8))
def test_any_object_is_some_record(found: dict[str, Any]) -> None:
    text = json.dumps(found).encode()
    for piece in Scanner(text):
        for record in read_piece(piece):
            assert isinstance(record, NodeLine | EdgeLine | OtherLine | Fault)
            assert "\n" not in record.text
