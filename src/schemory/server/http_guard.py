"""The outermost wall: only known host names and web origins come in, whatever the path.

A page in a browser can be made to call a server on this machine under a name of its own (DNS
rebinding); the name it then sends gives it away. Source: surfaces.md (MCP server, HTTP).
"""

from collections.abc import Callable, Iterable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemory.config.http import HttpSettings
from schemory.server.http_answers import plain

PROBES: Final = frozenset({"/healthz", "/readyz"})
"""Called by balancers under whatever name; they tell nothing but yes or no."""

_ALLOWED_HEADERS: Final = (
    "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, last-event-id, "
    "mcp-method, mcp-name"
)


class Guard:
    """Refuses requests under foreign names and from foreign pages; answers allowed preflights."""

    def __init__(
        self, app: ASGIApp, settings: HttpSettings, refused: Callable[[str], None]
    ) -> None:
        self._app = app
        self._refused = refused
        self._hosts = settings.hosts
        self._origins = settings.origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin", "")
        answer = self._refusal(headers, origin)
        if answer is None and origin and scope["method"] == "OPTIONS":
            answer = _preflight()
        told = _with_origin(send, origin) if origin and _fits(origin, self._origins) else send
        await (answer or self._app)(scope, receive, told)

    def _refusal(self, headers: Headers, origin: str) -> Response | None:
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy before this server could see another end of the request, and so another next.
            self._refused("framing")
            return plain(400, "A request has one way to tell its length.", {"Connection": "close"})
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not _fits(hosts[0], self._hosts):
            self._refused("host")
            return plain(421, "This server is not known by that host name.")
        if origin and not _fits(origin, self._origins):
            self._refused("origin")
            return plain(403, "Pages of that origin may not call this server.")
        return None


def _fits(name: str, allowed: Iterable[str]) -> bool:
    """Return whether a host or origin is one of `allowed`; those without a port fit at any."""
    given = name.lower()
    before, colon, port = given.rpartition(":")
    bare = before if colon and port.isascii() and port.isdigit() else given
    return any(each in {given, bare} for each in allowed)


def _preflight() -> Response:
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Methods": "GET, POST, DELETE",
            "Access-Control-Allow-Headers": _ALLOWED_HEADERS,
            "Access-Control-Max-Age": "600",
        },
    )


def _with_origin(send: Send, origin: str) -> Send:
    """Return `send` that tells the browser that this origin may read the answer."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = "mcp-session-id, www-authenticate"
            headers.append("Vary", "Origin")
        await send(message)

    return told
