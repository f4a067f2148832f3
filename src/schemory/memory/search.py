"""Searching one project's memory (memory.md §5 and §6)."""

from collections.abc import Sequence

from schemory.memory.duplicates import copies_of
from schemory.memory.faults import invalid, refuse
from schemory.memory.filters import search_filter
from schemory.memory.inputs import ProjectRef, SearchRequest
from schemory.memory.limiting import limited
from schemory.memory.meaning import make_missing, meaning_of, pending_warnings
from schemory.memory.ranked import (
    MAX_DEPTH,
    Meaning,
    Ranking,
    Standing,
    parse,
    rank_project,
    significant,
)
from schemory.memory.results import LeftOut, MatchKind, ScoreParts, SearchHit, SearchPage
from schemory.memory.trust import verification_hint, warning_codes
from schemory.memory.work import Reading, Work
from schemory.model.entry import Entry, Status
from schemory.model.frozen import replace
from schemory.retrieval.query import SearchQuery
from schemory.retrieval.snippets import make_snippet
from schemory.storage.memory_protocols import (
    EntryFilter,
    IndexState,
    MemoryReader,
    NameCount,
)
from schemory.storage.protocols import Position

_ELSEWHERE = "Look into the docs, the code and the tickets, and save what you find out."
NO_HIT_HINT = f"Nothing stored matches; nothing is made up in its place. {_ELSEWHERE}"
FILTERED_HINT = (
    "Nothing stored matches with these filters (scope, topic, tags, source_type, dates); "
    f"search without them. {_ELSEWHERE}"
)
EMPTY_HINT = f"This project's memory is empty. {_ELSEWHERE}"
NOTHING_TO_SEARCH_HINT = (
    "The query holds no letter or digit, so there is nothing to search for. "
    "Search for a word, or leave the query blank to list the newest entries."
)
DAMAGED_WARNING = (
    "The search index is damaged or missing: the newest entries were scanned instead. "
    "memory_rebuild_index mends it."
)
OUTDATED_WARNING = (
    "The search index was made by other rules; the next write, or memory_rebuild_index, renews it."
)
_PARTIAL_WARNING = "Not every entry was looked at; narrow the search by scope, topic or date."
_NAMES_IN_HINT = 10
_LEFT_OUT = 10

RANKED, LISTED = "ranked", "listed"
"""What a position counts: places of a ranking, or of a listing."""


def search_project(work: Work, ref: ProjectRef, request: SearchRequest) -> SearchPage:
    """Return a page of one project's entries that match, best first."""
    if request.query.strip():
        make_missing(work, ref)
    with work.reading(ref) as reading:
        entry_filter = search_filter(request, work.now())
        limit = limited(request.limit, reading)
        if not request.query.strip():
            return _listed(reading, request, entry_filter, limit)
        query = parse(reading.reader, request.query)
        if query.is_empty:
            return _page(reading, (), hint=NOTHING_TO_SEARCH_HINT)
        meaning = meaning_of(work, query, reading.warnings)
        return _searched(reading, request, query, entry_filter, limit=limit, meaning=meaning)


def index_warnings(state: IndexState, *, is_partial: bool = False) -> list[str]:
    """Return what to say of the index that a search went through."""
    told = {IndexState.DAMAGED: [DAMAGED_WARNING], IndexState.OUTDATED: [OUTDATED_WARNING]}
    return [*told.get(state, []), *([_PARTIAL_WARNING] if is_partial else [])]


def listed_hit(entry: Entry, position: Position) -> SearchHit:
    """Return an entry of a listing: nothing was searched for, so it has no score."""
    return SearchHit(
        entry=entry,
        snippet=make_snippet(entry.content, SearchQuery("")),
        score=0.0,
        match=None,
        verification_hint=verification_hint(entry.status),
        codes=warning_codes(entry),
        position=position,
    )


def ranked_hit(
    entry: Entry,
    query: SearchQuery,
    place: Standing,
    ranking: Ranking,
    *,
    position: Position,
    parts: ScoreParts | None,
) -> SearchHit:
    """Return a hit of a search."""
    return SearchHit(
        entry=entry,
        snippet=_snippet(entry, query),
        score=significant(place.score),
        match="like" if ranking.is_scan else _match_kind(place),
        verification_hint=verification_hint(entry.status),
        codes=warning_codes(entry),
        position=position,
        parts=parts,
    )


