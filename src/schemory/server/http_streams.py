"""Streams on which clients wait for news: they end with the server, or with their token."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemory.server.http_gate import MESSAGE

CHECK_SECONDS: Final = 10.0
"""How often it is looked whether the token of a waiting stream still counts."""

_GONE: Final[Message] = {"type": "http.disconnect"}


class Streams:
    """Knows whether the server is ending, and lets waiting streams know.

    Args:
        is_admitted: Returns whether a request's token still counts.
    """

    def __init__(self, is_admitted: Callable[[Scope], Awaitable[bool]]) -> None:
        self._ending = asyncio.Event()
        self._is_admitted = is_admitted

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
        ends = self._ending if scope["method"] == "GET" else asyncio.Event()

        async def wait() -> Message:
            coming = asyncio.ensure_future(receive())
            ending = asyncio.ensure_future(ends.wait())
            try:
                while True:
                    done, _ = await asyncio.wait(
                        {coming, ending}, timeout=CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                    if coming in done:
                        return coming.result()
                    if ending in done or not await self._is_admitted(scope):
                        return _GONE
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
