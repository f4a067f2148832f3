"""Second pass: a file's records against what is stored, which gives all that is to be written.

Forward references resolve, because every name of the file is known by now.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from schemory.model.edge import EdgeKey, NewEdge
from schemory.model.frozen import dataclass, field
from schemory.model.lines.merge import merge_nodes, stored_as_line
from schemory.model.lines.records import UNKNOWN_TYPE, EdgeLine, Fault, FaultKind, NodeLine
from schemory.model.node import STUB, NewNode, Node, NodeChange, NodeRecord
from schemory.model.text import twin_key
from schemory.storage.protocols import GraphReader, KeptLine
from schemory.transfer.parse import ParsedFile
from schemory.transfer.report import Dangling, Difference, ImportOptions

_CHUNK = 5_000
_T = TypeVar("_T")


@dataclass(slots=True, kw_only=True)
class Resolution:
    """All that an import writes, and how each record was counted.

    Attributes:
        nodes: To insert: the file's in its order, then the stubs.
    """

    nodes: list[NewNode] = field(default_factory=list[NewNode])
    changes: list[NodeChange] = field(default_factory=list[NodeChange])
    edges: list[NewEdge] = field(default_factory=list[NewEdge])
    kept: list[KeptLine] = field(default_factory=list[KeptLine])
    faults: list[Fault] = field(default_factory=list[Fault])
    stubs: int = 0
    merged: int = 0
    duplicates: int = 0
    differences: list[Difference] = field(default_factory=list[Difference])
    twins: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    @property
    def has_changes(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.nodes or self.changes or self.edges or self.kept)


def resolve(parsed: ParsedFile, reader: GraphReader, options: ImportOptions) -> Resolution:
    """Return what importing `parsed` into the reader's space takes."""
    found = Resolution(faults=list(parsed.faults))
    is_empty = not reader.list_nodes(limit=1)
    stored = {} if is_empty else _find_nodes(reader, parsed.nodes)
    for name, records in parsed.nodes.items():
        _resolve_node(found, name, records, stored.get(name))
    _resolve_edges(found, parsed, reader, options, stored)
    _resolve_kept(found, parsed, reader)
    found.faults.sort(key=lambda fault: fault.line)
    found.twins = _twins(found.nodes, reader, is_empty=is_empty)
    return found


def chunks(items: Iterable[_T], size: int = _CHUNK) -> Iterator[list[_T]]:
    """Yield `items` in lists of at most `size`."""
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk


def _find_nodes(reader: GraphReader, names: Iterable[str]) -> dict[str, NodeRecord]:
    stored: dict[str, NodeRecord] = {}
    for chunk in chunks(names):
        stored.update(reader.find_nodes(chunk))
    return stored


def _resolve_node(
    found: Resolution, name: str, records: Sequence[NodeLine], stored: NodeRecord | None
) -> None:
    if stored is None:
        merged, differing = merge_nodes(records)
        found.nodes.append(_new_node(merged))
        found.merged += len(records) - 1
    elif len(records) == 1 and _says_nothing_new(records[0], stored):
        found.duplicates += 1
        return
    else:
        merged, differing = merge_nodes([stored_as_line(stored), *records])
        change = _change(stored, merged)
        if change is None:
            found.duplicates += len(records)
        else:
            found.changes.append(change)
            found.merged += len(records)
    if differing:
        lines = (*((0,) if stored else ()), *(record.line for record in records))
        found.differences.append(Difference(name=name, fields=differing, lines=lines))


def _says_nothing_new(record: NodeLine, stored: NodeRecord) -> bool:
    """Whether merging the two is sure to give what is stored; the usual case of a second import."""
    is_plain = not record.extra and not record.typed
    return is_plain and record.node == stored.node and not stored.is_stub


def _new_node(line: NodeLine) -> NewNode:
    # What was changed at a time was there at that time, so a claim of the change dates both.
    created = line.claims.created or line.claims.updated
    return NewNode(
        node=line.node,
        typed=line.typed,
        extra=line.extra,
        created_at=created,
        updated_at=line.claims.updated or created,
    )


