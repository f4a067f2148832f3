"""Names that a mistaken name may have meant, and metadata lines that name a node.

Both look at a bounded number of candidates that the substring index gives.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import Final

import apsw

from schemory.model.likeness import nearest
from schemory.model.metadata import parse_line
from schemory.model.text import fold, nfc
from schemory.storage.protocols import LineHit
from schemory.storage.sqlite.candidates import Source, lined, scanned
from schemory.storage.sqlite.index import LINES_FROM, for_space, is_index_fault
from schemory.storage.sqlite.index_text import (
    ENTRY_MARK,
    grams_of,
    is_findable,
    match_all,
    match_value,
    parse_lines,
)

_EACH: Final = 100  # candidates from one question to the index
_ENOUGH: Final = 200
_COMPARED: Final = 40  # candidates worth a letter-by-letter comparison
_MOST_COMPARED_CHARS: Final = 100
_LIKE_ENOUGH: Final = 0.6  # of the pairs of letters of two long names
_GRAM: Final = 3
_MOST_LINES_READ: Final = 5_000

_NAMES_HAVING: Final = """
SELECT n.name FROM node_index_{n} AS i CROSS JOIN node AS n
WHERE i.node_index_{n} MATCH ? AND i.rowid < ? AND n.id = i.rowid AND n.project = {n}
ORDER BY i.rowid LIMIT ?
"""
_NAMED: Final = "SELECT name FROM node WHERE project = ? AND name = ?"
_BESIDE: Final = (
    "SELECT name FROM node WHERE project = ? AND name >= ? ORDER BY name LIMIT 20",
    "SELECT name FROM node WHERE project = ? AND name < ? ORDER BY name DESC LIMIT 20",
)


def suggest_names(db: apsw.Connection, number: int, name: str, limit: int) -> tuple[str, ...]:
    """Return the existing names most like `name`, best first; nothing far-fetched.

    A slip leaves a half, a third or a quarter of a name as it was: the index finds the names that
    share such a part. Two letters changed places in a short name leave nothing, so these spellings
    are looked up themselves.
    """
    if not name or not is_findable(name):
        return ()
    try:
        found = dict.fromkeys([*_beside(db, number, name), *_sharing(db, number, name)])
    except apsw.Error as error:
        if not is_index_fault(error):
            raise
        found = dict.fromkeys(_beside(db, number, name))
    found.pop(name, None)
    return _best(name, found, limit)


def _beside(db: apsw.Connection, number: int, name: str) -> Iterator[str]:
    for sql in _BESIDE:
        yield from (other for (other,) in db.execute(sql, (number, name)))
    if len(name) <= _COMPARED:
        for spelling in _swapped(name):
            yield from (other for (other,) in db.execute(_NAMED, (number, spelling)))


def _swapped(name: str) -> Iterator[str]:
    for i in range(len(name) - 1):
        yield name[:i] + name[i + 1] + name[i] + name[i + 2 :]


def _sharing(db: apsw.Connection, number: int, name: str) -> Iterator[str]:
    sql = for_space(_NAMES_HAVING, number)
    count = 0
    for part in _parts(fold(name)):
        if count >= _ENOUGH:
            return
        grams = grams_of(part)
        if grams:
            for (other,) in db.execute(sql, (match_all(grams), LINES_FROM, _EACH)):
                count += 1
                yield other


def _parts(folded: str) -> Iterator[str]:
    if len(folded) >= _GRAM or grams_of(folded):
        yield folded
    marked = ENTRY_MARK + folded + ENTRY_MARK
    for pieces in (2, 3, 4):
        size = len(marked) // pieces
        if size < _GRAM:
            break
        for i in range(pieces):
            yield marked[i * size : (i + 1) * size if i < pieces - 1 else None]
    yield from (marked[:_GRAM], marked[-_GRAM:])
    yield from (gram for character in folded for gram in grams_of(character))


def _best(name: str, candidates: Iterable[str], limit: int) -> tuple[str, ...]:
    """Return those of `candidates` that may well be meant, the most alike first."""
    wanted = fold(name)
    pieces = _pieces(wanted)
    alike = {other: _shared(pieces, _pieces(fold(other))) for other in candidates}
    rough = sorted(alike, key=lambda other: (-alike[other], other))
    if len(wanted) > _MOST_COMPARED_CHARS:
        return tuple(other for other in rough if alike[other] >= _LIKE_ENOUGH)[:limit]
    close = [other for other in rough[:_COMPARED] if _has_something_of(wanted, fold(other))]
    holding = [other for other in rough if grams_of(wanted) and wanted in fold(other)]
    return tuple(dict.fromkeys([*nearest(name, close, limit), *holding]))[:limit]


def _has_something_of(wanted: str, other: str) -> bool:
    # One of two letters changed, or one of one, is another name, not a slip.
    if len(wanted) == len(other) < _GRAM:
        return sorted(wanted) == sorted(other)
    return len(other) <= _MOST_COMPARED_CHARS and not set(wanted).isdisjoint(other)


def _pieces(folded: str) -> frozenset[str]:
    marked = ENTRY_MARK + folded + ENTRY_MARK
    return frozenset(folded).union(marked[i : i + 2] for i in range(len(marked) - 1))


def _shared(first: frozenset[str], second: frozenset[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second))


def lines_naming(db: apsw.Connection, number: int, name: str, limit: int) -> tuple[LineHit, ...]:
    """Return metadata lines whose parsed value is `name`, or lists it between `, `; by node id."""
    if not name or not is_findable(name):
        return ()
    try:
        source = lined(db, number, match_value(name))
        return tuple(islice(_naming(source, name), limit))
    except apsw.Error as error:
        if not is_index_fault(error):
            raise
    return tuple(islice(_naming(scanned(db, number), name), limit))


def _naming(source: Source, name: str) -> Iterator[LineHit]:
    with closing(source(0)) as rows:
        for _, _, node_name, _, stored in islice(rows, _MOST_LINES_READ):
            for line in parse_lines(stored):
                value = nfc(parse_line(line).value)
                if value == name or name in value.split(", "):
                    yield LineHit(node_name=node_name, line=line)
