"""The MCP SDK's server on standard input and output, in an event loop of its own."""

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio

from schemory.server.extras import Extras
from schemory.server.lane import Lanes, post
from schemory.server.pipes import open_pipes
from schemory.server.sdk import ToolServer
from schemory.server.wire import EXIT_CODES
from schemory.tools.toolbox import Toolbox


def serve_pipes(toolbox: Toolbox, lanes: Lanes, extras: Extras | None = None) -> int:
    """Serve the client on standard input and output until it leaves or a signal comes.

    Returns:
        The exit code.
    """
    return asyncio.run(_serve(toolbox, lanes, extras))


async def _serve(toolbox: Toolbox, lanes: Lanes, extras: Extras | None) -> int:
    loop = asyncio.get_running_loop()
    server = ToolServer(
        toolbox, lanes.short, transport="stdio", extras=extras, long_lane=lanes.long
    )
    stop_announcing = server.announce_changes(loop)
    codes: list[int] = []
    async with anyio.create_task_group() as tasks:

        def stop(number: int) -> None:
            codes.append(EXIT_CODES[signal.Signals(number)])
            tasks.cancel_scope.cancel()

        tasks.start_soon(server.watch)
        with _signals(loop, stop):
            async with open_pipes() as (incoming, outgoing):
                await server.sdk.run(incoming, outgoing, server.initialization_options())
            tasks.cancel_scope.cancel()
    stop_announcing()
    return codes[0] if codes else 0


@contextmanager
def _signals(loop: asyncio.AbstractEventLoop, stop: Callable[[int], None]) -> Generator[None]:
    """Have `stop` called in the loop when the process is asked to end."""
    earlier = {
        number: signal.signal(number, lambda given, _frame: post(loop, stop, given))
        for number in EXIT_CODES
    }
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
