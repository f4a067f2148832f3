"""The seed's utilities over metadata, weights, and single nodes and edges (G§9-G§11)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from schemory.errors import (
    EdgeExistsError,
    InvalidParamError,
    NodeExistsError,
    NodeNotFoundError,
)
from schemory.model import metadata as lines
from schemory.model.edge import Edge, EdgeKey
from schemory.model.graph import Graph
from schemory.model.node import Node
from schemory.model.weight import blend_weight, combine_weights, weight_fault

NodeLike: TypeAlias = Node | Mapping[str, Any]
EdgeLike: TypeAlias = Edge | Mapping[str, Any]


class MetadataProcessor:
    """Reads and writes `Key: Value` lines (G§9.2)."""

    @staticmethod
    def parse_entry(entry: str) -> dict[str, str]:
        """Return key and value, split at the first `": "`.

        >>> MetadataProcessor.parse_entry("Role: Wizard: grey")
        {'key': 'Role', 'value': 'Wizard: grey'}
        """
        return lines.parse_line(entry)._asdict()

    @staticmethod
    def format_entry(key: str, value: str) -> str:
        """Return `key: value`."""
        return lines.format_line(key, value)

    @staticmethod
    def create_map(metadata: Iterable[str]) -> dict[str, str]:
        """Return key -> value of all entries."""
        return dict(lines.line_map(metadata))

    @staticmethod
    def merge(*arrays: Sequence[str]) -> list[str]:
        """Return all entries in order, each once."""
        return list(lines.merge_lines(*arrays))

    @staticmethod
    def get_value(metadata: Iterable[str], key: str) -> str | None:
        """Return the first value of a key, or None."""
        return lines.find_value(metadata, key)

    @staticmethod
    def filter_by_key(metadata: Iterable[str], key: str) -> list[str]:
        """Return all entries of a key."""
        return list(lines.filter_by_key(metadata, key))


class EdgeWeightUtils:
    """Checks, defaults, averages and combines weights (G§10.2)."""

    @staticmethod
    def validate_weight(weight: object) -> None:
        """Raise InvalidParamError unless `weight` is a number from 0 to 1."""
        fault = weight_fault(weight)
        if fault is not None:
            raise InvalidParamError(f"weight {fault}")

    @staticmethod
    def ensure_weight(edge: EdgeLike) -> Edge:
        """Return the edge with weight 1.0 where it has none."""
        return as_edge(edge)

    @staticmethod
    def update_weight(current: float, new_evidence: float) -> float:
        """Return the mean of both.

        >>> EdgeWeightUtils.update_weight(0.8, 0.6)
        0.7
        """
        for weight in (current, new_evidence):
            EdgeWeightUtils.validate_weight(weight)
        return blend_weight(current, new_evidence)

    @staticmethod
    def combine_weights(weights: Iterable[float]) -> float:
        """Return the strongest weight of parallel edges."""
        return combine_weights(weights)


def as_node(value: NodeLike) -> Node:
    """Return a node given as such or in its wire form."""
    if isinstance(value, Node):
        return value
    return Node(value["name"], value["nodeType"], tuple(value.get("metadata", ())))


def as_edge(value: EdgeLike) -> Edge:
    """Return an edge given as such or in its wire form; no weight means 1.0."""
    if isinstance(value, Edge):
        return value
    weight = value.get("weight")
    return Edge(value["from"], value["to"], value["edgeType"], 1.0 if weight is None else weight)


def as_key(value: EdgeLike | EdgeKey) -> EdgeKey:
    """Return the triple of an edge given in any form."""
    return value if isinstance(value, EdgeKey) else as_edge(value).key


class GraphValidator:
    """Checks single nodes and edges, and edges against a graph (G§11)."""

    @staticmethod
    def validate_node_properties(node: NodeLike) -> None:
        """Raise InvalidParamError unless name and type are non-empty and metadata is a list."""
        _require_texts(node, {"name": "name", "nodeType": "node_type"})
        found = node.metadata if isinstance(node, Node) else node.get("metadata")
        if not isinstance(found, list | tuple):
            raise InvalidParamError("a node's metadata must be a list")

    @staticmethod
    def validate_node_does_not_exist(graph: Graph, name: str) -> None:
        """Raise NodeExistsError if a node of the graph has that name."""
        if any(node.name == name for node in graph.nodes):
            raise NodeExistsError(f"Node {name!r} already exists")

    @staticmethod
    def validate_node_exists(graph: Graph, name: str) -> Node:
        """Return the node of that name, or raise NodeNotFoundError."""
        found = next((node for node in graph.nodes if node.name == name), None)
        if found is None:
            raise NodeNotFoundError(f"Node {name!r} does not exist")
        return found

    @staticmethod
    def validate_edge_properties(edge: EdgeLike) -> None:
        """Raise InvalidParamError unless ends and type are non-empty and the weight fits."""
        names = {"from": "from_name", "to": "to_name", "edgeType": "edge_type"}
        _require_texts(edge, names)
        EdgeWeightUtils.validate_weight(as_edge(edge).weight)

    @staticmethod
    def validate_edge_uniqueness(graph: Graph, edge: EdgeLike) -> None:
        """Raise EdgeExistsError if the graph has an edge of the same triple."""
        key = as_key(edge)
        if any(other.key == key for other in graph.edges):
            raise EdgeExistsError(f"Edge {tuple(key)} already exists")

    @staticmethod
    def validate_edge_references(graph: Graph, edges: Iterable[EdgeLike]) -> None:
        """Raise NodeNotFoundError unless both ends of every edge are in the graph."""
        for key in map(as_key, edges):
            for name in (key.from_name, key.to_name):
                GraphValidator.validate_node_exists(graph, name)


def _require_texts(value: NodeLike | EdgeLike, names: Mapping[str, str]) -> None:
    for wire_key, attribute in names.items():
        text: object = None
        if not isinstance(value, Mapping):
            text = getattr(value, attribute)
        elif wire_key in value:
            text = value[wire_key]
        if not isinstance(text, str) or not text.strip():
            raise InvalidParamError(f"{wire_key} must be a non-empty string")
