"""Writing nodes: table rows, index rows and images, each in its right order.

Index rows of new nodes are written after all table rows of a transaction (`settle`); those of
changed or deleted nodes are removed before their table rows change, while the old values are at
hand. Images go before the change they are the past of.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemory.model.frozen import dataclass
from schemory.model.node import NewNode, Node, NodeChange, NodeRecord
from schemory.storage.sqlite import index
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.index_text import parse_lines
from schemory.storage.sqlite.ledger import LedgerEntry, highest_ids
from schemory.storage.sqlite.node_ids import NodeIds
from schemory.storage.sqlite.rows import (
    Row,
    extra_text,
    lines_text,
    node_record,
    twin_hash,
    typed_text,
)
from schemory.storage.sqlite.space import Space, id_list
from schemory.storage.sqlite.types import Types, TypeTable

_INDEX_CHUNK = 5000
_INSERT = """
    INSERT INTO node (project, id, name, type, metadata, typed, extra, created_at, updated_at,
                      revision, author, since_seq, twin)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE = """
    UPDATE node SET name = ?3, type = ?4, metadata = ?5, typed = ?6, extra = ?7, created_at = ?8,
      updated_at = ?9, revision = ?10, author = ?11, since_seq = ?12, twin = ?13
    WHERE id = ?2 AND project = ?1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """All of a node's row that its writer decides; JSON columns as they are stored."""

    node: Node
    typed: str | None
    extra: str | None
    created_at: str
    updated_at: str
    revision: int


