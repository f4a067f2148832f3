"""Tells how far a long job is, as a number that only rises, and ends it when its caller gave up."""

from collections.abc import Callable
from typing import Final

from schemory.transfer.memory.options import IsCancelled, Progress, TransferCancelledError

_WHOLE: Final = 100.0
_LEAST_STEP: Final = 0.5


def ignore_progress(_done: float, _total: float | None, _message: str) -> None:
    """Tell nobody."""


def never_cancelled() -> bool:
    """Whether the caller gave up: no."""
    return False


class Meter:
    """The progress of one job, in percent over all of its phases."""

    def __init__(self, progress: Progress, is_cancelled: IsCancelled, what: str) -> None:
        self._progress = progress
        self._is_cancelled = is_cancelled
        self._what = what
        self._told = -1.0

    def phase(self, begin: float, end: float, message: str) -> Callable[[float], None]:
        """Return what tells the share of a phase that is done; it raises when the job shall end.

        Args:
            begin: Percent at its beginning.
            end: Percent at its end.
            message: What goes on.
        """

        def advance(share: float) -> None:
            self.check()
            done = begin + (end - begin) * min(1.0, max(0.0, share))
            if done >= self._told + _LEAST_STEP:
                self._told = done
                self._progress(done, _WHOLE, message)

        return advance

    def check(self) -> None:
        """Pass unless the caller gave up.

        Raises:
            TransferCancelledError: It did.
        """
        if self._is_cancelled():
            raise TransferCancelledError(f"The {self._what} was cancelled; nothing was stored")
