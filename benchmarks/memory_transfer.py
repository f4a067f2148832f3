"""Measures export and import of memory: time, CPU, memory and progress of each form and policy.

    python -m benchmarks.memory_transfer [--entries 100000] [--json]

Each step runs in a process of its own, so that its peak is its own. `load` writes the entries
through the store's transaction with ready-made index texts: what an import costs beyond that is
reading, checking, the search for credentials, and deriving the index. `fail` imports into an empty
store; `merge` into one that holds an older state of every second entry; `replace` into one that
holds as many other entries, which are written to a backup and removed. Progress is told as the
number of reports and the longest time without one.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from schemory.app import make_ids, system_clock
from schemory.memory.entries import content_sha256
from schemory.memory.inputs import ProjectRef
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import MemorySettings
from schemory.model.entry import Entry, Link, Relation, SourceType
from schemory.retrieval.tokens import TOKENS_VERSION, index_terms
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore
from schemory.transfer.memory.export import export_project
from schemory.transfer.memory.importer import import_project
from schemory.transfer.memory.options import ExportFormat, ExportOptions, ImportOptions, OnConflict

PROJECT = "bench/app"
EARLY = "2026-01-01T00:00:00.000Z"
LATE = "2026-02-01T00:00:00.000Z"
FORMS = tuple(form.value for form in ExportFormat)
POLICIES = tuple(policy.value for policy in OnConflict)
STORES = {OnConflict.MERGE.value: "half", OnConflict.REPLACE.value: "others"}
"""What a store holds before something is imported; nothing where it is not said."""
STEPS = (
    "load source",
    *(f"load {name}" for name in STORES.values()),
    *(f"export {form}" for form in FORMS),
    *(f"import {form} {policy}" for policy in POLICIES for form in FORMS),
)
_PAGE = 500
_WORDS = 80
_VOCABULARY = 4_000
_KIB_PER_MB = 1024


class Listener:
    """Hears progress, and how long there was none."""

    def __init__(self) -> None:
        self.reports = 0
        self.longest_silence = 0.0
        self._last = time.perf_counter()

    def hear(self, _done: float, _total: float | None, _message: str) -> None:
        """Take note of a report."""
        self.reports += 1
        self.end()

    def end(self) -> None:
        """Take note of the time since the last report."""
        now = time.perf_counter()
        self.longest_silence = max(self.longest_silence, now - self._last)
        self._last = now


def main() -> int:
    """Run every step and tell what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step:
        print(json.dumps(run_step(chosen.step, chosen.folder, chosen.entries)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        told = [_in_process(step, folder, chosen.entries) for step in STEPS]
    print(json.dumps(told, indent=2) if chosen.json else _table(told))
    return 0


def _table(told: list[dict[str, Any]]) -> str:
    head = "| step | time | CPU | peak memory | reports | longest silence |"
    rows = (
        f"| {each['step']} | {each['seconds']:.1f} s | {each['cpu_seconds']:.1f} s "
        f"| {each['peak_mb']:.0f} MB | {each['reports']} | {each['silence_seconds']:.1f} s |"
        for each in told
    )
    return "\n".join([head, "|---" * 6 + "|", *rows])


def _in_process(step: str, folder: str, entries: int) -> dict[str, Any]:
    print(f"... {step}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.memory_transfer", "--step", step]
    made = subprocess.run(
        [*command, "--folder", folder, "--entries", str(entries)],
        check=True,
        capture_output=True,
        text=True,
    )
    told: dict[str, Any] = json.loads(made.stdout)
    return told


def run_step(step: str, folder: Path, entries: int) -> dict[str, object]:
    """Run one step in this process and return its figures."""
    kind, name, *more = step.split()
    store = name
    if kind == "import":
        store = f"into-{name}-{more[0]}"
        if more[0] in STORES:
            shutil.copy(folder / f"{STORES[more[0]]}.db", folder / f"{store}.db")
    opened = _open_store(folder, "source" if kind == "export" else store)
    memory = _memory(opened)
    begin, cpu, listener = time.perf_counter(), time.process_time(), Listener()
    if kind == "load":
        _load(memory, name, entries)
    elif kind == "export":
        form = ExportOptions(format=ExportFormat(name), overwrite=True, include_superseded=True)
        export_project(memory, _ref(folder), f"out.{name}", form, progress=listener.hear)
    else:
        how = ImportOptions(on_conflict=OnConflict(more[0]), confirm_replace=True)
        import_project(memory, _ref(folder), f"out.{name}", how, progress=listener.hear)
    listener.end()
    opened.close()
    return {
        "step": step,
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KIB_PER_MB,
        "reports": listener.reports,
        "silence_seconds": listener.longest_silence,
    }


def _ref(folder: Path) -> ProjectRef:
    return ProjectRef(project_path=str(folder), project_id=PROJECT)


def _open_store(folder: Path, name: str) -> SqliteStore:
    ids = make_ids(system_clock)
    terms = IndexTerms(TOKENS_VERSION, index_terms)
    return SqliteStore.open(folder / f"{name}.db", now=system_clock, ids=ids, terms=terms)


def _memory(store: SqliteStore) -> ProjectMemory:
    ids = make_ids(system_clock)
    return ProjectMemory(store, settings=MemorySettings(), now=system_clock, ids=ids)


def _load(memory: ProjectMemory, name: str, entries: int) -> None:
    made = iter(_made(entries, name))
    with memory.store.memory_transaction(PROJECT, WriteContext(operation="benchmark")) as tx:
        while page := list(islice(made, _PAGE)):
            tx.insert_entries(page, texts=[memory.store.index_text(entry) for entry in page])
            tx.insert_links(_links(page[:: _PAGE // 100]))


def _made(count: int, name: str) -> Iterator[Entry]:
    """Yield the entries of a store: all, an older state of every second one, or other ones."""
    rng = random.Random(1 if name != "others" else 2)
    words = [
        "".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 10))) for _ in range(_VOCABULARY)
    ]
    for number in range(count):
        text = " ".join(rng.choices(words, k=_WORDS))
        if name == "half" and number % 2:
            continue
        yield _entry(f"{'other' if name == 'others' else 'entry'}-{number:07}", text, name)


def _entry(entry_id: str, text: str, name: str) -> Entry:
    number = int(entry_id[-7:])
    content = f"{text} {number}"
    return Entry(
        id=entry_id,
        project_id=PROJECT,
        scope="backend",
        topic=f"topic {number % 50}",
        content=content,
        content_sha256=content_sha256(content),
        source_type=SourceType.DECISION,
        created_at=EARLY,
        updated_at=EARLY if name == "half" else LATE,
        title=f"Earlier: {text[:40]}" if name == "half" else text[:40],
        tags=(f"tag{number % 20}",),
    )


def _links(entries: list[Entry]) -> list[Link]:
    return [
        Link(
            id=f"link-{later.id}",
            source_entry_id=later.id,
            target_entry_id=earlier.id,
            relation=Relation.SUPERSEDES if number % 2 else Relation.EXPLAINS,
            created_at=EARLY,
        )
        for number, (earlier, later) in enumerate(pairwise(entries))
    ]


if __name__ == "__main__":
    sys.exit(main())
