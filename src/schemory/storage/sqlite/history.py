"""A node's past, put together from images, touched edges and ranges of new ids."""

from bisect import bisect_right
from collections import defaultdict

from schemory.model.edge import EdgeRecord
from schemory.model.node import NodeRecord
from schemory.storage.protocols import NodeVersion
from schemory.storage.sqlite import ledger
from schemory.storage.sqlite.adjacent import newest_edge_ids
from schemory.storage.sqlite.images import (
    Image,
    Kind,
    current_image,
    edge_of_image,
    image_after,
    image_before,
    node_of_image,
)
from schemory.storage.sqlite.space import Space

MOST_EDGES = 300
"""How many of a node's newest edges (and edge changes) its past is put together from."""


def ids_named(space: Space, name: str, limit: int = -1) -> list[int]:
    """Return ids of the nodes that have or had this name, the present one first."""
    present = "SELECT id FROM node WHERE project = ? AND name = ?"
    past = "SELECT node FROM name_past WHERE project = ? AND name = ? ORDER BY seq DESC LIMIT ?"
    return list(dict.fromkeys([*space.ints(present, name), *space.ints(past, name, limit)]))


def node_history(space: Space, name: str, limit: int) -> tuple[NodeVersion, ...]:
    """Return the versions of every node that has or had this name, newest first."""
    versions: list[NodeVersion] = []
    for node_id in ids_named(space, name, limit):
        versions += _versions(space, node_id, limit)
    versions.sort(key=lambda version: version.seq, reverse=True)
    return tuple(versions[:limit])


def _versions(space: Space, node_id: int, limit: int) -> list[NodeVersion]:
    states = _states(space, node_id, limit)
    events = _edge_events(space, node_id)
    seqs = sorted({*states, *events}, reverse=True)[:limit]
    known = sorted(states)
    versions: list[NodeVersion] = []
    for seq in seqs:
        commit = ledger.find_commit(space, seq)
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


def _states(space: Space, node_id: int, limit: int) -> dict[int, NodeRecord | None]:
    """Return the node's state after each of the newest transactions that changed it."""
    sql = """
        SELECT seq FROM change WHERE project = ? AND kind = 'node' AND item_id = ?
        ORDER BY seq DESC LIMIT ?
    """
    seqs = space.ints(sql, node_id, limit)
    states: dict[int, NodeRecord | None] = {}
    image = current_image(space, Kind.NODE, node_id)
    for seq in seqs:
        states[seq] = None if image is None else node_of_image(node_id, image)
        image = image_before(space, Kind.NODE, node_id, seq)
    made = ledger.insertion_seq(space, Kind.NODE, node_id)
    if made is not None and len(seqs) < limit:
        states[made] = None if image is None else node_of_image(node_id, image)
    return states


def _edge_events(space: Space, node_id: int) -> dict[int, list[tuple[str, EdgeRecord]]]:
    """Return what happened to the node's edges, by transaction."""
    sql = """
        SELECT seq, edge FROM change_touch WHERE project = ? AND node = ?
        ORDER BY seq DESC, edge LIMIT ?
    """
    touched = space.rows(sql, node_id, MOST_EDGES)
    events: dict[int, list[tuple[str, EdgeRecord]]] = defaultdict(list)
    names = _Names(space)
    for seq, edge_id in touched:
        before = image_before(space, Kind.EDGE, edge_id, seq)
        after = image_after(space, Kind.EDGE, edge_id, seq)
        event = _event(node_id, before, after)
        if event is not None:
            word, image = event
            events[seq].append((word, names.edge(edge_id, image, seq)))
    edge_ids = {edge_id for _, edge_id in touched}
    edge_ids.update(newest_edge_ids(space, node_id, MOST_EDGES))
    for edge_id in sorted(edge_ids):
        made = ledger.insertion_seq(space, Kind.EDGE, edge_id)
        if made is None:
            continue
        first = image_after(space, Kind.EDGE, edge_id, made)
        if first is not None and node_id in (first["from"], first["to"]):
            events[made].append(("added", names.edge(edge_id, first, made)))
    return events


def _event(node_id: int, before: Image | None, after: Image | None) -> tuple[str, Image] | None:
    """Return what a change of an edge is for one node, and the edge's state to show."""
    if before is not None and node_id not in (before["from"], before["to"]):
        before = None
    if after is not None and node_id in (after["from"], after["to"]):
        return ("added" if before is None else "changed"), after
    return None if before is None else ("removed", before)


class _Names:
    """Names of the ends of past edges, as they were then."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._known: dict[tuple[int, int], str] = {}

    def edge(self, edge_id: int, image: Image, seq: int) -> EdgeRecord:
        """Return an edge as it was after (or, where it went, before) a transaction."""
        return edge_of_image(edge_id, image, *(self._of(image[end], seq) for end in ("from", "to")))

    def _of(self, node_id: int, seq: int) -> str:
        if (node_id, seq) not in self._known:
            image = image_after(self._space, Kind.NODE, node_id, seq)
            if image is None:  # the transaction took the node with it
                image = image_before(self._space, Kind.NODE, node_id, seq)
            self._known[node_id, seq] = "" if image is None else image["name"]
        return self._known[node_id, seq]