class NodeWriter:
    """Writes nodes of one space inside the open transaction.

    Args:
        entry: The ledger's entry of this transaction, which knows its time and author.
        node_ids: Shared with the writer of edges.
    """

    def __init__(self, space: Space, entry: LedgerEntry, node_ids: NodeIds) -> None:
        self._space = space
        self._entry = entry
        self._node_ids = node_ids
        self._types = Types(space, TypeTable.NODE)
        self._indexed_up_to = entry.highest[Kind.NODE]

    @property
    def indexed_up_to(self) -> int:
        """The highest node id whose index rows are written."""
        return self._indexed_up_to

    def forget(self, indexed_up_to: int) -> None:
        """Go back to that mark, because a savepoint rolled back to where it stood."""
        self._types.forget()
        self._indexed_up_to = indexed_up_to

    def settle(self) -> None:
        """Write the index rows of all new nodes."""
        sql = """
            SELECT id, name, '', metadata FROM node INDEXED BY node_by_project
            WHERE project = ? AND id > ? ORDER BY id LIMIT ?
        """
        rows: list[Row] = []
        while not rows or len(rows) == _INDEX_CHUNK:
            rows = self._space.rows(sql, self._indexed_up_to, _INDEX_CHUNK)
            if not rows:
                return
            index.add_rows(self._space.db, self._space.number, map(_index_row, rows))
            self._indexed_up_to = rows[-1][0]

    def insert(self, nodes: Sequence[NewNode]) -> tuple[NodeRecord, ...]:
        """Insert nodes under new ids; their index rows wait for `settle`."""
        now, author = self._entry.now, self._entry.context.author
        first = highest_ids(self._space)[Kind.NODE] + 1
        records = tuple(
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
        )
        self._space.write(_INSERT, self._values_of_records(records))
        self._node_ids.learn(records)
        return records

    def _values_of_records(self, records: Sequence[NodeRecord]) -> Iterator[Row]:
        types = self._types.ids(record.node.node_type for record in records)
        seq = self._entry.seq
        for record in records:
            node = record.node
            yield (
                record.id,
                node.name,
                types[node.node_type],
                lines_text(node.metadata),
                typed_text(record.typed, seq),
                extra_text(record.extra),
                record.created_at,
                record.updated_at,
                record.revision,
                record.author,
                seq,
                twin_hash(node.name),
            )

    def update(self, changes: Sequence[NodeChange]) -> tuple[NodeRecord, ...]:
        """Apply changes, return the new states; a change that changes nothing leaves no trace."""
        if len({change.id for change in changes}) < len(changes):
            return tuple(self.update((change,))[0] for change in changes)
        rows = self.rows(change.id for change in changes)
        states: dict[int, NodeState] = {}
        for change in changes:
            state = self._changed(rows[change.id], change)
            if state is not None:
                states[change.id] = state
        if states:
            self.set(states)
            rows = self.rows(rows)
        return tuple(node_record(rows[change.id]) for change in changes)

    def _changed(self, row: Row, change: NodeChange) -> NodeState | None:
        """Return the state after a change, or None when that is the present one."""
        old = node_record(row)
        node = Node(
            old.name if change.name is None else change.name,
            old.node.node_type if change.node_type is None else change.node_type,
            old.node.metadata if change.metadata is None else tuple(change.metadata),
        )
        typed, extra = row[4], row[5]
        if change.typed is not None:
            typed = typed_text(change.typed, self._entry.seq, before=typed)
        if change.extra is not None:
            extra = extra_text(change.extra)
        created = change.created_at or old.created_at
        claims = (created, change.updated_at or old.updated_at)
        present = (old.node, row[4], row[5], old.created_at, old.updated_at)
        if (node, typed, extra, *claims) == present:
            return None
        return NodeState(
            node=node,
            typed=typed,
            extra=extra,
            created_at=created,
            updated_at=change.updated_at or self._entry.now,
            revision=old.revision + 1,
        )

    def set(self, states: Mapping[int, NodeState]) -> None:
        """Put present nodes into new states; two of them may swap their names."""
        rows = self.rows(states)
        renamed = [row for row in rows.values() if states[row[0]].node.name != row[1]]
        self._entry.keep(Kind.NODE, rows.values())
        self._entry.keep_names((row[1], row[0]) for row in renamed)
        self._node_ids.forget()
        self._unindex(rows.values())
        if len(renamed) > 1:  # free the names first; no name can begin with a control character
            free = "UPDATE node SET name = char(1) || id WHERE id = ?2 AND project = ?1"
            self._space.write(free, ((row[0],) for row in renamed))
        self._space.write(_UPDATE, self._values_of_states(states))
        self._index(states)

    def restore(self, states: Mapping[int, NodeState]) -> None:
        """Insert nodes again under ids they had before."""
        self._entry.keep_absence(Kind.NODE, states)
        self._space.write(_INSERT, self._values_of_states(states))
        self._index(states)

    def _values_of_states(self, states: Mapping[int, NodeState]) -> Iterator[Row]:
        types = self._types.ids(state.node.node_type for state in states.values())
        author, seq = self._entry.context.author, self._entry.seq
        for node_id, state in states.items():
            node = state.node
            yield (
                node_id,
                node.name,
                types[node.node_type],
                lines_text(node.metadata),
                state.typed,
                state.extra,
                state.created_at,
                state.updated_at,
                state.revision,
                author,
                seq,
                twin_hash(node.name),
            )

    def delete(self, ids: Iterable[int], *, keeps_past: bool = True) -> None:
        """Delete nodes that no edge touches any more.

        Args:
            ids: Which; those that are not there are passed over.
            keeps_past: False leaves no image (purge).
        """
        rows = self.rows(ids).values()
        if keeps_past:
            self._entry.keep(Kind.NODE, rows)
            self._entry.keep_names((row[1], row[0]) for row in rows)
        self._node_ids.forget()
        self._unindex(rows)
        sql = "DELETE FROM node WHERE id = ?2 AND project = ?1"
        self._space.write(sql, ((row[0],) for row in rows))

    def rows(self, ids: Iterable[int]) -> dict[int, Row]:
        """Return rows of `graph_nodes` by id."""
        return node_rows(self._space, ids)

    def _unindex(self, rows: Iterable[Row]) -> None:
        old = [_index_row(row) for row in rows if row[0] <= self._indexed_up_to]
        if old:
            index.remove_rows(self._space.db, self._space.number, old)

    def _index(self, states: Mapping[int, NodeState]) -> None:
        new = [
            (node_id, state.node.name, state.node.node_type, state.node.metadata)
            for node_id, state in states.items()
            if node_id <= self._indexed_up_to
        ]
        if new:
            index.add_rows(self._space.db, self._space.number, new)


def node_rows(space: Space, ids: Iterable[int]) -> dict[int, Row]:
    """Return rows of the view `graph_nodes` by id, ascending."""
    sql = """
        SELECT item.* FROM carray(?2) AS wanted CROSS JOIN graph_nodes AS item
        WHERE item.id = wanted.value AND item.project = ?1
    """
    wanted = sorted(set(ids))
    return {row[0]: row for row in space.rows(sql, id_list(wanted))} if wanted else {}


def _index_row(row: Row) -> index.IndexRow:
    return row[0], row[1], row[2], parse_lines(row[3])
