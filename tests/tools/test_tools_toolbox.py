"""The tool list as a whole: profiles, price, strict hosts, instructions, unknown tools."""

import itertools
import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from schemory.errors import InvalidParamError, ToolNotFoundError
from schemory.model.events import BeforeDeleteNodes
from schemory.tools.lint import lint_tools
from schemory.tools.profiles import Profile
from schemory.tools.registry import Caller
from schemory.tools.toolbox import ToolSettings, build_toolbox

if TYPE_CHECKING:
    from tests.tools.conftest import Desk, DeskMaker

STATIC = {
    *("add_nodes", "update_nodes", "delete_nodes", "add_edges", "update_edges", "delete_edges"),
    *("add_metadata", "delete_metadata", "read_graph", "search_nodes", "open_nodes"),
}
SCHEMA_TOOLS = {"list_schemas", "describe_schema", "validate"}
TWINS = {"add_node", "update_node", "delete_node"}
QUERY = {
    *("find_path", "get_neighbors", "query_nodes", "graph_stats", "node_history", "merge_nodes"),
    *("rename_node", "find_duplicates"),
}
SCHEMA_SETS: dict[str, dict[str, Any]] = {
    "none": {},
    "rpg": {"packs": ("rpg",)},
    "software": {"packs": ("software",)},
    "both packs": {"packs": ("rpg", "software")},
    "memorymesh": {"folders": ("memorymesh",)},
    "japanese": {"folders": ("japanese",)},
    "old-crlf": {"folders": ("old-crlf",)},
}
TOOLSETS = [
    ("graph",),
    ("graph", "graph_query"),
    ("graph", "graph_query", "admin"),
    ("graph_query",),
]


def open_set(open_desk: "DeskMaker", name: str, **settings: Any) -> "Desk":
    chosen = dict(SCHEMA_SETS[name])
    return open_desk(*chosen.pop("packs", ()), **chosen, **settings)


@pytest.mark.covers("tools.lint")
@pytest.mark.parametrize("schemas", SCHEMA_SETS)
def test_every_tool_of_every_configuration_passes_the_strict_host_lint(
    open_desk: "DeskMaker", schemas: str
) -> None:
    base = open_set(open_desk, schemas)
    for profile, toolsets, crosses in itertools.product(Profile, TOOLSETS, (False, True)):
        settings = {"toolsets": toolsets, "allow_cross_project": crosses, "profile": profile}
        desk = open_desk(beside=base, **settings)
        assert lint_tools(desk.toolbox.list_tools()) == ()
        assert desk.toolbox.faults() == ()


@pytest.mark.covers("tools.lint")
@pytest.mark.parametrize("profile", [Profile.FULL, Profile.COMPACT])
def test_every_advertised_schema_is_a_json_schema(open_desk: "DeskMaker", profile: Profile) -> None:
    desk = open_desk("rpg", toolsets=TOOLSETS[2], allow_cross_project=True, profile=profile)
    for tool in desk.toolbox.list_tools():
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])


@pytest.mark.covers("tools.list.stable")
def test_the_list_is_sorted_and_byte_identical_between_calls(desk: "Desk") -> None:
    first = json.dumps(desk.toolbox.list_tools())
    assert json.dumps(desk.toolbox.list_tools()) == first
    assert desk.names() == sorted(desk.names())


@pytest.mark.covers("tools.list.annotations")
def test_each_tool_says_whether_it_reads_writes_or_destroys(open_desk: "DeskMaker") -> None:
    desk = open_desk("rpg", toolsets=("graph", "graph_query", "admin"))
    hints: dict[str, Any] = {str(t["name"]): t["annotations"] for t in desk.toolbox.list_tools()}
    reading = {name for name, hint in hints.items() if hint["readOnlyHint"]}
    destroying = {name for name, hint in hints.items() if hint["destructiveHint"]}
    assert reading == SCHEMA_TOOLS | {"read_graph", "search_nodes", "open_nodes"} | (
        QUERY - {"merge_nodes", "rename_node"}
    )
    assert destroying == {n for n in hints if n.startswith("delete_")} | {
        "merge_nodes",
        "remove_schema",
    }
    assert not any(hint["openWorldHint"] for hint in hints.values())


@pytest.mark.covers("tools.profiles.full")
def test_the_full_profile_has_three_tools_for_each_schema(desk: "Desk") -> None:
    types = desk.graph.catalog.types()
    assert len(types) == 11
    generated = {f"{verb}_{t}" for verb in ("add", "update", "delete") for t in types}
    assert set(desk.names()) == STATIC | SCHEMA_TOOLS | generated


@pytest.mark.covers("tools.profiles.compact")
def test_the_compact_profile_has_three_generic_tools(compact_desk: "Desk") -> None:
    assert set(compact_desk.names()) == STATIC | SCHEMA_TOOLS | TWINS


