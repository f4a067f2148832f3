"""A page that is being filled, and `read_graph`, which fills pages in creation order (graph.md §2).

The walk over the graph goes node by node in the order in which they were made; after each few nodes
come the edges whose later end is among them. So every page shows nodes together with what joins
them, every edge comes once, and no page costs more than it shows.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from schemory.errors import InvalidCursorError, Problem, error_for
from schemory.graph.checks import invalid
from schemory.graph.results import GraphPage, PageOptions
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import replace
from schemory.model.jsonvalue import compact
from schemory.model.node import NodeRecord
from schemory.model.text import nfc
from schemory.storage.protocols import GraphReader, Position

CHUNK = 64
"""How many rows a page asks for at once; what does not fit is thrown away."""

T = TypeVar("T")

_WALK = "g"
_GROUP = 32
_FEW = 12


class Filling:
    """A page under construction, which knows what still fits.

    With `tells_matched` the answer names its matches once more, which costs room too.
    """

    def __init__(self, options: PageOptions, *, tells_matched: bool) -> None:
        self._options = options
        self._tells_matched = tells_matched
        self._room = options.room if options.room and options.room.max_bytes > 0 else None
        self._used = 0
        self.matches: list[NodeRecord] = []
        self.neighbours: list[NodeRecord] = []
        self.edges: list[EdgeRecord] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing is on the page yet."""
        return not (self.matches or self.neighbours or self.edges)

    @property
    def matches_left(self) -> int:
        """How many matches the limit still allows, at most a chunk."""
        limit = self._options.limit
        return CHUNK if limit is None else min(CHUNK, limit - len(self.matches))

    @property
    def is_full_of_neighbours(self) -> bool:
        """Whether the limit of neighbours is reached."""
        limit = self._options.neighbor_limit
        return limit is not None and len(self.neighbours) >= limit

    @property
    def neighbours_likely(self) -> int:
        """About how many more neighbours fit, from a few to a chunk: others are read in vain.

        Going by the size of those that are here with their edges, since most are much alike.
        """
        limit, here = self._options.neighbor_limit, len(self.neighbours)
        count = CHUNK if limit is None else limit - here + 1
        if self._room is not None and here:
            count = min(count, (self._room.max_bytes - self._used) * here // self._used + 1)
        return min(max(count, _FEW), CHUNK)

    def half_left(self) -> int | None:
        """Return how far matches may fill the page, so that their neighbours have room too."""
        if self._room is None or not self._options.with_neighbors:
            return None
        return self._used + (self._room.max_bytes - self._used) // 2

    def add_match(self, record: NodeRecord, *, up_to: int | None = None) -> bool:
        """Add a match if it fits; `up_to` is what `half_left` said."""
        extra = 0
        if self._tells_matched:
            extra = len(compact(record.name).encode("utf-8", "surrogatepass")) + 1
        return self._fits(record, extra, up_to) and _append(self.matches, record)

    def add_neighbour(self, record: NodeRecord) -> bool:
        """Add a neighbour if it fits."""
        return self._fits(record) and _append(self.neighbours, record)

    def add_edge(self, record: EdgeRecord) -> bool:
        """Add an edge if it fits."""
        return self._fits(record) and _append(self.edges, record)

    def _fits(
        self, record: NodeRecord | EdgeRecord, extra: int = 0, up_to: int | None = None
    ) -> bool:
        if self._room is None:
            return True
        size = self._room.size_of(record) + extra
        most = self._room.max_bytes if up_to is None else up_to
        if self._used + size > most and not self.is_empty:
            return False
        self._used += size
        return True

    def page(self, more: Position | None) -> GraphPage:
        """Return what is on the page: matches, then neighbours, edges by creation."""
        return GraphPage(
            nodes=(*self.matches, *self.neighbours),
            edges=tuple(sorted(self.edges, key=lambda record: record.id)),
            matched=tuple(record.name for record in self.matches) if self._tells_matched else (),
            more=more,
        )


def _append(part: list[T], record: T) -> bool:
    part.append(record)
    return True


def checked(options: PageOptions) -> PageOptions:
    """Return the options with their types in NFC.

    Raises:
        InvalidParamError: A limit allows nothing: below 1, for neighbours below 0.
    """
    problems: list[Problem] = []
    if options.limit is not None and options.limit < 1:
        problems.append(invalid("$.limit", "limit must be at least 1"))
    if options.neighbor_limit is not None and options.neighbor_limit < 0:
        problems.append(invalid("$.neighborLimit", "neighborLimit must be at least 0"))
    if problems:
        raise error_for(problems)
    if not options.node_types:
        return options
    return replace(options, node_types=tuple(map(nfc, options.node_types)))


def read_graph(
    reader: GraphReader, options: PageOptions, *, tells_matched: bool = False
) -> GraphPage:
    """Return the space's nodes and edges in creation order, as many as fit on one page."""
    walk = _Walk(reader, checked(options), tells_matched=tells_matched)
    page = walk.fill(_stand(options.after))
    is_whole = options.after is None and page.more is None
    return replace(page, total_matches=len(page.nodes) if is_whole else None)


def _stand(after: Position | None) -> tuple[int, int, int]:
    """Return where the walk stands: nodes after the first id, up to the second, edges after."""
    match after:
        case None:
            return 0, 0, 0
        case ("g", int(first), int(last), int(edge)):
            return first, last, edge
        case _:
            raise InvalidCursorError("the cursor is not one of this listing")


class _Walk:
    def __init__(self, reader: GraphReader, options: PageOptions, *, tells_matched: bool) -> None:
        self._reader = reader
        self._types = frozenset(options.node_types)
        self._filling = Filling(options, tells_matched=tells_matched)

    def fill(self, stand: tuple[int, int, int]) -> GraphPage:
        first, last, edge_after = stand
        group: Sequence[NodeRecord] = self._again(first, last) if last > first else ()
        while True:
            stopped = self._add_edges(group, first, last, edge_after)
            if stopped is not None:
                return self._filling.page((_WALK, first, last, stopped))
            first, edge_after = last, 0
            group, is_end = self._add_nodes(first)
            if not group:
                return self._filling.page(None if is_end else (_WALK, first, first, 0))
            last = group[-1].id

    def _again(self, first: int, last: int) -> tuple[NodeRecord, ...]:
        if not self._types:
            return ()
        return tuple(record for record in self._list(first, _GROUP) if record.id <= last)

    def _list(self, after_id: int, limit: int) -> tuple[NodeRecord, ...]:
        types = sorted(self._types)
        return self._reader.list_nodes(after_id=after_id, limit=limit, node_types=types)

    def _add_nodes(self, after_id: int) -> tuple[list[NodeRecord], bool]:
        """Add the next few nodes; says also whether the listing has ended."""
        count = min(_GROUP, self._filling.matches_left)
        if count < 1:
            return [], not self._list(after_id, 1)
        listed = self._list(after_id, count)
        added: list[NodeRecord] = []
        for record in listed:
            if not self._filling.add_match(record):
                break
            added.append(record)
        return added, not listed

    def _add_edges(
        self, group: Sequence[NodeRecord], first: int, last: int, after_id: int
    ) -> int | None:
        """Add the edges that close in the group; returns the last added when the page is full."""
        for record in self._closing(group, first, last, after_id):
            if not self._filling.add_edge(record):
                return after_id
            after_id = record.id
        return None

    def _closing(
        self, group: Sequence[NodeRecord], first: int, last: int, after_id: int
    ) -> Iterable[EdgeRecord]:
        if last <= first:
            return
        if not self._types:
            yield from self._all_closing(first + 1, last, after_id)
            return
        edges = [edge for node in group for edge in self._all_closing(node.id, node.id, after_id)]
        ends = self._reader.find_nodes_by_id({i for e in edges for i in (e.from_id, e.to_id)})
        wanted = {i for i, record in ends.items() if record.node.node_type in self._types}
        for edge in sorted(edges, key=lambda record: record.id):
            if edge.from_id in wanted and edge.to_id in wanted:
                yield edge

    def _all_closing(self, first_id: int, last_id: int, after_id: int) -> Iterable[EdgeRecord]:
        while True:
            edges = self._reader.edges_closing(first_id, last_id, after_id=after_id, limit=CHUNK)
            yield from edges
            if len(edges) < CHUNK:
                return
            after_id = edges[-1].id
