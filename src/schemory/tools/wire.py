"""Nodes and edges as answers show them: camelCase, exactly the specified keys (graph.md §1)."""

from json.encoder import encode_basestring as quoted
from typing import Final

from schemory.model.edge import EdgeRecord
from schemory.model.jsonvalue import Json, compact, plain_number
from schemory.model.node import NodeRecord
from schemory.tools.replies import wire_bytes

COMMA_BYTES: Final = 1


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


def node_text(record: NodeRecord, *, info: bool = False, names_only: bool = False) -> str:
    """Return `node_wire` of the same arguments as compact JSON, at a third of the cost."""
    node = record.node
    text = f'{{"name":{quoted(node.name)},"nodeType":{quoted(node.node_type)}'
    if not names_only:
        text += f',"metadata":[{",".join(map(quoted, node.metadata))}]'
    return f"{text}{_info_text(record)}}}" if info else text + "}"


def edge_text(record: EdgeRecord, *, info: bool = False) -> str:
    """Return `edge_wire` of the same arguments as compact JSON, at a third of the cost."""
    edge = record.edge
    text = (
        f'{{"from":{quoted(edge.from_name)},"to":{quoted(edge.to_name)}'
        f',"edgeType":{quoted(edge.edge_type)},"weight":{plain_number(edge.weight)!r}'
    )
    return f"{text}{_info_text(record)}}}" if info else text + "}"


def _info_text(record: NodeRecord | EdgeRecord) -> str:
    return "," + compact(_info(record))[1:-1]


def _info(record: NodeRecord | EdgeRecord) -> dict[str, Json]:
    return {
        "createdAt": record.created_at,
        "updatedAt": record.updated_at,
        "revision": record.revision,
        "author": record.author,
    }


def item_bytes(wire: Json) -> int:
    """Return what one item of an array costs in an answer, its comma included."""
    return wire_bytes(wire) + COMMA_BYTES
