"""Orders the entries that match a query: words held, relevance, context, then steady ties.

An entry that matches weakly but stands beside, or under, one that matches well is often the one
that was meant: a conversation's answer follows its question. Source: retrieval.md item 4.

The context's part is never less than the entry's own relevance. So an entry is lifted by a better
neighbour, but no entry is overtaken by those that it lifts itself, and a hit that stands alone
loses nothing: measured on SQuAD-it, first places stay as they are while more is found among the
first five and ten, also where neighbours have nothing to do with each other. Short entries say
little by themselves and lean on their context more than long ones.
"""

from collections.abc import Hashable, Mapping, Sequence
from enum import IntEnum
from typing import TypeAlias

from schemory.model.frozen import dataclass

NEIGHBOUR_WEIGHT = 0.5
PARENT_WEIGHT = 0.5
"""Weights for long entries; short ones count their context twice as much."""

SHORT_CHARS = 300
LONG_CHARS = 600

CONTEXT_DEPTH = 200
"""As many of the best hits give context to others; hits below count as 0 for them."""

COMMON_SHARE = 0.2
COMMON_FROM_ENTRIES = 20_000

Key: TypeAlias = Hashable


class Held(IntEnum):
    """How much of a query an entry holds: some words, all, identifiers whole, every sign."""

    SOME = 0
    ALL = 1
    EXACT = 2
    LITERAL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entry that matches a query.

    Attributes:
        id: The entry's id; the last tie-break.
        relevance: Above 0, more is better (the negated bm25 of SQLite).
        held: Whether it holds all words.
        chars: Length of the entry's content.
        group: What entries of one subject share: scope and topic, folded; None = it has none.
        previous: The entry before it in its group by created_at and id, matching or not.
        following: The entry behind it.
        importance: 1..5.
        confidence: 0..1; None sorts below every number.
        updated_at: ISO text; the newer comes first.
    """

    id: str
    relevance: float
    held: Held = Held.SOME
    chars: int = LONG_CHARS
    group: Key = None
    previous: str | None = None
    following: str | None = None
    importance: int = 3
    confidence: float | None = None
    updated_at: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place.

    Attributes:
        score: Falls or stays along the list; comparable within one list only.
        from_neighbour: What the better neighbour gave beyond the entry's own relevance.
        from_parent: What the best other hit of the same subject gave beyond it.
    """

    candidate: Candidate
    score: float
    from_neighbour: float
    from_parent: float


def rank(
    candidates: Sequence[Candidate],
    *,
    neighbour_weight: float = NEIGHBOUR_WEIGHT,
    parent_weight: float = PARENT_WEIGHT,
    depth: int = CONTEXT_DEPTH,
) -> list[Ranked]:
    """Return the candidates, best first; each once, none added."""
    in_order = sorted(candidates, key=_own_order)
    scores = {candidate.id: candidate.relevance for candidate in in_order[:depth]}
    leaders = _leaders(in_order[:depth])
    ranked = [
        _with_context(candidate, scores, leaders, neighbour_weight, parent_weight)
        for candidate in in_order
    ]
    # Entries that hold more of the query stand above all others, whatever their context.
    step = max((r.score for r in ranked), default=0.0)
    lifted = [
        Ranked(r.candidate, r.score + r.candidate.held * step, r.from_neighbour, r.from_parent)
        for r in ranked
    ]
    # The sort is stable: equal scores keep the order that the entries have by themselves.
    return sorted(lifted, key=lambda r: -r.score)


def common_terms(frequencies: Mapping[str, int], entries: int) -> frozenset[str]:
    """Return the terms that stand in so many of the entries that they should not select hits.

    None in a small project: there reading all costs nothing. Source: retrieval.md item 4.
    """
    if entries < COMMON_FROM_ENTRIES:
        return frozenset()
    most = entries * COMMON_SHARE
    return frozenset(term for term, count in frequencies.items() if count > most)


def _own_order(candidate: Candidate) -> tuple[object, ...]:
    return (-candidate.held, -candidate.relevance, *_tie_break(candidate))


def _tie_break(candidate: Candidate) -> tuple[int, float, "_Newest", str]:
    confidence = -1.0 if candidate.confidence is None else candidate.confidence
    return -candidate.importance, -confidence, _Newest(candidate.updated_at), candidate.id


class _Newest(str):
    """Text that sorts backwards."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)


def _leaders(candidates: Sequence[Candidate]) -> dict[Key, float]:
    """Return the best relevance in each group."""
    leaders: dict[Key, float] = {}
    for candidate in candidates:
        if candidate.group is not None:
            best = leaders.get(candidate.group, 0.0)
            leaders[candidate.group] = max(best, candidate.relevance)
    return leaders


def _with_context(
    candidate: Candidate,
    scores: Mapping[str, float],
    leaders: Mapping[Key, float],
    neighbour_weight: float,
    parent_weight: float,
) -> Ranked:
    own = candidate.relevance
    lean = _lean(candidate.chars)
    beside = (scores.get(key, 0.0) for key in (candidate.previous, candidate.following) if key)
    neighbour = max(own, *beside, 0.0)
    parent = max(own, leaders.get(candidate.group, 0.0))
    score = own + lean * (neighbour_weight * neighbour + parent_weight * parent)
    return Ranked(
        candidate,
        score / (1 + lean * (neighbour_weight + parent_weight)),
        lean * neighbour_weight * (neighbour - own),
        lean * parent_weight * (parent - own),
    )


def _lean(chars: int) -> float:
    """Return how much an entry of that length leans on its context: 2 when short, 1 when long.

    >>> _lean(100), _lean(450), _lean(5000)
    (2.0, 1.5, 1.0)
    """
    long_share = (chars - SHORT_CHARS) / (LONG_CHARS - SHORT_CHARS)
    return 2.0 - min(1.0, max(0.0, long_share))
