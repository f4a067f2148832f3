"""The substring index itself: kept right by every write, found out and mended when damaged."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random

import apsw
import pytest

from schemory.errors import StoreCorruptError
from schemory.model.node import NewNode, Node, NodeChange
from schemory.model.text import fold
from schemory.storage.protocols import SearchPage, SearchQuery, WriteContext
from schemory.storage.sqlite import search
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
GARBAGE = "UPDATE node_index_1_data SET block = x'{}'".replace("{}", Random(7).randbytes(300).hex())
DAMAGES = {
    "garbage in every block": GARBAGE,
    "garbage in the postings": f"{GARBAGE} WHERE id > 10",
    "emptied blocks": "UPDATE node_index_1_data SET block = zeroblob(0)",
    "no blocks": "DELETE FROM node_index_1_data",
    "no table of blocks": "DROP TABLE node_index_1_data",
    "no table of terms": "DROP TABLE node_index_1_idx",
    "no settings": "DELETE FROM node_index_1_config",
    "settings of another version": "UPDATE node_index_1_config SET v = 99",
    "no table of settings": "DROP TABLE node_index_1_config",
    "no index": "DROP TABLE node_index_1",
    "no index and no view": "DROP TABLE node_index_1; DROP VIEW node_text_1",
    "only its name is left": (
        "DROP TABLE node_index_1_data; DROP TABLE node_index_1_idx; DROP TABLE node_index_1_config"
    ),
}


def open_store(path: Path) -> SqliteStore:
    numbers = count(1)
    return SqliteStore.open(
        path, now=lambda: datetime(2026, 1, 1, tzinfo=UTC), ids=lambda: f"i{next(numbers)}"
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one space, number 1, of 30 nodes."""
    file = tmp_path / "store.db"
    nodes = [Node(f"Ring {i}", "item", (f"Note: of power {i}", "国")) for i in range(30)]
    with closing(open_store(file)) as store, store.transaction("s", WRITE) as tx:
        tx.insert_nodes([NewNode(node=node) for node in nodes])
    return file


@pytest.fixture
def db(path: Path) -> Iterator[apsw.Connection]:
    """A connection of our own to that store."""
    with closing(apsw.Connection(str(path))) as connection:
        yield connection


def found(path: Path, *texts: str, limit: int = 50) -> SearchPage:
    query = SearchQuery(terms=tuple(map(fold, texts)))
    with closing(open_store(path)) as store, store.read("s") as reader:
        return reader.search(query, after=None, limit=limit)


def names(page: SearchPage) -> Sequence[str]:
    return [hit.record.name for hit in page.hits]


# Written with every change


@pytest.mark.covers("storage.search.index.sound")
def test_the_index_agrees_with_the_nodes_after_every_kind_of_write(
    path: Path, db: apsw.Connection
) -> None:
    with closing(open_store(path)) as store:
        with store.transaction("s", WRITE) as tx:
            first, second, third = (tx.find_nodes([f"Ring {i}"])[f"Ring {i}"].id for i in range(3))
            tx.update_nodes([NodeChange(id=first, name="Band", metadata=("Note: of gold",))])
            tx.update_nodes([NodeChange(id=second, metadata=())])
            tx.delete_nodes([third])
            tx.insert_nodes([NewNode(node=Node("Crown", "item"))])
            assert tx.search(SearchQuery(terms=("crow",)), after=None, limit=2).hits
        with pytest.raises(LookupError), store.transaction("s", WRITE) as tx:
            tx.insert_nodes([NewNode(node=Node("Never", "item"))])
            tx.delete_nodes([first])
            raise LookupError
        with store.transaction("s", WRITE) as tx:
            with pytest.raises(LookupError), tx.savepoint():
                tx.update_nodes([NodeChange(id=first, name="Undone")])
                raise LookupError
            tx.update_nodes([NodeChange(id=first, metadata=("Note: of silver",))])
    assert search.check_index(db, 1) == ()
    assert names(found(path, "silver")) == ["Band"]
    assert names(found(path, "of power 1 ")) == []
    assert names(found(path, "never")) == names(found(path, "undone")) == []
    assert names(found(path, "band")) == ["Band"]


@pytest.mark.covers("storage.search.index.sound")
def test_a_row_that_was_removed_with_other_values_is_found_out(db: apsw.Connection) -> None:
    search.remove_rows(db, 1, [(1, "Ring 0", "item", ("something else",))])
    assert search.check_index(db, 1) == (
        "the search index is damaged or does not agree with the nodes",
    )


@pytest.mark.covers("storage.search.index.sound")
def test_a_node_that_is_missing_in_the_index_is_found_out(db: apsw.Connection) -> None:
    search.remove_rows(db, 1, [(1, "Ring 0", "item", ("Note: of power 0", "国"))])
    assert search.check_index(db, 1) != ()
    assert search.rebuild_index(db, 1) == 30
    assert search.check_index(db, 1) == ()


@pytest.mark.covers("storage.search.index.sound")
def test_an_index_made_by_other_folding_rules_is_found_out(db: apsw.Connection) -> None:
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = replace(sql, 'fold 1', 'fold 0')")
    db.execute("PRAGMA writable_schema = RESET")
    assert search.check_index(db, 1) == ("the search index was built with other folding rules",)
    search.rebuild_index(db, 1)
    assert search.check_index(db, 1) == ()


