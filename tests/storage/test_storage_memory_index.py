"""Memory's full-text index itself: kept right by every write, found out and mended when damaged."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from schemory.errors import StoreCorruptError
from schemory.model.entry import Entry
from schemory.storage.memory_protocols import (
    EntryFilter,
    Holds,
    IndexState,
    IndexTerms,
    Matches,
    TermGroup,
)
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite import memory_scan
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
EVERYTHING = EntryFilter()
EntryMaker = Callable[..., Entry]
NOISE = Random(7).randbytes(300).hex()
GARBAGE = "UPDATE memory_index_1_data SET block = x'{}'".replace("{}", NOISE)
DAMAGES = {
    "garbage in every block": GARBAGE,
    "garbage in the postings": f"{GARBAGE} WHERE id > 10",
    "emptied blocks": "UPDATE memory_index_1_data SET block = zeroblob(0)",
    "no blocks": "DELETE FROM memory_index_1_data",
    "no table of blocks": "DROP TABLE memory_index_1_data",
    "no table of terms": "DROP TABLE memory_index_1_idx",
    "no sizes": "DELETE FROM memory_index_1_docsize",
    "no table of sizes": "DROP TABLE memory_index_1_docsize",
    "no settings": "DELETE FROM memory_index_1_config",
    "settings of another version": "UPDATE memory_index_1_config SET v = 99",
    "no table of settings": "DROP TABLE memory_index_1_config",
    "no index": "DROP TABLE memory_index_1",
    "no index and no view": "DROP TABLE memory_index_1; DROP VIEW memory_text_1",
    "only its name is left": (
        "DROP TABLE memory_index_1_data; DROP TABLE memory_index_1_idx;"
        "DROP TABLE memory_index_1_docsize; DROP TABLE memory_index_1_config"
    ),
}


def now() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def open_store(tmp_path: Path, index_rules: IndexTerms) -> Callable[..., SqliteStore]:
    """Opens the store of the test, with the rules given or the product's."""

    def open_with(terms: IndexTerms = index_rules) -> SqliteStore:
        return SqliteStore.open(tmp_path / "memory.db", now=now, ids=lambda: "id", terms=terms)

    return open_with


@pytest.fixture
def path(tmp_path: Path, open_store: Callable[..., SqliteStore], new_entry: EntryMaker) -> Path:
    """The file of a store with one project, number 1, of 30 entries."""
    entries = [
        new_entry(f"ring {i} of power", title="Note", tags=("gold",) if i % 3 else ())
        for i in range(30)
    ]
    with closing(open_store()) as store, store.memory_transaction("p", WRITE) as tx:
        tx.insert_entries(entries)
    return tmp_path / "memory.db"


@pytest.fixture
def db(path: Path) -> Iterator[apsw.Connection]:
    """A connection of our own to that store."""
    with closing(apsw.Connection(str(path))) as connection:
        yield connection


def groups(*words: str) -> list[TermGroup]:
    return [TermGroup(whole=(word,)) for word in words]


def find(store: SqliteStore, *words: str, limit: int = 50) -> Matches:
    with store.read_memory("p") as reader:
        return reader.match(groups(*words), EVERYTHING, limit=limit)


# Kept right -----------------------------------------------------------------------------------


@pytest.mark.covers("memory.store.index.sound")
def test_the_index_agrees_with_the_entries_after_every_kind_of_write(
    path: Path, open_store: Callable[..., SqliteStore], new_entry: EntryMaker
) -> None:
    with closing(open_store()) as store:
        with store.memory_transaction("p", WRITE) as tx:
            entries = tx.find_entries(f"e{i:03}" for i in range(1, 10))
            changes: list[dict[str, Any]] = [{"content": "new"}, {"title": None}, {"tags": ()}]
            changes += [{"summary": "s"}, {"scope": "S"}, {"topic": "T"}, {"importance": 5}]
            for entry, fields in zip(entries.values(), changes, strict=False):
                tx.update_entries([replace(entry, **fields, revision=2)])
            tx.insert_entries([new_entry("more", title="", summary="")])
            tx.delete_entries(["e020", "e021"])
        assert store.find_faults() == ()
        with store.memory_transaction("p", WRITE) as tx:
            tx.insert_entries([new_entry("and more", tags=("gold", "new"))])
        with store.memory_transaction("p", WRITE) as tx:
            tx.undo(3)
        assert store.find_faults() == ()
    assert path.exists()


