"""The rows of projects: both halves of the store, and the ledger, hang on them."""

from __future__ import annotations

import apsw

from schemory.model.frozen import dataclass
from schemory.storage.sqlite import index
from schemory.storage.sqlite.rows import is_storable


def find_graph(db: apsw.Connection, space: str) -> int:
    """Return the number of a project that has a graph; 0 = none."""
    return _find(db, "SELECT number FROM projects WHERE id = ? AND has_graph", space)


def find_project(db: apsw.Connection, project_id: str) -> int:
    """Return a project's number; 0 = none."""
    return _find(db, "SELECT number FROM projects WHERE id = ?", project_id)


def _find(db: apsw.Connection, sql: str, project_id: str) -> int:
    if not is_storable(project_id):
        return 0
    return next((int(row[0]) for row in db.execute(sql, (project_id,))), 0)


def make_project(db: apsw.Connection, project_id: str, moment: str) -> int:
    """Make a project that has neither half yet; returns its number."""
    db.execute(
        "INSERT INTO projects (id, created_at, updated_at, has_graph) VALUES (?, ?, ?, 0)",
        (project_id, moment, moment),
    )
    return db.last_insert_rowid()


def make_graph(db: apsw.Connection, number: int) -> None:
    """Give a project its graph half."""
    db.execute("UPDATE projects SET has_graph = 1 WHERE number = ?", (number,))
    db.execute(index.index_tables_sql(number))


@dataclass(frozen=True, slots=True)
class Start:
    """What a write transaction of a project begins with.

    Attributes:
        number: The project's; 0 = there is none yet.
        seq: The number that the transaction will have in the ledger.
        moment: The clock's time as stored text.
        now: The transaction's time: never earlier than the one before it.
        has_graph: Whether the project has its graph half.
    """

    number: int
    seq: int
    moment: str
    now: str
    has_graph: bool


def find_start(db: apsw.Connection, project_id: str, moment: str) -> Start:
    """Return what the next transaction of a project begins with."""
    sql = "SELECT number, last_seq, last_recorded_at, has_graph FROM projects WHERE id = ?"
    for number, seq, recorded_at, has_graph in db.execute(sql, (project_id,)):
        now = max(moment, str(recorded_at))
        return Start(int(str(number)), int(str(seq)) + 1, moment, now, has_graph == 1)
    return Start(0, 1, moment, moment, has_graph=False)
