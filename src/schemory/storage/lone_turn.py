"""A turn that one process has at a time and nobody waits for: for work that need be done once."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextmanager
def lone_turn(lock_file: Path | None) -> Generator[bool]:
    """Tell whether the turn is ours for the block; the system ends it when a process dies.

    Where no lock file can be made, or none is named, the turn is everybody's.
    """
    descriptor = _open(lock_file)
    if descriptor is None:
        yield True
        return
    try:
        yield _try(descriptor)
    finally:
        os.close(descriptor)  # which gives the turn back


def _open(lock_file: Path | None) -> int | None:
    if lock_file is None:
        return None
    try:
        return os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None


def _try(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
