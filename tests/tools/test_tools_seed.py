"""The specification's own behaviour tests (G§14), and real schema folders, through the tools."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.tools.conftest import Desk, DeskMaker

NPC = {
    "name": "add_npc",
    "description": "A character",
    "properties": {
        "name": {"type": "string", "description": "Its name", "required": True},
        "currentLocation": {
            "type": "string",
            "description": "Where it is",
            "relationship": {"edgeType": "located_in", "nodeType": "location"},
        },
    },
}
GANDALF = {"name": "Gandalf", "role": "Wizard", "status": "Active"}


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.schema.json").write_text(json.dumps({**NPC, "name": name}))


@pytest.mark.covers("tools.seed.14.1")
def test_a_valid_schema_has_its_properties_and_relationships(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    write(tmp_path, "add_npc")
    schema = open_desk(folders=(tmp_path,)).ok("describe_schema", {"nodeType": "npc"})["schema"]
    assert list(schema["properties"]) == ["name", "currentLocation"]
    relationship = schema["properties"]["currentLocation"]["relationship"]
    assert (relationship["edgeType"], relationship["nodeType"]) == ("located_in", "location")


@pytest.mark.covers("tools.seed.14.1")
def test_a_schema_without_the_prefix_is_refused(open_desk: "DeskMaker", tmp_path: Path) -> None:
    write(tmp_path, "npc")
    data = open_desk(folders=(tmp_path,)).ok("list_schemas")
    assert data["schemas"] == []
    assert "add_" in json.dumps(data["faults"])


@pytest.mark.covers("tools.seed.14.1")
def test_three_schema_files_bring_nine_tools(open_desk: "DeskMaker", tmp_path: Path) -> None:
    before = len(open_desk().names())
    write(tmp_path, "add_npc", "add_location", "add_artifact")
    assert len(open_desk(folders=(tmp_path,)).names()) - before == 9


@pytest.mark.covers("tools.seed.14.2")
def test_create_node_via_schema_tool(desk: "Desk") -> None:
    (node,) = desk.ok("add_npc", {"npc": GANDALF})["nodes"]
    assert node["metadata"] == ["Role: Wizard", "Status: Active"]


@pytest.mark.covers("tools.seed.14.2")
def test_create_update_and_delete_with_a_relationship_property(desk: "Desk") -> None:
    for place in ("Rivendell", "Mordor"):
        desk.ok("add_location", {"location": {"name": place}})
    located = {"from": "Gandalf", "edgeType": "located_in", "weight": 1}
    created = desk.ok("add_npc", {"npc": {**GANDALF, "currentLocation": "Rivendell"}})
    assert created["edges"] == [{**located, "to": "Rivendell"}]
    desk.ok("update_npc", {"npc": {"name": "Gandalf", "currentLocation": "Mordor"}})
    opened = desk.ok("open_nodes", {"names": ["Gandalf"]})
    assert opened["edges"] == [{**located, "to": "Mordor"}]
    assert "Current Location: Mordor" in opened["nodes"][0]["metadata"]
    assert "Current Location: Rivendell" not in opened["nodes"][0]["metadata"]
    desk.ok("delete_npc", {"npc": {"name": "Gandalf"}})
    left = desk.ok("read_graph")
    assert [node["name"] for node in left["nodes"]] == ["Rivendell", "Mordor"]
    assert left["edges"] == []


@pytest.mark.covers("tools.seed.14.2")
def test_a_value_outside_the_enum_is_refused(desk: "Desk") -> None:
    error = desk.fails("add_npc", {"npc": {**GANDALF, "role": "Dragon"}})
    assert error["context"]["problems"][0]["path"] == "$.npc.role"


@pytest.fixture
def row(desk: "Desk") -> "Desk":
    desk.ok("add_nodes", {"nodes": [{"name": n, "nodeType": "t"} for n in "ABC"]})
    pairs = [("A", "B"), ("B", "C")]
    edges = [{"from": start, "to": end, "edgeType": "to"} for start, end in pairs]
    desk.ok("add_edges", {"edges": edges})
    return desk


@pytest.mark.covers("tools.seed.14.3")
@pytest.mark.parametrize(
    ("tool", "arguments"), [("search_nodes", {"query": "A"}), ("open_nodes", {"names": ["A"]})]
)
def test_search_and_open_return_immediate_neighbours(
    row: "Desk", tool: str, arguments: dict[str, Any]
) -> None:
    data = row.ok(tool, arguments)
    assert [node["name"] for node in data["nodes"]] == ["A", "B"]
    assert [(edge["from"], edge["to"]) for edge in data["edges"]] == [("A", "B")]


@pytest.mark.covers("tools.seed.14.4")
def test_a_tool_call_is_one_transaction(desk: "Desk") -> None:
    error = desk.fails("add_npc", {"npc": {**GANDALF, "currentLocation": "Nowhere"}})
    assert error["error_code"] == "NODE_NOT_FOUND"
    assert desk.everything() == ((), ())
    desk.ok("add_location", {"location": {"name": "Nowhere"}})
    desk.ok("add_npc", {"npc": {**GANDALF, "currentLocation": "Nowhere"}})
    nodes, edges = desk.everything()
    assert (len(nodes), len(edges)) == (2, 1)


@pytest.mark.covers("tools.seed.14.5")
def test_weights_default_to_one_are_averaged_and_stay_in_range(row: "Desk") -> None:
    key = {"from": "A", "to": "B", "edgeType": "to"}
    edges = row.ok("read_graph")["edges"]
    assert edges[0]["weight"] == 1
    row.ok("update_edges", {"edges": [{**key, "weight": 0.8, "weightMode": "set"}]})
    assert row.ok("update_edges", {"edges": [{**key, "weight": 0.6}]})["edges"][0]["weight"] == 0.7
    wrong = {**key, "edgeType": "other", "weight": 1.5}
    assert row.fails("add_edges", {"edges": [wrong]})["error_code"] == "INVALID_PARAM"


def example(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """An entity with every property of an advertised schema."""
    entity: dict[str, Any] = {}
    for key, prop in schema["properties"].items():
        text = prop["enum"][0] if "enum" in prop else f"some {key}"
        items = [text, "another"] if "enum" not in prop else [text]
        entity[key] = {"string": text, "array": items}.get(prop["type"], 1)
    return {**entity, "name": name}


@pytest.mark.covers("tools.seed.folders")
@pytest.mark.parametrize(
    ("folder", "count"), [("memorymesh", 11), ("japanese", 11), ("old-crlf", 11)]
)
def test_the_tools_of_a_real_folder_add_update_and_delete(
    open_desk: "DeskMaker", folder: str, count: int
) -> None:
    desk = open_desk(folders=(folder,))
    types = [schema["nodeType"] for schema in desk.ok("list_schemas")["schemas"]]
    assert len(types) == count
    assert len(desk.names()) == 14 + 3 * count
    for node_type in types:
        advertised = desk.listed(f"add_{node_type}")["inputSchema"]["properties"][node_type]
        entity = example(advertised, f"the {node_type}")
        related = desk.graph.catalog.get(node_type)
        assert related is not None
        targets = [key for key, prop in related.properties.items() if prop.relationship]
        names = {
            x
            for key in targets
            for x in ([entity[key]] if isinstance(entity[key], str) else entity[key])
        }
        nodes = [{"name": name, "nodeType": "thing"} for name in sorted(names)]
        desk.call(
            "add_nodes",
            {"nodes": nodes or [{"name": "x", "nodeType": "y"}], "continueOnError": True},
        )
        added = desk.ok(f"add_{node_type}", {node_type: entity})
        assert added["nodes"][0]["name"] == f"the {node_type}"
        assert bool(added["edges"]) == bool(targets)
        change = {"name": f"the {node_type}", "note": "seen"}
        changed = desk.ok(f"update_{node_type}", {node_type: change})
        assert changed["nodes"][0]["metadata"][-1] == "Note: seen"
        gone = desk.ok(f"delete_{node_type}", {node_type: {"name": f"the {node_type}"}})
        assert gone["edgesRemoved"] == len(added["edges"])


@pytest.mark.covers("tools.seed.folders")
def test_japanese_schemas_work_in_japanese(open_desk: "DeskMaker") -> None:
    desk = open_desk(folders=("japanese",))
    city = {"name": "東京", "type": "都市", "description": "首都", "status": "繁栄"}
    desk.ok("add_location", {"location": city})
    required = desk.listed("add_npc")["inputSchema"]["properties"]["npc"]
    npc = {key: example(required, "")[key] for key in required["required"]}
    npc |= {"name": "ケン", "currentLocation": "東京", "voice": ["だぜ", "だよ"]}
    data = desk.ok("add_npc", {"npc": npc})
    assert [(edge["to"], edge["edgeType"]) for edge in data["edges"]] == [("東京", "located_in")]
    assert "Voice: だぜ, だよ" in data["nodes"][0]["metadata"]
    del npc["voice"]
    error = desk.fails("add_npc", {"npc": {**npc, "name": "別"}})
    assert [p["path"] for p in error["context"]["problems"]] == ["$.npc.voice"]
    for query in ("京", "首都"):
        assert "東京" in desk.ok("search_nodes", {"query": query})["matched"]
    desk.fails("update_npc", {"npc": {"name": "ケン", "voice": []}})
    desk.ok("update_npc", {"npc": {"name": "ケン", "traits": []}})
