"""Backup while several processes write, and restore beside a running server: real processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import apsw
import pytest

from schemory import open_store

Cli: TypeAlias = Callable[..., tuple[int, str]]

WRITES = """
import sys
from schemory import open_store
from schemory.graph.inputs import NodeInput
from schemory.memory.inputs import NewEntry, ProjectRef
path, writer = sys.argv[1:]
with open_store(path) as store:
    for number in range(100_000):
        name = f"{writer}-{number}"
        store.graph.add_nodes([NodeInput(name, "pair"), NodeInput(name + "-too", "pair")])
        store.memory.add_entry(
            ProjectRef(project_id="load"),
            NewEntry(scope="s", topic=writer, content=name, source_type="agent_note"),
        )
        print(number, flush=True)
"""


@contextmanager
def writing(store: Path, writer: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a process that writes and says the number of each write that was committed."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITES, str(store), writer], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def acknowledged(process: "subprocess.Popen[str]", count: int) -> int:
    """Wait for `count` acknowledgements; return the last number."""
    assert process.stdout is not None
    numbers = [int(process.stdout.readline()) for _ in range(count)]
    return numbers[-1]


@pytest.mark.covers("setup.backup.load")
def test_a_backup_under_load_holds_every_write_that_was_acknowledged_and_no_half_one(
    tmp_path: Path, run_cli: Cli
) -> None:
    store, copy = tmp_path / "live.sqlite", tmp_path / "copy.sqlite"
    with open_store(store):
        pass
    with ExitStack() as stack:
        writers = {name: stack.enter_context(writing(store, name)) for name in ("a", "b", "c")}
        last = {name: acknowledged(process, 8) for name, process in writers.items()}
        code, printed = run_cli(tmp_path, "backup", str(copy), "--db", str(store), "--json")
        assert code == 0, printed
        still = {name: acknowledged(process, 2) for name, process in writers.items()}
    assert all(still[name] > last[name] for name in last)  # nobody was stopped by it

    back = tmp_path / "back.sqlite"
    code, printed = run_cli(tmp_path, "restore", str(copy), "--db", str(back))
    assert code == 0, printed
    with closing(apsw.Connection(str(back))) as db:
        names = [str(row[0]) for row in db.execute("SELECT name FROM node")]
        entries = [str(row[0]) for row in db.execute("SELECT content FROM memory_entries")]
    for writer, number in last.items():
        held = {name for name in names if name.startswith(f"{writer}-")}
        count = len(held) // 2
        assert held == {f"{writer}-{n}{end}" for n in range(count) for end in ("", "-too")}
        noted = [text for text in entries if text.startswith(f"{writer}-")]
        assert count > number
        assert sorted(noted) == sorted(f"{writer}-{n}" for n in range(len(noted)))
        assert len(noted) in {count, count - 1}  # each entry comes after its nodes
    assert run_cli(tmp_path, "doctor", "--db", str(back))[0] == 0


SERVE_ENV = ("PATH", "SYSTEMROOT")


@contextmanager
def serving(home: Path, store: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a real server that has answered its first request."""
    kept = {key: os.environ[key] for key in SERVE_ENV if key in os.environ}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    with subprocess.Popen(
        [sys.executable, "-m", "schemory", "serve", "--db", str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**kept, "HOME": str(home), "USERPROFILE": str(home)},
        cwd=home,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(hello) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        yield process
        process.stdin.close()
        process.wait(timeout=30)


@pytest.mark.covers("setup.restore.running")
def test_a_store_that_a_running_server_has_open_is_not_replaced(
    tmp_path: Path, run_cli: Cli
) -> None:
    store, copy = tmp_path / "m.sqlite", tmp_path / "copy.sqlite"
    add = json.dumps({"nodes": [{"name": "first", "nodeType": "thing"}]})
    assert run_cli(tmp_path, "call", "add_nodes", add, "--db", str(store))[0] == 0
    assert run_cli(tmp_path, "backup", str(copy), "--db", str(store))[0] == 0
    with serving(tmp_path, store) as server:
        code, printed = run_cli(tmp_path, "restore", str(copy), "--db", str(store))
        assert code == 3
        assert "it was not replaced" in printed
        if sys.platform == "linux":
            assert f"Process {server.pid} has the store open" in printed
        later = json.dumps({"nodes": [{"name": "later", "nodeType": "thing"}]})
        assert run_cli(tmp_path, "call", "add_nodes", later, "--db", str(store))[0] == 0
    assert not list(tmp_path.glob("*.before-restore-*"))
    code, printed = run_cli(tmp_path, "restore", str(copy), "--db", str(store))
    assert code == 0, printed
    code, printed = run_cli(tmp_path, "nodes", "--json", "--db", str(store))
    assert "first" in printed
    assert "later" not in printed
