"""The compatibility classes beyond the seed's own tests (G§3-G§11)."""

import json
from pathlib import Path

import pytest

from schemory.compat import (
    ApplicationManager,
    EdgeFilter,
    EdgeWeightUtils,
    EventEmitter,
    GraphValidator,
    MetadataProcessor,
    SchemaBuilder,
    SchemaLoader,
    TransactionManager,
    create_schema_node,
    format_partial_success,
)
from schemory.errors import (
    ConflictError,
    EdgeExistsError,
    InvalidParamError,
    NodeExistsError,
    NodeNotFoundError,
    SchemaFaultError,
    VetoedError,
)
from schemory.graph.inputs import NodeInput
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import Edge, EdgeKey
from schemory.model.graph import Graph
from schemory.model.moment import Clock
from schemory.model.node import Node

LINES = ["Role: Wizard", "Note: a: b", "free", "Role: Thief", "Traits:"]


@pytest.mark.covers("compat.metadata")
def test_metadata_is_parsed_formatted_mapped_merged_and_filtered() -> None:
    assert MetadataProcessor.parse_entry("Note: a: b") == {"key": "Note", "value": "a: b"}
    assert MetadataProcessor.parse_entry("free") == {"key": "", "value": "free"}
    assert MetadataProcessor.parse_entry("Traits:") == {"key": "Traits", "value": ""}
    assert MetadataProcessor.format_entry("Role", "Wizard") == "Role: Wizard"
    assert MetadataProcessor.create_map(LINES) == {
        "Role": "Thief",
        "Note": "a: b",
        "": "free",
        "Traits": "",
    }
    assert MetadataProcessor.merge(["a", "b"], ["b", "c", "c"]) == ["a", "b", "c"]
    assert MetadataProcessor.get_value(LINES, "Role") == "Wizard"
    assert MetadataProcessor.get_value(LINES, "role") is None
    assert MetadataProcessor.filter_by_key(LINES, "Role") == ["Role: Wizard", "Role: Thief"]


@pytest.mark.covers("compat.weights")
def test_weights_are_kept_averaged_and_combined() -> None:
    edge = Edge("A", "B", "e", 0.25)
    assert EdgeWeightUtils.ensure_weight(edge) is edge
    assert EdgeWeightUtils.combine_weights([0.2, 0.9, 0.5]) == 0.9
    with pytest.raises(InvalidParamError):
        EdgeWeightUtils.update_weight(0.5, -1)


@pytest.mark.covers("compat.validator")
def test_single_nodes_and_edges_are_checked() -> None:
    GraphValidator.validate_node_properties(Node("A", "x"))
    GraphValidator.validate_node_properties({"name": "A", "nodeType": "x", "metadata": []})
    for node in (
        Node("", "x"),
        Node("A", " "),
        {"name": "A", "nodeType": "x", "metadata": "a"},
        {"name": "A", "nodeType": "x"},
        {"nodeType": "x", "metadata": []},
    ):
        with pytest.raises(InvalidParamError):
            GraphValidator.validate_node_properties(node)
    GraphValidator.validate_edge_properties({"from": "A", "to": "B", "edgeType": "e"})
    for edge in (
        Edge("", "B", "e"),
        Edge("A", "B", "e", 1.5),
        {"from": "A", "to": "B", "edgeType": ""},
        {"from": "A", "to": "B", "edgeType": "e", "weight": "1"},
    ):
        with pytest.raises(InvalidParamError):
            GraphValidator.validate_edge_properties(edge)


@pytest.mark.covers("compat.validator")
def test_nodes_and_edges_are_checked_against_a_graph() -> None:
    graph = Graph((Node("A", "x"), Node("B", "x")), (Edge("A", "B", "e"),))
    assert GraphValidator.validate_node_exists(graph, "A") == Node("A", "x")
    GraphValidator.validate_node_does_not_exist(graph, "C")
    GraphValidator.validate_edge_uniqueness(graph, Edge("B", "A", "e"))
    GraphValidator.validate_edge_references(graph, [Edge("B", "A", "e")])
    with pytest.raises(NodeNotFoundError):
        GraphValidator.validate_node_exists(graph, "C")
    with pytest.raises(NodeExistsError):
        GraphValidator.validate_node_does_not_exist(graph, "A")
    with pytest.raises(EdgeExistsError):
        GraphValidator.validate_edge_uniqueness(graph, Edge("A", "B", "e", 0.1))
    with pytest.raises(NodeNotFoundError):
        GraphValidator.validate_edge_references(graph, [Edge("A", "B", "e"), Edge("A", "C", "e")])


