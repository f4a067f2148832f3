"""Make one node out of several records of the same name, stored ones included (graph.md §7).

Entries are united in order; the type is the newest where versions or times tell, else the first;
other fields keep the first value that is there. Merging again what was merged changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.model.lines.claims import VERSION_KEY, parse_moment, version_number
from schemory.model.lines.read import OBJECTS_KEY
from schemory.model.lines.records import UNKNOWN_TYPE, Claims, NodeLine
from schemory.model.node import STUB, NodeRecord, TypedValue


class Merged(NamedTuple):
    """One node out of several records, and what they did not agree on.

    Attributes:
        differing: `nodeType`, or the names of other fields, of which one value was kept.
    """

    node: NodeLine
    differing: tuple[str, ...]


def merge_nodes(records: Sequence[NodeLine]) -> Merged:
    """Return the one node that records of the same name (at least one, in order) make together."""
    merged, differing = records[0], dict[str, None]()
    for record in records[1:]:
        merged, fields = _join(merged, record)
        differing.update(dict.fromkeys(fields))
    return Merged(merged, tuple(differing))


def stored_as_line(record: NodeRecord) -> NodeLine:
    """Return a stored node as if a file had it, to be merged with what a file has.

    A stub is a stub only until something is known about it.
    """
    is_stub = record.is_stub
    extra = {k: v for k, v in record.extra.items() if k not in STUB} if is_stub else record.extra
    return NodeLine(
        line=0,
        text="",
        node=record.node,
        typed=record.typed,
        extra=extra,
        has_type=not (is_stub and record.node.node_type == UNKNOWN_TYPE),
        claims=Claims(
            created=record.created_at,
            updated=record.updated_at,
            version=version_number(record.extra.get(VERSION_KEY)),
            latest=parse_moment(record.updated_at),
        ),
    )


def _join(first: NodeLine, second: NodeLine) -> tuple[NodeLine, list[str]]:
    is_newer = _is_newer(second, first)
    winner = second if is_newer else first
    extra, differing = _join_extra(first.extra, second.extra, is_newer=is_newer)
    if second.has_type and first.has_type and second.node.node_type != first.node.node_type:
        differing.insert(0, "nodeType")
    typeful = winner if winner.has_type else second if second.has_type else first
    metadata = _unite(first.node.metadata, second.node.metadata)
    claims = Claims(
        created=_earliest(first.claims.created, second.claims.created),
        updated=_latest(first.claims, second.claims),
        version=winner.claims.version,
        latest=winner.claims.latest,
    )
    joined = replace(
        first,
        node=replace(first.node, node_type=typeful.node.node_type, metadata=metadata),
        has_type=typeful.has_type,
        typed=_join_typed(first.typed, second.typed, metadata),
        extra=extra,
        claims=claims,
        nested=(*first.nested, *second.nested),
    )
    return joined, differing


def _is_newer(second: NodeLine, first: NodeLine) -> bool:
    """Whether versions or times tell that `second` is newer."""
    ours, theirs = first.claims.version, second.claims.version
    if ours is not None and theirs is not None and ours != theirs:
        return theirs > ours
    before, after = first.claims.latest, second.claims.latest
    return after is not None and before is not None and after > before


def _earliest(*moments: str | None) -> str | None:
    return min((moment for moment in moments if moment), default=None)


def _latest(*claims: Claims) -> str | None:
    return max((moment for c in claims if (moment := c.updated or c.created)), default=None)


def _unite(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return all of the first and what the second has beyond it, in order."""
    there = frozenset(first)
    new = tuple(line for line in second if line not in there)
    return (*first, *new) if new else first


def _join_typed(
    first: Sequence[TypedValue], second: Sequence[TypedValue], metadata: Iterable[str]
) -> tuple[TypedValue, ...]:
    if not second:
        return tuple(first)
    known, lines = {value.property_name for value in first}, frozenset(metadata)
    new = (v for v in second if v.property_name not in known and v.line in lines)
    return (*first, *new)


def _join_extra(
    first: Mapping[str, Json], second: Mapping[str, Json], *, is_newer: bool
) -> tuple[Mapping[str, Json], list[str]]:
    """Return both records' further fields, and the names of those with two values."""
    if not second or first == second:
        return first, []
    joined, differing = dict(first), list[str]()
    for key, value in second.items():
        if key not in joined:
            joined[key] = value
        elif key == OBJECTS_KEY:
            joined[key] = _join_objects(joined[key], value)
        elif joined[key] != value:
            if key == VERSION_KEY and is_newer:
                joined[key] = value
            elif key != VERSION_KEY:
                differing.append(key)
    return joined, differing


def _join_objects(first: Json, second: Json) -> Json:
    if not isinstance(first, list) or not isinstance(second, list):
        return first
    return [*first, *(item for item in second if item not in first)]
