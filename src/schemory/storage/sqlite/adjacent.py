"""Edges and neighbours of nodes, at a cost bounded by what is asked for, not by a hub's degree."""

import heapq
from array import array
from collections.abc import Iterable, Iterator, Sequence

import apsw

from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.storage.sqlite.rows import edge_record

_SMALLEST_CHUNK = 16
_SUGGESTION_SCAN = 200

_NEXT_OUT = """
    SELECT DISTINCT to_id FROM edge INDEXED BY edge_by_triple
    WHERE project = ? AND from_id = ? AND to_id > ? ORDER BY to_id LIMIT ?
"""
_NEXT_IN = """
    SELECT DISTINCT from_id FROM edge INDEXED BY edge_by_to
    WHERE project = ? AND to_id = ? AND from_id > ? ORDER BY from_id LIMIT ?
"""
_SOME_OUT = """
    SELECT id, to_id FROM edge INDEXED BY edge_by_triple
    WHERE project = ? AND from_id = ? AND to_id BETWEEN ? AND ? LIMIT ?
"""
_SOME_IN = """
    SELECT id, from_id FROM edge INDEXED BY edge_by_to
    WHERE project = ? AND to_id = ? AND from_id BETWEEN ? AND ? LIMIT ?
"""
_EACH_OUT = """
    SELECT id FROM carray(?) AS other CROSS JOIN edge INDEXED BY edge_by_triple
    WHERE project = ? AND from_id = ? AND to_id = other.value
"""
_EACH_IN = """
    SELECT id FROM carray(?) AS other CROSS JOIN edge INDEXED BY edge_by_to
    WHERE project = ? AND to_id = ? AND from_id = other.value
"""


def load_edges(db: apsw.Connection, number: int, ids: Iterable[int]) -> dict[int, EdgeRecord]:
    """Return the edges with these ids, by id."""
    sql = """
        SELECT * FROM graph_edges
        WHERE id IN (SELECT value FROM carray(?)) AND project = ? ORDER BY id
    """
    wanted = array("q", dict.fromkeys(ids))
    if not wanted:
        return {}
    rows = db.execute(sql, (apsw.carray(wanted), number))
    return {row[0]: edge_record(row) for row in rows}


