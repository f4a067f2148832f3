"""Removing a node and every trace of its text from tables, index and ledger (storage.md).

The pages are freed, not yet overwritten: `vacuum` does that. Transactions whose past is torn by
a purge are marked, so that nobody undoes half of them.
"""

import json

from schemory.errors import NodeNotFoundError
from schemory.storage.sqlite.history import ids_named
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.ledger import insertion_seq
from schemory.storage.sqlite.space import Space
from schemory.storage.sqlite.types import drop_unused_types
from schemory.storage.sqlite.writers import Writers


def purge_node(space: Space, writers: Writers, name: str) -> int:
    """Purge every node that has this name, or had it when it was deleted.

    Returns:
        How many ledger rows were removed.

    Raises:
        NodeNotFoundError: There is none; names the node that was renamed, where one was.
    """
    named = ids_named(space, name)
    present = {node_id: _present_name(space, node_id) for node_id in named}
    ids = [node_id for node_id in named if present[node_id] in (None, name)]
    if not ids:
        raise _not_found(name, next(iter(present.values()), None))
    removed = 0
    for node_id in ids:
        edges = _edges_ever(space, node_id)
        mark_torn(space, [(Kind.NODE, node_id), *((Kind.EDGE, edge_id) for edge_id in edges)])
        removed += sum(_forget_edge(space, edge_id) for edge_id in edges)
        removed += _forget_node(space, node_id)
        writers.delete_nodes([node_id], keeps_past=False)
    drop_unused_types(space)
    return removed


def _present_name(space: Space, node_id: int) -> str | None:
    row = space.row("SELECT name FROM node WHERE id = ?2 AND project = ?1", node_id)
    return None if row is None else str(row[0])


def _not_found(name: str, renamed_to: str | None) -> NodeNotFoundError:
    message = f"there is no node {name!r}, neither now nor in the past"
    suggestion = None
    if renamed_to is not None:
        message = f"{name!r} is only a former name of {renamed_to!r}"
        suggestion = f"To remove that node with all its past, purge {renamed_to!r}."
    return NodeNotFoundError.at(
        "$.name",
        message,
        nearest=() if renamed_to is None else (renamed_to,),
        suggestion=suggestion,
    )


def _edges_ever(space: Space, node_id: int) -> list[int]:
    """Return ids of all edges that touch or touched a node."""
    sql = """
        SELECT id FROM edge INDEXED BY edge_by_triple WHERE project = ?1 AND from_id = ?2
        UNION SELECT id FROM edge INDEXED BY edge_by_to WHERE project = ?1 AND to_id = ?2
        UNION SELECT edge FROM change_touch WHERE project = ?1 AND node = ?2
    """
    return space.ints(sql, node_id)


def mark_torn(space: Space, items: list[tuple[Kind, int]]) -> None:
    """Mark every transaction that wrote one of the items as torn."""
    seqs: set[int] = set()
    sql = "SELECT seq FROM change WHERE project = ? AND kind = ? AND item_id = ?"
    for kind, item_id in items:
        seqs.update(space.ints(sql, kind.value, item_id))
        seqs.add(insertion_seq(space, kind, item_id) or 0)
    sql = "UPDATE ledger SET purged = 1 WHERE project = ? AND seq = ?"
    space.write(sql, ((seq,) for seq in seqs))


def _forget_edge(space: Space, edge_id: int) -> int:
    ends = {image[end] for image in _images(space, Kind.EDGE, edge_id) for end in ("from", "to")}
    present = "SELECT from_id, to_id FROM edge WHERE id = ?2 AND project = ?1"
    ends.update(end for row in space.rows(present, edge_id) for end in row)
    sql = "DELETE FROM change_touch WHERE project = ? AND node = ? AND edge = ?"
    removed = space.write(sql, ((node_id, edge_id) for node_id in ends))
    return removed + forget_images(space, Kind.EDGE, edge_id)


def _forget_node(space: Space, node_id: int) -> int:
    names = {image["name"] for image in _images(space, Kind.NODE, node_id)}
    sql = "DELETE FROM name_past WHERE project = ? AND name = ? AND node = ?"
    removed = space.write(sql, ((name, node_id) for name in names))
    sql = "DELETE FROM change_touch WHERE project = ? AND node = ?"
    removed += space.write(sql, [(node_id,)])
    return removed + forget_images(space, Kind.NODE, node_id)


def _images(space: Space, kind: Kind, item_id: int) -> list[dict[str, object]]:
    sql = "SELECT image FROM change WHERE project = ? AND kind = ? AND item_id = ?"
    return [json.loads(row[0]) for row in space.rows(sql, kind.value, item_id) if row[0]]


def forget_images(space: Space, kind: Kind, item_id: int) -> int:
    """Remove an item's past states from the ledger; returns how many there were."""
    sql = "DELETE FROM change WHERE project = ? AND kind = ? AND item_id = ?"
    return space.write(sql, [(kind.value, item_id)])
