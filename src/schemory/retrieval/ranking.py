"""Orders the entries that match a query: words held, relevance, context, then steady ties.

An entry that matches weakly but stands beside, or under, one that matches well is often the one
that was meant: a conversation's answer follows its question. Source: retrieval.md item 4.

How much context counts depends on what was found, as one rule for all hits of a search:

* Where most hits are long, each stands for itself. The context's part is never less than an entry's
  own relevance, so an entry is lifted by a better neighbour, but none is overtaken by those that it
  lifts itself, and one that stands alone loses nothing. First places stay as they are while more
  is found among the first ten, also where neighbours have nothing to do with each other.
* Where most are short, a subject with several hits stands above one with a single hit: the better
  neighbour and the best other hit of the subject are added.
* Where they are the turns of conversations, these count twice as much as with short notes.
* Where a hit's neighbours are hits no more often than chance would have it, subjects mean nothing,
  and context does not count (but in conversations, whose answers share few words with questions).
"""

from collections.abc import Hashable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from schemory.model.frozen import dataclass

NEIGHBOUR_WEIGHT = 0.5
PARENT_WEIGHT = 0.5
"""What a conversation's turn is given of its better neighbour, and of its subject's best hit."""

NOTE_SHARE = 0.5
"""What short notes, which are no conversation, count of these weights."""

SHORT_CHARS = 300
LONG_CHARS = 600

_SHORT_FROM, _SHORT_TO = 0.5, 0.9  # from which share of short hits on they are taken as such
_TALK_FROM, _TALK_TO = 0.05, 0.15  # likewise of short hits that ask something

_TOP_SHARE = 8  # of the project an eighth at most is looked at, so that agreement can show
_AS_IF_EXPECTED, _AS_IF_SEEN = 3.0, 6.0  # beforehand: a few hits tell little against context
_AGREE_FROM, _AGREE_TO = 1.2, 1.8  # how many times more than by chance

CONTEXT_DEPTH = 200
"""As many of the best hits give context to others; hits below count as 0 for them."""

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
        asks: It is short and holds a question mark.
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
    asks: bool = False
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
    entries: int = 0,
) -> list[Ranked]:
    """Return the candidates, best first; each once, none added.

    Args:
        candidates: In any order.
        neighbour_weight: See NEIGHBOUR_WEIGHT.
        parent_weight: Likewise.
        depth: As many of the best give context.
        entries: How many the project has, which tells what chance would do; 0 = not known.
    """
    in_order = sorted(candidates, key=_own_order)
    best = in_order[:depth]
    scores = {candidate.id: candidate.relevance for candidate in best}
    tone = tone_of(best)
    trust = tone.talk + (1 - tone.talk) * agreement(best, entries)
    weights = trust * neighbour_weight, trust * parent_weight
    context = _Context(scores, _leaders(best), *weights, tone)
    ranked = [context.ranked(candidate) for candidate in in_order]
    # Entries that hold more of the query stand above all others, whatever their context.
    step = max((r.score for r in ranked), default=0.0)
    lifted = [
        Ranked(r.candidate, r.score + r.candidate.held * step, r.from_neighbour, r.from_parent)
        if r.candidate.held
        else r
        for r in ranked
    ]
    # The sort is stable: equal scores keep the order that the entries have by themselves.
    return sorted(lifted, key=lambda r: -r.score)


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


class Tone(NamedTuple):
    """What kind of texts the hits of a search are.

    Attributes:
        brevity: 0 = most are long, 1 = nearly all are short.
        talk: 0 = notes, 1 = turns of conversations: people ask each other.
    """

    brevity: float
    talk: float


def tone_of(candidates: Sequence[Candidate]) -> Tone:
    """Return what kind of texts these are.

    >>> tone_of([Candidate(id="a", relevance=1.0, chars=80, asks=True)])
    Tone(brevity=1.0, talk=1.0)
    >>> tone_of([Candidate(id="a", relevance=1.0, chars=800)])
    Tone(brevity=0.0, talk=0.0)
    """
    short = [candidate for candidate in candidates if candidate.chars <= SHORT_CHARS]
    if not short:
        return Tone(0.0, 0.0)
    asking = sum(candidate.asks for candidate in short) / len(short)
    return Tone(
        _ramp(len(short) / len(candidates), _SHORT_FROM, _SHORT_TO),
        _ramp(asking, _TALK_FROM, _TALK_TO),
    )


