"""Every statement of memory's verbs walks an index, whatever the statistics say."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import apsw
import pytest

from schemory.model.entry import AuditRow, Entry, Link, Project, Relation, Status, Tag
from schemory.storage.memory_protocols import EntryFilter, MemoryReader, TermGroup
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite import memory_filter
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
EntryMaker = Callable[..., Entry]
_READS_OR_WRITES = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE)", re.IGNORECASE)
# Scans of what is small or bounded: arrays of ours, a full-text match, a row per table or project.
_BOUNDED = re.compile(
    r"SCAN (carray|wanted|sqlite_sequence|sqlite_schema|p|f|projects|CONSTANT ROW|\(subquery-\d+\)"
    r"|memory_index_\d+ VIRTUAL|.* VIRTUAL TABLE INDEX .*)"
)


@pytest.fixture(autouse=True)
def statements() -> Iterator[dict[str, Any]]:
    """Every statement that any connection opened from now on runs, with its last bindings."""
    seen: dict[str, Any] = {}

    def note(_cursor: apsw.Cursor, sql: str, bound: Any) -> bool:
        seen[sql] = bound
        return True

    def watch(db: apsw.Connection) -> None:
        db.exec_trace = note

    apsw.connection_hooks.append(watch)
    yield seen
    apsw.connection_hooks.remove(watch)


def read_everything(reader: MemoryReader) -> None:
    full = EntryFilter(
        statuses=(Status.ACTIVE, Status.ARCHIVED), scope="S", topic="T", tags=("a", "b"),
        source_types=("agent_note",), created_after="0", created_before="9", updated_after="0",
    )  # fmt: skip
    any_tag = EntryFilter(tags=("a", "b"), match_all_tags=False)
    reader.find_project()
    reader.find_entries(["e001", "e002"])
    reader.find_by_sha("x", statuses=[Status.ACTIVE])
    for wanted in (EntryFilter(), full, any_tag, EntryFilter(scope="backend")):
        for order, after in (("updated", ("9", "e")), ("created", ("0", "e")), ("id", ("a",))):
            reader.list_entries(wanted, order=order, limit=5)
            reader.list_entries(wanted, order=order, after=after, limit=5)
        for kind in ("scope", "topic", "tag"):
            reader.list_names(kind, wanted, limit=5)
        reader.match(
            [TermGroup(whole=("ring",)), TermGroup(whole=("a_b",), parts=(("a",), ("b",)))],
            wanted,
            limit=2,
            verify=lambda _texts: True,
        )
    reader.held_groups([TermGroup(whole=("ring",))], ["e001"])
    reader.document_frequencies(["ring"])
    reader.find_sharing(["ring"], statuses=[Status.ACTIVE], most_common=99, least_share=0, limit=5)
    reader.index_state()
    reader.count_statuses()
    for ids in (None, ["e001", "e002"]):
        for direction in ("in", "out", "both"):
            reader.list_links(ids, direction=direction, after_id="a", limit=5)
    reader.find_link("l1")
    reader.list_tags()
    reader.list_earlier_texts("e001", limit=5)
    reader.list_audit(after=(0,), limit=5)


def write_everything(store: SqliteStore, new_entry: EntryMaker) -> None:
    def step(work: Callable[[Any], object]) -> None:
        with store.memory_transaction("p", WRITE) as tx:
            work(tx)

    entries = [new_entry(f"ring {i}", tags=("a", "b")) for i in range(40)]
    step(lambda tx: tx.insert_entries(entries))
    step(lambda tx: tx.put_project(Project(id="p", display_name="P")))
    links = [
        Link(
            id=f"l{i}", source_entry_id="e001", target_entry_id=f"e{i:03}",
            relation=Relation.BLOCKS, created_at="1",
        )
        for i in range(2, 9)
    ]  # fmt: skip
    step(lambda tx: tx.insert_links(links))
    step(lambda tx: tx.put_tags([Tag(name="a", created_at="1", description="A")]))
    step(lambda tx: tx.update_entries([replace(entries[0], content="c", tags=("c",), revision=2)]))
    step(lambda tx: tx.delete_links(["l2", "l3"]))
    row = AuditRow(
        id="a", timestamp="1", project_id="p", operation="o", entry_id=None, actor="me", params={},
        result={},
    )  # fmt: skip
    step(lambda tx: tx.insert_audit(row))
    step(lambda tx: tx.find_taken_ids(["e001"]))
    for seq in (5, 4, 3):
        step(lambda tx, seq=seq: tx.undo(seq))  # type: ignore[misc]  # bound per turn
    step(lambda tx: tx.undo(8))
    step(lambda tx: tx.delete_entries(["e001", "e002"]))
    step(lambda tx: tx.rebuild_index())
    store.find_entry_project("e003")
    store.list_projects(after="a", limit=5)


def scans(db: apsw.Connection, sql: str, bound: Any) -> list[str]:
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]
    return [line for line in plan if line.startswith("SCAN") and not _BOUNDED.match(line)]


@pytest.mark.covers("memory.store.plans")
@pytest.mark.parametrize("few", [0, memory_filter.FEW], ids=["along an index", "gathered"])
@pytest.mark.parametrize("analysed", [False, True], ids=["no statistics", "with statistics"])
def test_no_verb_of_memory_scans_a_table(
    memory_on_disk: SqliteStore,
    new_entry: EntryMaker,
    statements: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    few: int,
    analysed: bool,
) -> None:
    monkeypatch.setattr(memory_filter, "FEW", few)
    store, path = memory_on_disk, memory_on_disk.location
    with closing(store):
        statements.clear()
        write_everything(store, new_entry)
        with store.read_memory("p") as reader:
            read_everything(reader)
    written = re.compile(r"INSERT INTO memory_index_|ALTER|CREATE|PRAGMA")
    ours = {
        sql: bound
        for sql, bound in statements.items()
        if _READS_OR_WRITES.match(sql) and not written.search(sql)
    }
    assert len(ours) > 60
    with closing(apsw.Connection(path)) as db:
        db.register_fts5_function("schemory_held", lambda *_: b"")
        if analysed:
            db.execute("ANALYZE")
        found = {sql: lines for sql, bound in ours.items() if (lines := scans(db, sql, bound))}
    assert found == {}
