"""Searching across projects, where the caller said so: project by project, then one order.

Projects are visited in the order of their ids, at most 200 a call; a cursor goes on through the
hits of those and then to the next ones. Each project is searched by itself, so that its ranking
stays its own; the lists are merged by whether all words are held, by the share of the query's
weight that is held, weighed over the visited projects, and by rank. Source: memory.md §6.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schemory.memory.faults import invalid, refuse
from schemory.memory.filters import search_filter
from schemory.memory.inputs import ProjectRef, SearchRequest
from schemory.memory.limiting import clamped
from schemory.memory.meaning import meaning_of
from schemory.memory.ranked import MAX_DEPTH, Ranking, Standing, parse, rank_project
from schemory.memory.results import SearchHit, SearchPage
from schemory.memory.search import (
    FILTERED_HINT,
    NO_HIT_HINT,
    NOTHING_TO_SEARCH_HINT,
    index_warnings,
    is_filtered,
    listed_hit,
    position_of,
    ranked_hit,
    score_parts,
)
from schemory.memory.settings import DEFAULT_LIMIT
from schemory.memory.work import Work
from schemory.model.entry import Entry
from schemory.model.frozen import dataclass, replace
from schemory.retrieval.query import SearchQuery
from schemory.storage.memory_protocols import EntryFilter, IndexState
from schemory.storage.protocols import Position

MAX_PROJECTS = 200
"""As many projects one call looks into."""

CROSS = "cross"
"""What a position of such a search begins with: then the project before the window, and a count."""


_LESS_THAN_ONE = 0.999


class _Window(NamedTuple):
    """The projects of one call, after which one they begin, and whether more follow."""

    after: str
    ids: tuple[str, ...]
    is_last: bool

    @property
    def next_after(self) -> str:
        return self.ids[-1] if self.ids else self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """One project's part of a search."""

    project_id: str
    query: SearchQuery
    ranking: Ranking
    held: dict[str, frozenset[int]]


class _Merged(NamedTuple):
    """A hit in the merged order; what sorts first stands first."""

    order: tuple[float, float, int, str, str]
    found: _Found
    place: Standing
    score: float


def search_everywhere(work: Work, ref: ProjectRef, request: SearchRequest) -> SearchPage:
    """Return a page of the entries of all projects the caller may see."""
    warnings: list[str] = []
    if ref.project_path is not None or ref.project_id is not None:
        warnings += work.place(ref).warnings
    entry_filter = search_filter(request, work.now())
    cap = work.settings.limits.max_search_results
    limit = clamped(request.limit, cap, warnings, default=DEFAULT_LIMIT)
    after, start = _start(request.after)
    window = _window(work, ref, after)
    if not request.query.strip():
        hits, more = _listed(work, window, entry_filter, start, limit)
        return _page(window, hits, more, warnings, hint=_hint(hits, entry_filter))
    depth = start + limit + 1
    found = list(_found(work, window, request.query, entry_filter, depth=depth, warnings=warnings))
    if found and found[0].query.is_empty:
        return _page(window, (), None, warnings, hint=NOTHING_TO_SEARCH_HINT)
    warnings += _index_warnings(found)
    merged = _merge(found)
    end = min(start + limit, MAX_DEPTH)
    entries = _entries(work, merged[start:end])
    hits = tuple(
        _hit(one, entries[one.place.entry_id], (CROSS, window.after, at + 1), request)
        for at, one in enumerate(merged[start:end], start)
        if one.place.entry_id in entries
    )
    more = _more(window, end, len(merged))
    dropped = found[0].query.dropped if found else ()
    hint = _hint(hits, entry_filter)
    return _page(window, hits, more, warnings, hint=hint, dropped=dropped)


def _start(position: Position | None) -> tuple[str, int]:
    held = position_of(position, CROSS, 2)
    if not held:
        return "", 0
    after, start = held[0], held[1]
    if not isinstance(after, str) or not isinstance(start, int) or not 0 <= start <= MAX_DEPTH:
        raise refuse(invalid("cursor", "does not belong to this search"))
    return after, start


def _window(work: Work, ref: ProjectRef, after: str) -> _Window:
    if ref.allowed_ids is not None:
        known = sorted(set(ref.allowed_ids))
        ids = [one for one in known if one > after][: MAX_PROJECTS + 1]
    else:
        listed = work.store.list_projects(after=after, limit=MAX_PROJECTS + 1)
        ids = [project.id for project in listed]
    return _Window(after, tuple(ids[:MAX_PROJECTS]), len(ids) <= MAX_PROJECTS)


def _found(
    work: Work,
    window: _Window,
    text: str,
    entry_filter: EntryFilter,
    *,
    depth: int,
    warnings: list[str],
) -> Iterator[_Found]:
    for project_id in window.ids:
        with work.store.read_memory(project_id) as reader:
            query = parse(reader, text)
            meaning = meaning_of(work, query, warnings)
            ranking = rank_project(reader, query, entry_filter, depth=depth, meaning=meaning)
            shown = [place.entry_id for place in ranking.places[:depth]]
            held = reader.held_groups(ranking.groups, shown) if shown else {}
        yield _Found(project_id=project_id, query=query, ranking=ranking, held=held)


