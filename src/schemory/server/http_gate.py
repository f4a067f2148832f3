"""The gate before the endpoint: who calls, how often, how much, and whether the scope is enough."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.authentication import AuthCredentials
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Request

from schemory.server.auth import Gatekeeper
from schemory.server.http_answers import challenge, plain, rpc_refusal
from schemory.server.http_rates import Rates
from schemory.server.jsonrpc import Fault, encode, read_one
from schemory.server.principals import (
    KeysUnavailableError,
    Principal,
    Scope,
    scope_for_request,
)
from schemory.tools.registry import Tool

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
MAX_BODIES_BYTES: Final = 64 * 1024 * 1024
"""All large bodies in flight together; the request that would go beyond comes again."""

_SMALL_BYTES: Final = 64 * 1024
"""Bodies up to this, which are nearly all, are not counted: the connections bound them."""

_RETRY_SECONDS: Final = "1"
BODY_SECONDS: Final = 30.0
"""A request's body must be here after this time."""

PRINCIPAL: Final = "schemory.principal"
BODY: Final = "schemory.body"
MESSAGE: Final = "schemory.message"
"""Where a request's scope holds whom it is from, and its body, raw and parsed."""


class Gate:
    """Lets a request to the endpoint if its token, rate, size and scope are right.

    Args:
        keeper: Knows the tokens; None = nobody has to name themselves.
        tools: Returns the tools as they are now.
    """

    def __init__(
        self,
        app: ASGIApp,
        keeper: Gatekeeper | None,
        rates: Rates,
        *,
        tools: Callable[[], Mapping[str, Tool]],
        refused: Callable[[str], None],
    ) -> None:
        self._app = AuthContextMiddleware(app)
        self._keeper = keeper
        self._rates = rates
        self._tools = tools
        self._refused = refused
        self._in_flight = 0

    async def __call__(self, scope: Request, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        answer = await self._refusal(scope)
        if answer is not None:
            await answer(scope, receive, send)
            return
        size = _size_of(scope)
        if self._in_flight + size > MAX_BODIES_BYTES:
            self._refused("busy")
            told = f"Too many large requests at once; try again in {_RETRY_SECONDS} second."
            await plain(503, told, {"Retry-After": _RETRY_SECONDS})(scope, receive, send)
            return
        self._in_flight += size
        try:
            await self._serve(scope, receive, send)
        finally:
            self._in_flight -= size

    async def _serve(self, scope: Request, receive: Receive, send: Send) -> None:
        """Pass a request on whose sender is known, once its body is here and allowed."""
        if scope["method"] == "POST":
            body = await self._body(scope, receive)
            if isinstance(body, Response):
                await body(scope, receive, send)
                return
            message = read_one(body)
            if isinstance(message, Fault):
                self._refused("message")
                told = rpc_refusal(400, message.code, message.message, message.id)
                await told(scope, receive, send)
                return
            if "method" not in message:
                body = encode(message)  # an answer as it was understood, if only as an error
            scope[BODY], scope[MESSAGE] = body, message
            receive = replaying(body, receive)
            answer = self._scope_refusal(scope)
            if answer is not None:
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _refusal(self, scope: Request) -> Response | None:
        """Find out who calls; return why they may not, by token or rate."""
        keeper = self._keeper
        if keeper is None:
            return None
        found = await admitted(keeper, scope)
        if isinstance(found, Response):
            self._refused("token" if found.status_code == 401 else "keys")  # noqa: PLR2004 (HTTP)
            return found
        user, principal = found
        wait = self._rates.wait_seconds(principal.key)
        if wait:
            self._refused("rate")
            told = f"Too many requests; try again in {wait} seconds."
            return plain(429, told, {"Retry-After": str(wait)})
        scope["user"], scope["auth"] = user, AuthCredentials(user.scopes)
        scope[PRINCIPAL] = principal
        return None

    async def _body(self, scope: Request, receive: Receive) -> bytes | Response:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await read_body(Headers(scope=scope), receive)
        except TimeoutError:
            self._refused("slow")
            return plain(408, "The request took too long to arrive.", {"Connection": "close"})
        except ClientLeftError:
            return plain(400, "The request ended early.")  # read by nobody
        except BodyTooLargeError:
            self._refused("size")
            told = f"A request may have {MAX_BODY_BYTES:,} bytes at most."
            return plain(413, told)  # what is still to come is read and thrown away

    def _scope_refusal(self, scope: Request) -> Response | None:
        principal: Principal | None = scope.get(PRINCIPAL)
        keeper = self._keeper
        if principal is None or keeper is None:
            return None
        for method, params in _requests(scope[MESSAGE]):
            needed = scope_for_request(method, params, self._tools())
            if needed is not None and needed not in principal.scopes:
                self._refused("scope")
                return challenge(
                    403,
                    keeper.metadata_url,
                    error="insufficient_scope",
                    description=f"This needs a token with the scope {needed}",
                    scopes=[each for each in Scope if each in needed.held],
                )
        return None


async def admitted(
    keeper: Gatekeeper, scope: Request
) -> tuple[AuthenticatedUser, Principal] | Response:
    """Return who sent a request, or the answer to one whose sender is not known."""
    try:
        found = await keeper.admit(HTTPConnection(scope))
    except KeysUnavailableError:
        return plain(503, "Tokens cannot be checked at the moment.", {"Retry-After": "30"})
    if found is not None:
        return found
    is_given = "authorization" in Headers(scope=scope)
    return challenge(
        401,
        keeper.metadata_url,
        error="invalid_token" if is_given else "",
        description="The token is not accepted here" if is_given else "A bearer token is needed",
        scopes=[Scope.READ],
    )


class ClientLeftError(Exception):
    """The client has closed the connection."""


class BodyTooLargeError(Exception):
    """A body is larger than any request may be."""


async def read_body(headers: Headers, receive: Receive) -> bytes:
    """Return a request's body.

    Raises:
        BodyTooLargeError: It is, or says it is, too large. ClientLeftError: In the middle of it.
    """
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        raise BodyTooLargeError
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientLeftError
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise BodyTooLargeError
        if not message.get("more_body", False):
            return bytes(body)


def _size_of(scope: Request) -> int:
    """Return how many bytes a request may hold in memory; 0 for a small one."""
    if scope["method"] != "POST":
        return 0  # no other method's body is kept
    declared = Headers(scope=scope).get("content-length", "")
    if not (declared.isascii() and declared.isdigit()):
        return MAX_BODY_BYTES  # it comes in chunks, and nobody knows
    size = int(declared)
    return 0 if size <= _SMALL_BYTES else min(size, MAX_BODY_BYTES)


def replaying(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives `body` first, and then whatever comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _requests(message: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the method and parameters of a request; of an answer, nothing."""
    if not isinstance(message, dict):
        return
    request = cast("dict[str, object]", message)
    method, params = request.get("method"), request.get("params")
    if isinstance(method, str):
        yield method, cast("dict[str, object]", params) if isinstance(params, dict) else {}
