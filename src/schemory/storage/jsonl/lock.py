"""One writer at a time on a graph file: among this process's threads, then among our processes."""

import os
import random
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from schemory.errors import StoreBusyError
from schemory.storage.files import file_error

if sys.platform != "win32":  # Windows has no flock: there only threads are kept apart
    import fcntl

_HAS_FLOCK = sys.platform != "win32"
_STEP_SECONDS = 0.002


class FileLock:
    """The lock of one graph file; a lock file beside it, which stays, carries it.

    Args:
        path: The lock file.
        timeout_seconds: How long to wait for another holder.
    """

    def __init__(self, path: Path, timeout_seconds: float) -> None:
        self._path = path
        self._timeout_seconds = timeout_seconds
        self._mutex = threading.Lock()
        self._holder: int | None = None

    @property
    def is_shared(self) -> bool:
        """Whether other processes are kept apart too."""
        return _HAS_FLOCK

    @contextmanager
    def hold(self) -> Generator[None]:
        """Hold the lock for the block, against threads and processes.

        Raises:
            StoreBusyError: It did not come free in time; names who holds it.
            StoreReadonlyError: The lock file cannot be made.
            RuntimeError: This thread holds it already.
        """
        if self._holder == threading.get_ident():
            raise RuntimeError("a transaction is open in this thread; nest with savepoint()")
        deadline = time.monotonic() + self._timeout_seconds
        if not self._mutex.acquire(timeout=self._timeout_seconds):
            raise self._busy(os.getpid())
        self._holder = threading.get_ident()
        try:
            with self._among_processes(deadline):
                yield
        finally:
            self._holder = None
            self._mutex.release()

    @contextmanager
    def hold_in_process(self) -> Generator[bool]:
        """Hold it against threads only, if it is free at once; tells whether it was."""
        if not self._mutex.acquire(blocking=False):
            yield False
            return
        self._holder = threading.get_ident()
        try:
            yield True
        finally:
            self._holder = None
            self._mutex.release()

    @contextmanager
    def _among_processes(self, deadline: float) -> Generator[None]:
        if sys.platform == "win32":
            yield
            return
        descriptor = self._open()
        try:
            self._wait(descriptor, deadline)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            try:
                yield
            finally:
                # Said aloud, because a forked child may still hold a copy of the descriptor.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise file_error(error, self._path) from error

    def _wait(self, descriptor: int, deadline: float) -> None:
        while sys.platform != "win32":
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise self._busy(_holder_of(descriptor)) from None
                time.sleep(_STEP_SECONDS * (0.5 + random.random()))  # noqa: S311 (jitter)
            else:
                return

    def _busy(self, pid: int | None) -> StoreBusyError:
        who = "This process" if pid == os.getpid() else f"Process {pid}" if pid else "Somebody"
        return StoreBusyError(
            f"{who} keeps the graph file locked: {self._path}",
            context={"holderPid": pid},
            suggestions=["Try again in a moment; nothing was written."],
        )


def _holder_of(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).decode("ascii", "ignore").strip()
    return int(text) if text.isdigit() else None