def _change(stored: NodeRecord, merged: NodeLine) -> NodeChange | None:
    """Return what the file adds to a stored node, or None."""
    is_same = (
        merged.node == stored.node and merged.typed == stored.typed and merged.extra == stored.extra
    )
    if is_same:
        return None
    return NodeChange(
        id=stored.id,
        node_type=merged.node.node_type,
        metadata=merged.node.metadata,
        typed=merged.typed,
        extra=merged.extra,
    )


def _resolve_edges(
    found: Resolution,
    parsed: ParsedFile,
    reader: GraphReader,
    options: ImportOptions,
    stored: Mapping[str, NodeRecord],
) -> None:
    outside = {
        name: None
        for line in parsed.edges
        for name in (line.edge.from_name, line.edge.to_name)
        if name not in parsed.nodes
    }
    stored = {**stored, **_find_nodes(reader, outside)}
    missing = {name: None for name in outside if name not in stored}
    if options.dangling is Dangling.STUB:
        found.nodes += [_stub(name) for name in missing]
        found.stubs = len(missing)
        missing = {}
    taken = _stored_keys(reader, parsed.edges, stored)
    for line in parsed.edges:
        _resolve_edge(found, line, missing, taken)


def _stored_keys(
    reader: GraphReader, lines: Iterable[EdgeLine], stored: Container[str]
) -> set[EdgeKey]:
    """Return which of the edges are stored; only those whose ends are can be."""
    edges = (line.edge for line in lines)
    keys = (edge.key for edge in edges if edge.from_name in stored and edge.to_name in stored)
    return {key for chunk in chunks(keys) for key in reader.find_edges(chunk)}


def _resolve_edge(
    found: Resolution, line: EdgeLine, missing: dict[str, None], taken: set[EdgeKey]
) -> None:
    edge = line.edge
    if edge.from_name in missing or edge.to_name in missing:
        ends = dict.fromkeys(name for name in (edge.from_name, edge.to_name) if name in missing)
        names = " and ".join(f'"{name}"' for name in ends)
        fault = Fault(line.line, line.text, f"no node is named {names}", FaultKind.DANGLING)
        found.faults.append(fault)
        return
    key = edge.key
    if key in taken:
        found.duplicates += 1
    else:
        taken.add(key)
        created = line.claims.created or line.claims.updated
        found.edges.append(
            NewEdge(
                edge=edge,
                property_name=line.property_name,
                extra=line.extra,
                created_at=created,
                updated_at=line.claims.updated or created,
            )
        )


def _stub(name: str) -> NewNode:
    return NewNode(node=Node(name, UNKNOWN_TYPE), extra=STUB)


def _resolve_kept(found: Resolution, parsed: ParsedFile, reader: GraphReader) -> None:
    if not parsed.kept:
        return
    taken = {line.text for line in kept_lines(reader)}
    for other in parsed.kept:
        if other.text in taken:
            found.duplicates += 1
        else:
            taken.add(other.text)
            found.kept.append(KeptLine(text=other.text))


def kept_lines(reader: GraphReader) -> Iterator[KeptLine]:
    """Yield every kept line of the reader's space, in order."""
    after = 0
    while page := reader.list_kept(after=after, limit=_CHUNK):
        yield from (line for _, line in page)
        after = page[-1][0]


def _twins(
    nodes: Sequence[NewNode], reader: GraphReader, *, is_empty: bool
) -> list[tuple[str, ...]]:
    """Return groups of names that differ only by case, white space or Unicode form."""
    groups: dict[str, list[str]] = {}
    for new in nodes:
        groups.setdefault(twin_key(new.node.name), []).append(new.node.name)
    firsts = [names[0] for names in groups.values()]
    old = {} if is_empty else _find_twins(reader, firsts)
    together = ((*names, *old.get(names[0], ())) for names in groups.values())
    return [names for names in together if len(names) > 1]


def _find_twins(reader: GraphReader, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {n: twins for chunk in chunks(names) for n, twins in reader.find_twins(chunk).items()}
