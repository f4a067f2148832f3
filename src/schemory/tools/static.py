"""The eleven static graph tools as data: what hosts are told, what is accepted beyond that."""

from __future__ import annotations

from collections.abc import Mapping

from schemory.hints import TYPE_CHECKING
from schemory.model.jsonvalue import Json
from schemory.tools.late import late
from schemory.tools.parts import (
    EDGE_KEYS,
    EDGES,
    FAILED,
    INFO,
    NO_TEXT,
    NODES,
    PAGE_KEYS,
    SECRET_OVERRIDE,
    TEXTS,
    WRITTEN,
    array_argument,
    per_node,
)
from schemory.tools.registry import Effect
from schemory.tools.spec import Spec

if TYPE_CHECKING:
    from typing import Final

_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_FLAG: Final[Mapping[str, Json]] = {"type": "boolean"}
_WHOLE: Final[Mapping[str, Json]] = {"type": "integer", "minimum": 1}
_REVISION: Final[Mapping[str, Json]] = {"type": "integer", "minimum": 0}
_WEIGHT: Final[Mapping[str, Json]] = {"type": "number", "minimum": 0, "maximum": 1}
_LINES: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": _TEXT,
    "description": 'Lines like "Key: Value".',
}
_KEY_PROPERTIES: Final[Mapping[str, Json]] = {"from": _TEXT, "to": _TEXT, "edgeType": _TEXT}
_CONTINUE: Final[Mapping[str, Json]] = {
    "continueOnError": {
        "type": "boolean",
        "description": "Store what is right and list the rest, instead of all or none.",
    }
}


def _texts(description: str) -> dict[str, Json]:
    return {"type": "array", "minItems": 1, "items": _TEXT, "description": description}


def _items(**properties: Json) -> dict[str, Json]:
    return {"items": {"properties": properties}}


# The range is checked by the graph, together with all that only the graph can tell.
_STRICT_WEIGHT: Final[Mapping[str, Json]] = {NO_TEXT: True, "minimum": None, "maximum": None}
_KIND: Final[Mapping[str, Json]] = {"type": "string", "enum": ["node", "edge"]}
"""The discriminator that the old server's files and prompts carry; it says nothing here."""

PAGING: Final[Mapping[str, Json]] = {
    "limit": {**_WHOLE, "description": "Most matches per answer."},
    "cursor": {"type": "string", "description": "nextCursor of the answer before."},
    "nodeTypes": {"type": "array", "items": _TEXT, "description": "Match these types only."},
    "namesOnly": {"type": "boolean", "description": "Leave metadata out."},
    "includeInfo": {"type": "boolean", "description": "Add times, revision and author."},
}
_NEIGHBORS: Final[Mapping[str, Json]] = {
    "neighbors": {"type": "boolean", "description": "false: matches only."},
    "neighborLimit": _WHOLE,
}

_ADD_NODES = Spec(
    name="add_nodes",
    title="Add nodes",
    description=(
        "Store new things as nodes: a unique name, a nodeType, metadata lines. All or none. "
        "Search first, so that nothing is stored twice; where the type has its own add_TYPE "
        "tool, prefer that; to add to a known node use add_metadata."
    ),
    items="nodes",
    effect=Effect.WRITE,
    handle=late("graph:add_nodes"),
    properties={
        "nodes": array_argument(
            {"name": _TEXT, "nodeType": _TEXT, "metadata": _LINES}, ("name", "nodeType")
        ),
        **_CONTINUE,
    },
    required=("nodes",),
    unadvertised={"nodes": _items(type=_KIND), **SECRET_OVERRIDE, **INFO},
    data={"nodes": NODES, "partial": _FLAG, "failed": FAILED, **WRITTEN},
)

_UPDATE_NODES = Spec(
    name="update_nodes",
    title="Update nodes",
    description=(
        "Change nodes found by name. metadata replaces all lines of the node, so give the whole "
        "list; to add or remove single lines use add_metadata or delete_metadata."
    ),
    items="nodes",
    effect=Effect.WRITE,
    handle=late("graph:update_nodes"),
    properties={
        "nodes": array_argument({"name": _TEXT, "nodeType": _TEXT, "metadata": _LINES}, ("name",))
    },
    required=("nodes",),
    unadvertised={
        "nodes": _items(type=_KIND, expectedRevision=_REVISION),
        **SECRET_OVERRIDE,
        **INFO,
    },
    data={"nodes": NODES, **WRITTEN},
)

_DELETE_NODES = Spec(
    name="delete_nodes",
    title="Delete nodes",
    description=(
        "Delete nodes by exact name, each with all its edges. Names that do not exist come back "
        "in notFound."
    ),
    effect=Effect.DESTRUCTIVE,
    handle=late("graph:delete_nodes"),
    properties={"nodeNames": _texts("Exact names.")},
    required=("nodeNames",),
    data={"deleted": TEXTS, "notFound": TEXTS, "edgesRemoved": {"type": "integer"}, **WRITTEN},
)

_ADD_EDGES = Spec(
    name="add_edges",
    title="Add edges",
    description=(
        "Relate existing nodes: from, to, and an edgeType such as located_in. weight says how "
        "sure or strong it is, 1 by default. All or none."
    ),
    items="edges",
    effect=Effect.WRITE,
    handle=late("graph:add_edges"),
    properties={
        "edges": array_argument({**_KEY_PROPERTIES, "weight": _WEIGHT}, ("from", "to", "edgeType")),
        **_CONTINUE,
    },
    required=("edges",),
    unadvertised={
        "edges": _items(type=_KIND, weight=_STRICT_WEIGHT),
        **SECRET_OVERRIDE,
        **INFO,
    },
    data={"edges": EDGES, "partial": _FLAG, "failed": FAILED, **WRITTEN},
)

