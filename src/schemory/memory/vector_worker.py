"""The thread that makes vectors while a server runs, after commits and for what earlier runs left.

Nothing it does must be remembered: an entry without a vector says by itself that one is missing.
So a kill costs one batch at most. Of several programs on one store the one that holds the lock
file works; the others look again after a while.
"""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemory.errors import SchemoryError, UnsupportedError
from schemory.storage.lone_turn import lone_turn
from schemory.storage.memory_protocols import MemoryStore

if TYPE_CHECKING:
    from schemory.memory.vectors import Vectors

_LOOK_AGAIN_SECONDS: Final = 5.0
_STOP_SECONDS: Final = 10.0
_PAGE: Final = 200


class VectorWorker:
    """A thread that begins with the first use and ends with the server.

    Attributes:
        trouble: What went wrong last, for people; None = nothing, or it has passed.
    """

    def __init__(self, vectors: "Vectors", store: MemoryStore, lock_file: Path | None) -> None:
        self._vectors = vectors
        self._store = store
        self._lock_file = lock_file
        self._guard = threading.Lock()
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._changed: set[str] = set()
        self._looks_at_all = True
        self._thread: threading.Thread | None = None
        self.trouble: str | None = None

    def start(self) -> None:
        """Begin, unless it has begun."""
        with self._guard:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name="vectors", daemon=True)
                self._thread.start()

    def look_at(self, project_id: str) -> None:
        """Look for entries of a project that have no vector."""
        with self._guard:
            self._changed.add(project_id)
        self.start()
        self._wake.set()

    def stop(self) -> None:
        """End after the batch that is being made."""
        self._stopped.set()
        self._wake.set()
        with self._guard:
            thread = self._thread
        if thread is not None:
            thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while not self._stopped.is_set():
            is_done = self._round()
            self._wake.wait(None if is_done else _LOOK_AGAIN_SECONDS)
            self._wake.clear()

    def _round(self) -> bool:
        """Make what is missing; False = look again later."""
        with lone_turn(self._lock_file) as is_ours:
            if not is_ours:
                return False
            wanted, is_all = self._taken()
            done: set[str] = set()
            try:
                for project_id in self._all() if is_all else sorted(wanted):
                    if self._stopped.is_set():
                        return False
                    self._vectors.catch_up(
                        project_id, seconds=float("inf"), is_stopped=self._stopped.is_set
                    )
                    done.add(project_id)
            except UnsupportedError as error:
                self.trouble = error.message
                self._stopped.set()  # no model: nothing can be made in this run
                return True
            except SchemoryError as error:
                self.trouble = error.message
                with self._guard:
                    self._changed |= wanted - done
                    self._looks_at_all |= is_all
                return False
            self.trouble = None
            return True

    def _taken(self) -> tuple[set[str], bool]:
        with self._guard:
            wanted, is_all = self._changed, self._looks_at_all
            self._changed, self._looks_at_all = set(), False
        return wanted, is_all

    def _all(self) -> list[str]:
        """Return every project that holds entries."""
        found: list[str] = []
        after = ""
        while page := self._store.list_projects(after=after, limit=_PAGE):
            found += [project.id for project in page]
            after = found[-1]
        return found
