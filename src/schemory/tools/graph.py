"""Handlers of the eight static tools that write nodes, edges and metadata (graph.md §2)."""

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from schemory.errors import Problem, error_for
from schemory.graph.inputs import (
    EdgeInput,
    EdgeUpdate,
    MetadataItem,
    NodeInput,
    NodeUpdate,
    WeightMode,
)
from schemory.graph.results import Failure, NodesDeleted
from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.jsonvalue import Json
from schemory.model.node import NodeRecord
from schemory.model.text import counted
from schemory.storage.protocols import LineHit
from schemory.tools.bench import (
    Bench,
    author_of,
    flag_of,
    objects_of,
    text_of,
    texts_of,
)
from schemory.tools.fitting import fitted
from schemory.tools.registry import Call, Reply
from schemory.tools.replies import MAX_PROBLEMS, problem_wire
from schemory.tools.sifting import all_failures
from schemory.tools.wire import edge_wire, node_wire


class _Written(Protocol):
    @property
    def warnings(self) -> tuple[str, ...]: ...

    @property
    def stale_lines(self) -> tuple[LineHit, ...]: ...


def write_reply(bench: Bench, data: Mapping[str, Json], action: str) -> Reply:
    """Return a write's answer within the response budget; a node beyond it can be read in pages."""
    return bench.replies.success(fitted(data, bench.budget, least=0), action)


def side_notes(result: _Written) -> dict[str, Json]:
    """Return the warnings and stale lines of a write, each only where there are any."""
    return warning_notes(result.warnings) | stale_notes(result.stale_lines)


def warning_notes(warnings: Sequence[str]) -> dict[str, Json]:
    """Return `warnings` as the answer shows them, nothing where there are none."""
    return {"warnings": list(warnings)} if warnings else {}


def stale_notes(lines: Sequence[LineHit]) -> dict[str, Json]:
    """Return lines that still name what has gone, nothing where there are none."""
    if not lines:
        return {}
    return {"staleLines": [{"node": hit.node_name, "line": hit.line} for hit in lines]}


def shown_nodes(call: Call, records: Sequence[NodeRecord]) -> list[Json]:
    """Return nodes as the call wants them shown."""
    return [node_wire(record, info=flag_of(call, "includeInfo")) for record in records]


def shown_edges(call: Call, records: Sequence[EdgeRecord]) -> list[Json]:
    """Return edges as the call wants them shown."""
    return [edge_wire(record, info=flag_of(call, "includeInfo")) for record in records]


def deletion(result: NodesDeleted) -> dict[str, Json]:
    """Return what `delete_nodes` and `delete_<type>` answer."""
    return {
        "deleted": list(result.deleted),
        "notFound": list(result.not_found),
        "edgesRemoved": result.edges_removed,
        **side_notes(result),
    }


def _failure_notes(bench: Bench, failures: Sequence[Failure]) -> dict[str, Json]:
    if not failures:
        return {}
    failed: list[Json] = [
        {
            "index": failure.index,
            "problems": [problem_wire(p, bench.rephrase) for p in failure.problems[:MAX_PROBLEMS]],
        }
        for failure in failures
    ]
    return {"partial": True, "failed": failed}


def _left_out(failures: Sequence[Failure]) -> str:
    return f"; left out {counted(len(failures), 'item')}" if failures else ""


def add_nodes(bench: Bench, call: Call) -> Reply:
    """Store new nodes; answers them, and with continueOnError what was left out."""
    nodes = [
        NodeInput(_text(item, "name"), _text(item, "nodeType"), texts_of(item.get("metadata")))
        for item in objects_of(call, "nodes")
    ]
    result = bench.graph_for(call).add_nodes(
        nodes,
        continue_on_error=flag_of(call, "continueOnError"),
        allow_secret=flag_of(call, "allowSecret"),
        by=author_of(call),
    )
    failures = all_failures(call, "nodes", result.failures)
    data = {"nodes": shown_nodes(call, result.nodes), **_failure_notes(bench, failures)}
    action = f"Added {counted(len(result.nodes), 'node')}{_left_out(failures)}"
    return write_reply(bench, data | side_notes(result), action)


