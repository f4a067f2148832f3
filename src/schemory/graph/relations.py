"""Which edges the lines of relationship properties stand for, told by the schemas (graph.md §4)."""

from collections.abc import Iterator

from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.metadata import parse_line
from schemory.model.node import NodeRecord
from schemory.model.schema import Direction, Property, Relationship
from schemory.schemas.catalog import SchemaCatalog
from schemory.schemas.plan import names_target

SEPARATOR = ", "
"""Stands between the items of a joined array line."""


def names_in_line(record: NodeRecord, line: str, name: str) -> bool:
    """Whether a line's value is `name`, or lists it.

    A typed value that still belongs to the line decides; else any stretch between `, ` counts,
    since a joined line cannot be split back for sure.
    """
    typed = next((value for value in record.typed if value.line == line), None)
    if typed is not None:
        value = typed.value
        if isinstance(value, str):
            return value == name
        return isinstance(value, list | tuple) and name in value
    return f"{SEPARATOR}{name}{SEPARATOR}" in f"{SEPARATOR}{parse_line(line).value}{SEPARATOR}"


def other_end(owner_id: int, edge: EdgeRecord) -> tuple[int, str]:
    """Return id and name of the end that is not the owner; a self edge's is the owner again."""
    if edge.from_id == owner_id:
        return edge.to_id, edge.edge.to_name
    return edge.from_id, edge.edge.from_name


def edge_key(owner: str, relationship: Relationship, target: str) -> EdgeKey:
    """Return the triple by which a property of `owner` relates it to `target`."""
    if relationship.direction is Direction.IN:
        return EdgeKey(target, owner, relationship.edge_type)
    return EdgeKey(owner, target, relationship.edge_type)


class Relations:
    """Reads lines and edges with the eyes of the schemas."""

    def __init__(self, catalog: SchemaCatalog) -> None:
        self._catalog = catalog

    def property_of(self, node_type: str, line: str) -> tuple[Property, Relationship] | None:
        """Return the relationship property that a line of such a node belongs to."""
        schema = self._catalog.get(node_type)
        key = parse_line(line).key
        found = schema.find_property(key) if schema is not None and key else None
        if found is None or found.relationship is None:
            return None
        return found, found.relationship

    def lines_naming(self, record: NodeRecord, name: str) -> Iterator[str]:
        """Yield the distinct lines of a node whose value is, or lists, `name`."""
        for line in dict.fromkeys(record.node.metadata):
            if names_in_line(record, line, name):
                yield line

    def claimed_edge(self, record: NodeRecord, line: str, target: str) -> EdgeKey | None:
        """Return the edge that a line naming `target` stands for; None for an ordinary line."""
        found = self.property_of(record.node.node_type, line)
        return None if found is None else edge_key(record.name, found[1], target)

    def claimants(self, record: NodeRecord, key: EdgeKey, target: str) -> Iterator[Property]:
        """Yield the properties whose present value in `record` asks for the edge `key`."""
        schema = self._catalog.get(record.node.node_type)
        for prop in schema.properties.values() if schema is not None else ():
            relationship = prop.relationship
            if (
                relationship is not None
                and edge_key(record.name, relationship, target) == key
                and names_target(prop, record, target)
            ):
                yield prop

    def owner_end(self, edge: EdgeRecord, from_type: str, to_type: str) -> Direction | None:
        """Return seen from which end a property made the edge: OUT = from, IN = to, None = none."""
        for node_type, direction in ((from_type, Direction.OUT), (to_type, Direction.IN)):
            schema = self._catalog.get(node_type)
            made = schema.properties.get(edge.property_name or "") if schema is not None else None
            relationship = made.relationship if made is not None else None
            if (
                relationship is not None
                and relationship.edge_type == edge.edge.edge_type
                and relationship.direction is direction
            ):
                return direction
        return None
