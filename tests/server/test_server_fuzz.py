"""Whatever comes down the pipe, the server answers, keeps to the protocol and lives on."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
METHODS = st.sampled_from(
    ["ping", "tools/list", "tools/call", "initialize", "resources/list", "notifications/cancelled"]
) | st.text(max_size=12)
TOOLS = st.sampled_from(
    [
        *("add_nodes", "add_edges", "search_nodes", "open_nodes", "add_npc", "update_npc"),
        *("memory_add_entry", "memory_search", "memory_delete_entry", "no_such"),
    ]
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "nodes": VALUES,
        "edges": VALUES,
        "npc": VALUES,
        "query": VALUES,
        "names": VALUES,
        "cursor": VALUES,
        "limit": VALUES,
        "project_id": st.just("p") | VALUES,
        "content": VALUES,
        "entry_id": VALUES,
    },
)
CALLS = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.integers(10**6, 10**7),
        "method": st.just("tools/call"),
        "params": st.fixed_dictionaries({"name": TOOLS, "arguments": ARGUMENTS | VALUES}),
    }
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": VALUES,
        "method": METHODS | VALUES,
        "params": VALUES,
    },
)
LINES = (
    st.binary(max_size=60).map(lambda data: data.replace(b"\n", b" "))
    | VALUES.map(lambda value: json.dumps(value).encode())
    | MESSAGES.map(lambda value: json.dumps(value).encode())
    | CALLS.map(lambda value: json.dumps(value).encode())
)


@pytest.mark.covers("server.bad_lines")
def test_any_line_leaves_the_server_alive_and_on_protocol(start: Callable[..., Any]) -> None:
    peer = start("--db", "memory.sqlite", "--pack", "rpg")
    peer.shake_hands()
    numbers = itertools.count(1)

    @given(st.lists(LINES, min_size=1, max_size=10))
    def send(lines: list[bytes]) -> None:
        peer.send_raw(b"\n".join(lines) + b"\n")
        assert peer.ask("ping", f"alive-{next(numbers)}")["result"] == {}

    send()
    assert "Traceback" not in peer.stderr()


@pytest.mark.covers("server.bad_lines")
def test_every_call_with_any_arguments_gets_one_answer(start: Callable[..., Any]) -> None:
    peer = start("--db", "memory.sqlite", "--pack", "rpg")
    peer.shake_hands()
    numbers = itertools.count(1)
    listed = peer.ask("tools/list", "list")["result"]["tools"]
    schemas = {tool["name"]: tool["outputSchema"] for tool in listed}

    @given(TOOLS, ARGUMENTS | VALUES)
    def call(tool: str, arguments: object) -> None:
        answer = peer.call(next(numbers), tool, arguments)
        if "error" in answer:
            assert tool == "no_such"
            return
        result = answer["result"]
        jsonschema.Draft202012Validator(schemas[tool]).validate(result["structuredContent"])
        text = result["content"][0]["text"]
        if tool.startswith("memory_"):
            told = result["structuredContent"]
            assert text
        else:
            told = json.loads(text)
            assert told == result["structuredContent"]
        assert told.get("error_code") != "INTERNAL"
        assert ("error_code" in told) == result["isError"]

    call()
