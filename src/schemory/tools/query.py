"""Handlers of `graph_query`: questions beyond search, and the upkeep of names (graph.md §8)."""

from collections.abc import Mapping
from typing import cast

from schemory.graph.inputs import Filter, FilterOp, Sort
from schemory.graph.results import Neighbourhood, NodeHistory, NodesMerged
from schemory.model.jsonvalue import Json, plain_number
from schemory.model.text import counted
from schemory.storage.protocols import NodeVersion
from schemory.tools.bench import (
    Bench,
    author_of,
    flag_of,
    objects_of,
    text_of,
    texts_of,
    whole_of,
)
from schemory.tools.coerce import NO_JSON, as_kind
from schemory.tools.graph import shown_edges, shown_nodes, side_notes, write_reply
from schemory.tools.registry import Call, Reply
from schemory.tools.schema_tools import shrinking
from schemory.tools.wire import edge_wire, node_wire

_DEFAULT_HOPS = 6
_DEFAULT_NODES = 100
_DEFAULT_PAGE = 50


def find_path(bench: Bench, call: Call) -> Reply:
    """Answer a shortest path between two nodes, or that there is none."""
    start, end = text_of(call, "from"), text_of(call, "to")
    found = bench.graph_for(call).find_path(
        start,
        end,
        max_hops=whole_of(call, "maxHops") or _DEFAULT_HOPS,
        weighted=flag_of(call, "weighted"),
        direction=_direction(call),
        edge_types=texts_of(call.arguments.get("edgeTypes")),
    )
    data: dict[str, Json] = {
        "found": bool(found.nodes),
        "nodes": shown_nodes(call, found.nodes),
        "edges": shown_edges(call, found.edges),
        "explored": found.explored,
    }
    if found.cost is not None:
        data["cost"] = plain_number(found.cost)
    if found.is_truncated:
        data["truncated"] = True
    steps = f"Found a path of {counted(len(found.edges), 'hop')}"
    return write_reply(bench, data, steps if found.nodes else "Found no path")


def get_neighbors(bench: Bench, call: Call) -> Reply:
    """Answer what lies within some steps of one node, nearest first."""
    graph = bench.graph_for(call)
    return shrinking(
        bench,
        whole_of(call, "limit") or _DEFAULT_NODES,
        lambda limit: _neighbourhood(
            bench,
            call,
            graph.get_neighbors(
                text_of(call, "name"),
                depth=whole_of(call, "depth") or 1,
                edge_types=texts_of(call.arguments.get("edgeTypes")),
                direction=_direction(call),
                limit=limit,
            ),
        ),
    )


def _neighbourhood(bench: Bench, call: Call, found: Neighbourhood) -> Reply:
    data: dict[str, Json] = {
        "nodes": shown_nodes(call, found.nodes),
        "edges": shown_edges(call, found.edges),
        "distances": dict(found.distances),
    }
    if found.is_truncated:
        data["truncated"] = True
    return bench.replies.success(data, f"Found {counted(len(found.nodes) - 1, 'neighbor')}")


def _direction(call: Call) -> str:
    return cast("str", call.arguments.get("direction", "both"))


def query_nodes(bench: Bench, call: Call) -> Reply:
    """Answer a page of the nodes that fulfil all conditions."""
    graph, after = bench.graph_for(call), bench.position(call, "query_nodes")
    filters = [
        Filter(str(item["property"]), cast("FilterOp", item.get("op", "eq")), _value(item))
        for item in (objects_of(call, "filters") if "filters" in call.arguments else ())
    ]

    def page(limit: int) -> Reply:
        found = graph.query_nodes(
            cast("str | None", call.arguments.get("nodeType")),
            filters=filters,
            sort=_sort(call.arguments.get("sort")),
            limit=limit,
            after=after,
        )
        data: dict[str, Json] = {"nodes": shown_nodes(call, found.nodes)}
        if found.more is not None:
            cursor = bench.cursor(call, "query_nodes", found.more)
            data |= {"truncated": True, "nextCursor": cursor}
        return bench.replies.success(data, f"Found {counted(len(found.nodes), 'node')}")

    return shrinking(bench, whole_of(call, "limit") or _DEFAULT_PAGE, page)


def _value(item: Mapping[str, Json]) -> Json:
    """Return what to compare with; a list and a flag may come as JSON text."""
    given = item.get("value")
    due = {"in": "array", "exists": "boolean"}.get(str(item.get("op")))
    found = as_kind(due, given) if due else NO_JSON
    return given if found is NO_JSON else found


