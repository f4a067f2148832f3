"""Groups of index terms as full-text expressions, and what a bag of terms holds of them.

Nothing here is a user's text: a term holds letters, digits and private-use characters, and is
quoted all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from schemory.hints import TYPE_CHECKING
from schemory.storage.memory_protocols import Holds, TermGroup

if TYPE_CHECKING:
    from typing import TypeAlias

Has: TypeAlias = Callable[[str, bool], bool]
"""Whether a term (True: anything that begins with it) is there."""

Phrase: TypeAlias = tuple[str, bool]
"""A term, and whether anything that begins with it is meant."""


def terms_of(group: TermGroup) -> tuple[str, ...]:
    """Return every term of a group, each once, the word itself first."""
    parts = (term for part in group.parts for term in part)
    return tuple(term for term in dict.fromkeys((*group.whole, *parts)) if term)


def match_any(groups: Sequence[TermGroup], without: Collection[str] = ()) -> str:
    """Return the expression for entries with any term, which hold all required groups.

    Args:
        groups: At least one has a term.
        without: Terms that shall not select; where no other is left, they do.

    >>> match_any([TermGroup(whole=("a", "b")), TermGroup(whole=("c",))])
    '"a" OR "b" OR "c"'
    """
    required = [_whole_or_parts(group) for group in groups if group.is_required]
    if required and all(group.is_required for group in groups):
        return " AND ".join(required)
    expression = _any_of(groups, without) or _any_of(groups, ())
    return " AND ".join([*required, f"({expression})"]) if required else expression


def _any_of(groups: Iterable[TermGroup], without: Collection[str]) -> str:
    asked = dict.fromkeys(
        quoted((term, group.is_prefix and term in group.whole))
        for group in groups
        for term in terms_of(group)
        if term not in without
    )
    return " OR ".join(asked)


def match_all(groups: Iterable[TermGroup]) -> str:
    """Return the expression for entries that hold every group.

    >>> match_all([TermGroup(whole=("a_b",), parts=(("a",), ("b", "bs"))), TermGroup(whole=("c",))])
    '("a_b" OR ("a" AND ("b" OR "bs"))) AND "c"'
    """
    return " AND ".join(map(_whole_or_parts, groups))


def match_exact(groups: Iterable[TermGroup]) -> str:
    """Return the expression for entries that hold every group, an identifier as a whole."""
    return " AND ".join(_wholes(group) if group.whole else _all_parts(group) for group in groups)


def has_identifier(groups: Iterable[TermGroup]) -> bool:
    """Return whether `match_exact` asks for more than `match_all`."""
    return any(group.whole and group.parts for group in groups)


def _whole_or_parts(group: TermGroup) -> str:
    options = [_wholes(group)] if group.whole else []
    options += [_all_parts(group)] if group.parts else []
    return _joined(options, "OR")


def _wholes(group: TermGroup) -> str:
    return _joined([quoted((term, group.is_prefix)) for term in group.whole], "OR")


def _all_parts(group: TermGroup) -> str:
    parts = (_joined([quoted((term, False)) for term in part], "OR") for part in group.parts)
    return _joined(list(parts), "AND")


def _joined(expressions: list[str], word: str) -> str:
    return expressions[0] if len(expressions) == 1 else f"({f' {word} '.join(expressions)})"


def quoted(phrase: Phrase) -> str:
    """Return the full-text expression for a term."""
    term, is_prefix = phrase
    text = '"' + term.replace('"', '""') + '"'
    return f"{text}*" if is_prefix else text


def each_phrase(groups: Iterable[TermGroup]) -> list[Phrase]:
    """Return every phrase of the groups, each once."""
    asked = (
        (term, group.is_prefix and term in group.whole)
        for group in groups
        for term in terms_of(group)
    )
    return list(dict.fromkeys(asked))


def group_frequency(group: TermGroup, frequencies: Mapping[Phrase, int]) -> int:
    """Return in how many entries a group stands at least; 0 = no entry can hold it."""
    whole = max((frequencies.get((t, group.is_prefix), 0) for t in group.whole), default=0)
    parts = [max((frequencies.get((t, False), 0) for t in part), default=0) for part in group.parts]
    return max(whole, min(parts, default=0))


def held_by(groups: Sequence[TermGroup], has: Has) -> frozenset[int]:
    """Return the indexes of the groups that are held."""
    return frozenset(i for i, group in enumerate(groups) if _is_held(group, has))


def _is_held(group: TermGroup, has: Has) -> bool:
    if any(has(term, group.is_prefix) for term in group.whole):
        return True
    as_part = partial(_has_whole, has)
    return bool(group.parts) and all(any(map(as_part, part)) for part in group.parts)


def _has_whole(has: Has, term: str) -> bool:
    is_prefix = False
    return has(term, is_prefix)


def holds_of(groups: Sequence[TermGroup], has: Has) -> Holds | None:
    """Return how much is held; None when no term is, or something required is not."""
    held = held_by(groups, has)
    if any(group.is_required and i not in held for i, group in enumerate(groups)):
        return None
    if len(held) < len(groups):
        any_term = any(_has_any(group, has) for group in groups)
        return Holds.SOME if any_term else None
    exact = all(
        not group.whole or any(has(term, group.is_prefix) for term in group.whole)
        for group in groups
    )
    return Holds.EXACT if exact else Holds.ALL


def _has_any(group: TermGroup, has: Has) -> bool:
    if any(has(term, group.is_prefix) for term in group.whole):
        return True
    return any(_has_whole(has, term) for part in group.parts for term in part)
