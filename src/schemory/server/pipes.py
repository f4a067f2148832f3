"""Standard input and output as the message streams of the MCP SDK.

Against the SDK's own transport this one answers messages it cannot parse, finishes what was asked
before the input ended, notices a client that is gone, and never keeps the process alive: its
threads are daemons.
"""

import asyncio
import itertools
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias, cast

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

from schemory.model.frozen import dataclass
from schemory.server.batches import Gathering, items_of, refusal
from schemory.server.jsonrpc import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    Batch,
    Fault,
    Message,
    Notification,
    Request,
    encode,
    is_id,
    key_of,
    parse_line,
)
from schemory.server.lane import Lane, post
from schemory.server.wire import DRAIN_SECONDS, Wire, take_descriptors

_DRAIN_STEP_SECONDS = 0.05
_LAST_WRITE_SECONDS = 2.0
_LINES_AHEAD = 16

_CANCELLED = "notifications/cancelled"
_GREETING = "initialize"
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


@dataclass(frozen=True, slots=True)
class _Batched:
    """A request of a batch: the id that its client gave it, and where its answer goes.

    One that was cancelled has no gathering: an answer already on its way is dropped.
    """

    id: str | int
    gathering: Gathering[str] | None


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
        self._greetings: set[str | int] = set()
        self._version: str | None = None
        self._batched: dict[str | int, _Batched] = {}
        self._batch_numbers = itertools.count(1)
        self._questions: set[str | int] | None = set()  # None: nobody can answer any more
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
            await self._end_questions()
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
        with suppress(OSError):  # the writing side ends the connection with a client that is gone
            if isinstance(parsed, Batch):
                await self._take_batch(parsed)
            elif isinstance(parsed, Fault):
                await self._write(_fault_text(parsed))
            elif parsed is not None:
                await self._hand_over(parsed)

    async def _take_batch(self, batch: Batch) -> None:
        told = refusal(self._version)
        if told:
            await self._write(_fault_text(Fault(None, INVALID_REQUEST, told)))
            return
        gathering: Gathering[str] = Gathering(batch)
        for item in items_of(batch):
            if isinstance(item, Fault):
                await self._write_batch(gathering.add(_fault_text(item)))
                continue
            await self._hand_over(self._renamed(item, gathering))

    def _renamed(self, item: Message, gathering: Gathering[str]) -> Message:
        """Give a request of a batch an id that no other has, by which its answer will be known.

        A client may use one id again before it is answered; the SDK's answers tell only the id.
        """
        if not isinstance(item, Request):
            return item
        alias = f"\0batched {next(self._batch_numbers)}"
        self._batched[alias] = _Batched(item.id, gathering)
        return Request(alias, item.method, item.params)

    async def _hand_over(self, parsed: Message) -> None:
        message = _sdk_message(parsed)
        await self._count(message)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_server.send(SessionMessage(message))

    async def _send(self, message: SessionMessage) -> None:
        body = message.message
        if isinstance(body, JSONRPCRequest):
            await self._ask(body)
        elif isinstance(body, JSONRPCResponse | JSONRPCError):
            if isinstance(body, JSONRPCResponse) and body.id in self._greetings:
                self._version = str(body.result.get("protocolVersion"))
            await self._write_answer(body)
            self._settle(body.id)
        else:
            await self._write(_text(body))

    async def _write_answer(self, body: JSONRPCResponse | JSONRPCError) -> None:
        """Write an answer, alone or with the others of its batch."""
        batched = self._batched.pop(body.id, None) if body.id is not None else None
        if batched is None:
            await self._write(_text(body))
        elif batched.gathering is not None:
            answer = body.model_copy(update={"id": batched.id})
            await self._write_batch(batched.gathering.add(_text(answer)))

    async def _write_batch(self, answers: list[str]) -> None:
        if answers:
            await self._write(f"[{','.join(answers)}]")

    async def _write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace") + b"\n"
        await self._writer.run(lambda: self._wire.write(data))

    async def _ask(self, request: JSONRPCRequest) -> None:
        """Pass on a request of the server's, unless the client has said its last word."""
        if self._questions is None:
            await self._fail(request.id)
        else:
            self._questions.add(request.id)
            await self._write(_text(request))

    async def _end_questions(self) -> None:
        left, self._questions = self._questions or set(), None
        for number in left:
            await self._fail(number)

    async def _fail(self, number: str | int) -> None:
        error = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")
        message = JSONRPCError(jsonrpc="2.0", id=number, error=error)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_server.send(SessionMessage(message))

    async def _count(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            if message.method not in _NEVER_ENDING:
                self._unanswered.add(message.id)
            if message.method == _GREETING:
                self._greetings.add(message.id)
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            if self._questions is not None:
                self._questions.discard(message.id)
        elif message.method == _CANCELLED:
            # A cancelled request is never answered.
            number = (message.params or {}).get("requestId")
            if is_id(number):
                await self._cancel_batched(cast("str | int", number))
            self._settle(number)

    async def _cancel_batched(self, number: str | int) -> None:
        """Cancel what came in batches under an id, by the ids that the server knows."""
        key = key_of(number)
        for alias, batched in tuple(self._batched.items()):
            if batched.gathering is not None and key_of(batched.id) == key:
                self._batched[alias] = _Batched(batched.id, None)
                await self._hand_over(Notification(_CANCELLED, {"requestId": alias}))
                await self._write_batch(batched.gathering.add(None))

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


def _text(message: JSONRPCMessage) -> str:
    return message.model_dump_json(by_alias=True, exclude_unset=True)


def _fault_text(fault: Fault) -> str:
    return encode(fault.answer()).decode().strip()


def _sdk_message(message: Message) -> JSONRPCMessage:
    """Return a message as the SDK has it; its members have been checked before."""
    if isinstance(message, Request):
        return JSONRPCRequest(
            jsonrpc="2.0", id=message.id, method=message.method, params=message.params
        )
    if isinstance(message, Notification):
        return JSONRPCNotification(jsonrpc="2.0", method=message.method, params=message.params)
    return jsonrpc_message_adapter.validate_python(message.body, by_name=False)
