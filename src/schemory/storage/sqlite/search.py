"""Substring search over names, types and metadata, page by page (graph.md §2, storage.md).

Up to 1,000 matches are ranked as a whole: name equals, starts with, contains, type, metadata; then
by name. With more, or where so many candidates had to be looked at that nobody knows, the listing
is in creation order, name hits first. Each page looks at a bounded number of candidates, so that a
rare 2-character query over a million nodes answers at once, with an empty page and a place to go
on from.

Positions hold the place of a hit, not a count, so that writes between two pages neither repeat nor
hide a hit. A damaged or missing index never fails a search: the candidates then come from a scan.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from typing import TypeAlias

import apsw

from schemory.errors import InvalidCursorError
from schemory.model.frozen import dataclass, replace
from schemory.model.node import NodeRecord
from schemory.storage.protocols import Position, SearchHit, SearchPage, SearchQuery
from schemory.storage.sqlite.candidates import BY_NAME, Source
from schemory.storage.sqlite.index import (
    add_rows,
    answers_for,
    check_index,
    index_tables_sql,
    is_index_fault,
    optimize,
    rebuild_index,
    remove_rows,
)
from schemory.storage.sqlite.index_text import is_findable
from schemory.storage.sqlite.search_plan import Match, Plan, Rank, everything, make_plan
from schemory.storage.sqlite.suggest import lines_naming, suggest_names

__all__ = [
    "Load",
    "add_rows",
    "check_index",
    "index_tables_sql",
    "lines_naming",
    "optimize",
    "rebuild_index",
    "remove_rows",
    "search",
    "suggest_names",
]

Load: TypeAlias = Callable[[Sequence[int]], dict[int, NodeRecord]]
"""Returns stored nodes by id."""

MAX_RANKED = 1_000
"""Up to so many matches are ranked as a whole."""

MAX_CANDIDATES = 20_000
"""So many candidates are looked at for one page."""

_RANK, _CREATION, _ALL = "rank", "creation", "all"


@dataclass(frozen=True, slots=True)
class _Stand:
    """Where a listing in creation order goes on: after a node, in one of its two stages.

    `floor` is set when a ranked listing outgrew its bound between two pages: what was ranked up to
    there has been shown.
    """

    stage: int = BY_NAME
    node_id: int = 0
    floor: Rank | None = None

    def at(self, stage: int, node_id: int) -> Position:
        """Return the position after a node of this listing."""
        return (_CREATION, stage, node_id, *(self.floor or ()))


def search(  # noqa: PLR0917 (a reader's verb and what it stands on)
    db: apsw.Connection,
    number: int,
    query: SearchQuery,
    after: Position | None,
    limit: int,
    load: Load,
) -> SearchPage:
    """Return the matches after `after`, at most `limit`.

    Raises:
        InvalidCursorError: `after` is no position of a search.
    """
    terms = tuple(dict.fromkeys(term for term in query.terms if term))
    if not terms:
        return _list_all(everything(db, number, query.node_types), after, limit, load)
    if not all(map(is_findable, terms)):
        return SearchPage(hits=(), more=None, order=_RANK, total=0)
    try:
        plan = make_plan(db, number, terms, query, scan=False)
        page = _page(plan, after, limit, load)
        if page.total != 0 or answers_for(db, number):
            return page
    except apsw.Error as error:
        if not is_index_fault(error):
            raise
    plan = make_plan(db, number, terms, query, scan=True)
    return replace(_page(plan, after, limit, load), degraded=True)


def _page(plan: Plan, after: Position | None, limit: int, load: Load) -> SearchPage:
    match after:
        case None:
            return _first_page(plan, None, limit, load)
        case ("rank", int(worst), int(together), str(name)):
            return _first_page(plan, (worst, together, name), limit, load)
        case ("creation", int(stage), int(node_id)):
            return _go_on(plan, _Stand(stage, node_id), limit, load)
        case ("creation", int(stage), int(node_id), int(worst), int(together), str(name)):
            return _go_on(plan, _Stand(stage, node_id, (worst, together, name)), limit, load)
        case _:
            raise InvalidCursorError("The position is not one of this search")


def _first_page(plan: Plan, floor: Rank | None, limit: int, load: Load) -> SearchPage:
    """Return the ranked page after `floor`, or the first one in creation order."""
    matches, end = _collect(plan, _Stand(), MAX_RANKED + 1)
    total = len(matches)
    if floor is not None:
        matches = [match for match in matches if match[:3] > floor]
    if end is not None or total > MAX_RANKED:
        return _in_creation_order(matches, end, _Stand(floor=floor), limit, load)
    matches.sort()
    shown = matches[:limit]
    hits = _hits(shown, [(_RANK, *match[:3]) for match in shown], load)
    more = hits[-1].position if len(matches) > limit else None
    return SearchPage(hits=hits, more=more, order=_RANK, total=total)


def _go_on(plan: Plan, stand: _Stand, limit: int, load: Load) -> SearchPage:
    matches, end = _collect(plan, stand, limit + 1)
    return _in_creation_order(matches, end, stand, limit, load)


def _in_creation_order(
    matches: Sequence[Match],
    end: tuple[int, int] | None,
    stand: _Stand,
    limit: int,
    load: Load,
) -> SearchPage:
    shown = matches[:limit]
    hits = _hits(shown, [stand.at(*match[3:]) for match in shown], load)
    more = None if end is None else stand.at(*end)
    if len(matches) > limit:
        more = hits[-1].position
    return SearchPage(hits=hits, more=more, order=_CREATION, total=None)


def _collect(plan: Plan, stand: _Stand, need: int) -> tuple[list[Match], tuple[int, int] | None]:
    """Collect up to `need` matches in creation order, name hits first.

    Returns:
        The matches, and the stage and node where it stopped; None = there are no more.
    """
    matches: list[Match] = []
    judge, floor = plan.judge, stand.floor
    last = (stand.stage, stand.node_id)
    with closing(plan.walk(*last)) as rows:
        for row in islice(rows, MAX_CANDIDATES):
            match = judge(row)
            if match is not None and (floor is None or match[:3] > floor):
                matches.append(match)
                if len(matches) == need:
                    return matches, match[3:]
            last = row[:2]
        is_all = next(rows, None) is None
    return matches, None if is_all else last


def _hits(
    matches: Sequence[Match], positions: Sequence[Position], load: Load
) -> tuple[SearchHit, ...]:
    records = load([match[4] for match in matches]) if matches else {}
    return tuple(
        SearchHit(record=records[match[4]], position=position)
        for match, position in zip(matches, positions, strict=True)
    )


def _list_all(source: Source, after: Position | None, limit: int, load: Load) -> SearchPage:
    match after:
        case None:
            last = 0
        case ("all", int(node_id)):
            last = node_id
        case _:
            raise InvalidCursorError("The position is not one of this search")
    with closing(source(last)) as rows:
        ids = [row[1] for row in islice(rows, limit + 1)]
    records = load(ids[:limit])
    hits = tuple(
        SearchHit(record=records[node_id], position=(_ALL, node_id)) for node_id in ids[:limit]
    )
    more = hits[-1].position if len(ids) > limit else None
    total = len(ids) if after is None and more is None else None
    return SearchPage(hits=hits, more=more, order=_CREATION, total=total)
