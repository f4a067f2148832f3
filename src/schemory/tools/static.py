"""The eleven static graph tools as data: what hosts are told, what is accepted beyond that."""

from collections.abc import Mapping
from typing import Final

from schemory.model.jsonvalue import Json
from schemory.tools import graph, reading
from schemory.tools.bench import INFO, SECRET_OVERRIDE, Chooser, Spec
from schemory.tools.coerce import NO_JSON, as_kind, is_array, is_object
from schemory.tools.graph import WRITTEN
from schemory.tools.registry import Effect
from schemory.tools.replies import PAGE_KEYS
from schemory.tools.validate import NO_TEXT, properties_of
from schemory.tools.wire import EDGES, NODES, TEXTS

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


def _list_of(properties: Mapping[str, Json], required: tuple[str, ...]) -> dict[str, Json]:
    return {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
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
    handle=graph.add_nodes,
    properties={
        "nodes": _list_of(
            {"name": _TEXT, "nodeType": _TEXT, "metadata": _LINES}, ("name", "nodeType")
        ),
        **_CONTINUE,
    },
    required=("nodes",),
    unadvertised={"nodes": _items(type=_KIND), **SECRET_OVERRIDE, **INFO},
    data={"nodes": NODES, "partial": _FLAG, "failed": graph.FAILED, **WRITTEN},
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
    handle=graph.update_nodes,
    properties={
        "nodes": _list_of({"name": _TEXT, "nodeType": _TEXT, "metadata": _LINES}, ("name",))
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
    handle=graph.delete_nodes,
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
    handle=graph.add_edges,
    properties={
        "edges": _list_of({**_KEY_PROPERTIES, "weight": _WEIGHT}, ("from", "to", "edgeType")),
        **_CONTINUE,
    },
    required=("edges",),
    unadvertised={
        "edges": _items(type=_KIND, weight=_STRICT_WEIGHT),
        **SECRET_OVERRIDE,
        **INFO,
    },
    data={"edges": EDGES, "partial": _FLAG, "failed": graph.FAILED, **WRITTEN},
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
    handle=graph.update_edges,
    properties={
        "edges": _list_of(
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
    handle=graph.delete_edges,
    properties={"edges": _list_of(_KEY_PROPERTIES, ("from", "to", "edgeType"))},
    required=("edges",),
    unadvertised={"edges": _items(type=_KIND, weight=_WEIGHT)},
    data={"deleted": graph.EDGE_KEYS, "notFound": graph.EDGE_KEYS, **WRITTEN},
)


def _older_metadata(list_key: str, lines_key: str) -> "Mapping[str, Json]":
    return {
        list_key: _list_of(
            {"nodeName": _TEXT, lines_key: {"type": "array", "items": _TEXT}},
            ("nodeName", lines_key),
        )
    }


_OLD_ADDITIONS = _older_metadata("metadata", "contents")
_OLD_DELETIONS = _older_metadata("deletions", "metadata")


def _beside_wrapper(schema: Mapping[str, Json], older: Mapping[str, Json]) -> dict[str, Json]:
    """Return `schema` with the older dialect's argument in place of nodeName and metadata."""
    own = ("nodeName", "metadata")
    kept = {key: part for key, part in properties_of(schema).items() if key not in own}
    return {**schema, "properties": {**kept, **older}, "required": list(older)}


def _choose_addition(schema: Mapping[str, Json]) -> Chooser:
    older = _beside_wrapper(schema, _OLD_ADDITIONS)

    def choose(arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        lines = as_kind("array", arguments.get("metadata"))
        is_older = lines is not NO_JSON and is_array(lines) and bool(lines) and is_object(lines[0])
        return older if is_older and "nodeName" not in arguments else schema

    return choose


def _choose_deletion(schema: Mapping[str, Json]) -> Chooser:
    older = _beside_wrapper(schema, _OLD_DELETIONS)
    return lambda arguments: older if "deletions" in arguments else schema


_ADD_METADATA = Spec(
    name="add_metadata",
    title="Add metadata lines",
    description=(
        "Append facts to one existing node as lines. Lines that stand there already are not "
        "doubled."
    ),
    effect=Effect.WRITE,
    handle=graph.add_metadata,
    properties={"nodeName": _TEXT, "metadata": {**_LINES, "minItems": 1}},
    required=("nodeName", "metadata"),
    unadvertised=SECRET_OVERRIDE,
    chooses=_choose_addition,
    data={
        "added": TEXTS,
        "alreadyThere": TEXTS,
        "results": graph.per_node("added", "alreadyThere"),
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
    handle=graph.delete_metadata,
    properties={"nodeName": _TEXT, "metadata": {**_LINES, "minItems": 1}},
    required=("nodeName", "metadata"),
    chooses=_choose_deletion,
    data={
        "removed": TEXTS,
        "notThere": TEXTS,
        "results": graph.per_node("removed", "notThere"),
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
    handle=reading.read_graph,
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
    handle=reading.search_nodes,
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
    handle=reading.open_nodes,
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
