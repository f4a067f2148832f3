"""Hold one MCP conversation with an installed `schemory serve`, with the standard library alone.

Usage: python stdio_conversation.py PATH_OF_SCHEMORY
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_TIMEOUT_SECONDS = 60


def _request(number: int, method: str, params: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _call(number: int, tool: str, arguments: dict[str, Any]) -> str:
    return _request(number, "tools/call", {"name": tool, "arguments": arguments})


def main() -> int:
    """Return 0 if the server introduces itself, lists its tools, writes and reads back."""
    handshake = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "stdio-conversation", "version": "1"},
    }
    npc = {"name": "Gandalf", "role": "Wizard", "status": "Active"}
    lines = [
        _request(1, "initialize", handshake),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        _request(2, "tools/list", {}),
        _call(3, "add_npc", {"npc": npc}),
        _call(4, "search_nodes", {"query": "wizard"}),
    ]
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "memory.sqlite")
        done = subprocess.run(  # noqa: S603 (the program under test is the argument)
            [sys.argv[1], "serve", "--db", store, "--pack", "rpg"],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    answers = {
        answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())
    }
    facts = {
        "the exit code is 0": done.returncode == 0,
        "the server says who it is": answers[1]["serverInfo"]["name"] == "schemory",
        "the pack's tools are there": "add_npc" in {tool["name"] for tool in answers[2]["tools"]},
        "the node was added": answers[3]["isError"] is False,
        "the node is found": answers[4]["structuredContent"]["data"]["matched"] == ["Gandalf"],
        "the start-up line is on stderr": "schemory" in done.stderr,
    }
    for fact, holds in facts.items():
        print(f"{'ok' if holds else 'NO'}  {fact}")
    return 0 if all(facts.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
