"""`demo`: the whole way through, with a real client and the real server."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.covers("cli.demo")
def test_the_demonstration_goes_as_told(cli: Callable[..., Any]) -> None:
    done = cli("demo", "--json")
    assert done.code == 0
    steps = done.data["steps"]
    refused = [step for step in steps if step["isError"]]
    assert [step["tool"] for step in refused] == ["add_npc"]
    problems = refused[0]["structuredContent"]["context"]["problems"]
    assert len(problems) == 2
    moved = next(step for step in steps if step["tool"] == "update_npc")["structuredContent"]
    assert [edge["to"] for edge in moved["data"]["removedEdges"]] == ["Rivendell"]
    last = steps[-1]["structuredContent"]["data"]
    assert last["notFound"] == ["Bilbo"]
    assert [node["name"] for node in last["nodes"]] == ["Gandalf", "Hobbiton"]


@pytest.mark.covers("cli.demo")
def test_the_demonstration_shows_calls_and_answers_in_plain_text(cli: Callable[..., Any]) -> None:
    text = cli("demo").out
    assert "> add_npc" in text
    assert "Created npc: Gandalf" in text
    assert "schemory init" in text
