"""A graph file as a list of lines that can be edited without touching what did not change."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.lines.write import COMPACT, Style, full_edge, full_node, render
from schemory.model.node import NodeRecord
from schemory.storage.jsonl.edits import EdgeEdit, Edits, NodeEdit
from schemory.storage.jsonl.line import NEWLINE, Line, Voice, read_line, style_on
from schemory.storage.jsonl.rewrite import LineEdits, rewrite_line

_K = TypeVar("_K")


class Document:
    """The lines of a graph file, found by the names and triples on them.

    Built by `schemory.storage.jsonl.reading`.

    Attributes:
        mark: The byte-order mark, which no line owns.
    """

    def __init__(self, lines: list[Line], mark: bytes) -> None:
        self._lines = lines
        self.mark = mark
        self._newline = _usual_line_end(lines)
        self._by_name: dict[str, list[Line]] = {}
        self._by_key: dict[EdgeKey, list[Line]] = {}
        for line in lines:
            self._enter(line)

    def __len__(self) -> int:
        return len(self._lines)

    def pieces(self) -> Iterator[bytes]:
        """Yield the file's bytes."""
        return chain((self.mark,), (line.raw for line in self._lines))

    @property
    def lines(self) -> Sequence[Line]:
        """The lines in order."""
        return self._lines

    @property
    def by_name(self) -> Mapping[str, Sequence[Line]]:
        """The lines of each node, by its name."""
        return self._by_name

    @property
    def by_key(self) -> Mapping[EdgeKey, Sequence[Line]]:
        """The lines of each edge, whether its ends exist or not."""
        return self._by_key

    @property
    def kept_texts(self) -> frozenset[str]:
        """The texts of all objects that are neither node nor edge."""
        return frozenset(text for line in self._lines for text in line.kept)

    def missing_names(self) -> frozenset[str]:
        """Return the ends of edges that no node of the file is."""
        ends = (end for key in self._by_key for end in key[:2])
        return frozenset(end for end in ends if end not in self._by_name)

    def has_oddities(self) -> bool:
        """Whether a person should be told something about the file."""
        if any(line.has_faults for line in self._lines) or self.missing_names():
            return True
        if any(len(lines) > 1 for lines in self._by_name.values()):
            return True
        return not self._by_name and bool(self._lines)

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
