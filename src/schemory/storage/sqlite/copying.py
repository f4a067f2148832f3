"""Copy a database while others use it, and prove that the copy is sound before it counts."""

import contextlib
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Final

import apsw

from schemory.errors import StoreCorruptError
from schemory.storage.files import PRIVATE_MODE, file_error, temporary_name
from schemory.storage.keeping import Progress
from schemory.storage.sqlite.failures import translated
from schemory.storage.sqlite.migrate import is_current, refuse_foreign_file
from schemory.storage.sqlite.opening import bytes_in
from schemory.storage.sqlite.soundness import check_tables
from schemory.storage.surroundings import leftovers

_STEP_PAGES: Final = 2_000
_PATIENCE_MS: Final = 15_000
_TOLD: Final = {
    "nodes": "node",
    "edges": "edge",
    "entries": "memory_entries",
    "projects": "projects",
}


def open_source(path: Path, *, is_live: bool) -> apsw.Connection:
    """Return a connection to a store of ours that is only read.

    Args:
        path: The database.
        is_live: Others may be writing to it; else it is read without making a file beside it,
            unless a log waits there.

    Raises:
        StoreCorruptError: It is no store of ours, or a newer version's.
    """
    refuse_foreign_file(str(path))
    is_still = not (is_live or bytes_in(f"{path}-wal"))
    flags = apsw.SQLITE_OPEN_READONLY if is_still else apsw.SQLITE_OPEN_READWRITE
    uri = f"{path.absolute().as_uri()}{'?immutable=1' if is_still else ''}"
    with translated(str(path)):
        db = apsw.Connection(uri, flags=flags | apsw.SQLITE_OPEN_URI)
        try:
            db.set_busy_timeout(_PATIENCE_MS)
            is_current(db, str(path))  # refuses a newer one
        except BaseException:
            db.close()
            raise
    return db


@contextlib.contextmanager
def verified_copy(
    source: apsw.Connection, target: Path, *, journal_mode: str, progress: Progress
) -> Generator[tuple[Path, Mapping[str, int]]]:
    """Copy the database to a temporary file beside `target`; removed unless it was moved away.

    Gives its path and its counts. The source's snapshot does not move meanwhile; writers go on.

    Raises:
        StoreCorruptError: The source is damaged, so the copy is no good.
        StoreFullError, StoreReadonlyError, StoreError: It cannot be written there.
    """
    temporary = temporary_name(target)
    try:
        for left in leftovers(target):
            left.unlink(missing_ok=True)
        with translated(str(target)):
            _create(temporary)
            source.execute("BEGIN")
            try:
                expected = _count_rows(source)
                _copy(source, temporary, journal_mode=journal_mode, progress=progress)
            finally:
                source.execute("ROLLBACK")
            progress(0, None, "verifying the copy")
            counts = _verify(temporary, expected)
        yield temporary, counts
    except OSError as error:
        raise file_error(error, target) from error
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):  # else it would hide why the copy failed
                temporary.with_name(temporary.name + ending).unlink(missing_ok=True)


def renew_cursor_key(path: Path) -> None:
    """Let cursors that were given out before a restore be refused.

    A restored store numbers on from an older state, so the numbers in them may mean other items.
    """
    with translated(str(path)):
        copy = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            copy.execute(
                "UPDATE store_facts SET value = ? WHERE name = 'cursor_key'", (os.urandom(32),)
            )
        finally:
            copy.close()


def _create(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_MODE))
    except OSError as error:
        raise file_error(error, path) from error


def _copy(source: apsw.Connection, path: Path, *, journal_mode: str, progress: Progress) -> None:
    copy = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with copy.backup("main", source, "main") as work:
            while not work.done:
                work.step(_STEP_PAGES)
                done = work.page_count - work.remaining
                progress(done, work.page_count, "copying")
        copy.pragma("synchronous", "FULL")
        # One file without a log beside it is what people carry about.
        copy.pragma("journal_mode", journal_mode)
    finally:
        copy.close()
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _verify(path: Path, expected: Mapping[str, int]) -> Mapping[str, int]:
    copy = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        faults = [finding.what for finding in check_tables(copy)]
        counts = {} if faults else _count_rows(copy)
    finally:
        copy.close()
    if not faults and counts == expected:
        return {name: counts.get(table, 0) for name, table in _TOLD.items()}
    raise StoreCorruptError(
        f"The copy is not sound, so it was thrown away: {faults[0]}"
        if faults
        else "The copy does not hold as many rows as its source, so it was thrown away",
        context={"faults": faults},
        suggestions=["Run `schemory doctor` on the source to see what is wrong with it."],
    )


def _count_rows(db: apsw.Connection) -> dict[str, int]:
    """Return how many rows every plain table has, those of the search indexes included."""
    sql = """
        SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'shadow') AND name NOT GLOB 'sqlite_*'
    """
    names = [str(row[0]) for row in db.execute(sql)]
    return {name: int(db.execute(f'SELECT count(*) FROM "{name}"').get) for name in names}  # noqa: S608 (names of our own tables)
