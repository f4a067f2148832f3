"""Measures export and import of memory: time, CPU and the most memory each form needs.

    python -m benchmarks.memory_transfer [--entries 100000] [--json]

Each step runs in a process of its own, so that its peak is its own. `load` writes the same entries
through the store's transaction with ready-made index texts: what an import costs beyond that is
reading, checking, the search for credentials, and deriving the index.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

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
FORMS = tuple(form.value for form in ExportFormat)
STEPS = (
    "load",
    *(f"export {form}" for form in FORMS),
    *(f"import {form} fail" for form in FORMS),
    "import jsonl merge",
    "import jsonl replace",
)
_PAGE = 500
_WORDS = 80
_VOCABULARY = 4_000
_KIB_PER_MB = 1024


def main() -> int:
    """Run every step and tell what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step:
        print(json.dumps(run_step(chosen.step, chosen.folder, chosen.entries)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        told = [_in_process(step, folder, chosen.entries) for step in STEPS]
    if chosen.json:
        print(json.dumps(told, indent=2))
        return 0
    for each in told:
        print(
            f"{each['step']:<22} {each['seconds']:>8.1f} s {each['cpu_seconds']:>8.1f} s CPU "
            f"{each['peak_mb']:>6.0f} MB"
        )
    return 0


def _in_process(step: str, folder: str, entries: int) -> dict[str, object]:
    command = [sys.executable, "-m", "benchmarks.memory_transfer", "--step", step]
    made = subprocess.run(
        [*command, "--folder", folder, "--entries", str(entries)],
        check=True,
        capture_output=True,
        text=True,
    )
    told: dict[str, object] = json.loads(made.stdout)
    return told


def run_step(step: str, folder: Path, entries: int) -> dict[str, object]:
    """Run one step in this process and return its figures."""
    begin, cpu = time.perf_counter(), time.process_time()
    kind, *more = step.split()
    if kind == "load":
        _load(folder, entries)
    elif kind == "export":
        options = ExportOptions(format=ExportFormat(more[0]), overwrite=True)
        export_project(_memory(folder, "source"), _ref(folder), f"out.{more[0]}", options)
    else:
        how = ImportOptions(on_conflict=OnConflict(more[1]), confirm_replace=True)
        import_project(_memory(folder, more[0]), _ref(folder), f"out.{more[0]}", how)
    return {
        "step": step,
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KIB_PER_MB,
    }


def _ref(folder: Path) -> ProjectRef:
    return ProjectRef(project_path=str(folder), project_id=PROJECT)


def _memory(folder: Path, name: str) -> ProjectMemory:
    ids = make_ids(system_clock)
    terms = IndexTerms(TOKENS_VERSION, index_terms)
    store = SqliteStore.open(folder / f"{name}.db", now=system_clock, ids=ids, terms=terms)
    return ProjectMemory(store, settings=MemorySettings(), now=system_clock, ids=ids)


def _load(folder: Path, entries: int) -> None:
    memory = _memory(folder, "source")
    context = WriteContext(operation="benchmark")
    with memory.store.memory_transaction(PROJECT, context) as tx:
        for page in _made(entries, memory):
            tx.insert_entries(page, texts=[memory.store.index_text(entry) for entry in page])
            tx.insert_links(_links(page[:: _PAGE // 100], memory))


def _made(count: int, memory: ProjectMemory) -> Iterator[list[Entry]]:
    rng = random.Random(1)
    words = [
        "".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 10))) for _ in range(_VOCABULARY)
    ]
    for first in range(0, count, _PAGE):
        yield [
            _entry(number, " ".join(rng.choices(words, k=_WORDS)), memory)
            for number in range(first, min(count, first + _PAGE))
        ]


def _entry(number: int, text: str, memory: ProjectMemory) -> Entry:
    content = f"{text} {number}"
    return Entry(
        id=memory.work.ids(),
        project_id=PROJECT,
        scope="backend",
        topic=f"topic {number % 50}",
        content=content,
        content_sha256=content_sha256(content),
        source_type=SourceType.DECISION,
        created_at=EARLY,
        updated_at=EARLY,
        title=text[:40],
        tags=(f"tag{number % 20}",),
    )


def _links(entries: list[Entry], memory: ProjectMemory) -> list[Link]:
    return [
        Link(
            id=memory.work.ids(),
            source_entry_id=later.id,
            target_entry_id=earlier.id,
            relation=Relation.SUPERSEDES if number % 2 else Relation.EXPLAINS,
            created_at=EARLY,
        )
        for number, (earlier, later) in enumerate(pairwise(entries))
    ]


if __name__ == "__main__":
    sys.exit(main())
