"""Whole conversations and tool lists as files: `--update-golden` writes what is answered now.

A conversation has `settings` (of the `open_desk` fixture) and `steps`: tool and arguments are
written by hand, `is_error` and `structured` by the option. A cursor is shown as `<cursor>`; as an
argument it means the one answered last.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.tools.conftest import DeskMaker, HoldToGolden

GOLDEN = Path(__file__).parent.parent / "golden"
CURSOR = "<cursor>"
CONVERSATIONS = sorted(file.stem for file in GOLDEN.glob("talk-*.json"))
LISTS: dict[str, dict[str, Any]] = {
    "no-schemas": {},
    "all-toolsets": {"toolsets": ("graph", "graph_query", "admin"), "allow_cross_project": True},
    "rpg": {"packs": ("rpg",)},
    "rpg-compact": {"packs": ("rpg",), "profile": "compact"},
    "software": {"packs": ("software",)},
    "memorymesh": {"folders": ("memorymesh",)},
}


def replay(open_desk: "DeskMaker", talk: dict[str, Any]) -> dict[str, Any]:
    """Return the conversation with the answers of now."""
    settings = dict(talk["settings"])
    desk = open_desk(*settings.pop("packs", ()), **settings)
    cursor = ""
    steps: list[dict[str, Any]] = []
    for step in talk["steps"]:
        arguments = step.get("arguments")
        if isinstance(arguments, dict) and arguments.get("cursor") == CURSOR:
            arguments = {**arguments, "cursor": cursor}
        reply = desk.call(step["tool"], arguments)
        structured = json.loads(reply.text)
        data = structured.get("data", {})
        if "nextCursor" in data:
            cursor, data["nextCursor"] = data["nextCursor"], CURSOR
        asked = {key: step[key] for key in ("tool", "arguments") if key in step}
        steps.append({**asked, "is_error": reply.is_error, "structured": structured})
    return {**talk, "steps": steps}


@pytest.mark.covers("tools.golden")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation_goes_as_it_is_written(
    open_desk: "DeskMaker", name: str, hold_to_golden: "HoldToGolden"
) -> None:
    hold_to_golden(name, lambda talk: replay(open_desk, talk))


@pytest.mark.covers("tools.golden")
@pytest.mark.parametrize("name", LISTS)
def test_a_tool_list_is_as_it_is_written(
    open_desk: "DeskMaker", name: str, *, update_golden: bool
) -> None:
    settings = dict(LISTS[name])
    tools = open_desk(*settings.pop("packs", ()), **settings).toolbox.list_tools()
    file = GOLDEN / f"list-{name}.json"
    if update_golden:
        lines = ",\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
        file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(json.dumps(tools))
