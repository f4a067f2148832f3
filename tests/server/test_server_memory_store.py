"""A store that is really full, read-only or damaged: the server says so and goes on."""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

if TYPE_CHECKING:
    from tests.server.conftest import Peer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses Linux's limits and rights")

_WITHOUT_THE_RIGHTS_OF_ROOT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
os.execv(sys.executable, [sys.executable, "-m", "schemory", "serve", *sys.argv[1:]])
"""
_WITH_SMALL_FILES = """
import os, resource, sys
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
os.execv(sys.executable, [sys.executable, "-m", "schemory", "serve", *sys.argv[2:]])
"""
NOTE = {"project_id": "p", "scope": "s", "topic": "t", "source_type": "agent_note"}


@pytest.fixture
def serve(tmp_path: Path, environment: Mapping[str, str]) -> Iterator[Callable[..., "Peer"]]:
    """Starts a server through a script that confines it first."""
    from tests.server.conftest import Peer  # noqa: PLC0415 (a conftest is no module of the path)

    peers: list[Peer] = []

    def start(script: str, *arguments: str) -> Peer:
        errors = tmp_path / f"confined-{len(peers)}.log"
        with errors.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", script, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=tmp_path,
                env=dict(environment),
            )
        peers.append(Peer(process, errors))
        peers[-1].shake_hands()
        return peers[-1]

    yield start
    for peer in peers:
        peer.process.kill()
        peer.process.wait()
        for pipe in (peer.process.stdin, peer.process.stdout):
            if pipe:
                pipe.close()


@pytest.fixture
def database(tmp_path: Path, start_as_told: Callable[..., "Peer"]) -> Path:
    """A store that holds one entry, closed by the server that wrote it."""
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    path = folder / "memory.sqlite"
    peer = start_as_told("--db", str(path))
    peer.shake_hands()
    assert told(peer.call(1, "memory_add_entry", {**NOTE, "content": "The first note."}))["ok"]
    peer.close_input()
    assert peer.wait() == 0
    return path


def told(answer: dict[str, Any]) -> dict[str, Any]:
    structured: dict[str, Any] = answer["result"]["structuredContent"]
    assert answer["result"]["isError"] is not structured["ok"]
    return structured


def refused(answer: dict[str, Any]) -> str:
    """Return the code of a failure that says what to do."""
    structured = told(answer)
    assert structured["ok"] is False
    assert structured["detail"]
    assert structured["hint"]
    assert "Traceback" not in json.dumps(answer)
    return str(structured["error_code"])


def found(peer: "Peer", number: int) -> int:
    answer = peer.call(number, "memory_search", {"project_id": "p", "query": "note"})
    return len(told(answer)["results"])


@pytest.mark.covers("server.memory.failing-store")
def test_a_full_disk_stores_nothing_half_and_loses_nothing(
    database: Path, serve: Callable[..., "Peer"], start_as_told: Callable[..., "Peer"]
) -> None:
    peer = serve(_WITH_SMALL_FILES, str(database.stat().st_size + 200_000), "--db", str(database))
    kept, codes = 0, []
    for number in range(1, 9):
        content = f"note {number} " + " ".join(f"w{number}x{n}" for n in range(9_000))
        answer = peer.call(number, "memory_add_entry", {**NOTE, "content": content})
        if told(answer)["ok"]:
            kept += 1
        else:
            codes.append(refused(answer))
    assert set(codes) == {"STORE_FULL"}
    assert found(peer, 20) == kept + 1
    peer.close_input()
    assert peer.wait() == 0
    whole = start_as_told("--db", str(database))
    whole.shake_hands()
    assert found(whole, 1) == kept + 1
    assert told(whole.call(2, "memory_add_entry", {**NOTE, "content": "There is room."}))["ok"]


@pytest.mark.covers("server.memory.failing-store")
def test_a_file_that_may_not_be_written_is_read_and_every_write_refused(
    database: Path, serve: Callable[..., "Peer"]
) -> None:
    if os.geteuid() == 0 and ctypes.CDLL(None).prctl(23, 1, 0, 0, 0) != 1:
        pytest.skip("this process cannot give up its rights")
    for file in database.parent.iterdir():
        file.chmod(0o444)
    database.parent.chmod(0o555)
    try:
        peer = serve(_WITHOUT_THE_RIGHTS_OF_ROOT, "--db", str(database))
        writes: list[tuple[str, dict[str, Any]]] = [
            ("memory_add_entry", {**NOTE, "content": "Another note."}),
            ("memory_rebuild_index", {"project_id": "p"}),
        ]
        for number, (tool, arguments) in enumerate(writes, 1):
            assert refused(peer.call(number, tool, arguments)) == "STORE_READONLY"
        assert found(peer, 9) == 1
        peer.close_input()
        assert peer.wait() == 0
    finally:
        database.parent.chmod(0o700)


@pytest.mark.covers("server.memory.failing-store")
def test_a_damaged_page_is_told_and_the_server_goes_on(
    database: Path, start_as_told: Callable[..., "Peer"]
) -> None:
    with closing(apsw.Connection(str(database))) as db:
        root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory_entries'").get
        size = int(db.pragma("page_size"))
    with database.open("r+b") as file:
        file.seek((int(root) - 1) * size)
        file.write(b"\xff" * size)
    peer = start_as_told("--db", str(database))
    peer.shake_hands()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("memory_search", {"project_id": "p", "query": ""}),
        ("memory_add_entry", {**NOTE, "content": "Another note."}),
    ]
    for number, (tool, arguments) in enumerate(calls, 1):
        assert refused(peer.call(number, tool, arguments)) == "STORE_CORRUPT"
    assert peer.ask("ping", 9)["result"] == {}
