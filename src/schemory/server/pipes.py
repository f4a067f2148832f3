"""Standard input and output as the message streams of the MCP SDK.

Against the SDK's own transport this one answers messages it cannot parse, finishes what was asked
before the input ended, notices a client that is gone, and never keeps the process alive: its
threads are daemons.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from schemory.server.jsonrpc import Fault, Message, Notification, Request, parse_line
from schemory.server.lane import Lane, post
from schemory.server.wire import DRAIN_SECONDS, Wire, take_descriptors

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
    wire = take_descriptors()
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


class _Pump:
    """Moves messages between the wire and the server's streams."""

    def __init__(
        self,
        wire: Wire,
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
        lines: asyncio.Queue[tuple[bytes | None] | None] = asyncio.Queue()
        room = threading.Semaphore(_LINES_AHEAD)
        loop = asyncio.get_running_loop()

        def work() -> None:
            for line in self._wire.lines():
                room.acquire()
                post(loop, lines.put_nowait, (line,))
            post(loop, lines.put_nowait, None)

        threading.Thread(target=work, name="schemory-reader", daemon=True).start()
        async with self._to_server:
            while (line := await lines.get()) is not None:
                room.release()
                await self._take(*line)
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

    async def _take(self, line: bytes | None) -> None:
        parsed = parse_line(line)
        if parsed is None:
            return
        if isinstance(parsed, Fault):
            await self._refuse(parsed)
            return
        message = _sdk_message(parsed)
        self._count(message)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_server.send(SessionMessage(message))

    async def _refuse(self, fault: Fault) -> None:
        error = ErrorData(code=fault.code, message=fault.message)
        with suppress(OSError):
            await self._send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=fault.id, error=error)))

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


def _sdk_message(message: Message) -> JSONRPCMessage:
    """Return a message as the SDK has it; its members have been checked before."""
    if isinstance(message, Request):
        number, method, params = message
        return JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)
    if isinstance(message, Notification):
        return JSONRPCNotification(jsonrpc="2.0", method=message.method, params=message.params)
    return jsonrpc_message_adapter.validate_python(message.body, by_name=False)
