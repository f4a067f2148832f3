"""Streams on which clients wait for news: they end with the server, or with their token."""

import asyncio
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemory.server.http_gate import MESSAGE, PRINCIPAL
from schemory.server.principals import Principal

_GONE: Final[Message] = {"type": "http.disconnect"}


class Streams:
    """Knows whether the server is ending, and lets waiting streams know."""

    def __init__(self) -> None:
        self._ending = asyncio.Event()

    @property
    def is_ending(self) -> bool:
        """Whether the server has been told to end."""
        return self._ending.is_set()

    def end(self) -> None:
        """Let every stream that waits for news end now."""
        self._ending.set()

    def ending_with_the_server(self, app: ASGIApp) -> ASGIApp:
        """Return `app` whose waiting streams end when their token does, and GETs with the server.

        The newest era's streams are told of the server's end by their own last message.
        """

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["method"] == "GET" or _is_listening(scope.get(MESSAGE)):
                await _whole(app, scope, self._until_the_end(scope, receive), send)
            else:
                await app(scope, receive, send)

        return serve

    def _until_the_end(self, scope: Scope, receive: Receive) -> Receive:
        principal: Principal | None = scope.get(PRINCIPAL)
        expires = principal.expires_at if principal else None
        ends = self._ending if scope["method"] == "GET" else asyncio.Event()

        async def wait() -> Message:
            left = None if expires is None else max(0.0, expires - time.time())
            coming = asyncio.ensure_future(receive())
            ending = asyncio.ensure_future(ends.wait())
            try:
                done, _ = await asyncio.wait(
                    {coming, ending}, timeout=left, return_when=asyncio.FIRST_COMPLETED
                )
                return coming.result() if coming in done else _GONE
            finally:
                coming.cancel()
                ending.cancel()

        return wait


async def _whole(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Run `app`, and end its answer where it stopped in the middle of a stream."""
    is_open = False

    async def noted(message: Message) -> None:
        nonlocal is_open
        is_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
        await send(message)

    await app(scope, receive, noted)
    if is_open:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _is_listening(message: object) -> bool:
    return isinstance(message, dict) and "subscriptions/listen" in message.values()
