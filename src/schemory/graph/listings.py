"""The matches of a search or of a list of names, in order, and how any node stands to them."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from schemory.errors import InvalidCursorError
from schemory.graph.checks import find_nodes
from schemory.model.frozen import dataclass
from schemory.model.node import NodeRecord
from schemory.model.text import fold, nfc
from schemory.storage.protocols import GraphReader, Position, SearchHit, SearchQuery

MAX_RANKED = 1_000
"""Up to so many matches a search is ranked, and all of them can be named at once."""

_MAX_EDGES_ASKED = 200


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some matches of a listing, and where it goes on; None = it has ended."""

    hits: tuple[SearchHit, ...]
    more: Position | None


class Listing(Protocol):
    """All matches in their order."""

    order: str
    total: int | None

    def take(self, after: Position | None, limit: int) -> Stretch:
        """Return the matches after a position."""
        ...

    def before(self, group: Sequence[NodeRecord]) -> Sequence[int] | None:
        """Return ids of all matches before the group; None when they are too many to name."""
        ...

    def standing(
        self, records: Sequence[NodeRecord], group: Sequence[NodeRecord]
    ) -> Mapping[int, bool]:
        """Return which of `records`, none in the group, match: id -> stands before the group."""
        ...

    def shown_before(self, records: Sequence[NodeRecord], group: Sequence[NodeRecord]) -> set[int]:
        """Return which of `records`, no matches, have an edge to a match before the group."""
        ...


def touching(reader: GraphReader, ids: Sequence[int], others: Sequence[int]) -> set[int]:
    """Return which of `ids` share an edge with one of `others`; the two sets are disjoint."""
    wanted, found, after = set(ids), set[int](), 0
    while wanted and others:
        edges = reader.edges_between(sorted(wanted), others, after_id=after, limit=1000)
        found.update({e.from_id for e in edges} | {e.to_id for e in edges})
        wanted -= found
        if len(edges) < 1000:  # noqa: PLR2004 (the limit above)
            break
    return found & set(ids)


class NamesListing:
    """The nodes of given names, in the order given."""

    order = "names"

    def __init__(
        self, reader: GraphReader, names: Sequence[str], node_types: Sequence[str]
    ) -> None:
        self._reader = reader
        wanted = tuple(dict.fromkeys(map(nfc, names)))
        found = find_nodes(reader, wanted)
        self.not_found = tuple(name for name in wanted if name not in found)
        self._hits = tuple(
            SearchHit(record=found[name], position=("i", index + 1))
            for index, name in enumerate(wanted)
            if name in found and (not node_types or found[name].node.node_type in node_types)
        )
        self._ids = [hit.record.id for hit in self._hits]
        self.total: int | None = len(self._hits)

    def take(self, after: Position | None, limit: int) -> Stretch:
        """Return the matches after a position."""
        start = _index(after)
        rest = [hit for hit in self._hits if _index(hit.position) > start]
        hits = tuple(rest[:limit])
        return Stretch(hits, hits[-1].position if len(rest) > limit else None)

    def before(self, group: Sequence[NodeRecord]) -> Sequence[int]:
        """Return ids of all matches before the group."""
        return self._ids[: self._ids.index(group[0].id)]

    def standing(
        self, records: Sequence[NodeRecord], group: Sequence[NodeRecord]
    ) -> Mapping[int, bool]:
        """Return which of `records` match: id -> stands before the group."""
        earlier, every = set(self.before(group)), set(self._ids)
        return {record.id: record.id in earlier for record in records if record.id in every}

    def shown_before(self, records: Sequence[NodeRecord], group: Sequence[NodeRecord]) -> set[int]:
        """Return which of `records`, no matches, have an edge to a match before the group."""
        return touching(self._reader, [record.id for record in records], self.before(group))


def _index(position: Position | None) -> int:
    match position:
        case None:
            return 0
        case ("i", int(index)):
            return index
        case _:
            raise InvalidCursorError("the cursor is not one of this listing")


class SearchListing:
    """The matches of a search.

    While they are ranked, all of them can be named, and neighbours come exactly once over all
    pages. In creation order (many matches) a match's place is told from the node itself; whether
    another page has shown a hub as a neighbour is looked for among its first edges only, so that
    such a hub may come again.
    """

    def __init__(self, reader: GraphReader, query: SearchQuery) -> None:
        self._reader = reader
        self._query = query
        self._ranked: list[int] | None = None
        self._first: int | None = None
        self.order = "rank"
        self.total: int | None = None
        self.is_degraded = False

    def take(self, after: Position | None, limit: int) -> Stretch:
        """Return the matches after a position."""
        page = self._reader.search(self._query, after=after, limit=limit)
        self.order, self.is_degraded = page.order, page.degraded
        self.total = page.total if page.total is not None else self.total
        if after is None and page.hits:
            self._first = page.hits[0].record.id
        if after is None and page.more is None:
            self._ranked = [hit.record.id for hit in page.hits]
        return Stretch(page.hits, page.more)

    def _all(self) -> list[int] | None:
        """Return ids of all matches in order while they are ranked."""
        if self._ranked is None and self.order == "rank":
            page = self._reader.search(self._query, after=None, limit=MAX_RANKED)
            if page.more is None and page.order == "rank":
                self._ranked = [hit.record.id for hit in page.hits]
        return self._ranked

    def before(self, group: Sequence[NodeRecord]) -> Sequence[int] | None:
        """Return ids of all matches before the group; None when they are too many to name."""
        ids = self._all()
        if ids is None:
            return None
        return ids[: ids.index(group[0].id)] if group[0].id in ids else ids

    def standing(
        self, records: Sequence[NodeRecord], group: Sequence[NodeRecord]
    ) -> Mapping[int, bool]:
        """Return which of `records` match: id -> stands before the group."""
        ids = self._all()
        if ids is not None:
            earlier, every = set(self.before(group) or ()), set(ids)
            return {record.id: record.id in earlier for record in records if record.id in every}
        start = self._place(group[0])
        return {
            record.id: self._place(record) < start for record in records if self._matches(record)
        }

    def shown_before(self, records: Sequence[NodeRecord], group: Sequence[NodeRecord]) -> set[int]:
        """Return which of `records`, no matches, have an edge to a match before the group."""
        earlier = self.before(group)
        if earlier is not None:
            return touching(self._reader, [record.id for record in records], earlier)
        if group[0].id == self._first:
            return set()  # no match comes before the first
        start = self._place(group[0])
        ends = {record.id: self._some_ends(record.id) for record in records}
        others = self._reader.find_nodes_by_id({end for some in ends.values() for end in some})
        matching = (record for record in others.values() if self._matches(record))
        before = {record.id for record in matching if self._place(record) < start}
        return {node_id for node_id, some in ends.items() if not before.isdisjoint(some)}

    def _some_ends(self, node_id: int) -> set[int]:
        edges = self._reader.edges_of(node_id, limit=_MAX_EDGES_ASKED)
        return {end for edge in edges for end in (edge.from_id, edge.to_id)} - {node_id}

    def _place(self, record: NodeRecord) -> tuple[bool, int]:
        """Return a match's place in creation order: name hits first. Source: `SearchPage.order`."""
        name = fold(record.name)
        return not all(term in name for term in self._query.terms), record.id

    def _matches(self, record: NodeRecord) -> bool:
        node, query = record.node, self._query
        if query.node_types and node.node_type not in query.node_types:
            return False
        texts = [fold(text) for text in (node.name, node.node_type, *node.metadata)]
        return all(any(term in text for text in texts) for term in query.terms)
