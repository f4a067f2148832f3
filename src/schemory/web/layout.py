"""The frame of every page, and the parts that pages are made of."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import schemory
from schemory.model.frozen import dataclass
from schemory.storage.protocols import Position
from schemory.web.asked import Asked
from schemory.web.markup import Child, Element, el, render

_PAGES: Final = (
    ("", "Overview"),
    ("entries", "Entries"),
    ("graph", "Graph"),
    ("schemas", "Schemas"),
    ("health", "Health"),
)
_BELONGS: Final = {"entry": "entries", "node": "graph", "schema": "schemas"}
"""Pages of one thing, and the listing they belong to."""

_MATCH: Final = re.compile(">>>(.*?)<<<", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page without its frame."""

    title: str
    content: tuple[Child, ...]
    status: int = 200


def frame(page: Page, asked: Asked) -> str:
    """Return the whole HTML document."""
    here = _BELONGS.get(asked.page, asked.page)
    links = (
        el(
            "a",
            title,
            href=asked.to(name),
            aria_current="page" if name == here else None,
        )
        for name, title in _PAGES
    )
    document = el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("title", f"{page.title} · Schemory"),
            el("link", rel="stylesheet", href=asked.to("style.css")),
            el("link", rel="icon", href=asked.to("icon.svg"), type="image/svg+xml"),
        ),
        el(
            "body",
            el("a", "Skip to the content", class_="skip", href="#content"),
            el("header", el("span", "Schemory", class_="brand"), el("nav", links)),
            el("main", el("h1", page.title), page.content, id="content", tabindex="-1"),
            el(
                "footer",
                f"Schemory {schemory.__version__}. This viewer only reads: nothing can be changed "
                "here, and nobody but you has its address.",
            ),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{render(document)}\n"


def when(text: str) -> Element | str:
    """Return a stored time as the clock on the wall shows it."""
    try:
        local = datetime.fromisoformat(text).astimezone()
    except ValueError:
        return text
    return el("time", local.strftime("%Y-%m-%d %H:%M"), datetime=text)


def facts(rows: Iterable[tuple[str, Child]]) -> Element:
    """Return names with values; those without a value are left out."""
    given = ((name, value) for name, value in rows if value not in (None, "", ()))
    return el("dl", (el("div", el("dt", name), el("dd", value)) for name, value in given))


def table(heads: Sequence[str], rows: Iterable[Sequence[Child]], *, label: str) -> Element:
    """Return a table that scrolls by itself where it is too wide for the screen."""
    body = [
        el("tr", (el("td", cell, data_head=head) for head, cell in zip(heads, row, strict=True)))
        for row in rows
    ]
    head = el("thead", el("tr", (el("th", each, scope="col") for each in heads)))
    return el("table", head, el("tbody", body), aria_label=label)


def note(*children: Child) -> Element:
    """Return a quiet remark."""
    return el("p", children, class_="note")


def alert(*children: Child, kind: str = "warning") -> Element:
    """Return a remark that must be seen: `warning` or `error`."""
    return el("p", children, class_=f"alert {kind}", role="note")


def badge(text: str) -> Element:
    """Return a small label, coloured where the style knows its word."""
    word = re.sub(r"[^a-z]", "-", text.lower())
    return el("span", text, class_=f"badge {word}")


def marked(snippet: str) -> Iterator[Child]:
    """Yield a snippet with the places that matched marked."""
    end = 0
    for found in _MATCH.finditer(snippet):
        yield snippet[end : found.start()]
        yield el("mark", found[1])
        end = found.end()
    yield snippet[end:]


def pager(asked: Asked, more: Position | None) -> Element | None:
    """Return the links to the first and the next page, None where this is all."""
    is_first = not asked.text("after")
    if more is None and is_first:
        return None
    back = None if is_first else el("a", "First page", href=asked.first())
    onwards = None if more is None else el("a", "Next page", href=asked.onwards(more), rel="next")
    return el("nav", back, onwards, class_="pager", aria_label="Pages")


def choice(
    name: str, label: str, options: Mapping[str, str], chosen: str, *, empty: str | None = None
) -> Element:
    """Return a labelled list to choose from: value to title; `empty` is the title of no choice."""
    listed = {} if empty is None else {"": empty}
    listed |= options
    if chosen not in listed:
        listed[chosen] = chosen
    return el(
        "label",
        el("span", label),
        el(
            "select",
            (el("option", t, value=v, selected=v == chosen) for v, t in listed.items()),
            name=name,
        ),
    )


def search_form(asked: Asked, query: str, *fields: Child, hint: str) -> Element:
    """Return the form of a listing: a search field, filters, a button; it only asks again."""
    box = el(
        "label",
        el("span", "Search"),
        el("input", type="search", name="q", value=query, placeholder=hint, autocomplete="off"),
        class_="wide",
    )
    button = el("button", "Show", type="submit")
    return el("form", box, fields, button, method="get", action=asked.to(asked.page), role="search")
