"""Resources, prompts and completions on the SDK's server: it only moves JSON, as `sdk.py` does."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, TypeVar

from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
    ServerEvent,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CompleteRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    RequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from schemory.errors import SchemoryError
from schemory.server.extras import POLL_SECONDS, Extras, rpc_error
from schemory.server.lane import Lane
from schemory.tools.registry import Caller
from schemory.tools.resources import Watched

_Context: TypeAlias = ServerRequestContext[Any, Any]
_Result = TypeVar("_Result")
_PARAMS: Mapping[str, type[RequestParams]] = {
    "resources/list": PaginatedRequestParams,
    "resources/templates/list": PaginatedRequestParams,
    "resources/read": ReadResourceRequestParams,
    "completion/complete": CompleteRequestParams,
    "prompts/list": PaginatedRequestParams,
    "prompts/get": GetPromptRequestParams,
}


_MAX_LISTENERS = 2048
_MAX_LISTENERS_EACH = 512
"""Of one principal, so that no client can keep the others from listening."""
_SESSION_HEADER = "mcp-session-id"


def connection_of(ctx: _Context) -> str:
    """Return what tells the client of a handshake from the others of this server.

    The SDK makes a session object per request; over HTTP the session's id stays, and on pipes there
    is one client.
    """
    return str(ctx.request.headers.get(_SESSION_HEADER, "")) if ctx.request is not None else ""


class _Listener:
    """A subscription bus of one stream: what concerns all, and what it alone may hear of.

    Changes of a resource are told to those who watch it themselves; else a client could learn of
    what happens in a project it may not use.
    """

    def __init__(self, shared: InMemorySubscriptionBus, watched: Watched) -> None:
        self._shared = shared
        self._own = InMemorySubscriptionBus()
        self.watched = watched
        self.handler = ListenHandler(self)

    async def publish(self, event: ServerEvent) -> None:
        await self._own.publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        stops = (self._shared.subscribe(listener), self._own.subscribe(listener))

        def stop() -> None:
            for each in stops:
                each()

        return stop


class ResourceServer:
    """`Extras` as handlers of an SDK server, and who watches which address."""

    def __init__(
        self,
        extras: Extras,
        lane: Lane,
        *,
        bus: InMemorySubscriptionBus,
        caller_of: Callable[[ServerSession], Caller],
    ) -> None:
        self._extras = extras
        self._lane = lane
        self._bus = bus
        self._caller_of = caller_of
        self._subscribers: dict[str, tuple[ServerSession, Watched]] = {}
        self._listeners: list[_Listener] = []

    def register(self, sdk: Server[Any]) -> None:
        """Add the handlers, and with them the capabilities, to `sdk`."""
        for method in self._extras.methods:
            sdk.add_request_handler(method, _PARAMS[method], self._answer)
        add = sdk.add_request_handler
        add("resources/subscribe", SubscribeRequestParams, self._subscribe)
        add("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)
        add("subscriptions/listen", SubscriptionsListenRequestParams, self._follow)

    async def watch(self) -> None:
        """Tell clients of changes of what they watch, until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self.tell_changes()

    async def tell_changes(self) -> None:
        """Look at all watched addresses once, and tell of those that lead elsewhere now."""
        for session, watched in list(self._subscribers.values()):
            for uri in await self._changed(watched):
                await session.send_resource_updated(uri)
        for listener in list(self._listeners):
            for uri in await self._changed(listener.watched):
                await listener.publish(ResourceUpdated(uri=uri))

    def forget(self, connection: str) -> None:
        """Let go of a handshake client that has left."""
        self._subscribers.pop(connection, None)

    def end_listening(self) -> None:
        """End every stream of the newest era on which clients wait for changes."""
        for listener in self._listeners:
            listener.handler.close()

    async def _changed(self, watched: Watched) -> list[str]:
        return await self._lane.run(watched.changed) if watched else []

    async def _answer(self, ctx: _Context, params: RequestParams) -> HandlerResult:
        method, caller = ctx.method, self._caller_of(ctx.session)
        given = params.model_dump(mode="json", by_alias=True)
        answer = self._extras.methods[method]
        result = await self._run(ctx, lambda: answer(given, caller))
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return dict(result)
        is_cacheable = method in self._extras.cacheable
        # Any time to live above 0 would leave clients with what has changed.
        freshness = {"ttlMs": 0, "cacheScope": "private"} if is_cacheable else {}
        return {"resultType": "complete", **freshness, **result}

    async def _subscribe(self, ctx: _Context, params: SubscribeRequestParams) -> HandlerResult:
        connection, session = connection_of(ctx), ctx.session
        known = self._subscribers.get(connection)
        watched = known[1] if known else self._extras.watched(self._caller_of(session))
        await self._run(ctx, lambda: watched.add(params.uri))
        self._subscribers.setdefault(connection, (session, watched))
        return {}

    async def _unsubscribe(self, ctx: _Context, params: UnsubscribeRequestParams) -> HandlerResult:
        known = self._subscribers.get(connection_of(ctx))
        if known is not None:
            known[1].remove(params.uri)
        return {}

    async def _follow(
        self, ctx: _Context, params: SubscriptionsListenRequestParams
    ) -> HandlerResult:
        principal = self._caller_of(ctx.session).principal
        own = sum(each.watched.caller.principal == principal for each in self._listeners)
        if len(self._listeners) >= _MAX_LISTENERS or own >= _MAX_LISTENERS_EACH:
            raise MCPError(INTERNAL_ERROR, "Too many clients listen; try again later.")
        async with self._listening(ctx, params.notifications.resource_subscriptions or ()) as one:
            return await one.handler(ctx, params)

    @asynccontextmanager
    async def _listening(self, ctx: _Context, uris: Iterable[str]) -> AsyncGenerator[_Listener]:
        watched = self._extras.watched(self._caller_of(ctx.session))
        await self._run(ctx, lambda: watched.add(*uris))
        listener = _Listener(self._bus, watched)
        self._listeners.append(listener)
        try:
            yield listener
        finally:
            self._listeners.remove(listener)

    async def _run(self, ctx: _Context, job: Callable[[], _Result]) -> _Result:
        try:
            return await self._lane.run(job)
        except SchemoryError as error:
            is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            told = rpc_error(error, method=ctx.method, params=ctx.params or {}, is_modern=is_modern)
            raise MCPError(*told) from None
