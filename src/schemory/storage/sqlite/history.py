"""A node's past, put together from images, touched edges and ranges of new ids."""

from bisect import bisect_right
from collections import defaultdict

import apsw

from schemory.model.edge import EdgeRecord
from schemory.model.node import NodeRecord
from schemory.storage.protocols import NodeVersion
from schemory.storage.sqlite import ledger
from schemory.storage.sqlite.adjacent import edge_ids_near
from schemory.storage.sqlite.images import (
    Image,
    Kind,
    current_image,
    edge_of_image,
    image_after,
    image_before,
    node_of_image,
)

MOST_EDGES = 1000
"""How many of a node's newest edges (and edge changes) its past is put together from."""


def ids_named(db: apsw.Connection, number: int, name: str) -> list[int]:
    """Return ids of the nodes that have or had this name, the present one first."""
    present = "SELECT id FROM node WHERE project = ? AND name = ?"
    past = "SELECT node FROM name_past WHERE project = ? AND name = ? ORDER BY seq DESC"
    rows = [
        *db.execute(present, (number, name)).fetchall(),
        *db.execute(past, (number, name)).fetchall(),
    ]
    return list(dict.fromkeys(int(row[0]) for row in rows))


def node_history(
    db: apsw.Connection, number: int, name: str, limit: int
) -> tuple[NodeVersion, ...]:
    """Return the versions of every node that has or had this name, newest first."""
    versions: list[NodeVersion] = []
    for node_id in ids_named(db, number, name):
        versions += _versions(db, number, node_id, limit)
    versions.sort(key=lambda version: version.seq, reverse=True)
    return tuple(versions[:limit])


def _versions(db: apsw.Connection, number: int, node_id: int, limit: int) -> list[NodeVersion]:
    states = _states(db, number, node_id, limit)
    events = _edge_events(db, number, node_id)
    seqs = sorted({*states, *events}, reverse=True)[:limit]
    known = sorted(states)
    versions: list[NodeVersion] = []
    for seq in seqs:
        commit = ledger.find_commit(db, number, seq)
        if commit is None:
            continue
        at = bisect_right(known, seq)
        versions.append(
            NodeVersion(
                seq=seq,
                recorded_at=commit.recorded_at,
                operation=commit.operation,
                author=commit.author,
                record=states[known[at - 1]] if at else None,
                edges=tuple(events.get(seq, ())),
            )
        )
    return versions


def _states(
    db: apsw.Connection, number: int, node_id: int, limit: int
) -> dict[int, NodeRecord | None]:
    """Return the node's state after each of the newest transactions that changed it."""
    sql = """
        SELECT seq FROM change WHERE project = ? AND kind = 'node' AND item_id = ?
        ORDER BY seq DESC LIMIT ?
    """
    seqs = [int(row[0]) for row in db.execute(sql, (number, node_id, limit))]
    states: dict[int, NodeRecord | None] = {}
    image = current_image(db, number, Kind.NODE, node_id)
    for seq in seqs:
        states[seq] = None if image is None else node_of_image(node_id, image)
        image = image_before(db, number, Kind.NODE, node_id, seq)
    made = ledger.insertion_seq(db, number, Kind.NODE, node_id)
    if made is not None and len(seqs) < limit:
        states[made] = None if image is None else node_of_image(node_id, image)
    return states


def _edge_events(
    db: apsw.Connection, number: int, node_id: int
) -> dict[int, list[tuple[str, EdgeRecord]]]:
    """Return what happened to the node's edges, by transaction."""
    sql = """
        SELECT seq, edge FROM change_touch WHERE project = ? AND node = ?
        ORDER BY seq DESC, edge LIMIT ?
    """
    touched = [(int(s), int(e)) for s, e in db.execute(sql, (number, node_id, MOST_EDGES))]
    events: dict[int, list[tuple[str, EdgeRecord]]] = defaultdict(list)
    for seq, edge_id in touched:
        before = image_before(db, number, Kind.EDGE, edge_id, seq)
        after = image_after(db, number, Kind.EDGE, edge_id, seq)
        event = _event(node_id, before, after)
        if event is not None:
            word, image = event
            events[seq].append((word, _edge(db, number, edge_id, image, seq)))
    edge_ids = {edge_id for _, edge_id in touched}
    edge_ids.update(edge_ids_near(db, number, node_id, MOST_EDGES))
    for edge_id in sorted(edge_ids):
        made = ledger.insertion_seq(db, number, Kind.EDGE, edge_id)
        if made is None:
            continue
        image = image_after(db, number, Kind.EDGE, edge_id, made)
        if image is not None and node_id in (image["from"], image["to"]):
            events[made].append(("added", _edge(db, number, edge_id, image, made)))
    return events


def _event(node_id: int, before: Image | None, after: Image | None) -> tuple[str, Image] | None:
    """Return what a change of an edge is for one node, and the edge's state to show."""
    was = before is not None and node_id in (before["from"], before["to"])
    if after is not None and node_id in (after["from"], after["to"]):
        return ("changed" if was else "added"), after
    return ("removed", before) if before is not None and was else None


def _edge(db: apsw.Connection, number: int, edge_id: int, image: Image, seq: int) -> EdgeRecord:
    names = [_name(db, number, node_id, seq) for node_id in (image["from"], image["to"])]
    return edge_of_image(edge_id, image, *names)


def _name(db: apsw.Connection, number: int, node_id: int, seq: int) -> str:
    """Return a node's name after a transaction, or before it when the transaction removed it."""
    image = image_after(db, number, Kind.NODE, node_id, seq)
    if image is None:
        image = image_before(db, number, Kind.NODE, node_id, seq)
    return "" if image is None else str(image["name"])