@pytest.mark.covers("compat.schema-builder")
def test_a_schema_is_built_step_by_step() -> None:
    builder = (
        SchemaBuilder("add_npc", "A character")
        .add_string_property("name", "Its name", required=True)
        .add_string_property("role", "Its trade", True, ["Wizard", "Thief"])  # noqa: FBT003 (the seed's order)
        .add_array_property("traits", "What it is like")
        .add_relationship("home", "lives_in", "Where it lives", "location")
        .allow_additional_properties(allowed=False)
    )
    assert builder.build() == {
        "name": "add_npc",
        "description": "A character",
        "properties": {
            "name": {"type": "string", "description": "Its name", "required": True},
            "role": {
                "type": "string",
                "description": "Its trade",
                "required": True,
                "enum": ["Wizard", "Thief"],
            },
            "traits": {"type": "array", "description": "What it is like", "required": False},
            "home": {
                "type": "string",
                "description": "Where it lives",
                "required": False,
                "relationship": {
                    "edgeType": "lives_in",
                    "description": "Where it lives",
                    "nodeType": "location",
                },
            },
        },
        "additionalProperties": False,
    }
    with pytest.raises(InvalidParamError):
        create_schema_node({"name": "A", "role": "Thief", "more": "x"}, builder, "npc")


@pytest.mark.covers("compat.schema-builder")
def test_the_update_variant_requires_the_name_only_and_leaves_the_original_alone() -> None:
    builder = (
        SchemaBuilder("add_npc", "A character")
        .add_string_property("name", "Its name", required=True)
        .add_string_property("role", "Its trade", required=True)
    )
    update = builder.create_update_schema().build()
    assert update["name"] == "update_npc"
    properties = update["properties"]
    assert isinstance(properties, dict)
    assert {key: facets["required"] for key, facets in properties.items()} == {
        "name": True,
        "role": False,
    }
    assert builder.schema.properties["role"].is_required


@pytest.mark.covers("compat.schema-builder")
def test_what_cannot_be_used_is_told_when_it_is_used() -> None:
    with pytest.raises(SchemaFaultError):
        _ = SchemaBuilder("npc", "no prefix").schema


@pytest.mark.covers("compat.schema-loader")
def test_the_first_bad_file_of_a_folder_raises(tmp_path: Path) -> None:
    good = SchemaBuilder("add_a", "A").add_string_property("name", "n", required=True).build()
    (tmp_path / "a.schema.json").write_text(json.dumps(good))
    (tmp_path / "b.schema.json").write_text("{")
    with pytest.raises(SchemaFaultError, match=r"b\.schema\.json"):
        SchemaLoader(tmp_path).load_all_schemas()
    (tmp_path / "b.schema.json").write_text(json.dumps(good))
    with pytest.raises(SchemaFaultError, match="two schema files"):
        SchemaLoader(tmp_path).load_all_schemas()


@pytest.mark.covers("compat.schema-loader")
def test_required_names_at_the_root_count(tmp_path: Path) -> None:
    document = {
        "name": "add_a",
        "description": "A",
        "properties": {"role": {"type": "string", "description": "r"}},
        "required": ["role"],
    }
    (tmp_path / "a.schema.json").write_text(json.dumps(document))
    builder = SchemaLoader(tmp_path).load_schema("a")
    with pytest.raises(InvalidParamError, match="role"):
        create_schema_node({"name": "A"}, builder, "a")


@pytest.mark.covers("compat.transactions")
def test_a_transaction_by_hand_knows_where_it_stands(graph: KnowledgeGraph) -> None:
    manager = TransactionManager(graph)
    for call in (manager.commit, manager.rollback):
        with pytest.raises(ConflictError):
            call()
    with pytest.raises(ConflictError):
        manager.add_rollback_action(lambda: None, "nothing is open")
    manager.begin_transaction()
    assert manager.is_in_transaction()
    with pytest.raises(ConflictError):
        manager.begin_transaction()
    manager.commit()
    assert not manager.is_in_transaction()


@pytest.mark.covers("compat.transactions")
def test_compensations_run_last_first_and_all_of_them_are_tried(graph: KnowledgeGraph) -> None:
    manager, undone = TransactionManager(graph), list[str]()

    def fail() -> None:
        raise OSError("disk")

    manager.begin_transaction()
    graph.add_nodes([NodeInput("A", "x")])
    manager.add_rollback_action(lambda: undone.append("first"), "undo the first")
    manager.add_rollback_action(fail, "cannot be undone")
    manager.add_rollback_action(lambda: undone.append("third"), "undo the third")
    with pytest.RaisesGroup(OSError):
        manager.rollback()
    assert undone == ["third", "first"]
    assert not manager.is_in_transaction()
    assert graph.read_graph().nodes == ()


