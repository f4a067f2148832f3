"""Nodes that may match a search, one by one, from wherever they are cheapest to get.

Candidates come in two stages, those for name hits before the others, in each by node id. They are
read lazily: what a page does not look at is not fetched. There may be nodes among them that do not
match (the search decides), and a stage may hold nodes of the other one, but none is left out.
"""

import heapq
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from operator import itemgetter
from typing import Final, TypeAlias

import apsw

from schemory.storage.sqlite.index import LINES_FROM, for_space

BY_NAME: Final = 0
BY_REST: Final = 1
"""The stages: names that hold every term; everything else."""

Row: TypeAlias = tuple[int, int, str, int, str]
"""A candidate: stage, node id, name, type id and its metadata as stored (JSON)."""

Rows: TypeAlias = "Generator[Row, None, None] | apsw.Cursor"

Source: TypeAlias = Callable[[int], Rows]
"""Gives one stage's candidates with an id above the argument, in order."""

Walk: TypeAlias = Callable[[int, int], Rows]
"""Gives the candidates after a stage and node id: the rest of that stage, then the next one."""

# CROSS JOIN: the postings lead, whatever SQLite's planner would estimate.
_POSTINGS: Final = """
SELECT i.rowid >= 1099511627776, n.id, n.name, n.type,
       CASE WHEN i.rowid >= 1099511627776 THEN n.metadata ELSE '' END
FROM node_index_{n} AS i CROSS JOIN node AS n
WHERE i.node_index_{n} MATCH ? AND i.rowid > ? AND i.rowid < ?
  AND n.id = i.rowid & 1099511627775 AND n.project = {n}
ORDER BY i.rowid
"""
_NAMED: Final = """
SELECT 1, n.id, n.name, n.type, n.metadata
FROM node_index_{n} AS i CROSS JOIN node AS n
WHERE i.node_index_{n} MATCH ? AND i.rowid > ? AND i.rowid < 1099511627776
  AND n.id = i.rowid AND n.project = {n}
ORDER BY i.rowid
"""
_OF_TYPE: Final = """
SELECT 1, id, name, type, metadata FROM node
WHERE project = ? AND type = ? AND id > ? ORDER BY id
"""
_SCANNED: Final = """
SELECT 1, id, name, type, metadata FROM node INDEXED BY node_by_project
WHERE project = ? AND id > ? ORDER BY id
"""
_HAVING: Final = """
SELECT count(*) FROM (SELECT 1 FROM node_index_{n} WHERE node_index_{n} MATCH ? LIMIT ?)
"""
_COUNT_TYPE: Final = "SELECT count(*) FROM (SELECT 1 FROM node WHERE project=? AND type=? LIMIT ?)"
_ALL_DOCUMENTS: Final = 2 * LINES_FROM


def postings(db: apsw.Connection, number: int, expression: str) -> Walk:
    """Return the nodes whose name, then those whose metadata, satisfies an FTS5 expression."""
    sql = for_space(_POSTINGS, number)
    return lambda stage, after: db.execute(
        sql, (expression, after + stage * LINES_FROM, _ALL_DOCUMENTS)
    )


def named_only(db: apsw.Connection, number: int, expression: str) -> Source:
    """Return the nodes whose name's grams satisfy an FTS5 expression, for the first stage."""
    sql = for_space(_POSTINGS, number)
    return lambda after: db.execute(sql, (expression, after, LINES_FROM))


def named(db: apsw.Connection, number: int, expression: str) -> Source:
    """Return the nodes whose name's grams satisfy an FTS5 expression."""
    sql = for_space(_NAMED, number)
    return lambda after: db.execute(sql, (expression, after))


def lined(db: apsw.Connection, number: int, expression: str) -> Source:
    """Return the nodes whose metadata's grams satisfy an FTS5 expression."""
    sql = for_space(_POSTINGS, number)
    return lambda after: db.execute(sql, (expression, after + LINES_FROM, _ALL_DOCUMENTS))


def of_type(db: apsw.Connection, number: int, type_id: int) -> Source:
    """Return the nodes of one type."""
    return lambda after: db.execute(_OF_TYPE, (number, type_id, after))


def scanned(db: apsw.Connection, number: int) -> Source:
    """Return every node of the space."""
    return lambda after: db.execute(_SCANNED, (number, after))


def nothing(after: int) -> Generator[Row, None, None]:  # noqa: ARG001 (a source)
    """Return no node."""
    yield from ()


def merged(sources: Sequence[Source]) -> Source:
    """Return what any of `sources` has, each node once."""
    return sources[0] if len(sources) == 1 else lambda after: _merge(sources, after)


def staged(by_name: Source, by_rest: Source) -> Walk:
    """Return one source for each stage as a walk."""
    return lambda stage, after: _chain(by_name, by_rest, stage, after)


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


def _chain(by_name: Source, by_rest: Source, stage: int, after: int) -> Generator[Row, None, None]:
    if stage == BY_NAME:
        with closing(by_name(after)) as rows:
            for _, node_id, name, type_id, stored in rows:
                yield BY_NAME, node_id, name, type_id, stored
        after = 0
    with closing(by_rest(after)) as rows:
        yield from rows


def _merge(sources: Sequence[Source], after: int) -> Generator[Row, None, None]:
    with ExitStack() as open_rows:
        streams = [open_rows.enter_context(closing(source(after))) for source in sources]
        last = after
        for row in heapq.merge(*streams, key=itemgetter(1)):
            if row[1] != last:
                last = row[1]
                yield row
