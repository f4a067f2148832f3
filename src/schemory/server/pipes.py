"""Standard input and output as the message streams of the MCP SDK.

Against the SDK's own transport this one answers messages it cannot parse, finishes what was asked
before the input ended, notices a client that is gone, and never keeps the process alive: its
threads are daemons.
"""

import asyncio
import json
import os
import select
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from schemory.server.lane import Lane, post

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The longest line that is read; a longer one is skipped and answered with an error."""

DRAIN_SECONDS = 30.0
"""How long calls that run may go on after the input has ended."""

_CHUNK_BYTES = 1 << 16
_DRAIN_STEP_SECONDS = 0.05
_LAST_WRITE_SECONDS = 2.0
_LINES_AHEAD = 16

_CANCELLED = "notifications/cancelled"
_NEVER_ENDING = frozenset({"subscriptions/listen"})

Incoming: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing: TypeAlias = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def open_pipes() -> AsyncGenerator[tuple[Incoming, Outgoing]]:
    """Give the SDK's server standard input and output as a pair of message streams.

    Meanwhile the process's own descriptor 1 is stderr, so that nothing but the protocol can reach
    the client, and descriptor 0 is empty.
    """
    wire = _take_descriptors()
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    pump = _Pump(wire, to_server, from_server)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump.read)
        tasks.start_soon(pump.write)
        yield incoming, outgoing
        with anyio.move_on_after(_LAST_WRITE_SECONDS):
            await pump.written.wait()
        tasks.cancel_scope.cancel()


class _Wire:
    """The two descriptors of the connection."""

    def __init__(self, source: int, sink: int) -> None:
        self.source = source
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
        while chunk := _read(self.source):
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                too_long = size + len(part) > MAX_MESSAGE_BYTES
                yield None if too_long else b"".join((*kept, part))
                kept, size = [], 0
            size += len(rest)
            kept = [] if size > MAX_MESSAGE_BYTES else [*kept, rest]
        if any(kept):
            yield b"".join(kept)


class _Pump:
    """Moves messages between the wire and the server's streams."""

    def __init__(
        self,
        wire: _Wire,
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        from_server: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        self._wire = wire
        self._to_server = to_server
        self._from_server = from_server
        self._writer = Lane("schemory-writer")
        self._unanswered: set[str | int] = set()
        self._answered = asyncio.Event()
        self.written = asyncio.Event()

    async def read(self) -> None:
        """Hand each message to the server; close its stream when the client is done."""
        lines: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        room = threading.Semaphore(_LINES_AHEAD)
        loop = asyncio.get_running_loop()

        def work() -> None:
            for line in self._wire.lines():
                room.acquire()
                post(loop, lines.put_nowait, line if line is not None else ValueError("too long"))
            post(loop, lines.put_nowait, None)

        threading.Thread(target=work, name="schemory-reader", daemon=True).start()
        async with self._to_server:
            while (line := await lines.get()) is not None:
                room.release()
                await self._take(line)
            await self._drain()

    async def write(self) -> None:
        """Write what the server sends; a client that is gone ends the connection."""
        async with self._from_server:
            try:
                async for message in self._from_server:
                    await self._send(message)
            except OSError:
                await self._to_server.aclose()
            finally:
                self.written.set()

    async def _take(self, line: bytes | Exception) -> None:
        if isinstance(line, Exception):
            limit = f"A message may have at most {MAX_MESSAGE_BYTES} bytes"
            await self._refuse(None, INVALID_REQUEST, limit)
            return
        if not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            await self._refuse(*_fault_of(line))
            return
        self._count(message)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_server.send(SessionMessage(message))

    async def _refuse(self, request_id: str | int | None, code: int, text: str) -> None:
        error = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=text))
        with suppress(OSError):
            await self._send(SessionMessage(error))

    async def _send(self, message: SessionMessage) -> None:
        body = message.message
        text = body.model_dump_json(by_alias=True, exclude_unset=True)
        data = text.encode("utf-8", "backslashreplace") + b"\n"
        await self._writer.run(lambda: self._wire.write(data))
        if isinstance(body, JSONRPCResponse | JSONRPCError):
            self._settle(body.id)

    def _count(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            if message.method not in _NEVER_ENDING:
                self._unanswered.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
            # A cancelled request is never answered.
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, request_id: object) -> None:
        self._unanswered = {open_id for open_id in self._unanswered if open_id != request_id}
        self._answered.set()

    async def _drain(self) -> None:
        """Wait for the answers to what was asked before the end, while someone can read them."""
        loop = asyncio.get_running_loop()
        end = loop.time() + DRAIN_SECONDS
        while self._unanswered and loop.time() < end and not self._wire.is_broken():
            self._answered.clear()
            with anyio.move_on_after(_DRAIN_STEP_SECONDS):
                await self._answered.wait()


def _take_descriptors() -> _Wire:
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    if sys.stdout:
        sys.stdout.flush()
    os.dup2(2, 1)
    return _Wire(source, sink)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK_BYTES)
    except OSError:
        return b""


def _fault_of(line: bytes) -> tuple[str | int | None, int, str]:
    """Return what to answer to a line that is no message: the id if it has one, code and text."""
    try:
        data: object = json.loads(line)
    except (ValueError, RecursionError):
        return None, PARSE_ERROR, "Parse error: this line is no JSON text in UTF-8"
    if isinstance(data, list):
        return (
            None,
            INVALID_REQUEST,
            "Invalid request: send one message a line, batches are not served",
        )
    if not isinstance(data, dict):
        return None, INVALID_REQUEST, "Invalid request: a message is a JSON object"
    message = cast("dict[str, object]", data)
    known = message.get("id")
    request_id = known if isinstance(known, str | int) and not isinstance(known, bool) else None
    need = '"jsonrpc":"2.0", a text "method", a text or whole number "id", an object "params"'
    return request_id, INVALID_REQUEST, f"Invalid request: a request has {need}"
