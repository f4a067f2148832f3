"""The doctor's view of everything: stores, what is in them, schemas, settings, tools."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schemory.model.entry import Entry
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node
from schemory.setup.doctor import Patient, Surroundings, examine
from schemory.setup.exposed import find_in_graph, find_in_memory
from schemory.storage.keeping import Finding, Progress, Severity, unheard
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.protocols import GraphStore, KeptLine, WriteContext
from schemory.storage.sqlite.keeper import SqliteKeeper
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test", author="tester")
# Put together here, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "x7Qk2mN9pR4tV6wY8zB1cD3fG5hJ0sLaEuKo"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def keeper(file: Path, clock: Clock, index_rules: IndexTerms) -> SqliteKeeper:
    return SqliteKeeper(file, now=clock, terms=index_rules)


@pytest.mark.covers("setup.doctor.secrets")
def test_credentials_in_the_graph_are_told_by_place_and_never_shown(store: GraphStore) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes(
            [
                NewNode(node=Node("Deploy", "job", ("Note: fine", f"Key: {TOKEN}"))),
                NewNode(node=Node(f"named {TOKEN}", "job")),
                NewNode(node=Node("Story", "tale", ("Password: moonlight",))),
            ]
        )
        tx.insert_kept([KeptLine(text=f'{{"key":"{TOKEN}"}}')])
        ids = [record.id for record in tx.list_nodes(limit=9)]
    (finding,) = find_in_graph(store)
    assert finding.what.startswith("3 line(s) of the graph")
    assert 'default: "Deploy" line 2' in finding.what
    assert f"name of node {ids[1]}" in finding.what
    assert "kept line" in finding.what
    assert TOKEN not in str(finding)
    assert "Story" not in finding.what
    assert finding.severity is Severity.WARNING


@pytest.mark.covers("setup.doctor.secrets")
def test_credentials_in_the_memory_are_told_by_entry(
    memory_store: SqliteStore, new_entry: Callable[..., Entry]
) -> None:
    with memory_store.memory_transaction("p", WRITE) as memory:
        memory.insert_entries(
            [
                new_entry(f"use {TOKEN}", id="bad"),
                new_entry("the deploy job needs a token", id="good"),
                new_entry("x", id="titled", title=f"{TOKEN}"),
            ]
        )
    (finding,) = find_in_memory(memory_store)
    assert finding.what.startswith("2 text(s) of the memory")
    assert "p: entry bad content" in finding.what
    assert "p: entry titled title" in finding.what
    assert TOKEN not in str(finding)
    assert "good" not in finding.what


@pytest.mark.covers("setup.doctor.secrets")
def test_many_places_are_counted_and_the_first_are_named(store: GraphStore) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node(f"n{i}", "t", (TOKEN,))) for i in range(30)])
    (finding,) = find_in_graph(store)
    assert finding.what.startswith("30 line(s)")
    assert finding.what.endswith("and 20 more")


@pytest.mark.covers("setup.doctor.secrets")
def test_kept_lines_are_looked_at_however_many_there_are(store: GraphStore) -> None:
    plain = [KeptLine(text=f'{{"n":{n}}}') for n in range(600)]
    with store.transaction("default", WRITE) as tx:
        tx.insert_kept([*plain, KeptLine(text=f'{{"key":"{TOKEN}"}}')])
    (finding,) = find_in_graph(store)
    assert finding.what.startswith("1 line(s)")


@pytest.mark.covers("setup.doctor.rest")
def test_schemas_settings_and_the_tool_list_are_judged(keeper: SqliteKeeper) -> None:
    around = Surroundings(
        schema_faults=("a.schema.json: no name",),
        schema_warnings=("b.schema.json: an unknown key",),
        setting_warnings=("MEMORY_DBPATH is not known",),
        tools=41,
        tokens=12_345,
    )
    diagnosis = examine([Patient(keeper=keeper, read=nothing)], around=around)
    assert [finding.code for finding in diagnosis.findings] == [
        "schema.fault",
        "schema.warning",
        "settings",
        "tools.many",
    ]
    assert "41 tools" in diagnosis.findings[-1].what
    assert "12,345" in diagnosis.findings[-1].what
    assert diagnosis.is_usable
    assert examine([], around=Surroundings(tools=40)).findings == ()


def nothing(progress: Progress) -> Iterator[Finding]:
    del progress
    return iter(())


@pytest.mark.covers("setup.doctor.contents")
def test_only_what_can_be_opened_as_it_is_is_read(
    keeper: SqliteKeeper, file: Path, clock: Clock, ids: IdMaker
) -> None:
    reads: list[Progress] = []

    def read(progress: Progress) -> Iterator[Finding]:
        reads.append(progress)
        return iter(())

    def look() -> int:
        examine([Patient(keeper=keeper, read=read)], around=Surroundings())
        return len(reads)

    assert look() == 0  # there is none, and none is made
    assert not file.exists()
    SqliteStore.open(file, now=clock, ids=ids).close()
    assert look() == 1
    file.write_bytes(b"no database")
    assert look() == 1


@pytest.mark.covers("setup.doctor.fix")
def test_what_was_mended_is_no_longer_a_finding(
    keeper: SqliteKeeper, file: Path, clock: Clock, ids: IdMaker
) -> None:
    SqliteStore.open(file, now=clock, ids=ids).close()
    (file.parent / ".memory.db.99999999-1.tmp").touch()
    patients = [Patient(keeper=keeper, read=nothing)]
    assert examine(patients, around=Surroundings()).findings != ()
    diagnosis = examine(patients, around=Surroundings(), fix=True, progress=unheard)
    assert diagnosis.findings == ()
    assert len(diagnosis.fixed) == 1
