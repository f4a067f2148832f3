"""A node larger than an answer may be: its lines in stretches, each with a cursor to the next.

graph.md §2: beyond the budget comes a page with `nextCursor`, and nothing is dropped silently. A
line that is too long by itself is cut between two characters, and goes on in the next stretch.
"""

from collections.abc import Sequence
from json.encoder import encode_basestring as quoted
from typing import Final

from schemory.model.frozen import dataclass, replace
from schemory.model.jsonvalue import Json
from schemory.model.node import Node, NodeRecord
from schemory.storage.protocols import Position
from schemory.tools.wire import COMMA_BYTES

MIN_ROOM: Final = 64
"""As many bytes of a line are shown whatever the budget, so that every stretch goes on."""

_MARK: Final = "line"


@dataclass(frozen=True, slots=True)
class Line:
    """Where in a node a stretch begins.

    Attributes:
        node_id: The node that was cut; another one in its place is shown from its beginning.
        revision: Of that node; once it is another, the node is shown from its beginning again.
        index: Of the line.
        char: What of that line has been shown before.
    """

    node_id: int
    revision: int
    index: int = 0
    char: int = 0

    def is_in(self, record: NodeRecord) -> bool:
        """Whether it is that node that was cut, and it has not changed since."""
        return (self.node_id, self.revision) == (record.id, record.revision)

    def position(self, after: Position | None) -> Position:
        """Return the position of a page that begins here; `after` is that of the node."""
        return (_MARK, self.node_id, self.revision, self.index, self.char, *(after or ()))


def beginning_of(record: NodeRecord) -> Line:
    """Return where a node begins."""
    return Line(record.id, record.revision)


def line_of(position: Position | None) -> tuple[Line | None, Position | None]:
    """Return where in a node a page begins, if in the middle of one, and the node's position."""
    match position:
        case ("line", int(node_id), int(revision), int(index), int(char), *rest):
            return Line(node_id, revision, index, char), tuple(rest) or None
        case _:
            return None, position


def lines_within(
    lines: Sequence[str], start: Line, room: int
) -> tuple[tuple[str, ...], Line | None]:
    """Return the lines from `start` that fit into `room` bytes of JSON, and where the next begin.

    >>> lines_within(["ab", "cdef", "g"], Line(7, 1, 0, 1), 70)
    (('b', 'cdef', 'g'), None)
    >>> lines_within(["x" * 60, "y" * 60], Line(7, 1), 70)[1]
    Line(node_id=7, revision=1, index=1, char=0)
    """
    room = max(room, MIN_ROOM)
    shown: list[str] = []
    for index in range(start.index, len(lines)):
        char = start.char if index == start.index else 0
        line = lines[index][char:]
        size = _bytes_of(line)
        if size > room:
            if shown:
                return tuple(shown), replace(start, index=index, char=0)
            part = _beginning(line, room)
            return (part,), replace(start, index=index, char=char + len(part))
        shown.append(line)
        room -= size
    return tuple(shown), None


def cut_wire(node: Node, start: Line, end: Line | None) -> dict[str, Json]:
    """Return what an answer says of the stretch it shows.

    Lines are counted from 0; the first goes on with one begun before where `continuesLine` says so,
    and the last one goes on in the next stretch where `lineContinues` does.
    """
    last = len(node.metadata) if end is None else end.index + (end.char > 0)
    told: dict[str, Json] = {
        "name": node.name,
        "fromLine": start.index,
        "toLine": last - 1,
        "lines": len(node.metadata),
    }
    if start.char:
        told["continuesLine"] = True
    if end is not None and end.char:
        told["lineContinues"] = True
    return told


def _bytes_of(line: str) -> int:
    return len(quoted(line).encode()) + COMMA_BYTES


def _beginning(line: str, room: int) -> str:
    """Return as much of a line as fits into `room` bytes, one character at least."""
    part = line[:room]
    while len(part) > 1 and (size := _bytes_of(part)) > room:
        part = part[: max(1, min(len(part) - 1, len(part) * room // size))]
    return part
