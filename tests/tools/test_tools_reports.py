"""Complaints about comparable tools that must not come back: half writes, false successes, text."""

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.tools.conftest import Desk

BILBO = {
    "name": "Bilbo",
    "role": "Thief",
    "status": "Active",
    "currentLocation": "Hobbiton",
    "description": "Small",
}
NODE = {"name": "A", "nodeType": "t", "metadata": ["k: v"]}


@pytest.mark.covers("tools.reports.half-write")
def test_a_failed_add_leaves_nothing_and_works_once_its_target_exists(desk: "Desk") -> None:
    error = desk.fails("add_npc", {"npc": BILBO})
    (problem,) = error["context"]["problems"]
    assert error["error_code"] == "NODE_NOT_FOUND"
    assert problem["path"] == "$.npc.currentLocation"
    assert "Hobbiton" in problem["problem"]
    opened = desk.ok("open_nodes", {"names": ["Bilbo"]})
    assert (opened["notFound"], opened["nodes"], opened["edges"]) == (["Bilbo"], [], [])
    step = problem["suggestion"]
    assert step.startswith("add_location ")
    call, _ = json.JSONDecoder().raw_decode(step.removeprefix("add_location "))
    desk.ok("add_location", call)
    data = desk.ok("add_npc", {"npc": BILBO})
    assert [node["name"] for node in data["nodes"]] == ["Bilbo"]
    assert data["edges"] == [
        {"from": "Bilbo", "to": "Hobbiton", "edgeType": "located_in", "weight": 1}
    ]


@pytest.mark.covers("tools.reports.half-write")
def test_a_misspelt_target_is_told_the_nearest_existing_name(desk: "Desk") -> None:
    for name in ("Rivendell", "Hobbiton", "Mordor"):
        desk.ok("add_location", {"location": {"name": name}})
    error = desk.fails("add_npc", {"npc": {**BILBO, "currentLocation": "hobbiton"}})
    assert error["context"]["problems"][0]["nearest"][0] == "Hobbiton"


@pytest.mark.covers("tools.arguments.missing")
@pytest.mark.parametrize("tool", ["read_graph", "list_schemas", "validate"])
def test_a_call_without_arguments_is_a_call_with_none(desk: "Desk", tool: str) -> None:
    desk.ok("add_nodes", {"nodes": [NODE]})
    ways: list[object] = [None, {}, "{}"]
    answers = [desk.call(tool, given).text for given in ways]
    assert len(set(answers)) == 1
    assert not desk.call(tool, None).is_error


@pytest.mark.covers("tools.reports.false-success")
def test_deleting_what_is_not_there_is_never_confirmed(desk: "Desk") -> None:
    nodes = [{"name": name, "nodeType": "t"} for name in ("Alice", "Bob")]
    desk.ok("add_nodes", {"nodes": nodes})
    edge = {"from": "Alice", "to": "Bob", "edgeType": "knows"}
    desk.ok("add_edges", {"edges": [edge]})
    before = desk.everything()
    error = desk.fails("delete_nodes", {"nodeNames": ["Alcie"]})
    assert error["error_code"] == "NODE_NOT_FOUND"
    assert "Alice" in json.dumps(error)
    assert desk.everything() == before
    data = desk.ok("delete_nodes", {"nodeNames": ["Alice", "Alcie"]})
    assert data == {"deleted": ["Alice"], "notFound": ["Alcie"], "edgesRemoved": 1}
    assert desk.fails("delete_edges", {"edges": [edge]})["error_code"] == "EDGE_NOT_FOUND"


@pytest.mark.covers("tools.reports.text-for-lists")
@pytest.mark.parametrize(
    "arguments",
    [
        {"nodes": json.dumps([NODE])},
        {"nodes": [{**NODE, "metadata": '["k: v"]'}]},
        {"nodes": [json.dumps(NODE)]},
        json.dumps({"nodes": json.dumps([{**NODE, "metadata": '["k: v"]'}])}),
    ],
)
def test_lists_and_objects_that_arrive_as_text_work_as_if_typed(
    desk: "Desk", arguments: object
) -> None:
    assert desk.ok("add_nodes", arguments) == {"nodes": [NODE]}


@pytest.mark.covers("tools.reports.text-for-lists")
def test_an_entity_may_arrive_as_text_with_lists_inside_as_text(desk: "Desk") -> None:
    entity = {"name": "Frodo", "role": "Noble", "status": "Active", "traits": '["brave","kind"]'}
    data = desk.ok("add_npc", {"npc": json.dumps(entity)})
    assert data["nodes"][0]["metadata"][-1] == "Traits: brave, kind"


@pytest.mark.covers("tools.reports.text-for-lists")
@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("delete_nodes", {"nodeNames": "Alice"}, "$.nodeNames"),
        ("add_metadata", {"nodeName": "A", "metadata": "brave"}, "$.metadata"),
        ("add_npc", {"npc": {**BILBO, "currentLocation": "", "traits": "brave"}}, "$.npc.traits"),
    ],
)
def test_text_that_is_no_list_is_an_error_and_never_a_list_of_letters(
    desk: "Desk", tool: str, arguments: dict[str, Any], path: str
) -> None:
    desk.ok("add_nodes", {"nodes": [NODE]})
    before = desk.everything()
    error = desk.fails(tool, arguments)
    assert error["error_code"] == "INVALID_PARAM"
    (problem,) = error["context"]["problems"]
    assert problem["path"] == path
    assert "array" in problem["problem"]
    assert "…" in problem["suggestion"]
    assert desk.everything() == before
