"""The numbers that stand for node types and edge types inside a space."""

from collections.abc import Iterable
from enum import Enum

from schemory.storage.sqlite.space import Space


class TypeTable(Enum):
    """Which types: each value is how to find one and how to make one."""

    NODE = (
        "SELECT id FROM node_type WHERE project = ? AND name = ?",
        """INSERT INTO node_type (project, id, name)
           SELECT ?1, ifnull(max(id), 0) + 1, ?2 FROM node_type WHERE project = ?1""",
    )
    EDGE = (
        "SELECT id FROM edge_type WHERE project = ? AND name = ?",
        """INSERT INTO edge_type (project, id, name)
           SELECT ?1, ifnull(max(id), 0) + 1, ?2 FROM edge_type WHERE project = ?1""",
    )


class Types:
    """Finds the types of one kind, makes those that are missing, remembers both."""

    def __init__(self, space: Space, table: TypeTable) -> None:
        self._space = space
        self._find, self._make = table.value
        self._known: dict[str, int] = {}

    def ids(self, names: Iterable[str]) -> dict[str, int]:
        """Return the number of each type."""
        return {name: self._id(name) for name in dict.fromkeys(names)}

    def forget(self) -> None:
        """Forget all, because a savepoint rolled back and may have taken new ones with it."""
        self._known.clear()

    def _id(self, name: str) -> int:
        if name not in self._known:
            found = self._space.ints(self._find, name)
            if not found:
                self._space.write(self._make, [(name,)])
                found = self._space.ints(self._find, name)
            self._known[name] = found[0]
        return self._known[name]


def drop_unused_types(space: Space) -> None:
    """Delete types that nothing has: the word may have been a purged node's own."""
    for sql in (
        """DELETE FROM node_type WHERE project = ?1 AND NOT EXISTS
           (SELECT 1 FROM node AS n WHERE n.project = ?1 AND n.type = node_type.id)""",
        """DELETE FROM edge_type WHERE project = ?1 AND NOT EXISTS
           (SELECT 1 FROM edge AS e WHERE e.project = ?1 AND e.type = edge_type.id)""",
    ):
        space.write(sql, [()])
