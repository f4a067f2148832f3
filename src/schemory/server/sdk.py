"""The MCP SDK's low-level server over a toolbox: it only moves JSON, no rule lives here."""

import asyncio
import threading
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, TypeAlias

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    NotificationParams,
    PaginatedRequestParams,
    SubscriptionsListenRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

import schemory
from schemory.errors import InvalidStateError, ToolNotFoundError
from schemory.model.frozen import replace
from schemory.server.calling import INVALID_STATE
from schemory.server.extras import Extras
from schemory.server.lane import Lane, post
from schemory.server.logs import log_internal_error
from schemory.server.principals import acting
from schemory.server.resources import ResourceServer, connection_of
from schemory.server.sdk_asking import with_questions
from schemory.tools.registry import Asking, Caller, Reply, Tool
from schemory.tools.toolbox import Toolbox

_Context: TypeAlias = ServerRequestContext[Any, Any]

_MAX_CLIENT_CHARS = 200

_raw_arguments: ContextVar[object] = ContextVar("raw_arguments", default=None)
"""The arguments as the client sent them: the SDK refuses what is no object, our tools mend it."""


class ToolServer:
    """A `Toolbox` as an SDK server for one client, or several over HTTP.

    Attributes:
        sdk: The SDK's server, to be run over a transport's streams.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        lane: Lane,
        *,
        transport: str,
        extras: Extras | None = None,
        long_lane: Lane | None = None,
    ) -> None:
        self._toolbox = toolbox
        self._lane = lane
        self._long_lane = long_lane or lane
        self._transport = transport
        self._ending = asyncio.Event()
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._peers: dict[str, ServerSession] = {}
        self.sdk: Server[Any] = _TruthfulServer(
            "schemory",
            version=schemory.__version__,
            title="Schemory",
            instructions=toolbox.instructions,
        )
        self.sdk.middleware[:] = [_keep_arguments, _name_problems]
        self.sdk.add_request_handler("tools/list", PaginatedRequestParams, self._list_tools)
        self.sdk.add_request_handler("tools/call", CallToolRequestParams, self._call_tool)
        self.sdk.add_request_handler(
            "subscriptions/listen", SubscriptionsListenRequestParams, self._listening
        )
        self.sdk.add_notification_handler(
            "notifications/initialized", NotificationParams, self._greet
        )
        self._resources: ResourceServer | None = None
        if extras is not None:
            self._resources = ResourceServer(
                extras,
                lane,
                bus=self._bus,
                caller_of=lambda session: _caller(session, transport),
            )
            self._resources.register(self.sdk)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name, as they are now."""
        return self._toolbox.registry

    def forget(self, connection: str) -> None:
        """Let go of a handshake client that has left, by its `connection_of`."""
        self._peers.pop(connection, None)
        if self._resources is not None:
            self._resources.forget(connection)

    def end_listening(self) -> None:
        """End what waits for changes or for a person: nobody will be there for the news."""
        self._ending.set()
        self._listening.close()
        if self._resources is not None:
            self._resources.end_listening()

    async def watch(self) -> None:
        """Tell clients of changes of the resources they watch, until cancelled."""
        if self._resources is not None:
            await self._resources.watch()

    def initialization_options(self) -> InitializationOptions:
        """Return what the handshake says of this server."""
        return self.sdk.create_initialization_options()

    def announce_changes(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        """Tell clients whenever the tool list changes, from any thread; returns the stopper."""
        running: set[asyncio.Task[None]] = set()

        def start() -> None:
            task = loop.create_task(self._announce())
            running.add(task)
            task.add_done_callback(running.discard)

        return self._toolbox.subscribe(lambda: post(loop, start))

    async def _announce(self) -> None:
        await self._bus.publish(ToolsListChanged())
        if self._resources is not None:
            await self._bus.publish(ResourcesListChanged())  # each schema is a resource as well
        for peer in tuple(self._peers.values()):
            await peer.send_tool_list_changed()

    async def _greet(self, ctx: _Context, params: NotificationParams) -> None:
        # The bus reaches only clients that listen, which is the newest era; those that shook
        # hands are told on their own channel.
        del params
        self._peers[connection_of(ctx)] = ctx.session

    async def _list_tools(self, ctx: _Context, params: PaginatedRequestParams) -> HandlerResult:
        if params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "The tool list has one page; there is no such cursor.")
        # Any time to live above 0 would leave clients with tools of schemas that have changed.
        freshness = {"ttlMs": 0, "cacheScope": "private"} if _is_modern(ctx) else {}
        try:
            return {**_complete(ctx), **freshness, "tools": self._toolbox.list_tools()}
        except Exception as fault:  # noqa: BLE001 (the last place before the wire)
            raise _internal_error(fault) from None

    async def _call_tool(self, ctx: _Context, params: CallToolRequestParams) -> HandlerResult:
        try:
            reply = await with_questions(
                ctx, lambda asking: self._made(ctx, params.name, asking), self._ending
            )
        except ToolNotFoundError as error:
            raise _unknown_tool(error) from None
        except InvalidStateError as error:
            raise MCPError(INVALID_PARAMS, error.message, dict(INVALID_STATE)) from None
        except Exception as fault:  # noqa: BLE001 (the last place before the wire)
            raise _internal_error(fault) from None
        if not isinstance(reply, Reply):
            return reply
        if self._resources is not None and self._toolbox.writes(params.name):
            await self._resources.tell_changes()
        return {
            **_complete(ctx),
            "content": [{"type": "text", "text": reply.text}],
            "structuredContent": reply.structured,
            "isError": reply.is_error,
        }

    async def _made(self, ctx: _Context, name: str, asking: Asking | None) -> Reply:
        """Make a call in its lane; what it raises is raised here."""
        call = _RunningCall(asyncio.get_running_loop())
        caller = _caller(ctx.session, self._transport)
        arguments = _raw_arguments.get()

        def job() -> Reply | None:
            if call.cancelled.is_set():
                return None
            return self._toolbox.call(
                name,
                arguments,
                caller,
                progress=call.note_progress,
                is_cancelled=call.cancelled.is_set,
                asking=asking,
            )

        lane = self._long_lane if self._toolbox.is_long(name) else self._lane
        return await call.follow(asyncio.ensure_future(lane.run(job)), ctx.session)


