"""From an address to a page: every page there is, and what is shown where something is wrong."""

import traceback
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote

from schemory.errors import NodeNotFoundError, NotFoundError, SchemoryError, StoreError
from schemory.model.frozen import dataclass
from schemory.web.asked import Asked, parse_fields
from schemory.web.entries import entries
from schemory.web.entry import entry
from schemory.web.graph import graph
from schemory.web.health import health
from schemory.web.layout import Page, alert, frame, note
from schemory.web.node import node
from schemory.web.overview import overview
from schemory.web.schemas import schema, schemas
from schemory.web.shelf import Shelf

_View: TypeAlias = Callable[[Shelf, Asked], Page]

_VIEWS: Final[Mapping[str, _View]] = {
    "": overview,
    "entries": entries,
    "entry": entry,
    "graph": graph,
    "node": node,
    "schemas": schemas,
    "schema": schema,
    "health": health,
}
_FILES: Final[Mapping[str, str]] = {
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_STATIC: Final = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What goes back to the browser."""

    status: int
    content_type: str
    body: bytes


class Site:
    """Makes the pages.

    Args:
        shelf: What they are made from.
        base: What every address begins with: `/TOKEN/`.
    """

    def __init__(self, shelf: Shelf, base: str) -> None:
        self._shelf = shelf
        self._base = base

    def answer(self, target: str) -> Response:
        """Return what is at an address that begins with the base; never raises."""
        path, _, query = target.partition("?")
        page = unquote(path.removeprefix(self._base))
        if page in _FILES:
            return Response(status=200, content_type=_FILES[page], body=_file(page))
        asked = Asked(self._base, page, parse_fields(query))
        shown = self._page(asked)
        body = frame(shown, asked).encode("utf-8", "backslashreplace")
        return Response(status=shown.status, content_type="text/html; charset=utf-8", body=body)

    def _page(self, asked: Asked) -> Page:
        view = _VIEWS.get(asked.page)
        if view is None:
            return Page(title="Not found", content=(note("There is no such page."),), status=404)
        try:
            return view(self._shelf, asked)
        except SchemoryError as error:
            return _error_page(error)
        except Exception as fault:  # noqa: BLE001 (no traceback ever reaches a person)
            return _internal_page(fault)


def _error_page(error: SchemoryError) -> Page:
    is_missing = isinstance(error, NodeNotFoundError | NotFoundError)
    status = 404 if is_missing else 503 if isinstance(error, StoreError) else 400
    return Page(
        title="Not found" if is_missing else "This cannot be shown",
        content=(
            alert(error.message, kind="error"),
            (alert(problem.message, kind="error") for problem in error.problems[1:]),
            (note(suggestion) for suggestion in error.suggestions),
        ),
        status=status,
    )


def _internal_page(fault: Exception) -> Page:
    frame_of_fault = traceback.extract_tb(fault.__traceback__)[-1]
    place = f"{Path(frame_of_fault.filename).name}:{frame_of_fault.lineno}"
    told = f"Internal error: {type(fault).__name__} at {place}; please report it."
    return Page(title="Internal error", content=(alert(told, kind="error"),), status=500)


@cache
def _file(name: str) -> bytes:
    return (_STATIC / name).read_bytes()
