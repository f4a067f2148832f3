"""The eight static tools that write, as a client sees them."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.tools.conftest import Desk, DeskMaker

A = {"name": "A", "nodeType": "t", "metadata": ["k: v"]}
B = {"name": "B", "nodeType": "t", "metadata": []}


def edge(start: str, end: str, kind: str = "knows", **more: Any) -> dict[str, Any]:
    return {"from": start, "to": end, "edgeType": kind, **more}


@pytest.fixture
def pair(desk: "Desk") -> "Desk":
    desk.ok("add_nodes", {"nodes": [A, B]})
    desk.ok("add_edges", {"edges": [edge("A", "B", weight=0.8)]})
    return desk


@pytest.mark.covers("tools.wire.exact-keys", "tools.answers.success")
def test_nodes_come_back_with_exactly_name_type_and_metadata(desk: "Desk") -> None:
    reply = desk.call("add_nodes", {"nodes": [A, {"name": "B", "nodeType": "t"}]})
    assert reply.structured == {
        "data": {"nodes": [A, B]},
        "actionTaken": "Added 2 nodes",
        "timestamp": "2026-03-08T12:00:00.000Z",
    }


@pytest.mark.covers("tools.wire.exact-keys")
def test_an_edge_without_a_weight_shows_one_and_not_one_point_zero(desk: "Desk") -> None:
    desk.ok("add_nodes", {"nodes": [A, B]})
    reply = desk.call("add_edges", {"edges": [edge("A", "B"), edge("A", "A")]})
    assert '"weight":1}' in reply.text
    assert reply.structured["data"] == {
        "edges": [edge("A", "B", weight=1), edge("A", "A", weight=1)]
    }


@pytest.mark.covers("tools.wire.info")
def test_times_revision_and_author_come_only_when_asked_for(pair: "Desk") -> None:
    found = pair.ok("open_nodes", {"names": ["A"], "includeInfo": True})
    beside = {
        "createdAt": "2026-03-08T12:00:00.000Z",
        "updatedAt": "2026-03-08T12:00:00.000Z",
        "revision": 1,
        "author": "tester/1",
    }
    assert found["nodes"] == [{**A, **beside}, {**B, **beside}]
    assert found["edges"] == [{**edge("A", "B", weight=0.8), **beside}]


@pytest.mark.covers("tools.static.atomic")
def test_one_bad_node_keeps_all_out_and_every_problem_is_told(pair: "Desk") -> None:
    before = pair.everything()
    bad = [{"name": "C", "nodeType": "t"}, A, {"name": " ", "nodeType": "t"}]
    error = pair.fails("add_nodes", {"nodes": bad})
    paths = [problem["path"] for problem in error["context"]["problems"]]
    assert paths == ["$.nodes[1].name", "$.nodes[2].name"]
    assert pair.everything() == before


@pytest.mark.covers("tools.static.duplicate-in-call")
def test_the_same_item_twice_in_one_call_is_a_problem(desk: "Desk") -> None:
    error = desk.fails("add_nodes", {"nodes": [A, A]})
    assert error["error_code"] == "DUPLICATE_IN_CALL"
    assert error["context"]["problems"][0]["path"] == "$.nodes[1].name"


@pytest.mark.covers("tools.static.continue-on-error")
def test_a_partial_success_is_marked_and_gives_each_failure_with_its_reason(pair: "Desk") -> None:
    calls = {"nodes": [A, {"name": "C", "nodeType": "t"}], "continueOnError": True}
    data = pair.ok("add_nodes", calls)
    assert [node["name"] for node in data["nodes"]] == ["C"]
    assert data["partial"] is True
    (failed,) = data["failed"]
    assert failed["index"] == 0
    assert failed["problems"][0]["error_code"] == "NODE_EXISTS"


@pytest.mark.covers("tools.static.continue-on-error")
def test_edges_too_may_succeed_in_part(pair: "Desk") -> None:
    edges = [edge("A", "Nobody"), edge("B", "A")]
    data = pair.ok("add_edges", {"edges": edges, "continueOnError": True})
    assert data["edges"] == [edge("B", "A", weight=1)]
    assert data["failed"][0]["index"] == 0
    whole = pair.call("add_nodes", {"nodes": [{"name": "Z", "nodeType": "t"}]})
    assert "partial" not in whole.structured["data"]  # type: ignore[operator]  # an object


@pytest.mark.covers("tools.static.all-problems")
def test_what_is_wrong_by_itself_and_what_the_graph_has_against_it_come_together(
    pair: "Desk",
) -> None:
    told: list[str] = []
    pair.graph.events.subscribe("beforeAddNodes", lambda _: told.append("asked"))
    before = pair.everything()
    nodes = [A, {"name": "C"}, {"name": "D", "nodeType": "t"}, {"name": " D", "nodeType": "t"}, A]
    error = pair.fails("add_nodes", {"nodes": nodes})
    assert [(p["path"], p["error_code"]) for p in error["context"]["problems"]] == [
        ("$.nodes[0].name", "NODE_EXISTS"),
        ("$.nodes[1].nodeType", "INVALID_PARAM"),
        ("$.nodes[3].name", "INVALID_PARAM"),
        ("$.nodes[4].name", "DUPLICATE_IN_CALL"),
        ("$.nodes[4].name", "NODE_EXISTS"),
    ]
    assert "nodes[3].name must not start" in error["context"]["problems"][2]["problem"]
    edges = [edge("A", "B", weight=2), {"from": "A"}, edge("A", "Nobody"), edge("A", "B")]
    error = pair.fails("add_edges", {"edges": edges})
    assert [p["path"] for p in error["context"]["problems"]] == [
        "$.edges[0].weight",
        "$.edges[0]",
        "$.edges[1].to",
        "$.edges[1].edgeType",
        "$.edges[2].to",
        "$.edges[3]",
        "$.edges[3]",
    ]
    assert pair.everything() == before
    assert told == []


@pytest.mark.covers("tools.static.continue-on-error")
def test_an_item_that_cannot_be_read_is_a_failure_like_any_other(pair: "Desk") -> None:
    nodes = [{"name": 5}, {"name": "C", "nodeType": "t"}, A]
    data = pair.ok("add_nodes", {"nodes": nodes, "continueOnError": True})
    assert [node["name"] for node in data["nodes"]] == ["C"]
    assert [failed["index"] for failed in data["failed"]] == [0, 2]
    assert data["failed"][1]["problems"][0]["path"] == "$.nodes[2].name"
    error = pair.fails("add_nodes", {"nodes": [{"name": 5}, A], "continueOnError": True})
    paths = [p["path"] for p in error["context"]["problems"]]
    assert paths == ["$.nodes[0].name", "$.nodes[0].nodeType", "$.nodes[1].name"]


@pytest.mark.covers("tools.static.update-nodes")
def test_an_update_replaces_metadata_whole_and_may_change_the_type(pair: "Desk") -> None:
    change = {"name": "A", "metadata": ["new: line"], "nodeType": "u"}
    data = pair.ok("update_nodes", {"nodes": [change]})
    assert data == {"nodes": [{"name": "A", "nodeType": "u", "metadata": ["new: line"]}]}


@pytest.mark.covers("tools.static.update-nodes")
def test_an_update_of_nothing_or_of_nobody_is_an_error(pair: "Desk") -> None:
    assert pair.fails("update_nodes", {"nodes": [{"name": "A"}]})["error_code"] == (
        "NOTHING_TO_CHANGE"
    )
    error = pair.fails("update_nodes", {"nodes": [{"name": "AA", "nodeType": "u"}]})
    assert error["error_code"] == "NODE_NOT_FOUND"


@pytest.mark.covers("tools.static.expected-revision")
def test_another_revision_than_expected_is_a_conflict(pair: "Desk") -> None:
    change = {"name": "A", "metadata": ["x: y"], "expectedRevision": 1}
    pair.ok("update_nodes", {"nodes": [change]})
    assert pair.fails("update_nodes", {"nodes": [change]})["error_code"] == "CONFLICT"
    weigh = edge("A", "B", weight=1, expectedRevision=7)
    assert pair.fails("update_edges", {"edges": [weigh]})["error_code"] == "CONFLICT"


@pytest.mark.covers("tools.static.delete-nodes")
def test_deleting_lists_what_went_what_was_not_there_and_counts_edges(pair: "Desk") -> None:
    data = pair.ok("delete_nodes", {"nodeNames": ["A", "Nobody"]})
    assert data == {"deleted": ["A"], "notFound": ["Nobody"], "edgesRemoved": 1}


@pytest.mark.covers("tools.static.delete-edges")
def test_deleting_edges_goes_by_the_exact_triple(pair: "Desk") -> None:
    gone, missing = edge("A", "B"), edge("B", "A")
    data = pair.ok("delete_edges", {"edges": [gone, missing]})
    assert data == {"deleted": [gone], "notFound": [missing]}
    assert pair.fails("delete_edges", {"edges": [gone]})["error_code"] == "EDGE_NOT_FOUND"


@pytest.mark.covers("tools.static.update-edges")
@pytest.mark.parametrize("argument", ["weight", "newWeight"])
def test_a_new_weight_is_the_mean_of_old_and_given_under_either_name(
    pair: "Desk", argument: str
) -> None:
    data = pair.ok("update_edges", {"edges": [{**edge("A", "B"), argument: 0.6}]})
    assert data == {"edges": [edge("A", "B", weight=0.7)]}


@pytest.mark.covers("tools.static.update-edges")
def test_weight_and_new_weight_may_agree_but_not_differ(pair: "Desk") -> None:
    agreeing = edge("A", "B", weight=0.6, newWeight=0.6)
    assert pair.ok("update_edges", {"edges": [agreeing]})["edges"][0]["weight"] == 0.7
    error = pair.fails("update_edges", {"edges": [edge("A", "B", weight=0.1, newWeight=0.2)]})
    assert error["context"]["problems"][0]["path"] == "$.edges[0].newWeight"


@pytest.mark.covers("tools.static.update-edges")
def test_a_weight_may_be_set_as_it_is_and_an_edge_may_move(pair: "Desk") -> None:
    change = edge("A", "B", weight=0.2, weightMode="set", newTo="A", newEdgeType="likes")
    data = pair.ok("update_edges", {"edges": [change]})
    assert data == {"edges": [edge("A", "A", "likes", weight=0.2)]}
    assert pair.fails("update_edges", {"edges": [edge("A", "A", "likes")]})["error_code"] == (
        "NOTHING_TO_CHANGE"
    )


@pytest.mark.covers("tools.static.weight-strict")
@pytest.mark.parametrize("weight", [1.5, -0.1, True, "0.5", "heavy", None, float("nan")])
def test_a_weight_that_is_no_number_from_zero_to_one_is_refused(
    desk: "Desk", weight: object
) -> None:
    desk.ok("add_nodes", {"nodes": [A, B]})
    call = {"edges": [edge("A", "B", weight=weight)]}
    if weight is None:  # null is the same as not given
        assert desk.ok("add_edges", call)["edges"] == [edge("A", "B", weight=1)]
        return
    assert desk.fails("add_edges", call)["error_code"] == "INVALID_PARAM"
    assert desk.everything()[1] == ()


@pytest.mark.covers("tools.static.metadata")
def test_lines_are_appended_once_and_removed_by_exact_text(pair: "Desk") -> None:
    data = pair.ok("add_metadata", {"nodeName": "A", "metadata": ["k: v", "n: 1", "m: 2"]})
    assert data == {"added": ["n: 1", "m: 2"], "alreadyThere": ["k: v"]}
    data = pair.ok("delete_metadata", {"nodeName": "A", "metadata": ["n: 1", "N: 1"]})
    assert data == {"removed": ["n: 1"], "notThere": ["N: 1"]}
    (node,) = pair.ok("open_nodes", {"names": ["A"], "neighbors": False})["nodes"]
    assert node["metadata"] == ["k: v", "m: 2"]


@pytest.mark.covers("tools.dialect.metadata")
def test_the_old_servers_metadata_calls_are_understood(pair: "Desk") -> None:
    old = {
        "metadata": [
            {"nodeName": "A", "contents": ["k: v", "x: 1"]},
            {"nodeName": "B", "contents": ["y: 2"]},
        ]
    }
    data = pair.ok("add_metadata", old)
    assert data == {
        "added": ["x: 1", "y: 2"],
        "alreadyThere": ["k: v"],
        "results": [
            {"nodeName": "A", "added": ["x: 1"], "alreadyThere": ["k: v"]},
            {"nodeName": "B", "added": ["y: 2"], "alreadyThere": []},
        ],
    }
    data = pair.ok("delete_metadata", {"deletions": [{"nodeName": "B", "metadata": ["y: 2"]}]})
    assert data["removed"] == ["y: 2"]
    assert data["results"] == [{"nodeName": "B", "removed": ["y: 2"], "notThere": []}]


@pytest.mark.covers("tools.dialect.metadata")
def test_a_mistake_in_the_old_dialect_is_told_in_its_own_terms(pair: "Desk") -> None:
    error = pair.fails("add_metadata", {"metadata": [{"nodeName": "A", "content": ["x"]}]})
    paths = [problem["path"] for problem in error["context"]["problems"]]
    assert paths == ["$.metadata[0].content", "$.metadata[0].contents"]
    error = pair.fails("add_metadata", {"metadata": [{"nodeName": "Q", "contents": ["x"]}]})
    assert error["context"]["problems"][0]["path"] == "$.metadata[0].nodeName"


@pytest.mark.covers("tools.dialect.discriminator")
def test_the_record_type_of_old_files_and_prompts_is_accepted(desk: "Desk") -> None:
    nodes = [{"type": "node", **A}, {"type": "node", **B}]
    assert desk.ok("add_nodes", {"nodes": nodes}) == {"nodes": [A, B]}
    desk.ok("add_edges", {"edges": [{"type": "edge", **edge("A", "B")}]})


@pytest.mark.covers("tools.static.stale-lines")
def test_a_delete_that_leaves_a_line_naming_the_node_says_where(middle_earth: "Desk") -> None:
    data = middle_earth.ok("delete_nodes", {"nodeNames": ["Rivendell"]})
    assert data["staleLines"] == [{"node": "Gandalf", "line": "Current Location: Rivendell"}]


@pytest.mark.covers("tools.answers.warnings")
def test_a_name_that_differs_only_by_case_is_stored_with_a_warning(pair: "Desk") -> None:
    data = pair.ok("add_nodes", {"nodes": [{"name": "a", "nodeType": "t"}]})
    (warning,) = data["warnings"]
    assert '"A"' in warning


@pytest.mark.covers("tools.arguments.allow-secret")
def test_a_credential_is_refused_and_stored_only_when_allowed(desk: "Desk") -> None:
    token = "ghp_" + "a1B2" * 9
    nodes = [{"name": "CI", "nodeType": "t", "metadata": [f"Token: {token}"]}]
    error = desk.call("add_nodes", {"nodes": nodes})
    assert error.structured["error_code"] == "SECRET_DETECTED"
    assert token not in error.text
    assert "allowSecret" in error.text
    assert desk.ok("add_nodes", {"nodes": nodes, "allowSecret": True})["warnings"]


@pytest.mark.covers("tools.budget.writes")
def test_a_large_write_is_stored_whole_and_answered_within_the_budget(
    open_desk: "DeskMaker",
) -> None:
    desk = open_desk(response_budget=4_000)
    nodes = [{"name": f"node {i:03}", "nodeType": "t", "metadata": ["x" * 50]} for i in range(300)]
    reply = desk.call("add_nodes", {"nodes": nodes})
    data = reply.structured["data"]
    assert isinstance(data, dict)
    assert len(reply.text.encode()) <= 4_000
    assert reply.structured["actionTaken"] == "Added 300 nodes"
    assert data["omitted"] == {"nodes": 300 - len(data["nodes"])}
    assert len(desk.everything()[0]) == 300


@pytest.mark.covers("tools.arguments.project")
def test_another_project_is_taken_only_where_it_is_allowed(
    desk: "Desk", open_desk: "DeskMaker"
) -> None:
    error = desk.fails("add_nodes", {"nodes": [A], "project_id": "other"})
    assert "--allow-cross-project" in str(error["suggestions"])
    assert "project_id" not in desk.listed("add_nodes")["inputSchema"]["properties"]
    free = open_desk("rpg", allow_cross_project=True)
    free.ok("add_nodes", {"nodes": [A], "project_id": "other"})
    assert free.ok("read_graph") == {"nodes": [], "edges": []}
    assert free.ok("read_graph", {"project_id": "other"})["nodes"] == [A]
    assert free.ok("read_graph", {"project_id": "unknown"})["nodes"] == []
    for bad in (" ", "x" * 201, "a\0b"):
        assert free.fails("read_graph", {"project_id": bad})["error_code"] == "INVALID_PARAM"


@pytest.mark.covers("tools.arguments.project")
def test_graph_tools_take_a_project_and_schema_tools_do_not(open_desk: "DeskMaker") -> None:
    free = open_desk("rpg", allow_cross_project=True, toolsets=("graph", "graph_query", "admin"))
    without = {
        str(tool["name"])
        for tool in free.toolbox.list_tools()
        if "project_id" not in tool["inputSchema"]["properties"]  # type: ignore[index,operator,call-overload]  # an object
    }
    assert without == {"list_schemas", "describe_schema", "define_schema", "remove_schema"}
