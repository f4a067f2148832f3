"""Getting a database file ready: its folder, its permissions, its schema, or a clear refusal."""

import errno
import os
import stat
from contextlib import suppress

import apsw

from schemory.errors import StoreError, StoreFullError
from schemory.model.moment import Clock
from schemory.storage.sqlite.connections import Target
from schemory.storage.sqlite.failures import readonly_error
from schemory.storage.sqlite.migrate import APPLICATION_ID, migrate, refuse_foreign_file
from schemory.storage.sqlite.netfs import refuse_network_path

_PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700
_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def prepare_file(path: str) -> None:
    """Make folder and file where missing, for this user alone; refuse what is not ours.

    Raises:
        StoreError: It cannot be there, or must not be touched.
    """
    try:
        _make_folder(os.path.dirname(path))
        refuse_network_path(path)
        if not os.path.exists(path):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, _PRIVATE_FILE))
        refuse_foreign_file(path)
    except OSError as error:
        raise _file_error(error, path) from error


def _make_folder(folder: str) -> None:
    missing: list[str] = []
    while not os.path.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        with suppress(FileExistsError):  # another process may be as far
            os.mkdir(each, _PRIVATE_FOLDER)


def _file_error(error: OSError, path: str) -> StoreError:
    if error.errno in _NOT_ALLOWED:
        return readonly_error(path)
    kind = StoreFullError if error.errno in _FULL else StoreError
    return kind(
        f"The store cannot be opened ({error.strerror}): {path}",
        suggestions=["Choose another place with --db or MEMORY_DB_PATH."],
    )


def is_writable(path: str) -> bool:
    """Whether the file may be written; a folder that may not shows when it is."""
    return os.access(path, os.W_OK)


def needs_immutable(path: str) -> bool:
    """Whether a file can only be read as one that nobody changes.

    Reading a write-ahead log takes a lock file beside it, which a closed folder does not allow. It
    is safe where nothing waits in such a log.
    """
    is_open = is_writable(path) or os.access(os.path.dirname(path), os.W_OK)
    return not (is_open or bytes_in(f"{path}-wal"))


def bytes_in(path: str | os.PathLike[str]) -> int:
    """Return the size of a file, 0 where there is none: another process may remove it any time."""
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def create_or_migrate(db: apsw.Connection, target: Target, *, now: Clock) -> None:
    """Bring the schema up to date; the caller holds the write queue.

    Raises:
        StoreError: The file system cannot keep a write-ahead log.
    """
    if db.pragma("application_id") == 0:
        # Before WAL, so that the mark stands in the file itself whatever happens next.
        db.pragma("application_id", APPLICATION_ID)
    if target.path is not None and db.pragma("journal_mode", "wal") != "wal":
        raise StoreError(
            f"This file system cannot keep SQLite's write-ahead log: {target.location}",
            suggestions=["Put the store on a local disk with --db or MEMORY_DB_PATH."],
        )
    migrate(db, target.location, now=now, finish=_make_key)


def _make_key(db: apsw.Connection) -> None:
    # With the schema or not at all: whoever finds this version reads the key at once.
    db.execute(
        "INSERT INTO store_facts (name, value) VALUES ('cursor_key', ?) ON CONFLICT DO NOTHING",
        (os.urandom(32),),
    )


def exposure(path: str) -> str | None:
    """Return a warning when other users can read the file, or None."""
    if os.name != "posix":
        return None
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if not mode & 0o077:
        return None
    return f"other users can access the store (mode {mode:o}); `chmod 600 {path}` closes it"
