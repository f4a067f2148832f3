"""What one search is: its terms, where each may be found, and how a match is placed.

A node matches when each term lies inside its name, its type or one of its metadata entries. It is
a *name hit* when its name alone holds all of them. Source: graph.md §2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import apsw

from schemory.model.text import fold
from schemory.storage.protocols import SearchQuery
from schemory.storage.sqlite.candidates import (
    Row,
    Source,
    count_having,
    count_of_types,
    lined,
    merged,
    named,
    nothing,
    of_type,
    scanned,
)
from schemory.storage.sqlite.index_text import (
    ENTRY_MARK,
    fold_lines,
    grams_of,
    match_all,
    parse_lines,
)

_EQUALS, _STARTS, _CONTAINS, _TYPE, _ENTRY = range(5)
_FEW: Final = 2_000  # nodes that are cheaper read than asked the index about
_MOST_TYPES: Final = 64  # streams merged at once; beyond, one scan is cheaper


class Place(NamedTuple):
    """Where a match stands by rank: its worst-placed term, all terms together, then its name."""

    worst: int
    together: int
    name: str

    @property
    def is_name_hit(self) -> bool:
        """Whether the name holds every term."""
        return self.worst <= _CONTAINS


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One search made ready.

    Attributes:
        terms: Folded, each findable, at least one.
        typed: Per term, the ids of the types whose name holds it.
        allowed: Ids of the only types wanted; None = any.
        by_name: Candidates for name hits.
        by_rest: Candidates for the other hits; may give name hits as well.
    """

    terms: tuple[str, ...]
    typed: tuple[frozenset[int], ...]
    allowed: frozenset[int] | None
    by_name: Source
    by_rest: Source

    def place_by_name(self, row: Row) -> Place | None:
        """Return where a name hit stands; None when the name does not hold every term."""
        _, name, type_id, _ = row
        if self.allowed is not None and type_id not in self.allowed:
            return None
        folded = fold(name)
        places: list[int] = []
        for term in self.terms:
            if term not in folded:
                return None
            places.append(_place_in_name(term, folded))
        return Place(max(places), sum(places), name)

    def place(self, row: Row) -> Place | None:
        """Return where a candidate stands; None when it does not match."""
        _, name, type_id, stored = row
        if self.allowed is not None and type_id not in self.allowed:
            return None
        folded = fold(name)
        lines: str | None = None
        places: list[int] = []
        for term, types in zip(self.terms, self.typed, strict=True):
            if term in folded:
                places.append(_place_in_name(term, folded))
            elif type_id in types:
                places.append(_TYPE)
            else:
                lines = _folded_lines(stored) if lines is None else lines
                if term not in lines:
                    return None
                places.append(_ENTRY)
        return Place(max(places), sum(places), name)


def _place_in_name(term: str, folded_name: str) -> int:
    if not folded_name.startswith(term):
        return _CONTAINS
    return _EQUALS if len(term) == len(folded_name) else _STARTS


def _folded_lines(stored: str) -> str:
    # Without a backslash no entry holds a quote, so the JSON text is the entries but for its
    # punctuation: mostly there is nothing to parse.
    if "\\" in stored:
        return fold_lines(parse_lines(stored))
    if stored == "[]":
        return ""
    return fold(stored[2:-2].replace('","', ENTRY_MARK))


def make_plan(
    db: apsw.Connection, number: int, terms: tuple[str, ...], query: SearchQuery, *, scan: bool
) -> Plan:
    """Choose where a search looks; `scan` keeps it off the search index."""
    types = _types(db, number)
    folded = [(fold(name), type_id) for name, type_id in types.items()]
    typed = tuple(frozenset(i for name, i in folded if term in name) for term in terms)
    allowed = _only(types, query.node_types)
    by_name, by_rest = _sources(db, number, terms, typed, allowed, scan=scan)
    return Plan(terms=terms, typed=typed, allowed=allowed, by_name=by_name, by_rest=by_rest)


def everything(db: apsw.Connection, number: int, node_types: Sequence[str]) -> Source:
    """Return all nodes of some types; without types, of the space."""
    only = _only(_types(db, number), node_types)
    return _of_types(db, number, only) or scanned(db, number)


def _types(db: apsw.Connection, number: int) -> dict[str, int]:
    return dict(db.execute("SELECT name, id FROM node_type WHERE project = ?", (number,)))


def _only(types: Mapping[str, int], wanted: Sequence[str]) -> frozenset[int] | None:
    return frozenset(types[name] for name in wanted if name in types) if wanted else None


def _sources(
    db: apsw.Connection,
    number: int,
    terms: tuple[str, ...],
    typed: tuple[frozenset[int], ...],
    allowed: frozenset[int] | None,
    *,
    scan: bool,
) -> tuple[Source, Source]:
    everything = _of_types(db, number, allowed) or scanned(db, number)
    indexed = [] if scan else [i for i, term in enumerate(terms) if grams_of(term)]
    if not indexed:
        return everything, everything
    leader, cost = _leader(db, number, terms, typed, indexed, is_counted=allowed is not None)
    if allowed is not None and count_of_types(db, number, sorted(allowed), _FEW) < cost:
        return everything, everything
    grams = dict.fromkeys(gram for i in indexed for gram in grams_of(terms[i]))
    led = match_all(grams_of(terms[leader]))
    rest = [lined(db, number, led)]
    if len(terms) > 1:
        rest.append(named(db, number, led))
    if typed[leader]:
        in_types = _of_types(db, number, typed[leader])
        rest = [everything] if in_types is None else [*rest, in_types]
    return named(db, number, match_all(grams)), merged(rest)


def _of_types(db: apsw.Connection, number: int, types: frozenset[int] | None) -> Source | None:
    if types is None or len(types) > _MOST_TYPES:
        return None
    if not types:
        return nothing
    return merged([of_type(db, number, type_id) for type_id in sorted(types)])


def _leader(
    db: apsw.Connection,
    number: int,
    terms: tuple[str, ...],
    typed: tuple[frozenset[int], ...],
    indexed: Sequence[int],
    *,
    is_counted: bool,
) -> tuple[int, int]:
    """Return which term narrows the candidates most, and (roughly) to how many."""
    if len(indexed) == 1 and not is_counted:
        return indexed[0], _FEW
    costs = {
        i: count_having(db, number, match_all(grams_of(terms[i])), _FEW)
        + count_of_types(db, number, sorted(typed[i]), _FEW)
        for i in indexed
    }
    leader = min(costs, key=costs.__getitem__)
    return leader, costs[leader]
