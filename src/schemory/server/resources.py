"""Resources, prompts and completions on the SDK's server: it only moves JSON, as `sdk.py` does."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, TypeVar

from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import (
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
        self._listen = ListenHandler(bus)
        self._subscribers: dict[ServerSession, Watched] = {}
        self._listeners: list[Watched] = []

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
        for session, watched in list(self._subscribers.items()):
            for uri in await self._changed(watched):
                await session.send_resource_updated(uri)
        for watched in list(self._listeners):
            for uri in await self._changed(watched):
                await self._bus.publish(ResourceUpdated(uri=uri))

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
        session = ctx.session
        if session not in self._subscribers:
            self._subscribers[session] = self._extras.watched(self._caller_of(session))
        watched = self._subscribers[session]
        await self._run(ctx, lambda: watched.add(params.uri))
        return {}

    async def _unsubscribe(self, ctx: _Context, params: UnsubscribeRequestParams) -> HandlerResult:
        watched = self._subscribers.get(ctx.session)
        if watched is not None:
            watched.remove(params.uri)
        return {}

    async def _follow(
        self, ctx: _Context, params: SubscriptionsListenRequestParams
    ) -> HandlerResult:
        async with self._listening(ctx, params.notifications.resource_subscriptions or ()):
            return await self._listen(ctx, params)

    @asynccontextmanager
    async def _listening(self, ctx: _Context, uris: Iterable[str]) -> AsyncGenerator[None]:
        watched = self._extras.watched(self._caller_of(ctx.session))
        await self._run(ctx, lambda: watched.add(*uris))
        self._listeners.append(watched)
        try:
            yield
        finally:
            self._listeners.remove(watched)

    async def _run(self, ctx: _Context, job: Callable[[], _Result]) -> _Result:
        try:
            return await self._lane.run(job)
        except SchemoryError as error:
            is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            code, message, data = rpc_error(error, method=ctx.method, is_modern=is_modern)
            raise MCPError(code, message, data) from None
