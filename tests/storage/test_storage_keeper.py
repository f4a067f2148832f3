"""Looking after a database as a file: real damage is found, mended, copied around, brought back."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from schemory.errors import (
    InvalidParamError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)
from schemory.model.edge import Edge, NewEdge
from schemory.model.entry import Entry
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node
from schemory.storage.keeping import Finding, Severity
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite import keeper as keeper_module
from schemory.storage.sqlite.keeper import SqliteKeeper
from schemory.storage.sqlite.migrate import LATEST
from schemory.storage.sqlite.store import SqliteStore
from schemory.storage.surroundings import check_lock

WRITE = WriteContext(operation="test", author="tester")
posix_only = pytest.mark.skipif(os.name != "posix", reason="modes and locks as POSIX has them")

Opener = Callable[[], SqliteStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return folder / "memory.db"


@pytest.fixture
def keeper(path: Path, clock: Clock, index_rules: IndexTerms) -> SqliteKeeper:
    return SqliteKeeper(path, now=clock, terms=index_rules)


@pytest.fixture
def opened(path: Path, clock: Clock, ids: IdMaker, index_rules: IndexTerms) -> Opener:
    return lambda: SqliteStore.open(path, now=clock, ids=ids, terms=index_rules)


@pytest.fixture
def filled(opened: Opener, new_entry: Callable[..., Entry]) -> None:
    """A closed store with three nodes, an edge and two entries."""
    with closing(opened()) as store:
        add(store, "Gandalf", "Frodo", "Shire")
        with store.transaction("default", WRITE) as tx:
            tx.insert_edges([NewEdge(edge=Edge("Frodo", "Shire", "from"))])
        with store.memory_transaction("p", WRITE) as memory:
            memory.insert_entries([new_entry("tokens expire"), new_entry("retry the queue")])


def add(store: SqliteStore, *names: str) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node(name, "npc")) for name in names])


def names(store: SqliteStore) -> list[str]:
    with store.read("default") as reader:
        return [record.name for record in reader.list_nodes(limit=99)]


def names_at(opened: Opener) -> list[str]:
    with closing(opened()) as store:
        return names(store)


def stored_names(path: Path) -> list[str]:
    with closing(apsw.Connection(str(path))) as db:
        return [str(row[0]) for row in db.execute("SELECT name FROM node ORDER BY id")]


def damage(path: Path, *statements: str) -> None:
    with closing(apsw.Connection(str(path))) as db:
        for statement in statements:
            db.execute(statement)


def spoil_table(path: Path, table: str) -> None:
    """Overwrite the root page of a table with garbage."""
    with closing(apsw.Connection(str(path))) as db:
        sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        root, size = db.execute(sql, (table,)).get, db.pragma("page_size")
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xde\xad\xbe\xef" * (size // 4))


def found(keeper: SqliteKeeper) -> dict[str, Finding]:
    return {finding.code: finding for finding in keeper.inspect().findings}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def another_process(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python code until it says that it is ready; it ends when its input does."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        yield process
    finally:
        process.communicate()


USES_STORE = """
import sys
from schemory import open_store
with open_store(sys.argv[1]) as store:
    with store.graph.reading() as reader:
        reader.count()
    print("ready", flush=True)
    sys.stdin.read()
