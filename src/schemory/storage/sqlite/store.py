"""The embedded store: one SQLite file (or memory) that holds graph spaces and project memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

import apsw

from schemory.errors import StoreError
from schemory.hints import TYPE_CHECKING
from schemory.model.moment import Clock, IdMaker, moment_text
from schemory.storage.protocols import Capability, WriteContext
from schemory.storage.sqlite.connections import Readers
from schemory.storage.sqlite.failures import store_error, translated
from schemory.storage.sqlite.locks import patience, wal_writer
from schemory.storage.sqlite.memory_store import MemoryHalf
from schemory.storage.sqlite.open_file import BUSY_TIMEOUT_SECONDS, OpenFile, open_file
from schemory.storage.sqlite.opening import bytes_in
from schemory.storage.sqlite.projects import (
    Start,
    find_graph,
    find_start,
    make_graph,
    make_project,
)
from schemory.storage.sqlite.space import Space
from schemory.storage.write_queue import busy_error

if TYPE_CHECKING:
    from typing import Self

    from schemory.model.jsonvalue import Json
    from schemory.storage.memory_protocols import IndexTerms
    from schemory.storage.sqlite.graph import SqliteGraphReader
    from schemory.storage.sqlite.memory_store import Tx, Writing
    from schemory.storage.sqlite.transaction import SqliteGraphTransaction


class SqliteStore(MemoryHalf):
    """Both halves in one SQLite file; threads may share it, processes may share the file.

    Built by `open`. Each half imports its parts at its first use: the other starts without them.
    """

    def __init__(
        self, file: OpenFile, *, now: Clock, ids: IdMaker, terms: IndexTerms | None
    ) -> None:
        super().__init__(terms, remembers=file.target.path is not None)
        self._file = file
        self._target = file.target
        self._queue = file.queue
        self._writer = file.writer
        self._now = now
        self._ids = ids
        self._shared = threading.RLock()  # in memory there is one connection for all
        self._readers = Readers(file.target)
        self._is_closed = False

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        now: Clock,
        ids: IdMaker,
        busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
        synchronous: str = "FULL",
        terms: IndexTerms | None = None,
    ) -> Self:
        """Open a store, made where missing and brought to this version's schema.

        Args:
            path: The database file; `:memory:` = in memory, gone at `close`.
            now: The clock of everything that is recorded.
            ids: Makes text ids.
            busy_timeout_seconds: How long to wait for another writer.
            synchronous: `FULL`, or `NORMAL`: faster, a power cut may take the last commits.
            terms: How project memory is indexed; None = the graph alone.

        Raises:
            StoreError: The file is not ours, newer, damaged, busy, not accessible, or on a
                network file system; such a file is left untouched.
        """
        file = open_file(
            path, now=now, busy_timeout_seconds=busy_timeout_seconds, synchronous=synchronous
        )
        return cls(file, now=now, ids=ids, terms=terms)

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
        return self._file.cursor_key

    @contextmanager
    def read(self, space: str) -> Generator[SqliteGraphReader]:
        """Open a snapshot of `space`; an unknown space reads as empty and is not created.

        In memory there is one connection: a read waits for other threads' transactions, and inside
        the own thread's transaction it sees what that has written so far.
        """
        from schemory.storage.sqlite.graph import SqliteGraphReader  # noqa: PLC0415 (see class)

        with translated(self.location), self._snapshot() as db:
            yield SqliteGraphReader(Space(db, find_graph(db, space)), space)

    def _snapshot(self) -> AbstractContextManager[apsw.Connection]:
        self._check_usable()
        return self._in_memory() if self._target.path is None else self._readers.lease()

    @contextmanager
    def _in_memory(self) -> Generator[apsw.Connection]:
        with self._shared:
            yield self._writer

    @contextmanager
    def transaction(self, space: str, context: WriteContext) -> Generator[SqliteGraphTransaction]:
        """Open the write transaction of `space`: commits at the end, rolls back on an exception.

        Raises:
            StoreBusyError: Another process kept the write lock too long; names it where known.
            StoreReadonlyError, StoreFullError, StoreCorruptError: As named.
            RuntimeError: This thread has a transaction open; nest with `savepoint()`.
        """
        with self._written(lambda db: self._enter(db, space, context)) as tx:
            yield tx

    @contextmanager
    def _written(self, enter: Callable[[apsw.Connection], Tx]) -> Generator[Tx]:
        self._check_usable()
        with self._alone() as db, self._begun(db):
            tx: Tx | None = None
            try:
                tx = enter(db)
                yield tx
                self._finish(db, tx)
            except BaseException as error:  # noqa: BLE001 (raised again, told in our words)
                told = _in_our_words(error, self.location, db.system_errno)
                _roll_back(db)
                _raise_after(error, told, tx.compensations.run() if tx else [])

    @contextmanager
    def _alone(self) -> Generator[apsw.Connection]:
        """Hold the writer's connection, alone among threads and in the queue of processes."""
        # On disk snapshots have connections of their own and wait for nobody.
        with (
            self._shared if self._target.path is None else nullcontext(),
            self._queue.hold(self._target.busy_timeout_seconds) as seconds_left,
        ):
            self._writer.set_busy_handler(patience(seconds_left))
            yield self._writer

    @contextmanager
    def _begun(self, db: apsw.Connection) -> Generator[None]:
        path = self._target.path
        try:
            db.execute("BEGIN IMMEDIATE")
        except apsw.BusyError as error:
            raise busy_error(self.location, wal_writer(path) if path else None) from error
        except apsw.Error as error:
            raise store_error(error, self.location, db.system_errno) from error
        try:
            yield
        finally:
            _roll_back(db)

    def _enter(
        self, db: apsw.Connection, name: str, context: WriteContext
    ) -> SqliteGraphTransaction:
        from schemory.storage.sqlite.ledger import LedgerEntry  # noqa: PLC0415 (see class)
        from schemory.storage.sqlite.transaction import (  # noqa: PLC0415 (as above)
            SqliteGraphTransaction,
        )

        start = self._start(db, name)
        number = start.number or make_project(db, name, start.moment)
        if not start.has_graph:
            make_graph(db, number)
        space = Space(db, number)
        entry = LedgerEntry(space, seq=start.seq, now=start.now, context=context)
        return SqliteGraphTransaction(space, name, entry, self._terms)

    def _start(self, db: apsw.Connection, project_id: str) -> Start:
        return find_start(db, project_id, moment_text(self._now()))

    def _finish(self, db: apsw.Connection, tx: Writing) -> None:
        if db.get_autocommit():
            raise StoreError(
                f"The transaction was ended by an earlier failure; nothing was written: "
                f"{self.location}"
            )
        db.execute("COMMIT" if tx.close() else "ROLLBACK")

    def spaces(self) -> tuple[str, ...]:
        """Return the ids of all spaces that hold anything, sorted."""
        sql = """
            SELECT id FROM projects AS p
            WHERE EXISTS (SELECT 1 FROM node AS n WHERE n.project = p.number)
               OR EXISTS (SELECT 1 FROM kept AS k WHERE k.project = p.number)
            ORDER BY id
        """
        with translated(self.location), self._snapshot() as db:
            return tuple(row[0] for row in db.execute(sql))

    def status(self) -> Mapping[str, Json]:
        """Return facts for `status`: location, sizes, versions, features, warnings."""
        spaces = self.spaces()
        with translated(self.location), self._snapshot() as db:
            return {
                "backend": "sqlite",
                "location": self.location,
                "spaces": list(spaces),
                "sqliteVersion": apsw.sqlite_lib_version(),
                "schemaVersion": db.pragma("user_version"),
                "journalMode": db.pragma("journal_mode"),
                "synchronous": self._target.synchronous,
                "pageSize": db.pragma("page_size"),
                "pages": db.pragma("page_count"),
                "freePages": db.pragma("freelist_count"),
                "readOnly": self._writer.readonly("main"),
                **self._file_facts(),
            }

    def _file_facts(self) -> dict[str, Json]:
        path = self._target.path
        if path is None:
            return {"warnings": []}
        return {
            "fileBytes": os.path.getsize(path),
            "walBytes": bytes_in(f"{path}-wal"),
            "warnings": list(self._file.warnings()),
        }

    def vacuum(self) -> None:
        """Give back free pages, so that deleted text is nowhere in the file.

        Raises:
            StoreBusyError: A reader kept the write-ahead log from being emptied.
        """
        from schemory.storage.sqlite import upkeep  # noqa: PLC0415 (serving needs none of it)

        with self._upkeep() as db:
            upkeep.vacuum(db, self.location)

    def find_faults(self) -> tuple[str, ...]:
        """Return what is wrong with the file or its search indexes, () when all is sound."""
        from schemory.storage.sqlite import upkeep  # noqa: PLC0415 (serving needs none of it)

        with self._upkeep() as db:
            return upkeep.find_faults(db, self._terms)

    def rebuild_indexes(self) -> int:
        """Make every search index anew; returns how many nodes and entries they hold."""
        from schemory.storage.sqlite import upkeep  # noqa: PLC0415 (serving needs none of it)

        with self._upkeep() as db:
            return upkeep.rebuild_indexes(db, self._terms)

    @contextmanager
    def _upkeep(self) -> Generator[apsw.Connection]:
        self._check_usable()
        with self._alone() as db, translated(self.location):
            yield db

    def close(self) -> None:
        """Release files and locks; later calls fail."""
        self._is_closed = True
        self._readers.close()
        self._file.close()

    def _check_usable(self) -> None:
        if self._is_closed:
            raise StoreError(f"The store is closed: {self.location}")
        self._file.identity.check()


def _roll_back(db: apsw.Connection) -> None:
    if not db.get_autocommit():
        db.execute("ROLLBACK")


def _in_our_words(error: BaseException, location: str, system_errno: int) -> BaseException:
    return store_error(error, location, system_errno) if isinstance(error, apsw.Error) else error


def _raise_after(error: BaseException, told: BaseException, failures: list[Exception]) -> None:
    """Raise what a failed transaction ends with: `told`, and failed compensations with it."""
    if failures:
        raise BaseExceptionGroup(
            "the transaction and its compensations failed", [told, *failures]
        ) from error
    if told is error:
        raise error
    raise told from error
