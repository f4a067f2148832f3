"""Handshake sessions that outlive their server, and requests of clients that have none.

The newest era needs no sessions and passes through. Of the handshake eras, a session that this
server does not know (it was restarted, or another one made it) is taken over: the handshake is
repeated inside with what the session's name holds. Requests without a session are answered alone.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from mcp.server.streamable_http_manager import (
    DEFAULT_SESSION_IDLE_TIMEOUT,
    StreamableHTTPSessionManager,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from schemory.model.jsonvalue import compact
from schemory.server.http_answers import plain, rpc_refusal
from schemory.server.http_gate import BODY, MESSAGE, PRINCIPAL, replaying
from schemory.server.principals import Principal
from schemory.server.session_names import SessionNames

SESSION_HEADER: Final = "mcp-session-id"
VERSION_HEADER: Final = "mcp-protocol-version"
MAX_SESSIONS: Final = 4096
MAX_SESSIONS_EACH: Final = 1024
"""Of one principal, so that no client can shut the others out."""

_MAX_ENDED: Final = 1024
_NO_SESSION: Final = -32600
_NOT_FOUND: Final = 404


@dataclass(slots=True)
class _Session:
    inner: str
    principal: str
    seen_at: float = field(default_factory=time.monotonic)
    open_requests: int = 0


class Sessions:
    """The endpoint for both kinds of clients.

    Args:
        stateful: Keeps a session per client of a handshake; serves the newest era as well.
        stateless: Answers single requests of the handshake eras.
        left: Told of each session that has ended.
    """

    def __init__(
        self,
        stateful: StreamableHTTPSessionManager,
        stateless: StreamableHTTPSessionManager,
        names: SessionNames,
        *,
        left: Callable[[str], None],
    ) -> None:
        self._stateful = stateful
        self._stateless = stateless
        self._names = names
        self._left = left
        self._sessions: dict[str, _Session] = {}
        self._taking_over: dict[str, asyncio.Lock] = {}
        self._ended: dict[str, None] = {}  # in the order of their end

    def __len__(self) -> int:
        return len(self._sessions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = Headers(scope=scope)
        version = headers.get(VERSION_HEADER)
        name = headers.get(SESSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._stateful.handle_request(scope, receive, send)
        elif name is not None:
            await self._in_session(name, scope, receive, send)
        elif (greeting := _greeting(scope)) is not None:
            await self._open(greeting, scope, receive, send)
        elif scope["method"] == "POST":
            await self._stateless.handle_request(scope, receive, send)
        else:
            answer = rpc_refusal(400, _NO_SESSION, "This needs a session: initialize first.")
            await answer(scope, receive, send)

    async def prune(self, every_seconds: float = 60.0) -> None:
        """Let go of sessions that the transport has ended for want of requests, until cancelled."""
        while True:
            await asyncio.sleep(every_seconds)
            oldest = time.monotonic() - DEFAULT_SESSION_IDLE_TIMEOUT - every_seconds
            for name, session in list(self._sessions.items()):
                if not session.open_requests and session.seen_at < oldest:
                    self._forget(name)

    async def _open(
        self, greeting: Mapping[str, Any], scope: Scope, receive: Receive, send: Send
    ) -> None:
        principal = _principal(scope)
        if not self._has_room(principal):
            await plain(503, "Too many sessions are open.", {"Retry-After": "60"})(
                scope, receive, send
            )
            return

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:  # noqa: PLR2004 (HTTP)
                headers = MutableHeaders(scope=message)
                inner = headers.get(SESSION_HEADER)
                if inner:
                    name = self._names.make(inner, greeting, principal)
                    self._sessions[name] = _Session(inner, principal)
                    headers[SESSION_HEADER] = name
            await send(message)

        await self._stateful.handle_request(scope, receive, named)

    async def _in_session(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        principal = _principal(scope)
        known = self._names.read(name, principal)
        if known is None:
            # Whether another principal has it is not told.
            await rpc_refusal(404, _NO_SESSION, "Session not found")(scope, receive, send)
            return
        if scope["method"] == "DELETE" and name not in self._sessions:
            await plain(200, "The session has ended.")(scope, receive, send)
            return
        if name in self._sessions:
            if await self._pass_on(name, scope, _again(scope, receive), send):
                return
            self._forget(name)
        has_it = name not in self._ended and await self._take_over(name, known[1], scope)
        if not has_it or not await self._pass_on(name, scope, _again(scope, receive), send):
            await rpc_refusal(404, _NO_SESSION, "Session not found")(scope, receive, send)

    async def _pass_on(self, name: str, scope: Scope, receive: Receive, send: Send) -> bool:
        """Have the transport serve a request of a session; False if it knows no such session."""
        session = self._sessions[name]
        is_gone = False

        async def renamed(message: Message) -> None:
            nonlocal is_gone
            if message["type"] == "http.response.start":
                is_gone = message["status"] == _NOT_FOUND
                headers = MutableHeaders(scope=message)
                if SESSION_HEADER in headers:
                    headers[SESSION_HEADER] = name
            if not is_gone:
                await send(message)

        session.open_requests += 1
        try:
            await self._stateful.handle_request(
                _with_headers(scope, {SESSION_HEADER: session.inner}), receive, renamed
            )
        finally:
            session.open_requests -= 1
            session.seen_at = time.monotonic()
        if scope["method"] == "DELETE" and not is_gone:
            self._forget(name)
            self._ended[name] = None
            if len(self._ended) > _MAX_ENDED:
                self._ended.pop(next(iter(self._ended)))
        return not is_gone

    async def _take_over(self, name: str, greeting: Mapping[str, Any], scope: Scope) -> bool:
        """Repeat the handshake inside, for a session whose server is gone or elsewhere."""
        lock = self._taking_over.setdefault(name, asyncio.Lock())
        try:
            async with lock:
                if name in self._sessions:
                    return True
                principal = _principal(scope)
                if not self._has_room(principal):
                    return False
                inner = await self._shake_hands(greeting, scope)
                if inner is None:
                    return False
                self._sessions[name] = _Session(inner, principal)
                return True
        finally:
            self._taking_over.pop(name, None)

    async def _shake_hands(self, greeting: Mapping[str, Any], scope: Scope) -> str | None:
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": dict(greeting)}
        headers = await self._post(message, scope, {})
        inner = headers.get(SESSION_HEADER) if headers is not None else None
        if inner is None:
            return None
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self._post(told, scope, {SESSION_HEADER: inner})
        return inner

    async def _post(
        self, message: Mapping[str, Any], scope: Scope, headers: Mapping[str, str]
    ) -> Headers | None:
        """Send a message to the transport as the client would; None where it is refused."""
        answered: list[Message] = []

        async def wait() -> Message:
            await asyncio.Event().wait()  # the client stays as long as the answer takes
            raise RuntimeError("nobody sets that event")

        async def take(part: Message) -> None:
            if part["type"] == "http.response.start":
                answered.append(part)

        fixed = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        inner = _with_headers(
            {**scope, "method": "POST"}, {**fixed, **headers}, without={SESSION_HEADER}
        )
        body = compact(dict(message)).encode()
        await self._stateful.handle_request(inner, replaying(body, wait), take)
        start = answered[0] if answered else None
        if start is None or start["status"] >= 400:  # noqa: PLR2004 (HTTP)
            return None
        return Headers(raw=list(start["headers"]))

    def _has_room(self, principal: str) -> bool:
        of_principal = sum(each.principal == principal for each in self._sessions.values())
        return len(self._sessions) < MAX_SESSIONS and of_principal < MAX_SESSIONS_EACH

    def _forget(self, name: str) -> None:
        session = self._sessions.pop(name, None)
        if session is not None:
            self._left(session.inner)


def _again(scope: Scope, receive: Receive) -> Receive:
    """Return a `receive` that gives the request's body from its beginning."""
    body: bytes | None = scope.get(BODY)
    return receive if body is None else replaying(body, receive)


def _principal(scope: Scope) -> str:
    principal: Principal | None = scope.get(PRINCIPAL)
    return principal.key if principal else ""


def _greeting(scope: Scope) -> Mapping[str, Any] | None:
    """Return the parameters of the `initialize` in a request's body, None if it holds none."""
    message = scope.get(MESSAGE)
    if not isinstance(message, dict):
        return None
    given = cast("dict[str, Any]", message)
    if given.get("method") != "initialize":
        return None
    params: object = given.get("params")
    return cast("dict[str, Any]", params) if isinstance(params, dict) else {}


def _with_headers(
    scope: Scope, headers: Mapping[str, str], without: frozenset[str] | set[str] = frozenset()
) -> Scope:
    """Return `scope` with some headers in place of those it has."""
    gone = {each.encode() for each in (*headers, *without, "content-length")}
    kept = [(name, value) for name, value in scope["headers"] if name not in gone]
    new = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return {**scope, "headers": [*kept, *new]}