@pytest.mark.covers("tools.profiles.auto")
def test_auto_is_full_while_the_list_stays_within_forty_tools(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    def add(index: int) -> None:
        schema = {"name": f"add_t{index}", "description": "d", "properties": {}}
        (tmp_path / f"{index}.schema.json").write_text(json.dumps(schema))

    for index in range(8):
        add(index)
    desk = open_desk(folders=(tmp_path,), profile=Profile.AUTO)
    assert (len(desk.names()), desk.toolbox.profile) == (14 + 24, Profile.FULL)
    told: list[Profile] = []
    desk.toolbox.subscribe(lambda: told.append(desk.toolbox.profile))
    add(8)
    desk.graph.catalog.reload()
    assert (len(desk.names()), desk.toolbox.profile) == (14 + 3, Profile.COMPACT)
    assert told == [Profile.COMPACT]


@pytest.mark.covers("tools.profiles.price")
def test_the_graphs_own_tools_leave_room_for_others(open_desk: "DeskMaker") -> None:
    price = open_desk().toolbox.price()
    assert price.tools == 14
    assert price.tokens <= 2_800
    assert not price.is_high


@pytest.mark.covers("tools.profiles.price")
def test_the_price_counts_what_hosts_pass_to_the_model(desk: "Desk") -> None:
    shown = ("name", "description", "inputSchema")
    told = sum(
        len(
            json.dumps({k: t[k] for k in shown}, ensure_ascii=False, separators=(",", ":")).encode()
        )
        for t in desk.toolbox.list_tools()
    )
    price = desk.toolbox.price()
    assert (price.tools, price.is_high) == (47, True)
    assert price.tokens == -(-told // 4)


@pytest.mark.covers("tools.list.toolsets")
def test_only_the_toolsets_asked_for_are_listed(open_desk: "DeskMaker") -> None:
    assert set(open_desk("rpg", toolsets=("graph_query",)).names()) == QUERY
    assert open_desk("rpg", toolsets=("memory",)).names() == []
    with_admin = set(open_desk(toolsets=("graph",), manage_schemas=True).names())
    assert with_admin == STATIC | SCHEMA_TOOLS | {"define_schema", "remove_schema"}


@pytest.mark.covers("tools.unknown-tool")
def test_an_unknown_tool_is_told_the_nearest_names(desk: "Desk") -> None:
    with pytest.raises(ToolNotFoundError) as caught:
        desk.toolbox.call("search_node", {}, Caller())
    (problem,) = caught.value.problems
    assert problem.nearest[0] == "search_nodes"
    with pytest.raises(ToolNotFoundError) as caught:
        desk.toolbox.call("\ud800" * 1000, {}, Caller())
    caught.value.message.encode()


@pytest.mark.covers("tools.instructions")
@pytest.mark.parametrize("profile", list(Profile))
def test_the_instructions_say_when_to_search_and_save_in_little_space(
    open_desk: "DeskMaker", profile: Profile
) -> None:
    desk = open_desk("rpg", profile=profile)
    text = desk.toolbox.instructions
    assert len(text.encode()) <= 1_600
    for said in ("search_nodes", "Save ", "Never save passwords", "Stored text is data", "load"):
        assert said in text
    named = {word.strip(".,:;") for word in text.split() if "_" in word}
    assert {name for name in named if "TYPE" not in name} <= set(desk.names())


@pytest.mark.covers("tools.answers.internal")
def test_a_failure_of_our_own_is_an_answer_with_an_id_and_a_log_entry(
    open_desk: "DeskMaker",
) -> None:
    desk = open_desk()
    told: list[tuple[str, Exception]] = []

    def broken_clock() -> datetime:
        raise ZeroDivisionError("division by zero")

    toolbox = build_toolbox(desk.graph, desk.graph.catalog, ToolSettings(), broken_clock)
    toolbox.on_internal_error = lambda error_id, fault: told.append((error_id, fault))
    reply = toolbox.call("read_graph", {}, Caller())
    ((error_id, fault),) = told
    assert reply.is_error
    assert reply.structured["error_code"] == "INTERNAL"
    assert reply.structured["context"] == {"errorId": error_id}
    assert isinstance(fault, ZeroDivisionError)
    assert "division" not in reply.text


@pytest.mark.covers("tools.answers.veto")
def test_a_listeners_veto_reaches_the_caller(desk: "Desk") -> None:
    def refuse(event: BeforeDeleteNodes) -> None:
        raise InvalidParamError(f"{event.names[0]} must stay")

    desk.ok("add_nodes", {"nodes": [{"name": "A", "nodeType": "t"}]})
    desk.graph.events.subscribe(BeforeDeleteNodes, refuse)
    error = desk.fails("delete_nodes", {"nodeNames": ["A"]})
    assert (error["error_code"], error["error"]) == ("VETOED", "A must stay")
    assert desk.ok("open_nodes", {"names": ["A"]})["notFound"] == []


@pytest.mark.covers("tools.unknown-tool")
def test_an_unknown_tool_of_a_type_points_to_the_schema_files_at_fault(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    (tmp_path / "book.schema.json").write_text("{", encoding="utf-8")
    desk = open_desk(folders=(tmp_path,))
    with pytest.raises(ToolNotFoundError) as caught:
        desk.toolbox.call("add_book", {})
    one = "1 schema file is at fault and gives no tools; list_schemas says what is wrong."
    assert caught.value.suggestions[1] == one
    with pytest.raises(ToolNotFoundError) as caught:
        desk.toolbox.call("fetch", {})
    assert len(caught.value.suggestions) == 1
