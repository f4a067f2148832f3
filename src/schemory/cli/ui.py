"""`ui`: look at memory and graph in the browser; nothing can be changed there."""

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from schemory.cli.command import OK, Command, Request
from schemory.errors import StoreError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from schemory.app import App
    from schemory.web.shelf import Shelf

_MOST_PORT: Final = 65_535
_TOKEN_BYTES: Final = 24


def _configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--port", type=int, default=0, metavar="N", help="where to listen (default any free port)")
    add("--open", action="store_true", help="open the page in your browser")


def _run(request: Request) -> int:
    if not 0 <= request.args.port <= _MOST_PORT:
        raise UsageError(f"--port is a number from 0 to {_MOST_PORT}")
    _check_there_is_a_store(request)
    with request.app() as app:
        return _serve(request, _shelf(request, app))


def _check_there_is_a_store(request: Request) -> None:
    """Refuse to look at nothing: opening would make an empty store."""
    from pathlib import Path  # noqa: PLC0415 (help needs none)

    settings = request.settings()
    if settings.graph_file is None and settings.database == ":memory:":
        raise UnsupportedError(
            "A store in memory is empty: there is nothing to look at.",
            suggestions=["Name a file with --db or MEMORY_DB_PATH."],
        )
    place = settings.graph_file or settings.database
    if "://" not in str(place) and not Path(place).exists():
        raise StoreError(
            f"There is no store yet, so there is nothing to look at: {place}",
            suggestions=["`schemory add` keeps a first entry.", "Name another store with --db."],
        )


def _shelf(request: Request, app: "App") -> "Shelf":
    from schemory.cli.doctor import diagnose  # noqa: PLC0415 (help needs none)
    from schemory.cli.status import status_of  # noqa: PLC0415 (as above)
    from schemory.web.shelf import Shelf  # noqa: PLC0415 (as above)

    settings = request.settings()
    return Shelf(app=app, status=lambda: status_of(app), diagnose=lambda: diagnose(settings)[0])


def _serve(request: Request, shelf: "Shelf") -> int:
    import secrets  # noqa: PLC0415 (help needs none)
    import signal  # noqa: PLC0415 (as above)
    from contextlib import closing  # noqa: PLC0415 (as above)

    from schemory.web.serving import Viewer  # noqa: PLC0415 (as above)

    try:
        viewer = Viewer(shelf, token=secrets.token_urlsafe(_TOKEN_BYTES), port=request.args.port)
    except OSError as fault:
        raise UsageError(
            f"Port {request.args.port} cannot be used: {fault.strerror}",
            suggestions=["Leave --port out: a free one is found."],
        ) from None
    # Whoever ends a session ends it as a person does, so that nothing is left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    opened = _opened(viewer.address, is_wanted=request.args.open)
    with closing(viewer), opened:
        try:
            _tell(request, viewer.address)
            viewer.serve()
        except KeyboardInterrupt:  # the way to end it
            request.out.note("stopped")
    return OK


def _tell(request: Request, address: str) -> None:
    out = request.out
    if out.is_json:
        out.json({"url": address})
    else:
        out.line(address)
        out.note("Read-only; keep this address to yourself. Ctrl-C ends it.")
    out.stdout.flush()


@contextmanager
def _opened(address: str, *, is_wanted: bool) -> Generator[None]:
    """Open the address in the browser, through a private file that is removed at the end.

    The arguments of a process can be read by every user of the machine, and the address is a key.
    """
    if not is_wanted:
        yield
        return
    import tempfile  # noqa: PLC0415 (only where asked)
    import webbrowser  # noqa: PLC0415 (as above)
    from pathlib import Path  # noqa: PLC0415 (as above)

    with tempfile.NamedTemporaryFile(
        "w", prefix="schemory-", suffix=".html", delete=False, encoding="utf-8"
    ) as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><title>Schemory</title>'
            f'<meta http-equiv="refresh" content="0; url={address}">'
            f'<p><a href="{address}">Schemory</a></p>\n'
        )
    page = Path(file.name)
    try:
        webbrowser.open(page.as_uri())
        yield
    finally:
        page.unlink(missing_ok=True)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="ui",
        summary="look at memory, graph and schemas in the browser; nothing can be changed there",
        configure=_configure,
        run=_run,
        examples=("schemory ui", "schemory ui --open", "schemory ui --port 8050 --project ."),
    ),
)
