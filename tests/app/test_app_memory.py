"""The memory as programs open it, and beside a graph file."""

from pathlib import Path

import pytest

from schemory.api import open_store
from schemory.app import open_app
from schemory.config import load_settings
from schemory.errors import InvalidParamError, UnsupportedError
from schemory.memory.inputs import NewEntry, ProjectRef, SearchRequest

NOTE = NewEntry(scope="s", topic="t", content="Karin wrote it", source_type="decision")


@pytest.mark.covers("app.memory.open_store")
def test_a_program_keeps_and_finds_entries(tmp_path: Path) -> None:
    with open_store(tmp_path / "m.sqlite", space="team/app") as store:
        added = store.memory.add_entry(ProjectRef(), NOTE)
        assert added.entry.project_id == "team/app"
        (hit,) = store.memory.search(ProjectRef(), SearchRequest(query="karin")).hits
        assert hit.entry.id == added.entry.id
    with open_store(tmp_path / "m.sqlite") as store:
        with pytest.raises(InvalidParamError):
            store.memory.search(ProjectRef(), SearchRequest(query="karin"))
        named = ProjectRef(project_id="team/app")
        assert len(store.memory.search(named, SearchRequest(query="karin")).hits) == 1


@pytest.mark.covers("app.memory.open_store")
def test_a_graph_file_holds_no_memory(tmp_path: Path) -> None:
    with open_store(tmp_path / "g.jsonl") as store, pytest.raises(UnsupportedError):
        _ = store.memory


@pytest.mark.covers("app.memory.graph_file")
def test_beside_a_graph_file_the_memory_is_in_the_database(tmp_path: Path) -> None:
    database = tmp_path / "home" / ".mcp-servers" / "memory" / "memory.sqlite"
    settings = load_settings(
        {"MEMORY_FILE": str(tmp_path / "g.jsonl"), "MEMORY_TOOLSET": ("graph", "memory")},
        environ={},
        cwd=tmp_path,
        home=tmp_path / "home",
    )
    with open_app(settings) as app:
        names = {tool["name"] for tool in app.toolbox.list_tools()}
        assert {"memory_search", "read_graph"} <= names
        assert not database.exists()
        note = {"scope": "s", "topic": "t", "content": "c", "source_type": "decision"}
        done = app.toolbox.call("memory_add_entry", {**note, "project_id": "p"})
        assert not done.is_error
        assert database.exists()
        assert str(database) in app.toolbox.call("memory_status", {"project_id": "p"}).text


@pytest.mark.covers("app.memory.price")
def test_the_default_server_costs_what_models_bear(tmp_path: Path) -> None:
    settings = load_settings({}, environ={}, cwd=tmp_path, home=tmp_path)
    with open_app(settings) as app:
        price = app.toolbox.price()
    assert price.tools <= 40
    assert price.tokens <= 6_000
