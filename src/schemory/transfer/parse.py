"""First pass over a graph file: every record read and judged on its own, no store involved."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from schemory.model.jsonvalue import Json
from schemory.model.lines.read import is_container, read_piece
from schemory.model.lines.records import EdgeLine, Fault, FaultKind, NodeLine, OtherLine, Record
from schemory.model.lines.scan import Scanner, Unreadable, Value
from schemory.model.weight import weight_fault
from schemory.safety.secrets import find_secrets
from schemory.transfer.report import FileForm, ImportOptions, Progress

_REPORT_EVERY = 20_000


@dataclass(slots=True, kw_only=True)
class ParsedFile:
    """A file's records, those that can be taken apart from those that cannot.

    Attributes:
        nodes: By name, in order of first appearance; a name's records in order.
        edges: Nested ones where their node stands.
        records: All of them, faults included.
        has_graph: A node or an edge was recognised, if only to be rejected.
    """

    form: FileForm = FileForm.LINES
    lines: int = 0
    blank: int = 0
    structural: int = 0
    continued: int = 0
    glued: int = 0
    nested: int = 0
    records: int = 0
    clamped: int = 0
    has_graph: bool = False
    nodes: dict[str, list[NodeLine]] = field(default_factory=dict[str, list[NodeLine]])
    edges: list[EdgeLine] = field(default_factory=list[EdgeLine])
    kept: list[OtherLine] = field(default_factory=list[OtherLine])
    faults: list[Fault] = field(default_factory=list[Fault])


def parse_file(data: bytes, options: ImportOptions, progress: Progress | None = None) -> ParsedFile:
    """Return what the bytes of a file say; never raises, whatever they are."""
    parsed = ParsedFile()
    scanner = Scanner(data)
    has_container = False
    for piece in scanner:
        has_container = has_container or _is_container(piece)
        for record in read_piece(piece):
            _take(parsed, record, options)
        if progress is not None and scanner.lines % _REPORT_EVERY == 0:
            progress(scanner.lines, None, "reading")
    parsed.lines = scanner.lines
    parsed.blank = scanner.blank
    parsed.structural = scanner.structural
    parsed.continued = scanner.continued
    parsed.glued = scanner.glued
    if has_container:
        parsed.form = FileForm.OBJECT
    elif scanner.has_array:
        parsed.form = FileForm.ARRAY
    return parsed


def _is_container(piece: Value | Unreadable) -> bool:
    if not isinstance(piece, Value) or not isinstance(piece.value, dict):
        return False
    return is_container(piece.value)


def _take(parsed: ParsedFile, record: Record, options: ImportOptions) -> None:
    """Sort one record in, with the relations inside it."""
    parsed.records += 1
    judged = _judge(record, options)
    if isinstance(judged, Fault):
        parsed.faults.append(judged)
        parsed.has_graph = parsed.has_graph or judged.is_graph
    elif isinstance(judged, OtherLine):
        parsed.kept.append(judged)
    elif isinstance(judged, EdgeLine):
        parsed.has_graph = True
        parsed.clamped += isinstance(record, EdgeLine) and record.edge is not judged.edge
        parsed.edges.append(judged)
    else:
        parsed.has_graph = True
        parsed.nodes.setdefault(judged.node.name, []).append(judged)
        for inner in judged.nested:
            parsed.nested += 1
            _take(parsed, inner, options)


def _judge(record: Record, options: ImportOptions) -> Record:
    """Return the record as it can be taken, or the fault that it is."""
    if isinstance(record, Fault):
        return record
    if not options.allow_secret:
        rules = _secret_rules(record)
        if rules:
            reason = f"holds what looks like a credential ({', '.join(rules)})"
            is_graph = not isinstance(record, OtherLine)
            return Fault(record.line, record.text, reason, FaultKind.SECRET, is_graph)
    if isinstance(record, EdgeLine):
        return _in_bounds(record, options)
    return record


def _in_bounds(record: EdgeLine, options: ImportOptions) -> EdgeLine | Fault:
    weight = record.edge.weight
    fault = weight_fault(weight)
    if fault is None:
        return record
    if options.clamp_weights:
        return replace(record, edge=replace(record.edge, weight=min(max(weight, 0.0), 1.0)))
    return Fault(record.line, record.text, f"weight {fault}", FaultKind.WEIGHT, is_graph=True)


def _secret_rules(record: NodeLine | EdgeLine | OtherLine) -> tuple[str, ...]:
    """Return the names of the rules that find a credential in the record."""
    text = record.text if isinstance(record, OtherLine) else "\n".join(_texts(record))
    found = find_secrets(text, precise_only=True)
    return tuple(dict.fromkeys(finding.rule for finding in found))


def _texts(record: NodeLine | EdgeLine) -> Iterator[str]:
    if isinstance(record, NodeLine):
        yield record.node.name
        yield record.node.node_type
        yield from record.node.metadata
    else:
        yield from record.edge.key
    yield from _inner_texts(record.extra)


def _inner_texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from _inner_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _inner_texts(inner)
