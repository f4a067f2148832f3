"""Eight processes that write at once, against eight that do no more than take a lock and write."""

import fcntl
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
from benchmarks import made, raw
from benchmarks.measure import Figure, percentile

from schemory.graph.inputs import NodeInput
from schemory.storage.sqlite.index_text import lines_text, name_text

_PROCESSES = 8
_WRITES = 60
_RUNS = 5
_LINES = ("Role: Writer", "Status: Active", f"Description: {'word ' * 18}")
_STATEMENTS = """
INSERT INTO node (project, name, type, metadata, created_at, updated_at, author, revision,
                  since_seq, twin)
  SELECT 1, :name, 1, :stored, :now, :now, '', 1, last_seq + 1, 0 FROM projects WHERE number = 1;
INSERT INTO node_index_1 (rowid, text)
  VALUES ((SELECT seq FROM sqlite_sequence WHERE name = 'node'), :indexed_name);
INSERT INTO node_index_1 (rowid, text)
  VALUES ((SELECT seq + 1099511627776 FROM sqlite_sequence WHERE name = 'node'), :indexed_lines);
INSERT INTO insert_run (project, kind, first_id, last_id, seq)
  SELECT 1, 'node', s.seq, s.seq, last_seq + 1 FROM sqlite_sequence AS s, projects
  WHERE s.name = 'node' AND number = 1;
INSERT INTO ledger (project, seq, recorded_at, operation, author, client, items)
  SELECT 1, last_seq + 1, :now, 'add_nodes', '', '', '{"nodes_inserted":1}' FROM projects
  WHERE number = 1;
UPDATE projects SET last_seq = last_seq + 1, last_recorded_at = :now, updated_at = :now
  WHERE number = 1
"""


def writing(folder: Path) -> Iterator[Figure]:
    """Measure throughput and waiting of eight writing processes."""
    runs: dict[str, list[float]] = {"raw": [], "ours": []}
    waits: dict[str, list[float]] = {"raw": [], "ours": []}
    lost = 0
    for i in range(_RUNS):
        for kind, each in runs.items():
            path = folder / f"processes-{kind}-{i}.db"
            rate, taken = _run(kind, path)
            each.append(rate)
            waits[kind].extend(taken)
            lost += _PROCESSES * _WRITES - _count(path)
    rates = {kind: statistics.median(each) for kind, each in runs.items()}
    yield Figure(
        name="8 processes, writes a second",
        ours=rates["ours"],
        raw=rates["raw"],
        unit="/s",
        value=100 * rates["ours"] / rates["raw"],
        value_unit="%",
        goal=80,
        is_least=True,
        note="bare: a file lock and one transaction of the same rows, ready-made index text",
    )
    p99 = {kind: percentile(taken, 0.99) for kind, taken in waits.items()}
    yield Figure(
        name="8 processes, p99 of a write",
        ours=p99["ours"],
        raw=p99["raw"],
        value=p99["ours"],
        value_unit="ms",
        goal=300,
    )
    yield Figure(
        name="8 processes, lost writes", ours=lost, unit="", value=lost, value_unit="", goal=0
    )


def _run(kind: str, path: Path) -> tuple[float, list[float]]:
    with closing(made.open_store(path)) as store:
        made.graph_of(store).add_nodes([NodeInput("first", "npc")])
    command = [sys.executable, "-m", "benchmarks.processes", kind, str(path)]
    workers = [
        subprocess.Popen(
            [*command, str(i)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for i in range(_PROCESSES)
    ]
    for worker in workers:
        if worker.stdout is not None:
            worker.stdout.readline()
    begin = time.perf_counter()
    for worker in workers:
        if worker.stdin is not None:
            worker.stdin.write("go\n")
            worker.stdin.flush()
    answers = [worker.communicate()[0] for worker in workers]
    spent = time.perf_counter() - begin
    taken = [float(wait) for answer in answers for wait in json.loads(answer)]
    return _PROCESSES * _WRITES / spent, taken


def _count(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as db:
        return int(db.execute("SELECT count(*) - 1 FROM node").get)


def _ours(path: Path, worker: int) -> Callable[[int], object]:
    graph = made.graph_of(made.open_store(path))
    return lambda i: graph.add_nodes([NodeInput(f"worker {worker} node {i}", "npc", _LINES)])


def _raw(path: Path, worker: int) -> Callable[[int], object]:
    db = raw.connect(path)
    db.set_busy_timeout(15_000)
    lock = os.open(f"{path}-bare-lock", os.O_RDWR | os.O_CREAT, 0o600)
    fixed = {
        "stored": json.dumps(_LINES, separators=(",", ":")),
        "indexed_lines": lines_text(_LINES),
        "now": "2026-01-01T00:00:00.000Z",
    }

    def write(i: int) -> None:
        name = f"worker {worker} node {i}"
        bound = {**fixed, "name": name, "indexed_name": name_text(name)}
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            db.execute("BEGIN IMMEDIATE")
            for sql in _STATEMENTS.split(";\n"):
                db.execute(sql, bound)
            db.execute("COMMIT")
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)

    return write


def work(kind: str, path: Path, worker: int) -> None:
    """Be one of the processes: write when told, then print how long each write took, in ms."""
    write = (_ours if kind == "ours" else _raw)(path, worker)
    print("ready", flush=True)
    sys.stdin.readline()
    taken: list[float] = []
    for i in range(_WRITES):
        begin = time.perf_counter()
        write(i)
        taken.append((time.perf_counter() - begin) * 1000)
    print(json.dumps(taken))


if __name__ == "__main__":
    work(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
