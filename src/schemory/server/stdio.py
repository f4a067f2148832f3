"""The fast adapter: one client on standard input and output, with the standard library alone.

The main thread reads what threads put into its inbox and answers what is quick, so that signals are
heard at once; a reader, a writer and the lane of the tools are daemon threads of their own.
"""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import Enum, auto

from schemory.hints import TYPE_CHECKING
from schemory.server.extras import Extras
from schemory.server.jsonrpc import Object, encode
from schemory.server.lane import Lanes
from schemory.server.protocol import Conversation
from schemory.server.wire import DRAIN_SECONDS, EXIT_CODES, Wire, take_descriptors
from schemory.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_DRAIN_STEP_SECONDS: Final = 0.05
_LAST_WRITE_SECONDS: Final = 2.0
_LINES_AHEAD: Final = 16
_ANSWERS_AHEAD: Final = 256


class _Event(Enum):
    """What ends a conversation, besides a signal."""

    END = auto()  # the client closed our input
    GONE = auto()  # nobody reads our output


_Item: TypeAlias = tuple[bytes | None] | _Event | int
"""A line (None: too long), an end, or a signal's number."""


def serve_pipes(toolbox: Toolbox, lanes: Lanes, extras: Extras | None = None) -> int:
    """Serve the client on standard input and output until it leaves or a signal comes.

    Returns:
        The exit code.
    """
    inbox: queue.SimpleQueue[_Item] = queue.SimpleQueue()
    with _signals(inbox.put):
        wire = take_descriptors()
        writer = _Writer(wire, lambda: inbox.put(_Event.GONE))
        talk = Conversation(
            toolbox,
            writer.send,
            lanes.short.submit,
            transport="stdio",
            extras=extras,
            submit_long=lanes.long.submit,
        )
        stop_announcing = toolbox.subscribe(talk.announce_tools)
        reader = _Reader(wire, inbox.put, writer)
        code = _answer(inbox, talk, reader, wire)
        stop_announcing()
        talk.close()
        writer.close(_LAST_WRITE_SECONDS)
    return code


def _answer(
    inbox: queue.SimpleQueue[_Item], talk: Conversation, reader: _Reader, wire: Wire
) -> int:
    """Answer line by line; return the exit code once the conversation has ended."""
    while True:
        item = inbox.get()
        if item is _Event.END:
            talk.end_input()
            return _drain(inbox, talk, wire)
        if item is _Event.GONE:
            return 0
        if isinstance(item, int):
            return EXIT_CODES[signal.Signals(item)]
        talk.take(item[0])
        reader.go_on()


def _drain(inbox: queue.SimpleQueue[_Item], talk: Conversation, wire: Wire) -> int:
    """Wait for the answers to what was asked before the end, while someone can read them."""
    end = time.monotonic() + DRAIN_SECONDS
    while talk.is_waited_for and time.monotonic() < end and not wire.is_broken():
        try:
            item = inbox.get(timeout=_DRAIN_STEP_SECONDS)
        except queue.Empty:
            continue
        if isinstance(item, int):
            return EXIT_CODES[signal.Signals(item)]
        if item is _Event.GONE:
            break
    return 0


class _Reader:
    """A thread that reads a few lines ahead, and none while the client does not take answers."""

    def __init__(self, wire: Wire, put: Callable[[_Item], None], writer: _Writer) -> None:
        self._wire = wire
        self._put = put
        self._writer = writer
        self._room = threading.Semaphore(_LINES_AHEAD)
        threading.Thread(target=self._work, name="schemory-reader", daemon=True).start()

    def go_on(self) -> None:
        """Let one more line be read."""
        self._room.release()

    def _work(self) -> None:
        for line in self._wire.lines():
            self._room.acquire()
            self._writer.wait_for_room()
            self._put((line,))
        self._put(_Event.END)


class _Writer:
    """A thread that writes messages in turn, so that a client that does not read stops nobody."""

    def __init__(self, wire: Wire, give_up: Callable[[], None]) -> None:
        self._wire = wire
        self._give_up = give_up
        self._messages: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._has_room = threading.Event()
        self._has_room.set()
        self._thread = threading.Thread(target=self._work, name="schemory-writer", daemon=True)
        self._thread.start()

    def send(self, message: Object | list[Object]) -> None:
        """Have a message or those of a batch written, after all that were sent before."""
        self._messages.put(encode(message))
        if self._messages.qsize() > _ANSWERS_AHEAD:
            self._has_room.clear()
            self._tell_of_room()  # the other thread may have written everything just before

    def wait_for_room(self) -> None:
        """Wait until the client has taken most of what it was sent."""
        self._has_room.wait()

    def close(self, timeout_seconds: float) -> None:
        """Stop after what was sent, or after the time-out."""
        self._messages.put(None)
        self._thread.join(timeout_seconds)

    def _work(self) -> None:
        try:
            while (data := self._messages.get()) is not None:
                self._wire.write(data)
                self._tell_of_room()
        except OSError:
            self._give_up()

    def _tell_of_room(self) -> None:
        if self._messages.qsize() <= _ANSWERS_AHEAD:
            self._has_room.set()


@contextmanager
def _signals(put: Callable[[int], None]) -> Generator[None]:
    """Have the number of a signal that asks the process to end put into the inbox."""
    earlier = {
        number: signal.signal(number, lambda given, _frame: put(given)) for number in EXIT_CODES
    }
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
