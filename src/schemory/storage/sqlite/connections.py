"""Connections to one database file: their pragmas, the writer's and a pool for snapshots."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager

import apsw

from schemory.model.frozen import dataclass
from schemory.storage.sqlite.failures import moved_error
from schemory.storage.sqlite.locks import patience

WRITER_CACHE_KIB = 64 * 1024
READER_CACHE_KIB = 16 * 1024
_IDLE_READERS = 2
_STATEMENTS_KEPT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to connect to, and how.

    Attributes:
        path: The database file, absolute; None = in memory.
        synchronous: `FULL` (each commit reaches the disk) or `NORMAL`.
        is_immutable: The folder cannot be written either, so not even a reader's lock can be taken.
    """

    path: str | None
    busy_timeout_seconds: float
    synchronous: str
    is_immutable: bool = False

    @property
    def location(self) -> str:
        """What to call it in messages."""
        return self.path or ":memory:"


def connect(target: Target, *, cache_kib: int) -> apsw.Connection:
    """Return a new connection with every pragma set that does not write."""
    db = _open(target)
    try:
        # Else many statements are planned anew for each value bound to them, at up to six times
        # the cost of running them; as nothing is ANALYZEd, the new plan is always the old one.
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        db.set_busy_handler(patience(target.busy_timeout_seconds))
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA mmap_size = 0")
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("PRAGMA journal_size_limit = 67108864")  # a bulk load's log shrinks again
        db.pragma("cache_size", -cache_kib)
        db.pragma("synchronous", target.synchronous)
        db.register_fts5_function("schemory_held", _phrases_held)
    except BaseException:
        db.close()
        raise
    return db


def _phrases_held(api: "apsw.FTS5ExtensionApi", *_: object) -> bytes:
    """Return a byte per phrase of a full-text expression: 1 where the row has it."""
    return bytes(len(api.phrase_columns(i)) > 0 for i in range(api.phrase_count))


def _open(target: Target) -> apsw.Connection:
    if target.path is None:
        return apsw.Connection(":memory:", statementcachesize=_STATEMENTS_KEPT)
    if target.is_immutable:
        from pathlib import Path  # noqa: PLC0415 (a start does without)

        uri = f"{Path(target.path).as_uri()}?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(uri, flags=flags, statementcachesize=_STATEMENTS_KEPT)
    # SQLite itself falls back to reading when the file may not be written.
    return apsw.Connection(
        target.path, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=_STATEMENTS_KEPT
    )


class FileIdentity:
    """Which file a path named when it was opened, to notice that it was removed or replaced."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._seen = _identity(path) if path else None

    def check(self) -> None:
        """Raise a StoreError unless the path still names that file."""
        if self._path is not None and _identity(self._path) != self._seen:
            raise moved_error(self._path)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


class Readers:
    """Connections for snapshots, each used by one thread at a time and kept for the next."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._idle: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._is_closed = False

    @contextmanager
    def lease(self) -> Generator[apsw.Connection]:
        """Lend a connection inside a read transaction that ends with the block."""
        db = self._take()
        try:
            db.execute("BEGIN")
            yield db
        finally:
            self._give_back(db)

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return connect(self._target, cache_kib=READER_CACHE_KIB)

    def _give_back(self, db: apsw.Connection) -> None:
        is_sound = True
        try:
            if not db.get_autocommit():
                db.execute("ROLLBACK")
        except apsw.Error:
            is_sound = False
        with self._lock:
            if is_sound and not self._is_closed and len(self._idle) < _IDLE_READERS:
                self._idle.append(db)
                return
        db.close()

    def close(self) -> None:
        """Close every idle connection; leased ones close when they come back."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()