def _match_kind(place: Standing) -> MatchKind:
    """Return how a hit was found: by words, by its vector, or by both."""
    words, similarity = place.judged
    if similarity is None:
        return "fts"
    return "hybrid" if words else "vector"


def score_parts(
    query: SearchQuery, place: Standing, held: frozenset[int], ranking: Ranking
) -> ScoreParts:
    """Return how a hit came to its place."""
    ranked = place.ranked
    words, similarity = place.judged
    return ScoreParts(
        held=ranked.candidate.held.name.lower() if words else "none",
        relevance=significant(ranked.candidate.relevance),
        from_neighbour=significant(ranked.from_neighbour),
        from_parent=significant(ranked.from_parent),
        words=tuple(word.text for n, word in enumerate(query.words) if n in held),
        together=None if place.together is None else significant(place.together),
        by_words=None if ranking.weight is None else significant(words),
        similarity=None if similarity is None else significant(similarity),
        weight=ranking.weight,
    )


def position_of(after: Position | None, kind: str, length: int) -> Position:
    """Return what a position holds behind its kind; () = from the beginning.

    Raises:
        InvalidParamError: It is no position of such a page.
    """
    if after is None:
        return ()
    if len(after) < length + 1 or after[0] != kind:
        hint = "Leave cursor out to start from the beginning."
        raise refuse(invalid("cursor", "does not belong to this search", suggestion=hint))
    return after[1:]


def _snippet(entry: Entry, query: SearchQuery) -> str:
    """Return the telling passage of the content, or of the summary where only that has a match."""
    snippet = make_snippet(entry.content, query)
    if ">>>" not in snippet and entry.summary:
        other = make_snippet(entry.summary, query)
        return other if ">>>" in other else snippet
    return snippet


def _listed(
    reading: Reading, request: SearchRequest, entry_filter: EntryFilter, limit: int
) -> SearchPage:
    after = position_of(request.after, LISTED, 0) or None
    page = reading.reader.list_entries(entry_filter, after=after, limit=limit)
    hits = tuple(listed_hit(hit.entry, (LISTED, *hit.position)) for hit in page.hits)
    more = None if page.more is None else (LISTED, *page.more)
    hint = None
    if not hits and not after:
        others = _other_statuses(entry_filter)
        held = reading.reader.list_entries(others, limit=_LEFT_OUT).hits if others else ()
        hint = _retired_hint(entry_filter, [hit.entry.status for hit in held])
    return _page(reading, hits, more=more, hint=hint, is_filtered=is_filtered(entry_filter))


def _searched(
    reading: Reading,
    request: SearchRequest,
    query: SearchQuery,
    entry_filter: EntryFilter,
    *,
    limit: int,
    meaning: Meaning | None,
) -> SearchPage:
    start = _offset(position_of(request.after, RANKED, 1))
    reader, depth = reading.reader, start + limit + 1
    ranking = rank_project(reader, query, entry_filter, depth=depth, meaning=meaning)
    reading.warnings += index_warnings(ranking.matches.index, is_partial=ranking.matches.is_partial)
    reading.warnings += pending_warnings(ranking.matches)
    shown, end, copies = _choose(reader, ranking, start, limit)
    held = (
        reader.held_groups(ranking.groups, [p.entry_id for _, p in shown])
        if request.explain
        else None
    )
    entries = reader.find_entries(place.entry_id for _, place in shown)
    hits = tuple(
        ranked_hit(
            entries[place.entry_id],
            query,
            place,
            ranking,
            position=(RANKED, at + 1),
            parts=None
            if held is None
            else score_parts(query, place, held.get(place.entry_id, frozenset()), ranking),
        )
        for at, place in shown
    )
    more = (RANKED, end) if end < min(len(ranking.places), MAX_DEPTH) else None
    nothing = not ranking.places
    retired = _retired(reader, ranking, entry_filter) if request.explain or nothing else []
    return _page(
        reading,
        hits,
        more=more,
        hint=_retired_hint(entry_filter, [each.status for each in retired]) if nothing else None,
        is_filtered=is_filtered(entry_filter),
        dropped=query.dropped,
        left_out=(*copies, *retired) if request.explain else (),
    )


