"""What hosts are told of the memory tools: names, arguments, hints, price."""

from typing import TYPE_CHECKING, Any

import pytest

from schemory.model.jsonvalue import compact
from schemory.tools.instructions import MAX_INSTRUCTION_BYTES
from schemory.tools.lint import lint_tools

if TYPE_CHECKING:
    from tests.tools.memory.conftest import MemoryDesk

READS = {
    *("status", "search", "read_entry", "list_scopes", "list_topics", "list_tags"),
    *("list_entry_links", "handoff_summary", "find_similar"),
}
DESTRUCTIVE = {"delete_entry", "import_project"}
WRITES = {
    *("add_entry", "update_entry", "invalidate_entry", "archive_entry", "restore_entry"),
    *("link_entries", "unlink_entries", "export_project", "rebuild_index"),
}
SEED_ARGUMENTS = {
    "status": (),
    "add_entry": (
        *("scope", "topic", "title", "content", "summary", "source_type", "source_ref"),
        *("source_path", "source_uri", "tags", "importance", "confidence", "dedupe"),
    ),
    "search": (
        *("query", "scope", "topic", "tags", "source_type", "status", "mode", "limit"),
        *("include_content", "tags_match", "created_after", "created_before", "cursor"),
        *("max_chars", "explain"),
    ),
    "read_entry": ("entry_id", "mode", "offset", "max_chars", "include_history"),
    "list_scopes": ("status", "limit"),
    "list_topics": ("status", "scope", "limit"),
    "list_tags": ("status", "scope", "topic", "limit"),
    "update_entry": (
        *("entry_id", "title", "content", "summary", "scope", "topic", "tags", "importance"),
        *("confidence", "source_type", "source_ref", "source_path", "source_uri"),
        "expected_revision",
    ),
    "invalidate_entry": ("entry_id", "reason"),
    "archive_entry": ("entry_id",),
    "restore_entry": ("entry_id",),
    "delete_entry": ("entry_id", "confirm"),
    "export_project": (
        *("save_path", "format", "include_archived", "include_invalidated"),
        *("include_superseded", "overwrite"),
    ),
    "import_project": ("import_path", "on_conflict", "confirm_replace", "dry_run"),
    "link_entries": ("source_entry_id", "target_entry_id", "relation", "label"),
    "unlink_entries": ("link_id", "source_entry_id", "target_entry_id", "relation"),
    "list_entry_links": ("entry_id", "direction", "limit"),
    "handoff_summary": ("since", "scope"),
    "find_similar": ("entry_id", "text", "status", "limit"),
    "rebuild_index": (),
}
REQUIRED = {
    "add_entry": {"topic", "content", "source_type"},
    "search": {"query"},
    "link_entries": {"source_entry_id", "target_entry_id", "relation"},
    "export_project": {"save_path"},
    "import_project": {"import_path"},
}


@pytest.mark.covers("tools.memory.list")
def test_the_toolset_has_exactly_the_specified_tools(desk: "MemoryDesk") -> None:
    names = {str(t["name"]) for t in desk.toolbox.list_tools()}
    memory = {name for name in names if name.startswith("memory_")}
    assert memory == {f"memory_{name}" for name in SEED_ARGUMENTS}
    assert set(SEED_ARGUMENTS) == READS | WRITES | DESTRUCTIVE


@pytest.mark.covers("tools.memory.arguments")
@pytest.mark.parametrize("name", SEED_ARGUMENTS)
def test_each_tool_takes_the_specified_arguments_and_a_project(
    desk: "MemoryDesk", name: str
) -> None:
    schema: dict[str, Any] = desk.listed(name)["inputSchema"]
    assert set(schema["properties"]) == {*SEED_ARGUMENTS[name], "project_path", "project_id"}
    takes_one = name.endswith("_entry") and name != "add_entry"
    expected = REQUIRED.get(name, {"entry_id"} if takes_one or "entry_links" in name else set())
    assert set(schema["required"]) == expected


@pytest.mark.covers("tools.memory.hints")
@pytest.mark.parametrize("name", SEED_ARGUMENTS)
def test_hints_say_what_a_call_may_do(desk: "MemoryDesk", name: str) -> None:
    tool = desk.listed(name)
    assert tool["annotations"] == {
        "readOnlyHint": name in READS,
        "idempotentHint": name in READS,
        "destructiveHint": name in DESTRUCTIVE,
        "openWorldHint": False,
    }
    assert tool["title"]


@pytest.mark.covers("tools.memory.strict_hosts")
def test_strict_hosts_accept_every_tool(desk: "MemoryDesk") -> None:
    assert lint_tools(desk.toolbox.list_tools()) == ()


@pytest.mark.covers("tools.memory.limits_untold")
def test_configured_limits_are_not_in_the_schemas(desk: "MemoryDesk") -> None:
    for tool in desk.toolbox.list_tools():
        if str(tool["name"]).startswith("memory_"):
            shown = compact(tool["inputSchema"])
            assert "maxLength" not in shown
            assert "maxItems" not in shown
            for limit in (200_000, 500, 400, 1_000_000, 120):
                assert f":{limit}" not in shown


@pytest.mark.covers("tools.memory.price")
def test_both_halves_cost_no_more_than_models_bear(desk: "MemoryDesk") -> None:
    price = desk.toolbox.price()
    assert price.tools <= 40
    assert price.tokens <= 6_000
    assert not price.is_high


@pytest.mark.covers("tools.memory.instructions")
def test_instructions_speak_of_both_halves_and_name_only_listed_tools(desk: "MemoryDesk") -> None:
    told = desk.toolbox.instructions
    assert len(told.encode()) <= MAX_INSTRUCTION_BYTES
    names = {str(t["name"]) for t in desk.toolbox.list_tools()}
    words = {word.strip(".,:;()") for word in told.split()}
    said = {word for word in words if "_" in word and word.islower() and not word.endswith("_*")}
    assert {"memory_search", "memory_add_entry", "search_nodes"} <= said
    assert said <= names | {"project_path"}
    assert "never" in told.lower()
