"""What SQLite's failures mean for a person: one clear error each, with a next step."""

import errno
from collections.abc import Generator
from contextlib import contextmanager

import apsw

from schemory.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadonlyError,
    UnsupportedError,
)

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def store_error(error: apsw.Error, location: str, system_errno: int = 0) -> StoreError:
    """Return what `error` means; never a word of what is stored.

    Args:
        error: As SQLite told it.
        location: Of the store.
        system_errno: What the system told the connection last; 0 = not known.
    """
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusyError(
            f"Another process keeps the store locked: {location}",
            suggestions=["Try again in a moment; nothing was written."],
        )
    # To SQLite a used up quota or a limit on file sizes is an I/O error like any other.
    if isinstance(error, apsw.FullError) or (
        isinstance(error, apsw.IOError) and system_errno in _NO_ROOM
    ):
        return StoreFullError(
            f"No space is left for the store: {location}",
            suggestions=["Free disk space (or raise the quota or size limit), then try again."],
        )
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
        return readonly_error(location)
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return _corrupt_error(error, location)
    if isinstance(error, apsw.CantOpenError):
        return StoreError(
            f"The store cannot be opened: {location}",
            suggestions=["Check that its folder exists and that you may read and write there."],
        )
    detail = _io_detail(error)
    return StoreError(
        f"The store could not do its work ({detail}): {location}",
        context={"sqliteResult": detail},
        suggestions=["Check the disk, then run `schemory doctor`."],
    )


def _corrupt_error(error: apsw.Error, location: str) -> StoreCorruptError:
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_CORRUPT_VTAB:
        # A search index writes what it has gathered at the commit, and finds out then.
        step = "Run `schemory doctor --fix` (or call memory_rebuild_index); no data is lost."
        return StoreCorruptError(
            f"A search index of the store is damaged; nothing was written: {location}",
            suggestions=[step],
        )
    return StoreCorruptError(
        f"The store's file is damaged: {location}",
        suggestions=["Run `schemory doctor`, or restore a backup with `schemory restore FILE`."],
    )


def readonly_error(location: str) -> StoreReadonlyError:
    """Return the error for a file or folder that may not be written."""
    return StoreReadonlyError(
        f"The store cannot be written: {location}",
        suggestions=["Give yourself write permission on the file and its folder, then try again."],
    )


def moved_error(location: str) -> StoreError:
    """Return the error for a file that is no longer the one that was opened."""
    return StoreError(
        f"The store's file was removed or replaced while it was open: {location}",
        suggestions=["Put the file back, then restart the program that uses the store."],
    )


def memory_unsupported() -> UnsupportedError:
    """Return the error of a store that was opened without index rules."""
    return UnsupportedError(
        "This store was opened for the graph alone; it has no project memory.",
        suggestions=["Open it with index rules (`terms`), as the server and command line do."],
    )


def _io_detail(error: apsw.Error) -> str:
    # The extended code's name says what failed (IOERR_WRITE); SQLite's own text may quote input.
    codes = (getattr(error, "extendedresult", -1), getattr(error, "result", -1))
    tables = (apsw.mapping_extended_result_codes, apsw.mapping_result_codes)
    names = (table.get(code) for code, table in zip(codes, tables, strict=True))
    return next((str(name) for name in names if name), type(error).__name__)


@contextmanager
def translated(location: str) -> Generator[None]:
    """Turn every apsw error that leaves the block into a store error."""
    try:
        yield
    except apsw.Error as error:
        raise store_error(error, location) from error
