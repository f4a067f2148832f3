"""Serving one client on standard input and output, from the first line on stderr to the last."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

import anyio

import schemory
from schemory.app import App, open_app
from schemory.config import Settings
from schemory.errors import UsageError
from schemory.server.lane import Lane, post
from schemory.server.logs import configure_logging, log_internal_error
from schemory.server.pipes import open_pipes
from schemory.server.sdk import ToolServer

_LAST_CALL_SECONDS = 5.0
_MAX_WARNINGS = 20
_EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 0}


def serve_stdio(settings: Settings) -> int:
    """Serve until the client leaves or a signal comes; return the exit code.

    Raises:
        SchemoryError: The store or a setting cannot be used; nothing was served.
    """
    # Before any file is opened: it would get the number of a descriptor that is closed.
    if not _has_pipes():
        raise UsageError("serving needs an open standard input and output")
    configure_logging(debug=settings.debug)
    app = open_app(settings, on_internal_error=log_internal_error)
    for line in start_lines(app):
        sys.stderr.write(line + "\n")
    if sys.stdin.isatty():
        sys.stderr.write("schemory: waiting for an MCP client on standard input; Ctrl-C ends\n")
    sys.stderr.flush()
    lane = Lane("schemory-tools")
    with _watching(app):
        code = asyncio.run(_serve(app, lane))
    if not lane.close(_LAST_CALL_SECONDS):
        # A call that does not end is left behind; the store survives a process that ends in the
        # middle of a transaction. Nothing of Python may run on while the call still does.
        sys.stderr.flush()
        os._exit(code)
    app.close()
    return code


def _has_pipes() -> bool:
    # Python has None where the process was started with a closed descriptor; its types do not say.
    streams: tuple[object, ...] = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream is not None for stream in streams)


def start_lines(app: App) -> Iterator[str]:
    """Yield what is said at the start: one line of facts, then warnings."""
    settings = app.settings
    price = app.toolbox.price()
    yield (
        f"schemory {schemory.__version__}: store {settings.store_location}"
        f" ({settings.store_source}), project {settings.space} ({settings.space_source}),"
        f" {price.tools} tools, about {price.tokens:,} tokens"
    )
    warnings = list(app.warnings())
    for warning in warnings[:_MAX_WARNINGS]:
        yield f"schemory warning: {warning}"
    if len(warnings) > _MAX_WARNINGS:
        more = len(warnings) - _MAX_WARNINGS
        yield f"schemory warning: {more} more; `schemory status` lists them all"
    for problem in app.toolbox.faults():
        yield f"schemory warning: no tool for {problem.path}: {problem.message}"
    if price.is_high:
        yield "schemory warning: hosts choose worse among so many tools; `--tools auto` lists fewer"


async def _serve(app: App, lane: Lane) -> int:
    loop = asyncio.get_running_loop()
    server = ToolServer(app.toolbox, lane, transport="stdio")
    stop_announcing = server.announce_changes(loop)
    codes: list[int] = []
    async with anyio.create_task_group() as tasks:

        def stop(number: int) -> None:
            codes.append(_EXIT_CODES[signal.Signals(number)])
            tasks.cancel_scope.cancel()

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
        for number in _EXIT_CODES
    }
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


@contextmanager
def _watching(app: App) -> Generator[None]:
    """Reload schemas while they change on disk."""
    folders = app.settings.schema_folders
    if not folders:
        yield
        return
    from schemory.schemas.watch import watch  # noqa: PLC0415 (heavy, only for folders)

    stop = threading.Event()
    thread = threading.Thread(
        target=watch, args=(app.catalog, folders, stop), name="schemory-schemas", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
