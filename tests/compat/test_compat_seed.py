"""Section 14 of the seed specification, test by test, through the compatibility classes."""

import json
from pathlib import Path

import pytest

from schemory.compat import (
    ApplicationManager,
    EdgeFilter,
    EdgeWeightUtils,
    SchemaBuilder,
    SchemaLoader,
    create_schema_node,
)
from schemory.errors import InvalidParamError, NodeNotFoundError, SchemaFaultError
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import Edge
from schemory.model.moment import Clock
from schemory.model.node import Node
from schemory.schemas.catalog import FolderSource, SchemaCatalog
from schemory.storage.protocols import GraphStore
from schemory.tools.toolbox import ToolSettings, build_toolbox

NPC = {
    "name": "add_npc",
    "description": "A character that no player controls",
    "properties": {
        "name": {"type": "string", "description": "Its name", "required": True},
        "role": {
            "type": "string",
            "description": "Its trade",
            "required": True,
            "enum": ["Warrior", "Wizard", "Merchant", "Noble", "Peasant", "Thief"],
        },
        "status": {
            "type": "string",
            "description": "How it fares",
            "required": True,
            "enum": ["Active", "Inactive", "Deceased", "Missing"],
        },
        "currentLocation": {
            "type": "string",
            "description": "Where it is",
            "required": False,
            "relationship": {"edgeType": "located_in", "nodeType": "location"},
        },
        "traits": {"type": "array", "description": "What it is like", "required": False},
    },
    "additionalProperties": True,
}
GANDALF = {"name": "Gandalf", "role": "Wizard", "status": "Active"}


def write(folder: Path, node_type: str, **changes: object) -> None:
    document = {**NPC, "name": f"add_{node_type}", **changes}
    (folder / f"{node_type}.schema.json").write_text(json.dumps(document), encoding="utf-8")


def places(app: ApplicationManager, *names: str) -> None:
    app.add_nodes([Node(name, "location") for name in names])


# 14.1 Schema loading


@pytest.mark.covers("seed.14.1.load")
def test_a_valid_schema_is_loaded_with_its_properties_and_relationships(tmp_path: Path) -> None:
    write(tmp_path, "npc")
    builder = SchemaLoader(tmp_path).load_schema("npc")
    assert list(builder.schema.properties) == [
        "name",
        "role",
        "status",
        "currentLocation",
        "traits",
    ]
    assert builder.relationships == {
        "currentLocation": {"edgeType": "located_in", "nodeType": "location"}
    }


@pytest.mark.covers("seed.14.1.prefix")
def test_a_schema_without_the_add_prefix_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "npc", name="npc")
    with pytest.raises(SchemaFaultError, match="add_"):
        SchemaLoader(tmp_path).load_schema("npc")


@pytest.mark.covers("seed.14.1.folder")
def test_three_schema_files_are_three_schemas_and_nine_tools(
    store: GraphStore, clock: Clock, tmp_path: Path
) -> None:
    for node_type in ("npc", "ent", "orc"):
        write(tmp_path, node_type)
    schemas = SchemaLoader(tmp_path).load_all_schemas()
    assert sorted(schemas) == ["ent", "npc", "orc"]
    assert all(isinstance(each, SchemaBuilder) for each in schemas.values())
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    graph = KnowledgeGraph(store, space="default", catalog=catalog)
    settings = ToolSettings(toolsets=("graph",))
    from_folder = build_toolbox(graph, catalog, settings, now=clock)
    without = build_toolbox(graph, SchemaCatalog(), settings, now=clock)
    names = {str(tool["name"]) for tool in from_folder.list_tools()}
    dynamic = names - {str(tool["name"]) for tool in without.list_tools()}
    assert sorted(dynamic) == sorted(
        f"{verb}_{node_type}" for verb in ("add", "update", "delete") for node_type in schemas
    )


# 14.2 Dynamic tools


@pytest.mark.covers("seed.14.2.create")
def test_an_npc_is_a_node_with_its_lines() -> None:
    made = create_schema_node(GANDALF, SchemaBuilder.from_document(NPC), "npc")
    assert made.nodes == (Node("Gandalf", "npc", ("Role: Wizard", "Status: Active")),)
    assert made.edges == ()


@pytest.mark.covers("seed.14.2.relationship")
def test_a_relationship_property_makes_an_edge(app: ApplicationManager) -> None:
    args = {**GANDALF, "currentLocation": "Rivendell"}
    made = create_schema_node(args, SchemaBuilder.from_document(NPC), "npc")
    assert made.edges == (Edge("Gandalf", "Rivendell", "located_in", 1.0),)
    places(app, "Rivendell")
    app.add_nodes(made.nodes)
    app.add_edges(made.edges)
    assert app.get_edges() == made.edges
    assert "Current Location: Rivendell" in app.open_nodes(["Gandalf"]).nodes[0].metadata


@pytest.mark.covers("seed.14.2.update")
def test_an_update_moves_the_edge_and_the_line(app: ApplicationManager) -> None:
    places(app, "Rivendell", "Mordor")
    app.graph.add_entity("npc", {**GANDALF, "currentLocation": "Rivendell"})
    app.graph.update_entity("npc", {"name": "Gandalf", "currentLocation": "Mordor"})
    assert app.get_edges() == (Edge("Gandalf", "Mordor", "located_in", 1.0),)
    assert app.open_nodes(["Gandalf"]).nodes[0].metadata == (
        "Role: Wizard",
        "Status: Active",
        "Current Location: Mordor",
    )


