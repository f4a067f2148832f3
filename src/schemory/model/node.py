"""Nodes of the graph and what the store knows about them beside their wire form (graph.md §1)."""

from __future__ import annotations

from collections.abc import Mapping

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json

if TYPE_CHECKING:
    from typing import Final

UNKNOWN_TYPE: Final = "unknown"
"""The nodeType of a node of which no type is known: a file's line states none, or a stub's."""

STUB: Final[Mapping[str, Json]] = {"stub": True}
"""The `extra` of a node that is made only because something names it."""


@dataclass(frozen=True, slots=True)
class Node:
    """A named thing of one type with flat `Key: Value` metadata lines; the wire form of a node."""

    name: str
    node_type: str
    metadata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedValue:
    """A property's value with its type, kept beside the metadata line that shows it.

    It counts only while `line` still stands in the node's metadata unchanged, because a joined
    array line cannot be split back.

    Attributes:
        property_name: The schema's property key.
        line: The metadata line made from it.
        value: The JSON value as given after coercion.
    """

    property_name: str
    line: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNode:
    """What is handed to the store to insert: a checked node and what is kept beside it.

    Attributes:
        typed: Typed values of schema properties.
        extra: Fields of a foreign file that have no place in the wire form.
        created_at: A file's claim of when it was made; None = the transaction's time.
        updated_at: A file's claim; None = `created_at`.
    """

    node: Node
    typed: tuple[TypedValue, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])
    created_at: str | None = None
    updated_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A stored node.

    Attributes:
        id: Internal, positive, never reused; a rename keeps it.
        revision: 1 when inserted, +1 at each change.
        author: Who wrote it last (client name and version, a principal, `cli`, …).
    """

    id: int
    node: Node
    typed: tuple[TypedValue, ...]
    extra: Mapping[str, Json]
    created_at: str
    updated_at: str
    revision: int
    author: str

    @property
    def name(self) -> str:
        """The node's unique name."""
        return self.node.name

    @property
    def is_stub(self) -> bool:
        """Whether it was made only because something names it, and nobody told more since."""
        return self.extra.get("stub") is True and not self.node.metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChange:
    """The new state of one stored node; None keeps what is there.

    Attributes:
        id: Which node.
        updated_at: A file's claim; None = the transaction's time.
    """

    id: int
    name: str | None = None
    node_type: str | None = None
    metadata: tuple[str, ...] | None = None
    typed: tuple[TypedValue, ...] | None = None
    extra: Mapping[str, Json] | None = None
    created_at: str | None = None
    updated_at: str | None = None
