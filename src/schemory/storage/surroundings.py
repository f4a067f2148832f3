"""What lies around a store: who may read its files, what was left over, how much room there is."""

import glob
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from schemory.storage.keeping import Finding, Severity

if sys.platform != "win32":
    import fcntl

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_LEAST_FREE_BYTES: Final = 100 * 1024 * 1024
_FIX_MODES: Final = "`schemory doctor --fix` closes it to others."


def check_modes(files: Iterator[Path], folder: Path, *, owns_folder: bool) -> Iterator[Finding]:
    """Yield what other users of the machine may do with a store and should not.

    Args:
        files: Those that should be the user's alone.
        folder: Where they are.
        owns_folder: Nothing but the store is in it, so that it should be closed too.
    """
    for file in files:
        if exposed(file, _OTHERS):
            yield Finding(
                code="file.permissions",
                severity=Severity.ERROR,
                what=f"other users can access {file} (mode {_mode(file):o}, not 600)",
                next_step=_FIX_MODES,
                can_fix=True,
            )
    if owns_folder and exposed(folder, _OTHERS):
        yield Finding(
            code="folder.permissions",
            severity=Severity.WARNING,
            what=f"other users can look into {folder} (mode {_mode(folder):o}, not 700)",
            next_step=_FIX_MODES,
            can_fix=True,
        )
    elif exposed(folder, _OTHERS_WRITE) and not folder.stat().st_mode & stat.S_ISVTX:
        yield Finding(
            code="folder.permissions",
            severity=Severity.ERROR,
            what=f"other users can replace files in {folder} (mode {_mode(folder):o})",
            next_step=f"Move the store, or take the right to write away: chmod go-w {folder}",
        )


def exposed(path: Path, rights: int) -> bool:
    """Whether anybody else has any of these rights on a path that exists."""
    return os.name == "posix" and path.exists() and bool(_mode(path) & rights)


def close_to_others(path: Path, mode: int) -> bool:
    """Take all rights of others away; returns whether that changed anything."""
    if not exposed(path, _OTHERS):
        return False
    path.chmod(mode)
    return True


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def leftovers(target: Path) -> list[Path]:
    """Return the half-written files of processes that are gone."""
    found = target.parent.glob(f".{glob.escape(target.name)}.*.tmp*")
    return sorted(each for each in found if not _is_alive(_writer_of(each, target)))


def _writer_of(file: Path, target: Path) -> int | None:
    pid = file.name.removeprefix(f".{target.name}.").partition("-")[0]
    return int(pid) if pid.isdigit() else None


def check_leftovers(target: Path) -> Iterator[Finding]:
    """Yield a finding when killed processes left half-written files."""
    left = leftovers(target)
    if left:
        yield Finding(
            code="file.leftovers",
            severity=Severity.WARNING,
            what=f"{len(left)} half-written file(s) of killed processes beside {target}",
            next_step="`schemory doctor --fix` removes them.",
            can_fix=True,
        )


def _is_alive(pid: int | None) -> bool:
    if pid is None or sys.platform == "win32":
        return pid is not None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def check_lock(lock_file: Path) -> Iterator[Finding]:
    """Yield a finding when a lock is held by the child of a process that is gone.

    The file itself stays always and means nothing.
    """
    pid = _lock_holder(lock_file)
    if pid is not None and not _is_alive(pid):
        yield Finding(
            code="lock.orphaned",
            severity=Severity.ERROR,
            what=f"{lock_file} is locked for process {pid}, which is gone: one that it started "
            "still has the lock",
            next_step=f"End the programs that still use it: `fuser -v {lock_file}` lists them.",
        )


def _lock_holder(lock_file: Path) -> int | None:
    """Return the process that a lock which is held was taken by; None = free or unknown."""
    if sys.platform == "win32" or not lock_file.exists():
        return None
    try:
        descriptor = os.open(lock_file, os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.pread(descriptor, 32, 0).decode("ascii", "ignore").strip()
        return int(text) if text.isdigit() else None
    finally:
        os.close(descriptor)
    return None


def check_room(path: Path) -> Iterator[Finding]:
    """Yield a finding when the disk has too little room to write, vacuum or back up."""
    size = path.stat().st_size
    free = shutil.disk_usage(path.parent).free
    needed = max(_LEAST_FREE_BYTES, 2 * size)
    if free < needed:
        yield Finding(
            code="disk.low",
            severity=Severity.WARNING,
            what=f"{free // 2**20:,} MiB are free where the store is; `vacuum` and `backup` may "
            f"need {needed // 2**20:,} MiB",
            next_step="Free disk space, or move the store with --db or MEMORY_DB_PATH.",
        )
