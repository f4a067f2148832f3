"""Which id a node name stands for, remembered while one transaction writes nodes and edges."""

from collections.abc import Iterable

from schemory.model.node import NodeRecord
from schemory.storage.sqlite.space import Space

_MOST_REMEMBERED = 200_000


class NodeIds:
    """Finds nodes by name; an import that just wrote them need not look them up again."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._known: dict[str, int] = {}

    def of(self, names: Iterable[str]) -> dict[str, int]:
        """Return the ids of existing nodes.

        Raises:
            ValueError: One does not exist.
        """
        found: dict[str, int] = {}
        for name in names:
            if name not in found:
                found[name] = self._known.get(name) or self._look_up(name)
        return found

    def _look_up(self, name: str) -> int:
        ids = self._space.ints("SELECT id FROM node WHERE project = ? AND name = ?", name)
        if not ids:
            raise ValueError("an edge's end does not exist")
        self._remember(name, ids[0])
        return ids[0]

    def learn(self, records: Iterable[NodeRecord]) -> None:
        """Remember nodes that were just inserted."""
        for record in records:
            self._remember(record.node.name, record.id)

    def _remember(self, name: str, node_id: int) -> None:
        if len(self._known) < _MOST_REMEMBERED:
            self._known[name] = node_id

    def forget(self) -> None:
        """Forget all, because names changed hands or a savepoint rolled back."""
        self._known.clear()
