"""What has to be taken back outside the store when a transaction does not commit."""

from collections.abc import Callable


class Compensations:
    """Undoers of one transaction: run in reverse, each whatever became of the others."""

    def __init__(self) -> None:
        self._undoers: list[Callable[[], None]] = []

    def add(self, undo: Callable[[], None]) -> None:
        """Register `undo`."""
        self._undoers.append(undo)

    def run(self) -> list[Exception]:
        """Run all, newest first, each once; returns what failed."""
        failures: list[Exception] = []
        while self._undoers:
            try:
                self._undoers.pop()()
            except Exception as failure:  # noqa: BLE001 (all run; failures are raised together)
                failures.append(failure)
        return failures
