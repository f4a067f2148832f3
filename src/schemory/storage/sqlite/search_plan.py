"""What one search is: its terms, where candidates come from, and how a match is placed.

A node matches when each term lies inside its name, its type or one of its metadata entries. It is
a *name hit* when its name alone holds all of them. Source: graph.md §2.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import apsw

from schemory.model.frozen import dataclass
from schemory.model.text import fold
from schemory.storage.protocols import SearchQuery
from schemory.storage.sqlite.candidates import (
    BY_NAME,
    BY_REST,
    Row,
    Source,
    Walk,
    count_having,
    count_of_types,
    lined,
    merged,
    named,
    named_only,
    nothing,
    of_type,
    postings,
    scanned,
    staged,
)
from schemory.storage.sqlite.index_text import (
    ENTRY_MARK,
    fold_lines,
    grams_of,
    match_all,
    parse_lines,
)

EQUALS, STARTS, CONTAINS, OF_TYPE, ENTRY = range(5)
"""Where a term is found, best first."""

Rank: TypeAlias = tuple[int, int, str]
"""How a match is ranked: its worst-placed term, all terms together, then its name."""

Match: TypeAlias = tuple[int, int, str, int, int]
"""A match: its rank, then the stage and id of the node."""

Judge: TypeAlias = Callable[[Row], Match | None]
"""Tells what a candidate is; None when it is no match, or one of the other stage."""

_PUNCTUATION: Final = ("[", ",", "]", "[]")  # what a JSON array has outside of quotes
_FEW: Final = 2_000  # nodes that are cheaper read than asked the index about
_MOST_TYPES: Final = 64  # streams merged at once; beyond, one scan is cheaper


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """The terms of a search and what the types table says about them.

    Attributes:
        texts: Folded, each findable, at least one.
        typed: Per term, the ids of the types whose name holds it.
        allowed: Ids of the only types wanted; None = any.
    """

    texts: tuple[str, ...]
    typed: tuple[frozenset[int], ...]
    allowed: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """One search made ready: where its candidates come from, and what becomes of each."""

    walk: Walk
    judge: Judge


def make_plan(
    db: apsw.Connection, number: int, texts: tuple[str, ...], query: SearchQuery, *, scan: bool
) -> Plan:
    """Choose where a search looks; `scan` keeps it off the search index."""
    types = _types(db, number)
    folded = [(fold(name), type_id) for name, type_id in types.items()]
    terms = _Terms(
        texts=texts,
        typed=tuple(frozenset(i for name, i in folded if text in name) for text in texts),
        allowed=_only(types, query.node_types),
    )
    judge = _judge_one(terms) if len(texts) == 1 else _judge_several(terms)
    return Plan(_walk(db, number, terms, scan=scan), judge)


def everything(db: apsw.Connection, number: int, node_types: Sequence[str]) -> Source:
    """Return all nodes of some types; without types, of the space."""
    only = _only(_types(db, number), node_types)
    return _of_types(db, number, only) or scanned(db, number)


def _types(db: apsw.Connection, number: int) -> dict[str, int]:
    return dict(db.execute("SELECT name, id FROM node_type WHERE project = ?", (number,)))


def _only(types: Mapping[str, int], wanted: Sequence[str]) -> frozenset[int] | None:
    return frozenset(types[name] for name in wanted if name in types) if wanted else None


# What is a match


def _judge_one(terms: _Terms) -> Judge:
    (text,), (typed,), allowed = terms.texts, terms.typed, terms.allowed
    size = len(text)
    is_plain = '"' not in text and text not in _PUNCTUATION
    in_lines = _folded_json if is_plain else _folded_lines

    def judge(row: Row) -> Match | None:
        stage, node_id, name, type_id, stored = row
        if allowed is not None and type_id not in allowed:
            return None
        folded = fold(name)
        at = folded.find(text)
        if at >= 0:
            if stage == BY_REST:
                return None
            place = CONTAINS if at else STARTS if len(folded) > size else EQUALS
        elif stage == BY_NAME:
            return None
        elif type_id in typed:
            place = OF_TYPE
        elif text in in_lines(stored):
            place = ENTRY
        else:
            return None
        return place, place, name, stage, node_id

    return judge


def _judge_several(terms: _Terms) -> Judge:
    allowed, pairs = terms.allowed, tuple(zip(terms.texts, terms.typed, strict=True))

    def judge(row: Row) -> Match | None:
        stage, node_id, name, type_id, stored = row
        if allowed is not None and type_id not in allowed:
            return None
        folded = fold(name)
        lines: str | None = None
        places: list[int] = []
        for text, typed in pairs:
            if text in folded:
                places.append(_place_in_name(text, folded))
            elif stage == BY_NAME:
                return None
            elif type_id in typed:
                places.append(OF_TYPE)
            else:
                lines = _folded_lines(stored) if lines is None else lines
                if text not in lines:
                    return None
                places.append(ENTRY)
        worst = max(places)
        is_name_hit = worst <= CONTAINS
        if is_name_hit != (stage == BY_NAME):
            return None
        return worst, sum(places), name, stage, node_id

    return judge


def _place_in_name(text: str, folded_name: str) -> int:
    if not folded_name.startswith(text):
        return CONTAINS
    return EQUALS if len(text) == len(folded_name) else STARTS


def _folded_lines(stored: str) -> str:
    # Without a backslash no entry holds a quote, so the JSON text is the entries but for its
    # punctuation: mostly there is nothing to parse.
    if "\\" in stored:
        return fold_lines(parse_lines(stored))
    if stored == "[]":
        return ""
    return fold(stored[2:-2].replace('","', ENTRY_MARK))


def _folded_json(stored: str) -> str:
    """Return a text that holds the same terms as the folded entries, but for punctuation."""
    return fold_lines(parse_lines(stored)) if "\\" in stored else fold(stored)


# Where candidates come from


def _walk(db: apsw.Connection, number: int, terms: _Terms, *, scan: bool) -> Walk:
    every = _of_types(db, number, terms.allowed) or scanned(db, number)
    made = {} if scan else {i: grams_of(text) for i, text in enumerate(terms.texts)}
    grams = {i: each for i, each in made.items() if each}
    if not grams:
        return staged(every, every)
    leader, cost = _leader(db, number, terms, grams)
    if terms.allowed is not None:
        wanted = count_of_types(db, number, sorted(terms.allowed), _FEW)
        if wanted < min(cost, _FEW):
            return staged(every, every)
    led = match_all(grams[leader])
    if len(terms.texts) == 1 and not terms.typed[leader]:
        return postings(db, number, led)
    by_name = named_only(
        db, number, match_all(dict.fromkeys(gram for each in grams.values() for gram in each))
    )
    return staged(by_name, _by_rest(db, number, terms, leader, led))


def _by_rest(db: apsw.Connection, number: int, terms: _Terms, leader: int, led: str) -> Source:
    sources = [lined(db, number, led)]
    if len(terms.texts) > 1:
        sources.append(named(db, number, led))
    if terms.typed[leader]:
        in_types = _of_types(db, number, terms.typed[leader])
        if in_types is None:
            return scanned(db, number)
        sources.append(in_types)
    return merged(sources)


def _of_types(db: apsw.Connection, number: int, types: frozenset[int] | None) -> Source | None:
    if types is None or len(types) > _MOST_TYPES:
        return None
    if not types:
        return nothing
    return merged([of_type(db, number, type_id) for type_id in sorted(types)])


def _leader(
    db: apsw.Connection, number: int, terms: _Terms, grams: Mapping[int, Sequence[str]]
) -> tuple[int, int]:
    """Return which term narrows the candidates most, and (roughly, up to a bound) to how many.

    `grams` are those of each term that has any, by its place.
    """
    if len(grams) == 1 and terms.allowed is None:
        return next(iter(grams)), _FEW
    costs = {
        i: count_having(db, number, match_all(each), _FEW)
        + count_of_types(db, number, sorted(terms.typed[i]), _FEW)
        for i, each in grams.items()
    }
    leader = min(costs, key=costs.__getitem__)
    return leader, costs[leader]
