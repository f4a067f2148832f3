"""A graph file as a list of lines that can be edited without touching what did not change."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeVar

from schemory.errors import StoreCorruptError
from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.lines.records import EdgeLine, Fault, NodeLine
from schemory.model.lines.scan import Scanner
from schemory.model.lines.write import COMPACT, Style, full_edge, full_node, render
from schemory.model.node import NodeRecord
from schemory.storage.jsonl.edits import EdgeEdit, Edits, NodeEdit
from schemory.storage.jsonl.line import NEWLINE, Line, Reading, Voice, read_line, style_on
from schemory.storage.jsonl.rewrite import LineEdits, rewrite_line

_K = TypeVar("_K")
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


class Document:
    """The lines of a graph file, found by the names and triples on them.

    Built by `read_document`.
    """

    def __init__(self, lines: list[Line], mark: bytes) -> None:
        self._lines = lines
        self._mark = mark  # the byte-order mark, which no line owns
        self._newline = _usual_line_end(lines)
        self._by_name: dict[str, list[Line]] = {}
        self._by_key: dict[EdgeKey, list[Line]] = {}
        for line in lines:
            self._enter(line)

    def __len__(self) -> int:
        return len(self._lines)

    def pieces(self) -> Iterator[bytes]:
        """Yield the file's bytes."""
        return chain((self._mark,), (line.raw for line in self._lines))

    @property
    def edge_keys(self) -> Iterable[EdgeKey]:
        """The triples of all edges, whether their ends exist or not."""
        return self._by_key.keys()

    @property
    def kept_texts(self) -> frozenset[str]:
        """The texts of all objects that are neither node nor edge."""
        return frozenset(text for line in self._lines for text in line.kept)

    def apply(self, edits: Edits) -> None:
        """Carry out `edits`; lines that they don't concern stay as they are."""
        by_line, fresh_nodes, fresh_edges = self._assign(edits)
        if by_line:
            self._rewrite(by_line)
        if fresh_nodes or fresh_edges:
            self._insert(fresh_nodes, fresh_edges)
        for text in edits.kept:
            self._append(Line(text.encode() + self._newline, kept=(text,)))

    def _assign(
        self, edits: Edits
    ) -> tuple[dict[Line, LineEdits], list[NodeRecord], list[EdgeRecord]]:
        """Return what happens to which line, and what has no line yet."""
        by_line: dict[Line, LineEdits] = {}
        fresh_nodes = [n for edit in edits.nodes if (n := self._assign_node(edit, by_line))]
        fresh_edges = [e for edit in edits.edges if (e := self._assign_edge(edit, by_line))]
        if edits.dropped:
            for line in self._lines:
                if not edits.dropped.isdisjoint(line.kept):
                    by_line.setdefault(line, LineEdits()).dropped = edits.dropped
        return by_line, fresh_nodes, fresh_edges

    def _assign_node(self, edit: NodeEdit, by_line: dict[Line, LineEdits]) -> NodeRecord | None:
        """Give a node to its first line and take it from the others; returns it if it has none."""
        new = edit.new
        lines = self._by_name.get(edit.old, ()) if edit.old is not None else ()
        for line in lines:
            by_line.setdefault(line, LineEdits()).nodes[edit.old or ""] = new
            new = None
        return new

    def _assign_edge(self, edit: EdgeEdit, by_line: dict[Line, LineEdits]) -> EdgeRecord | None:
        new = edit.new
        # A new edge may wait in the file already: its line had an end that did not exist.
        old = edit.old if edit.old is not None else new.key if new else None
        lines = self._by_key.get(old, ()) if old is not None else ()
        for line in lines:
            by_line.setdefault(line, LineEdits()).edges[old or EdgeKey("", "", "")] = new
            new = None
        return new

    def _rewrite(self, by_line: Mapping[Line, LineEdits]) -> None:
        lines: list[Line] = []
        for line in self._lines:
            edits = by_line.get(line)
            if edits is None:
                lines.append(line)
                continue
            self._forget(line)
            for raw in rewrite_line(line.raw, edits, self._newline):
                lines.append(read_line(raw, 0).line)
                self._enter(lines[-1])
        self._lines = lines

    def _insert(self, nodes: Sequence[NodeRecord], edges: Sequence[EdgeRecord]) -> None:
        """Put new nodes after the last node, new edges after the last edge."""
        last_edge = self._last_with("edges")
        last_node = self._last_with("nodes")
        after_nodes = len(self._lines) if last_node is None else last_node + 1
        if last_node is None and last_edge is not None:
            after_nodes = self._first_with("edges")
        after_edges = after_nodes + len(nodes)
        if last_edge is not None and last_edge >= after_nodes:
            after_edges = last_edge + len(nodes) + 1
        voice = self._usual_voice()
        node_style = self._style_at(last_node if last_node is not None else last_edge)
        edge_style = self._style_at(last_edge if last_edge is not None else last_node)
        self._insert_at(after_nodes, [self._node_line(n, voice, node_style) for n in nodes])
        self._insert_at(after_edges, [self._edge_line(e, voice, edge_style) for e in edges])

    def _usual_voice(self) -> Voice:
        """Return how most nodes and edges of the file speak; the seed's way where there is none."""
        heard = Counter(line.voice for line in self._lines if line.voice is not None)
        return heard.most_common(1)[0][0] if heard else Voice()

    def _style_at(self, at: int | None) -> Style:
        return COMPACT if at is None else style_on(self._lines[at].raw)

    def _last_with(self, kind: str) -> int | None:
        backwards = range(len(self._lines) - 1, -1, -1)
        return next((at for at in backwards if getattr(self._lines[at], kind)), None)

    def _first_with(self, kind: str) -> int:
        return next(at for at, line in enumerate(self._lines) if getattr(line, kind))

    def _insert_at(self, at: int, lines: Sequence[Line]) -> None:
        if not lines:
            return
        if at:
            self._end_line(self._lines[at - 1])
        self._lines[at:at] = lines
        for line in lines:
            self._enter(line)

    def _append(self, line: Line) -> None:
        self._insert_at(len(self._lines), [line])

    def _end_line(self, line: Line) -> None:
        if not line.raw.endswith(b"\n"):
            line.raw += self._newline

    def _node_line(self, record: NodeRecord, voice: Voice, style: Style) -> Line:
        text = render(voice.spoken(full_node(record, voice.dialect)), style)
        return Line(text.encode() + self._newline, nodes=(record.name,), voice=voice)

    def _edge_line(self, record: EdgeRecord, voice: Voice, style: Style) -> Line:
        text = render(voice.spoken(full_edge(record, voice.dialect)), style)
        return Line(text.encode() + self._newline, edges=(record.key,), voice=voice)

    def _enter(self, line: Line) -> None:
        for name in dict.fromkeys(line.nodes):
            self._by_name.setdefault(name, []).append(line)
        for key in dict.fromkeys(line.edges):
            self._by_key.setdefault(key, []).append(line)

    def _forget(self, line: Line) -> None:
        for name in dict.fromkeys(line.nodes):
            _take_out(self._by_name, name, line)
        for key in dict.fromkeys(line.edges):
            _take_out(self._by_key, key, line)


def _take_out(index: dict[_K, list[Line]], key: _K, line: Line) -> None:
    lines = [other for other in index[key] if other is not line]
    if lines:
        index[key] = lines
    else:
        del index[key]


def _usual_line_end(lines: Iterable[Line]) -> bytes:
    """Return the line end that most lines have."""
    windows, total = 0, 0
    for line in lines:
        total += 1
        windows += line.raw.endswith(b"\r\n")
    return b"\r\n" if windows * 2 > total else NEWLINE


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
