"""Several real processes on one project's memory: nothing is lost, kills do no harm."""

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from schemory.model.moment import Clock, IdMaker
from schemory.storage.memory_protocols import EntryFilter, IndexTerms, TermGroup
from schemory.storage.sqlite.store import SqliteStore

WORKER = Path(__file__).with_name("memory_worker.py")
EVERYTHING = EntryFilter()


def start(path: Path, name: str, turns: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, WORKER, path, name, str(turns)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check(store: SqliteStore, acknowledged: set[str]) -> int:
    """Return how many transactions the project has, each whole and counted."""
    with store.read_memory("p") as reader:
        links = reader.list_links(limit=10_000)
        written = len(links)
        assert acknowledged <= {link.id for link in links}
        ends = [end for link in links for end in (link.source_entry_id, link.target_entry_id)]
        assert set(reader.find_entries(ends)) == set(ends)
        assert reader.find_entries(["counter"])["counter"].content == str(written)
        assert [c.seq for c in reader.commits(limit=10_000)] == list(range(1, written + 1))
        assert len(reader.list_earlier_texts("counter", limit=10_000)) == written - 1
        group = TermGroup(whole=("ring",))
        found = reader.match([group], EVERYTHING, limit=10_000)
        assert {match.id for match in found.matches} == set(ends)
    assert store.find_faults() == ()
    return written


@pytest.mark.covers("memory.store.processes.writers")
def test_eight_writers_of_one_project_lose_nothing(
    tmp_path: Path, clock: Clock, ids: IdMaker, index_rules: IndexTerms
) -> None:
    path = tmp_path / "memory.db"
    workers = [start(path, f"w{i}", 8) for i in range(8)]
    outcomes = [worker.communicate() for worker in workers]
    assert [errors for _, errors in outcomes] == [""] * 8
    store = SqliteStore.open(path, now=clock, ids=ids, terms=index_rules)
    assert check(store, {f"w{i}-{turn}" for i in range(8) for turn in range(8)}) == 64
    store.close()


@pytest.mark.covers("memory.store.processes.kills")
def test_kills_lose_no_acknowledged_entry(
    tmp_path: Path, clock: Clock, ids: IdMaker, index_rules: IndexTerms
) -> None:
    path = tmp_path / "memory.db"
    chance = random.Random(3)
    acknowledged: set[str] = set()
    for turn in range(3):
        workers = {f"k{turn}-{i}": start(path, f"k{turn}-{i}", 0) for i in range(4)}
        for name, worker in workers.items():
            assert worker.stdout is not None
            for _ in range(chance.randint(1, 4)):
                acknowledged.add(f"{name}-{worker.stdout.readline().strip()}")
            timer = threading.Timer(chance.random() * 0.01, worker.kill)
            timer.start()
            done, errors = worker.communicate()
            timer.join()
            assert (worker.returncode, errors) == (-9, "")
            acknowledged.update(f"{name}-{line}" for line in done.split())
        store = SqliteStore.open(path, now=clock, ids=ids, terms=index_rules)
        assert check(store, acknowledged) >= len(acknowledged) >= 4 * (turn + 1)
        store.close()
