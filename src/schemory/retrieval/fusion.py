"""Joins two judgements of the same entries: how well their words match, how near their vectors are.

`(1 - w) · words / best + w · nearness`, nearness from 0 for the farthest candidate to 1 for the
nearest. Both are judged within one search, so neither scale matters. An entry that has no vector
yet is judged by its words alone, so it neither gains nor loses. Source: retrieval.md.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Judgement(NamedTuple):
    """What is known of one candidate.

    Attributes:
        words: How well its words match, 0 = not at all (the negated bm25).
        similarity: Of its vector to the query's; None = it has none.
    """

    words: float
    similarity: float | None


class Scale(NamedTuple):
    """Against what candidates of one search are judged, so that later ones compare."""

    best: float
    farthest: float
    nearest: float
    weight: float

    def fused(self, one: Judgement) -> float:
        """Return a candidate's relevance, 0 to 1.

        >>> scale = Scale(best=8.0, farthest=0.2, nearest=0.6, weight=0.25)
        >>> scale.fused(Judgement(8.0, 0.2)), scale.fused(Judgement(0.0, 0.6))
        (0.75, 0.25)
        >>> scale.fused(Judgement(4.0, None))
        0.5
        """
        words = min(1.0, one.words / self.best) if self.best else 0.0
        if one.similarity is None:
            return words
        return (1 - self.weight) * words + self.weight * self._nearness(one.similarity)

    def _nearness(self, similarity: float) -> float:
        if self.nearest <= self.farthest:
            return 1.0
        share = (similarity - self.farthest) / (self.nearest - self.farthest)
        return min(1.0, max(0.0, share))


def scale_of(candidates: Iterable[Judgement], weight: float) -> Scale:
    """Return the scale that these candidates make; `weight` is nearness's, 0 to 1."""
    given = list(candidates)
    known = [one.similarity for one in given if one.similarity is not None]
    return Scale(
        best=max((one.words for one in given), default=0.0),
        farthest=min(known, default=0.0),
        nearest=max(known, default=0.0),
        weight=weight,
    )
