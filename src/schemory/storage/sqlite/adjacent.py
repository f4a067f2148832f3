"""Edges and neighbours of nodes, at a cost bounded by what is asked for, not by a hub's degree.

Every statement names the index it walks: with other statistics, or none, SQLite would read all of
a hub's edges, or all edges by id, to answer some of them.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence

from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.storage.sqlite.rows import Row, edge_record, is_storable
from schemory.storage.sqlite.space import Space, id_list

_SMALLEST_CHUNK = 16
_SUGGESTION_SCAN = 200


def edge_rows(space: Space, ids: Iterable[int]) -> dict[int, Row]:
    """Return rows of the view `graph_edges` by id, ascending."""
    sql = """
        SELECT item.* FROM carray(?2) AS wanted CROSS JOIN graph_edges AS item
        WHERE item.id = wanted.value AND item.project = ?1
    """
    wanted = sorted(set(ids))
    return {row[0]: row for row in space.rows(sql, id_list(wanted))} if wanted else {}


def load_edges(space: Space, ids: Iterable[int]) -> dict[int, EdgeRecord]:
    """Return the edges with these ids, by id, ascending."""
    return {edge_id: edge_record(row) for edge_id, row in edge_rows(space, ids).items()}


def edge_ids_of_keys(space: Space, keys: Iterable[EdgeKey]) -> dict[EdgeKey, int]:
    """Return the ids of the edges with exactly these triples, in the order of the keys.

    Names become ids first, each once, so that most keys of an import of new nodes cost no query.
    """
    wanted = [key for key in dict.fromkeys(keys) if all(map(is_storable, key))]
    nodes = _named(space, _NODE_NAMED, (name for key in wanted for name in key[:2]))
    types = _named(space, _TYPE_NAMED, (key.edge_type for key in wanted))
    by_triple = {
        (nodes[key.from_name], nodes[key.to_name], types[key.edge_type]): key
        for key in wanted
        if key.from_name in nodes and key.to_name in nodes and key.edge_type in types
    }
    return {by_triple[row[1:]]: row[0] for row in space.each(_TRIPLE, by_triple)}


_NODE_NAMED = "SELECT name, id FROM node WHERE project = ? AND name = ?"
_TYPE_NAMED = "SELECT name, id FROM edge_type WHERE project = ? AND name = ?"
_TRIPLE = """
    SELECT id, from_id, to_id, type FROM edge INDEXED BY edge_by_triple
    WHERE project = ? AND from_id = ? AND to_id = ? AND type = ?
"""


def _named(space: Space, sql: str, names: Iterable[str]) -> dict[str, int]:
    return dict(space.each(sql, ((name,) for name in dict.fromkeys(names))))


# Neighbours -----------------------------------------------------------------------------------

_NEXT_OUT = """
    SELECT DISTINCT to_id FROM edge INDEXED BY edge_by_triple
    WHERE project = ? AND from_id = ? AND to_id > ? ORDER BY to_id LIMIT ?
"""
_NEXT_IN = """
    SELECT DISTINCT from_id FROM edge INDEXED BY edge_by_to
    WHERE project = ? AND to_id = ? AND from_id > ? ORDER BY from_id LIMIT ?
"""


def neighbour_ids(space: Space, ids: Sequence[int], after_id: int, limit: int) -> list[int]:
    """Return ids of distinct neighbours outside `ids`, ascending, after `after_id`.

    Each node's neighbours come sorted from an index, a chunk at a time, and are merged.
    """
    inside = set(ids)
    chunk = max(_SMALLEST_CHUNK, limit // max(1, len(inside)) + 1)
    streams = [
        _stream(space, sql, node_id, after_id, chunk)
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


def _stream(space: Space, sql: str, node_id: int, after_id: int, chunk: int) -> Iterator[int]:
    while True:
        others = space.ints(sql, node_id, after_id, chunk)
        yield from others
        if len(others) < chunk:
            return
        after_id = others[-1]


# Edges between two sets -----------------------------------------------------------------------

_SOME_OUT = """
    SELECT id, to_id FROM edge INDEXED BY edge_by_triple
    WHERE project = ? AND from_id = ? AND to_id BETWEEN ? AND ? LIMIT ?
"""
_SOME_IN = """
    SELECT id, from_id FROM edge INDEXED BY edge_by_to
    WHERE project = ? AND to_id = ? AND from_id BETWEEN ? AND ? LIMIT ?
"""
_EACH_OUT = """
    SELECT id FROM carray(?3) AS other CROSS JOIN edge INDEXED BY edge_by_triple
    WHERE project = ?1 AND from_id = ?2 AND to_id = other.value
"""
_EACH_IN = """
    SELECT id FROM carray(?3) AS other CROSS JOIN edge INDEXED BY edge_by_to
    WHERE project = ?1 AND to_id = ?2 AND from_id = other.value
