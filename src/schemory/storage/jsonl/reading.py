"""Read a graph file's bytes as a document: all of it, or only what differs from a known state."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from schemory.errors import StoreCorruptError
from schemory.model.edge import EdgeKey
from schemory.model.frozen import dataclass
from schemory.model.lines.records import EdgeLine, Fault, NodeLine
from schemory.model.lines.scan import Scanner
from schemory.storage.jsonl.document import Document
from schemory.storage.jsonl.line import Line, Reading, read_line

_BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a file says, line by line, when it is loaded.

    Attributes:
        nodes: By name, each with all its records in order.
        edges: By triple; the first of equal ones.
        kept: Texts of objects that are neither, in order.
        faults: What cannot be used and stays in the file as it is.
    """

    nodes: Mapping[str, Sequence[NodeLine]]
    edges: Mapping[EdgeKey, EdgeLine]
    kept: Sequence[str]
    faults: Sequence[Fault]


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a graph that a change of its file concerns."""

    names: frozenset[str]
    keys: frozenset[EdgeKey]


def read_document(data: bytes, location: str) -> tuple[Document, Contents]:
    """Return the lines of a graph file and what they say.

    Raises:
        StoreCorruptError: Adding lines would spoil the file: it is an array, one JSON object over
            several lines, UTF-16, or has nothing to do with JSON.
    """
    if data.startswith(_UTF16):
        raise _no_lines(location, "is UTF-16 text")
    mark = _BOM if data.startswith(_BOM) else b""
    readings = [read_line(raw, at) for at, raw in enumerate(_split(data[len(mark) :]), start=1)]
    has_graph = any(reading.nodes or reading.edges for reading in readings)
    if any(r.is_document for r in readings) or (not has_graph and _spans_lines(data)):
        raise _no_lines(location, "is one JSON document, not one record per line")
    has_objects = has_graph or any(reading.line.raw.lstrip()[:1] == b"{" for reading in readings)
    if not has_objects and any(reading.faults for reading in readings):
        raise _no_lines(location, "holds no JSON objects")
    return Document([reading.line for reading in readings], mark), _contents(readings)


def _split(data: bytes) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [*(line + b"\n" for line in whole), *([rest] if rest else [])]


def _spans_lines(data: bytes) -> bool:
    scanner = Scanner(data)
    for _ in scanner:
        if scanner.continued:
            return True
    return scanner.continued > 0


def _no_lines(location: str, what: str) -> StoreCorruptError:
    return StoreCorruptError(
        f"{location} {what}, so it cannot be used as a graph file; it was not touched",
        suggestions=[
            f"Import it instead: schemory import-graph {location}",
            "Then schemory export-graph FILE writes a graph file with one record per line.",
        ],
    )


def reread_document(known: Document, data: bytes) -> tuple[Document, Contents, Scope] | None:
    """Return the document again, and what of it differs from `known`; unchanged lines cost little.

    Returns:
        The contents of the scope only; None when the file has to be read as a whole.
    """
    mark = _BOM if data.startswith(_BOM) else b""
    waiting: dict[bytes, list[Line]] = {}
    for line in known.lines:
        waiting.setdefault(line.raw, []).append(line)
    lines: list[Line] = []
    fresh: list[Line] = []
    for at, raw in enumerate(_split(data[len(mark) :]), start=1):
        same = waiting.get(raw)
        if same:
            lines.append(same.pop())
            continue
        reading = read_line(raw, at)
        if reading.is_document:
            return None
        lines.append(reading.line)
        fresh.append(reading.line)
    new = Document(lines, mark)
    if data.startswith(_UTF16) or not (new.by_name or new.by_key):
        return None
    gone = (line for left in waiting.values() for line in left)
    scope = _scope(known, new, [*fresh, *gone])
    kept = dict.fromkeys(text for line in fresh for text in line.kept)
    return new, _scoped_contents(new, scope, list(kept)), scope


def _scope(old: Document, new: Document, changed: Iterable[Line]) -> Scope:
    """Return what `changed` lines and their neighbourhood speak of."""
    names: set[str] = set()
    keys: set[EdgeKey] = set()
    for line in changed:
        names.update(line.nodes)
        keys.update(line.edges)
    # An edge comes alive or starts to wait when one of its ends comes or goes.
    flipped = {name for name in names if (name in old.by_name) != (name in new.by_name)}
    if flipped:
        keys.update(key for key in new.by_key if not flipped.isdisjoint(key[:2]))
    # The order of lines counts only where a name has several.
    names.update(name for name, lines in new.by_name.items() if len(lines) > 1)
    return Scope(frozenset(names), frozenset(keys))


def _scoped_contents(document: Document, scope: Scope, kept: Sequence[str]) -> Contents:
    wanted = {line for name in scope.names for line in document.by_name.get(name, ())}
    wanted.update(line for key in scope.keys for line in document.by_key.get(key, ()))
    whole = _contents([read_line(line.raw, 0) for line in document.lines if line in wanted])
    return Contents(
        nodes={name: found for name, found in whole.nodes.items() if name in scope.names},
        edges={key: found for key, found in whole.edges.items() if key in scope.keys},
        kept=kept,
        faults=(),
    )


def _contents(readings: Sequence[Reading]) -> Contents:
    nodes: dict[str, list[NodeLine]] = {}
    edges: dict[EdgeKey, EdgeLine] = {}
    for reading in readings:
        for node in reading.nodes:
            nodes.setdefault(node.node.name, []).append(node)
        for edge in reading.edges:
            edges.setdefault(edge.edge.key, edge)
    kept = dict.fromkeys(text for reading in readings for text in reading.line.kept)
    faults = [fault for reading in readings for fault in reading.faults]
    return Contents(nodes=nodes, edges=edges, kept=list(kept), faults=faults)
