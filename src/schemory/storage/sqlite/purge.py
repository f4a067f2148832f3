"""Removing a node and every trace of its text from tables, index and ledger (storage.md).

The pages are freed, not yet overwritten: `vacuum` does that. Transactions whose past is torn by
a purge are marked, so that nobody undoes half of them.
"""

import json

import apsw

from schemory.errors import NodeNotFoundError, Problem
from schemory.storage.sqlite.history import ids_named
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.ledger import insertion_seq
from schemory.storage.sqlite.writer import Writer


def purge_node(db: apsw.Connection, number: int, writer: Writer, name: str) -> int:
    """Purge every node that has this name, or had it when it was deleted.

    Returns:
        How many ledger rows were removed.

    Raises:
        NodeNotFoundError: There is none; names the node that was renamed, where one was.
    """
    ids = [node_id for node_id in ids_named(db, number, name) if _is_his(db, node_id, name)]
    if not ids:
        raise _not_found(db, number, name)
    removed = 0
    for node_id in ids:
        edges = _edges_ever(db, number, node_id)
        _mark(db, number, [(Kind.NODE, node_id), *((Kind.EDGE, edge_id) for edge_id in edges)])
        writer.delete_nodes([node_id], keeps_past=False)
        for edge_id in edges:
            removed += _forget_edge(db, number, edge_id)
        removed += _forget_node(db, number, node_id)
    _drop_unused_types(db, number)
    return removed


def _is_his(db: apsw.Connection, node_id: int, name: str) -> bool:
    """Whether a node that has or had the name is gone, or still has it."""
    row = db.execute("SELECT name FROM node WHERE id = ?", (node_id,)).fetchone()
    return row is None or row[0] == name


def _not_found(db: apsw.Connection, number: int, name: str) -> NodeNotFoundError:
    present = [
        str(row[0])
        for node_id in ids_named(db, number, name)
        for row in db.execute("SELECT name FROM node WHERE id = ?", (node_id,))
    ]
    message = f"there is no node {name!r}, neither now nor in the past"
    suggestion = None
    if present:
        message = f"{name!r} is only a former name of {present[0]!r}"
        suggestion = f"To remove that node and all its past, purge {present[0]!r}."
    problem = Problem(
        code=NodeNotFoundError.code,
        path="$.name",
        message=message,
        nearest=tuple(present),
        suggestion=suggestion,
    )
    return NodeNotFoundError(
        message, problems=[problem], suggestions=[suggestion] if suggestion else []
    )


def _edges_ever(db: apsw.Connection, number: int, node_id: int) -> list[int]:
    """Return ids of all edges that touch or touched a node."""
    sql = """
        SELECT id FROM edge INDEXED BY edge_by_triple WHERE project = ?1 AND from_id = ?2
        UNION SELECT id FROM edge INDEXED BY edge_by_to WHERE project = ?1 AND to_id = ?2
        UNION SELECT edge FROM change_touch WHERE project = ?1 AND node = ?2
    """
    return [int(row[0]) for row in db.execute(sql, (number, node_id))]


def _mark(db: apsw.Connection, number: int, items: list[tuple[Kind, int]]) -> None:
    """Mark every transaction that wrote one of the items as torn."""
    seqs: set[int] = set()
    sql = "SELECT seq FROM change WHERE project = ? AND kind = ? AND item_id = ?"
    for kind, item_id in items:
        seqs.update(int(row[0]) for row in db.execute(sql, (number, kind.value, item_id)))
        made = insertion_seq(db, number, kind, item_id)
        if made is not None:
            seqs.add(made)
    db.executemany(
        "UPDATE ledger SET purged = 1 WHERE project = ? AND seq = ?",
        ((number, seq) for seq in seqs),
    )


def _forget_edge(db: apsw.Connection, number: int, edge_id: int) -> int:
    before = db.total_changes()
    sql = "SELECT image FROM change WHERE project = ? AND kind = 'edge' AND item_id = ?"
    images = [json.loads(row[0]) for row in db.execute(sql, (number, edge_id)) if row[0]]
    for node_id in {image[end] for image in images for end in ("from", "to")}:
        db.execute(
            "DELETE FROM change_touch WHERE project = ? AND node = ? AND edge = ?",
            (number, node_id, edge_id),
        )
    db.execute(
        "DELETE FROM change WHERE project = ? AND kind = 'edge' AND item_id = ?",
        (number, edge_id),
    )
    return int(db.total_changes() - before)


def _forget_node(db: apsw.Connection, number: int, node_id: int) -> int:
    before = db.total_changes()
    sql = "SELECT image FROM change WHERE project = ? AND kind = 'node' AND item_id = ?"
    images = [json.loads(row[0]) for row in db.execute(sql, (number, node_id)) if row[0]]
    for name in {image["name"] for image in images}:
        db.execute(
            "DELETE FROM name_past WHERE project = ? AND name = ? AND node = ?",
            (number, name, node_id),
        )
    db.execute("DELETE FROM change_touch WHERE project = ? AND node = ?", (number, node_id))
    db.execute(
        "DELETE FROM change WHERE project = ? AND kind = 'node' AND item_id = ?",
        (number, node_id),
    )
    return int(db.total_changes() - before)


def _drop_unused_types(db: apsw.Connection, number: int) -> None:
    """A type that nothing has any more may have been the purged node's own word."""
    db.execute(
        """DELETE FROM node_type WHERE project = ?1 AND NOT EXISTS
           (SELECT 1 FROM node AS n WHERE n.project = ?1 AND n.type = node_type.id)""",
        (number,),
    )
    db.execute(
        """DELETE FROM edge_type WHERE project = ?1 AND NOT EXISTS
           (SELECT 1 FROM edge AS e WHERE e.project = ?1 AND e.type = edge_type.id)""",
        (number,),
    )
