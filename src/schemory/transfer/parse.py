"""First pass over a graph file: every record read and judged on its own, no store involved."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemory.model.frozen import dataclass, field, replace
from schemory.model.jsonvalue import Json
from schemory.model.lines.plain import PlainReader
from schemory.model.lines.read import is_container, read_piece
from schemory.model.lines.records import EdgeLine, Fault, FaultKind, NodeLine, OtherLine, Record
from schemory.model.lines.scan import Scanner, Unreadable, Value
from schemory.model.weight import weight_fault
from schemory.safety.secrets import find_secrets
from schemory.transfer.report import FileForm, ImportOptions, Progress

_BATCH = 1_000


@dataclass(slots=True, kw_only=True)
class ParsedFile:
    """A file's records, those that can be taken apart from those that cannot.

    Attributes:
        nodes: By name, in order of first appearance; a name's records in order.
        edges: Nested ones where their node stands.
        records: All of them, faults included.
        has_graph: A node or an edge was recognised, if only to be rejected.
        clean_names: Names and edge types known to hold no credential.
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
    clean_names: set[str] = field(default_factory=set[str])


def parse_file(data: bytes, options: ImportOptions, progress: Progress | None = None) -> ParsedFile:
    """Return what the bytes of a file say; never raises, whatever they are."""
    parsed = ParsedFile()
    scanner = Scanner(data)
    has_container = False
    waiting: list[Record] = []
    plain = PlainReader()
    for piece in scanner:
        record = _plain(piece, plain)
        if record is not None:
            waiting.append(record)
        else:
            has_container = has_container or _is_container(piece)
            waiting += read_piece(piece)
        if len(waiting) >= _BATCH:
            _take_all(parsed, waiting, options)
            waiting.clear()
            if progress is not None:
                progress(scanner.lines, None, "reading")
    _take_all(parsed, waiting, options)
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


def _plain(piece: Value | Unreadable, reader: PlainReader) -> Record | None:
    """Return what nearly every piece is, if it is that: such a one is no container."""
    if not isinstance(piece, Value) or not isinstance(piece.value, dict):
        return None
    return reader.read(piece, piece.value)


def _is_container(piece: Value | Unreadable) -> bool:
    if not isinstance(piece, Value) or not isinstance(piece.value, dict):
        return False
    return is_container(piece.value)


def _take_all(parsed: ParsedFile, records: Sequence[Record], options: ImportOptions) -> None:
    """Sort a batch of records in.

    Asking a whole batch for credentials costs a fraction of asking each record; so each is asked
    only where the batch has one.
    """
    is_clean = options.allow_secret or _is_clean(parsed, records)
    for record in records:
        _take(parsed, record, options, is_clean=is_clean)


def _is_clean(parsed: ParsedFile, records: Sequence[Record]) -> bool:
    """Whether no record of a batch holds a credential; names that were asked for once stay so."""
    names, texts = set[str](), list[str]()
    for record in records:
        if isinstance(record, EdgeLine) and not record.extra:
            names.update((record.edge.from_name, record.edge.to_name, record.edge.edge_type))
        else:
            texts.append(_raw_text(record))
            if isinstance(record, NodeLine):
                names.add(record.node.name)
    names -= parsed.clean_names
    if _secret_rules([*texts, *names]):
        return False
    parsed.clean_names |= names
    return True


def _take(parsed: ParsedFile, record: Record, options: ImportOptions, *, is_clean: bool) -> None:
    """Sort one record in, with the relations inside it."""
    parsed.records += 1
    judged = record if is_clean else _without_secret(record)
    if isinstance(judged, EdgeLine) and not 0.0 <= judged.edge.weight <= 1.0:
        judged = _in_bounds(parsed, judged, options)
    if isinstance(judged, EdgeLine):
        parsed.has_graph = True
        parsed.edges.append(judged)
    elif isinstance(judged, Fault):
        parsed.faults.append(judged)
        parsed.has_graph = parsed.has_graph or judged.is_graph
    elif isinstance(judged, OtherLine):
        parsed.kept.append(judged)
    else:
        parsed.has_graph = True
        parsed.nodes.setdefault(judged.node.name, []).append(judged)
        parsed.nested += len(judged.nested)
        for inner in judged.nested:
            _take(parsed, inner, options, is_clean=is_clean)


def _without_secret(record: Record) -> Record:
    """Return the record, or the fault that it is because it holds a credential."""
    if isinstance(record, Fault):
        return record
    is_other = isinstance(record, OtherLine)
    rules = _secret_rules([record.text] if isinstance(record, OtherLine) else _texts(record))
    if not rules:
        return record
    reason = f"holds what looks like a credential ({', '.join(rules)})"
    return Fault(record.line, record.text, reason, FaultKind.SECRET, not is_other)


def _raw_text(record: Record) -> str:
    """Return all text of a record."""
    if isinstance(record, Fault):
        return ""
    if isinstance(record, OtherLine):
        return record.text
    inner = record.nested if isinstance(record, NodeLine) else ()
    edges = (each for each in inner if isinstance(each, EdgeLine))
    return "\n".join((*_texts(record), *(text for each in edges for text in _texts(each))))


def _secret_rules(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the rules that find a credential in the texts."""
    found = find_secrets("\n".join(texts), precise_only=True)
    return tuple(dict.fromkeys(finding.rule for finding in found))


def _in_bounds(parsed: ParsedFile, record: EdgeLine, options: ImportOptions) -> EdgeLine | Fault:
    weight = record.edge.weight
    fault = weight_fault(weight)
    if fault is None:
        return record
    if options.clamp_weights:
        parsed.clamped += 1
        return replace(record, edge=replace(record.edge, weight=min(max(weight, 0.0), 1.0)))
    return Fault(record.line, record.text, f"weight {fault}", FaultKind.WEIGHT, is_graph=True)


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
