"""Who may write now: a queue among threads, then among processes, beside SQLite's own lock.

Correctness rests on BEGIN IMMEDIATE alone. The queue is there because SQLite's busy handler
lets some writers wait far longer than others.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from schemory.errors import StoreBusyError

_SHORTEST_WAIT = 0.0005
_LONGEST_WAIT = 0.005
_LOCK_FIELDS = 8


def patience(timeout_seconds: float) -> Callable[[int], bool]:
    """Return a busy handler for SQLite that waits in short random steps up to the time-out."""
    waited = 0.0

    def wait(attempt: int) -> bool:
        nonlocal waited
        if attempt == 0:
            waited = 0.0
        if waited >= timeout_seconds:
            return False
        step = _jitter(_SHORTEST_WAIT, _LONGEST_WAIT * min(attempt + 1, 4))
        time.sleep(step)
        waited += step
        return True

    return wait


def _jitter(shortest: float, longest: float) -> float:
    # The clock's last digits differ between rivals well enough; `random` costs start-up time.
    return shortest + (longest - shortest) * (time.perf_counter_ns() % 1000) / 1000


class WriteQueue:
    """One place in the queue of writers of one database, for the threads of this process.

    Args:
        path: The lock file beside the database; None = in memory, threads only.
    """

    def __init__(self, path: Path | None, location: str) -> None:
        self._path = path
        self._location = location
        self._thread_lock = threading.Lock()
        self._holder: int | None = None

    @contextmanager
    def hold(self, timeout_seconds: float) -> Generator[float]:
        """Hold the write queue for the block; gives the seconds that are left of the time-out.

        Raises:
            StoreBusyError: It did not come free in time; names the process that holds it.
            RuntimeError: This thread holds it already.
        """
        if self._holder == threading.get_ident():
            raise RuntimeError("a transaction is open in this thread; nest with savepoint()")
        deadline = time.monotonic() + timeout_seconds
        if not self._thread_lock.acquire(timeout=timeout_seconds):
            raise busy_error(self._location, os.getpid())
        self._holder = threading.get_ident()
        try:
            with _process_queue(self._path, self._location, deadline):
                yield max(0.0, deadline - time.monotonic())
        finally:
            self._holder = None
            self._thread_lock.release()


if sys.platform == "win32":

    @contextmanager
    def _process_queue(path: Path | None, location: str, deadline: float) -> Generator[None]:
        """No queue: SQLite's own lock and a busy handler with jitter do it alone."""
        del path, location, deadline
        yield

else:
    import fcntl

    @contextmanager
    def _process_queue(path: Path | None, location: str, deadline: float) -> Generator[None]:
        """Hold the advisory lock on the lock file, with our process id in it."""
        descriptor = _open(path)
        if descriptor is None:
            yield
            return
        try:
            _wait(descriptor, location, deadline)
            _sign(descriptor)
            try:
                yield
            finally:
                # Said aloud, because a forked child may still hold a copy of the descriptor.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)

    def _open(path: Path | None) -> int | None:
        try:
            return None if path is None else os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None  # an unwritable folder: the write itself says so, in SQLite's words

    def _wait(descriptor: int, location: str, deadline: float) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise busy_error(location, _read_holder(descriptor)) from None
                time.sleep(_jitter(_SHORTEST_WAIT, 2 * _SHORTEST_WAIT))
            else:
                return

    def _sign(descriptor: int) -> None:
        # Always as long, never truncated, only when it was another's: a changed file size makes
        # the database's next flush to disk several times as slow.
        mine = f"{os.getpid():<20}\n".encode()
        if os.pread(descriptor, len(mine), 0) != mine:
            os.pwrite(descriptor, mine, 0)

    def _read_holder(descriptor: int) -> int | None:
        text = os.pread(descriptor, 32, 0).decode("ascii", "ignore").strip()
        return int(text) if text.isdigit() else None


def busy_error(location: str, pid: int | None) -> StoreBusyError:
    """Return the error for a lock that did not come free, naming its holder where known."""
    who = "This process" if pid == os.getpid() else f"Process {pid}" if pid else "Another process"
    return StoreBusyError(
        f"{who} keeps the store's write lock: {location}",
        context={"holderPid": pid},
        suggestions=["Try again in a moment; nothing was written."],
    )


def wal_writer(database: Path) -> int | None:
    """Return the process that holds SQLite's own write lock, where the system tells (Linux)."""
    try:
        inode = database.with_name(database.name + "-shm").stat().st_ino
        table = Path("/proc/locks").read_text(encoding="ascii")
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
