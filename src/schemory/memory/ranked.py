"""The whole ranking of one project for one query, as far as cursors reach (memory.md §6).

First come the best 200 candidates with their context; only when a cursor goes on behind them, the
next ones are ranked and put behind. So the first pages cost little, and every page sees one order.
"""

from collections.abc import Callable, Sequence

from schemory.model.entry import Entry, Status
from schemory.model.frozen import dataclass
from schemory.retrieval.query import SearchQuery, holds_literal, holds_phrases, parse_query
from schemory.retrieval.ranking import CONTEXT_DEPTH, Candidate, Held, Ranked, rank
from schemory.storage.memory_protocols import (
    EntryFilter,
    Holds,
    IndexState,
    Match,
    Matches,
    MemoryReader,
    TermGroup,
)

MAX_DEPTH = 1_000
"""As far down a ranking cursors go."""

_READ_FOR_SIGNS = 50
"""As many of the best that hold all words are read for the query's very signs."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry in the ranking; `score` never rises from one to the next."""

    entry_id: str
    status: Status
    score: float
    ranked: Ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Entries that match, best first.

    Attributes:
        matches: What the store told of the first stage: frequencies and the index's state.
        groups: The query's words as the store was asked for them.
    """

    places: tuple[Standing, ...]
    matches: Matches
    groups: tuple[TermGroup, ...]

    @property
    def is_scan(self) -> bool:
        """Whether the index could not be used."""
        return self.matches.index is IndexState.DAMAGED


def parse(reader: MemoryReader, text: str) -> SearchQuery:
    """Return what `text` asks for; of a very long one the words that are rarest here."""
    return parse_query(
        text, frequency=lambda term: reader.document_frequencies([term]).get(term, 0)
    )


def groups_of(query: SearchQuery) -> tuple[TermGroup, ...]:
    """Return the query's words as a store takes them."""
    required = set(query.phrase_words)
    return tuple(
        TermGroup(
            whole=word.whole,
            parts=word.parts,
            is_prefix=word.is_prefix,
            is_required=word in required,
        )
        for word in query.words
    )


def rank_project(
    reader: MemoryReader, query: SearchQuery, entry_filter: EntryFilter, *, depth: int
) -> Ranking:
    """Return the ranking down to `depth` at least, where there are as many matches."""
    groups = groups_of(query)
    verify = _verifier(query)
    first = reader.match(groups, entry_filter, limit=CONTEXT_DEPTH, verify=verify)
    literal = _literal(reader, query, first.matches)
    ranked = _ranked(first.matches, literal)
    if depth > CONTEXT_DEPTH <= len(first.matches):
        deep = reader.match(groups, entry_filter, limit=MAX_DEPTH, verify=verify)
        seen = {match.id for match in first.matches}
        behind = _ranked(deep.matches, literal)
        ranked += [one for one in behind if one[0].candidate.id not in seen]
    return Ranking(places=tuple(_placed(ranked)), matches=first, groups=groups)


def _verifier(query: SearchQuery) -> Callable[[Sequence[str]], bool] | None:
    if not query.phrases:
        return None
    return lambda texts: holds_phrases(query, *texts)


def _literal(reader: MemoryReader, query: SearchQuery, matches: Sequence[Match]) -> frozenset[str]:
    """Return which of the best candidates hold the query sign for sign."""
    if not query.literal:
        return frozenset()
    full = [match.id for match in matches if match.holds >= Holds.ALL][:_READ_FOR_SIGNS]
    entries = reader.find_entries(full).values()
    return frozenset(e.id for e in entries if holds_literal(query, *searched_texts(e)))


def searched_texts(entry: Entry) -> tuple[str, ...]:
    """Return an entry's texts that a search looks into."""
    given = (entry.title, entry.content, entry.summary, entry.scope, entry.topic, *entry.tags)
    return tuple(text for text in given if text)


def _ranked(matches: Sequence[Match], literal: frozenset[str]) -> list[tuple[Ranked, Status]]:
    status = {match.id: match.status for match in matches}
    ranked = rank([_candidate(match, is_literal=match.id in literal) for match in matches])
    return [(one, status[one.candidate.id]) for one in ranked]


def _candidate(match: Match, *, is_literal: bool) -> Candidate:
    return Candidate(
        id=match.id,
        relevance=match.score,
        held=Held.LITERAL if is_literal else Held(match.holds),
        chars=match.content_bytes,
        group=match.place,
        previous=match.previous_id,
        following=match.next_id,
        importance=match.importance,
        confidence=match.confidence,
        updated_at=match.updated_at,
    )


def _placed(ranked: Sequence[tuple[Ranked, Status]]) -> list[Standing]:
    """Give each its score.

    The second stage may hold something better than the end of the first; its score is lowered to
    what stands before it, so that scores never rise.
    """
    placed: list[Standing] = []
    lowest = float("inf")
    for one, status in ranked:
        lowest = min(lowest, significant(one.score))
        placed.append(Standing(one.candidate.id, status, lowest, one))
    return placed


def significant(number: float) -> float:
    """Return a number with four significant digits, as answers show it.

    >>> significant(12.34567), significant(0.0000012345)
    (12.35, 1.234e-06)
    """
    return float(f"{number:.4g}")
