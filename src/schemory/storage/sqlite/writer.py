"""Writing rows of one space: table rows, index rows and images, each in its right order.

Index rows of new nodes are written after all table rows of a transaction (`settle`); those of
changed or deleted nodes are removed before their table rows change, while the old values are at
hand. Images go before the change they are the past of.
"""

import hashlib
import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import apsw

from schemory.model.edge import Edge, EdgeChange, EdgeRecord, NewEdge
from schemory.model.node import NewNode, Node, NodeChange, NodeRecord
from schemory.storage.protocols import KeptLine
from schemory.storage.sqlite import index
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.ledger import LedgerEntry, highest_ids
from schemory.storage.sqlite.rows import (
    Row,
    edge_record,
    extra_text,
    lines_text,
    node_record,
    twin_hash,
    typed_text,
)

_INDEX_CHUNK = 5000
_INSERT_NODE = """
    INSERT INTO node (id, project, name, type, metadata, typed, extra, created_at, updated_at,
                      author, revision, since_seq, twin)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE_NODE = """
    UPDATE node SET name = ?, type = ?, metadata = ?, typed = ?, extra = ?, created_at = ?,
      updated_at = ?, author = ?, revision = ?, since_seq = ?, twin = ? WHERE id = ?
"""
_INSERT_EDGE = """
    INSERT INTO edge (id, project, from_id, to_id, type, weight, property, extra, created_at,
                      updated_at, author, revision, since_seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE_EDGE = """
    UPDATE edge SET from_id = ?, to_id = ?, type = ?, weight = ?, property = ?, extra = ?,
      created_at = ?, updated_at = ?, author = ?, revision = ?, since_seq = ? WHERE id = ?
"""
_TOUCHING = """
    SELECT id FROM edge INDEXED BY edge_by_triple WHERE project = ?1 AND from_id = ?2
    UNION SELECT id FROM edge INDEXED BY edge_by_to WHERE project = ?1 AND to_id = ?2
"""


class NodeState(NamedTuple):
    """Everything of a node's row that a change may set."""

    node: Node
    typed: str | None
    extra: str | None
    created_at: str
    updated_at: str
    revision: int


class EdgeState(NamedTuple):
    """Everything of an edge's row that a change may set."""

    from_id: int
    to_id: int
    edge_type: str
    weight: float
    property_name: str | None
    extra: str | None
    created_at: str
    revision: int


class Writer:
    """Writes into one space inside the connection's open transaction.

    Args:
        entry: The ledger's entry of this transaction, which knows its time and author.
    """

    def __init__(self, db: apsw.Connection, number: int, entry: LedgerEntry) -> None:
        self._db = db
        self._number = number
        self.entry = entry
        self._types: dict[tuple[str, str], int] = {}
        self._indexed_up_to = highest_ids(db)[Kind.NODE]

    # Savepoints and the index -----------------------------------------------------------------

    @property
    def indexed_up_to(self) -> int:
        """The highest node id whose index rows are written."""
        return self._indexed_up_to

    def forget(self, indexed_up_to: int) -> None:
        """Take back what Python knows after a savepoint rolled back to where it had that mark."""
        self._types.clear()
        self._indexed_up_to = indexed_up_to

    def settle(self) -> None:
        """Write the index rows of all new nodes."""
        sql = """
            SELECT id, name, '', metadata FROM node INDEXED BY node_by_project
            WHERE project = ? AND id > ? ORDER BY id LIMIT ?
        """
        while True:
            bound = (self._number, self._indexed_up_to, _INDEX_CHUNK)
            rows = self._db.execute(sql, bound).fetchall()
            if not rows:
                return
            index.add_rows(self._db, self._number, map(_index_row, rows))
            self._indexed_up_to = int(rows[-1][0])

    def _unindex(self, rows: Iterable[Row]) -> None:
        old = [_index_row(row) for row in rows if row[0] <= self._indexed_up_to]
        if old:
            index.remove_rows(self._db, self._number, old)

    def _reindex(self, rows: Iterable[tuple[int, Node]]) -> None:
        new = [
            (node_id, node.name, node.node_type, node.metadata)
            for node_id, node in rows
            if node_id <= self._indexed_up_to
        ]
        if new:
            index.add_rows(self._db, self._number, new)

    # Nodes ------------------------------------------------------------------------------------

    def insert_nodes(self, nodes: Sequence[NewNode]) -> tuple[NodeRecord, ...]:
        """Insert nodes under new ids; their index rows wait for `settle`."""
        now, author = self.entry.now, self.entry.context.author
        first = highest_ids(self._db)[Kind.NODE] + 1
        records = [
            NodeRecord(
                id=node_id,
                node=new.node,
                typed=new.typed,
                extra=new.extra,
                created_at=new.created_at or now,
                updated_at=new.updated_at or new.created_at or now,
                revision=1,
                author=author,
            )
            for node_id, new in enumerate(nodes, first)
        ]
        types = self._type_ids("node", (record.node.node_type for record in records))
        self._db.executemany(_INSERT_NODE, (self._node_values(r, types) for r in records))
        return tuple(records)

    def _node_values(self, record: NodeRecord, types: dict[str, int]) -> Row:
        node, seq = record.node, self.entry.seq
        return (
            record.id,
            self._number,
            node.name,
            types[node.node_type],
            lines_text(node.metadata),
            typed_text(record.typed, seq),
            extra_text(record.extra),
            record.created_at,
            record.updated_at,
            record.author,
            record.revision,
            seq,
            twin_hash(node.name),
        )

    def update_nodes(self, changes: Sequence[NodeChange]) -> tuple[NodeRecord, ...]:
        """Apply changes; one that changes nothing leaves no trace."""
        if len({change.id for change in changes}) < len(changes):
            return tuple(self.update_nodes((change,))[0] for change in changes)
        rows = self.node_rows(change.id for change in changes)
        states: dict[int, NodeState] = {}
        for change in changes:
            state = self._changed_node(rows[change.id], change)
            if state is not None:
                states[change.id] = state
        self.set_nodes([rows[node_id] for node_id in states], states)
        if states:
            rows = self.node_rows(rows)
        return tuple(node_record(rows[change.id]) for change in changes)

    def _changed_node(self, row: Row, change: NodeChange) -> NodeState | None:
        """Return the state after a change, or None when that is the present one."""
        old = node_record(row)
        node = Node(
            old.name if change.name is None else change.name,
            old.node.node_type if change.node_type is None else change.node_type,
            old.node.metadata if change.metadata is None else tuple(change.metadata),
        )
        typed, extra = row[4], row[5]
        if change.typed is not None:
            typed = typed_text(change.typed, self.entry.seq, before=typed)
        if change.extra is not None:
            extra = extra_text(change.extra)
        created = change.created_at or old.created_at
        updated = change.updated_at or old.updated_at
        if (node, typed, extra, created, updated) == (
            (old.node, row[4], row[5], old.created_at, old.updated_at)
        ):
            return None
        updated = change.updated_at or self.entry.now
        return NodeState(node, typed, extra, created, updated, old.revision + 1)

    def set_nodes(self, rows: Sequence[Row], states: dict[int, NodeState]) -> None:
        """Put nodes into new states.

        Args:
            rows: Their present rows of `graph_nodes`.
            states: Their new states by id; two may swap their names.
        """
        entry = self.entry
        renamed = [row for row in rows if states[row[0]].node.name != row[1]]
        self.entry.keep(Kind.NODE, rows)
        self.entry.keep_names((row[1], row[0]) for row in renamed)
        types = self._type_ids("node", (state.node.node_type for state in states.values()))
        self._unindex(rows)
        if len(renamed) > 1:  # free the names first: no stored name begins with U+0001
            free = "UPDATE node SET name = char(1) || id WHERE id = ?"
            self._db.executemany(free, ((row[0],) for row in renamed))
        self._db.executemany(
            _UPDATE_NODE,
            (
                (
                    state.node.name,
                    types[state.node.node_type],
                    lines_text(state.node.metadata),
                    state.typed,
                    state.extra,
                    state.created_at,
                    state.updated_at,
                    entry.context.author,
                    state.revision,
                    entry.seq,
                    twin_hash(state.node.name),
                    node_id,
                )
                for node_id, state in states.items()
            ),
        )
        self._reindex((node_id, state.node) for node_id, state in states.items())

    def restore_nodes(self, states: dict[int, NodeState]) -> None:
        """Insert nodes again under ids they had before."""
        entry = self.entry
        entry.keep_absence(Kind.NODE, states)
        types = self._type_ids("node", (state.node.node_type for state in states.values()))
        self._db.executemany(
            _INSERT_NODE,
            (
                (
                    node_id,
                    self._number,
                    state.node.name,
                    types[state.node.node_type],
                    lines_text(state.node.metadata),
                    state.typed,
                    state.extra,
                    state.created_at,
                    state.updated_at,
                    entry.context.author,
                    state.revision,
                    entry.seq,
                    twin_hash(state.node.name),
                )
                for node_id, state in states.items()
            ),
        )
        self._reindex((node_id, state.node) for node_id, state in states.items())

    def delete_nodes(self, ids: Iterable[int], *, keeps_past: bool = True) -> int:
        """Delete nodes and every edge that touches them; returns how many edges went.

        Args:
            keeps_past: False leaves no image (purge).
        """
        rows = list(self.node_rows(ids).values())
        edge_ids = list(
            dict.fromkeys(
                int(edge_id)
                for row in rows
                for (edge_id,) in self._db.execute(_TOUCHING, (self._number, row[0]))
            )
        )
        self.delete_edges(edge_ids, keeps_past=keeps_past)
        if keeps_past:
            self.entry.keep(Kind.NODE, rows)
            self.entry.keep_names((row[1], row[0]) for row in rows)
        self._unindex(rows)
        self._db.executemany("DELETE FROM node WHERE id = ?", ((row[0],) for row in rows))
        return len(edge_ids)

    def node_rows(self, ids: Iterable[int]) -> dict[int, Row]:
        """Return rows of `graph_nodes` by id."""
        sql = """
            SELECT * FROM graph_nodes
            WHERE id IN (SELECT value FROM carray(?)) AND project = ? ORDER BY id
        """
        wanted = array("q", dict.fromkeys(ids))
        if not wanted:
            return {}
        rows = self._db.execute(sql, (apsw.carray(wanted), self._number))
        return {row[0]: row for row in rows}

    # Edges ------------------------------------------------------------------------------------

    def insert_edges(self, edges: Sequence[NewEdge]) -> tuple[EdgeRecord, ...]:
        """Insert edges under new ids.

        Raises:
            ValueError: An end does not exist (a programming error: services check).
        """
        now, author = self.entry.now, self.entry.context.author
        first = highest_ids(self._db)[Kind.EDGE] + 1
        ends = self.ids_of_names(
            name for new in edges for name in (new.edge.from_name, new.edge.to_name)
        )
        records = [
            EdgeRecord(
                id=edge_id,
                from_id=ends[new.edge.from_name],
                to_id=ends[new.edge.to_name],
                edge=_with_plain_weight(new.edge),
                property_name=new.property_name or None,
                extra=new.extra,
                created_at=new.created_at or now,
                updated_at=new.updated_at or new.created_at or now,
                revision=1,
                author=author,
            )
            for edge_id, new in enumerate(edges, first)
        ]
        types = self._type_ids("edge", (record.edge.edge_type for record in records))
        self._db.executemany(
            _INSERT_EDGE,
            (
                (
                    record.id,
                    self._number,
                    record.from_id,
                    record.to_id,
                    types[record.edge.edge_type],
                    record.edge.weight,
                    record.property_name,
                    extra_text(record.extra),
                    record.created_at,
                    record.updated_at,
                    record.author,
                    1,
                    self.entry.seq,
                )
                for record in records
            ),
        )
        return tuple(records)

    def update_edges(self, changes: Sequence[EdgeChange]) -> tuple[EdgeRecord, ...]:
        """Apply changes; one that changes nothing leaves no trace."""
        if len({change.id for change in changes}) < len(changes):
            return tuple(self.update_edges((change,))[0] for change in changes)
        rows = self.edge_rows(change.id for change in changes)
        keys = [change.key for change in changes if change.key is not None]
        ends = self.ids_of_names(name for key in keys for name in key[:2])
        states: dict[int, EdgeState] = {}
        for change in changes:
            row = rows[change.id]
            old = _edge_state(row)
            new = _changed_edge(old, change, ends)
            if new != old:
                states[change.id] = new._replace(revision=old.revision + 1)
        self.set_edges([rows[edge_id] for edge_id in states], states)
        if states:
            rows = self.edge_rows(rows)
        return tuple(edge_record(rows[change.id]) for change in changes)

    def set_edges(self, rows: Sequence[Row], states: dict[int, EdgeState]) -> None:
        """Put edges into new states; two may swap their triples.

        Args:
            rows: Their present rows of `graph_edges`.
            states: Their new states by id.
        """
        entry = self.entry
        entry.keep(Kind.EDGE, rows)
        entry.touch((end, row[0]) for row in rows for end in row[1:3])
        entry.touch((end, edge_id) for edge_id, s in states.items() for end in s[:2])
        types = self._type_ids("edge", (state.edge_type for state in states.values()))
        moved = [row for row in rows if states[row[0]][:3] != (row[1], row[2], row[5])]
        if len(moved) > 1:  # their triples may be taken by each other
            take_out = "DELETE FROM edge WHERE id = ?"
            self._db.executemany(take_out, ((row[0],) for row in moved))
            again = {row[0]: states[row[0]] for row in moved}
            self._insert_states(again, types)
            states = {key: state for key, state in states.items() if key not in again}
        self._db.executemany(
            _UPDATE_EDGE,
            (
                (
                    *_stored(state, types),
                    state.created_at,
                    entry.now,
                    entry.context.author,
                    state.revision,
                    entry.seq,
                    edge_id,
                )
                for edge_id, state in states.items()
            ),
        )

    def restore_edges(self, states: dict[int, EdgeState]) -> None:
        """Insert edges again under ids they had before."""
        self.entry.keep_absence(Kind.EDGE, states)
        self.entry.touch((end, edge_id) for edge_id, s in states.items() for end in s[:2])
        self._insert_states(states, self._type_ids("edge", (s[2] for s in states.values())))

    def _insert_states(self, states: dict[int, EdgeState], types: dict[str, int]) -> None:
        entry = self.entry
        self._db.executemany(
            _INSERT_EDGE,
            (
                (
                    edge_id,
                    self._number,
                    *_stored(state, types),
                    state.created_at,
                    entry.now,
                    entry.context.author,
                    state.revision,
                    entry.seq,
                )
                for edge_id, state in states.items()
            ),
        )

    def delete_edges(self, ids: Iterable[int], *, keeps_past: bool = True) -> None:
        """Delete edges."""
        rows = list(self.edge_rows(ids).values())
        if keeps_past:
            self.entry.keep(Kind.EDGE, rows)
            self.entry.touch((end, row[0]) for row in rows for end in row[1:3])
        self._db.executemany("DELETE FROM edge WHERE id = ?", ((row[0],) for row in rows))

    def edge_rows(self, ids: Iterable[int]) -> dict[int, Row]:
        """Return rows of `graph_edges` by id."""
        sql = """
            SELECT * FROM graph_edges
            WHERE id IN (SELECT value FROM carray(?)) AND project = ? ORDER BY id
        """
        wanted = array("q", dict.fromkeys(ids))
        if not wanted:
            return {}
        rows = self._db.execute(sql, (apsw.carray(wanted), self._number))
        return {row[0]: row for row in rows}

    def ids_of_names(self, names: Iterable[str]) -> dict[str, int]:
        """Return the ids of existing nodes.

        Raises:
            ValueError: One does not exist.
        """
        sql = "SELECT id FROM node WHERE project = ? AND name = ?"
        found: dict[str, int] = {}
        for name in dict.fromkeys(names):
            row = self._db.execute(sql, (self._number, name)).fetchone()
            if row is None:
                raise ValueError("an edge's end does not exist")
            found[name] = int(row[0])
        return found

    # Kept lines -------------------------------------------------------------------------------

    def insert_kept(self, lines: Sequence[KeptLine]) -> int:
        """Append kept lines that are not there yet; returns how many were new."""
        before = self._db.total_changes()
        self._db.executemany(
            "INSERT INTO kept (project, text, digest, since_seq) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            ((self._number, line.text, _digest(line.text), self.entry.seq) for line in lines),
        )
        return int(self._db.total_changes() - before)

    def restore_kept(self, texts: dict[int, str]) -> None:
        """Insert kept lines again under ids they had before."""
        self.entry.keep_absence(Kind.KEPT, texts)
        self._db.executemany(
            "INSERT INTO kept (id, project, text, digest, since_seq) VALUES (?, ?, ?, ?, ?)",
            (
                (kept_id, self._number, text, _digest(text), self.entry.seq)
                for kept_id, text in texts.items()
            ),
        )

    def delete_kept(self, ids: Iterable[int]) -> None:
        """Delete kept lines."""
        sql = "SELECT id, text, since_seq FROM kept WHERE id = ? AND project = ?"
        rows = [row for kept_id in ids for row in self._db.execute(sql, (kept_id, self._number))]
        self.entry.keep(Kind.KEPT, rows)
        self._db.executemany("DELETE FROM kept WHERE id = ?", ((row[0],) for row in rows))

    # Types ------------------------------------------------------------------------------------

    def _type_ids(self, table: str, names: Iterable[str]) -> dict[str, int]:
        """Return ids of types, made where missing; `table` is `node` or `edge`."""
        return {name: self._type_id(table, name) for name in dict.fromkeys(names)}

    def _type_id(self, table: str, name: str) -> int:
        known = self._types.get((table, name))
        if known is not None:
            return known
        find, make = _TYPE_SQL[table]
        row = self._db.execute(find, (self._number, name)).fetchone()
        if row is None:
            self._db.execute(make, (self._number, name))
            row = self._db.execute(find, (self._number, name)).fetchone()
        self._types[table, name] = int(row[0])
        return int(row[0])


_TYPE_SQL = {
    "node": (
        "SELECT id FROM node_type WHERE project = ? AND name = ?",
        """INSERT INTO node_type (project, id, name) SELECT ?1, ifnull(max(id), 0) + 1, ?2
           FROM node_type WHERE project = ?1""",
    ),
    "edge": (
        "SELECT id FROM edge_type WHERE project = ? AND name = ?",
        """INSERT INTO edge_type (project, id, name) SELECT ?1, ifnull(max(id), 0) + 1, ?2
           FROM edge_type WHERE project = ?1""",
    ),
}


def _index_row(row: Row) -> index.IndexRow:
    return row[0], row[1], row[2], json.loads(row[3])


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _with_plain_weight(edge: Edge) -> Edge:
    # SQLite gives back a float in any case; the record must not differ from what is read later.
    return edge if type(edge.weight) is float else replace(edge, weight=float(edge.weight))


def _edge_state(row: Row) -> EdgeState:
    (_, from_id, to_id, _, _, edge_type, weight, prop, extra, created, _, revision, *_) = row
    return EdgeState(from_id, to_id, edge_type, weight, prop, extra, created, revision)


def _changed_edge(old: EdgeState, change: EdgeChange, ends: dict[str, int]) -> EdgeState:
    new = old
    if change.key is not None:
        new = new._replace(
            from_id=ends[change.key.from_name],
            to_id=ends[change.key.to_name],
            edge_type=change.key.edge_type,
        )
    if change.weight is not None:
        new = new._replace(weight=float(change.weight))
    if change.property_name is not None:
        new = new._replace(property_name=change.property_name or None)
    if change.extra is not None:
        new = new._replace(extra=extra_text(change.extra))
    return new


def _stored(state: EdgeState, types: dict[str, int]) -> Row:
    return (
        state.from_id,
        state.to_id,
        types[state.edge_type],
        state.weight,
        state.property_name,
        state.extra,
    )
