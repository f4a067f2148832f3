"""The whole ranking of one project for one query, as far as cursors reach (memory.md §6).

First come the best 200 candidates with their context; only when a cursor goes on behind them, the
next ones are ranked and put behind. So the first pages cost little, and every page sees one order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from schemory.model.entry import Entry, Status
from schemory.model.frozen import dataclass
from schemory.retrieval.closeness import Closeness
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

_READ_FOR_CLOSENESS = 20
"""As many of the best are read for how close the words stand; more found no more, measured."""

CLOSENESS_WEIGHT = 0.3
"""What a passage with all of the query's words adds, of the best entry's relevance."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry in the ranking; `score` never rises from one to the next.

    Attributes:
        judged: How well its words match and how near its vector is.
        together: How close together it holds them, 0 to 1; None = that was not looked at.
    """

    entry_id: str
    status: Status
    score: float
    ranked: Ranked
    judged: Judgement
    together: float | None = None


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
    read = _read(reader, query, first, scale)
    ranked = _ranked(first.matches, read, scale, first.entries)
    if depth > CONTEXT_DEPTH <= len(first.matches):
        deep = reader.match(groups, entry_filter, limit=MAX_DEPTH, verify=verify, nearest=nearest)
        seen = {match.id for match in first.matches}
        behind = _ranked(deep.matches, read, scale, first.entries)
        ranked += [one for one in behind if one[0].candidate.id not in seen]
    return Ranking(
        places=tuple(_placed(ranked, read)),
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


class _Read(NamedTuple):
    """What the texts of the best candidates tell.

    Attributes:
        literal: Those that hold the query sign for sign.
        closeness: How close together they hold its words, 0 to 1.
        worth: What a closeness of 1 adds to a candidate's relevance.
    """

    literal: frozenset[str]
    closeness: Mapping[str, float]
    worth: float


def _read(reader: MemoryReader, query: SearchQuery, found: Matches, scale: Scale | None) -> _Read:
    close = Closeness(query.words, found.document_frequency, found.entries)
    if not (query.literal or close.tells):
        return _Read(frozenset(), {}, 0.0)
    best = sorted(found.matches, key=lambda match: (-match.holds, -_relevance(match, scale)))
    full = [m.id for m in best if m.holds >= Holds.ALL][:_READ_FOR_SIGNS] if query.literal else []
    near = [m.id for m in best[:_READ_FOR_CLOSENESS]] if close.tells else []
    entries = reader.find_entries(dict.fromkeys((*full, *near)))
    texts = {entry_id: searched_texts(entry) for entry_id, entry in entries.items()}
    worth = max((match.score for match in best), default=0.0) if scale is None else 1.0
    return _Read(
        frozenset(i for i in full if i in texts and holds_literal(query, *texts[i])),
        {i: close.of(texts[i]) for i in near if i in texts},
        CLOSENESS_WEIGHT * worth,
    )


def _relevance(match: Match, scale: Scale | None) -> float:
    return match.score if scale is None else scale.fused(_judgement(match))


def searched_texts(entry: Entry) -> tuple[str, ...]:
    """Return an entry's texts that a search looks into."""
    given = (entry.title, entry.content, entry.summary, entry.scope, entry.topic, *entry.tags)
    return tuple(text for text in given if text)


def _ranked(
    matches: Sequence[Match], read: _Read, scale: Scale | None, entries: int
) -> list[tuple[Ranked, Match]]:
    by_id = {match.id: match for match in matches}
    ranked = rank([_candidate(match, scale, read) for match in matches], entries=entries)
    return [(one, by_id[one.candidate.id]) for one in ranked]


def _candidate(match: Match, scale: Scale | None, read: _Read) -> Candidate:
    close = read.closeness.get(match.id, 0.0)
    return Candidate(
        id=match.id,
        relevance=_relevance(match, scale) + read.worth * close,
        held=Held.LITERAL if match.id in read.literal else Held(match.holds),
        chars=match.content_bytes,
        asks=match.asks,
        group=match.place,
        previous=match.previous_id,
        following=match.next_id,
        importance=match.importance,
        confidence=match.confidence,
        updated_at=match.updated_at,
    )


def _placed(ranked: Sequence[tuple[Ranked, Match]], read: _Read) -> list[Standing]:
    """Give each its score.

    The second stage may hold something better than the end of the first; its score is lowered to
    what stands before it, so that scores never rise.
    """
    placed: list[Standing] = []
    lowest = float("inf")
    for one, match in ranked:
        lowest = min(lowest, one.score)
        together = read.closeness.get(match.id)
        placed.append(Standing(match.id, match.status, lowest, one, _judgement(match), together))
    return placed


def significant(number: float) -> float:
    """Return a number with four significant digits, as answers show it.

    >>> significant(12.34567), significant(0.0000012345)
    (12.35, 1.234e-06)
    """
    return float(f"{number:.4g}")
