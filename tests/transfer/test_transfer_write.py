"""Lines are written in a dialect, and a file's own line is brought up to date in its own words."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.model.edge import IMPORTED, Edge, EdgeRecord
from schemory.model.jsonvalue import Json
from schemory.model.lines.read import read_edge, read_node
from schemory.model.lines.records import Dialect, Place
from schemory.model.lines.write import (
    Style,
    edge_object,
    full_edge,
    full_node,
    node_object,
    render,
    revise_edge,
    revise_node,
    style_of,
)
from schemory.model.node import Node, NodeRecord, TypedValue

MADE = "2026-01-01T10:00:00.000Z"
CHANGED = "2026-02-02T20:00:00.500Z"
HERE = Place(1, "-")


def node_record(node: Node, **more: object) -> NodeRecord:
    record = NodeRecord(
        id=1, node=node, typed=(), extra={}, created_at=MADE, updated_at=MADE, revision=1, author=""
    )
    return replace(record, **more)  # type: ignore[arg-type]  # keyword names are checked at run time


def edge_record(edge: Edge, **more: object) -> EdgeRecord:
    record = EdgeRecord(
        id=1, from_id=1, to_id=2, edge=edge, property_name=IMPORTED, extra={},
        created_at=MADE, updated_at=MADE, revision=1, author="",
    )  # fmt: skip
    return replace(record, **more)  # type: ignore[arg-type]  # keyword names are checked at run time


@pytest.mark.covers("graph.files.seed-form")
def test_the_seed_form_has_the_seeds_keys_in_its_order_and_whole_weights() -> None:
    gandalf = Node("Gandalf", "npc", ("Role: Wizard",))
    assert render(node_object(gandalf)) == (
        '{"type":"node","name":"Gandalf","nodeType":"npc","metadata":["Role: Wizard"]}'
    )
    assert render(edge_object(Edge("Gandalf", "Höhle", "located_in"))) == (
        '{"type":"edge","from":"Gandalf","to":"Höhle","edgeType":"located_in","weight":1}'
    )
    assert render(edge_object(Edge("A", "B", "t", 0.25))).endswith('"weight":0.25}')


def test_the_official_form_has_its_words_and_a_weight_only_where_it_matters() -> None:
    assert node_object(Node("A", "t", ("x",)), Dialect.OFFICIAL) == {
        "type": "entity", "name": "A", "entityType": "t", "observations": ["x"]
    }  # fmt: skip
    plain = {"type": "relation", "from": "A", "to": "B", "relationType": "t"}
    assert edge_object(Edge("A", "B", "t"), Dialect.OFFICIAL) == plain
    assert edge_object(Edge("A", "B", "t", 0.5), Dialect.OFFICIAL) == {**plain, "weight": 0.5}


@pytest.mark.covers("graph.files.beside")
@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_full_line_reads_back_as_all_that_is_known(dialect: Dialect) -> None:
    typed = (
        TypedValue(property_name="role", line="Role: Wizard", value="Wizard"),
        TypedValue(property_name="traits", line="Traits: a, b", value=["a", "b"]),
        TypedValue(property_name="age", line="Age: 3", value=3),
    )
    record = node_record(
        Node("A", "npc", ("Role: Wizard", "Traits: a, b", "Age: 3")),
        typed=typed,
        extra={"weight": 7, "entityType": "odd", "observations": [{"text": "Age: 3", "at": 1}]},
        updated_at=CHANGED,
    )
    said = read_node(HERE, full_node(record, dialect))
    assert (said.node, said.typed) == (record.node, typed)
    assert said.extra == record.extra
    assert (said.claims.created, said.claims.updated) == (MADE, CHANGED)

    for origin in (None, "home", IMPORTED):
        known = edge_record(Edge("A", "B", "t", 0.5), property_name=origin, extra={"x": [1]})
        link = read_edge(HERE, full_edge(known, dialect))
        assert (link.edge, link.property_name, link.extra) == (known.edge, origin, known.extra)
        assert link.claims.created == MADE


@pytest.mark.covers("graph.files.beside")
def test_our_key_says_only_what_the_line_does_not() -> None:
    full = full_node(node_record(Node("A", "npc", ("Role: Wizard",))))
    assert full["_schemory"] == {"createdAt": MADE}
    found: dict[str, Json] = {"name": "A", "entityType": "t", "createdAt": MADE, "createdBy": "x"}
    same = node_record(Node("A", "t"), extra={"createdBy": "x"})
    assert revise_node(found, same) == found


@pytest.mark.covers("graph.graph-file.own-dialect")
def test_a_revised_node_keeps_keys_order_and_unknown_fields() -> None:
    found: dict[str, Json] = {
        "observations": ["old"], "by": "x", "entityType": "t", "createdAt": 1767261600,
        "updatedAt": 1767261600, "name": "A", "relations": [{"relationType": "r", "to": "B"}],
    }  # fmt: skip
    record = node_record(Node("A2", "u", ("old", "new")), extra={"by": "x"}, updated_at=CHANGED)
    revised = revise_node(found, record)
    assert list(revised) == [*found, "_schemory"]
    assert revised == {
        **found,
        "observations": ["old", "new"],
        "entityType": "u",
        "updatedAt": 1770062400,  # the line's own form has no milliseconds ...
        "name": "A2",
        "_schemory": {"updatedAt": CHANGED},  # ... so they are said beside
    }


@pytest.mark.covers("graph.graph-file.own-dialect")
def test_a_revised_node_keeps_the_objects_of_entries_that_stay() -> None:
    first: dict[str, Json] = {"text": "one", "at": 1}
    second: dict[str, Json] = {"text": "two", "at": 2}
    found: dict[str, Json] = {"_type": "entity", "name": "A", "observations": [first, second]}
    record = node_record(
        Node("A", "unknown", ("two", "three")), extra={"observations": [first, second]}
    )
    revised = revise_node(found, record)
    assert revised["observations"] == [second, "three"]
    assert read_node(HERE, revised).extra == record.extra


def test_a_revised_line_takes_over_changed_and_removed_fields() -> None:
    found: dict[str, Json] = {"name": "A", "nodeType": "t", "x": 1, "y": 2}
    revised = revise_node(found, node_record(Node("A", "t"), extra={"y": 3, "z": 4}))
    assert revised["y"] == 3
    assert "x" not in revised
    assert read_node(HERE, revised).extra == {"y": 3, "z": 4}


def test_a_name_in_another_normal_form_is_left_as_it_is_spelt() -> None:
    found: dict[str, Json] = {"name": "e\u0301", "nodeType": "t", "metadata": []}
    assert revise_node(found, node_record(Node("\xe9", "t", ("x",))))["name"] == "e\u0301"


@pytest.mark.covers("graph.graph-file.own-dialect")
def test_a_revised_edge_keeps_its_words() -> None:
    found: dict[str, Json] = {"to": "B", "relationType": "t", "from": "A", "since": 3}
    record = edge_record(Edge("A", "C", "u", 0.5), extra={"since": 3}, updated_at=CHANGED)
    assert revise_edge(found, record) == {
        "to": "C", "relationType": "u", "from": "A", "since": 3, "weight": 0.5,
        "_schemory": {"updatedAt": CHANGED},
    }  # fmt: skip
    nested: dict[str, Json] = {"relationType": "t", "to": "B"}
    assert revise_edge(nested, edge_record(Edge("A", "B", "t", 0.5)), owner="A")["weight"] == 0.5


@pytest.mark.parametrize("style", [Style(a, b) for a in (False, True) for b in (False, True)])
def test_the_spelling_of_a_line_is_recognised(style: Style) -> None:
    found: dict[str, Json] = {"name": "é", "metadata": ["a", "b"]}
    assert style_of(render(found, style), found) == style


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
NAMES = TEXT.filter(lambda text: text.strip() != "")
EXTRA = st.dictionaries(
    st.sampled_from(["a", "b", "version", "weight", "entityType", "relations", "createdAt"]),
    st.integers() | TEXT | st.lists(st.integers(), max_size=2),
    max_size=4,
)


@given(NAMES, NAMES, st.lists(TEXT, max_size=4), EXTRA, st.sampled_from(list(Dialect)))
def test_any_full_line_reads_back(
    name: str, node_type: str, metadata: list[str], extra: dict[str, Json], dialect: Dialect
) -> None:
    plain = read_node(HERE, {"name": name, "nodeType": node_type, "metadata": list(metadata)}).node
    record = node_record(plain, extra=extra)
    text = render(full_node(record, dialect))
    said = read_node(HERE, json.loads(text))
    assert (said.node, said.extra, said.claims.created) == (plain, extra, MADE)


@given(EXTRA, EXTRA, st.lists(TEXT, max_size=3), st.sampled_from(["nodeType", "entityType"]))
def test_any_revised_line_reads_back(
    old: dict[str, Json], new: dict[str, Json], metadata: list[str], type_key: str
) -> None:
    found: dict[str, Json] = {**old, "name": "A", type_key: "t", "observations": ["x"]}
    said = read_node(HERE, found)
    record = node_record(
        replace(said.node, metadata=tuple(metadata)), extra={**new, **said.extra},
        created_at=said.claims.created or MADE, updated_at=CHANGED,
    )  # fmt: skip
    revised = read_node(HERE, json.loads(render(revise_node(found, record))))
    assert revised.node == record.node
    assert revised.extra == record.extra
    assert revised.claims.updated == CHANGED