def _merge(found: Sequence[_Found]) -> list[_Merged]:
    weights = _weights(found)
    merged: list[_Merged] = []
    for one in found:
        words = [word.text for word in one.query.words]
        whole = sum(weights[word] for word in words) or 1.0
        for rank, place in enumerate(one.ranking.places):
            if place.entry_id not in one.held:
                break
            has = sum(weights[words[n]] for n in one.held[place.entry_id])
            holds = place.ranked.candidate.held
            order = (-float(holds), -has / whole, rank, one.project_id, place.entry_id)
            score = round(holds + _LESS_THAN_ONE * has / whole, 4)
            merged.append(_Merged(order, one, place, score))
    merged.sort(key=lambda one: one.order)
    return merged


def _weights(found: Sequence[_Found]) -> dict[str, float]:
    """Return the weight (IDF) of each word over all visited projects together."""
    entries = sum(one.ranking.matches.entries for one in found)
    frequency: dict[str, int] = {}
    for one in found:
        counts = one.ranking.matches.document_frequency
        for word, count in zip(one.query.words, counts, strict=True):
            frequency[word.text] = frequency.get(word.text, 0) + count
    return {
        word: math.log(1 + (max(entries - count, 0) + 0.5) / (count + 0.5))
        for word, count in frequency.items()
    }


def _entries(work: Work, shown: Sequence[_Merged]) -> dict[str, Entry]:
    by_project: dict[str, list[str]] = {}
    for one in shown:
        by_project.setdefault(one.found.project_id, []).append(one.place.entry_id)
    entries: dict[str, Entry] = {}
    for project_id, ids in by_project.items():
        with work.store.read_memory(project_id) as reader:
            entries.update(reader.find_entries(ids))
    return entries


def _hit(one: _Merged, entry: Entry, position: Position, request: SearchRequest) -> SearchHit:
    held = one.found.held[one.place.entry_id]
    place, ranking = replace(one.place, score=one.score), one.found.ranking
    return ranked_hit(
        entry,
        one.found.query,
        place,
        ranking,
        position=position,
        parts=score_parts(one.found.query, place, held, ranking) if request.explain else None,
    )


def _listed(
    work: Work, window: _Window, entry_filter: EntryFilter, start: int, limit: int
) -> tuple[tuple[SearchHit, ...], Position | None]:
    entries: list[Entry] = []
    for project_id in window.ids:
        with work.store.read_memory(project_id) as reader:
            page = reader.list_entries(entry_filter, limit=min(start + limit + 1, MAX_DEPTH))
            entries += [hit.entry for hit in page.hits]
    entries.sort(key=lambda entry: (entry.updated_at, entry.id), reverse=True)
    end = min(start + limit, MAX_DEPTH)
    hits = tuple(
        listed_hit(entry, (CROSS, window.after, at + 1))
        for at, entry in enumerate(entries[start:end], start)
    )
    return hits, _more(window, end, len(entries))


def _more(window: _Window, end: int, count: int) -> Position | None:
    if end < min(count, MAX_DEPTH):
        return (CROSS, window.after, end)
    return None if window.is_last else (CROSS, window.next_after, 0)


def _index_warnings(found: Sequence[_Found]) -> list[str]:
    states = {one.ranking.matches.index for one in found}
    worst = next((s for s in (IndexState.DAMAGED, IndexState.OUTDATED) if s in states), None)
    partial = any(one.ranking.matches.is_partial for one in found)
    return index_warnings(worst or IndexState.SOUND, is_partial=partial)


def _page(
    window: _Window,
    hits: tuple[SearchHit, ...],
    more: Position | None,
    warnings: list[str],
    *,
    hint: str | None = None,
    dropped: tuple[str, ...] = (),
) -> SearchPage:
    if not window.is_last:
        warnings.append(
            f"{len(window.ids)} projects were searched and there are more; "
            "the cursor goes on to them after these hits."
        )
    return SearchPage(
        project=None,
        warnings=tuple(dict.fromkeys(warnings)),
        hits=hits,
        more=more,
        hint=hint,
        dropped=dropped,
        projects_searched=len(window.ids),
    )


def _hint(hits: tuple[SearchHit, ...], entry_filter: EntryFilter) -> str | None:
    """Say that nothing matches, and of which entries that holds; None where there are hits."""
    if hits:
        return None
    hint = FILTERED_HINT if is_filtered(entry_filter) else NO_HIT_HINT
    if not entry_filter.statuses:
        return hint
    asked = " or ".join(entry_filter.statuses)
    return f"{hint} Only {asked} entries were looked at; status=any takes in the others."
