"""The two descriptors of a stdio connection: whole lines in, bytes out, and who is still there."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator

from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The longest line that is read; a longer one is skipped and answered with an error."""

DRAIN_SECONDS: Final = 30.0
"""How long calls that run may go on after the input has ended."""

EXIT_CODES: Final = {signal.SIGINT: 130, signal.SIGTERM: 0}
"""How a server ends when it is told to."""

_CHUNK_BYTES: Final = 1 << 16


class Wire:
    """Where a client's lines come from and where the answers go."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink

    def write(self, data: bytes) -> None:
        """Write all of `data`; OSError when the client is gone."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._sink, view) :]

    def is_broken(self) -> bool:
        """Return whether the client has closed its end of our output, where that can be asked."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self._sink, 0)
        return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))

    def lines(self) -> Iterator[bytes | None]:
        """Yield line by line until the end of the input; None for one that is too long."""
        kept: list[bytes] = []
        size = 0
        while chunk := _read(self._source):
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                too_long = size + len(part) > MAX_MESSAGE_BYTES
                yield None if too_long else b"".join((*kept, part))
                kept, size = [], 0
            size += len(rest)
            if size > MAX_MESSAGE_BYTES:
                kept = []
            else:
                kept.append(rest)
        if size > MAX_MESSAGE_BYTES:
            yield None
        elif size:
            yield b"".join(kept)


def take_descriptors() -> Wire:
    """Take standard input and output for the protocol alone.

    From now on the process's own descriptor 1 is stderr, so that nothing but the protocol can reach
    the client, and descriptor 0 is empty.
    """
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    if sys.stdout:
        sys.stdout.flush()
    os.dup2(2, 1)
    return Wire(source, sink)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK_BYTES)
    except OSError:
        return b""