def _offset(position: Position) -> int:
    if not position:
        return 0
    at = position[0]
    if not isinstance(at, int) or not 0 <= at <= MAX_DEPTH:
        raise refuse(invalid("cursor", "does not belong to this search"))
    return at


def _choose(
    reader: MemoryReader, ranking: Ranking, start: int, limit: int
) -> tuple[list[tuple[int, Standing]], int, list[LeftOut]]:
    """Return `limit` places from `start` on that are no copies, where they end, and the copies."""
    rank_of = {place.entry_id: at for at, place in enumerate(ranking.places)}
    shown: list[tuple[int, Standing]] = []
    left_out: list[LeftOut] = []
    at = start
    end = min(len(ranking.places), MAX_DEPTH)
    while at < end and len(shown) < limit:
        stretch = ranking.places[at : min(end, at + limit - len(shown))]
        copies = copies_of(reader, [place.entry_id for place in stretch], rank_of)
        for place in stretch:
            original = copies.get(place.entry_id)
            if original is None:
                shown.append((at, place))
            else:
                left_out.append(_copy(place, original))
            at += 1
    return shown, at, left_out


def _copy(place: Standing, original: str) -> LeftOut:
    return LeftOut(entry_id=place.entry_id, reason="duplicate", status=place.status, of=original)


def _retired(reader: MemoryReader, ranking: Ranking, entry_filter: EntryFilter) -> list[LeftOut]:
    """Return the best matches that are left out for their status."""
    others = _other_statuses(entry_filter)
    matches = reader.match(ranking.groups, others, limit=_LEFT_OUT).matches if others else ()
    return [
        LeftOut(entry_id=match.id, reason="status", status=match.status)
        for match in matches[:_LEFT_OUT]
    ]


def is_filtered(entry_filter: EntryFilter) -> bool:
    """Return whether anything but a status narrows a search."""
    return replace(entry_filter, statuses=()) != EntryFilter()


def _other_statuses(entry_filter: EntryFilter) -> EntryFilter | None:
    """Return the filter for entries of every status that `entry_filter` does not take, if any."""
    others = tuple(status for status in Status if status not in entry_filter.statuses)
    return replace(entry_filter, statuses=others) if entry_filter.statuses and others else None


def _retired_hint(entry_filter: EntryFilter, found: Sequence[Status]) -> str | None:
    """Say that only entries of other statuses match; None where none does."""
    if not found:
        return None
    asked = " or ".join(entry_filter.statuses)
    least = "at least " if len(found) == _LEFT_OUT else ""
    told = " and ".join(f"{found.count(s)} {s}" for s in Status if s in found)
    do, them = ("does", "it") if len(found) == 1 else ("do", "them")
    said = f"No {asked} entry matches, but {least}{told} {do}; status=any shows {them}."
    return f"{said} {_ELSEWHERE}"


def _page(
    reading: Reading,
    hits: tuple[SearchHit, ...],
    *,
    more: Position | None = None,
    hint: str | None = None,
    is_filtered: bool = False,
    dropped: tuple[str, ...] = (),
    left_out: tuple[LeftOut, ...] = (),
) -> SearchPage:
    scopes, topics = _known_names(reading.reader) if not hits else ((), ())
    if not hits and hint is None:
        no_hit = FILTERED_HINT if is_filtered else NO_HIT_HINT
        hint = no_hit if any(reading.reader.count_statuses().values()) else EMPTY_HINT
    return SearchPage(
        project=reading.place.project,
        warnings=reading.told(),
        hits=hits,
        more=more,
        hint=hint,
        scopes=scopes,
        topics=topics,
        dropped=dropped,
        left_out=left_out,
    )


def _known_names(reader: MemoryReader) -> tuple[tuple[NameCount, ...], tuple[NameCount, ...]]:
    active = EntryFilter(statuses=(Status.ACTIVE,))
    scopes = reader.list_names("scope", active, limit=_NAMES_IN_HINT)
    return scopes, reader.list_names("topic", active, limit=_NAMES_IN_HINT)