@pytest.mark.covers("seed.14.2.delete")
def test_deleting_an_npc_removes_node_and_edges(app: ApplicationManager) -> None:
    places(app, "Rivendell")
    app.graph.add_entity("npc", {**GANDALF, "currentLocation": "Rivendell"})
    app.graph.delete_entity("npc", "Gandalf")
    found = app.read_graph()
    assert [node.name for node in found.nodes] == ["Rivendell"]
    assert found.edges == ()


@pytest.mark.covers("seed.14.2.enum")
def test_a_value_outside_the_enum_is_refused() -> None:
    with pytest.raises(InvalidParamError, match="Wizard"):
        create_schema_node({**GANDALF, "role": "Dragon"}, SchemaBuilder.from_document(NPC), "npc")


# 14.3 Search with neighbours


@pytest.mark.covers("seed.14.3.search")
def test_a_search_returns_neighbours(app: ApplicationManager) -> None:
    app.add_nodes([Node(name, "x") for name in ("Alpha", "Beta", "Gamma")])
    app.add_edges([Edge("Alpha", "Beta", "e")])
    found = app.search_nodes("alpha")
    assert [node.name for node in found.nodes] == ["Alpha", "Beta"]
    assert found.edges == (Edge("Alpha", "Beta", "e"),)


@pytest.mark.covers("seed.14.3.open")
def test_opening_returns_neighbours(app: ApplicationManager) -> None:
    app.add_nodes([Node(name, "x") for name in "ABC"])
    app.add_edges([Edge("A", "B", "e"), Edge("B", "C", "e")])
    found = app.open_nodes(["A"])
    assert [node.name for node in found.nodes] == ["A", "B"]
    assert found.edges == (Edge("A", "B", "e"),)


# 14.4 Transactions


@pytest.mark.covers("seed.14.4.commit")
def test_a_committed_transaction_is_there(app: ApplicationManager) -> None:
    app.begin_transaction()
    app.add_nodes([Node("A", "x"), Node("B", "x")])
    app.add_edges([Edge("A", "B", "e")])
    app.commit()
    assert len(app.read_graph().nodes) == 2
    assert app.get_edges(EdgeFilter(from_name="A")) == (Edge("A", "B", "e"),)


@pytest.mark.covers("seed.14.4.rollback")
def test_a_failed_transaction_is_rolled_back(app: ApplicationManager) -> None:
    app.begin_transaction()
    app.add_nodes([Node("A", "x")])
    with pytest.raises(NodeNotFoundError):
        app.add_edges([Edge("A", "nobody", "e")])
    app.rollback()
    assert app.read_graph().nodes == ()


@pytest.mark.covers("seed.14.4.with-commit")
def test_with_transaction_commits_on_success(app: ApplicationManager) -> None:
    def operation() -> str:
        app.add_nodes([Node("A", "x"), Node("B", "x")])
        app.add_edges([Edge("A", "B", "e")])
        return "done"

    assert app.with_transaction(operation) == "done"
    assert (len(app.read_graph().nodes), len(app.get_edges())) == (2, 1)


@pytest.mark.covers("seed.14.4.with-rollback")
def test_with_transaction_rolls_back_on_an_error(app: ApplicationManager) -> None:
    def operation() -> None:
        app.add_nodes([Node("A", "x")])
        raise KeyError

    with pytest.raises(KeyError):
        app.with_transaction(operation)
    assert app.read_graph().nodes == ()


# 14.5 Weights


@pytest.mark.covers("seed.14.5.default")
def test_an_edge_without_weight_has_weight_one(app: ApplicationManager) -> None:
    assert EdgeWeightUtils.ensure_weight({"from": "A", "to": "B", "edgeType": "e"}).weight == 1.0
    app.add_nodes([Node("A", "x"), Node("B", "x")])
    app.add_edges([{"from": "A", "to": "B", "edgeType": "e"}])
    assert app.get_edges()[0].weight == 1.0


@pytest.mark.covers("seed.14.5.average")
def test_an_update_averages_the_weight(app: ApplicationManager) -> None:
    app.add_nodes([Node("A", "x"), Node("B", "x")])
    app.add_edges([Edge("A", "B", "e", 0.8)])
    app.update_edges([{"from": "A", "to": "B", "edgeType": "e", "newWeight": 0.6}])
    assert app.get_edges()[0].weight == 0.7
    # The seed's own example of a weight's life.
    weight = 1.0
    for evidence, result in ((0.6, 0.8), (0.4, 0.6), (1.0, 0.8)):
        weight = EdgeWeightUtils.update_weight(weight, evidence)
        assert weight == result


@pytest.mark.covers("seed.14.5.range")
def test_a_weight_out_of_range_is_refused(app: ApplicationManager) -> None:
    app.add_nodes([Node("A", "x"), Node("B", "x")])
    with pytest.raises(InvalidParamError):
        app.add_edges([Edge("A", "B", "e", 1.5)])
    with pytest.raises(InvalidParamError):
        EdgeWeightUtils.validate_weight(1.5)
    assert app.get_edges() == ()
