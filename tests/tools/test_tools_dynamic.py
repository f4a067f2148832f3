"""The generated tools and their generic twins."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import ToolNotFoundError
from schemory.tools.profiles import Profile

if TYPE_CHECKING:
    from tests.tools.conftest import Desk, DeskMaker

GANDALF = {"name": "Gandalf", "role": "Wizard", "status": "Active"}
AS_STORED = {
    "name": "Gandalf",
    "nodeType": "npc",
    "metadata": ["Role: Wizard", "Status: Active", "Current Location: Rivendell"],
}
LOCATED = {"from": "Gandalf", "to": "Rivendell", "edgeType": "located_in", "weight": 1}


@pytest.mark.covers("tools.dynamic.add", "tools.answers.action")
def test_adding_by_type_makes_the_node_and_its_edge(desk: "Desk") -> None:
    desk.ok("add_location", {"location": {"name": "Rivendell"}})
    reply = desk.call("add_npc", {"npc": {**GANDALF, "currentLocation": "Rivendell"}})
    assert reply.structured["data"] == {"nodes": [AS_STORED], "edges": [LOCATED]}
    assert reply.structured["actionTaken"] == "Created npc: Gandalf"


@pytest.mark.covers("tools.dynamic.add")
def test_adding_without_relationships_makes_the_specified_lines(desk: "Desk") -> None:
    data = desk.ok("add_npc", {"npc": GANDALF})
    assert data["nodes"][0]["metadata"] == ["Role: Wizard", "Status: Active"]
    assert data["edges"] == []


@pytest.mark.covers("tools.dynamic.update", "tools.answers.action")
def test_an_update_answers_node_edges_and_removed_edges(middle_earth: "Desk") -> None:
    change = {"npc": {"name": "Gandalf", "currentLocation": "Mordor"}}
    reply = middle_earth.call("update_npc", change)
    moved = [*AS_STORED["metadata"][:2], "Current Location: Mordor"]
    assert reply.structured["data"] == {
        "nodes": [{**AS_STORED, "metadata": moved}],
        "edges": [{**LOCATED, "to": "Mordor"}],
        "removedEdges": [LOCATED],
    }
    assert reply.structured["actionTaken"] == "Updated npc: Gandalf"
    edges = middle_earth.ok("open_nodes", {"names": ["Gandalf"]})["edges"]
    assert {edge["edgeType"] for edge in edges} == {"rides", "located_in"}


@pytest.mark.covers("tools.dynamic.delete", "tools.answers.action")
def test_a_delete_answers_what_went_and_how_many_edges(middle_earth: "Desk") -> None:
    reply = middle_earth.call("delete_npc", {"npc": {"name": "Gandalf"}})
    assert reply.structured["data"] == {"deleted": ["Gandalf"], "notFound": [], "edgesRemoved": 2}
    assert reply.structured["actionTaken"] == "Deleted npc: Gandalf"
    error = middle_earth.fails("delete_npc", {"npc": {"name": "Rivendell"}})
    assert error["error_code"] == "WRONG_TYPE"


@pytest.mark.covers("tools.dynamic.all-problems")
def test_every_problem_of_the_properties_comes_with_its_path(desk: "Desk") -> None:
    wrong = {"role": "Wizzard", "status": 5, "traits": "brave", "metadata": ["x: y"]}
    error = desk.fails("add_npc", {"npc": wrong})
    problems = {problem["path"]: problem for problem in error["context"]["problems"]}
    assert set(problems) == {
        "$.npc.name",
        "$.npc.role",
        "$.npc.status",
        "$.npc.traits",
        "$.npc.metadata",
    }
    assert problems["$.npc.role"]["nearest"] == ["Wizard"]
    assert desk.everything() == ((), ())


@pytest.mark.covers("tools.dialect.wrappers")
@pytest.mark.parametrize("text", [False, True])
def test_the_old_servers_wrappers_are_accepted(middle_earth: "Desk", *, text: bool) -> None:
    def given_as(entity: dict[str, Any]) -> object:
        return json.dumps(entity) if text else entity

    change = given_as({"name": "Gandalf", "status": "Missing"})
    middle_earth.ok("update_npc", {"update_npc": change})
    middle_earth.ok("delete_npc", {"delete_npc": given_as({"name": "Gandalf"})})


@pytest.mark.covers("tools.dialect.wrappers")
def test_two_wrappers_at_once_are_an_error(middle_earth: "Desk") -> None:
    both = {"npc": {"name": "Gandalf"}, "delete_npc": {"name": "Gandalf"}}
    error = middle_earth.fails("delete_npc", both)
    assert error["error_code"] == "INVALID_PARAM"
    assert "npc and delete_npc" in error["error"]
    assert middle_earth.ok("open_nodes", {"names": ["Gandalf"]})["notFound"] == []


@pytest.mark.covers("tools.dynamic.wrapper")
def test_properties_without_their_wrapper_are_refused_with_the_right_form(desk: "Desk") -> None:
    error = desk.fails("add_npc", GANDALF)
    assert error["context"]["problemCount"] == 1
    assert '{"npc": {"name": "…"}}' in error["suggestions"][0]


@pytest.mark.covers("tools.dynamic.wrapper")
@pytest.mark.parametrize("arguments", [None, {}, {"npc": 5}, {"npc": "x"}, {"npc": []}, {"n": {}}])
def test_a_call_without_an_entity_is_refused(desk: "Desk", arguments: object) -> None:
    assert desk.fails("add_npc", arguments)["error_code"] == "INVALID_PARAM"


@pytest.mark.covers("tools.dynamic.input-schema")
def test_the_advertised_schema_is_the_specified_one(desk: "Desk") -> None:
    def advertised(tool: str) -> dict[str, Any]:
        schema = dict(desk.listed(tool)["inputSchema"])
        assert schema["required"] == ["npc"]
        assert list(schema["properties"]) == ["npc"]
        return dict(schema["properties"]["npc"])

    add, update, delete = (advertised(f"{verb}_npc") for verb in ("add", "update", "delete"))
    keys = ["name", "role", "status", "currentLocation", "description", "traits"]
    assert list(add["properties"]) == keys
    assert list(update["properties"]) == keys
    assert add["required"] == ["name", "role", "status"]
    assert update["required"] == delete["required"] == ["name"]
    assert list(delete["properties"]) == ["name"]
    assert add["properties"]["traits"]["items"] == {"type": "string"}
    assert add["properties"]["status"]["enum"] == ["Active", "Inactive", "Deceased", "Missing"]


@pytest.mark.covers("tools.static.expected-revision")
@pytest.mark.parametrize("inside", [False, True])
def test_a_typed_update_may_expect_a_revision(middle_earth: "Desk", *, inside: bool) -> None:
    def change(revision: object) -> dict[str, Any]:
        entity: dict[str, Any] = {"name": "Gandalf", "status": "Missing"}
        if inside:
            return {"npc": {**entity, "expectedRevision": revision}}
        return {"npc": entity, "expectedRevision": revision}

    assert middle_earth.fails("update_npc", change(9))["error_code"] == "CONFLICT"
    assert middle_earth.fails("update_npc", change("x"))["error_code"] == "INVALID_PARAM"
    lines = middle_earth.ok("update_npc", change(1))["nodes"][0]["metadata"]
    assert not any("Revision" in line for line in lines)


@pytest.mark.covers("tools.dynamic.type-named-project")
def test_a_type_named_like_an_argument_still_has_its_tools(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    schema = {"name": "add_project_id", "description": "d", "properties": {}}
    (tmp_path / "x.schema.json").write_text(json.dumps(schema))
    desk = open_desk(folders=(tmp_path,), allow_cross_project=True)
    data = desk.ok("add_project_id", {"project_id": {"name": "P"}})
    assert data["nodes"] == [{"name": "P", "nodeType": "project_id", "metadata": []}]


# The generic twins


@pytest.mark.covers("tools.twins.same")
def test_the_twins_create_change_and_delete(compact_desk: "Desk") -> None:
    place = {"nodeType": "location", "name": "Rivendell"}
    compact_desk.ok("add_node", place)
    call = {"nodeType": "npc", "name": "Gandalf"}
    given = {"role": "Wizard", "status": "Active", "currentLocation": "Rivendell"}
    reply = compact_desk.call("add_node", {**call, "properties": given})
    assert reply.structured["data"] == {"nodes": [AS_STORED], "edges": [LOCATED]}
    assert reply.structured["actionTaken"] == "Created npc: Gandalf"
    change = {**call, "properties": {"currentLocation": None}}
    assert compact_desk.ok("update_node", change)["removedEdges"] == [LOCATED]
    assert compact_desk.ok("delete_node", call)["deleted"] == ["Gandalf"]


@pytest.mark.covers("tools.twins.name")
def test_the_name_may_also_stand_among_the_properties(compact_desk: "Desk") -> None:
    compact_desk.ok("add_node", {"nodeType": "location", "properties": {"name": "Bree"}})
    same = {"nodeType": "location", "name": "Bree", "properties": {"name": "Bree", "region": "R"}}
    compact_desk.ok("update_node", same)
    error = compact_desk.fails("update_node", {**same, "name": "Other"})
    assert error["context"]["problems"][0]["path"] == "$.properties.name"
    error = compact_desk.fails("update_node", {**same, "name": "Other", "properties": {"x": "y"}})
    assert error["context"]["problems"][0]["path"] == "$.name"


@pytest.mark.covers("tools.twins.unknown-type")
def test_an_unknown_type_is_told_the_nearest(compact_desk: "Desk") -> None:
    for tool in ("add_node", "update_node", "delete_node"):
        error = compact_desk.fails(tool, {"nodeType": "locaton", "name": "X"})
        assert error["error_code"] == "UNKNOWN_TYPE"
        assert error["context"]["problems"][0]["nearest"] == ["location"]


@pytest.mark.covers("tools.twins.next-step")
def test_next_steps_use_the_tools_that_are_listed(compact_desk: "Desk") -> None:
    given = {"role": "Thief", "status": "Active", "currentLocation": "Hobbiton"}
    error = compact_desk.fails(
        "add_node", {"nodeType": "npc", "name": "Bilbo", "properties": given}
    )
    step = error["suggestions"][0]
    assert step.startswith('add_node {"nodeType":"location","properties":{"name":"Hobbiton"}}')
    call, _ = json.JSONDecoder().raw_decode(step.removeprefix("add_node "))
    compact_desk.ok("add_node", call)


@pytest.mark.covers("tools.profiles.compact")
def test_a_generated_tool_is_unknown_where_it_is_not_listed(compact_desk: "Desk") -> None:
    with pytest.raises(ToolNotFoundError) as caught:
        compact_desk.call("add_npc", {"npc": GANDALF})
    assert "add_node" in caught.value.suggestions[0]


NAMES = st.sampled_from(["Gandalf", "Bilbo", "Rivendell", "Bree", "", " x", "a\0", "É", "É"])
VALUES = st.one_of(
    NAMES,
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([1.5, 3.0, [], ["brave"], ["a", "b, c"], [1], [None], {}, {"a": 1}]),
    st.sampled_from(["Wizard", "wizard", "Active", '["brave","wise"]', "[", " "]),
)
KEYS = st.sampled_from(
    (
        *("name", "role", "status", "currentLocation", "current_location", "traits", "Traits"),
        *("extra", "metadata", "region", "a b", "x: y"),
    )
)
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["add", "update", "delete"]),
        st.sampled_from(["npc", "location", "quest"]),
        NAMES,
        st.dictionaries(KEYS, VALUES, max_size=4),
        st.booleans(),
    ),
    max_size=8,
)


@pytest.mark.covers("tools.twins.same")
@given(calls=CALLS)
def test_generated_tools_and_twins_give_the_same_answers(
    open_desk: "DeskMaker", calls: list[tuple[str, str, str, dict[str, Any], bool]]
) -> None:
    full, compact = open_desk("rpg"), open_desk("rpg", profile=Profile.COMPACT)
    for verb, node_type, name, properties, is_whole in calls:
        whole = {"role": "Wizard", "status": "Active"} if is_whole and node_type == "npc" else {}
        given = {**whole, **properties, "name": name}
        typed = full.call(f"{verb}_{node_type}", {node_type: given})
        generic = compact.call(
            f"{verb}_node",
            {"nodeType": node_type, "properties": given}
            if not name
            else {"nodeType": node_type, "name": name, "properties": given},
        )
        assert told(typed.structured, f"$.{node_type}") == told(generic.structured, "$.properties")
    assert full.everything() == compact.everything()


def told(structured: Any, path: str) -> dict[str, Any]:
    """Return an answer without what says where in the call something stood."""
    if "error" not in structured:
        text = json.dumps(structured)
        return dict(json.loads(text.replace(f'"{path.removeprefix("$.")}.', '"properties.')))
    problems = [
        (p["path"].removeprefix(path).removeprefix("$"), p["error_code"], p.get("nearest"))
        for p in structured["context"]["problems"]
    ]
    return {"code": structured["error_code"], "problems": problems}