"""


def edge_ids_between(
    space: Space, ids: Sequence[int], others: Sequence[int], after_id: int
) -> list[int]:
    """Return ids of edges that join the two sets either way, ascending, after `after_id`.

    Per node of the smaller set: its edges are read when they are few, else each possible edge to
    the larger set is looked up; so a hub costs the size of the other set.
    """
    few, many = sorted((set(ids), set(others)), key=len)
    found: set[int] = set()
    for node_id in few:
        found.update(_joining(space, node_id, many, _SOME_OUT, _EACH_OUT))
        found.update(_joining(space, node_id, many, _SOME_IN, _EACH_IN))
    return sorted(edge_id for edge_id in found if edge_id > after_id)


def _joining(space: Space, node_id: int, others: set[int], some: str, each: str) -> list[int]:
    most = _SMALLEST_CHUNK + len(others)
    rows = space.rows(some, node_id, min(others), max(others), most + 1)
    if len(rows) <= most:
        return [edge_id for edge_id, other in rows if other in others]
    return space.ints(each, node_id, id_list(others))


# Edges of one node ----------------------------------------------------------------------------

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
_TOUCHING = """
    SELECT id FROM edge INDEXED BY edge_by_triple WHERE project = ?1 AND from_id = ?2
    UNION SELECT id FROM edge INDEXED BY edge_by_to WHERE project = ?1 AND to_id = ?2
"""
_NEWEST_OUT = """
    SELECT id FROM edge INDEXED BY edge_by_triple
    WHERE project = ? AND from_id = ? ORDER BY id DESC LIMIT ?
"""
_NEWEST_IN = """
    SELECT id FROM edge INDEXED BY edge_by_to
    WHERE project = ? AND to_id = ? ORDER BY id DESC LIMIT ?
"""


def edge_ids_of(
    space: Space,
    node_id: int,
    *,
    direction: str,
    edge_types: Sequence[str] = (),
    after_id: int = 0,
    limit: int,
) -> list[int]:
    """Return ids of one node's edges, ascending, after `after_id`."""
    statements = {
        "out": [(_ALL_OUT, _TYPED_OUT)],
        "in": [(_ALL_IN, _TYPED_IN)],
        "both": [(_ALL_OUT, _TYPED_OUT), (_ALL_IN, _TYPED_IN)],
    }[direction]
    found: set[int] = set()
    types = _type_ids(space, edge_types)
    for every, typed in statements:
        if not edge_types:
            found.update(space.ints(every, node_id, after_id, limit))
        elif types:
            found.update(space.ints(typed, node_id, after_id, limit, id_list(types)))
    return sorted(found)[:limit]


def _type_ids(space: Space, names: Iterable[str]) -> list[int]:
    sql = "SELECT id FROM edge_type WHERE project = ? AND name = ?"
    return [type_id for name in names for type_id in space.ints(sql, name)]


def touching_ids(space: Space, node_id: int) -> list[int]:
    """Return ids of all edges of a node."""
    return space.ints(_TOUCHING, node_id)


def newest_edge_ids(space: Space, node_id: int, limit: int) -> list[int]:
    """Return ids of a node's newest edges, newest first."""
    newest = {
        *space.ints(_NEWEST_OUT, node_id, limit),
        *space.ints(_NEWEST_IN, node_id, limit),
    }
    return sorted(newest, reverse=True)[:limit]


def edge_ids_closing(
    space: Space, first_id: int, last_id: int, *, after_id: int, limit: int
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
    return space.ints(sql, first_id, last_id, after_id, limit)


# Look-alikes ----------------------------------------------------------------------------------


def suggest_edges(space: Space, key: EdgeKey, limit: int) -> tuple[EdgeKey, ...]:
    """Return existing edges most like `key`, best first, from at most a few hundred candidates."""
    start, end = _node_id(space, key.from_name), _node_id(space, key.to_name)
    ids: list[int] = []
    if start and end:
        ids += edge_ids_between(space, [start], [end], 0)[:_SUGGESTION_SCAN]
    if start:
        ids += edge_ids_of(space, start, direction="out", limit=_SUGGESTION_SCAN)
    if end:
        ids += edge_ids_of(space, end, direction="in", limit=_SUGGESTION_SCAN)
    ranked = sorted(
        (rank, record.id, record.key)
        for record in load_edges(space, ids).values()
        if (rank := _unlikeness(key, record.key)) is not None
    )
    return tuple(found for _, _, found in ranked[:limit])


def _node_id(space: Space, name: str) -> int:
    """Return a node's id; 0 = there is none."""
    found = space.ints("SELECT id FROM node WHERE project = ? AND name = ?", name)
    return found[0] if found else 0


def _unlikeness(wanted: EdgeKey, other: EdgeKey) -> int | None:
    """Return 0 for the best candidate, or None for one that shares too little."""
    is_same_type = other.edge_type.casefold() == wanted.edge_type.casefold()
    if other[:2] == wanted[:2]:
        return 0 if is_same_type else 1
    if other[:2] == (wanted.to_name, wanted.from_name):
        return 2 if is_same_type else 4
    return 3 if is_same_type else None
