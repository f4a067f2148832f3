"""Several real processes on one file: nothing is lost, nobody hears `locked`, kills do no harm."""

import random
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from schemory.errors import StoreBusyError
from schemory.model.edge import EdgeKey
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.locks import lock_owner
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
WORKER = Path(__file__).with_name("worker.py")


def start(*arguments: str | Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, WORKER, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def working(*arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a worker until the block ends; its first word has come."""
    with start(*arguments) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def open_store(path: Path, now: Clock, ids: IdMaker, *, timeout: float = 15.0) -> SqliteStore:
    return SqliteStore.open(path, now=now, ids=ids, busy_timeout_seconds=timeout)


@pytest.mark.covers("storage.processes.writers")
def test_eight_writers_at_once_lose_nothing(tmp_path: Path, clock: Clock, ids: IdMaker) -> None:
    path = tmp_path / "memory.db"
    workers = [start("write", path, f"w{i}", "12") for i in range(8)]
    outcomes = [worker.communicate() for worker in workers]
    assert [errors for _, errors in outcomes] == [""] * 8
    assert [worker.returncode for worker in workers] == [0] * 8
    store = open_store(path, clock, ids)
    with store.read("default") as reader:
        counter = reader.find_nodes(["counter"])["counter"]
        assert counter.node.metadata == ("96",)
        assert reader.count().edges == 96
        names = {f"w{i}-{turn}-{end}" for i in range(8) for turn in range(12) for end in "ab"}
        assert set(reader.find_nodes(names)) == names
        assert [c.seq for c in reader.commits(limit=999)] == list(range(1, 97))
    assert store.find_faults() == ()
    store.close()


@pytest.mark.covers("storage.processes.kills")
def test_fifty_kills_lose_no_acknowledged_write(tmp_path: Path, clock: Clock, ids: IdMaker) -> None:
    path = tmp_path / "memory.db"
    chance = random.Random(7)
    acknowledged: set[str] = set()
    kills = 0
    for turn in range(10):
        workers = {f"k{turn}-{i}": start("write", path, f"k{turn}-{i}", "0") for i in range(5)}
        for name, worker in workers.items():
            assert worker.stdout is not None
            for _ in range(chance.randint(1, 4)):
                acknowledged.add(f"{name}-{worker.stdout.readline().strip()}")
            timer = threading.Timer(chance.random() * 0.01, worker.kill)
            timer.start()
            done, errors = worker.communicate()
            timer.join()
            kills += worker.returncode == -9
            assert errors == ""
            acknowledged.update(f"{name}-{line}" for line in done.split())
        db = apsw.Connection(str(path))
        assert list(db.execute("PRAGMA quick_check")) == [("ok",)]
        db.close()
    assert kills == 50
    store = open_store(path, clock, ids)
    with store.read("default") as reader:
        for name in acknowledged:
            key = EdgeKey(f"{name}-a", f"{name}-b", "to")
            assert reader.find_edges([key]), name
        written = reader.count().edges
        assert reader.find_nodes(["counter"])["counter"].node.metadata == (str(written),)
        assert reader.count().nodes == 2 * written + 1
        assert [c.seq for c in reader.commits(limit=9999)] == list(range(1, written + 1))
    assert len(acknowledged) >= 100
    assert store.find_faults() == ()
    store.close()


@pytest.mark.covers("storage.busy.holder")
@pytest.mark.parametrize("how", ["hold", "hold-sqlite"])
def test_who_waits_too_long_is_told_who_holds_the_lock(
    tmp_path: Path, clock: Clock, ids: IdMaker, how: str
) -> None:
    path = tmp_path / "memory.db"
    store = open_store(path, clock, ids, timeout=0.2)
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node("A", "item"))])
    with working(how, path) as holder:
        with pytest.raises(StoreBusyError) as caught, store.transaction("default", WRITE):
            pytest.fail("two writers at once")
        assert caught.value.code == "STORE_BUSY"
        if how == "hold" or sys.platform == "linux":
            assert f"Process {holder.pid} " in caught.value.message
            assert caught.value.context["holderPid"] == holder.pid
        with store.read("default") as reader:
            assert reader.find_nodes(["A"])
    with store.transaction("default", WRITE) as tx:
        assert tx.find_nodes(["A"])
    store.close()


@pytest.mark.covers("storage.busy.holder")
def test_a_thread_that_waits_too_long_is_told_that_it_waits_for_its_own_process(
    tmp_path: Path, clock: Clock, ids: IdMaker
) -> None:
    store = open_store(tmp_path / "memory.db", clock, ids, timeout=0.1)
    told: list[str] = []

    def rival() -> None:
        with pytest.raises(StoreBusyError) as caught, store.transaction("default", WRITE):
            pytest.fail("two writers at once")
        told.append(caught.value.message)

    with store.transaction("default", WRITE):
        thread = threading.Thread(target=rival)
        thread.start()
        thread.join()
    assert len(told) == 1
    assert told[0].startswith("This process keeps the store's write lock")
    store.close()


@pytest.mark.parametrize(
    ("table", "owner"),
    [
        ("", None),
        ("1: POSIX  ADVISORY  WRITE 77 fd:00:9 120 120", 77),
        ("1: POSIX  ADVISORY  WRITE 77 fd:00:8 120 120", None),
        ("1: POSIX ADVISORY READ 78 a:0:9 124 124\n2: POSIX ADVISORY WRITE 79 a:0:9 120 120", 79),
        ("1: POSIX  ADVISORY  WRITE 0 fd:00:9 120 120", None),
        ("1: POSIX  ADVISORY  WRITE -1 fd:00:9 120 120", None),
    ],
)  # fmt: skip
def test_the_holder_is_read_from_the_systems_table(table: str, owner: int | None) -> None:
    assert lock_owner(table, 9) == owner


def test_a_worker_leaves_only_the_database_and_its_lock_file(tmp_path: Path) -> None:
    with start("write", tmp_path / "memory.db", "w", "2") as worker:
        out, errors = worker.communicate()
    assert (out, errors) == ("0\n1\n", "")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["memory.db", "memory.db-lock"]
    text = (tmp_path / "memory.db-lock").read_text(encoding="ascii")
    assert re.fullmatch(r"\d+ *\n", text)
