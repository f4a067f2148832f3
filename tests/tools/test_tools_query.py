"""The toolset `graph_query` as a client sees it."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.tools.conftest import Desk, DeskMaker


@pytest.fixture
def road(open_desk: "DeskMaker") -> "Desk":
    """Towns A - B - C - D in a row, a weak short cut from A to D, and three quests."""
    desk = open_desk("rpg", toolsets=("graph", "graph_query"))
    desk.ok("add_nodes", {"nodes": [{"name": n, "nodeType": "town"} for n in "ABCD"]})
    pairs = [("A", "B", 1), ("B", "C", 1), ("C", "D", 1), ("A", "D", 0.1)]
    desk.ok(
        "add_edges",
        {
            "edges": [
                {"from": start, "to": end, "edgeType": "road", "weight": weight}
                for start, end, weight in pairs
            ]
        },
    )
    lines = {"Q1": ["Level: 3"], "Q2": ["Level: 12"], "Q3": ["Level: 7", "Status: open"]}
    quests = [{"name": n, "nodeType": "task", "metadata": m} for n, m in lines.items()]
    desk.ok("add_nodes", {"nodes": quests})
    return desk


def names(data: dict[str, Any]) -> list[str]:
    return [node["name"] for node in data["nodes"]]


@pytest.mark.covers("tools.query.path")
def test_a_path_has_the_fewest_hops_or_the_strongest_edges(road: "Desk") -> None:
    short = road.ok("find_path", {"from": "A", "to": "D"})
    assert (names(short), short["found"], short["cost"]) == (["A", "D"], True, 1)
    strong = road.ok("find_path", {"from": "A", "to": "D", "weighted": True})
    assert (names(strong), strong["cost"]) == (["A", "B", "C", "D"], 0)
    assert [edge["to"] for edge in strong["edges"]] == ["B", "C", "D"]
    none = road.ok("find_path", {"from": "A", "to": "Q1"})
    assert (none["found"], none["nodes"]) == (False, [])
    assert road.fails("find_path", {"from": "A", "to": "X"})["error_code"] == "NODE_NOT_FOUND"


@pytest.mark.covers("tools.query.neighbors")
def test_neighbours_come_with_their_distance(road: "Desk") -> None:
    data = road.ok("get_neighbors", {"name": "A", "depth": 2})
    assert data["distances"] == {"A": 0, "B": 1, "D": 1, "C": 2}
    outward = road.ok("get_neighbors", {"name": "D", "direction": "out"})
    assert names(outward) == ["D"]
    assert road.ok("get_neighbors", {"name": "A", "limit": 1})["truncated"] is True


@pytest.mark.covers("tools.query.nodes")
def test_nodes_are_found_by_conditions_and_sorted(road: "Desk") -> None:
    asked: dict[str, Any] = {"nodeType": "task", "sort": "-level"}
    assert names(road.ok("query_nodes", asked)) == ["Q2", "Q3", "Q1"]
    asked["filters"] = [{"property": "level", "op": "ge", "value": 7}]
    assert names(road.ok("query_nodes", asked)) == ["Q2", "Q3"]
    asked["filters"].append({"property": "status", "op": "exists", "value": "false"})
    assert names(road.ok("query_nodes", asked)) == ["Q2"]
    asked["filters"] = [{"property": "level", "op": "in", "value": "[3, 12]"}]
    assert names(road.ok("query_nodes", asked)) == ["Q2", "Q1"]


@pytest.mark.covers("tools.query.nodes")
def test_queried_nodes_come_in_pages(road: "Desk") -> None:
    found: list[str] = []
    call: dict[str, Any] = {"nodeType": "task", "limit": 1}
    while True:
        data = road.ok("query_nodes", call)
        found += names(data)
        if "nextCursor" not in data:
            break
        call = {**call, "cursor": data["nextCursor"]}
    assert found == ["Q1", "Q2", "Q3"]
    error = road.fails("query_nodes", {**call, "nodeType": "town"})
    assert error["error_code"] == "INVALID_CURSOR"


@pytest.mark.covers("tools.query.nodes")
def test_an_unknown_operator_is_told_with_its_path(road: "Desk") -> None:
    call = {"filters": [{"property": "level", "op": "equals", "value": 1}]}
    error = road.fails("query_nodes", call)
    assert error["context"]["problems"][0]["path"] == "$.filters[0].op"


@pytest.mark.covers("tools.query.stats")
def test_statistics_count_by_type(road: "Desk") -> None:
    data = road.ok("graph_stats")
    assert (data["nodes"], data["edges"]) == (7, 4)
    assert data["nodeTypes"] == [{"type": "town", "count": 4}, {"type": "task", "count": 3}]
    assert data["edgeTypes"] == [{"type": "road", "count": 4}]
    assert "npc" in data["unusedTypes"]
    assert data["unknownTypes"] == ["task", "town"]


@pytest.mark.covers("tools.query.history")
def test_a_nodes_past_is_told_newest_first(road: "Desk") -> None:
    road.ok("update_nodes", {"nodes": [{"name": "Q1", "metadata": ["Level: 4"]}]})
    road.ok("delete_nodes", {"nodeNames": ["Q1"]})
    versions = road.ok("node_history", {"name": "Q1"})["versions"]
    assert [version["operation"] for version in versions] == [
        "delete_nodes",
        "update_nodes",
        "add_nodes",
    ]
    assert versions[0]["deleted"] is True
    assert [version["node"]["metadata"] for version in versions[1:]] == [["Level: 4"], ["Level: 3"]]
    assert {version["author"] for version in versions} == {"tester/1"}


@pytest.mark.covers("tools.query.merge")
def test_merging_moves_edges_and_leaves_one_node(road: "Desk") -> None:
    data = road.ok("merge_nodes", {"from": "D", "into": "B"})
    assert names(data) == ["B"]
    assert (data["movedEdges"], data["mergedEdges"]) == (1, 1)
    assert road.ok("open_nodes", {"names": ["D"]})["notFound"] == ["D"]


@pytest.mark.covers("tools.query.rename")
def test_a_rename_takes_edges_and_relationship_lines_along(road: "Desk") -> None:
    road.ok("add_location", {"location": {"name": "Bree"}})
    bilbo = {"name": "Bilbo", "role": "Thief", "status": "Active", "currentLocation": "Bree"}
    road.ok("add_npc", {"npc": bilbo})
    data = road.ok("rename_node", {"name": "Bree", "newName": "Hobbiton"})
    assert names(data) == ["Hobbiton"]
    assert data["changedNodes"] == ["Bilbo"]
    found = road.ok("open_nodes", {"names": ["Bilbo"]})
    assert "Current Location: Hobbiton" in found["nodes"][0]["metadata"]
    assert found["edges"][0]["to"] == "Hobbiton"


@pytest.mark.covers("tools.query.duplicates")
def test_likely_duplicates_are_grouped(road: "Desk") -> None:
    road.ok(
        "add_nodes", {"nodes": [{"name": n, "nodeType": "x"} for n in ("Data Base", "database")]}
    )
    data = road.ok("find_duplicates", {"nodeType": "x"})
    (group,) = data["groups"]
    assert sorted(group["names"]) == ["Data Base", "database"]
    assert (group["kind"], group["similarity"]) == ("twin", 1)


@pytest.mark.covers("tools.budget.query")
def test_wide_answers_stay_within_the_budget(open_desk: "DeskMaker") -> None:
    desk = open_desk(toolsets=("graph", "graph_query"), response_budget=3_000)
    spokes = [{"name": f"spoke {i:03}", "nodeType": "s"} for i in range(200)]
    desk.ok("add_nodes", {"nodes": [{"name": "hub", "nodeType": "hub"}, *spokes]})
    edges = [{"from": "hub", "to": s["name"], "edgeType": "has"} for s in spokes]
    desk.ok("add_edges", {"edges": edges})
    for i in range(60):
        desk.ok("update_nodes", {"nodes": [{"name": "hub", "metadata": [f"n: {i}" + "x" * 80]}]})
    for tool, arguments in (
        ("get_neighbors", {"name": "hub", "limit": 200}),
        ("query_nodes", {"limit": 200}),
        ("node_history", {"name": "hub", "limit": 100}),
        ("find_duplicates", {"limit": 200}),
        ("graph_stats", {}),
    ):
        reply = desk.call(tool, arguments)
        assert not reply.is_error
        assert len(reply.text.encode()) <= 3_000, tool
