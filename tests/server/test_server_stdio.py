"""The real server process: both protocol eras, bad lines, ends of every kind, quiet logs."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "pytest", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
STORE = ("--db", "memory.sqlite")
GANDALF = {"npc": {"name": "Gandalf", "role": "Wizard", "status": "Active"}}
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


@pytest.mark.covers("server.eras.handshake")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_client_of_each_handshake_era_is_served(start: Callable[..., Any], version: str) -> None:
    peer = start(*STORE)
    hello = peer.shake_hands(version)
    assert hello["protocolVersion"] == version
    assert hello["serverInfo"]["name"] == "schemory"
    assert hello["capabilities"]["tools"] == {"listChanged": True}
    assert "search_nodes" in hello["instructions"]
    names = [tool["name"] for tool in peer.ask("tools/list", 1)["result"]["tools"]]
    assert names == sorted(names)
    assert "read_graph" in names
    assert peer.call(2, "read_graph", {})["result"]["isError"] is False


@pytest.mark.covers("server.eras.modern")
def test_a_client_without_a_handshake_is_served(start: Callable[..., Any]) -> None:
    peer = start(*STORE)
    found = peer.ask("server/discover", 1, _meta=ENVELOPE)["result"]
    assert "2026-07-28" in found["supportedVersions"]
    assert found["capabilities"]["tools"]["listChanged"] is True
    tools = peer.ask("tools/list", 2, _meta=ENVELOPE)["result"]["tools"]
    assert "read_graph" in {tool["name"] for tool in tools}
    done = peer.ask("tools/call", 3, name="read_graph", arguments={}, _meta=ENVELOPE)["result"]
    assert done["structuredContent"]["data"] == {"nodes": [], "edges": []}


@pytest.mark.covers("server.tools.unknown")
def test_an_unknown_tool_is_a_protocol_error_with_the_nearest_names(
    start: Callable[..., Any],
) -> None:
    peer = start(*STORE)
    peer.shake_hands()
    error = peer.call(1, "serch_nodes", {})["error"]
    assert error["code"] == -32602
    assert error["data"]["nearest"][0] == "search_nodes"


@pytest.mark.covers("server.arguments.as_sent")
def test_arguments_that_are_missing_or_json_text_reach_the_tool_as_sent(
    start: Callable[..., Any],
) -> None:
    peer = start(*STORE)
    peer.shake_hands()
    assert peer.ask("tools/call", 1, name="read_graph")["result"]["isError"] is False
    text = json.dumps({"nodes": [{"name": "A", "nodeType": "t", "metadata": []}]})
    assert peer.call(2, "add_nodes", text)["result"]["isError"] is False
    refused = peer.call(3, "add_nodes", [1])["result"]
    assert refused["isError"] is True
    assert refused["structuredContent"]["error_code"] == "INVALID_PARAM"


BAD_LINES: tuple[tuple[bytes, int | str | None, int], ...] = (
    (b"{not json", None, -32700),
    (b"\xff\xfe", None, -32700),
    (b"17", None, -32600),
    (b"[]", None, -32600),
    (b'{"jsonrpc":"2.0","id":9}', 9, -32600),
    (b'{"jsonrpc":"2.0","id":9,"method":7}', 9, -32600),
    (b'{"jsonrpc":"1.0","id":"x","method":"ping"}', "x", -32600),
    (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}', 9, -32600),
    (b'{"jsonrpc":"2.0","id":9,"method":"no/such"}', 9, -32601),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{}}', 9, -32602),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}', 9, -32602),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":"x"}}', 9, -32602),
)


@pytest.mark.covers("server.bad_lines")
def test_each_bad_line_is_answered_and_the_server_lives_on(start: Callable[..., Any]) -> None:
    peer = start(*STORE)
    peer.shake_hands()
    for count, (line, number, code) in enumerate(BAD_LINES):
        peer.send_raw(line + b"\n\n")
        assert (line, peer.answer(number)["error"]["code"]) == (line, code)
        assert peer.ask("ping", f"alive-{count}")["result"] == {}


def test_parameters_that_do_not_fit_are_named(start: Callable[..., Any]) -> None:
    peer = start(*STORE)
    peer.shake_hands()
    error = peer.ask("tools/call", 1, name=[])["error"]
    assert error["data"]["problems"][0]["path"] == "params.name"


def test_a_message_over_the_limit_is_refused_and_the_next_one_served(
    start: Callable[..., Any],
) -> None:
    peer = start(*STORE)
    peer.shake_hands()
    chunk = b"x" * (1 << 20)
    for _ in range(65):
        peer.send_raw(chunk)
    peer.send_raw(b"\n")
    assert peer.answer(None)["error"]["code"] == -32600
    assert peer.ask("ping", 1)["result"] == {}


@pytest.mark.covers("server.end.eof")
def test_the_end_of_the_input_ends_the_server_after_the_last_answer(
    start: Callable[..., Any],
) -> None:
    peer = start(*STORE, "--pack", "rpg")
    peer.shake_hands()
    peer.send("tools/call", 1, name="add_npc", arguments=GANDALF)
    peer.close_input()
    assert peer.answer(1)["result"]["isError"] is False
    assert peer.wait() == 0


@pytest.mark.covers("server.end.eof")
def test_no_input_at_all_is_a_clean_end(start: Callable[..., Any]) -> None:
    peer = start(*STORE)
    peer.close_input()
    assert peer.wait() == 0


@posix_only
@pytest.mark.covers("server.end.signal")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_server_cleanly(
    start: Callable[..., Any], number: signal.Signals, code: int
) -> None:
    peer = start(*STORE)
    peer.shake_hands()
    peer.signal(number)
    assert peer.wait() == code
    assert "Traceback" not in peer.stderr()


@posix_only
@pytest.mark.covers("server.end.vanished_client")
@pytest.mark.parametrize("adapter", ["0", "1"], ids=["fast", "sdk"])
def test_a_client_that_is_killed_leaves_no_server_behind(
    tmp_path: Path, environment: Mapping[str, str], adapter: str
) -> None:
    client = textwrap.dedent(
        """
        import subprocess, sys, time
        server = subprocess.Popen(
            [sys.executable, "-m", "schemory", "serve", "--db", "memory.sqlite"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')
        server.stdin.flush()
        server.stdout.readline()
        print(server.pid, flush=True)
        time.sleep(600)
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", client],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**environment, "MEMORY_SDK": adapter},
    ) as process:
        assert process.stdout
        server = int(process.stdout.readline())
        process.kill()
    assert _is_gone(server)


def _is_gone(pid: int) -> bool:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return True
        if state[0] in "ZX":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.covers("server.ping_during_call")
def test_a_ping_is_answered_while_a_long_call_runs(start: Callable[..., Any]) -> None:
    peer = start(*STORE)
    peer.shake_hands()
    nodes = [{"name": f"n{i}", "nodeType": "t", "metadata": [f"k: {i}"]} for i in range(5_000)]
    peer.send("tools/call", 1, name="add_nodes", arguments={"nodes": nodes})
    peer.send("ping", 2)
    peer.answer(1)
    order = [message["id"] for message in peer.received if "id" in message]
    assert order[-2:] == [2, 1]


@pytest.mark.covers("server.logs.no_content")
def test_the_debug_log_holds_no_stored_content(start: Callable[..., Any]) -> None:
    peer = start(*STORE, "--debug")
    peer.shake_hands()
    secret_words = {"name": "Quetzalcoatl", "nodeType": "t", "metadata": ["Colour: vermilion"]}
    peer.call(1, "add_nodes", {"nodes": [secret_words]})
    peer.call(2, "search_nodes", {"query": "vermilion"})
    peer.call(3, "add_nodes", {"nodes": "vermilion"})
    peer.send_raw(b'{"vermilion": Quetzalcoatl\n')
    peer.answer(None)
    peer.close_input()
    assert peer.wait() == 0
    log = peer.stderr()
    assert "vermilion" not in log
    assert "Quetzalcoatl" not in log


@pytest.mark.covers("server.start_line")
def test_the_start_line_says_version_store_project_tools_and_price(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    peer = start(*STORE, "--pack", "rpg", MEMORY_TYPO="1")
    peer.shake_hands()
    first, *rest = peer.stderr().splitlines()
    assert first.startswith("schemory 0.")
    assert f"store {tmp_path / 'memory.sqlite'} (--db)" in first
    assert "project default (default)" in first
    assert "tools, about" in first
    assert any("MEMORY_TYPO" in line for line in rest)
    assert any("--tools auto" in line for line in rest)


@pytest.mark.covers("server.start_error")
def test_a_setting_that_does_not_parse_ends_the_start_with_code_2(
    start: Callable[..., Any],
) -> None:
    peer = start(*STORE, MEMORY_TOOLS="tiny")
    assert peer.wait() == 2
    assert "MEMORY_TOOLS is 'tiny'; allowed: one of full, compact, auto" in peer.stderr()


@posix_only
@pytest.mark.covers("server.start_error")
def test_a_start_without_pipes_is_refused(tmp_path: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m schemory serve --db memory.sqlite <&-"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "standard input" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.covers("server.schemas.list_changed")
def test_a_schema_saved_while_the_server_runs_becomes_tools_and_is_announced(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    peer = start(*STORE, "--schemas", str(folder))
    peer.shake_hands()
    before = json.dumps(peer.ask("tools/list", 1)["result"])
    assert "add_book" not in before
    assert json.dumps(peer.ask("tools/list", 2)["result"]) == before
    book = {
        "name": "add_book",
        "description": "A book",
        "properties": {"name": {"type": "string", "description": "Title", "required": True}},
    }
    began = time.monotonic()
    (folder / "book.schema.json").write_text(json.dumps(book), encoding="utf-8")
    while peer.receive().get("method") != "notifications/tools/list_changed":
        pass
    assert time.monotonic() - began < 5
    assert "add_book" in json.dumps(peer.ask("tools/list", 3)["result"])
