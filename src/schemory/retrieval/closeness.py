"""How close together a text holds a query's words: in one passage, or scattered over all of it.

bm25 does not look at places, so a long text that names each word somewhere counts as much as one
that answers in a sentence. The measure is the weight of the words that the best passage holds,
as a share of all that the query asks for; a rare word weighs more than a common one.
"""

from collections.abc import Iterable, Sequence
from math import log
from typing import Final

from schemory.retrieval.query import QueryWord, is_held
from schemory.retrieval.tokens import run_terms, spaceless_terms
from schemory.retrieval.words import pattern_for

PASSAGE_RUNS: Final = 25
"""As many words long a passage is: about a sentence."""

_LOOKED_AT: Final = 4_000  # characters of a text


class Closeness:
    """Judges texts for one query.

    Args:
        words: The query's.
        in_entries: In how many entries each of them stands.
        entries: How many there are.
    """

    def __init__(self, words: Sequence[QueryWord], in_entries: Sequence[int], entries: int) -> None:
        self._words = words
        self._terms = frozenset(term for word in words for term in word.terms)
        self._has_prefix = any(word.is_prefix for word in words)
        self._worth = [log(1 + entries / (1 + count)) for count in in_entries]
        self._known: dict[str, tuple[int, ...]] = {}

    @property
    def tells(self) -> bool:
        """Whether there is anything to judge: one word alone is always together."""
        return len(self._words) > 1 and sum(self._worth) > 0

    def of(self, texts: Iterable[str]) -> float:
        """Return the best passage's share of the query, 0 to 1.

        >>> from schemory.retrieval.query import parse_query
        >>> near = Closeness(parse_query("webhook retries").words, [1, 1], 100)
        >>> near.of(["A webhook retries twice."]), near.of(["webhook" + " and" * 50 + " retries"])
        (1.0, 0.5)
        """
        best = max((self._best(text[:_LOOKED_AT]) for text in texts), default=0.0)
        return best / sum(self._worth)

    def _best(self, text: str) -> float:
        """Return the weight of the words in the passage that holds most."""
        hits = self._hits(text)
        held = [0] * len(self._words)
        best = weight = 0.0
        first = 0
        for place, word in hits:
            while hits[first][0] <= place - PASSAGE_RUNS:
                gone = hits[first][1]
                held[gone] -= 1
                weight -= 0.0 if held[gone] else self._worth[gone]
                first += 1
            weight += 0.0 if held[word] else self._worth[word]
            held[word] += 1
            best = max(best, weight)
        return best

    def _hits(self, text: str) -> list[tuple[int, int]]:
        """Return (place, word) of all that stands in the text, places counted in runs."""
        pattern = pattern_for(text)
        if text.isascii():  # no script without spaces: whole runs, as fast as can be
            runs = [(run, False) for run in pattern.findall(text)]
        else:
            found = pattern.finditer(text)
            runs = [(each.group(), each.lastgroup == "spaceless") for each in found]
        known = self._known
        hits: list[tuple[int, int]] = []
        for place, (run, is_spaceless) in enumerate(runs):
            words = known.get(run)
            if words is None:
                words = known[run] = self._held_by(run, is_spaceless=is_spaceless)
            if words:
                hits += [(place, word) for word in words]
        return hits

    def _held_by(self, run: str, *, is_spaceless: bool) -> tuple[int, ...]:
        terms = spaceless_terms(run) if is_spaceless else run_terms(run)
        if not self._has_prefix and self._terms.isdisjoint(terms):
            return ()
        return tuple(at for at, word in enumerate(self._words) if is_held(word, terms))
