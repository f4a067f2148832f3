"""`search_nodes` and `open_nodes`: matches with their neighbours, page by page (graph.md §2).

A page is filled in groups: some matches (up to half of the room), the edges among them, then their
neighbours one by one, each with its edges to the group. When all neighbours of a group have come
and there is room, the next group follows. Over all pages every match and every neighbour comes once
and every edge when both its ends have come; a hub costs a page, not its degree.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from schemory.errors import InvalidCursorError
from schemory.graph.listings import Listing, NamesListing, SearchListing
from schemory.graph.pages import CHUNK, Filling, checked, read_graph
from schemory.graph.results import GraphPage, PageOptions
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import dataclass, replace
from schemory.model.node import NodeRecord
from schemory.model.text import fold
from schemory.storage.protocols import GraphReader, Position, SearchQuery

__all__ = ["open_nodes", "read_graph", "search_nodes"]

MAX_WALKED = 5_000
"""How many neighbours one page looks at, shown or not."""

_DEGRADED = (
    "the search index is damaged or missing; the answer is right, but slow: "
    "run `schemory doctor --fix`"
)
_MANY = 1_000
_AMONG, _AROUND = "m", "n"

_Stage: TypeAlias = Literal["sought", "substring", "words"]
"""How a search stands: the whole text is sought, was found, or its words are what is sought."""


def search_nodes(reader: GraphReader, text: str, options: PageOptions) -> GraphPage:
    """Return nodes that hold `text` in name, type or a metadata line, with their neighbours.

    If nothing holds the whole text: nodes that hold all its words, in any order and place.
    """
    options = checked(options)
    term = fold(text)
    if not term:
        return _everything(reader, options)
    words = tuple(dict.fromkeys(fold(word) for word in text.split()))
    stage, after = _stage_of(options.after)
    if stage != "words":
        page = _matching(reader, (term,), stage, options, after)
        is_in_vain = stage == "sought" and page.more is None and not page.matched
        if not is_in_vain or words in ((), (term,)):
            return page
        after = None
    page = _matching(reader, words, "words", options, after)
    is_in_vain = after is None and page.more is None and not page.matched
    return replace(page, match_mode="substring") if is_in_vain else page


def _matching(
    reader: GraphReader,
    terms: tuple[str, ...],
    stage: _Stage,
    options: PageOptions,
    after: Position | None,
) -> GraphPage:
    listing = SearchListing(reader, SearchQuery(terms=terms, node_types=options.node_types))
    page = _Groups(reader, listing, options).fill(after)
    if stage == "sought" and page.matched:
        stage = "substring"
    return replace(
        page,
        match_mode="words" if stage == "words" else "substring",
        more=None if page.more is None else (stage, *page.more),
        order=listing.order,
        warnings=(_DEGRADED,) if listing.is_degraded else (),
    )


def _stage_of(after: Position | None) -> tuple[_Stage, Position | None]:
    match after:
        case None:
            return "sought", None
        case (("sought" | "substring" | "words") as stage, *rest):
            return stage, tuple(rest)
        case _:
            raise InvalidCursorError("the cursor is not one of this listing")


def _everything(reader: GraphReader, options: PageOptions) -> GraphPage:
    """Return all nodes of the wanted types as matches."""
    if not options.node_types or not options.with_neighbors:
        return replace(read_graph(reader, options, tells_matched=True), match_mode="all")
    listing = SearchListing(reader, SearchQuery(terms=(), node_types=options.node_types))
    page = _Groups(reader, listing, options).fill(options.after)
    return replace(page, match_mode="all", order=listing.order)


def open_nodes(reader: GraphReader, names: Sequence[str], options: PageOptions) -> GraphPage:
    """Return the nodes of exactly these names, in the order given, with their neighbours."""
    options = checked(options)
    listing = NamesListing(reader, names, options.node_types)
    page = _Groups(reader, listing, options).fill(options.after)
    first = options.after is None
    return replace(
        page,
        match_mode="names",
        order=listing.order,
        not_found=listing.not_found if first else (),
    )


@dataclass(frozen=True, slots=True)
class _Stand:
    """Where a listing by groups goes on.

    Attributes:
        start: The group's matches come after this position; None = the listing's beginning.
        count: How many matches the group has; 0 = it is not begun.
        end: The position of its last match.
        stage: `m` the edges among the matches, `n` their neighbours.
        node: The last neighbour that was dealt with.
        edge: The last edge shown (of the stage, or of that neighbour); -1 = the neighbour is done.
    """

    start: Position | None = None
    count: int = 0
    end: Position = ()
    stage: str = _AMONG
    node: int = 0
    edge: int = 0

    def position(self) -> Position:
        start = self.start or ()
        head = (self.stage, self.count, self.node, self.edge, len(start))
        return (*head, *start, *self.end)


def _stand_at(after: Position | None) -> _Stand:
    match after:
        case None:
            return _Stand()
        case (str(stage), int(count), int(node), int(edge), int(split), *rest) if stage in (
            _AMONG,
            _AROUND,
        ):
            start, end = tuple(rest[:split]), tuple(rest[split:])
            return _Stand(start or None, count, end, stage, node, edge)
        case _:
            raise InvalidCursorError("the cursor is not one of this listing")


class _Groups:
    """Fills one page."""

    def __init__(self, reader: GraphReader, listing: Listing, options: PageOptions) -> None:
        self._reader = reader
        self._listing = listing
        self._filling = Filling(options, tells_matched=True)
        self._with_neighbours = options.with_neighbors and options.neighbor_limit != 0
        self._walked = 0
        self._has_scanned_enough = False

    def fill(self, after: Position | None) -> GraphPage:
        stand = _stand_at(after)
        while True:
            group, stand, more = self._group(stand)
            if not group:
                return self._page(after, more)
            stopped = self._among(group, stand) or self._around(group, stand)
            if stopped is not None:
                return self._page(after, stopped.position())
            if more is None or self._has_scanned_enough:
                return self._page(after, more)
            stand = _Stand(start=stand.end)

    def _page(self, after: Position | None, more: Position | None) -> GraphPage:
        page = self._filling.page(more)
        if after is not None or more is not None:
            return replace(page, total_matches=self._listing.total)
        neighbours = len(page.nodes) - len(page.matched) if self._with_neighbours else None
        return replace(page, total_matches=len(page.matched), total_neighbors=neighbours)

    def _group(self, stand: _Stand) -> tuple[tuple[NodeRecord, ...], _Stand, Position | None]:
        """Return the group at hand, where it stands, and (not None) that matches follow it."""
        if stand.count:
            return self._group_again(stand)
        taken: list[NodeRecord] = []
        after, up_to = stand.start, self._filling.half_left()
        while True:
            count = self._filling.matches_left
            stretch = self._listing.take(after, max(count, 1))
            for hit in stretch.hits:
                if count < 1 or not self._filling.add_match(hit.record, up_to=up_to):
                    return tuple(taken), _begun(stand, taken, after), _next(after)
                taken.append(hit.record)
                after = hit.position
            if stretch.more is None:
                return tuple(taken), _begun(stand, taken, after), None
            after = stretch.more
            if len(stretch.hits) < count:
                self._has_scanned_enough = True
                return tuple(taken), _begun(stand, taken, after), _next(after)

    def _group_again(self, stand: _Stand) -> tuple[tuple[NodeRecord, ...], _Stand, Position | None]:
        group: list[NodeRecord] = []
        after, is_whole = stand.start, False
        while not is_whole and len(group) < stand.count + CHUNK:
            stretch = self._listing.take(after, CHUNK)
            for hit in stretch.hits:
                group.append(hit.record)
                if hit.position == stand.end:
                    is_whole = True
                    break
            after = stretch.more
            if after is None or after == stand.end:
                break
        follows = self._listing.take(stand.end, 1)
        more = _next(stand.end) if follows.hits or follows.more is not None else None
        return tuple(group if is_whole else group[: stand.count]), stand, more

    def _among(self, group: Sequence[NodeRecord], stand: _Stand) -> _Stand | None:
        """Add the edges inside the group and to matches before it; says where it had to stop."""
        if stand.stage != _AMONG:
            return None
        ids = [record.id for record in group]
        pool = [*(self._listing.before(group) or ()), *ids]
        last = stand.edge
        for edge in self._edges(ids, pool, last):
            if not self._filling.add_edge(edge):
                return replace(stand, edge=last)
            last = edge.id
        return None

    def _edges(
        self, ids: Sequence[int], others: Sequence[int], after_id: int
    ) -> Iterator[EdgeRecord]:
        while True:
            edges = self._reader.edges_between(ids, others, after_id=after_id, limit=CHUNK)
            yield from edges
            if len(edges) < CHUNK:
                return
            after_id = edges[-1].id

    def _around(self, group: Sequence[NodeRecord], stand: _Stand) -> _Stand | None:
        """Add the group's neighbours, each with its edges; says where it had to stop."""
        if not self._with_neighbours and self._listing.before(group) is not None:
            return None
        if stand.stage == _AMONG:
            stand = replace(stand, stage=_AROUND, node=0, edge=-1)
        ids = [record.id for record in group]
        # A neighbour whose edges did not all fit stands first again.
        after_id = stand.node if stand.edge == -1 else stand.node - 1
        while True:
            # Asking costs two look-ups for each match, so a large group is asked for more at once.
            count = max(self._filling.neighbours_likely, 2 * len(ids))
            batch = self._reader.neighbours(ids, after_id=after_id, limit=count)
            for start in range(0, len(batch), CHUNK):
                part = batch[start : start + CHUNK]
                stopped = self._add_batch(group, part, stand)
                if stopped is not None:
                    return stopped
                stand = replace(stand, node=part[-1].id, edge=-1)
                self._walked += len(part)
            if len(batch) < count:
                return None
            if self._walked >= MAX_WALKED:
                return stand
            after_id = stand.node

    def _relevant(
        self, group: Sequence[NodeRecord], batch: Sequence[NodeRecord]
    ) -> dict[int, bool]:
        """Return which of the group's neighbours matter here: id -> comes for the first time.

        Later matches bring their edges themselves; edges to matches before the group came with
        those among the matches, where all matches can be named.
        """
        matching = self._listing.standing(batch, group)
        edges_came = self._listing.before(group) is not None
        relevant = {i: False for i, is_before in matching.items() if is_before and not edges_came}
        if self._with_neighbours:
            others = [record for record in batch if record.id not in matching]
            shown = self._listing.shown_before(others, group)
            relevant |= {record.id: record.id not in shown for record in others}
        return relevant

    def _add_batch(
        self, group: Sequence[NodeRecord], batch: Sequence[NodeRecord], stand: _Stand
    ) -> _Stand | None:
        relevant = self._relevant(group, batch)
        joining = self._joining(list(relevant), [record.id for record in group])
        node, done = stand.node, stand.edge
        for record in batch:
            if record.id not in relevant:
                continue
            is_begun = record.id == node and done >= 0
            if relevant[record.id] and not is_begun and not self._add_neighbour(record):
                return replace(stand, node=node, edge=done)
            shown = done if is_begun else 0
            for edge in joining(record.id, shown):
                if not self._filling.add_edge(edge):
                    return replace(stand, node=record.id, edge=shown)
                shown = edge.id
            node, done = record.id, -1
        return None

    def _add_neighbour(self, record: NodeRecord) -> bool:
        return not self._filling.is_full_of_neighbours and self._filling.add_neighbour(record)

    def _joining(
        self, some: Sequence[int], ids: Sequence[int]
    ) -> Callable[[int, int], Iterable[EdgeRecord]]:
        """Return what gives the edges of one of `some` to `ids` after an edge.

        They are mostly few and then fetched at once.
        """
        edges = self._reader.edges_between(some, ids, limit=_MANY) if some else ()
        if len(edges) == _MANY:
            return lambda node_id, after_id: self._edges([node_id], ids, after_id)
        by_node: dict[int, list[EdgeRecord]] = {node_id: [] for node_id in some}
        for edge in edges:
            by_node[edge.from_id if edge.from_id in by_node else edge.to_id].append(edge)
        return lambda node_id, after_id: (e for e in by_node[node_id] if e.id > after_id)


def _begun(stand: _Stand, taken: Sequence[NodeRecord], end: Position | None) -> _Stand:
    return replace(stand, count=len(taken), end=end or ())


def _next(end: Position | None) -> Position | None:
    """Return where the next group starts, as a page's position."""
    return None if end is None else _Stand(start=end).position()