def update_nodes(bench: Bench, call: Call) -> Reply:
    """Replace metadata lines and types of nodes; answers their new states."""
    updates = [
        NodeUpdate(
            name=_text(item, "name"),
            node_type=_text_or_none(item, "nodeType"),
            metadata=texts_of(item["metadata"]) if "metadata" in item else None,
            expected_revision=_whole_or_none(item, "expectedRevision"),
        )
        for item in objects_of(call, "nodes")
    ]
    result = bench.graph_for(call).update_nodes(
        updates, allow_secret=flag_of(call, "allowSecret"), by=author_of(call)
    )
    data = {"nodes": shown_nodes(call, result.nodes), **side_notes(result)}
    return write_reply(bench, data, f"Updated {counted(len(result.nodes), 'node')}")


def delete_nodes(bench: Bench, call: Call) -> Reply:
    """Delete nodes with their edges; answers which names were and were not there."""
    names = texts_of(call.arguments["nodeNames"])
    result = bench.graph_for(call).delete_nodes(names, by=author_of(call))
    return write_reply(bench, deletion(result), f"Deleted {counted(len(result.deleted), 'node')}")


def add_edges(bench: Bench, call: Call) -> Reply:
    """Store new edges; answers them, and with continueOnError what was left out."""
    edges = [
        EdgeInput(*_key(item), weight=_number_or_none(item, "weight"))
        for item in objects_of(call, "edges")
    ]
    result = bench.graph_for(call).add_edges(
        edges,
        continue_on_error=flag_of(call, "continueOnError"),
        allow_secret=flag_of(call, "allowSecret"),
        by=author_of(call),
    )
    failures = all_failures(call, "edges", result.failures)
    data = {"edges": shown_edges(call, result.edges), **_failure_notes(bench, failures)}
    action = f"Added {counted(len(result.edges), 'edge')}{_left_out(failures)}"
    return write_reply(bench, data | side_notes(result), action)


def update_edges(bench: Bench, call: Call) -> Reply:
    """Change weights and move edges; answers their new states."""
    updates = _edge_updates(objects_of(call, "edges"))
    result = bench.graph_for(call).update_edges(
        updates, allow_secret=flag_of(call, "allowSecret"), by=author_of(call)
    )
    data = {"edges": shown_edges(call, result.edges), **side_notes(result)}
    return write_reply(bench, data, f"Updated {counted(len(result.edges), 'edge')}")


def _edge_updates(items: Sequence[Mapping[str, Json]]) -> list[EdgeUpdate]:
    """Return the updates; `weight` and its older name `newWeight` must not contradict.

    Raises:
        InvalidParamError: They do, somewhere.
    """
    problems = [
        Problem(
            code="INVALID_PARAM",
            path=f"$.edges[{index}].newWeight",
            message=f"edges[{index}] has weight and newWeight, which are the same argument, "
            "with different values",
            suggestion="Give weight only.",
        )
        for index, item in enumerate(items)
        if "weight" in item and "newWeight" in item and item["weight"] != item["newWeight"]
    ]
    if problems:
        raise error_for(problems)
    return [
        EdgeUpdate(
            from_name=_text(item, "from"),
            to_name=_text(item, "to"),
            edge_type=_text(item, "edgeType"),
            weight=_number_or_none(item, "weight" if "weight" in item else "newWeight"),
            weight_mode=cast("WeightMode", item.get("weightMode", "blend")),
            new_from=_text_or_none(item, "newFrom"),
            new_to=_text_or_none(item, "newTo"),
            new_edge_type=_text_or_none(item, "newEdgeType"),
            expected_revision=_whole_or_none(item, "expectedRevision"),
        )
        for item in items
    ]