def agreement(best: Sequence[Candidate], entries: int) -> float:
    """Return whether neighbours agree, 0 = no more than by chance, 1 = far more, or not known.

    By chance a neighbour would be as relevant as any entry of the project, hit or not. Relevances
    count in units of their mean, so a lucky pair of weak hits says less than one of strong hits.

    >>> pairs = [Candidate(id=f"{n}", relevance=1.0, previous=f"{n ^ 1}") for n in range(20)]
    >>> strangers = [Candidate(id=f"{n}", relevance=1.0) for n in range(20)]
    >>> agreement(pairs, 200), agreement(strangers, 200), agreement(strangers[:2], 200)
    (1.0, 0.0, 1.0)
    """
    top = best[: entries // _TOP_SHARE]
    total = sum(candidate.relevance for candidate in top)
    if not total:
        return 1.0
    by_chance = 2 * len(top) ** 2 / entries
    relevance = {candidate.id: candidate.relevance for candidate in top}
    beside = sum(
        candidate.relevance * relevance.get(neighbour, 0.0)
        for candidate in top
        for neighbour in (candidate.previous, candidate.following)
        if neighbour is not None
    )
    seen = beside * (len(top) / total) ** 2
    more = (seen + _AS_IF_SEEN) / (by_chance + _AS_IF_EXPECTED)
    return _ramp(more, _AGREE_FROM, _AGREE_TO)


def _ramp(value: float, start: float, end: float) -> float:
    return min(1.0, max(0.0, (value - start) / (end - start)))


def _leaders(candidates: Sequence[Candidate]) -> dict[Key, tuple[Candidate, float]]:
    """Return the best hit of each group, and the relevance of its second best."""
    leaders: dict[Key, tuple[Candidate, float]] = {}
    for candidate in sorted(candidates, key=lambda each: -each.relevance):
        if candidate.group is None:
            continue
        known = leaders.get(candidate.group)
        if known is None:
            leaders[candidate.group] = candidate, 0.0
        elif not known[1]:
            leaders[candidate.group] = known[0], candidate.relevance
    return leaders


class _Context(NamedTuple):
    """What the best hits give to others."""

    scores: Mapping[str, float]
    leaders: Mapping[Key, tuple[Candidate, float]]
    neighbour_weight: float
    parent_weight: float
    tone: Tone

    def ranked(self, candidate: Candidate) -> Ranked:
        """Return a candidate with its score."""
        scores = self.scores
        before = scores.get(candidate.previous, 0.0) if candidate.previous else 0.0
        behind = scores.get(candidate.following, 0.0) if candidate.following else 0.0
        neighbour = max(before, behind)
        parent = self._parent(candidate)
        brevity = self.tone.brevity
        if not brevity:
            from_neighbour, from_parent = self._lifted(candidate, neighbour, parent)
        else:
            from_neighbour, from_parent = self._added(neighbour, parent)
            if brevity < 1:
                lifted = self._lifted(candidate, neighbour, parent)
                from_neighbour = (1 - brevity) * lifted[0] + brevity * from_neighbour
                from_parent = (1 - brevity) * lifted[1] + brevity * from_parent
        score = candidate.relevance + from_neighbour + from_parent
        return Ranked(candidate, score, from_neighbour, from_parent)

    def _parent(self, candidate: Candidate) -> float:
        leader, second = self.leaders.get(candidate.group, (candidate, 0.0))
        return second if leader.id == candidate.id else leader.relevance

    def _lifted(self, candidate: Candidate, neighbour: float, parent: float) -> tuple[float, float]:
        """Return what better ones give where each entry stands for itself."""
        own, lean = candidate.relevance, _lean(candidate.chars)
        whole = 1 + lean * (self.neighbour_weight + self.parent_weight)
        return (
            lean * self.neighbour_weight * max(0.0, neighbour - own) / whole,
            lean * self.parent_weight * max(0.0, parent - own) / whole,
        )

    def _added(self, neighbour: float, parent: float) -> tuple[float, float]:
        """Return what others add where entries are short."""
        share = NOTE_SHARE + (1 - NOTE_SHARE) * self.tone.talk
        return share * self.neighbour_weight * neighbour, share * self.parent_weight * parent


def _lean(chars: int) -> float:
    """Return how much an entry of that length leans on its context: 2 when short, 1 when long.

    >>> _lean(100), _lean(450), _lean(5000)
    (2.0, 1.5, 1.0)
    """
    long_share = (chars - SHORT_CHARS) / (LONG_CHARS - SHORT_CHARS)
    return 2.0 - min(1.0, max(0.0, long_share))
