"""The MCP server over streamable HTTP: the application that a web server runs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from schemory.server.sdk import ToolServer

ENDPOINT = "/mcp"


def build_asgi(server: ToolServer) -> Starlette:
    """Return the application that serves both protocol eras at `/mcp`."""
    manager = StreamableHTTPSessionManager(server.sdk)

    @asynccontextmanager
    async def run(app: Starlette) -> AsyncGenerator[None]:
        del app
        stop_announcing = server.announce_changes(asyncio.get_running_loop())
        watching = asyncio.ensure_future(server.watch())
        try:
            async with manager.run():
                yield
        finally:
            watching.cancel()
            stop_announcing()

    return Starlette(
        routes=[Route(ENDPOINT, endpoint=StreamableHTTPASGIApp(manager))], lifespan=run
    )
