"""Whole conversations with the memory as files: `--update-golden` writes what is answered now.

Written as in `test_tools_golden.py`; a cursor is shown as `<cursor>`, and as an argument it means
the one answered last. `<id N>` stands for the Nth id that was made.
"""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.tools.conftest import HoldToGolden
    from tests.tools.memory.conftest import DeskMaker

GOLDEN = Path(__file__).parent.parent.parent / "golden"
CONVERSATIONS = sorted(file.stem for file in GOLDEN.glob("notes-*.json"))
CURSOR = "<cursor>"
_ID = re.compile(r"\d{8}-0000-7000-8000-0*(\d+)")
_SHOWN_ID = re.compile(r"<id (\d+)>")


def _with_ids(text: str, group: str) -> str:
    return _SHOWN_ID.sub(lambda found: f"{group}-0000-7000-8000-{int(found[1]):012}", text)


def replay(open_desk: "DeskMaker", talk: dict[str, Any]) -> dict[str, Any]:
    """Return the conversation with the answers of now."""
    desk = open_desk(server="team/app")
    cursor, group = "", ""
    steps: list[dict[str, Any]] = []
    for step in talk["steps"]:
        text = _with_ids(json.dumps(step["arguments"]), group)
        reply = desk.call(step["tool"], json.loads(text.replace(CURSOR, cursor)))
        answer: dict[str, Any] = json.loads(json.dumps(reply.structured))
        told = json.dumps([answer, reply.text], ensure_ascii=False)
        found = _ID.search(told)
        group = found[0][:8] if found else group
        if "next_cursor" in answer:
            cursor = answer["next_cursor"]
            told = told.replace(cursor, CURSOR)
        structured, shown = json.loads(_ID.sub(r"<id \1>", told))
        asked = {key: step[key] for key in ("tool", "arguments")}
        steps.append(
            {
                **asked,
                "is_error": reply.is_error,
                "structured": structured,
                "text": shown.splitlines(),
            }
        )
    return {**talk, "steps": steps}


@pytest.mark.covers("tools.memory.golden")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation_with_the_memory_goes_as_it_is_written(
    open_desk: "DeskMaker", name: str, hold_to_golden: "HoldToGolden"
) -> None:
    hold_to_golden(name, lambda talk: replay(open_desk, talk))
