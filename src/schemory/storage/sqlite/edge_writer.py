"""Writing edges and their images."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemory.model.edge import Edge, EdgeChange, EdgeRecord, NewEdge
from schemory.model.frozen import dataclass, replace
from schemory.storage.sqlite.adjacent import edge_rows
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.ledger import LedgerEntry, highest_ids
from schemory.storage.sqlite.node_ids import NodeIds
from schemory.storage.sqlite.rows import Row, edge_record, extra_text
from schemory.storage.sqlite.space import Space
from schemory.storage.sqlite.types import Types, TypeTable

_INSERT = """
    INSERT INTO edge (project, id, from_id, to_id, type, weight, property, extra, created_at,
                      updated_at, revision, author, since_seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE = """
    UPDATE edge SET from_id = ?3, to_id = ?4, type = ?5, weight = ?6, property = ?7, extra = ?8,
      created_at = ?9, updated_at = ?10, revision = ?11, author = ?12, since_seq = ?13
    WHERE id = ?2 AND project = ?1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeState:
    """All of an edge's row that its writer decides; `extra` as it is stored."""

    from_id: int
    to_id: int
    edge_type: str
    weight: float
    property_name: str | None
    extra: str | None
    created_at: str
    revision: int

    @property
    def triple(self) -> tuple[int, int, str]:
        """What is unique among the edges of a space."""
        return self.from_id, self.to_id, self.edge_type


class EdgeWriter:
    """Writes edges of one space inside the open transaction.

    Args:
        entry: The ledger's entry of this transaction, which knows its time and author.
        node_ids: Shared with the writer of nodes.
    """

    def __init__(self, space: Space, entry: LedgerEntry, node_ids: NodeIds) -> None:
        self._space = space
        self._entry = entry
        self._node_ids = node_ids
        self._types = Types(space, TypeTable.EDGE)

    def forget(self) -> None:
        """Forget what a savepoint may have taken back."""
        self._types.forget()

    def insert(self, edges: Sequence[NewEdge]) -> tuple[EdgeRecord, ...]:
        """Insert edges under new ids.

        Raises:
            ValueError: An end does not exist (a programming error: services check).
        """
        now, author = self._entry.now, self._entry.context.author
        first = highest_ids(self._space)[Kind.EDGE] + 1
        ends = self._node_ids.of(
            name for new in edges for name in (new.edge.from_name, new.edge.to_name)
        )
        records = tuple(
            EdgeRecord(
                id=edge_id,
                from_id=ends[new.edge.from_name],
                to_id=ends[new.edge.to_name],
                edge=_with_float_weight(new.edge),
                property_name=new.property_name or None,
                extra=new.extra,
                created_at=new.created_at or now,
                updated_at=new.updated_at or new.created_at or now,
                revision=1,
                author=author,
            )
            for edge_id, new in enumerate(edges, first)
        )
        self._space.write(_INSERT, self._values_of_records(records))
        return records

    def _values_of_records(self, records: Sequence[EdgeRecord]) -> Iterator[Row]:
        types = self._types.ids(record.edge.edge_type for record in records)
        for record in records:
            yield (
                record.id,
                record.from_id,
                record.to_id,
                types[record.edge.edge_type],
                record.edge.weight,
                record.property_name,
                extra_text(record.extra),
                record.created_at,
                record.updated_at,
                record.revision,
                record.author,
                self._entry.seq,
            )

    def update(self, changes: Sequence[EdgeChange]) -> tuple[EdgeRecord, ...]:
        """Apply changes, return the new states; a change that changes nothing leaves no trace."""
        if len({change.id for change in changes}) < len(changes):
            return tuple(self.update((change,))[0] for change in changes)
        rows = edge_rows(self._space, (change.id for change in changes))
        keys = [change.key for change in changes if change.key is not None]
        ends = self._node_ids.of(name for key in keys for name in key[:2])
        states: dict[int, EdgeState] = {}
        for change in changes:
            old = _state(rows[change.id])
            new = _changed(old, change, ends)
            if new != old:
                states[change.id] = replace(new, revision=old.revision + 1)
        if states:
            self.set(states)
            rows = edge_rows(self._space, rows)
        return tuple(edge_record(rows[change.id]) for change in changes)

    def set(self, states: Mapping[int, EdgeState]) -> None:
        """Put present edges into new states; two of them may swap their triples."""
        rows = edge_rows(self._space, states)
        self._entry.keep(Kind.EDGE, rows.values())
        self._touch(rows.values(), states)
        moved = {
            edge_id: states[edge_id]
            for edge_id, row in rows.items()
            if states[edge_id].triple != _state(row).triple
        }
        self._take_out(moved)
        staying = {edge_id: state for edge_id, state in states.items() if edge_id not in moved}
        self._space.write(_UPDATE, self._values_of_states(staying))
        self._space.write(_INSERT, self._values_of_states(moved))

    def restore(self, states: Mapping[int, EdgeState]) -> None:
        """Insert edges again under ids they had before."""
        self._entry.keep_absence(Kind.EDGE, states)
        self._touch((), states)
        self._space.write(_INSERT, self._values_of_states(states))

    def _values_of_states(self, states: Mapping[int, EdgeState]) -> Iterator[Row]:
        types = self._types.ids(state.edge_type for state in states.values())
        for edge_id, state in states.items():
            yield (
                edge_id,
                state.from_id,
                state.to_id,
                types[state.edge_type],
                state.weight,
                state.property_name,
                state.extra,
                state.created_at,
                self._entry.now,
                state.revision,
                self._entry.context.author,
                self._entry.seq,
            )

    def delete(self, ids: Iterable[int], *, keeps_past: bool = True) -> None:
        """Delete edges.

        Args:
            ids: Which; those that are not there are passed over.
            keeps_past: False leaves no image (purge).
        """
        rows = edge_rows(self._space, ids)
        if keeps_past:
            self._entry.keep(Kind.EDGE, rows.values())
            self._touch(rows.values(), {})
        self._take_out(rows)

    def _take_out(self, ids: Iterable[int]) -> None:
        sql = "DELETE FROM edge WHERE id = ?2 AND project = ?1"
        self._space.write(sql, ((edge_id,) for edge_id in ids))

    def _touch(self, rows: Iterable[Row], states: Mapping[int, EdgeState]) -> None:
        """Note which nodes were touched before, and which will be."""
        self._entry.touch((end, row[0]) for row in rows for end in row[1:3])
        self._entry.touch(
            (end, edge_id)
            for edge_id, state in states.items()
            for end in (state.from_id, state.to_id)
        )


def _with_float_weight(edge: Edge) -> Edge:
    # SQLite gives back a float in any case; the record must not differ from what is read later.
    return edge if type(edge.weight) is float else replace(edge, weight=float(edge.weight))


def _state(row: Row) -> EdgeState:
    (_, from_id, to_id, _, _, edge_type, weight, prop, extra, created, _, revision, *_) = row
    return EdgeState(
        from_id=from_id,
        to_id=to_id,
        edge_type=edge_type,
        weight=weight,
        property_name=prop,
        extra=extra,
        created_at=created,
        revision=revision,
    )


def _changed(old: EdgeState, change: EdgeChange, ends: Mapping[str, int]) -> EdgeState:
    new = old
    if change.key is not None:
        from_name, to_name, edge_type = change.key
        new = replace(new, from_id=ends[from_name], to_id=ends[to_name], edge_type=edge_type)
    if change.weight is not None:
        new = replace(new, weight=float(change.weight))
    if change.property_name is not None:
        new = replace(new, property_name=change.property_name or None)
    if change.extra is not None:
        new = replace(new, extra=extra_text(change.extra))
    return new
