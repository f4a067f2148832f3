"""Replace a whole file so that a crash at any moment leaves the old one or the new one."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from schemory.errors import StoreError, StoreFullError, StoreReadonlyError
from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

PRIVATE_MODE = 0o600
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def replace_file(
    path: Path,
    chunks: Iterable[bytes],
    *,
    new_mode: int | None = PRIVATE_MODE,
    before_replace: Callable[[], None] | None = None,
) -> os.stat_result | None:
    """Write `chunks` to a file beside `path` and put it in its place, flushed to the disk.

    An existing file keeps its mode and, where possible, its owner; behind a symbolic link its
    target is replaced. Missing parent folders are made. What is no regular file (a pipe, a device)
    is written to instead.

    Args:
        path: The file, there or not.
        chunks: Its new contents.
        new_mode: Mode of a file that was not there; None = what the umask leaves.
        before_replace: Called when all is written and nothing replaced yet; may raise to stop it.

    Returns:
        What the system says about the new file, taken before it could be touched by anybody else;
        None for what is no regular file.

    Raises:
        StoreReadonlyError, StoreFullError, StoreError: As named; `path` is as it was.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                file.writelines(chunks)
            return None
        return _write_and_replace(target, chunks, new_mode, before_replace)
    except OSError as error:
        raise file_error(error, path) from error


def refuse_odd_file(path: Path) -> None:
    """Refuse a folder, a pipe or a device where a file is kept; a missing one is fine.

    Raises:
        StoreError: It is none that can hold anything, or one whose reading would never end.
    """
    if not path.is_file() and path.exists():
        raise StoreError(f"{path} is no regular file", suggestions=["Name a file."])


def _write_and_replace(
    target: Path,
    chunks: Iterable[bytes],
    new_mode: int | None,
    before_replace: Callable[[], None] | None,
) -> os.stat_result:
    temporary = temporary_name(target)
    old = _existing(target)
    _remove_abandoned(target)
    try:
        with _create(temporary, new_mode if old is None else PRIVATE_MODE) as file:
            _hold(file)
            if old is not None:
                _take_after(temporary, old)
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
            facts = os.fstat(file.fileno())
        if before_replace is not None:
            before_replace()
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)
    return facts


def _create(path: Path, mode: int | None) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return os.fdopen(os.open(path, flags, 0o666 if mode is None else mode), "wb")


def temporary_name(target: Path) -> Path:
    """Return the name under which this thread writes a new `target`."""
    return target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")


def _leftovers(target: Path) -> Iterator[Path]:
    import glob  # noqa: PLC0415 (only for those who replace files)

    return target.parent.glob(f".{glob.escape(target.name)}.*.tmp")


def remove_leftovers(target: Path) -> None:
    """Remove what killed writers left; only while no other process writes `target`."""
    for left in _leftovers(target):
        left.unlink(missing_ok=True)


def _remove_abandoned(target: Path) -> None:
    """Remove what killed writers of `target` left: their process is gone, and nobody holds it."""
    for left in _leftovers(target):
        writer = re.search(r"\.([0-9]{1,9})-[0-9]+\.tmp$", left.name)
        if writer is not None and not _is_alive(int(writer[1])) and not _is_held(left):
            with contextlib.suppress(OSError):  # somebody else removed it, or may and we may not
                left.unlink()


def _is_alive(process: int) -> bool:
    if os.name == "nt":
        return False  # an open file cannot be removed there, which says the same
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _hold(file: BinaryIO) -> None:
    """Show processes that see other process numbers, as in a container, that the file is in use."""
    if os.name != "nt":
        import fcntl  # noqa: PLC0415 (POSIX only)

        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_held(path: Path) -> bool:
    if os.name == "nt":
        return False
    import fcntl  # noqa: PLC0415 (POSIX only)

    try:
        with path.open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def _existing(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _take_after(path: Path, old: os.stat_result) -> None:
    """Give a file the mode of an older one, and its owner where the system lets us."""
    path.chmod(stat.S_IMODE(old.st_mode))
    own = path.stat()
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(PermissionError):
            os.chown(path, old.st_uid, old.st_gid)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, where the system can do that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_error(error: OSError, path: str | Path) -> StoreError:
    """Return what a failed file operation means, with a next step."""
    if error.errno in _FULL:
        return StoreFullError(
            f"No space is left to write {path}",
            suggestions=["Free disk space (or raise the file's size limit), then try again."],
        )
    if error.errno in _FORBIDDEN:
        return StoreReadonlyError(
            f"{path} cannot be written",
            suggestions=["Give yourself write permission on the file and its folder."],
        )
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    return StoreError(f"{path}: {reason}", suggestions=["Check the path and the disk."])
