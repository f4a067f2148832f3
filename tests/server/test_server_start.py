"""What a server has done by the time it answers `tools/list`, and that everything works later."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

MOST_MODULES = 70
"""Of our own, before the first call; a start costs as much as it imports."""

NOT_YET = (
    "schemory.graph",
    "schemory.memory",
    "schemory.retrieval",
    "schemory.safety",
    "schemory.storage.sqlite.store",
    "schemory.schemas.load",
    "schemory.tools.bench",
    "schemory.tools.performing",
    "schemory.tools.memory_bench",
    "argparse",
    "dataclasses",
    "inspect",
    "logging",
    "datetime",
    "difflib",
    "glob",
    "hashlib",
    "shutil",
)
HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    b'"capabilities":{},"clientInfo":{"name":"pytest","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
)


def call_of(number: int, tool: str, arguments: Mapping[str, object]) -> bytes:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).encode() + b"\n"


@pytest.mark.covers("server.fast.start")
def test_listing_tools_imports_nothing_of_what_calls_need(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    log = tmp_path / "stderr.log"
    make_store(tmp_path / "m.sqlite", environment)
    command = [sys.executable, "-X", "importtime", "-m", "schemory", "serve", "--db", "m.sqlite"]
    with log.open("wb") as errors:
        done = subprocess.run(
            command,
            input=HELLO,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=tmp_path,
            env={**environment},
            timeout=60,
            check=True,
        )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    imported = re.findall(r"^import time:.*\| +(\S+)$", log.read_text("utf-8"), re.MULTILINE)
    # A start that took more than a second has begun to watch the schemas' folder.
    until = imported.index("schemory.server.stdio") + 1
    own = {name for name in imported[:until] if name.startswith("schemory")}
    assert len(own) <= MOST_MODULES
    assert [name for name in imported[:until] if name in NOT_YET] == []


@pytest.mark.covers("server.fast.first_calls")
def test_two_first_calls_at_once_are_both_answered(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    code = """
import json, sys, threading
from schemory.app import open_app
from schemory.config import load_settings

with open_app(load_settings({"MEMORY_DB_PATH": "m.sqlite"})) as app:
    box, ready, told = app.toolbox, threading.Barrier(4), []

    def call(tool, arguments):
        ready.wait()
        told.append(box.call(tool, arguments).is_error)

    calls = [
        ("add_nodes", {"nodes": [{"name": "A", "nodeType": "t"}]}),
        ("memory_add_entry", {"project_id": "p", "topic": "t", "source_type": "decision",
                              "content": "We keep the log.", "scope": "s"}),
        ("search_nodes", {"query": "A"}),
        ("memory_status", {"project_id": "p"}),
    ]
    threads = [threading.Thread(target=call, args=each) for each in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = box.call("open_nodes", {"names": ["A"]}).structured["data"]["nodes"][0]["name"]
    print(json.dumps([told, found, app.graph is app.graph, app.memory.store is app.store]))
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(run.stdout) == [[False] * 4, "A", True, True]


@pytest.mark.covers("server.fast.first_calls")
def test_a_store_that_vanished_after_the_start_is_told_by_the_first_call(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "schemory", "serve", "--db", "m.sqlite"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env={**environment},
    ) as process:
        assert process.stdin
        assert process.stdout
        ending = threading.Timer(60, process.kill)
        ending.start()
        process.stdin.write(HELLO)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        assert json.loads(process.stdout.readline())["id"] == 2
        os.rename(tmp_path / "m.sqlite", tmp_path / "gone.sqlite")  # noqa: PTH104 (as a user would)
        process.stdin.write(call_of(3, "search_nodes", {"query": ""}))
        process.stdin.close()
        answer: Any = json.loads(process.stdout.readline())
        process.wait()
        ending.cancel()
    assert answer["result"]["isError"]
    assert answer["result"]["structuredContent"]["error_code"].startswith("STORE")
    assert not (tmp_path / "m.sqlite").exists()


@pytest.mark.covers("server.fast.start_errors")
@pytest.mark.parametrize("kind", ["foreign", "text", "newer", "folder"])
def test_a_store_that_cannot_be_used_is_a_start_up_error(
    tmp_path: Path, environment: Mapping[str, str], kind: str
) -> None:
    file = tmp_path / "m.sqlite"
    expected = make_unusable(file, kind, environment)
    before = file.read_bytes() if file.is_file() else b""
    done = subprocess.run(
        [sys.executable, "-m", "schemory", "serve", "--db", str(file)],
        input=HELLO,
        capture_output=True,
        cwd=tmp_path,
        env={**environment},
        timeout=60,
        check=False,
    )
    assert done.returncode == 3
    assert done.stdout == b""
    told = done.stderr.decode()
    assert told.startswith("error: ")
    assert expected in told
    assert "Traceback" not in told
    assert (file.read_bytes() if file.is_file() else b"") == before


def make_store(file: Path, environment: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "schemory", "nodes", "--db", str(file)]
    subprocess.run(command, env={**environment}, capture_output=True, check=False)


def make_unusable(file: Path, kind: str, environment: Mapping[str, str]) -> str:
    """Make a store that cannot be used; returns what is to be told of it."""
    if kind == "text":
        file.write_text("name,type\n", encoding="utf-8")
        return "not a SQLite database"
    if kind == "folder":
        file.mkdir()
        return str(file)
    if kind == "newer":
        make_store(file, environment)
    db = sqlite3.connect(file)
    db.execute("PRAGMA user_version = 999" if kind == "newer" else "CREATE TABLE theirs (a)")
    db.commit()
    if kind == "newer":
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return "schema version 999" if kind == "newer" else "belongs to another program"


@pytest.mark.covers("server.fast.start_errors")
def test_a_setting_that_does_not_parse_ends_a_start_with_code_2(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "schemory", "serve", "--tools", "some", "--db", "m.sqlite"],
        input=HELLO,
        capture_output=True,
        cwd=tmp_path,
        env={**environment},
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert b"one of full, compact, auto" in done.stderr
    assert not (tmp_path / "m.sqlite").exists()
