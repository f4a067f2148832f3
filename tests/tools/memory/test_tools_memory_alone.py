"""Golden answers of every tool: either form is enough alone, and no tool is left out."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.tools.memory.conftest import MemoryDesk

GOLDEN = Path(__file__).parent.parent.parent / "golden"
NEEDS_A_FILE = {
    "define_schema": "tests/tools/test_tools_schemas.py",
    "remove_schema": "tests/tools/test_tools_schemas.py",
    "memory_export_project": "tests/tools/memory/test_tools_memory_shapes.py",
    "memory_import_project": "tests/tools/memory/test_tools_memory_shapes.py",
}
"""Tools that work on files, which a golden conversation has none of, and who tests them."""

_ID = re.compile(r"<id \d+>")

TOLD_ALWAYS = {
    *("error_code", "detail", "hint", "warnings", "next_cursor"),
    *("id", "entry_id", "existing_entry_id", "source_entry_id", "target_entry_id", "relation"),
    *("title", "snippet", "content", "source_type", "source_ref", "similarity", "name", "count"),
    *("line", "previous_status", "since", "indexed", "offset", "invalidation_reason"),
}
"""What an agent acts on, wherever it stands in an answer."""

NOT_TOLD = {
    ("memory_list_entry_links", "entry_id"),  # of a list without links, as it was asked for
    *((tool, "id") for tool in ("memory_archive_entry", "memory_restore_entry")),  # of the project
    *((tool, "id") for tool in ("memory_update_entry", "memory_invalidate_entry")),
    *((tool, "id") for tool in ("memory_link_entries", "memory_unlink_entries")),
    *((tool, "id") for tool in ("memory_delete_entry", "memory_rebuild_index")),
    ("memory_read_entry", "warnings"),  # a code inside the entry; its words are told
}


def steps(pattern: str) -> Iterator[dict[str, Any]]:
    for file in sorted(GOLDEN.glob(pattern)):
        yield from json.loads(file.read_text(encoding="utf-8"))["steps"]


def facts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text and number of an answer with the name it stands under."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from facts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from facts(inner, key)
    elif value is not None and not isinstance(value, bool):
        yield key, str(value)


@pytest.mark.covers("tools.memory.alone")
@pytest.mark.parametrize("step", list(steps("notes-*.json")), ids=lambda step: step["tool"])
def test_the_text_of_an_answer_holds_what_an_agent_acts_on(step: dict[str, Any]) -> None:
    text = "\n".join(step["text"])
    missing = [
        (key, told)
        for key, told in facts(step["structured"])
        if key in TOLD_ALWAYS and (step["tool"], key) not in NOT_TOLD and told not in text
    ]
    assert missing == []


@pytest.mark.covers("tools.memory.alone")
@pytest.mark.parametrize("step", list(steps("notes-*.json")), ids=lambda step: step["tool"])
def test_what_the_text_says_of_entries_is_in_the_structure_too(step: dict[str, Any]) -> None:
    named = set(_ID.findall("\n".join(step["text"])))
    assert named <= set(_ID.findall(json.dumps(step["structured"])))


@pytest.mark.covers("tools.memory.alone")
def test_every_tool_succeeds_in_some_golden_conversation(desk: "MemoryDesk") -> None:
    done = {
        step["tool"]
        for pattern in ("notes-*.json", "talk-*.json")
        for step in steps(pattern)
        if not step["is_error"]
    }
    listed = json.loads((GOLDEN / "list-all-toolsets.json").read_text(encoding="utf-8"))
    tools = {tool["name"] for tool in listed} | set(desk.toolbox.registry)
    assert len(tools) > 40
    assert tools - done == set(NEEDS_A_FILE)
    for tool, file in NEEDS_A_FILE.items():
        name = tool.removeprefix("memory_")
        assert f'"{name}"' in (GOLDEN.parent.parent / file).read_text(encoding="utf-8")
