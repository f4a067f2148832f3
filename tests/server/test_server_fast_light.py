"""What a server on stdio leaves out of its process, and what a real client says of it."""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

LINES = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    b'"capabilities":{},"clientInfo":{"name":"pytest","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
    b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory_status"}}\n'
    b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"add_nodes",'
    b'"arguments":{"nodes":[{"name":"A","nodeType":"t","metadata":[]}]}}}\n'
    b'{"jsonrpc":"2.0","id":5,"method":"no/such"}\n{nonsense\n'
)
UNWANTED = {"mcp", "mcp_types", "pydantic", "pydantic_core", "asyncio", "anyio", "watchfiles"}
NOT_FOR_A_LIST = {
    *("argparse", "dataclasses", "datetime", "hashlib", "inspect", "ipaddress", "locale"),
    *("logging", "math", "pathlib", "typing", "unicodedata", "urllib"),
}
"""Of the standard library: what costs too much to be loaded before a tool is called."""

MOST_MODULES = 72
"""Of our own, up to the list of tools."""


@pytest.mark.covers("server.fast.light")
def test_a_server_imports_no_sdk_and_no_event_loop(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    (tmp_path / "schemas").mkdir()
    arguments = ["serve", "--db", "memory.sqlite", "--schemas", "schemas", "--pack", "rpg"]
    log = tmp_path / "stderr.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-X", "importtime", "-m", "schemory", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=tmp_path,
            env=environment,
        ) as process,
    ):
        assert process.stdin
        assert process.stdout
        process.stdin.write(LINES)
        process.stdin.flush()
        answers = [process.stdout.readline() for _ in range(6)]
        # The folders are looked at from the first second on.
        wait_for(lambda: "schemory.schemas.watch" in log.read_text(encoding="utf-8"))
        process.stdin.close()
        assert process.wait(30) == 0
    assert all(answers)
    imported = set(re.findall(r"^import time:.*\| +(\S+)$", log.read_text("utf-8"), re.MULTILINE))
    assert "schemory.server.stdio" in imported
    assert {name.partition(".")[0] for name in imported} & UNWANTED == set()


def list_tools(folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", _LISTED, "serve", "--db", "memory.sqlite"],
        input=b"".join(LINES.splitlines(keepends=True)[:3]),
        capture_output=True,
        cwd=folder,
        env=environment,
        timeout=60,
        check=True,
    )


@pytest.mark.covers("server.fast.bare_list")
def test_a_list_of_tools_needs_neither_pathlib_nor_typing(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    list_tools(tmp_path, environment)  # makes the store, which takes more
    done = list_tools(tmp_path, environment)
    imported = set(done.stderr.decode().partition("IMPORTED ")[2].split())
    assert b'"memory_search"' in done.stdout
    assert "schemory.server.stdio" in imported
    own = {name for name in imported if name.partition(".")[0] == "schemory"}
    assert len(own) <= MOST_MODULES
    assert {name.partition(".")[0] for name in imported} & (UNWANTED | NOT_FOR_A_LIST) == set()


_LISTED = """
import sys
before = set(sys.modules)  # what the interpreter itself and its environment load
import atexit
from schemory.cli.front import run

atexit.register(lambda: print("IMPORTED", *set(sys.modules) - before, file=sys.stderr))
run()
"""


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.covers("server.fast.client")
@pytest.mark.parametrize("era", ["legacy", "2026-07-28", "auto"])
def test_the_sdks_client_is_served_by_the_real_process(
    tmp_path: Path, environment: Mapping[str, str], era: Any
) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "schemory", "serve", "--db", str(tmp_path / "m.sqlite"), "--pack", "rpg"],
        env=dict(environment),
    )

    async def talk() -> None:
        with (tmp_path / "client.log").open("w", encoding="utf-8") as errors:
            async with Client(stdio_client(server, errlog=errors), mode=era) as client:
                names = {tool.name for tool in (await client.list_tools()).tools}
                assert {"add_npc", "memory_search"} <= names
                hero = {"name": "Ünï ✓ 🧙", "role": "Wizard", "status": "Active"}
                added = await client.call_tool("add_npc", {"npc": hero})
                assert not added.is_error
                found = await client.call_tool("open_nodes", {"names": [hero["name"]]})
                structured: Any = found.structured_content
                assert structured["data"]["nodes"][0]["name"] == hero["name"]
                wrong = await client.call_tool("add_npc", {"npc": {}})
                assert wrong.is_error

    asyncio.run(asyncio.wait_for(talk(), 60))
