"""Serving one client on standard input and output, from the first line on stderr to the last."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

import schemory
from schemory.app import App, open_app
from schemory.config import Settings
from schemory.errors import UsageError
from schemory.hints import TYPE_CHECKING
from schemory.server.extras import Extras
from schemory.server.failing import log_internal_error, prepare_log
from schemory.server.lane import Lanes

if TYPE_CHECKING:
    from schemory.tools.toolbox import Toolbox

_LAST_CALL_SECONDS = 5.0
_MAX_WARNINGS = 20
_SETTLE_SECONDS = 1.0
"""How long a start-up is left alone before schema folders are watched."""


def serve_stdio(settings: Settings) -> int:
    """Serve until the client leaves or a signal comes; return the exit code.

    Raises:
        SchemoryError: The store or a setting cannot be used; nothing was served.
    """
    # Before any file is opened: it would get the number of a descriptor that is closed.
    if not _has_pipes():
        raise UsageError("serving needs an open standard input and output")
    if settings.debug or settings.use_sdk:  # the SDK logs from the beginning
        prepare_log(debug=settings.debug)
    with _without_collector():
        app = open_app(settings, on_internal_error=log_internal_error)
        app.makes_vectors = True
        for line in start_lines(app):
            sys.stderr.write(line + "\n")
        if sys.stdin.isatty():
            sys.stderr.write("schemory: waiting for an MCP client on standard input; Ctrl-C ends\n")
        sys.stderr.flush()
        serve_pipes = _adapter(settings)
    lanes = Lanes("schemory-tools", prepare=prepare_log)
    extras = Extras(lambda: app.resources, has_prompts="memory" in settings.toolsets)
    with watching_schemas(app):
        code = serve_pipes(app.toolbox, lanes, extras)
    if not lanes.close(_LAST_CALL_SECONDS):
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


@contextmanager
def _without_collector() -> Generator[None]:
    """Look for no garbage while starting: everything that is made then stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _adapter(settings: Settings) -> Callable[[Toolbox, Lanes, Extras], int]:
    """Return the adapter that was chosen; the SDK is imported for its own alone."""
    if settings.use_sdk:
        from schemory.server.sdk_stdio import serve_pipes  # noqa: PLC0415 (imports the MCP SDK)
    else:
        from schemory.server.stdio import serve_pipes  # noqa: PLC0415 (the other is not needed)
    return serve_pipes


@contextmanager
def watching_schemas(app: App) -> Generator[None]:
    """Reload schemas while they change on disk."""
    folders = app.settings.schema_folders
    if not folders:
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(target=_watch, args=(app, stop), name="schemory-schemas", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()


def _watch(app: App, stop: threading.Event) -> None:
    if stop.wait(_SETTLE_SECONDS):
        return
    prepare_log()
    from pathlib import Path  # noqa: PLC0415 (in the thread: nobody waits for it)

    from schemory.schemas.watch import watch  # noqa: PLC0415 (in the thread: nobody waits for it)

    # The watching library brings an event loop along, which the fast adapter does without.
    watch(
        app.catalog,
        [Path(folder) for folder in app.settings.schema_folders],
        stop,
        settle_seconds=0,
        is_polling=not app.settings.use_sdk,
    )
