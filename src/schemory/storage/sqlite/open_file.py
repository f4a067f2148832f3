"""A database that is open and has this version's schema; a store is what works with it.

Apart from the store, so that a server knows at once whether its file is usable and imports what
works with it only for the first call.
"""

import os

import apsw

from schemory.model.moment import Clock
from schemory.storage.sqlite.connections import WRITER_CACHE_KIB, FileIdentity, Target, connect
from schemory.storage.sqlite.failures import readonly_error, translated
from schemory.storage.sqlite.migrate import (
    incomplete_error,
    is_current,
    refuse_incomplete_file,
)
from schemory.storage.sqlite.opening import (
    create_or_migrate,
    exposure,
    needs_immutable,
    prepare_file,
)
from schemory.storage.write_queue import WriteQueue

MEMORY = ":memory:"
BUSY_TIMEOUT_SECONDS = 15.0


class OpenFile:
    """An open database. Built by `open_file`.

    Attributes:
        writer: The one connection that writes.
        identity: Which file the path named when it was opened.
        cursor_key: A secret of this store that signs cursors.
    """

    def __init__(self, target: Target) -> None:
        path = target.path
        lock_file = f"{path}-lock" if path else None
        self.target = target
        self.queue = WriteQueue(lock_file, target.location, needs_file=False)
        self.writer: apsw.Connection = connect(target, cache_kib=WRITER_CACHE_KIB)
        self.identity = FileIdentity(path)
        self.cursor_key = b""

    def bring_up_to_date(self, now: Clock) -> None:
        """Make the schema this version's and read the key."""
        db, target = self.writer, self.target
        if is_current(db, target.location):
            refuse_incomplete_file(db, target.location)
        else:
            if db.readonly("main"):
                raise readonly_error(target.location)
            with self.queue.hold(target.busy_timeout_seconds):
                if not is_current(db, target.location):
                    create_or_migrate(db, target, now=now)
        rows = list(db.execute("SELECT value FROM store_facts WHERE name = 'cursor_key'"))
        if not rows:
            raise incomplete_error(target.location, ["store_facts.cursor_key"])
        self.cursor_key = bytes(rows[0][0])

    def warnings(self) -> tuple[str, ...]:
        """Return what a person should know of the file."""
        path = self.target.path
        warning = exposure(path) if path else None
        return (warning,) if warning else ()

    def close(self) -> None:
        """Release the file."""
        self.writer.close()


def open_file(
    path: str | os.PathLike[str],
    *,
    now: Clock,
    busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS,
    synchronous: str = "FULL",
) -> OpenFile:
    """Open a database, made where missing and brought to this version's schema.

    Arguments and errors are those of `SqliteStore.open`.
    """
    file = None if os.fspath(path) == MEMORY else _absolute(path)
    if file is not None:
        prepare_file(file)
    target = Target(
        path=file,
        busy_timeout_seconds=busy_timeout_seconds,
        synchronous=synchronous,
        is_immutable=file is not None and needs_immutable(file),
    )
    with translated(target.location):
        opened = OpenFile(target)
        try:
            opened.bring_up_to_date(now)
        except BaseException:
            opened.close()
            raise
    return opened


def _absolute(path: str | os.PathLike[str]) -> str:
    """Return a path seen from the working folder; `..` stays, for it may follow a symbolic link."""
    text = os.path.join(os.getcwd(), path)
    return text if ".." in text else os.path.normpath(text)
