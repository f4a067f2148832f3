"""What listeners are told: one frozen class per event, named as specified (G§8.2, graph.md §6).

A `before` event is told inside the transaction, after the input was checked and before anything is
written; a listener that raises vetoes. An `after` event is told when the outermost transaction has
committed.
"""

from typing import ClassVar

from schemory.model.edge import Edge, EdgeKey
from schemory.model.frozen import dataclass, names_of
from schemory.model.graph import Graph
from schemory.model.node import Node


class Event:
    """Something that is about to happen or has happened; `name` is its specified name."""

    __slots__ = ()
    name: ClassVar[str] = ""

    def payload(self) -> dict[str, object]:
        """Return the data under its specified keys (`deletedCount`), values as they are here.

        >>> AfterDeleteNodes(names=("A",), deleted_count=1).payload()
        {'names': ('A',), 'deletedCount': 1}
        """
        return {_wire_key(name): getattr(self, name) for name in names_of(self)}


def _wire_key(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class Before(Event):
    """Told before the thing is done; a listener that raises prevents it."""

    __slots__ = ()


class After(Event):
    """Told when the thing is done and committed; a listener that fails changes nothing."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAddNodes(Before):
    """Nodes are about to be added."""

    name: ClassVar[str] = "beforeAddNodes"
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterAddNodes(After):
    """Nodes were added."""

    name: ClassVar[str] = "afterAddNodes"
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeUpdateNodes(Before):
    """Nodes are about to change; `nodes` are their new states, `names` what they are called now."""

    name: ClassVar[str] = "beforeUpdateNodes"
    names: tuple[str, ...]
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterUpdateNodes(After):
    """Nodes were changed; `nodes` are their new states, `names` what they were called before."""

    name: ClassVar[str] = "afterUpdateNodes"
    names: tuple[str, ...]
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeDeleteNodes(Before):
    """Nodes, and every edge that touches them, are about to go."""

    name: ClassVar[str] = "beforeDeleteNodes"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterDeleteNodes(After):
    """Nodes are gone; `deleted_count` is how many."""

    name: ClassVar[str] = "afterDeleteNodes"
    names: tuple[str, ...]
    deleted_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAddEdges(Before):
    """Edges are about to be added."""

    name: ClassVar[str] = "beforeAddEdges"
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterAddEdges(After):
    """Edges were added."""

    name: ClassVar[str] = "afterAddEdges"
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeUpdateEdges(Before):
    """Edges are about to change; `edges` are their new states, `keys` what they are now."""

    name: ClassVar[str] = "beforeUpdateEdges"
    keys: tuple[EdgeKey, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterUpdateEdges(After):
    """Edges were changed; `edges` are their new states, `keys` what they were before."""

    name: ClassVar[str] = "afterUpdateEdges"
    keys: tuple[EdgeKey, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeDeleteEdges(Before):
    """Edges are about to go."""

    name: ClassVar[str] = "beforeDeleteEdges"
    edges: tuple[EdgeKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterDeleteEdges(After):
    """Edges are gone; `deleted_count` is how many."""

    name: ClassVar[str] = "afterDeleteEdges"
    edges: tuple[EdgeKey, ...]
    deleted_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAddMetadata(Before):
    """Lines are about to be appended to one node."""

    name: ClassVar[str] = "beforeAddMetadata"
    node_name: str
    metadata: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterAddMetadata(After):
    """Lines were appended to one node; `metadata` are the new ones."""

    name: ClassVar[str] = "afterAddMetadata"
    node_name: str
    metadata: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeDeleteMetadata(Before):
    """Lines of one node are about to go."""

    name: ClassVar[str] = "beforeDeleteMetadata"
    node_name: str
    metadata: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterDeleteMetadata(After):
    """Lines of one node are gone."""

    name: ClassVar[str] = "afterDeleteMetadata"
    node_name: str
    metadata: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeSearch(Before):
    """The graph is about to be searched."""

    name: ClassVar[str] = "beforeSearch"
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterSearch(After):
    """The graph was searched; `results` is what this page answers."""

    name: ClassVar[str] = "afterSearch"
    results: Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeSchemaChange(Before):
    """A schema is about to be defined or removed (`action`: `define` or `remove`)."""

    name: ClassVar[str] = "beforeSchemaChange"
    node_type: str
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterSchemaChange(After):
    """A schema was defined or removed (`action`: `define` or `remove`)."""

    name: ClassVar[str] = "afterSchemaChange"
    node_type: str
    action: str


@dataclass(frozen=True, slots=True)
class BeforeBeginTransaction(Before):
    """The outermost transaction is about to start."""

    name: ClassVar[str] = "beforeBeginTransaction"


@dataclass(frozen=True, slots=True)
class AfterCommit(After):
    """The outermost transaction has committed; the last event of it."""

    name: ClassVar[str] = "afterCommit"


@dataclass(frozen=True, slots=True)
class BeforeRollback(Event):
    """The outermost transaction is about to be undone; nothing, no listener either, prevents it."""

    name: ClassVar[str] = "beforeRollback"


@dataclass(frozen=True, slots=True)
class AfterRollback(After):
    """The outermost transaction was undone."""

    name: ClassVar[str] = "afterRollback"
