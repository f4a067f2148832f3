"""What a transaction did to the graph, as edits of a file's lines."""

from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.frozen import dataclass
from schemory.model.node import NodeRecord


@dataclass(frozen=True, slots=True)
class NodeEdit:
    """One node: its name in the file (None = new), and what it is now (None = gone)."""

    old: str | None
    new: NodeRecord | None


@dataclass(frozen=True, slots=True)
class EdgeEdit:
    """One edge: its triple in the file (None = new), and what it is now (None = gone)."""

    old: EdgeKey | None
    new: EdgeRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """All edits of one transaction.

    Attributes:
        kept: New lines of unknown type.
    """

    nodes: tuple[NodeEdit, ...] = ()
    edges: tuple[EdgeEdit, ...] = ()
    kept: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.nodes or self.edges or self.kept)