def neighbour_ids(
    db: apsw.Connection, number: int, ids: Sequence[int], after_id: int, limit: int
) -> list[int]:
    """Return ids of distinct neighbours outside `ids`, ascending, after `after_id`.

    Each node's neighbours come sorted from an index, a chunk at a time, and are merged.
    """
    inside = set(ids)
    chunk = max(_SMALLEST_CHUNK, limit // max(1, len(inside)) + 1)
    streams = [
        _stream(db, sql, (number, node_id), after_id, chunk)
        for node_id in inside
        for sql in (_NEXT_OUT, _NEXT_IN)
    ]
    found: list[int] = []
    for other in heapq.merge(*streams):
        if len(found) >= limit:
            break
        if other not in inside and (not found or found[-1] != other):
            found.append(other)
    return found


def _stream(
    db: apsw.Connection, sql: str, bound: tuple[int, int], after_id: int, chunk: int
) -> Iterator[int]:
    while True:
        rows = db.execute(sql, (*bound, after_id, chunk)).fetchall()
        for (other,) in rows:
            yield int(other)
        if len(rows) < chunk:
            return
        after_id = int(rows[-1][0])


def edge_ids_between(
    db: apsw.Connection, number: int, ids: Sequence[int], others: Sequence[int], after_id: int
) -> list[int]:
    """Return ids of edges that join the two sets either way, ascending, after `after_id`.

    Per node of the smaller set: its edges are read when they are few, else each possible edge to
    the larger set is looked up; so a hub costs the size of the other set.
    """
    few, many = sorted((set(ids), set(others)), key=len)
    if not few:
        return []
    found: set[int] = set()
    for node_id in few:
        for some, each in ((_SOME_OUT, _EACH_OUT), (_SOME_IN, _EACH_IN)):
            found.update(_joining(db, number, node_id, many, some, each))
    return sorted(edge_id for edge_id in found if edge_id > after_id)


def _joining(
    db: apsw.Connection, number: int, node_id: int, others: set[int], some: str, each: str
) -> list[int]:
    most = _SMALLEST_CHUNK + 4 * len(others)
    low, high = min(others), max(others)
    rows = db.execute(some, (number, node_id, low, high, most + 1)).fetchall()
    if len(rows) <= most:
        return [int(edge_id) for edge_id, other in rows if other in others]
    wanted = apsw.carray(array("q", sorted(others)))
    return [int(edge_id) for (edge_id,) in db.execute(each, (wanted, number, node_id))]


def edge_ids_of(
    db: apsw.Connection,
    number: int,
    node_id: int,
    direction: str,
    edge_types: Sequence[str],
    after_id: int,
    limit: int,
) -> list[int]:
    """Return ids of one node's edges, ascending, after `after_id`."""
    found: set[int] = set()
    types = array("q", _type_ids(db, number, edge_types)) if edge_types else None
    if direction in ("out", "both"):
        found.update(_side(db, _ALL_OUT, _TYPED_OUT, (number, node_id, after_id, limit), types))
    if direction in ("in", "both"):
        found.update(_side(db, _ALL_IN, _TYPED_IN, (number, node_id, after_id, limit), types))
    return sorted(found)[:limit]


_ALL_OUT = """
    SELECT id FROM edge INDEXED BY edge_by_triple
    WHERE project = ? AND from_id = ? AND id > ? ORDER BY id LIMIT ?
"""
_ALL_IN = """
    SELECT id FROM edge INDEXED BY edge_by_to
    WHERE project = ? AND to_id = ? AND id > ? ORDER BY id LIMIT ?
"""
_TYPED_OUT = """
    SELECT id FROM edge INDEXED BY edge_by_triple
    WHERE project = ?1 AND from_id = ?2 AND id > ?3
      AND +type IN (SELECT value FROM carray(?5)) ORDER BY id LIMIT ?4
"""
_TYPED_IN = """
    SELECT id FROM edge INDEXED BY edge_by_to
    WHERE project = ?1 AND to_id = ?2 AND id > ?3
      AND +type IN (SELECT value FROM carray(?5)) ORDER BY id LIMIT ?4
"""


def _side(
    db: apsw.Connection,
    every: str,
    typed: str,
    bound: tuple[int, int, int, int],
    types: "array[int] | None",
) -> list[int]:
    if types is None:
        rows = db.execute(every, bound)
    elif types:
        rows = db.execute(typed, (*bound, apsw.carray(types)))
    else:
        return []
    return [int(edge_id) for (edge_id,) in rows]


def _type_ids(db: apsw.Connection, number: int, names: Sequence[str]) -> list[int]:
    sql = "SELECT id FROM edge_type WHERE project = ? AND name = ?"
    return [int(row[0]) for name in names for row in db.execute(sql, (number, name))]


def suggest_edges(
    db: apsw.Connection, number: int, key: EdgeKey, limit: int
) -> tuple[EdgeKey, ...]:
    """Return existing edges most like `key`, best first, from at most a few hundred candidates."""
    ends = {name: _node_id(db, number, name) for name in (key.from_name, key.to_name)}
    start, end = ends[key.from_name], ends[key.to_name]
    ids: list[int] = []
    if start is not None and end is not None:
        ids += edge_ids_between(db, number, [start], [end], 0)[:_SUGGESTION_SCAN]
    if start is not None:
        ids += edge_ids_of(db, number, start, "out", (), 0, _SUGGESTION_SCAN)
    if end is not None:
        ids += edge_ids_of(db, number, end, "in", (), 0, _SUGGESTION_SCAN)
    records = load_edges(db, number, ids)
    ranked = sorted(
        (rank, record.id, record.key)
        for record in records.values()
        if (rank := _unlikeness(key, record.key)) is not None
    )
    return tuple(found for _, _, found in ranked[:limit])


def _node_id(db: apsw.Connection, number: int, name: str) -> int | None:
    sql = "SELECT id FROM node WHERE project = ? AND name = ?"
    row = db.execute(sql, (number, name)).fetchone()
    return None if row is None else int(row[0])


def _unlikeness(wanted: EdgeKey, other: EdgeKey) -> int | None:
    """Return 0 for the best candidate, or None for one that shares too little."""
    is_same_type = other.edge_type.casefold() == wanted.edge_type.casefold()
    if other[:2] == wanted[:2]:
        return 0 if is_same_type else 1
    if other[:2] == (wanted.to_name, wanted.from_name):
        return 2 if is_same_type else 4
    return 3 if is_same_type else None


def edge_ids_near(db: apsw.Connection, number: int, node_id: int, limit: int) -> list[int]:
    """Return ids of a node's newest edges, newest first."""
    newest: list[int] = []
    for sql in (
        """SELECT id FROM edge INDEXED BY edge_by_triple
           WHERE project = ? AND from_id = ? ORDER BY id DESC LIMIT ?""",
        """SELECT id FROM edge INDEXED BY edge_by_to
           WHERE project = ? AND to_id = ? ORDER BY id DESC LIMIT ?""",
    ):
        newest += [int(row[0]) for row in db.execute(sql, (number, node_id, limit))]
    return sorted(set(newest), reverse=True)[:limit]


def edge_ids_closing(
    db: apsw.Connection, number: int, first_id: int, last_id: int, after_id: int, limit: int
) -> list[int]:
    """Return ids of edges whose end with the greater id lies in a range, ascending."""
    sql = """
        SELECT e.id FROM node AS n INDEXED BY node_by_project
          CROSS JOIN edge AS e INDEXED BY edge_by_triple
        WHERE n.project = ?1 AND n.id BETWEEN ?2 AND ?3
          AND e.project = ?1 AND e.from_id = n.id AND e.to_id <= n.id AND +e.id > ?4
        UNION ALL
        SELECT e.id FROM node AS n INDEXED BY node_by_project
          CROSS JOIN edge AS e INDEXED BY edge_by_to
        WHERE n.project = ?1 AND n.id BETWEEN ?2 AND ?3
          AND e.project = ?1 AND e.to_id = n.id AND e.from_id < n.id AND +e.id > ?4
        ORDER BY 1 LIMIT ?5
    """
    rows = db.execute(sql, (number, first_id, last_id, after_id, limit))
    return [int(row[0]) for row in rows]
