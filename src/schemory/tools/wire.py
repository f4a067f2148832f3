"""Nodes and edges as answers show them: camelCase, exactly the specified keys (graph.md §1)."""

from collections.abc import Mapping
from typing import Final

from schemory.model.edge import EdgeRecord
from schemory.model.jsonvalue import Json, plain_number
from schemory.model.node import NodeRecord
from schemory.tools.replies import wire_bytes

_COMMA_BYTES = 1


def node_wire(
    record: NodeRecord, *, info: bool = False, names_only: bool = False
) -> dict[str, Json]:
    """Return a node as name, nodeType, metadata; with `info` also times, revision and author."""
    node = record.node
    wire: dict[str, Json] = {"name": node.name, "nodeType": node.node_type}
    if not names_only:
        wire["metadata"] = list(node.metadata)
    return {**wire, **_info(record)} if info else wire


def edge_wire(record: EdgeRecord, *, info: bool = False) -> dict[str, Json]:
    """Return an edge as from, to, edgeType, weight (`1`, not `1.0`)."""
    edge = record.edge
    wire: dict[str, Json] = {
        "from": edge.from_name,
        "to": edge.to_name,
        "edgeType": edge.edge_type,
        "weight": plain_number(edge.weight),
    }
    return {**wire, **_info(record)} if info else wire


def _info(record: NodeRecord | EdgeRecord) -> dict[str, Json]:
    return {
        "createdAt": record.created_at,
        "updatedAt": record.updated_at,
        "revision": record.revision,
        "author": record.author,
    }


def item_bytes(wire: Json) -> int:
    """Return what one item of an array costs in an answer, its comma included."""
    return wire_bytes(wire) + _COMMA_BYTES


_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_INFO: Final[Mapping[str, Json]] = {
    "createdAt": _TEXT,
    "updatedAt": _TEXT,
    "revision": {"type": "integer"},
    "author": _TEXT,
}

TEXTS: Final[Mapping[str, Json]] = {"type": "array", "items": _TEXT}

NODES: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": _TEXT, "nodeType": _TEXT, "metadata": TEXTS, **_INFO},
        "required": ["name", "nodeType"],
    },
}

EDGES: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "from": _TEXT,
            "to": _TEXT,
            "edgeType": _TEXT,
            "weight": {"type": "number", "minimum": 0, "maximum": 1},
            **_INFO,
        },
        "required": ["from", "to", "edgeType", "weight"],
    },
}

STALE_LINES: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"node": _TEXT, "line": _TEXT},
        "required": ["node", "line"],
    },
}
