"""What a session's brief leaves out of its process, and how a process ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from schemory import open_store
from schemory.memory.inputs import NewEntry, ProjectRef

MOST_MODULES = 100
"""Of our own, for a brief: sessions wait for it."""

NOT_YET = (
    "schemory.graph",
    "schemory.memory.cross",
    "schemory.memory.entries",
    "schemory.memory.lifecycle",
    "schemory.memory.record",
    "schemory.memory.results",
    "schemory.memory.search",
    "schemory.memory.vector_backend",
    "schemory.memory.writing",
    "schemory.retrieval.ranking",
    "schemory.safety.secrets",
    "schemory.storage.sqlite.memory_match",
    "schemory.storage.sqlite.memory_near",
    "schemory.tools.toolbox",
    "dataclasses",
    "difflib",
    "hashlib",
    "inspect",
    "logging",
    "shutil",
)


def python(home: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.covers("cli.light_start")
def test_a_brief_imports_nothing_of_what_searching_and_writing_need(tmp_path: Path) -> None:
    with open_store(tmp_path / "m.sqlite", space="p") as store:
        new = NewEntry(scope="s", topic="t", content="Kept.", source_type="agent_note")
        store.memory.add_entry(ProjectRef(project_id="p"), new)
    # `-X importtime` does not tell of what importlib imports.
    code = """
import atexit, sys
from schemory.cli.front import run

atexit.register(lambda: print(*sys.modules, sep="\\n"))
run()
"""
    done = python(tmp_path, "-c", code, "brief", "--db", "m.sqlite", "--project", "p")
    assert "1 active" in done.stdout
    imported = set(done.stdout.splitlines())
    own = {name for name in imported if name.startswith("schemory")}
    assert "schemory.memory.handoff" in own
    assert len(own) <= MOST_MODULES
    assert imported.isdisjoint(NOT_YET), imported & set(NOT_YET)


@pytest.mark.covers("cli.whole_end")
def test_a_process_ends_with_its_code_after_all_that_was_to_be_done(tmp_path: Path) -> None:
    code = """
import atexit, sys, threading, time
from schemory.cli.front import run

def work():
    time.sleep(0.2)
    print("the thread is through")

atexit.register(print, "registered")
if sys.argv.pop(1) == "thread":
    threading.Thread(target=work).start()
run()
"""
    for kind, told in (("plain", []), ("thread", ["the thread is through"])):
        done = python(tmp_path, "-c", code, kind, "--version")
        version, *rest = done.stdout.splitlines()
        assert version.startswith("schemory ")
        assert rest == [*told, "registered"]
    python(tmp_path, "-c", code, "plain", "find", "nobody", "--db", "m.sqlite", code=1)
    python(tmp_path, "-c", code, "plain", "nonsense", code=2)
