"""Nodes that may match a search, one by one in order of their ids, from wherever it is cheapest.

Every source is lazy: what a page does not read is not fetched. A source may hand out nodes that
do not match (and the search decides), but never leaves one out.
"""

import heapq
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from operator import itemgetter
from typing import Final, TypeAlias

import apsw

from schemory.storage.sqlite.index import LINES_FROM, for_space

Row: TypeAlias = tuple[int, str, int, str]
"""A candidate: node id, name, type id and its metadata as stored (JSON)."""

Rows: TypeAlias = Generator[Row, None, None]

Source: TypeAlias = Callable[[int], Rows]
"""Gives the candidates with an id above the argument, in order."""

# CROSS JOIN: the postings lead, whatever SQLite's planner would estimate.
_NAMED: Final = """
SELECT n.id, n.name, n.type, n.metadata
FROM node_index_{n} AS i CROSS JOIN node AS n
WHERE i.node_index_{n} MATCH ? AND i.rowid > ? AND i.rowid < ?
  AND n.id = i.rowid AND n.project = {n}
ORDER BY i.rowid
"""
_LINED: Final = """
SELECT n.id, n.name, n.type, n.metadata
FROM node_index_{n} AS i CROSS JOIN node AS n
WHERE i.node_index_{n} MATCH ? AND i.rowid > ?
  AND n.id = i.rowid - 1099511627776 AND n.project = {n}
ORDER BY i.rowid
"""
_OF_TYPE: Final = """
SELECT id, name, type, metadata FROM node
WHERE project = ? AND type = ? AND id > ? ORDER BY id
"""
_SCANNED: Final = """
SELECT id, name, type, metadata FROM node INDEXED BY node_by_project
WHERE project = ? AND id > ? ORDER BY id
"""
_HAVING: Final = """
SELECT count(*) FROM (SELECT 1 FROM node_index_{n} WHERE node_index_{n} MATCH ? LIMIT ?)
"""
_COUNT_TYPE: Final = "SELECT count(*) FROM (SELECT 1 FROM node WHERE project=? AND type=? LIMIT ?)"


def named(db: apsw.Connection, number: int, expression: str) -> Source:
    """Return the nodes whose name's grams satisfy an FTS5 expression."""
    sql = for_space(_NAMED, number)
    return lambda after: _rows(db, sql, (expression, after, LINES_FROM))


def lined(db: apsw.Connection, number: int, expression: str) -> Source:
    """Return the nodes whose metadata's grams satisfy an FTS5 expression."""
    sql = for_space(_LINED, number)
    return lambda after: _rows(db, sql, (expression, after + LINES_FROM))


def of_type(db: apsw.Connection, number: int, type_id: int) -> Source:
    """Return the nodes of one type."""
    return lambda after: _rows(db, _OF_TYPE, (number, type_id, after))


def scanned(db: apsw.Connection, number: int) -> Source:
    """Return every node of the space."""
    return lambda after: _rows(db, _SCANNED, (number, after))


def nothing(after: int) -> Rows:  # noqa: ARG001 (a source)
    """Return no node."""
    yield from ()


def merged(sources: Sequence[Source]) -> Source:
    """Return what any of `sources` has, each node once."""
    return sources[0] if len(sources) == 1 else lambda after: _merge(sources, after)


def count_having(db: apsw.Connection, number: int, expression: str, limit: int) -> int:
    """Count documents whose grams satisfy an FTS5 expression, up to `limit`."""
    return int(db.execute(for_space(_HAVING, number), (expression, limit)).get)


def count_of_types(db: apsw.Connection, number: int, type_ids: Sequence[int], limit: int) -> int:
    """Count the nodes of some types, up to about `limit`."""
    total = 0
    for type_id in type_ids:
        if total >= limit:
            break
        total += int(db.execute(_COUNT_TYPE, (number, type_id, limit)).get)
    return total


def _rows(db: apsw.Connection, sql: str, values: tuple[int | str, ...]) -> Rows:
    with closing(db.execute(sql, values)) as rows:
        yield from rows


def _merge(sources: Sequence[Source], after: int) -> Rows:
    with ExitStack() as open_rows:
        streams = [open_rows.enter_context(closing(source(after))) for source in sources]
        last = after
        for row in heapq.merge(*streams, key=itemgetter(0)):
            if row[0] != last:
                last = row[0]
                yield row