@pytest.mark.covers("memory.store.index.own")
def test_each_project_has_an_index_of_its_own(
    open_store: Callable[..., SqliteStore], new_entry: EntryMaker
) -> None:
    """Neither frequencies nor scores know of other projects."""
    with closing(open_store()) as store:
        with store.memory_transaction("p", WRITE) as tx:
            tx.insert_entries([new_entry("ring alpha"), new_entry("ring")])
        alone = find(store, "ring", "alpha")
        with store.memory_transaction("q'); DROP TABLE projects; --", WRITE) as tx:
            tx.insert_entries([new_entry("ring alpha", project_id="q") for _ in range(50)])
        assert find(store, "ring", "alpha") == alone
        names = [row[0] for row in apsw_rows(store, "SELECT name FROM sqlite_schema")]
        assert {"memory_index_1", "memory_index_2"} <= set(names)


def apsw_rows(store: SqliteStore, sql: str) -> list[tuple[object, ...]]:
    with closing(apsw.Connection(store.location)) as db:
        return [tuple(row) for row in db.execute(sql)]


@pytest.mark.covers("memory.store.index.stock")
def test_a_stock_sqlite_opens_checks_and_vacuums_the_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("SELECT count(*) FROM memory_entries").fetchone() == (30,)
        row = db.execute("SELECT id, project_id, title, tags FROM memory_notes").fetchall()[1]
        assert row == ("e002", "p", "Note", "gold")
        db.execute("VACUUM")
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.covers("memory.store.index.stock")
def test_after_a_stock_vacuum_the_index_still_answers(
    path: Path, open_store: Callable[..., SqliteStore]
) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")
    with closing(open_store()) as store:
        assert store.find_faults() == ()
        assert len(find(store, "power").matches) == 30


# Damaged --------------------------------------------------------------------------------------


@pytest.mark.covers("memory.store.index.degraded", "memory.store.index.rebuild")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_index_is_searched_around_reported_and_mended(
    db: apsw.Connection, open_store: Callable[..., SqliteStore], damage: str
) -> None:
    db.execute(damage)
    with closing(open_store()) as store:
        found = find(store, "power", "7")
        assert {m.id for m in found.matches if m.holds is Holds.EXACT} == {"e008"}
        assert len(found.matches) == 30
        assert found.index is IndexState.DAMAGED
        with store.read_memory("p") as reader:
            assert reader.held_groups(groups("power", "7"), ["e008"]) == {"e008": {0, 1}}
            assert set(reader.document_frequencies(["power"])) == {"power"}
            shared = reader.find_sharing(
                ["power"], statuses=(), most_common=99, least_share=0.0, limit=5
            )
            assert len(shared.entries) in {0, 5}
        assert store.find_faults() != ()
        with store.memory_transaction("p", WRITE) as tx:
            assert tx.rebuild_index() == 30
        assert store.find_faults() == ()
        found = find(store, "power", "7")
        assert (found.index, len(found.matches)) == (IndexState.SOUND, 30)


@pytest.mark.covers("memory.store.index.degraded")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_the_state_of_a_damaged_index_shows_without_a_search(
    db: apsw.Connection, open_store: Callable[..., SqliteStore], damage: str
) -> None:
    db.execute(damage)
    with closing(open_store()) as store, store.read_memory("p") as reader:
        assert reader.index_state() is IndexState.DAMAGED


