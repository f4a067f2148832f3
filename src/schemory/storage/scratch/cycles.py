"""Finds entries that supersede each other in a circle, however long the chains are."""

import sqlite3
from array import array
from typing import Final

from schemory.storage.scratch.tables import one

_TABLES: Final = """
  DROP TABLE IF EXISTS temp.edge;
  DROP TABLE IF EXISTS temp.node;
  DROP TABLE IF EXISTS temp.step;
  CREATE TEMP TABLE edge (source TEXT NOT NULL, target TEXT NOT NULL);
  CREATE TEMP TABLE node (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
  CREATE TEMP TABLE step (a INTEGER NOT NULL, b INTEGER NOT NULL);
"""
_NUMBER: Final = """
  INSERT INTO temp.node (id) SELECT source FROM temp.edge UNION SELECT target FROM temp.edge;
  INSERT INTO temp.step
    SELECT s.n, t.n FROM temp.edge AS e
    JOIN temp.node AS s ON s.id = e.source JOIN temp.node AS t ON t.id = e.target;
  CREATE INDEX temp.step_by_a ON step (a, b);
  CREATE INDEX temp.step_by_b ON step (b, a);
"""
_FILE: Final = """
  SELECT ifnull(s.target, s.id), ifnull(t.target, t.id)
  FROM link AS l JOIN entry AS s ON s.id = l.source JOIN entry AS t ON t.id = l.target
  WHERE l.relation = 'supersedes'
"""
_STORED: Final = "SELECT source, target FROM stored_link WHERE relation = 'supersedes'"


def find_cycle(db: sqlite3.Connection, *, with_stored: bool) -> str | None:
    """Return the id of an entry that supersedes itself over others, or None.

    Nodes that nothing supersedes are taken away until there are none; what is left holds a circle.

    Args:
        db: Has the file's links.
        with_stored: Also go over the links of the store that were put there.
    """
    db.executescript(_TABLES)
    edges = f"{_FILE} UNION {_STORED}" if with_stored else _FILE
    db.execute(f"INSERT INTO temp.edge {edges}")
    db.executescript(_NUMBER)
    count = int(one(db, "SELECT count(*) FROM temp.node"))
    waiting = array("L", bytes(array("L").itemsize * (count + 1)))
    for target, number in db.execute("SELECT b, count(*) FROM temp.step GROUP BY b"):
        waiting[target] = number
    free = array("L", (n for n in range(1, count + 1) if waiting[n] == 0))
    while free:
        for (target,) in db.execute("SELECT b FROM temp.step WHERE a = ?", (free.pop(),)):
            waiting[target] -= 1
            if waiting[target] == 0:
                free.append(target)
    left = next((n for n in range(1, count + 1) if waiting[n]), None)
    return None if left is None else _on_circle(db, left, waiting)


def _on_circle(db: sqlite3.Connection, left: int, waiting: "array[int]") -> str:
    """Walk back from a node that is left, over nodes that are left, until one is met again."""
    met: set[int] = set()
    node = left
    while node not in met:
        met.add(node)
        rows = db.execute("SELECT a FROM temp.step WHERE b = ?", (node,))
        node = next(row[0] for row in rows if waiting[row[0]])
    return str(one(db, "SELECT id FROM temp.node WHERE n = ?", node))
