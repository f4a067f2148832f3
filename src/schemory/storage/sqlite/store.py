"""The embedded store: one SQLite file (or memory) that holds graph spaces."""

import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Self

import apsw

from schemory.errors import StoreError
from schemory.model.jsonvalue import Json
from schemory.model.moment import Clock, IdMaker, moment_text
from schemory.storage.protocols import Capability, WriteContext
from schemory.storage.sqlite import index
from schemory.storage.sqlite.connections import (
    WRITER_CACHE_KIB,
    FileIdentity,
    Readers,
    Target,
    connect,
)
from schemory.storage.sqlite.failures import readonly_error, store_error, translated
from schemory.storage.sqlite.graph import SqliteGraphReader
from schemory.storage.sqlite.ledger import LedgerEntry
from schemory.storage.sqlite.locks import WriteQueue, busy_error, wal_writer
from schemory.storage.sqlite.migrate import (
    APPLICATION_ID,
    is_current,
    migrate,
    refuse_foreign_file,
)
from schemory.storage.sqlite.netfs import refuse_network_path
from schemory.storage.sqlite.transaction import SqliteGraphTransaction

MEMORY = ":memory:"
_BUSY_TIMEOUT_SECONDS = 15.0


class SqliteStore:
    """A GraphStore in one SQLite file; threads may share it, processes may share the file.

    Built by `open`.
    """

    def __init__(self, target: Target, *, now: Clock, ids: IdMaker) -> None:
        self._target = target
        self._now = now
        self._ids = ids
        path = target.path
        lock_file = path.with_name(path.name + "-lock") if path else None
        self._queue = WriteQueue(lock_file, target.location)
        self._shared = threading.RLock()  # in memory there is one connection for all
        self._writer = connect(target, cache_kib=WRITER_CACHE_KIB)
        self._readers = Readers(target)
        self._identity = FileIdentity(path)
        self._is_closed = False
        self._cursor_key = b""

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        now: Clock,
        ids: IdMaker,
        busy_timeout_seconds: float = _BUSY_TIMEOUT_SECONDS,
        synchronous: str = "FULL",
    ) -> Self:
        """Open a store, made where missing and brought to this version's schema.

        Args:
            path: The database file; `:memory:` = in memory, gone at `close`.
            now: The clock of everything that is recorded.
            ids: Makes text ids.
            busy_timeout_seconds: How long to wait for another writer.
            synchronous: `FULL`, or `NORMAL`: faster, a power cut may take the last commits.

        Raises:
            StoreError: The file is not ours, newer, damaged, busy, not accessible, or on a
                network file system; such a file is left untouched.
        """
        file = None if os.fspath(path) == MEMORY else Path(path).absolute()
        target = Target(
            path=file, busy_timeout_seconds=busy_timeout_seconds, synchronous=synchronous
        )
        if file is not None:
            _prepare_file(file)
        with translated(target.location):
            store = cls(target, now=now, ids=ids)
            try:
                store._bring_up_to_date()
            except BaseException:
                store.close()
                raise
        return store

    def _bring_up_to_date(self) -> None:
        db, location = self._writer, self.location
        if not is_current(db, location):
            if db.readonly("main"):
                raise readonly_error(location)
            with self._queue.hold(self._target.busy_timeout_seconds):
                if not is_current(db, location):
                    self._create_or_migrate()
        row = db.execute("SELECT value FROM store_facts WHERE name = 'cursor_key'").fetchone()
        self._cursor_key = bytes(row[0])

    def _create_or_migrate(self) -> None:
        db = self._writer
        if db.pragma("application_id") == 0:
            # Before WAL, so that the mark stands in the file itself whatever happens next.
            db.pragma("application_id", APPLICATION_ID)
        db.pragma("journal_mode", "wal")
        migrate(db, self.location, now=self._now)
        db.execute(
            "INSERT INTO store_facts (name, value) VALUES ('cursor_key', ?) ON CONFLICT DO NOTHING",
            (secrets.token_bytes(32),),
        )

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this store can do beyond the base."""
        return frozenset({Capability.HISTORY, Capability.SPACES})

    @property
    def location(self) -> str:
        """The absolute path, for people."""
        return self._target.location

    @property
    def cursor_key(self) -> bytes:
        """A secret of this store that signs cursors."""
        return self._cursor_key

    @contextmanager
    def read(self, space: str) -> Iterator[SqliteGraphReader]:
        """Open a snapshot of `space`; an unknown space reads as empty and is not created.

        In memory there is one connection: a read waits for other threads' transactions, and inside
        the own thread's transaction it sees what that has written so far.
        """
        with translated(self.location), self._snapshot() as db:
            yield SqliteGraphReader(db, space, _find_number(db, space))

    def _snapshot(self) -> AbstractContextManager[apsw.Connection]:
        self._check_open()
        return self._in_memory() if self._target.path is None else self._readers.lease()

    @contextmanager
    def _in_memory(self) -> Iterator[apsw.Connection]:
        with self._shared:
            yield self._writer

    @contextmanager
    def transaction(self, space: str, context: WriteContext) -> Iterator[SqliteGraphTransaction]:
        """Open the write transaction of `space`: commits at the end, rolls back on an exception.

        Raises:
            StoreBusyError: Another process kept the write lock too long; names it where known.
            StoreReadonlyError, StoreFullError, StoreCorruptError: As named.
            RuntimeError: This thread has a transaction open; nest with `savepoint()`.
        """
        self._check_open()
        with self._queue.hold(self._target.busy_timeout_seconds), self._alone():
            db = self._writer
            self._begin(db)
            tx: SqliteGraphTransaction | None = None
            try:
                tx = self._enter(db, space, context)
                yield tx
                self._finish(db, tx)
            except BaseException as error:
                self._roll_back(db)
                raise self._told(error, tx) from error.__cause__

    def _alone(self) -> AbstractContextManager[object]:
        # On disk snapshots have connections of their own and do not wait.
        return self._shared if self._target.path is None else threading.Lock()

    def _begin(self, db: apsw.Connection) -> None:
        try:
            db.execute("BEGIN IMMEDIATE")
        except apsw.BusyError as error:
            path = self._target.path
            raise busy_error(self.location, wal_writer(path) if path else None) from error
        except apsw.Error as error:
            raise store_error(error, self.location) from error
        if db.readonly("main"):
            db.execute("ROLLBACK")
            raise readonly_error(self.location)

    def _enter(
        self, db: apsw.Connection, space: str, context: WriteContext
    ) -> SqliteGraphTransaction:
        moment = moment_text(self._now())
        number = _find_number(db, space) or _create_space(db, space, moment)
        sql = "SELECT last_seq, last_recorded_at FROM projects WHERE number = ?"
        seq, recorded_at = db.execute(sql, (number,)).fetchall()[0]
        entry = LedgerEntry(db, number, seq=seq + 1, now=max(moment, recorded_at), context=context)
        return SqliteGraphTransaction(db, space, number, entry)

    def _finish(self, db: apsw.Connection, tx: SqliteGraphTransaction) -> None:
        if db.get_autocommit():
            raise StoreError(f"The transaction was ended by an earlier failure: {self.location}")
        db.execute("COMMIT" if tx.close() else "ROLLBACK")

    def _roll_back(self, db: apsw.Connection) -> None:
        if not db.get_autocommit():
            db.execute("ROLLBACK")

    def _told(self, error: BaseException, tx: SqliteGraphTransaction | None) -> BaseException:
        """Return what leaves a failed transaction: the error, with failed undoers if any."""
        if isinstance(error, apsw.Error):
            told: BaseException = store_error(error, self.location)
            told.__cause__ = error
        else:
            told = error
        failures = tx.run_undoers() if tx else []
        if not failures:
            return told
        return BaseExceptionGroup("the transaction and its compensations failed", [told, *failures])

    def spaces(self) -> tuple[str, ...]:
        """Return the ids of all spaces that hold anything, sorted."""
        sql = """
            SELECT id FROM projects AS p
            WHERE EXISTS (SELECT 1 FROM node AS n WHERE n.project = p.number)
               OR EXISTS (SELECT 1 FROM kept AS k WHERE k.project = p.number)
        """
        with translated(self.location), self._snapshot() as db:
            return tuple(sorted(str(row[0]) for row in db.execute(sql)))

    def status(self) -> Mapping[str, Json]:
        """Return facts for `status`: location, sizes, versions, features, warnings."""
        with translated(self.location), self._snapshot() as db:
            facts: dict[str, Json] = {
                "backend": "sqlite",
                "location": self.location,
                "sqliteVersion": apsw.sqlite_lib_version(),
                "schemaVersion": db.pragma("user_version"),
                "journalMode": db.pragma("journal_mode"),
                "synchronous": self._target.synchronous,
                "pageSize": db.pragma("page_size"),
                "pages": db.pragma("page_count"),
                "freePages": db.pragma("freelist_count"),
                "readOnly": db.readonly("main"),
            }
        facts["spaces"] = len(self.spaces())
        return facts

    def vacuum(self) -> None:
        """Give back free pages, so that deleted text is nowhere in the file."""
        self._check_open()
        with (
            self._queue.hold(self._target.busy_timeout_seconds),
            self._alone(),
            translated(self.location),
        ):
            db = self._writer
            for (number,) in db.execute("SELECT number FROM projects").fetchall():
                index.optimize(db, number)
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Release files and locks; later calls fail."""
        self._is_closed = True
        self._readers.close()
        self._writer.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"The store is closed: {self.location}")
        self._identity.check()


def _prepare_file(path: Path) -> None:
    """Make folder and file where missing, for us alone; refuse what must not be touched."""
    try:
        _make_folder(path.parent)
        refuse_network_path(path)
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        refuse_foreign_file(path)
    except OSError as error:
        raise StoreError(
            f"The store cannot be opened ({error.strerror}): {path}",
            suggestions=["Choose another place with --db or MEMORY_DB_PATH."],
        ) from error


def _make_folder(folder: Path) -> None:
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)


def _find_number(db: apsw.Connection, space: str) -> int:
    row = db.execute("SELECT number FROM projects WHERE id = ?", (space,)).fetchone()
    return 0 if row is None else int(row[0])


def _create_space(db: apsw.Connection, space: str, moment: str) -> int:
    db.execute(
        "INSERT INTO projects (id, created_at, updated_at) VALUES (?, ?, ?)",
        (space, moment, moment),
    )
    number = db.last_insert_rowid()
    db.execute(index.index_tables_sql(number))
    return number