@pytest.mark.covers("compat.transactions")
def test_a_commit_forgets_the_compensations(graph: KnowledgeGraph) -> None:
    manager, undone = TransactionManager(graph), list[str]()
    manager.begin_transaction()
    manager.add_rollback_action(lambda: undone.append("no"))
    manager.commit()
    manager.begin_transaction()
    manager.rollback()
    assert undone == []


@pytest.mark.covers("compat.events")
def test_an_emitter_tells_data_by_name() -> None:
    emitter, heard = EventEmitter(), list[object]()
    end = emitter.on("anything", heard.append)
    emitter.once("anything", heard.append)
    assert emitter.emit("anything", {"a": 1})
    assert emitter.emit("anything", 2)
    end()
    assert not emitter.emit("anything", 3)
    assert heard == [{"a": 1}, {"a": 1}, 2]
    emitter.on("anything", heard.append)
    emitter.on("other", heard.append)
    emitter.off("anything", heard.append)
    assert (emitter.emit("anything"), emitter.emit("other", 4)) == (False, True)
    emitter.remove_all_listeners("other")
    assert not emitter.emit("other")
    emitter.on("other", heard.append)
    emitter.remove_all_listeners()
    assert not emitter.emit("other")


@pytest.mark.covers("compat.events")
def test_the_facades_emitter_hears_the_graphs_events_and_may_veto(app: ApplicationManager) -> None:
    heard: list[dict[str, object]] = []
    app.events.on("afterDeleteNodes", heard.append)
    app.events.on("beforeBeginTransaction", heard.append)
    app.add_nodes([Node("A", "x")])
    app.delete_nodes(["A", "Z"])
    assert heard == [{}, {}, {"names": ("A",), "deletedCount": 1}]

    def refuse(_: object) -> None:
        raise ValueError("not today")

    app.events.on("beforeAddNodes", refuse)
    with pytest.raises(VetoedError, match="not today"):
        app.add_nodes([Node("A", "x")])
    with pytest.raises(VetoedError):
        app.events.emit("beforeAddNodes", {"nodes": []})


@pytest.mark.covers("compat.facade")
def test_the_facade_has_the_seeds_verbs_and_results(app: ApplicationManager) -> None:
    app.add_nodes([Node("A", "x", ("a",)), {"name": "B", "nodeType": "x", "metadata": ["b"]}])
    app.update_nodes([{"name": "A", "metadata": ["c"]}, {"name": "B", "nodeType": "y"}])
    app.add_metadata("A", ["d", "c"])
    app.delete_metadata("A", ["c", "z"])
    assert app.read_graph().nodes == (Node("A", "x", ("d",)), Node("B", "y", ("b",)))
    app.add_edges([Edge("A", "B", "e"), Edge("A", "B", "f"), Edge("B", "A", "e")])
    app.delete_edges([Edge("A", "B", "f"), EdgeKey("Z", "B", "f")])
    app.delete_edges([EdgeKey("Z", "B", "f")])
    app.delete_nodes(["Z"])
    assert app.get_edges() == (Edge("A", "B", "e"), Edge("B", "A", "e"))
    with pytest.raises(NodeNotFoundError):
        app.add_metadata("Z", ["a"])


@pytest.mark.covers("compat.facade.edges")
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (EdgeFilter(), ["ABe", "BCe", "ACf", "AAe"]),
        (EdgeFilter(from_name="A"), ["ABe", "ACf", "AAe"]),
        (EdgeFilter(to_name="C"), ["BCe", "ACf"]),
        (EdgeFilter(edge_type="e"), ["ABe", "BCe", "AAe"]),
        (EdgeFilter(from_name="A", to_name="C", edge_type="f"), ["ACf"]),
        (EdgeFilter(from_name="A", to_name="C", edge_type="e"), []),
        (EdgeFilter(from_name="Z"), []),
    ],
)
def test_edges_can_be_got_by_any_part_of_their_triple(
    app: ApplicationManager, wanted: EdgeFilter, expected: list[str]
) -> None:
    app.add_nodes([Node(name, "x") for name in "ABC"])
    app.add_edges([Edge(*triple) for triple in ("ABe", "BCe", "ACf", "AAe")])
    assert ["".join(edge.key) for edge in app.get_edges(wanted)] == expected


@pytest.mark.covers("compat.partial")
def test_a_partial_success_says_what_was_done_and_why_the_rest_was_not(clock: Clock) -> None:
    answer = format_partial_success("add_nodes", ["A", "B", "C"], {"B": "exists"}, now=clock)
    assert answer["isError"] is False
    content = answer["content"]
    assert isinstance(content, list)
    assert json.loads(content[0]["text"]) == {
        "data": {
            "partial": True,
            "succeeded": ["A", "C"],
            "failed": [{"item": "B", "reason": "exists"}],
        },
        "actionTaken": "add_nodes: 2 of 3 items done",
        "timestamp": "2026-03-08T09:05:07.000Z",
    }