class _TruthfulServer(Server[Any]):
    """Says in every handshake, also those that the HTTP transport makes, that tools may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return what the handshake says of this server."""
        return super().create_initialization_options(
            notification_options or NotificationOptions(tools_changed=True),
            experimental_capabilities,
            extensions,
        )


class _RunningCall:
    """Carries progress and cancellation between a call in the lane and its request."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.cancelled = threading.Event()
        self._loop = loop
        self._steps: asyncio.Queue[tuple[float, float | None, str] | None] = asyncio.Queue()

    def note_progress(self, done: float, total: float | None, message: str) -> None:
        """Queue a step; called in the lane's thread."""
        post(self._loop, self._steps.put_nowait, (done, total, message))

    async def follow(self, work: asyncio.Future[Reply | None], session: ServerSession) -> Reply:
        """Send steps as they come, then return the reply; a cancelled request cancels the call."""

        def end(done: asyncio.Future[Reply | None]) -> None:
            # Asking for the exception keeps asyncio from logging it, text and all, when the
            # request was cancelled and nobody reads the result.
            if not done.cancelled():
                done.exception()
            self._steps.put_nowait(None)

        work.add_done_callback(end)
        try:
            while (step := await self._steps.get()) is not None:
                done, total, message = step
                await session.report_progress(done, total, message or None)
        finally:
            self.cancelled.set()
        reply = work.result()
        if reply is None:
            raise RuntimeError("a call that was not cancelled has a reply")
        return reply


async def _keep_arguments(ctx: _Context, call_next: CallNext) -> HandlerResult:
    if ctx.method == "tools/call" and ctx.params is not None:
        arguments: object = ctx.params.get("arguments")
        _raw_arguments.set(arguments)
        if arguments is not None and not isinstance(arguments, dict):
            ctx = replace(ctx, params={**ctx.params, "arguments": {}})
    return await call_next(ctx)


async def _name_problems(ctx: _Context, call_next: CallNext) -> HandlerResult:
    try:
        return await call_next(ctx)
    except ValidationError as fault:
        problems = [
            {"path": ".".join(map(str, each["loc"])), "problem": each["msg"]}
            for each in fault.errors(include_input=False, include_url=False, include_context=False)
        ]
        first = problems[0]
        raise MCPError(
            INVALID_PARAMS,
            f"Invalid parameters for {ctx.method}: {first['path']}: {first['problem']}",
            {"problems": problems},
        ) from None


def _is_modern(ctx: _Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _complete(ctx: _Context) -> dict[str, str]:
    """Return the mark of a final result, which only the newest era has."""
    return {"resultType": "complete"} if _is_modern(ctx) else {}


def _caller(session: ServerSession, transport: str) -> Caller:
    client = session.client_params.client_info if session.client_params else None
    name = f"{client.name}/{client.version}" if client else ""
    return caller_named(name, transport)


def caller_named(client: str, transport: str) -> Caller:
    """Return who calls: the client by its own name, and the principal whose token it holds."""
    name = "".join(c for c in client if c.isprintable())[:_MAX_CLIENT_CHARS]
    principal = acting.get()
    if principal is None:
        return Caller(author=name, client=transport)
    author = f"{principal.name} via {name}" if name else principal.name
    return Caller(
        author=author,
        client=transport,
        principal=principal.key,
        projects=principal.projects,
    )


def _unknown_tool(error: ToolNotFoundError) -> MCPError:
    nearest = [name for problem in error.problems for name in problem.nearest]
    data = {"nearest": nearest, "suggestions": list(error.suggestions)}
    return MCPError(INVALID_PARAMS, error.message, data)


def _internal_error(fault: Exception) -> MCPError:
    if isinstance(fault, MCPError):
        return fault
    error_id = uuid.uuid4().hex[:12]
    log_internal_error(error_id, fault)
    return MCPError(INTERNAL_ERROR, f"Internal error {error_id}; the server's log has its place.")
