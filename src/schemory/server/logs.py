"""Logging that can never hold stored content: ids, classes and places, no values."""

import logging
import sys
import traceback
from types import TracebackType

_OWN = "schemory"

log = logging.getLogger(_OWN)
"""The product's log; goes to stderr."""


class _ContentFree(logging.Formatter):
    """Writes our own messages in full, and of all others only the first line of the fixed text.

    Libraries put values into a message's arguments and into exception texts (pydantic quotes its
    input), so both are left out; of an exception its class and its place remain.
    """

    def format(self, record: logging.LogRecord) -> str:
        is_own = record.name == _OWN or record.name.startswith(_OWN + ".")
        message = record.getMessage() if is_own else str(record.msg).partition("\n")[0]
        line = f"schemory {record.levelname.lower()}: {message}"
        if not is_own:
            line += f" [{record.name}]"
        fault = record.exc_info[1] if record.exc_info else None
        return f"{line} ({describe(fault)})" if fault else line


def configure_logging(*, debug: bool) -> None:
    """Send warnings (everything, with `debug`) to stderr without stored content."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_ContentFree())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.DEBUG if debug else logging.WARNING)
    logging.raiseExceptions = False


def describe(fault: BaseException) -> str:
    """Return an exception's class and where it was raised: `ValueError at plan.py:42`."""
    place = _place(fault.__traceback__)
    return f"{type(fault).__name__} at {place}" if place else type(fault).__name__


def log_internal_error(error_id: str, fault: BaseException) -> None:
    """Note an unexpected failure under the id that the caller was told."""
    log.error("internal error %s: %s", error_id, describe(fault))


def _place(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)
    if not frames:
        return ""
    own = [frame for frame in frames if f"{_OWN}/" in frame.filename.replace("\\", "/")]
    frame = (own or frames)[-1]
    name = frame.filename.replace("\\", "/")
    short = name.rpartition(f"{_OWN}/")[2] if own else name.rpartition("/")[2]
    return f"{short}:{frame.lineno}"
