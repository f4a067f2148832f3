"""Files of other programs and versions, and the way from one schema to the next."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from schemory.errors import StoreCorruptError
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.migrate import (
    LATEST,
    TABLES,
    Migration,
    is_current,
    load_migrations,
    migrate,
    refuse_incomplete_file,
)
from schemory.storage.sqlite.opening import bytes_in
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def open_store(path: Path, clock: Clock, ids: IdMaker) -> Callable[[], SqliteStore]:
    return lambda: SqliteStore.open(path, now=clock, ids=ids)


def refused(open_store: Callable[[], SqliteStore], path: Path) -> StoreCorruptError:
    """Open, expect a refusal, and check that nothing in the folder changed."""
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(StoreCorruptError) as caught:
        open_store()
    after = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert after == before
    assert caught.value.suggestions
    return caught.value


@pytest.mark.covers("storage.migrate.latest")
def test_the_code_knows_how_many_migrations_there_are() -> None:
    assert [step.version for step in load_migrations()] == list(range(1, LATEST + 1))


@pytest.mark.covers("storage.open.tables")
def test_the_code_knows_which_tables_a_store_cannot_be_without() -> None:
    db = apsw.Connection(":memory:")
    for step in load_migrations():
        db.execute(step.sql)
    made = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    assert sorted(name for (name,) in made if not name.startswith("sqlite_")) == list(TABLES)
    db.close()


@pytest.mark.covers("storage.open.tables")
@pytest.mark.parametrize("lost", [("kept",), ("memory_links", "projects"), TABLES])
def test_a_file_that_lacks_a_table_is_refused_by_the_tables_name(
    open_store: Callable[[], SqliteStore], path: Path, lost: tuple[str, ...]
) -> None:
    open_store().close()
    db = apsw.Connection(str(path))
    for table in lost:
        db.execute(f"DROP TABLE {table}")
    db.close()
    error = refused(open_store, path)
    assert error.context == {"missing": list(lost)}
    assert all(table in error.message for table in lost)
    assert "schemory restore" in error.suggestions[0]


@pytest.mark.covers("storage.open.tables")
def test_tables_that_another_process_has_just_made_are_there(
    open_store: Callable[[], SqliteStore], path: Path
) -> None:
    path.touch(mode=0o600)
    early = apsw.Connection(str(path))
    assert list(early.execute("SELECT name FROM sqlite_schema")) == []
    open_store().close()
    assert is_current(early, str(path))
    refuse_incomplete_file(early, str(path))
    early.close()


@pytest.mark.covers("storage.open.tables")
def test_a_file_without_its_key_is_refused(
    open_store: Callable[[], SqliteStore], path: Path
) -> None:
    open_store().close()
    db = apsw.Connection(str(path))
    db.execute("DELETE FROM store_facts")
    db.close()
    assert "cursor_key" in refused(open_store, path).message


@pytest.mark.covers("storage.migrate.newer")
def test_a_newer_file_is_refused_by_its_version_and_left_untouched(
    open_store: Callable[[], SqliteStore], path: Path
) -> None:
    open_store().close()
    db = apsw.Connection(str(path))
    db.pragma("user_version", 99)
    db.close()
    error = refused(open_store, path)
    assert "schema version 99" in error.message
    assert f"up to {LATEST}" in error.message
    assert error.context == {"schemaVersion": 99, "knownVersion": LATEST}


@pytest.mark.covers("storage.migrate.foreign")
def test_another_programs_database_is_refused_and_left_untouched(
    open_store: Callable[[], SqliteStore], path: Path
) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE bookmarks (url TEXT); PRAGMA journal_mode = wal")
    db.close()
    assert "belongs to another program" in refused(open_store, path).message


@pytest.mark.covers("storage.migrate.memory_node")
def test_a_memory_node_database_is_recognised_and_the_import_is_named(
    open_store: Callable[[], SqliteStore], path: Path
) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE projects (id TEXT PRIMARY KEY)")
    db.execute("CREATE TABLE memory_entries (id TEXT PRIMARY KEY)")
    db.execute("CREATE TABLE schema_migrations (version INTEGER)")
    db.close()
    error = refused(open_store, path)
    assert "memory-node" in error.message
    assert f"--from memory-node {path}" in error.suggestions[0]
    assert str(path.with_name("schemory.sqlite")) in error.suggestions[0]


@pytest.mark.covers("storage.migrate.foreign")
@pytest.mark.parametrize("text", ['{"type":"node"}\n', "x", "SQLite format 2 and so on" * 9])
def test_a_file_that_is_no_database_is_refused_and_left_untouched(
    open_store: Callable[[], SqliteStore], path: Path, text: str
) -> None:
    path.write_text(text, encoding="utf-8")
    error = refused(open_store, path)
    assert "not a SQLite database" in error.message
    assert any("--graph-file" in each for each in error.suggestions)


def test_an_empty_file_becomes_a_store(open_store: Callable[[], SqliteStore], path: Path) -> None:
    path.touch()
    store = open_store()
    assert store.spaces() == ()
    store.close()


@pytest.mark.covers("storage.migrate.interrupted")
def test_a_start_that_was_killed_halfway_is_finished_by_the_next(
    open_store: Callable[[], SqliteStore], path: Path
) -> None:
    db = apsw.Connection(str(path))
    db.pragma("application_id", 0x5363686D)
    db.close()
    store = open_store()
    assert store.status()["schemaVersion"] == LATEST
    store.close()


@pytest.mark.covers("storage.migrate.together")
def test_programs_that_start_together_make_one_store(path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, WORKER, "write", path, f"w{i}", "1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(4)
    ]
    assert [worker.communicate() for worker in workers] == [("0\n", "")] * 4
    db = apsw.Connection(str(path))
    versions = [(version,) for version in range(1, LATEST + 1)]
    assert list(db.execute("SELECT version FROM schema_migrations")) == versions
    db.close()


def step(version: int, sql: str, *, is_destructive: bool = False) -> Migration:
    return Migration(version=version, name=f"v{version}", sql=sql, is_destructive=is_destructive)


@pytest.mark.covers("storage.migrate.steps")
def test_missing_steps_run_once_in_order_and_are_logged(
    open_store: Callable[[], SqliteStore], path: Path, clock: Clock
) -> None:
    open_store().close()
    steps = [
        *load_migrations(),
        step(LATEST + 1, "CREATE TABLE extra (x)"),
        step(LATEST + 2, "INSERT INTO extra VALUES (1)"),
    ]
    db = apsw.Connection(str(path))
    assert migrate(db, str(path), now=clock, steps=steps) == (LATEST + 1, LATEST + 2)
    assert migrate(db, str(path), now=clock, steps=steps) == ()
    assert list(db.execute("SELECT x FROM extra")) == [(1,)]
    assert db.pragma("user_version") == LATEST + 2
    log = list(db.execute("SELECT version, name, applied_at FROM schema_migrations"))
    assert log[-1] == (LATEST + 2, f"v{LATEST + 2}", "2026-03-08T09:05:07.000Z")
    db.close()


@pytest.mark.covers("storage.migrate.steps")
def test_a_failing_step_leaves_the_file_as_it_was(
    open_store: Callable[[], SqliteStore], path: Path, clock: Clock
) -> None:
    open_store().close()
    steps = [
        *load_migrations(),
        step(LATEST + 1, "CREATE TABLE extra (x)"),
        step(LATEST + 2, "INSERT INTO nowhere VALUES (1)"),
    ]
    db = apsw.Connection(str(path))
    with pytest.raises(apsw.SQLError):
        migrate(db, str(path), now=clock, steps=steps)
    assert db.pragma("user_version") == LATEST
    assert list(db.execute("SELECT name FROM sqlite_schema WHERE name = 'extra'")) == []
    db.close()
    open_store().close()


@pytest.mark.covers("storage.migrate.copy")
def test_the_file_is_copied_before_a_step_that_cannot_be_taken_back(
    open_store: Callable[[], SqliteStore], path: Path, clock: Clock, ids: IdMaker
) -> None:
    store = open_store()
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node("A", "npc"))])
    store.close()
    steps = [*load_migrations(), step(LATEST + 1, "DROP TABLE kept", is_destructive=True)]
    db = apsw.Connection(str(path))
    migrate(db, str(path), now=clock, steps=steps)
    db.close()
    copy = path.with_name(f"memory.db.before-v{LATEST + 1}")
    assert copy.stat().st_mode & 0o777 == 0o600
    old = SqliteStore.open(copy, now=clock, ids=ids)
    with old.read("default") as reader:
        assert list(reader.find_nodes(["A"])) == ["A"]
        assert reader.list_kept(limit=9) == ()
    old.close()


@pytest.mark.covers("storage.migrate.steps")
@pytest.mark.parametrize(
    "names", [["0002_late.sql"], ["0001_a.sql", "0003_c.sql"], ["1_a.sql"], ["0001-a.sql"]]
)
def test_migrations_with_gaps_or_odd_names_are_a_programming_error(
    tmp_path: Path, names: list[str]
) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1", encoding="utf-8")
    with pytest.raises(ValueError, match="migration"):
        load_migrations(tmp_path)


def test_a_migration_says_in_its_first_line_that_it_is_destructive(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("-- destructive\nDROP TABLE x;", encoding="utf-8")
    (tmp_path / "0002_b.sql").write_text("CREATE TABLE x (y);", encoding="utf-8")
    assert [each.is_destructive for each in load_migrations(tmp_path)] == [True, False]


@pytest.mark.covers("storage.migrate.ordinary")
def test_the_file_opens_with_the_systems_own_sqlite(
    open_store: Callable[[], SqliteStore], path: Path
) -> None:
    import sqlite3  # noqa: PLC0415 (the one place where the other driver is wanted)

    store = open_store()
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node("Gandalf", "npc", ("Role: Wizard",)))])
    store.close()
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    assert db.execute("SELECT name, type FROM graph_nodes").fetchall() == [("Gandalf", "npc")]
    db.execute("VACUUM")
    db.close()
    store = open_store()
    assert store.find_faults() == ()
    store.close()


@pytest.mark.covers("storage.migrate.together")
def test_a_store_gets_its_key_with_its_schema_or_neither(
    path: Path, clock: Clock, ids: IdMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a program that starts in between, or after a kill there, finds a store without one."""

    def no_random(count: int) -> bytes:
        raise RuntimeError(f"no {count} random bytes")

    with monkeypatch.context() as patched:
        patched.setattr("schemory.storage.sqlite.opening.os.urandom", no_random)
        with pytest.raises(RuntimeError, match="no 32 random bytes"):
            SqliteStore.open(path, now=clock, ids=ids)
    db = apsw.Connection(str(path))
    assert db.pragma("user_version") == 0
    db.close()
    store = SqliteStore.open(path, now=clock, ids=ids)
    assert len(store.cursor_key) == 32
    store.close()


@pytest.mark.covers("storage.open.tables")
def test_a_log_that_is_gone_by_now_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "a-wal").write_bytes(b"xyz")
    assert bytes_in(tmp_path / "a-wal") == 3
    assert bytes_in(tmp_path / "b-wal") == 0
