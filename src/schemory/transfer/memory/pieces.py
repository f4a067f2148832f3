"""The text of an export, piece by piece: an envelope, its arrays, or a line per entry."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from schemory.model.entry import Entry
from schemory.model.jsonvalue import Json, compact
from schemory.transfer.memory.walk import MemoryWalk
from schemory.transfer.memory.wire import (
    entry_text,
    entry_wire,
    head_wire,
    line_head_wire,
    link_wire,
    outgoing_wire,
    tag_wire,
)

_T = TypeVar("_T")


def envelope(walk: MemoryWalk, exported_at: str) -> Iterator[str]:
    """Yield one JSON object, an entry, tag or link a line."""
    yield "{\n"
    for key, value in head_wire(exported_at, walk.project).items():
        yield f"{compact(key)}: {compact(value)},\n"
    yield '"entries": '
    yield from entry_array(walk)
    yield ',\n"tags": '
    yield from tag_array(walk)
    yield ',\n"links": '
    yield from link_array(walk)
    yield "\n}\n"


def entry_array(walk: MemoryWalk) -> Iterator[str]:
    """Yield a JSON array of the entries."""
    return _array((entry for page in walk.pages() for entry in page), entry_text)


def tag_array(walk: MemoryWalk) -> Iterator[str]:
    """Yield a JSON array of the tags."""
    return _array(walk.tags(), lambda tag: compact(tag_wire(tag)))


def link_array(walk: MemoryWalk) -> Iterator[str]:
    """Yield a JSON array of the links."""
    return _array(walk.links(), lambda link: compact(link_wire(link)))


def lines(walk: MemoryWalk) -> Iterator[str]:
    """Yield JSON Lines: what the file is, tags by name, then entries by id with their links."""
    yield compact(line_head_wire(walk.project)) + "\n"
    for tag in walk.tags():
        told = tag_wire(tag)
        yield compact({"tag": told.pop("name"), **told}) + "\n"
    for page in walk.pages():
        links = walk.outgoing(page)
        for entry in page:
            outgoing = [outgoing_wire(link) for link in links.get(entry.id, ())]
            yield _line(entry, outgoing)


def _line(entry: Entry, links: list[dict[str, Json]]) -> str:
    return compact({**entry_wire(entry), "links": links}) + "\n"


def _array(items: Iterable[_T], text: Callable[[_T], str]) -> Iterator[str]:
    before = "[\n"
    for item in items:
        yield before + text(item)
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"
