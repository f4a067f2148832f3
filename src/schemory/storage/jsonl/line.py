"""One physical line of a graph file: its bytes, and what is known of what it says."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from schemory.model.edge import EdgeKey
from schemory.model.frozen import dataclass, replace
from schemory.model.jsonvalue import Json
from schemory.model.lines.read import (
    dialect_of,
    is_container,
    kind_key_of,
    kind_of,
    read_piece,
)
from schemory.model.lines.records import Dialect, EdgeLine, Fault, FaultKind, NodeLine, OtherLine
from schemory.model.lines.scan import Scanner, Unreadable, Value
from schemory.model.lines.write import COMPACT, Style, style_of
from schemory.model.weight import weight_fault

NEWLINE: Final = b"\n"


@dataclass(frozen=True, slots=True)
class Voice:
    """How a line speaks: whose words it uses, and where it states its kind (None = nowhere)."""

    dialect: Dialect = Dialect.SEED
    kind_key: str | None = "type"

    def spoken(self, found: Mapping[str, Json]) -> dict[str, Json]:
        """Return a fresh object, which states its kind under `type`, as this voice states it."""
        if self.kind_key == "type":
            return dict(found)
        rest = {key: value for key, value in found.items() if key != "type"}
        return rest if self.kind_key is None else {self.kind_key: found["type"], **rest}


class Line:
    """A line as it stands in the file.

    Attributes:
        raw: Its bytes with its line end; the last line may have none.
        nodes: The names of the nodes on it.
        edges: The triples of the edges on it, those inside a node's record included.
        kept: The text of each object on it that is neither.
        voice: How its first node or edge speaks; None where there is none.
        has_faults: Something on it cannot be used.
    """

    __slots__ = ("edges", "has_faults", "kept", "nodes", "raw", "voice")

    def __init__(
        self,
        raw: bytes,
        nodes: tuple[str, ...] = (),
        edges: tuple[EdgeKey, ...] = (),
        kept: tuple[str, ...] = (),
        voice: Voice | None = None,
        *,
        has_faults: bool = False,
    ) -> None:
        self.raw = raw
        self.nodes = nodes
        self.edges = edges
        self.kept = kept
        self.voice = voice
        self.has_faults = has_faults


@dataclass(frozen=True, slots=True)
class Reading:
    """What a line says in full; needed only while a file is loaded.

    Attributes:
        faults: What on it cannot be used; it stays in the file as it is.
        is_document: It belongs to a JSON document that is not one record per line.
    """

    line: Line
    nodes: tuple[NodeLine, ...]
    edges: tuple[EdgeLine, ...]
    faults: tuple[Fault, ...]
    is_document: bool


def read_line(raw: bytes, number: int) -> Reading:
    """Return what a line says; nothing in it raises."""
    nodes: list[NodeLine] = []
    edges: list[EdgeLine] = []
    kept: list[str] = []
    faults: list[Fault] = []
    scanner = Scanner(raw)
    pieces = list(scanner)
    for record in (record for piece in pieces for record in read_piece(piece)):
        if isinstance(record, NodeLine):
            nodes.append(record)
            _sort_edges(record.nested, edges, faults)
        elif isinstance(record, OtherLine):
            kept.append(record.text)
        else:
            _sort_edges((record,), edges, faults)
    line = Line(
        raw,
        tuple(node.node.name for node in nodes),
        tuple(edge.edge.key for edge in edges),
        tuple(kept),
        _voice(pieces) if nodes or edges else None,
        has_faults=bool(faults),
    )
    numbered = tuple(replace(fault, line=number) for fault in faults)
    is_document = _is_document(scanner, pieces)
    return Reading(line, tuple(nodes), tuple(edges), numbered, is_document)


def _is_document(scanner: Scanner, pieces: Sequence[Value | Unreadable]) -> bool:
    """Whether the line is an array, a bracket of one, or an object that lists records."""
    if scanner.has_array and (not pieces or any(isinstance(piece, Value) for piece in pieces)):
        return True
    return any(
        isinstance(piece, Value) and isinstance(piece.value, dict) and is_container(piece.value)
        for piece in pieces
    )


def _sort_edges(
    records: Sequence[EdgeLine | Fault], edges: list[EdgeLine], faults: list[Fault]
) -> None:
    for record in records:
        if isinstance(record, Fault):
            faults.append(record)
            continue
        fault = weight_fault(record.edge.weight)
        if fault is None:
            edges.append(record)
        else:
            reason = f"weight {fault}"
            faults.append(Fault(record.line, record.text, reason, FaultKind.WEIGHT, is_graph=True))


def _voice(pieces: Sequence[Value | Unreadable]) -> Voice | None:
    found = _first_record(pieces)
    if found is None or not isinstance(found.value, dict):
        return None
    return Voice(dialect_of(found.value), kind_key_of(found.value))


def _first_record(pieces: Iterable[Value | Unreadable]) -> Value | None:
    for piece in pieces:
        if isinstance(piece, Value) and isinstance(piece.value, dict) and kind_of(piece.value):
            return piece
    return None


def style_on(raw: bytes) -> Style:
    """Return how the first node or edge on a line is spelt."""
    found = _first_record(Scanner(raw))
    if found is None or not isinstance(found.value, dict):
        return COMPACT
    return style_of(found.text, found.value)