@pytest.mark.covers("memory.store.index.degraded")
@pytest.mark.parametrize("name", ["no table of blocks", "no index", "garbage in every block"])
def test_a_damaged_index_takes_no_write_and_is_not_mended_in_silence(
    db: apsw.Connection, open_store: Callable[..., SqliteStore], new_entry: EntryMaker, name: str
) -> None:
    db.execute(DAMAGES[name])
    with closing(open_store()) as store:
        with pytest.raises(StoreCorruptError) as caught, store.memory_transaction("p", WRITE) as tx:
            tx.insert_entries([new_entry("more")])
        assert "memory_rebuild_index" in caught.value.suggestions[0]
        assert find(store, "more").matches == ()
        assert store.rebuild_indexes() == 30
        assert store.find_faults() == ()


@pytest.mark.covers("memory.store.index.degraded")
def test_a_scan_filters_verifies_and_ranks_as_a_search(
    db: apsw.Connection, open_store: Callable[..., SqliteStore]
) -> None:
    db.execute(DAMAGES["no index"])
    with closing(open_store()) as store, store.read_memory("p") as reader:
        wanted = EntryFilter(tags=("gold",))
        found = reader.match(groups("power", "7", "8"), wanted, limit=3)
        assert [m.id for m in found.matches[:2]] == ["e008", "e009"]
        assert len(found.matches) == 6
        assert found.matches[0].score == 2
        assert found.document_frequency == (20, 1, 1)
        only = reader.match(
            groups("power"), EVERYTHING, limit=5, verify=lambda texts: "ring 5 of power" in texts
        )
        assert [m.id for m in only.matches] == ["e006"]
        assert reader.match(groups("nowhere"), EVERYTHING, limit=5).matches == ()


@pytest.mark.covers("memory.store.index.degraded.bounded")
@pytest.mark.parametrize(
    ("bound", "most"), [("MOST_SCANNED", 10), ("MOST_CHARACTERS", 10 * len("ring 20 of power"))]
)
def test_a_scan_is_bounded_to_the_newest_entries_and_says_so(
    db: apsw.Connection,
    open_store: Callable[..., SqliteStore],
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
    most: int,
) -> None:
    db.execute(DAMAGES["no index"])
    monkeypatch.setattr(memory_scan, bound, most)
    with closing(open_store()) as store:
        found = find(store, "power")
        assert found.is_partial
        assert max(m.row_id for m in found.matches) == 30
        assert 10 <= len(found.matches) <= 11


# Made by other rules --------------------------------------------------------------------------


@pytest.mark.covers("memory.store.index.outdated")
def test_an_index_of_other_rules_is_searched_with_a_warning_and_mended_by_the_first_write(
    path: Path,
    open_store: Callable[..., SqliteStore],
    index_rules: IndexTerms,
    new_entry: EntryMaker,
) -> None:
    newer = IndexTerms("2", lambda text: " ".join(f"x{term}" for term in text.split()))
    with closing(open_store(newer)) as store:
        found = find(store, "power")
        assert (found.index, len(found.matches)) == (IndexState.OUTDATED, 30)
        assert find(store, "xpower").matches == ()
        with store.read_memory("p") as reader:
            assert reader.index_state() is not IndexState.SOUND
        assert any("other rules" in fault for fault in store.find_faults())
        with store.memory_transaction("p", WRITE) as tx:
            tx.update_entries([replace(e, title="T") for e in tx.find_entries(["e001"]).values()])
            tx.delete_entries(["e002"])
        found = find(store, "xpower")
        assert (found.index, len(found.matches)) == (IndexState.SOUND, 29)
        assert store.find_faults() == ()
    with closing(open_store(index_rules)) as store:
        assert find(store, "power").index is IndexState.OUTDATED
        with store.memory_transaction("p", WRITE) as tx:
            tx.insert_entries([new_entry("power")])
        assert len(find(store, "power").matches) == 30
    assert path.exists()


@pytest.mark.covers("memory.store.index.outdated")
def test_an_audit_row_or_a_link_alone_rebuilds_nothing(
    path: Path, open_store: Callable[..., SqliteStore]
) -> None:
    def refuse(text: str) -> str:
        raise AssertionError(text)

    with closing(open_store(IndexTerms("2", refuse))) as store:
        with store.memory_transaction("p", WRITE) as tx:
            tx.delete_links(["nowhere"])
        assert path.exists()