def delete_edges(bench: Bench, call: Call) -> Reply:
    """Delete edges by exact triple; answers which were and were not there."""
    keys = [_key(item) for item in objects_of(call, "edges")]
    result = bench.graph_for(call).delete_edges(keys, by=author_of(call))
    data: dict[str, Json] = {
        "deleted": [_key_wire(key) for key in result.deleted],
        "notFound": [_key_wire(key) for key in result.not_found],
        **side_notes(result),
    }
    return write_reply(bench, data, f"Deleted {counted(len(result.deleted), 'edge')}")


def add_metadata(bench: Bench, call: Call) -> Reply:
    """Append lines; answers which were new and which stood there already."""
    results = bench.graph_for(call).add_metadata(
        _metadata_items(call, "metadata", "contents"),
        allow_secret=flag_of(call, "allowSecret"),
        by=author_of(call),
    )
    parts = [
        (r.node.name, {"added": list(r.added), "alreadyThere": list(r.already_there)})
        for r in results
    ]
    warnings = dict.fromkeys(text for r in results for text in r.warnings)
    added = counted(sum(len(r.added) for r in results), "line")
    action = f"Added {added} to {_nodes_named([r.node for r in results])}"
    return write_reply(bench, _joined(call, parts) | warning_notes([*warnings]), action)


def delete_metadata(bench: Bench, call: Call) -> Reply:
    """Remove lines by exact text; answers which went and which were not there."""
    results = bench.graph_for(call).delete_metadata(
        _metadata_items(call, "deletions", "metadata"), by=author_of(call)
    )
    parts = [
        (r.node.name, {"removed": list(r.removed), "notThere": list(r.not_there)}) for r in results
    ]
    removed = counted(sum(len(r.removed) for r in results), "line")
    action = f"Removed {removed} from {_nodes_named([r.node for r in results])}"
    return write_reply(bench, _joined(call, parts), action)


def _metadata_items(call: Call, list_key: str, lines_key: str) -> list[MetadataItem]:
    """Return the one advertised item, or the several of the older dialect."""
    if "nodeName" in call.arguments:
        return [MetadataItem(text_of(call, "nodeName"), texts_of(call.arguments["metadata"]))]
    return [
        MetadataItem(
            _text(item, "nodeName"),
            texts_of(item[lines_key]),
            name_path=f"$.{list_key}[{index}].nodeName",
            lines_path=f"$.{list_key}[{index}].{lines_key}",
        )
        for index, item in enumerate(objects_of(call, list_key))
    ]


def _joined(call: Call, parts: Sequence[tuple[str, Mapping[str, list[str]]]]) -> dict[str, Json]:
    """Return the lists of all nodes in one; where several were given, also node by node."""
    keys = list(parts[0][1])
    data: dict[str, Json] = {key: [x for _, lists in parts for x in lists[key]] for key in keys}
    if "nodeName" not in call.arguments:
        data["results"] = [{"nodeName": name, **lists} for name, lists in parts]
    return data


def _nodes_named(records: Sequence[NodeRecord]) -> str:
    names = list(dict.fromkeys(record.name for record in records))
    return names[0] if len(names) == 1 else counted(len(names), "node")


def _text(item: Mapping[str, Json], key: str) -> str:
    return cast("str", item[key])


def _text_or_none(item: Mapping[str, Json], key: str) -> str | None:
    return cast("str | None", item.get(key))


def _whole_or_none(item: Mapping[str, Json], key: str) -> int | None:
    return cast("int | None", item.get(key))


def _number_or_none(item: Mapping[str, Json], key: str) -> float | None:
    return cast("float | None", item.get(key))


def _key(item: Mapping[str, Json]) -> EdgeKey:
    return EdgeKey(_text(item, "from"), _text(item, "to"), _text(item, "edgeType"))


def _key_wire(key: EdgeKey) -> dict[str, Json]:
    return {"from": key.from_name, "to": key.to_name, "edgeType": key.edge_type}
