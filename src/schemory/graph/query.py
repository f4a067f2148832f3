"""Questions about the graph as a whole and about nodes by their properties (graph.md §8)."""

import heapq
import json
from collections.abc import Collection, Iterator, Sequence
from functools import total_ordering

from schemory.errors import (
    InvalidCursorError,
    LimitExceededError,
    Problem,
    UnsupportedError,
    error_for,
)
from schemory.graph.checks import Missing, invalid
from schemory.graph.filters import Key, filter_problems, fulfils, key_of, values_of
from schemory.graph.inputs import Filter, Sort
from schemory.graph.results import GraphStats, NodeHistory, NodesQueried
from schemory.model.jsonvalue import compact
from schemory.model.node import NodeRecord
from schemory.model.text import nfc, text_fault
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.protocols import Capability, GraphReader, Position

MAX_SCANNED = 20_000
"""How many nodes a page in creation order looks at."""

MAX_SORTED = 200_000
"""How many nodes may be looked at to sort."""

_CHUNK = 500


def query_nodes(
    reader: GraphReader,
    catalog: SchemaCatalog,
    *,
    node_type: str | None,
    filters: Sequence[Filter],
    sort: Sort | None,
    limit: int,
    after: Position | None,
) -> NodesQueried:
    """Return nodes that fulfil all filters: sorted, or in creation order."""
    problems = list(filter_problems(filters))
    if limit < 1:
        problems.append(invalid("$.limit", "limit must be at least 1"))
    if problems:
        raise error_for(problems)
    question = _Question(reader, catalog, node_type, filters)
    if sort is None:
        return question.in_creation_order(limit, after)
    return question.sorted(sort, limit, after)


class _Question:
    def __init__(
        self,
        reader: GraphReader,
        catalog: SchemaCatalog,
        node_type: str | None,
        filters: Sequence[Filter],
    ) -> None:
        self._reader = reader
        self._catalog = catalog
        self._types = () if node_type is None else (nfc(node_type),)
        self._filters = tuple(filters)

    def _all(self, after_id: int) -> Iterator[NodeRecord]:
        while True:
            batch = self._reader.list_nodes(after_id=after_id, limit=_CHUNK, node_types=self._types)
            yield from batch
            if len(batch) < _CHUNK:
                return
            after_id = batch[-1].id

    def _fulfils(self, record: NodeRecord) -> bool:
        return all(
            fulfils(values_of(record, self._catalog, item.property_name), item)
            for item in self._filters
        )

    def in_creation_order(self, limit: int, after: Position | None) -> NodesQueried:
        match after:
            case None:
                last = 0
            case ("q", int(last)):
                pass
            case _:
                raise InvalidCursorError("the cursor is not one of this listing")
        found: list[NodeRecord] = []
        for scanned, record in enumerate(self._all(last)):
            if scanned == MAX_SCANNED:
                return NodesQueried(nodes=tuple(found), more=("q", last))
            if self._fulfils(record):
                if len(found) == limit:
                    return NodesQueried(nodes=tuple(found), more=("q", last))
                found.append(record)
            last = record.id
        return NodesQueried(nodes=tuple(found))

    def sorted(self, sort: Sort, limit: int, after: Position | None) -> NodesQueried:
        floor = _floor(sort, after)
        page = heapq.nsmallest(limit + 1, self._ranked(sort, floor), key=lambda pair: pair[0])
        nodes = tuple(record for _, record in page[:limit])
        if len(page) <= limit:
            return NodesQueried(nodes=nodes)
        return NodesQueried(nodes=nodes, more=page[limit - 1][0].position())

    def _ranked(self, sort: Sort, floor: "_Rank | None") -> Iterator[tuple["_Rank", NodeRecord]]:
        for scanned, record in enumerate(self._all(0)):
            if scanned == MAX_SORTED:
                raise LimitExceededError(
                    f"sorting would have to look at more than {MAX_SORTED} nodes",
                    context={"limit": MAX_SORTED},
                    suggestions=["narrow nodeType, or leave out sort"],
                )
            if self._fulfils(record):
                rank = self._rank(record, sort)
                if floor is None or floor < rank:
                    yield rank, record

    def _rank(self, record: NodeRecord, sort: Sort) -> "_Rank":
        values = values_of(record, self._catalog, sort.property_name)
        keys = [key_of(value) for value in values]
        best = None if not keys else max(keys) if sort.descending else min(keys)
        return _Rank(best, record.id, descending=sort.descending)


@total_ordering
class _Rank:
    """A node's place in a sorting: by value, then by creation; without a value last."""

    __slots__ = ("_descending", "_id", "_key")

    def __init__(self, key: Key | None, node_id: int, *, descending: bool) -> None:
        self._key = key
        self._id = node_id
        self._descending = descending

    def __lt__(self, other: "_Rank") -> bool:
        mine, theirs = self._key, other._key
        if mine is None or theirs is None or mine == theirs:
            return (mine is None, self._id) < (theirs is None, other._id)
        return (mine > theirs) if self._descending else (mine < theirs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rank) and (self._key, self._id) == (other._key, other._id)

    def __hash__(self) -> int:
        return hash((self._key, self._id))

    def position(self) -> Position:
        return ("s", compact(None if self._key is None else list(self._key)), self._id)


def _floor(sort: Sort, after: Position | None) -> "_Rank | None":
    match after:
        case None:
            return None
        case ("s", str(text), int(node_id)):
            return _Rank(_parse_key(text), node_id, descending=sort.descending)
        case _:
            raise InvalidCursorError("the cursor is not one of this listing")


def _parse_key(text: str) -> Key | None:
    match json.loads(text):
        case None:
            return None
        case [int(kind), int(number) | float(number), str(value)]:
            return Key(kind, float(number), value)
        case _:
            raise InvalidCursorError("the cursor is not one of this listing")


def graph_stats(reader: GraphReader, catalog: SchemaCatalog) -> GraphStats:
    """Return counts by type, and how they stand to the schemas."""
    counts = reader.count()
    types = catalog.types()
    return GraphStats(
        counts=counts,
        unused_types=tuple(node_type for node_type in types if node_type not in counts.node_types),
        unknown_types=tuple(t for t in counts.node_types if catalog.get(t) is None),
        last_seq=reader.last_seq(),
    )


def node_history(
    capabilities: Collection[Capability], reader: GraphReader, name: str, *, limit: int
) -> NodeHistory:
    """Return a node's past, newest first, also of a name that is no longer there."""
    if Capability.HISTORY not in capabilities:
        raise UnsupportedError(
            "this store keeps no history",
            suggestions=["use a database (--db) instead of a graph file"],
        )
    if limit < 1:
        raise error_for([invalid("$.limit", "limit must be at least 1")])
    wanted = nfc(name)
    versions = () if text_fault(wanted) else reader.history(wanted, limit=limit + 1)
    if not versions:
        problem: Problem = Missing(reader).problem(name, "$.name")
        raise error_for([problem])
    return NodeHistory(name=wanted, versions=versions[:limit], is_truncated=len(versions) > limit)
