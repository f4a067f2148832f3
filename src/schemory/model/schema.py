"""Schemas of node types: a type's properties, and which of them make edges (graph.md §3)."""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json
from schemory.model.metadata import display_name, normal_key


class PropertyType(StrEnum):
    """The type of a property's value."""

    STRING = "string"
    ARRAY = "array"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"


class Direction(StrEnum):
    """Where a relationship's edge points, seen from the node that owns the property."""

    OUT = "out"
    IN = "in"


class OnMissing(StrEnum):
    """What happens when a relationship's target does not exist."""

    ERROR = "error"
    CREATE = "create"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """The edge that a property makes.

    Attributes:
        edge_type: Type of the edge.
        node_type: Expected type of the target; another type is a warning, an error if `enforce`.
        weight: Weight of a new edge, in [0, 1].
    """

    edge_type: str
    node_type: str | None = None
    description: str = ""
    direction: Direction = Direction.OUT
    on_missing: OnMissing = OnMissing.ERROR
    enforce: bool = False
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One property of a node type.

    Attributes:
        name: The key on the wire, `^[A-Za-z0-9_.-]{1,64}$`.
        enum: Allowed values (of the text, or of each item); empty = any.
        minimum: The least number (or item that is one); `min_length` likewise, in code points.
        item_type: Type of an array's items; STRING for every other type.
        is_unique: No two nodes of the type share the value.
        label: Display name instead of the derived one.
        spellings: The normalised keys under which arguments and metadata lines mean this property.
    """

    name: str
    type: PropertyType = PropertyType.STRING
    description: str = ""
    is_required: bool = False
    enum: tuple[str, ...] = ()
    default: Json = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    item_type: PropertyType = PropertyType.STRING
    min_items: int | None = None
    max_items: int | None = None
    is_unique: bool = False
    label: str | None = None
    relationship: Relationship | None = None

    spellings: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spellings", _spellings(self.name, self.label))

    @property
    def display(self) -> str:
        """The key of this property's metadata line."""
        return self.label or display_name(self.name)


@lru_cache(maxsize=1024)
def _spellings(name: str, label: str | None) -> frozenset[str]:
    return frozenset(map(normal_key, (name, display_name(name), label or name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSchema:
    """A node type: its tools are `add_<type>`, `update_<type>` and `delete_<type>`.

    Attributes:
        node_type: `[a-z][a-z0-9_]*`, without the `add_` of the file's `name`.
        properties: By key, in the file's order; `name` is always there and required.
        allows_additional: Whether undeclared properties are stored.
        origin: Where it was read: a path, `pack:rpg`, or `` when defined by a call.
    """

    node_type: str
    description: str
    properties: Mapping[str, Property] = field(default_factory=dict[str, Property])
    allows_additional: bool = True
    origin: str = ""
    _by_spelling: Mapping[str, Property] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = {s: p for p in reversed(tuple(self.properties.values())) for s in p.spellings}
        object.__setattr__(self, "_by_spelling", found)

    def find_property(self, key: str) -> Property | None:
        """Return the property that `key` means, with case, spaces, `_` and `-` ignored, or None."""
        return self.properties.get(key) or self._by_spelling.get(normal_key(key))
