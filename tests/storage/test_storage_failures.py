"""What goes wrong with a file is told clearly, and nothing is half-written."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from schemory.errors import (
    StoreCorruptError,
    StoreError,
    StoreFullError,
)
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node, NodeChange
from schemory.model.text import fold
from schemory.storage.protocols import SearchQuery, WriteContext
from schemory.storage.sqlite.failures import store_error
from schemory.storage.sqlite.netfs import network_mount, refuse_network_path
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
WORKER = Path(__file__).with_name("worker.py")
NEEDLE = "Zyxwvutsrqponm"


@pytest.fixture
def open_store(tmp_path: Path, clock: Clock, ids: IdMaker) -> Iterator[Callable[[], SqliteStore]]:
    opened: list[SqliteStore] = []

    def open_one() -> SqliteStore:
        opened.append(SqliteStore.open(tmp_path / "memory.db", now=clock, ids=ids))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


def add(store: SqliteStore, *names: str) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node(name, "npc")) for name in names])


def names(store: SqliteStore) -> list[str]:
    with store.read("default") as reader:
        return [record.name for record in reader.list_nodes(limit=9999)]


@pytest.mark.covers("storage.failures.full")
def test_a_full_disk_is_told_and_the_store_lives_on(
    open_store: Callable[[], SqliteStore], tmp_path: Path
) -> None:
    first = open_store()
    add(first, "A")
    first.close()
    pages = (tmp_path / "memory.db").stat().st_size // 4096
    limit = [pages + 30]

    def confine(db: apsw.Connection) -> None:
        db.pragma("max_page_count", limit[0])

    apsw.connection_hooks.append(confine)
    try:
        store = open_store()
        with (
            pytest.raises(StoreFullError) as caught,
            store.transaction("default", WRITE) as tx,
        ):
            for turn in range(200):
                tx.insert_nodes([NewNode(node=Node(f"n{turn}", "npc", ("x" * 4000,)))])
        assert (caught.value.code, bool(caught.value.suggestions)) == ("STORE_FULL", True)
        assert names(store) == ["A"]
        add(store, "B")
        assert names(store) == ["A", "B"]
        assert store.find_faults() == ()
    finally:
        apsw.connection_hooks.remove(confine)


@pytest.mark.covers("storage.failures.full")
def test_a_full_disk_inside_a_savepoint_is_no_false_success(
    open_store: Callable[[], SqliteStore], tmp_path: Path
) -> None:
    first = open_store()
    add(first, "A")
    first.close()
    pages = (tmp_path / "memory.db").stat().st_size // 4096

    def confine(db: apsw.Connection) -> None:
        db.pragma("max_page_count", pages + 5)

    apsw.connection_hooks.append(confine)
    try:
        store = open_store()
        with pytest.raises(StoreFullError), store.transaction("default", WRITE) as tx:
            tx.insert_nodes([NewNode(node=Node("B", "npc"))])
            with tx.savepoint():
                big = ("x" * 500_000,)
                tx.insert_nodes([NewNode(node=Node("C", "npc", big))])
        assert names(store) == ["A"]
    finally:
        apsw.connection_hooks.remove(confine)


@pytest.mark.covers("storage.failures.corrupt")
def test_damaged_pages_are_told_and_the_store_lives_on(
    open_store: Callable[[], SqliteStore], tmp_path: Path
) -> None:
    store = open_store()
    add(store, *(f"node {i}" for i in range(2000)))
    store.vacuum()
    store.close()
    path = tmp_path / "memory.db"
    db = apsw.Connection(str(path))
    root = next(iter(db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'node'")))[0]
    db.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xde\xad\xbe\xef" * 1024)
    store = open_store()
    for _ in range(2):
        with pytest.raises(StoreCorruptError) as caught:
            names(store)
        assert caught.value.code == "STORE_CORRUPT"
        assert any("restore" in each for each in caught.value.suggestions)
        with pytest.raises(StoreCorruptError):
            add(store, "A")
    assert any("damaged" in fault for fault in store.find_faults())


@pytest.mark.covers("storage.failures.index")
def test_a_damaged_index_is_found_and_made_anew(
    open_store: Callable[[], SqliteStore], tmp_path: Path
) -> None:
    store = open_store()
    add(store, "Gandalf", "Frodo")
    db = apsw.Connection(str(tmp_path / "memory.db"))
    db.execute("DELETE FROM node_index_1_data WHERE id > 10")
    db.close()
    assert store.find_faults() == (
        "space default: the search index is damaged or does not agree with the nodes",
    )
    assert store.rebuild_indexes() == 2
    assert store.find_faults() == ()
    with store.read("default") as reader:
        page = reader.search(SearchQuery(terms=("gand",)), after=None, limit=9)
    assert [hit.record.name for hit in page.hits] == ["Gandalf"]


@pytest.mark.covers("storage.failures.readonly")
def test_a_read_only_file_can_be_read_and_says_why_it_cannot_be_written(
    clock: Clock, ids: IdMaker
) -> None:
    # Root may write everything, so another user tries; its folder must let it in.
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / "memory.db"
        store = SqliteStore.open(path, now=clock, ids=ids)
        add(store, "A")
        store.close()
        path.chmod(0o444)
        (folder / "memory.db-lock").chmod(0o444)
        folder.chmod(0o555)
        before = path.read_bytes()
        assert run_readonly(path) == ["A", "True", "STORE_READONLY"]
        folder.chmod(0o777)
        assert run_readonly(path) == ["A", "True", "STORE_READONLY"]
        assert path.read_bytes() == before
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def run_readonly(path: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, WORKER, "readonly", path], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.covers("storage.failures.place")
def test_a_place_where_no_file_can_be_is_told(tmp_path: Path, clock: Clock, ids: IdMaker) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path, tmp_path / "file" / "memory.db"):
        with pytest.raises(StoreError) as caught:
            SqliteStore.open(path, now=clock, ids=ids)
        assert str(path) in caught.value.message
        assert caught.value.suggestions


@pytest.mark.covers("storage.failures.vanished")
@pytest.mark.parametrize("fate", ["removed", "replaced", "folder removed"])
def test_a_file_that_vanished_takes_no_write_that_would_be_lost(
    clock: Clock, ids: IdMaker, tmp_path: Path, fate: str
) -> None:
    folder = tmp_path / "store"
    store = SqliteStore.open(folder / "memory.db", now=clock, ids=ids)
    add(store, "A")
    if fate == "folder removed":
        shutil.rmtree(folder)
    else:
        (folder / "memory.db").unlink()
    if fate == "replaced":
        (folder / "memory.db").write_bytes(b"")
    with pytest.raises(StoreError, match="removed or replaced"):
        add(store, "B")
    with pytest.raises(StoreError, match="removed or replaced"):
        names(store)
    store.close()


def test_an_ended_transaction_is_not_reported_as_committed(
    open_store: Callable[[], SqliteStore],
) -> None:
    store = open_store()
    with (
        pytest.raises(StoreError, match="nothing was written"),
        store.transaction("default", WRITE) as tx,
    ):
        tx.insert_nodes([NewNode(node=Node("A", "npc"))])
        tx._space.db.execute("ROLLBACK")  # noqa: SLF001 (what SQLite does by itself at some failures)
    assert names(store) == []
    add(store, "B")
    assert names(store) == ["B"]


@pytest.mark.covers("storage.failures.no_content")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (apsw.BusyError(f"x {NEEDLE}"), "STORE_BUSY"),
        (apsw.LockedError(NEEDLE), "STORE_BUSY"),
        (apsw.FullError(NEEDLE), "STORE_FULL"),
        (apsw.ReadOnlyError(NEEDLE), "STORE_READONLY"),
        (apsw.CorruptError(NEEDLE), "STORE_CORRUPT"),
        (apsw.NotADBError(NEEDLE), "STORE_CORRUPT"),
        (apsw.CantOpenError(NEEDLE), "STORE_ERROR"),
        (apsw.IOError(NEEDLE), "STORE_ERROR"),
        (apsw.SQLError(NEEDLE), "STORE_ERROR"),
    ],
)
def test_each_failure_has_its_code_a_next_step_and_no_content(error: apsw.Error, code: str) -> None:
    told = store_error(error, "/x/memory.db")
    assert told.code == code
    assert told.suggestions
    assert "/x/memory.db" in told.message
    assert NEEDLE not in told.message


@pytest.mark.covers("storage.purge.bytes")
def test_purged_text_is_nowhere_in_the_files(
    open_store: Callable[[], SqliteStore], tmp_path: Path
) -> None:
    store = open_store()
    secret = NewNode(
        node=Node(f"{NEEDLE}-name", f"{NEEDLE}-type", (f"Key: {NEEDLE}-line",)),
        extra={"x": f"{NEEDLE}-extra"},
    )
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([secret, *(NewNode(node=Node(f"n{i}", "npc", ("y",))) for i in range(50))])
    with store.transaction("default", WRITE) as tx:
        tx.update_nodes([NodeChange(id=1, name=f"{NEEDLE}-second", metadata=(f"{NEEDLE}-more",))])
    assert any(holds(file) for file in tmp_path.iterdir())
    with store.transaction("default", WriteContext(operation="purge")) as tx:
        tx.purge_node(f"{NEEDLE}-second")
    store.vacuum()
    assert [file.name for file in tmp_path.iterdir() if holds(file)] == []
    assert (tmp_path / "memory.db-wal").stat().st_size == 0
    assert len(names(store)) == 50
    assert store.find_faults() == ()


def holds(file: Path) -> bool:
    """Whether a file has the needle in it, plain, folded, or one of its rarest grams."""
    data = file.read_bytes()
    folded = fold(NEEDLE)
    grams = [folded[i : i + 3] for i in range(len(folded) - 2)]
    return any(text.encode() in data for text in (NEEDLE, folded, *grams[:6]))


@pytest.mark.covers("storage.netfs")
@pytest.mark.parametrize(
    ("path", "mounts", "kind"),
    [
        ("/home/me/a.db", "/dev/sda1 / ext4 rw 0 0", None),
        ("/home/me/a.db", "/dev/sda1 / ext4 rw 0 0\nsrv:/h /home nfs4 rw 0 0", "nfs4"),
        ("/home/me/a.db", "srv:/h /home nfs rw 0 0\n/dev/sdb1 /home/me ext4 rw 0 0", None),
        ("/homes/a.db", "srv:/h /home nfs rw 0 0", None),
        ("/mnt/my share/a.db", "//srv/x /mnt/my\\040share cifs rw 0 0", "cifs"),
        ("/mnt/c/Users/a.db", "C:\\134 /mnt/c 9p rw,aname=drvfs;path=C:\\ 0 0", "drvfs"),
        ("/work/a.db", "none / 9p rw,trans=fd 0 0", None),
        ("/x/a.db", "me@srv:/ /x fuse.sshfs rw 0 0", "fuse.sshfs"),
        ("/Volumes/x/a.db", "//me@srv/x on /Volumes/x (smbfs, nodev, nosuid)", "smbfs"),
        ("/Users/me/a.db", "/dev/disk3s5 on / (apfs, sealed, local)", None),
        ("/a/b.db", "srv:/h /a nfs rw 0 0\ntmpfs /a tmpfs rw 0 0", None),
        ("/a/b.db", "not a mount table", None),
    ],
)
def test_a_network_file_system_is_recognised(path: str, mounts: str, kind: str | None) -> None:
    assert network_mount(path, mounts) == kind


@pytest.mark.covers("storage.netfs")
def test_a_network_file_system_is_refused_with_a_reason_and_a_way_out() -> None:
    with pytest.raises(StoreError) as caught:
        refuse_network_path("/home/me/memory.db", "srv:/h /home nfs4 rw 0 0")
    assert "(nfs4)" in caught.value.message
    assert "/home/me/memory.db" in caught.value.message
    assert ["--db" in caught.value.suggestions[0], len(caught.value.suggestions)] == [True, 2]
    refuse_network_path("/home/me/memory.db", "/dev/sda1 / ext4 rw 0 0")


def test_relative_paths_start_at_the_current_folder(
    tmp_path: Path, clock: Clock, ids: IdMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteStore.open(Path("deep") / "er" / "memory.db", now=clock, ids=ids)
    assert store.location == os.fspath(tmp_path / "deep" / "er" / "memory.db")
    store.close()
