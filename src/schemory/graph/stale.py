"""Lines that still say what is no longer so: what they name has gone (graph.md §2)."""

from collections.abc import Iterable, Iterator, Sequence

from schemory.graph.relations import Relations
from schemory.model.edge import EdgeKey
from schemory.model.frozen import dataclass
from schemory.model.node import NodeRecord
from schemory.storage.protocols import GraphReader, LineHit

MAX_STALE_LINES = 20
"""How many such lines an answer shows; `validate` finds all."""

_MAX_NAMES = 200
_MORE = "more lines may be out of date than shown; validate lists those of relationship properties"


@dataclass(frozen=True, slots=True)
class Stale:
    """The lines found, and a warning where there may be more."""

    lines: tuple[LineHit, ...] = ()
    warnings: tuple[str, ...] = ()


def lines_naming_gone(reader: GraphReader, names: Sequence[str]) -> Stale:
    """Return lines that name nodes which were just deleted, renamed or merged away."""
    found: list[LineHit] = []
    for name in names[:_MAX_NAMES]:
        found.extend(reader.lines_naming(name, limit=MAX_STALE_LINES + 1 - len(found)))
        if len(found) > MAX_STALE_LINES:
            break
    return _bounded(found, has_more=len(names) > _MAX_NAMES)


def lines_of_gone_edges(
    reader: GraphReader, relations: Relations, keys: Sequence[EdgeKey]
) -> Stale:
    """Return lines of the ends of edges that just went, as far as they still claim the edge.

    A line of a relationship property claims that property's edge. Any other line that names the
    other end is reported once nothing connects the two any more.
    """
    some = keys[:_MAX_NAMES]
    ends = reader.find_nodes({name for key in some for name in (key.from_name, key.to_name)})
    found: dict[LineHit, None] = {}
    for key in some:
        source, target = ends.get(key.from_name), ends.get(key.to_name)
        if source is None or target is None:
            continue
        for holder, other in ((source, target), (target, source)):
            for line in _claims(reader, relations, holder, other, key):
                found.setdefault(LineHit(node_name=holder.name, line=line))
        if len(found) > MAX_STALE_LINES:
            break
    return _bounded(list(found), has_more=len(keys) > len(some))


def _claims(
    reader: GraphReader,
    relations: Relations,
    holder: NodeRecord,
    other: NodeRecord,
    key: EdgeKey,
) -> Iterator[str]:
    for line in relations.lines_naming(holder, other.name):
        claimed = relations.claimed_edge(holder, line, other.name)
        if claimed is not None:
            if claimed == key and not reader.find_edges([key]):
                yield line
        elif not reader.edges_between([holder.id], [other.id], limit=1):
            yield line


def _bounded(found: Iterable[LineHit], *, has_more: bool) -> Stale:
    lines = tuple(found)
    is_cut = has_more or len(lines) > MAX_STALE_LINES
    return Stale(lines[:MAX_STALE_LINES], (_MORE,) if is_cut else ())