@pytest.mark.covers("storage.search.index.spaces")
def test_each_space_has_an_index_of_its_own(path: Path, db: apsw.Connection) -> None:
    with closing(open_store(path)) as store, store.transaction("other", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node("Ring of theirs", "item"))])
    db.execute("DROP TABLE node_index_1")
    with closing(open_store(path)) as store:
        for space, expected, degraded in (("s", 30, True), ("other", 1, False)):
            with store.read(space) as reader:
                page = reader.search(SearchQuery(terms=("ring",)), after=None, limit=50)
            assert (page.total, page.degraded) == (expected, degraded)


# Damage


@pytest.mark.covers("storage.search.index.degraded")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_index_never_fails_a_search_and_is_told(
    path: Path, db: apsw.Connection, damage: str
) -> None:
    before = [names(found(path, *texts)) for texts in (("RING",), ("power 1",), ("国", "29"))]
    db.execute(damage)
    db.close()
    for texts, expected in zip((("RING",), ("power 1",), ("国", "29")), before, strict=True):
        page = found(path, *texts)
        assert names(page) == expected
        assert page.degraded
        assert page.order == "rank"


@pytest.mark.covers("storage.search.index.degraded")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_found_by_the_check_and_mended_by_rebuilding(
    path: Path, db: apsw.Connection, damage: str
) -> None:
    db.execute(damage)
    db.close()
    with closing(apsw.Connection(str(path))) as again:
        assert search.check_index(again, 1) != ()
        assert search.rebuild_index(again, 1) == 30
        assert search.check_index(again, 1) == ()
        assert again.execute("PRAGMA integrity_check").get == "ok"
    page = found(path, "RING")
    assert (len(page.hits), page.degraded) == (30, False)


@pytest.mark.covers("storage.search.index.degraded")
def test_a_search_repairs_nothing(path: Path, db: apsw.Connection) -> None:
    db.execute("DROP TABLE node_index_1")
    found(path, "ring")
    assert found(path, "ring").degraded
    assert search.check_index(db, 1) == ("the search index is missing",)


@pytest.mark.covers("storage.search.index.degraded")
def test_suggestions_and_named_lines_come_without_the_index_too(
    path: Path, db: apsw.Connection
) -> None:
    with closing(open_store(path)) as store, store.transaction("s", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node("Frodo", "npc", ("Carries: Ring 7",)))])
    db.execute("DROP TABLE node_index_1")
    with closing(open_store(path)) as store, store.read("s") as reader:
        assert reader.suggest_names("Forod") == ()
        assert reader.suggest_names("Frood") == ("Frodo",)
        hits = reader.lines_naming("Ring 7", limit=9)
        assert [(hit.node_name, hit.line) for hit in hits] == [("Frodo", "Carries: Ring 7")]


@pytest.mark.covers("storage.search.index.write")
def test_a_write_into_a_damaged_index_fails_whole_and_says_what_to_do(
    path: Path, db: apsw.Connection
) -> None:
    db.execute("DROP TABLE node_index_1_data")
    db.close()
    with closing(open_store(path)) as store:
        with pytest.raises(StoreCorruptError) as caught, store.transaction("s", WRITE) as tx:
            tx.insert_nodes([NewNode(node=Node("New", "item"))])
        assert "doctor --fix" in caught.value.suggestions[0]
        with store.read("s") as reader:
            assert reader.find_nodes(["New"]) == {}


@pytest.mark.covers("storage.search.index.rebuild")
def test_rebuilding_is_part_of_the_transaction_around_it(db: apsw.Connection) -> None:
    db.execute("DROP TABLE node_index_1_config")
    db.execute("BEGIN IMMEDIATE")
    search.rebuild_index(db, 1)
    assert search.check_index(db, 1) == ()
    db.execute("ROLLBACK")
    assert search.check_index(db, 1) != ()


@pytest.mark.covers("storage.search.index.forget")
def test_after_optimizing_removed_text_is_nowhere_in_the_index(
    path: Path, db: apsw.Connection
) -> None:
    with closing(open_store(path)) as store:
        with store.transaction("s", WRITE) as tx:
            (record,) = tx.insert_nodes([NewNode(node=Node("xyzzy", "item"))])
        with store.transaction("s", WRITE) as tx:
            tx.delete_nodes([record.id])
    search.optimize(db, 1)
    blocks = b"".join(row[0] for row in db.execute("SELECT block FROM node_index_1_data"))
    assert b"rin" in blocks or b"in" in blocks
    assert b"zzy" not in blocks


@pytest.mark.covers("storage.search.index.ordinary_tools")
def test_the_standard_librarys_sqlite_opens_checks_searches_and_vacuums_the_file(
    path: Path,
) -> None:
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        sql = "SELECT rowid FROM node_index_1 WHERE node_index_1 MATCH '\"g 7\"'"
        assert plain.execute(sql).fetchall() == [(8,)]
        plain.execute("VACUUM")
    assert names(found(path, "Ring 7")) == ["Ring 7"]


@pytest.mark.covers("storage.search.index.readonly")
def test_a_file_that_may_not_be_written_can_still_be_checked(path: Path) -> None:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        assert search.check_index(db, 1) == ()
    with closing(apsw.Connection(str(path))) as db:
        db.execute(DAMAGES["garbage in the postings"])
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        assert search.check_index(db, 1) != ()