"""


# Looking over ---------------------------------------------------------------------------------


@pytest.mark.covers("storage.doctor.sound")
@pytest.mark.usefixtures("filled")
def test_a_sound_store_has_no_findings(keeper: SqliteKeeper, path: Path) -> None:
    before = path.read_bytes()
    seen = keeper.inspect()
    assert (seen.exists, seen.is_current, seen.findings) == (True, True, ())
    assert (seen.facts["schemaVersion"], seen.facts["projects"]) == (LATEST, 2)
    assert path.read_bytes() == before


@pytest.mark.covers("storage.doctor.sound")
def test_looking_makes_no_store(keeper: SqliteKeeper, path: Path) -> None:
    assert not keeper.inspect().exists
    assert list(path.parent.iterdir()) == []
    path.parent.rmdir()
    assert not keeper.inspect().exists


@pytest.mark.covers("storage.doctor.index")
@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("DELETE FROM node_index_1_data WHERE id > 10", "index.graph"),
        ("DROP TABLE node_index_1", "index.graph"),
        ("INSERT INTO node_index_1 (rowid, text) VALUES (99, 'ghost')", "index.graph"),
        ("DELETE FROM memory_index_2_data WHERE id > 10", "index.memory"),
        ("DROP TABLE memory_index_2", "index.memory"),
        ("UPDATE projects SET index_rules = 'old' WHERE number = 2", "index.memory"),
        ("UPDATE memory_entries SET content = 'changed beside us'", "index.memory"),
    ],
)
def test_a_damaged_index_is_found_and_mended_without_loss(
    keeper: SqliteKeeper, opened: Opener, path: Path, statement: str, code: str
) -> None:
    damage(path, statement)
    finding = found(keeper)[code]
    assert finding.severity is Severity.ERROR
    assert "doctor --fix" in finding.next_step
    (told,) = keeper.mend(keeper.inspect().findings)
    assert "built again" in told
    assert keeper.inspect().findings == ()
    assert names_at(opened) == ["Gandalf", "Frodo", "Shire"]


@pytest.mark.covers("storage.doctor.pages")
@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("table", ["node", "memory_entries", "projects", "edge_by_triple"])
def test_damaged_pages_are_fatal_and_no_repair_is_tried(
    keeper: SqliteKeeper, path: Path, table: str
) -> None:
    spoil_table(path, table)
    before = path.read_bytes()
    finding = found(keeper)["store.damaged"]
    assert finding.severity is Severity.FATAL
    assert "schemory restore" in finding.next_step
    assert not finding.can_fix
    assert path.read_bytes() == before


@pytest.mark.covers("storage.doctor.unusable")
@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda path: path.write_bytes(b'{"type":"node"}\n'), "not a SQLite database"),
        (lambda path: path.write_bytes(b"\0" * 8192), "not a SQLite database"),
        (lambda path: damage(path, "PRAGMA application_id = 7"), "left untouched"),
        (lambda path: damage(path, "PRAGMA user_version = 99"), "schema version 99"),
    ],
)
def test_what_cannot_be_opened_is_fatal_and_left_untouched(
    keeper: SqliteKeeper, path: Path, spoil: Callable[[Path], object], told: str
) -> None:
    spoil(path)
    before = path.read_bytes()
    finding = found(keeper)["store.unusable"]
    assert told in finding.what
    assert finding.severity is Severity.FATAL
    assert keeper.mend(keeper.inspect().findings) == ()
    assert path.read_bytes() == before


@pytest.mark.covers("storage.doctor.unusable")
@pytest.mark.usefixtures("filled")
def test_a_network_file_system_is_told_with_a_way_out(
    keeper: SqliteKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schemory.storage.sqlite.netfs._network_kind", lambda _path: "nfs4")
    finding = found(keeper)["store.unusable"]
    assert "network file system (nfs4)" in finding.what
    assert "local disk" in finding.next_step


@pytest.mark.covers("storage.doctor.orphans")
@pytest.mark.usefixtures("filled")
def test_edges_whose_node_is_gone_are_counted(keeper: SqliteKeeper, path: Path) -> None:
    damage(path, "PRAGMA foreign_keys = OFF", "DELETE FROM node WHERE name = 'Shire'")
    assert found(keeper)["store.orphans"].what == "1 rows of edge name no node"


@pytest.mark.covers("storage.doctor.versions")
def test_an_older_schema_is_told_and_brought_up_to_date_only_when_asked(
    keeper: SqliteKeeper, path: Path, opened: Opener
) -> None:
    make_old_store(path)
    seen = keeper.inspect()
    assert [each.code for each in seen.findings] == ["store.older"]
    assert not seen.is_current
    assert version_of(path) == 1
    (told,) = keeper.mend(seen.findings)
    assert f"from version 1 to {LATEST}" in told
    assert (version_of(path), keeper.inspect().findings) == (LATEST, ())
    assert names_at(opened) == []


def make_old_store(path: Path) -> None:
    first = Path(keeper_module.__file__).parent / "migrations" / "0001_initial.sql"
    path.touch(mode=0o600)
    damage(
        path,
        "PRAGMA journal_mode = wal",
        f"PRAGMA application_id = {0x5363686D}",
        first.read_text(encoding="utf-8"),
        "INSERT INTO store_facts VALUES ('cursor_key', x'00')",
        "PRAGMA user_version = 1",
    )


def version_of(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as db:
        return int(db.pragma("user_version"))


@pytest.mark.covers("storage.doctor.journal")
@pytest.mark.usefixtures("filled")
def test_a_store_without_its_write_ahead_log_gets_it_back(keeper: SqliteKeeper, path: Path) -> None:
    damage(path, "PRAGMA journal_mode = delete")
    assert found(keeper)["store.journal"].can_fix
    keeper.mend(keeper.inspect().findings)
    assert keeper.inspect().findings == ()


@posix_only
@pytest.mark.covers("storage.doctor.permissions")
@pytest.mark.usefixtures("filled")
def test_files_that_others_can_read_are_closed(
    path: Path, clock: Clock, index_rules: IndexTerms
) -> None:
    own = SqliteKeeper(path, now=clock, terms=index_rules, owns_folder=True)
    path.chmod(0o644)
    path.with_name("memory.db-lock").chmod(0o666)
    path.parent.chmod(0o755)
    codes = [each.code for each in own.inspect().findings]
    assert codes == ["file.permissions", "file.permissions", "folder.permissions"]
    assert len(own.mend(own.inspect().findings)) == 3
    assert [mode(each) for each in (path, path.with_name("memory.db-lock"))] == [0o600, 0o600]
    assert mode(path.parent) == 0o700
    assert own.inspect().findings == ()


@posix_only
@pytest.mark.covers("storage.doctor.permissions")
@pytest.mark.usefixtures("filled")
def test_a_folder_that_is_not_ours_is_never_changed(keeper: SqliteKeeper, path: Path) -> None:
    path.parent.chmod(0o755)
    assert keeper.inspect().findings == ()
    path.parent.chmod(0o777)
    finding = found(keeper)["folder.permissions"]
    assert not finding.can_fix
    keeper.mend(keeper.inspect().findings)
    assert mode(path.parent) == 0o777


@posix_only
@pytest.mark.covers("storage.doctor.leftovers")
@pytest.mark.usefixtures("filled")
def test_half_written_files_of_killed_processes_are_removed_and_no_others(
    keeper: SqliteKeeper, path: Path
) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    dead = path.with_name(f".memory.db.{gone.pid}-1.tmp")
    alive = path.with_name(f".memory.db.{os.getpid()}-1.tmp")
    for file in (dead, alive):
        file.touch()
    assert found(keeper)["file.leftovers"].what.startswith("1 half-written")
    keeper.mend(keeper.inspect().findings)
    assert (dead.exists(), alive.exists()) == (False, True)


ORPHANS_LOCK = """
import fcntl, os, subprocess, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
os.pwrite(file, f"{os.getpid():<20}\\n".encode(), 0)
child = "import sys; print('ready', flush=True); sys.stdin.read()"
subprocess.Popen([sys.executable, "-c", child], pass_fds=[file])
"""


@posix_only
@pytest.mark.covers("storage.doctor.lock")
@pytest.mark.usefixtures("filled")
def test_a_lock_that_a_dead_process_left_to_its_child_is_told(
    keeper: SqliteKeeper, path: Path
) -> None:
    lock = path.with_name("memory.db-lock")
    with another_process(ORPHANS_LOCK, str(lock)) as parent:
        parent.wait()
        (finding,) = check_lock(lock)
        assert str(parent.pid) in finding.what
    assert found(keeper) == {}


@pytest.mark.covers("storage.doctor.disk")
@pytest.mark.usefixtures("filled")
def test_little_free_disk_is_told(keeper: SqliteKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: real(folder)._replace(free=2**20))
    finding = found(keeper)["disk.low"]
    assert finding.what.startswith("1 MiB are free")
    assert finding.severity is Severity.WARNING


@pytest.mark.covers("storage.doctor.projects")
def test_more_projects_than_a_file_bears_well_are_told(
    keeper: SqliteKeeper,
    opened: Opener,
    new_entry: Callable[..., Entry],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(opened()) as store:
        for project in ("a", "b", "c"):
            with store.memory_transaction(project, WRITE) as memory:
                memory.insert_entries([new_entry("x", project_id=project)])
    assert found(keeper) == {}
    monkeypatch.setattr(keeper_module, "_MANY_PROJECTS", 2)
    assert "3 projects" in found(keeper)["projects.many"].what


@pytest.mark.covers("storage.doctor.live")
@pytest.mark.usefixtures("filled")
def test_others_write_while_the_doctor_looks(keeper: SqliteKeeper, opened: Opener) -> None:
    told: list[str] = []
    with closing(opened()) as store:

        def write(_done: float, _total: float | None, message: str) -> None:
            add(store, f"n{len(told)}")
            told.append(message)

        assert keeper.inspect(write).findings == ()
        assert len(names(store)) == 3 + len(told)
    assert "checking search indexes" in told


# Backup ---------------------------------------------------------------------------------------


@pytest.mark.covers("storage.backup.live")
@pytest.mark.usefixtures("filled")
def test_a_backup_holds_what_is_committed_and_nobody_waits(
    keeper: SqliteKeeper, opened: Opener, tmp_path: Path, clock: Clock, ids: IdMaker
) -> None:
    target = tmp_path / "new folder" / "copy.db"
    with closing(opened()) as store, store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node("not yet", "npc"))])
        copied = keeper.backup(target)
    assert copied.counts == {"nodes": 3, "edges": 1, "entries": 2, "projects": 2}
    assert list(target.parent.iterdir()) == [target]
    if os.name == "posix":
        assert mode(target) == 0o600
    with closing(SqliteStore.open(target, now=clock, ids=ids)) as store:
        assert names(store) == ["Gandalf", "Frodo", "Shire"]


@pytest.mark.covers("storage.backup.verified")
@pytest.mark.usefixtures("filled")
def test_a_copy_that_is_not_sound_is_thrown_away_and_the_older_one_stays(
    keeper: SqliteKeeper, path: Path, tmp_path: Path
) -> None:
    target = tmp_path / "copy.db"
    keeper.backup(target)
    before = target.read_bytes()
    spoil_table(path, "edge")
    with pytest.raises(StoreCorruptError):
        keeper.backup(target)
    assert target.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [target, path.parent]


@pytest.mark.covers("storage.backup.refused")
@pytest.mark.usefixtures("filled")
def test_a_backup_replaces_only_a_backup(keeper: SqliteKeeper, path: Path, tmp_path: Path) -> None:
    text = tmp_path / "letter.txt"
    text.write_text("dear diary", encoding="utf-8")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    device = Path(os.devnull)
    for target in (path, link, path.with_name("memory.db-lock"), tmp_path, text, device):
        with pytest.raises(InvalidParamError):
            keeper.backup(target)
    assert text.read_text(encoding="utf-8") == "dear diary"
    keeper.backup(tmp_path / "b.db")
    keeper.backup(tmp_path / "b.db")
    with pytest.raises(StoreError):
        keeper.backup(text / "b.db")


@posix_only
@pytest.mark.covers("storage.backup.refused")
@pytest.mark.usefixtures("filled")
def test_what_a_killed_backup_left_goes_with_the_next(
    keeper: SqliteKeeper, tmp_path: Path, path: Path
) -> None:
    (tmp_path / ".b.db.99999999-1.tmp").touch()
    (tmp_path / ".b.db.99999999-1.tmp-wal").touch()
    keeper.backup(tmp_path / "b.db")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "b.db", path.parent]


@pytest.mark.covers("storage.restore.kept")
@pytest.mark.usefixtures("filled")
def test_links_to_a_store_and_to_a_backup_stay_links(
    path: Path, tmp_path: Path, clock: Clock, index_rules: IndexTerms
) -> None:
    link, latest = tmp_path / "link.db", tmp_path / "latest.db"
    link.symlink_to(path)
    latest.symlink_to(tmp_path / "b.db")
    keeper = SqliteKeeper(link, now=clock, terms=index_rules)
    keeper.backup(latest)
    restored = keeper.restore(latest)
    assert (link.is_symlink(), latest.is_symlink()) == (True, True)
    assert (restored.path, restored.replaced and restored.replaced.parent) == (link, path.parent)
    assert keeper.inspect().findings == ()


def test_where_no_store_is_there_is_nothing_to_back_up_vacuum_or_migrate(
    keeper: SqliteKeeper, tmp_path: Path, path: Path
) -> None:
    for verb in (lambda: keeper.backup(tmp_path / "b.db"), keeper.vacuum, keeper.migrate):
        with pytest.raises(StoreError, match="no store yet"):
            verb()
    assert list(path.parent.iterdir()) == []


# Restore --------------------------------------------------------------------------------------


@pytest.mark.covers("storage.restore.kept")
@pytest.mark.usefixtures("filled")
def test_a_restore_brings_back_and_keeps_what_was_there(
    keeper: SqliteKeeper, opened: Opener, path: Path, tmp_path: Path
) -> None:
    keeper.backup(tmp_path / "b.db")
    with closing(opened()) as store:
        key = store.cursor_key
        add(store, "Later")
    restored = keeper.restore(tmp_path / "b.db")
    assert restored.counts["nodes"] == 3
    assert names_at(opened) == ["Gandalf", "Frodo", "Shire"]
    assert restored.replaced == path.with_name("memory.db.before-restore-20260308T090507Z")
    assert "Later" in stored_names(restored.replaced)
    with closing(opened()) as store:
        assert store.cursor_key != key  # the numbers in older cursors may be given out again
    assert keeper.inspect().findings == ()
    assert keeper.restore(tmp_path / "b.db").replaced != restored.replaced


@pytest.mark.covers("storage.restore.kept")
def test_a_restore_makes_the_store_where_none_is(
    keeper: SqliteKeeper, opened: Opener, path: Path, tmp_path: Path
) -> None:
    with closing(opened()) as store:
        add(store, "A")
    keeper.backup(tmp_path / "b.db")
    shutil.rmtree(path.parent)
    assert keeper.restore(tmp_path / "b.db").replaced is None
    assert names_at(opened) == ["A"]


@pytest.mark.covers("storage.restore.in_use")
@pytest.mark.usefixtures("filled")
def test_a_store_that_is_open_is_not_replaced(
    keeper: SqliteKeeper, opened: Opener, path: Path, tmp_path: Path
) -> None:
    keeper.backup(tmp_path / "b.db")
    before = set(path.parent.iterdir())
    with another_process(USES_STORE, str(path)) as process:
        with pytest.raises(StoreBusyError) as caught:
            keeper.restore(tmp_path / "b.db")
        if sys.platform == "linux":
            assert f"Process {process.pid} " in caught.value.message
    with closing(opened()) as store:
        assert len(names(store)) == 3
        with pytest.raises(StoreBusyError):
            keeper.restore(tmp_path / "b.db")
        add(store, "D")
    assert set(path.parent.iterdir()) == before
    keeper.restore(tmp_path / "b.db")


@posix_only
@pytest.mark.covers("storage.restore.in_use")
@pytest.mark.usefixtures("filled")
def test_a_damaged_store_that_is_open_is_not_replaced_either(
    keeper: SqliteKeeper, path: Path, tmp_path: Path
) -> None:
    keeper.backup(tmp_path / "b.db")
    with another_process(USES_STORE, str(path)):
        with path.open("r+b") as file:
            file.write(b"garbage!" * 64)
        with pytest.raises(StoreBusyError):
            keeper.restore(tmp_path / "b.db")
    assert keeper.restore(tmp_path / "b.db").replaced is not None
    assert keeper.inspect().findings == ()


@pytest.mark.covers("storage.restore.verified")
@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: spoil_table(path, "node"),
        lambda path: path.write_bytes(path.read_bytes()[:8192]),
        lambda path: path.write_bytes(b'{"type":"node"}\n'),
        lambda path: damage(path, "PRAGMA user_version = 99"),
        lambda path: damage(path, "PRAGMA application_id = 7"),
        lambda path: path.unlink(),
    ],
)
def test_a_bad_backup_changes_nothing(
    keeper: SqliteKeeper, path: Path, tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    backup = tmp_path / "b.db"
    keeper.backup(backup)
    spoil(backup)
    before = (path.read_bytes(), sorted(path.parent.iterdir()))
    with pytest.raises(StoreError):
        keeper.restore(backup)
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before


@pytest.mark.covers("storage.restore.damaged")
@pytest.mark.usefixtures("filled")
def test_a_damaged_store_is_replaced_and_its_log_does_not_spoil_the_new_one(
    keeper: SqliteKeeper, opened: Opener, path: Path, tmp_path: Path
) -> None:
    keeper.backup(tmp_path / "b.db")
    store = opened()
    add(store, "Later")
    log = path.with_name("memory.db-wal").read_bytes()
    store.close()
    path.write_bytes(b"\0" * 4096 + path.read_bytes()[4096:])
    path.with_name("memory.db-wal").write_bytes(log)
    restored = keeper.restore(tmp_path / "b.db")
    assert names_at(opened) == ["Gandalf", "Frodo", "Shire"]
    assert keeper.inspect().findings == ()
    assert restored.replaced is not None
    kept_log = restored.replaced.with_name(restored.replaced.name + "-wal")
    assert kept_log.read_bytes() == log


@pytest.mark.covers("storage.restore.verified")
def test_a_backup_of_an_older_schema_is_restored_and_then_migrated(
    keeper: SqliteKeeper, opened: Opener, tmp_path: Path
) -> None:
    make_old_store(tmp_path / "old.db")
    keeper.restore(tmp_path / "old.db")
    assert found(keeper).keys() == {"store.older"}
    done = keeper.migrate()
    assert (done.version_before, done.version_after, done.copy) == (1, LATEST, None)
    assert keeper.migrate().version_before == LATEST
    assert names_at(opened) == []


# Tidying --------------------------------------------------------------------------------------


@pytest.mark.covers("storage.vacuum")
def test_vacuum_gives_back_what_was_deleted(
    keeper: SqliteKeeper, opened: Opener, path: Path
) -> None:
    with closing(opened()) as store:
        with store.transaction("default", WRITE) as tx:
            tx.insert_nodes(
                [NewNode(node=Node(f"n{i}", "npc", ("vermilion " * 50,))) for i in range(500)]
            )
        for number in range(500):
            with store.transaction("default", WRITE) as tx:
                tx.purge_node(f"n{number}")
    tidied = keeper.vacuum()
    assert tidied.bytes_after < tidied.bytes_before / 2
    assert b"vermilion" not in path.read_bytes()


@pytest.mark.covers("storage.doctor.index")
@pytest.mark.usefixtures("filled")
def test_without_the_rules_that_made_it_an_index_is_still_counted(path: Path, clock: Clock) -> None:
    damage(path, "DELETE FROM memory_entry_tags", "DELETE FROM memory_entries WHERE id = 'e001'")
    keeper = SqliteKeeper(path, now=clock, terms=None)
    assert found(keeper)["index.rows"].what == ("project p: 1 entries, but 2 in their search index")
