"""Finds texts of one source that say nearly the same, in bounded memory and one pass."""

import zlib
from array import array
from typing import Final

from schemory.memory.similar import words_of

_KEPT: Final = 32
"""Smallest hashes of a text's runs of three words; their overlap estimates that of the texts."""

_LOOKED_UP: Final = 4
_FEWEST_RUNS: Final = 8
_MOST_TEXTS: Final = 50_000
LEAST_SHARE: Final = 0.5


class Sketches:
    """The texts met so far, each as a few numbers."""

    def __init__(self) -> None:
        self._sketches: list[array[int]] = []
        self._by_hash: dict[int, int] = {}  # the first text of each: one way to it is enough

    @property
    def is_full(self) -> bool:
        """Whether further texts are not compared any more."""
        return len(self._sketches) >= _MOST_TEXTS

    def add(self, text: str) -> tuple[int, float] | None:
        """Keep a text; return the number of the nearest one before it and how alike they are.

        Texts are numbered from 0 in the order of `add`; one that is too short is only numbered.
        """
        sketch = array("I") if self.is_full else _sketch(text)
        nearest = self._nearest(sketch)
        for each in sketch[:_LOOKED_UP]:
            self._by_hash.setdefault(each, len(self._sketches))
        self._sketches.append(sketch)
        return nearest

    def _nearest(self, sketch: "array[int]") -> tuple[int, float] | None:
        met = {self._by_hash[each] for each in sketch[:_LOOKED_UP] if each in self._by_hash}
        judged = [(_share(sketch, self._sketches[number]), -number) for number in met]
        best = max(judged, default=(0.0, 0))
        return (-best[1], round(best[0], 2)) if best[0] >= LEAST_SHARE else None


def _sketch(text: str) -> "array[int]":
    words = words_of(text)
    runs = {
        zlib.crc32("\0".join(run).encode())
        for run in zip(words, words[1:], words[2:], strict=False)
    }
    return array("I", sorted(runs)[:_KEPT] if len(runs) >= _FEWEST_RUNS else ())


def _share(first: "array[int]", second: "array[int]") -> float:
    """Estimate the share of runs that two texts have in common, by the smallest of both."""
    both = sorted({*first, *second})[:_KEPT]
    common = set(first) & set(second)
    return sum(each in common for each in both) / len(both) if both else 0.0
