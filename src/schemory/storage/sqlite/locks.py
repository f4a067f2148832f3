"""SQLite's own write lock, behind the write queue: how to wait for it, and who holds it.

Correctness rests on BEGIN IMMEDIATE alone. The queue is there because SQLite's busy handler
lets some writers wait far longer than others.
"""

import os
import time
from collections.abc import Callable

from schemory.storage.write_queue import jitter

_SHORTEST_WAIT = 0.0005
_LONGEST_WAIT = 0.005
_LOCK_FIELDS = 8


def patience(timeout_seconds: float) -> Callable[[int], bool]:
    """Return a busy handler for SQLite that waits in short random steps up to the time-out."""
    ends = 0.0

    def wait(attempt: int) -> bool:
        nonlocal ends
        now = time.monotonic()  # what was slept is more than what was asked for
        if attempt == 0:
            ends = now + timeout_seconds
        if now >= ends:
            return False
        time.sleep(min(ends - now, jitter(_SHORTEST_WAIT, _LONGEST_WAIT * min(attempt + 1, 4))))
        return True

    return wait


def wal_writer(database: str) -> int | None:
    """Return the process that holds SQLite's own write lock, where the system tells (Linux)."""
    try:
        inode = os.stat(f"{database}-shm").st_ino
        with open("/proc/locks", encoding="ascii") as locks:
            table = locks.read()
    except OSError:
        return None
    return lock_owner(table, inode)


def lock_owner(table: str, inode: int) -> int | None:
    """Return who holds the write-ahead log's write lock, by the text of `/proc/locks`.

    The lock is byte 120 of the `-shm` file whose inode is given.

    >>> lock_owner("1: POSIX  ADVISORY  WRITE 77 fd:00:9 120 120", 9)
    77
    """
    for line in table.splitlines():
        fields = line.split()
        if len(fields) == _LOCK_FIELDS and fields[5].endswith(f":{inode}") and fields[6] == "120":
            return int(fields[4]) if fields[4].isdigit() and fields[4] != "0" else None
    return None
