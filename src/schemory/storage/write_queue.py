"""Who may write now: a queue among this process's threads, then among processes.

A lock file beside the store carries the processes' queue and names its holder; it stays there.
"""

import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from schemory.errors import StoreBusyError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_SHORTEST_WAIT = 0.0005
_SIGN_BYTES = 20
_LOCKED_BYTE = 1 << 20  # far behind the holder's name: on Windows a locked byte cannot be read


class WriteQueue:
    """One place in the queue of writers of one store, for the threads of this process.

    Args:
        path: The lock file; None = a store in memory, threads only.
        location: The store's, for messages.
        needs_file: Whether a lock file that cannot be made is an error. Where it is none, the
            store has a lock of its own, and the write itself tells what is wrong with the folder.
    """

    def __init__(self, path: str | None, location: str, *, needs_file: bool) -> None:
        self._path = path
        self._location = location
        self._needs_file = needs_file
        self._thread_lock = threading.Lock()
        self._holder: int | None = None

    @contextmanager
    def hold(self, timeout_seconds: float) -> Generator[float]:
        """Hold the queue for the block; gives the seconds that are left of the time-out.

        Raises:
            StoreBusyError: It did not come free in time; names the process that holds it.
            StoreReadonlyError, StoreError: The lock file is needed and cannot be made.
            RuntimeError: This thread holds it already.
        """
        if self._holder == threading.get_ident():
            raise RuntimeError("a transaction is open in this thread; nest with savepoint()")
        deadline = time.monotonic() + timeout_seconds
        if not self._thread_lock.acquire(timeout=timeout_seconds):
            raise busy_error(self._location, os.getpid())
        self._holder = threading.get_ident()
        try:
            with self._among_processes(deadline):
                yield max(0.0, deadline - time.monotonic())
        finally:
            self._holder = None
            self._thread_lock.release()

    @contextmanager
    def hold_in_process(self) -> Generator[bool]:
        """Hold it against threads only, if it is free at once; tells whether it was."""
        if not self._thread_lock.acquire(blocking=False):
            yield False
            return
        self._holder = threading.get_ident()
        try:
            yield True
        finally:
            self._holder = None
            self._thread_lock.release()

    @contextmanager
    def _among_processes(self, deadline: float) -> Generator[None]:
        descriptor = self._open()
        if descriptor is None:
            yield
            return
        try:
            self._wait(descriptor, deadline)
            _sign(descriptor)
            try:
                yield
            finally:
                _unlock(descriptor)
        finally:
            os.close(descriptor)

    def _wait(self, descriptor: int, deadline: float) -> None:
        # The system's own waiting line is fairer but slower: it hands the lock to another process
        # each time, and eight writers got through half as much as with this.
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise busy_error(self._location, _holder_of(self._path))
            time.sleep(jitter(_SHORTEST_WAIT, 2 * _SHORTEST_WAIT))

    def _open(self) -> int | None:
        if self._path is None:
            return None
        try:
            if self._needs_file:
                os.makedirs(os.path.dirname(self._path) or ".", mode=0o700, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            if self._needs_file:
                from schemory.storage.files import file_error  # noqa: PLC0415 (as rarely)

                raise file_error(error, self._path) from error
            return None


def _try_lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
    else:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _unlock(descriptor: int) -> None:
    # Said aloud, because a forked child may still hold a copy of the descriptor.
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _sign(descriptor: int) -> None:
    # Always as long, never truncated, only when it was another's: a changed file size makes a
    # database's next flush to disk several times as slow.
    mine = f"{os.getpid():<{_SIGN_BYTES}}\n".encode()
    os.lseek(descriptor, 0, os.SEEK_SET)
    if os.read(descriptor, len(mine)) != mine:
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, mine)


def _holder_of(lock_file: str | None) -> int | None:
    if lock_file is None:
        return None
    try:
        with open(lock_file, encoding="ascii", errors="ignore") as file:
            text = file.read().strip()
    except OSError:
        return None  # nobody to name; that the store is busy is known
    return int(text) if text.isdigit() else None


def jitter(shortest: float, longest: float) -> float:
    """Return a time between the two that differs between rivals."""
    # The clock's last digits differ well enough; `random` costs start-up time.
    return shortest + (longest - shortest) * (time.perf_counter_ns() % 1000) / 1000


def busy_error(location: str, pid: int | None) -> StoreBusyError:
    """Return the error for a lock that did not come free, naming its holder where known."""
    who = "This process" if pid == os.getpid() else f"Process {pid}" if pid else "Another process"
    return StoreBusyError(
        f"{who} keeps the store's write lock: {location}",
        context={"holderPid": pid},
        suggestions=["Try again in a moment; nothing was written."],
    )
