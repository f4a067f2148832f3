"""The raw engine: the very rows that the product wrote, written again by bare statements.

What the product runs is recorded statement by statement, with its values ready-made; the bare
engine then gets the same statements in a transaction of its own, on a file made by the same
migrations. So both write the same rows and index texts, and the difference is our code.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import apsw

Statement: TypeAlias = tuple[str, "apsw.Bindings | None"]
Transaction: TypeAlias = list[Statement]

_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


class Recorder:
    """Keeps the writing statements of every connection that is opened while it listens."""

    def __init__(self) -> None:
        self.transactions: list[Transaction] = []
        self._open: Transaction = []

    def hear(self, _: apsw.Cursor, sql: str, bound: "apsw.Bindings | None") -> bool:
        """Take note of one statement; an exec trace of apsw."""
        verb = sql.split(None, 1)[0].upper() if sql.strip() else ""
        if verb in _WRITES:
            self._open.append((sql, bound))
        elif verb in {"COMMIT", "END"}:
            self.transactions.append(self._open)
            self._open = []
        elif verb in {"BEGIN", "ROLLBACK"}:
            self._open = []
        return True


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record what connections opened inside the block write, until they close."""
    recorder = Recorder()

    def listen(db: apsw.Connection) -> None:
        db.exec_trace = recorder.hear

    apsw.connection_hooks.append(listen)
    try:
        yield recorder
    finally:
        apsw.connection_hooks.remove(listen)


def connect(path: Path) -> apsw.Connection:
    """Return a bare connection with the product's pragmas."""
    db = apsw.Connection(str(path), statementcachesize=200)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)  # plans once, as the product does
    db.execute("PRAGMA foreign_keys = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY")
    db.pragma("cache_size", -64 * 1024)
    db.pragma("synchronous", "FULL")
    return db


def replay(db: apsw.Connection, transaction: Transaction) -> None:
    """Write one recorded transaction."""
    db.execute("BEGIN IMMEDIATE")
    for sql, bound in transaction:
        db.execute(sql, bound)
    db.execute("COMMIT")


def load(db: apsw.Connection, transactions: Sequence[Transaction]) -> Callable[[], None]:
    """Return a function that writes recorded rows in one transaction, in bulk per statement."""
    batches: list[tuple[str, list[apsw.Bindings | None]]] = []
    for transaction in transactions:
        for sql, bound in transaction:
            if not batches or batches[-1][0] != sql:
                batches.append((sql, []))
            batches[-1][1].append(bound)

    def run() -> None:
        db.execute("BEGIN IMMEDIATE")
        for sql, rows in batches:
            db.executemany(sql, (row or () for row in rows))
        db.execute("COMMIT")

    return run