_UPDATE_EDGES = Spec(
    name="update_edges",
    title="Update edges",
    description=(
        "Change edges found by from, to and edgeType. A weight is new evidence: the result is "
        "the mean of old and given, or the given one with weightMode set. newFrom, newTo and "
        "newEdgeType move the edge."
    ),
    items="edges",
    effect=Effect.WRITE,
    handle=late("graph:update_edges"),
    properties={
        "edges": array_argument(
            {
                **_KEY_PROPERTIES,
                "weight": _WEIGHT,
                "weightMode": {"type": "string", "enum": ["blend", "set"]},
                "newFrom": _TEXT,
                "newTo": _TEXT,
                "newEdgeType": _TEXT,
            },
            ("from", "to", "edgeType"),
        )
    },
    required=("edges",),
    unadvertised={
        "edges": _items(
            type=_KIND,
            weight=_STRICT_WEIGHT,
            newWeight={**_WEIGHT, **_STRICT_WEIGHT},
            expectedRevision=_REVISION,
        ),
        **SECRET_OVERRIDE,
        **INFO,
    },
    data={"edges": EDGES, **WRITTEN},
)

_DELETE_EDGES = Spec(
    name="delete_edges",
    title="Delete edges",
    description="Delete edges by their exact from, to and edgeType; the nodes stay.",
    effect=Effect.DESTRUCTIVE,
    handle=late("graph:delete_edges"),
    properties={"edges": array_argument(_KEY_PROPERTIES, ("from", "to", "edgeType"))},
    required=("edges",),
    unadvertised={"edges": _items(type=_KIND, weight=_WEIGHT)},
    data={"deleted": EDGE_KEYS, "notFound": EDGE_KEYS, **WRITTEN},
)


_ADD_METADATA = Spec(
    name="add_metadata",
    title="Add metadata lines",
    description=(
        "Append facts to one existing node as lines. Lines that stand there already are not "
        "doubled."
    ),
    effect=Effect.WRITE,
    handle=late("graph:add_metadata"),
    properties={"nodeName": _TEXT, "metadata": {**_LINES, "minItems": 1}},
    required=("nodeName", "metadata"),
    unadvertised=SECRET_OVERRIDE,
    chooses=late("older:choose_addition"),
    data={
        "added": TEXTS,
        "alreadyThere": TEXTS,
        "results": per_node("added", "alreadyThere"),
        **WRITTEN,
    },
)

_DELETE_METADATA = Spec(
    name="delete_metadata",
    title="Delete metadata lines",
    description=(
        "Remove lines that are no longer true from one node. Each line must be given exactly as "
        "it is stored; see it with open_nodes."
    ),
    effect=Effect.DESTRUCTIVE,
    handle=late("graph:delete_metadata"),
    properties={"nodeName": _TEXT, "metadata": {**_LINES, "minItems": 1}},
    required=("nodeName", "metadata"),
    chooses=late("older:choose_deletion"),
    data={
        "removed": TEXTS,
        "notThere": TEXTS,
        "results": per_node("removed", "notThere"),
        **WRITTEN,
    },
)

_PAGE_DATA: Final[Mapping[str, Json]] = {
    "nodes": NODES,
    "edges": EDGES,
    "warnings": TEXTS,
    **PAGE_KEYS,
}

_READ_GRAPH = Spec(
    name="read_graph",
    title="Read the whole graph",
    description=(
        "Return all nodes and edges in the order they were made, page by page where they are "
        "many. For a question use search_nodes, which costs far less."
    ),
    effect=Effect.READ,
    handle=late("reading:read_graph"),
    properties={**PAGING, "limit": {**_WHOLE, "description": "Most nodes per answer."}},
    unadvertised={**_NEIGHBORS},
    data=_PAGE_DATA,
)

_SEARCH_NODES = Spec(
    name="search_nodes",
    title="Search nodes",
    description=(
        "Look here before answering from memory and before adding. Finds nodes whose name, type "
        "or a metadata line contains the text, in any case; if none does, those with all its "
        "words. Direct neighbors and their edges come along; matched names the real hits."
    ),
    effect=Effect.READ,
    handle=late("reading:search_nodes"),
    properties={
        "query": {"type": "string", "description": "Short text; empty lists everything."},
        **PAGING,
        **_NEIGHBORS,
    },
    required=("query",),
    data={
        **_PAGE_DATA,
        "matched": TEXTS,
        "matchMode": _TEXT,
        "order": _TEXT,
    },
)

_OPEN_NODES = Spec(
    name="open_nodes",
    title="Open nodes",
    description=(
        "Read nodes whose exact names are known, with their edges and direct neighbors. Unknown "
        "names come back in notFound."
    ),
    effect=Effect.READ,
    handle=late("reading:open_nodes"),
    properties={"names": _texts("Exact names."), **PAGING, **_NEIGHBORS},
    required=("names",),
    data={**_PAGE_DATA, "notFound": TEXTS, "notFoundCount": {"type": "integer"}},
)

STATIC_SPECS: Final = (
    _ADD_NODES,
    _UPDATE_NODES,
    _DELETE_NODES,
    _ADD_EDGES,
    _UPDATE_EDGES,
    _DELETE_EDGES,
    _ADD_METADATA,
    _DELETE_METADATA,
    _READ_GRAPH,
    _SEARCH_NODES,
    _OPEN_NODES,
)
"""The specified eleven."""
