"""The whole ranking of one project for one query, as far as cursors reach (memory.md §6).

First come the best 200 candidates with their context; only when a cursor goes on behind them, the
next ones are ranked and put behind. So the first pages cost little, and every page sees one order.
"""

from collections.abc import Callable, Sequence

from schemory.model.entry import Entry, Status
from schemory.model.frozen import dataclass
from schemory.retrieval.fusion import Judgement, Scale, scale_of
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
from schemory.storage.vector_protocols import Nearest

MAX_DEPTH = 1_000
"""As far down a ranking cursors go."""

_READ_FOR_SIGNS = 50
"""As many of the best that hold all words are read for the query's very signs."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry in the ranking; `score` never rises from one to the next.

    Attributes:
        judged: How well its words match and how near its vector is.
    """

    entry_id: str
    status: Status
    score: float
    ranked: Ranked
    judged: Judgement


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a search goes by beside words.

    Attributes:
        nearest: What vectors are compared with.
        weight: How much nearness counts, given the share of the query's words that is known here.
    """

    nearest: Nearest
    weight: Callable[[float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Entries that match, best first.

    Attributes:
        matches: What the store told of the first stage: frequencies and the index's state.
        groups: The query's words as the store was asked for them.
        weight: How much nearness counted; None = words alone were searched.
    """

    places: tuple[Standing, ...]
    matches: Matches
    groups: tuple[TermGroup, ...]
    weight: float | None = None

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
    reader: MemoryReader,
    query: SearchQuery,
    entry_filter: EntryFilter,
    *,
    depth: int,
    meaning: Meaning | None = None,
) -> Ranking:
    """Return the ranking down to `depth` at least, where there are as many matches."""
    groups = groups_of(query)
    verify = _verifier(query)
    nearest = meaning.nearest if meaning else None
    first = reader.match(groups, entry_filter, limit=CONTEXT_DEPTH, verify=verify, nearest=nearest)
    scale = _scale(first, meaning)
    literal = _literal(reader, query, first.matches)
    ranked = _ranked(first.matches, literal, scale)
    if depth > CONTEXT_DEPTH <= len(first.matches):
        deep = reader.match(groups, entry_filter, limit=MAX_DEPTH, verify=verify, nearest=nearest)
        seen = {match.id for match in first.matches}
        behind = _ranked(deep.matches, literal, scale)
        ranked += [one for one in behind if one[0].candidate.id not in seen]
    return Ranking(
        places=tuple(_placed(ranked)),
        matches=first,
        groups=groups,
        weight=scale.weight if scale else None,
    )


def asks_for_names(query: SearchQuery) -> bool:
    """Return whether a query is identifiers only: those have no meaning but themselves.

    >>> asks_for_names(parse_query("ERR_TOKEN_42")), asks_for_names(parse_query("token expiry"))
    (True, False)
    """
    return all(word.whole and (word.parts or _has_digit(word.text)) for word in query.words)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _scale(matches: Matches, meaning: Meaning | None) -> Scale | None:
    """Return against what words and nearness are judged; None where words alone count."""
    if meaning is None or matches.embedded is None:
        return None
    known = [count > 0 for count in matches.document_frequency]
    weight = meaning.weight(sum(known) / len(known) if known else 0.0)
    return scale_of(map(_judgement, matches.matches), weight)


def _judgement(match: Match) -> Judgement:
    return Judgement(match.score, match.similarity)


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


def _ranked(
    matches: Sequence[Match], literal: frozenset[str], scale: Scale | None
) -> list[tuple[Ranked, Match]]:
    by_id = {match.id: match for match in matches}
    ranked = rank([_candidate(match, scale, is_literal=match.id in literal) for match in matches])
    return [(one, by_id[one.candidate.id]) for one in ranked]


def _candidate(match: Match, scale: Scale | None, *, is_literal: bool) -> Candidate:
    return Candidate(
        id=match.id,
        relevance=match.score if scale is None else scale.fused(_judgement(match)),
        held=Held.LITERAL if is_literal else Held(match.holds),
        chars=match.content_bytes,
        asks=match.asks,
        group=match.place,
        previous=match.previous_id,
        following=match.next_id,
        importance=match.importance,
        confidence=match.confidence,
        updated_at=match.updated_at,
    )


def _placed(ranked: Sequence[tuple[Ranked, Match]]) -> list[Standing]:
    """Give each its score.

    The second stage may hold something better than the end of the first; its score is lowered to
    what stands before it, so that scores never rise.
    """
    placed: list[Standing] = []
    lowest = float("inf")
    for one, match in ranked:
        lowest = min(lowest, one.score)
        placed.append(Standing(match.id, match.status, lowest, one, _judgement(match)))
    return placed


def significant(number: float) -> float:
    """Return a number with four significant digits, as answers show it.

    >>> significant(12.34567), significant(0.0000012345)
    (12.35, 1.234e-06)
    """
    return float(f"{number:.4g}")