def _sort(given: Json) -> Sort | None:
    """Return the order: a property, with a leading minus from the greatest down."""
    if not isinstance(given, str) or not given:
        return None
    return Sort(given.removeprefix("-"), descending=given.startswith("-"))


def graph_stats(bench: Bench, call: Call) -> Reply:
    """Answer counts by type and how they stand to the schemas."""
    stats = bench.graph_for(call).graph_stats()
    data: dict[str, Json] = {
        "nodes": stats.counts.nodes,
        "edges": stats.counts.edges,
        "nodeTypes": _counts(stats.counts.node_types),
        "edgeTypes": _counts(stats.counts.edge_types),
        "unusedTypes": list(stats.unused_types),
        "unknownTypes": list(stats.unknown_types),
        "transactions": stats.last_seq,
    }
    holds = f"{counted(stats.counts.nodes, 'node')} and {counted(stats.counts.edges, 'edge')}"
    return write_reply(bench, data, f"Counted {holds}")


def _counts(counts: Mapping[str, int]) -> list[Json]:
    """Return types with their counts, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"type": name, "count": count} for name, count in ordered]


def node_history(bench: Bench, call: Call) -> Reply:
    """Answer a node's past, newest first."""
    graph, name = bench.graph_for(call), text_of(call, "name")
    return shrinking(
        bench,
        whole_of(call, "limit") or _DEFAULT_PAGE,
        lambda limit: _history(bench, graph.node_history(name, limit=limit)),
    )


def _history(bench: Bench, past: NodeHistory) -> Reply:
    data: dict[str, Json] = {"versions": [_version(version) for version in past.versions]}
    if past.is_truncated:
        data["truncated"] = True
    return bench.replies.success(data, f"Read {counted(len(past.versions), 'version')}")


def _version(version: NodeVersion) -> dict[str, Json]:
    wire: dict[str, Json] = {
        "seq": version.seq,
        "recordedAt": version.recorded_at,
        "operation": version.operation,
        "author": version.author,
    }
    if version.record is None:
        wire["deleted"] = True
    else:
        wire["node"] = node_wire(version.record)
    if version.edges:
        wire["edges"] = [{"change": what, "edge": edge_wire(edge)} for what, edge in version.edges]
    return wire


def merge_nodes(bench: Bench, call: Call) -> Reply:
    """Make two nodes one; answers the node that stays."""
    gone, kept = text_of(call, "from"), text_of(call, "into")
    result = bench.graph_for(call).merge_nodes(gone, kept, by=author_of(call))
    return write_reply(bench, _merged(call, result), f"Merged {gone} into {result.node.name}")


def _merged(call: Call, result: NodesMerged) -> dict[str, Json]:
    return {
        "nodes": shown_nodes(call, [result.node]),
        "movedEdges": result.moved_edges,
        "mergedEdges": result.merged_edges,
        "droppedEdges": result.dropped_edges,
        "changedNodes": list(result.changed_nodes),
        **side_notes(result),
    }


def rename_node(bench: Bench, call: Call) -> Reply:
    """Give a node another name; answers it and which others changed with it."""
    old = text_of(call, "name")
    result = bench.graph_for(call).rename_node(old, text_of(call, "newName"), by=author_of(call))
    data: dict[str, Json] = {
        "nodes": shown_nodes(call, [result.node]),
        "changedNodes": list(result.changed_nodes),
        **side_notes(result),
    }
    return write_reply(bench, data, f"Renamed {old} to {result.node.name}")


def find_duplicates(bench: Bench, call: Call) -> Reply:
    """Answer a page of groups of nodes that may be one thing."""
    graph, after = bench.graph_for(call), bench.position(call, "find_duplicates")

    def page(limit: int) -> Reply:
        found = graph.find_duplicates(
            node_type=cast("str | None", call.arguments.get("nodeType")), limit=limit, after=after
        )
        groups: list[Json] = [
            {"names": list(g.names), "kind": g.kind, "similarity": plain_number(g.similarity)}
            for g in found.groups
        ]
        data: dict[str, Json] = {"groups": groups, "checked": found.checked}
        if found.more is not None:
            cursor = bench.cursor(call, "find_duplicates", found.more)
            data |= {"truncated": True, "nextCursor": cursor}
        return bench.replies.success(data, f"Found {counted(len(groups), 'group')}")

    return shrinking(bench, whole_of(call, "limit") or _DEFAULT_PAGE, page)
