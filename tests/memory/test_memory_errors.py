"""What the memory tells when the store cannot do it (memory.md §5)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from schemory.errors import (
    InvalidParamError,
    StoreBusyError,
    StoreFullError,
    UnsupportedError,
)
from schemory.memory.inputs import ProjectRef, SearchRequest
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import MemorySettings
from schemory.model.moment import Clock, IdMaker
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from tests.memory.conftest import Notes


@pytest.mark.covers("memory.errors.store-busy")
def test_a_busy_store_is_told_and_the_refusal_goes_to_the_audit_file(
    tmp_path: Path, clock: Clock, ids: IdMaker, index_rules: IndexTerms, notes: "Notes"
) -> None:
    file, log = tmp_path / "busy.db", tmp_path / "audit.jsonl"
    store = SqliteStore.open(file, now=clock, ids=ids, terms=index_rules, busy_timeout_seconds=0.2)
    memory = ProjectMemory(store, settings=MemorySettings(audit_file=log), now=clock, ids=ids)
    here = type(notes)(memory, ProjectRef(project_id="p"))
    here.entry("Before.")
    holder = apsw.Connection(str(file))
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError) as refused:
        here.add("Meanwhile.")
    assert refused.value.context["project_id"] == "p"
    assert here.found("before") == ["Before."]
    holder.execute("ROLLBACK")
    holder.close()
    assert [row.result["outcome"] for row in here.audit()] == ["ok"]
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [line["result"].get("error_code") for line in lines] == [None, "STORE_BUSY"]
    here.entry("After.")
    store.close()


@pytest.mark.covers("memory.errors.store-full")
def test_a_full_store_is_told_and_nothing_is_half_written(
    tmp_path: Path, clock: Clock, ids: IdMaker, index_rules: IndexTerms, notes: "Notes"
) -> None:
    file = tmp_path / "full.db"
    SqliteStore.open(file, now=clock, ids=ids, terms=index_rules).close()
    pages = file.stat().st_size // 4096 + 20

    def confine(db: apsw.Connection) -> None:
        db.pragma("max_page_count", pages)

    apsw.connection_hooks.append(confine)
    try:
        store = SqliteStore.open(file, now=clock, ids=ids, terms=index_rules)
        memory = ProjectMemory(store, settings=MemorySettings(), now=clock, ids=ids)
        here = type(notes)(memory, ProjectRef(project_id="p"))
        here.entry("Before.")
        with pytest.raises(StoreFullError):
            here.add("word " * 30_000)
        assert here.found("") == ["Before."]
        assert [row.result["outcome"] for row in here.audit()] == ["ok"]
        here.entry("After.")
        store.close()
    finally:
        apsw.connection_hooks.remove(confine)


@pytest.mark.covers("memory.errors.unsupported")
def test_a_store_without_an_index_for_memory_says_so(
    tmp_path: Path, clock: Clock, ids: IdMaker
) -> None:
    store = SqliteStore.open(tmp_path / "graph.db", now=clock, ids=ids)
    memory = ProjectMemory(store, settings=MemorySettings(), now=clock, ids=ids)
    with pytest.raises(UnsupportedError):
        memory.search(ProjectRef(project_id="p"), SearchRequest(query="x"))
    store.close()


@pytest.mark.covers("memory.errors.project-id")
def test_an_error_names_the_project_as_soon_as_it_is_known(notes: "Notes") -> None:
    with pytest.raises(InvalidParamError) as refused:
        notes.search("x", limit=0)
    assert refused.value.context["project_id"] == "p"
    with pytest.raises(InvalidParamError) as refused:
        notes.add(" ")
    assert refused.value.context["project_id"] == "p"
    with pytest.raises(InvalidParamError) as refused:
        notes.at().search("x")
    assert "project_id" not in refused.value.context
