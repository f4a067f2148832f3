"""Reading one graph space at one moment (storage.protocols.GraphReader)."""

from collections.abc import Iterable, Sequence

from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.node import NodeRecord
from schemory.model.text import twin_key
from schemory.storage.protocols import (
    Commit,
    GraphCounts,
    KeptLine,
    LineHit,
    NodeVersion,
    Position,
    SearchPage,
    SearchQuery,
)
from schemory.storage.sqlite import adjacent, history, ledger, search
from schemory.storage.sqlite.node_writer import node_rows
from schemory.storage.sqlite.rows import is_storable, node_record, storable, twin_hash
from schemory.storage.sqlite.space import Space

_MOST_TWINS = 5


class SqliteGraphReader:
    """One space as it stands inside the connection's current transaction.

    Args:
        space: Where; a space that does not exist reads as empty.
        name: Its id.
    """

    def __init__(self, space: Space, name: str) -> None:
        self._space = space
        self._name = name

    @property
    def space(self) -> str:
        """The space's id."""
        return self._name

    def find_nodes(self, names: Iterable[str]) -> dict[str, NodeRecord]:
        """Return the nodes with exactly these names, keyed by name."""
        sql = "SELECT * FROM graph_nodes WHERE project = ? AND name = ?"
        rows = self._space.each(sql, ((name,) for name in storable(names)))
        return {record.name: record for record in map(node_record, rows)}

    def find_nodes_by_id(self, ids: Iterable[int]) -> dict[int, NodeRecord]:
        """Return the nodes with these internal ids, keyed by id."""
        return {i: node_record(row) for i, row in node_rows(self._space, ids).items()}

    def find_edges(self, keys: Iterable[EdgeKey]) -> dict[EdgeKey, EdgeRecord]:
        """Return the edges with exactly these triples."""
        ids = adjacent.edge_ids_of_keys(self._space, keys)
        records = adjacent.load_edges(self._space, ids.values())
        return {key: records[edge_id] for key, edge_id in ids.items()}

    def find_twins(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return, per name, existing *other* names with the same `twin_key`; only where any."""
        sql = """
            SELECT ?3, name FROM node WHERE project = ?1 AND twin = ?2 AND name <> ?3
            ORDER BY id LIMIT ?4
        """
        asked = ((twin_hash(name), name, _MOST_TWINS) for name in storable(names))
        found: dict[str, tuple[str, ...]] = {}
        for name, other in self._space.each(sql, asked):
            if twin_key(other) == twin_key(name):
                found[name] = (*found.get(name, ()), other)
        return found

    def suggest_names(self, name: str, limit: int = 3) -> tuple[str, ...]:
        """Return the existing names most like `name`, best first; bounded work."""
        if not self._space.number or not is_storable(name):
            return ()
        self._settle()
        return search.suggest_names(self._space.db, self._space.number, name, limit)

    def suggest_edges(self, key: EdgeKey, limit: int = 3) -> tuple[EdgeKey, ...]:
        """Return existing edges most like `key` (same ends, or same end and type); bounded work."""
        if not all(map(is_storable, key)):
            return ()
        return adjacent.suggest_edges(self._space, key, limit)

    def list_nodes(
        self, *, after_id: int = 0, limit: int, node_types: Sequence[str] = ()
    ) -> tuple[NodeRecord, ...]:
        """Return nodes in creation order (by id) after `after_id`."""
        if not node_types:
            sql = """
                SELECT id FROM node INDEXED BY node_by_project
                WHERE project = ? AND id > ? ORDER BY id LIMIT ?
            """
            ids = self._space.ints(sql, after_id, limit)
        else:
            ids = self._ids_of_types(after_id, limit, node_types)
        return tuple(self.find_nodes_by_id(ids).values())

    def _ids_of_types(self, after_id: int, limit: int, node_types: Sequence[str]) -> list[int]:
        sql = """
            SELECT n.id FROM node_type AS t CROSS JOIN node AS n INDEXED BY node_by_type
            WHERE t.project = ?1 AND t.name = ?2 AND n.project = ?1 AND n.type = t.id
              AND n.id > ?3 ORDER BY n.id LIMIT ?4
        """
        ids = [
            node_id
            for name in storable(node_types)
            for node_id in self._space.ints(sql, name, after_id, limit)
        ]
        return sorted(ids)[:limit]

    def list_edges(self, *, after_id: int = 0, limit: int) -> tuple[EdgeRecord, ...]:
        """Return edges in creation order (by id) after `after_id`."""
        sql = """
            SELECT id FROM edge INDEXED BY edge_by_project
            WHERE project = ? AND id > ? ORDER BY id LIMIT ?
        """
        ids = self._space.ints(sql, after_id, limit)
        return tuple(adjacent.load_edges(self._space, ids).values())

    def edges_closing(
        self, first_id: int, last_id: int, *, after_id: int = 0, limit: int
    ) -> tuple[EdgeRecord, ...]:
        """Return edges whose later end is a node from `first_id` to `last_id`, by edge id.

        The later end is the one with the greater id; a self edge closes at its node.
        """
        ids = adjacent.edge_ids_closing(
            self._space, first_id, last_id, after_id=after_id, limit=limit
        )
        return tuple(adjacent.load_edges(self._space, ids).values())

    def list_kept(self, *, after: int = 0, limit: int) -> tuple[tuple[int, KeptLine], ...]:
        """Return kept lines with their positions, in order, after position `after`."""
        sql = """
            SELECT id, text FROM kept INDEXED BY kept_by_project
            WHERE project = ? AND id > ? ORDER BY id LIMIT ?
        """
        rows = self._space.rows(sql, after, limit)
        return tuple((position, KeptLine(text=text)) for position, text in rows)

    def search(self, query: SearchQuery, *, after: Position | None, limit: int) -> SearchPage:
        """Return the matches after `after`, in the order `SearchPage.order` names."""
        if not self._space.number:
            return SearchPage(hits=(), more=None, order="rank", total=0)
        self._settle()
        db, number = self._space.db, self._space.number
        return search.search(db, number, query, after, limit, self.find_nodes_by_id)

    def neighbours(
        self, ids: Sequence[int], *, after_id: int = 0, limit: int
    ) -> tuple[NodeRecord, ...]:
        """Return distinct nodes that share an edge with any of `ids` and are none of them, by id.

        A hub costs `limit`, not its degree.
        """
        found = adjacent.neighbour_ids(self._space, ids, after_id, limit)
        return tuple(self.find_nodes_by_id(found).values())

    def edges_between(
        self, ids: Sequence[int], others: Sequence[int], *, after_id: int = 0, limit: int
    ) -> tuple[EdgeRecord, ...]:
        """Return edges with one end in `ids` and the other in `others` (either way), by id.

        With `others` the same as `ids`: the edges inside the set, self edges included.
        """
        found = adjacent.edge_ids_between(self._space, ids, others, after_id)
        return tuple(adjacent.load_edges(self._space, found[:limit]).values())

    def edges_of(
        self,
        node_id: int,
        *,
        direction: str = "both",
        edge_types: Sequence[str] = (),
        after_id: int = 0,
        limit: int,
    ) -> tuple[EdgeRecord, ...]:
        """Return one node's edges by id; `direction` is `out`, `in` or `both`."""
        ids = adjacent.edge_ids_of(
            self._space,
            node_id,
            direction=direction,
            edge_types=storable(edge_types),
            after_id=after_id,
            limit=limit,
        )
        return tuple(adjacent.load_edges(self._space, ids).values())

    def lines_naming(self, name: str, *, limit: int) -> tuple[LineHit, ...]:
        """Return metadata lines whose parsed value is `name`, or lists it between `, `; by node id.

        Exact, case-sensitive; bounded work through the metadata index.
        """
        if not self._space.number or not is_storable(name):
            return ()
        self._settle()
        return search.lines_naming(self._space.db, self._space.number, name, limit)

    def count(self) -> GraphCounts:
        """Count everything; costs a scan of the type indexes."""
        node_types = self._counts(
            """
            SELECT t.name, count(*) FROM node_type AS t CROSS JOIN node AS n INDEXED BY node_by_type
            WHERE t.project = ?1 AND n.project = ?1 AND n.type = t.id GROUP BY t.id
            """
        )
        edge_types = self._counts(
            """
            SELECT t.name, count(*) FROM edge_type AS t CROSS JOIN edge AS e INDEXED BY edge_by_type
            WHERE t.project = ?1 AND e.project = ?1 AND e.type = t.id GROUP BY t.id
            """
        )
        kept = self._space.ints(
            "SELECT count(*) FROM kept INDEXED BY kept_by_project WHERE project = ?"
        )
        return GraphCounts(
            nodes=sum(node_types.values()),
            edges=sum(edge_types.values()),
            kept=kept[0],
            node_types=node_types,
            edge_types=edge_types,
        )

    def _counts(self, sql: str) -> dict[str, int]:
        return dict(sorted((name, count) for name, count in self._space.rows(sql)))

    def last_seq(self) -> int:
        """Return the number of the newest committed transaction; 0 = none."""
        return ledger.last_seq(self._space)

    def commits(self, *, after_seq: int = 0, limit: int) -> tuple[Commit, ...]:
        """Return committed transactions in order after `after_seq`."""
        return ledger.commits(self._space, after_seq, limit)

    def history(self, name: str, *, limit: int = 50) -> tuple[NodeVersion, ...]:
        """Return a node's past, newest first, also of a renamed or deleted name."""
        if not is_storable(name):
            return ()
        return history.node_history(self._space, name, limit)

    def _settle(self) -> None:
        """Bring what searches read up to date; a snapshot always is."""
