"""Killed at any moment, an export leaves the old file or the new one, an import all or nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if sys.platform != "win32":
    import fcntl

from schemory.transfer.memory.options import ExportFormat

if TYPE_CHECKING:
    from tests.transfer.conftest import Box

WORKER = Path(__file__).with_name("transfer_memory_worker.py")


def kill_after(seconds: float, *arguments: object) -> bool:
    """Start the worker and kill it; returns whether it had ended before."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), *map(str, arguments)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()  # it has begun
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return False
    finally:
        process.stdout.close()
    return True


@pytest.mark.covers("memory.transfer.kill")
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is POSIX")
def test_a_killed_export_leaves_the_old_file_or_the_new_one(box: "Box") -> None:
    box.put(*(box.make(f"e{n:04}", f"Note {n}.") for n in range(1_500)))
    begun = time.monotonic()
    assert kill_after(30, "export", box.memory.store.location, box.folder)
    whole = time.monotonic() - begun
    rng = random.Random(7)
    target = box.folder / "out.jsonl"
    seen: set[bool] = set()
    for _ in range(4):
        target.write_text("old")
        kill_after(rng.uniform(0, whole / 2), "export", box.memory.store.location, box.folder)
        text = target.read_text()
        seen.add(text == "old")
        if text != "old":
            assert len(text.splitlines()) == 1_501
            assert json.loads(text.splitlines()[-1])["id"] == "e1499"
    assert True in seen


@pytest.mark.covers("memory.transfer.kill.leftovers")
@pytest.mark.skipif(os.name == "nt", reason="process numbers as on POSIX")
def test_the_next_export_removes_what_a_killed_one_left_and_nothing_else(box: "Box") -> None:
    box.put(box.make("a"))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = box.write(f".out.json.{dead.pid}-1.tmp", "half")
    kept = [
        box.write(f".out.json.{os.getppid()}-1.tmp", "of a process that lives"),
        box.write(f".other.json.{dead.pid}-1.tmp", "of another file"),
        box.write(f".out.json.{dead.pid}.tmp", "not ours"),
    ]
    held = box.write(f".out.json.{dead.pid}-2.tmp", "of a process with a number of its own")
    with held.open("rb") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        box.export("out.json")
        assert not left.exists()
        assert all(path.exists() for path in (held, *kept))
    box.export("out.json", overwrite=True)
    assert not held.exists()


@pytest.mark.covers("memory.transfer.kill")
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is POSIX")
def test_a_killed_import_leaves_everything_or_nothing(box: "Box", other: "Box") -> None:
    box.put(*(box.make(f"e{n:04}", f"Note {n}.") for n in range(600)))
    box.export("out.jsonl")
    rng = random.Random(11)
    for _ in range(3):
        location = other.memory.store.location
        kill_after(rng.uniform(0.05, 0.9), "import", location, other.folder)
        assert len(other.held().entries) in {0, 600}
        assert other.last_seq() in {0, 1}
    other.take("out.jsonl", "merge")
    assert len(other.held().entries) == 600


@pytest.mark.covers("memory.transfer.bounded")
@pytest.mark.parametrize("form", [form.value for form in ExportFormat])
def test_memory_does_not_grow_with_what_is_exported_and_imported(
    box: "Box", other: "Box", form: str
) -> None:
    content = "x" * 24_000
    box.put(*(box.make(f"e{n:04}", f"{n} {content}") for n in range(500)))  # 12 MB
    name = f"out.{form}"
    tracemalloc.start()
    try:
        box.export(name)
        exported = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        other.take(name)
        imported = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert exported < 8_000_000  # a page of 100 entries and its text
    assert imported < 8_000_000
