"""Put a copy in a database's place, while nobody has it open, and keep what was there."""

import contextlib
import os
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

import apsw

from schemory.errors import StoreBusyError
from schemory.storage.files import file_error, sync_folder
from schemory.storage.sqlite.opening import bytes_in

if sys.platform != "win32":
    import fcntl

_LOCKED_FROM: Final = 0x40000000  # the bytes that SQLite locks: pending, reserved, shared
_LOCKED_BYTES: Final = 512
_LOCK_FIELDS: Final = 8
_MAGIC: Final = b"SQLite format 3\0"
LOGS: Final = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""


def put_in_place(copy: Path, target: Path, *, aside: Path) -> Path | None:
    """Make `copy` the database `target`; what was there becomes `aside`.

    The caller holds the write queue. At any moment there is a whole database at `target`.

    Returns:
        `aside`, or None when nothing was there.

    Raises:
        StoreBusyError: Somebody has `target` open.
        StoreReadonlyError, StoreError: The folder cannot be written.
    """
    try:
        if not target.exists():
            copy.replace(target)
            sync_folder(target.parent)
            return None
        _empty_log(target)
        with _all_out(target):
            _move_logs(target, aside)
            _keep(target, aside)
            copy.replace(target)
            sync_folder(target.parent)
    except OSError as error:
        raise file_error(error, target) from error
    return aside


def _empty_log(path: Path) -> None:
    """Bring what waits in the log into the file, alone; a damaged file's log stays beside it."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return  # SQLite would take it for an empty database and forget the log
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return
    try:
        db.pragma("locking_mode", "EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (apsw.BusyError, apsw.LockedError) as error:
        raise in_use(path) from error
    except apsw.Error:
        return  # damaged: that is why it is replaced
    finally:
        db.close()


@contextlib.contextmanager
def _all_out(path: Path) -> Generator[None]:
    """Keep every process from opening the file for the block, by SQLite's own locks."""
    if sys.platform == "win32":
        yield  # an open file cannot be replaced there
        return
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKED_BYTES, _LOCKED_FROM)
    except BlockingIOError as error:
        os.close(descriptor)
        raise in_use(path) from error
    try:
        yield
    finally:
        os.close(descriptor)


def _move_logs(path: Path, aside: Path) -> None:
    """Take the log away: beside another database it would be read as that one's."""
    for ending in LOGS:
        log = path.with_name(path.name + ending)
        if ending != "-shm" and bytes_in(log):
            log.replace(aside.with_name(aside.name + ending))
        log.unlink(missing_ok=True)


def _keep(path: Path, aside: Path) -> None:
    try:
        aside.hardlink_to(path)
    except OSError:  # a file system without links
        import shutil  # noqa: PLC0415 (rarely needed)

        shutil.copy2(path, aside)
    aside.chmod(0o600)


def in_use(path: Path) -> StoreBusyError:
    """Return the error for a database that somebody has open, naming who where known."""
    pids = sorted(_users(path) - {os.getpid()})
    return StoreBusyError(
        f"{_who(pids)} the store open; it was not replaced: {path}",
        context={"pids": pids},
        suggestions=["Stop the servers that use it (close the agents' sessions), then try again."],
    )


def _who(pids: Sequence[int]) -> str:
    """Return who has it, with the verb.

    >>> _who([]), _who([7]), _who([7, 8, 9])
    ('Another program has', 'Process 7 has', 'Processes 7, 8 and 9 have')
    """
    if not pids:
        return "Another program has"
    *others, last = map(str, pids)
    return f"Processes {', '.join(others)} and {last} have" if others else f"Process {last} has"


def _users(path: Path) -> set[int]:
    """Return the processes that hold a lock on the database, where the system tells (Linux)."""
    try:
        table = Path("/proc/locks").read_text(encoding="ascii")
        inodes = {
            file.stat().st_ino
            for ending in ("", "-shm")
            if (file := path.with_name(path.name + ending)).exists()
        }
    except OSError:
        return set()
    fields = [line.split() for line in table.splitlines()]
    return {
        int(each[4])
        for each in fields
        if len(each) == _LOCK_FIELDS
        and each[4].isdigit()
        and each[5].rpartition(":")[2] in set(map(str, inodes))
    }
