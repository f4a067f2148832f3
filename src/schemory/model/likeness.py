"""How alike two words are, so that errors can name the nearest valid thing."""

from collections.abc import Iterable
from itertools import islice

from schemory.model.metadata import normal_key

_MIN_PREFIX = 3
_MAX_COMPARED = 2_000
_MAX_CHARS = 64


def edit_distance(first: str, second: str, *, at_most: int = 2) -> int:
    """Return how many edits make `first` into `second`; `at_most + 1` when it takes more.

    An edit inserts, deletes or replaces a character, or swaps two neighbours.

    >>> edit_distance("requried", "required"), edit_distance("enum", "items")
    (1, 3)
    """
    # An edit changes the length by one at most, and the set of letters by two.
    if abs(len(first) - len(second)) > at_most or len(set(first) ^ set(second)) > 2 * at_most:
        return at_most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if older and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > at_most:
            return at_most + 1
    return min(row[-1], at_most + 1)


def nearest(word: str, candidates: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return the candidates most like `word`, best first; only those that may well be meant.

    Case, spaces, `_` and `-` count for nothing. A candidate is near when it takes few edits for
    its length, or when one of the two begins with the other. Long words and the far end of a long
    list are not looked at, so that the work stays bounded.

    >>> nearest("wizzard", ["Warrior", "Wizard", "Thief"])
    ('Wizard',)
    >>> nearest("desc", ["name", "description"])
    ('description',)
    """
    wanted = normal_key(word)
    ranked: list[tuple[int, str]] = []
    for candidate in islice(dict.fromkeys(candidates), _MAX_COMPARED):
        rank = _rank(wanted, normal_key(candidate))
        if rank is not None:
            ranked.append((rank, candidate))
    ranked.sort(key=lambda pair: pair[0])
    return tuple(candidate for _, candidate in ranked[:limit])


def _rank(wanted: str, candidate: str) -> int | None:
    short, long = sorted((wanted, candidate), key=len)
    at_most = max(1, len(short) // 3)
    if len(long) <= _MAX_CHARS:
        edits = edit_distance(wanted, candidate, at_most=at_most)
        if edits <= at_most:
            return edits
    if len(short) >= _MIN_PREFIX and long.startswith(short):
        return at_most + 1
    return None
