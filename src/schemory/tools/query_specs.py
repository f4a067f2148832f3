"""Toolset `graph_query` as data: what hosts are told, what is accepted beyond that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemory.hints import TYPE_CHECKING
from schemory.model.jsonvalue import Json
from schemory.tools.late import late
from schemory.tools.parts import ANYTHING, EDGES, INFO, NODES, PAGE_KEYS, TEXTS, WRITTEN
from schemory.tools.registry import Effect
from schemory.tools.spec import Handler, Spec

if TYPE_CHECKING:
    from typing import Final

_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_FLAG: Final[Mapping[str, Json]] = {"type": "boolean"}
_NUMBER: Final[Mapping[str, Json]] = {"type": "integer"}
_WHOLE: Final[Mapping[str, Json]] = {"type": "integer", "minimum": 1}
_OPEN: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {},
    "additionalProperties": True,
}
_OPEN_LIST: Final[Mapping[str, Json]] = {"type": "array", "items": _OPEN}
_DIRECTION: Final[Mapping[str, Json]] = {"type": "string", "enum": ["out", "in", "both"]}
_EDGE_TYPES: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": _TEXT,
    "description": "Follow only these.",
}
_PAGE: Final[Mapping[str, Json]] = {
    "limit": _WHOLE,
    "cursor": {"type": "string", "description": "nextCursor of the answer before."},
}
_OPERATORS: Final = ("eq", "ne", "contains", "lt", "le", "gt", "ge", "in", "exists")


def _spec(
    name: str,
    description: str,
    handle: Handler,
    *,
    properties: Mapping[str, Json],
    data: Mapping[str, Json],
    required: Sequence[str] = (),
    effect: Effect = Effect.READ,
    unadvertised: Mapping[str, Json] | None = None,
) -> Spec:
    return Spec(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=description,
        effect=effect,
        handle=handle,
        properties=properties,
        required=required,
        unadvertised=unadvertised,
        data=data,
        toolset="graph_query",
    )


QUERY_SPECS: Final = (
    _spec(
        "find_path",
        "Find how two nodes are connected: the path with the fewest hops, or with weighted the "
        "one over the strongest edges.",
        late("query:find_path"),
        properties={
            "from": _TEXT,
            "to": _TEXT,
            "maxHops": {**_WHOLE, "maximum": 20},
            "weighted": _FLAG,
        },
        required=("from", "to"),
        unadvertised={"direction": _DIRECTION, "edgeTypes": _EDGE_TYPES, **INFO},
        data={
            "found": _FLAG,
            "nodes": NODES,
            "edges": EDGES,
            "cost": {"type": "number"},
            "explored": _NUMBER,
            **WRITTEN,
        },
    ),
    _spec(
        "get_neighbors",
        "Walk outward from one node, several steps deep, along chosen edge types or one direction.",
        late("query:get_neighbors"),
        properties={
            "name": _TEXT,
            "depth": {**_WHOLE, "maximum": 10},
            "edgeTypes": _EDGE_TYPES,
            "direction": _DIRECTION,
            "limit": _WHOLE,
        },
        required=("name",),
        unadvertised=INFO,
        data={"nodes": NODES, "edges": EDGES, "distances": _OPEN, "truncated": _FLAG},
    ),
    _spec(
        "query_nodes",
        "List nodes of a type by conditions on their properties, sorted. Use it where search by "
        "text is too vague: all open quests with a level of at least 5.",
        late("query:query_nodes"),
        properties={
            "nodeType": _TEXT,
            "filters": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "property": _TEXT,
                        "op": {"type": "string", "enum": list(_OPERATORS)},
                        "value": {"type": "string", "description": "For in: a JSON list."},
                    },
                    "required": ["property", "op"],
                    "additionalProperties": False,
                },
            },
            "sort": {"type": "string", "description": "Property; -property from the greatest."},
            **_PAGE,
        },
        unadvertised={
            "filters": {"items": {"properties": {"value": {"type": ANYTHING}}}},
            **INFO,
        },
        data={"nodes": NODES, **PAGE_KEYS},
    ),
    _spec(
        "graph_stats",
        "Count nodes and edges by type, and name types that have no schema or no node.",
        late("query:graph_stats"),
        properties={},
        data={
            "nodes": _NUMBER,
            "edges": _NUMBER,
            "nodeTypes": _OPEN_LIST,
            "edgeTypes": _OPEN_LIST,
            "unusedTypes": TEXTS,
            "unknownTypes": TEXTS,
            "transactions": _NUMBER,
            **WRITTEN,
        },
    ),
    _spec(
        "node_history",
        "Show what a node was before, newest first, and who changed it; also of a node that was "
        "renamed or deleted.",
        late("query:node_history"),
        properties={"name": _TEXT, "limit": _WHOLE},
        required=("name",),
        data={"versions": _OPEN_LIST, "truncated": _FLAG},
    ),
    _spec(
        "merge_nodes",
        "Make two nodes that mean the same thing one: lines are united, edges follow, and the "
        "first node is gone.",
        late("query:merge_nodes"),
        properties={"from": _TEXT, "into": _TEXT},
        required=("from", "into"),
        effect=Effect.DESTRUCTIVE,
        unadvertised=INFO,
        data={
            "nodes": NODES,
            "movedEdges": _NUMBER,
            "mergedEdges": _NUMBER,
            "droppedEdges": _NUMBER,
            "changedNodes": TEXTS,
            **WRITTEN,
        },
    ),
    _spec(
        "rename_node",
        "Give a node another name; its edges and the lines of other nodes that relate to it "
        "follow.",
        late("query:rename_node"),
        properties={"name": _TEXT, "newName": _TEXT},
        required=("name", "newName"),
        effect=Effect.WRITE,
        unadvertised=INFO,
        data={"nodes": NODES, "changedNodes": TEXTS, **WRITTEN},
    ),
    _spec(
        "find_duplicates",
        "Look for nodes that may be the same thing by name; then merge_nodes unites them.",
        late("query:find_duplicates"),
        properties={"nodeType": _TEXT, **_PAGE},
        data={"groups": _OPEN_LIST, "checked": _NUMBER, **PAGE_KEYS},
    ),
)
"""The tools of this toolset."""
