"""Merging a node into another: edges are re-pointed, lines united (graph.md §8)."""

from schemory.errors import NothingToChangeError, Problem
from schemory.graph.checks import Faults, Missing, find_nodes, shown
from schemory.graph.followers import State, all_edges, change_of, find_followers
from schemory.graph.relations import Relations
from schemory.graph.results import NodesMerged
from schemory.graph.stale import Stale, lines_naming_gone
from schemory.graph.work import Work
from schemory.model.edge import Edge, EdgeChange, EdgeKey, EdgeRecord
from schemory.model.events import (
    AfterDeleteNodes,
    AfterUpdateEdges,
    AfterUpdateNodes,
    BeforeDeleteNodes,
    BeforeUpdateEdges,
    BeforeUpdateNodes,
)
from schemory.model.frozen import dataclass, replace
from schemory.model.jsonvalue import Json
from schemory.model.metadata import merge_lines
from schemory.model.node import Node, NodeRecord
from schemory.model.text import nfc
from schemory.storage.protocols import LineHit


@dataclass(frozen=True, slots=True)
class _Merge:
    """What a merge does.

    Attributes:
        into: The surviving node's state with all lines.
        moved: Edges whose end changes, with their new triples.
        stronger: Edges of `into` that take over a greater weight.
    """

    gone: NodeRecord
    into: State
    extra: dict[str, Json]
    followers: tuple[State, ...]
    moved: tuple[tuple[EdgeRecord, EdgeKey], ...]
    stronger: tuple[tuple[EdgeRecord, float], ...]
    merged: int
    dropped: int
    warnings: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.into.record.name, *(state.record.name for state in self.followers))

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(state.as_record().node for state in (self.into, *self.followers))

    @property
    def keys(self) -> tuple[EdgeKey, ...]:
        return tuple(edge.key for edge, _ in (*self.moved, *self.stronger))

    @property
    def edges(self) -> tuple[Edge, ...]:
        moved = (Edge(*key, edge.edge.weight) for edge, key in self.moved)
        return (*moved, *(Edge(*edge.key, weight) for edge, weight in self.stronger))


def merge_nodes(work: Work, from_name: str, into_name: str) -> NodesMerged:
    """Make two nodes one: lines are united, edges and relationship lines follow."""
    plan = work.planned(
        lambda: _plan_merge(work, from_name, into_name),
        lambda plan: [
            BeforeUpdateNodes(names=plan.names, nodes=plan.nodes),
            *([BeforeUpdateEdges(keys=plan.keys, edges=plan.edges)] if plan.keys else []),
            BeforeDeleteNodes(names=(plan.gone.name,)),
        ],
    )
    if plan.keys:
        moves = [EdgeChange(id=edge.id, key=key) for edge, key in plan.moved]
        weights = [EdgeChange(id=edge.id, weight=weight) for edge, weight in plan.stronger]
        work.tx.update_edges([*moves, *weights])
        work.done(AfterUpdateEdges(keys=plan.keys, edges=plan.edges))
    own = replace(change_of(plan.into), extra=plan.extra)
    node, *_ = work.tx.update_nodes([own, *map(change_of, plan.followers)])
    work.done(AfterUpdateNodes(names=plan.names, nodes=plan.nodes))
    work.tx.delete_nodes([plan.gone.id])
    work.done(AfterDeleteNodes(names=(plan.gone.name,), deleted_count=1))
    stale = _stale_after_merge(work, plan, node)
    return NodesMerged(
        node=node,
        moved_edges=len(plan.moved),
        merged_edges=plan.merged,
        dropped_edges=plan.dropped,
        changed_nodes=plan.names[1:],
        warnings=(*plan.warnings, *stale.warnings),
        stale_lines=stale.lines,
    )


def _stale_after_merge(work: Work, plan: _Merge, node: NodeRecord) -> Stale:
    """Return lines that name the node that went, and those of the one left that name itself."""
    stale = lines_naming_gone(work.tx, [plan.gone.name])
    relations = Relations(work.catalog)
    own = [
        LineHit(node_name=node.name, line=line)
        for line in relations.lines_naming(node, node.name)
        if (key := relations.claimed_edge(node, line, node.name)) and not work.tx.find_edges([key])
    ]
    return Stale((*stale.lines, *own), stale.warnings)


def _plan_merge(work: Work, from_name: str, into_name: str) -> _Merge:
    gone, into = _pair(work, from_name, into_name)
    moved, stronger, merged, dropped = _plan_merge_edges(work, gone, into)
    followers = find_followers(work, gone, into.name)
    # The two nodes' own lines about each other would name the node itself; they are reported.
    others = [s for node_id, s in followers.items() if node_id not in (gone.id, into.id)]
    own = {value.property_name for value in into.typed}
    lines = merge_lines(into.node.metadata, gone.node.metadata)
    typed = (*into.typed, *(v for v in gone.typed if v.property_name not in own))
    warnings: list[str] = []
    if gone.node.node_type != into.node.node_type:
        kept = shown(into.node.node_type)
        warnings.append(f"the types differ: it stays {kept}, not {shown(gone.node.node_type)}")
    extra = {**gone.extra, **into.extra}
    if not (gone.is_stub and into.is_stub):  # of two that nobody told anything of, one is left
        extra.pop("stub", None)
    return _Merge(
        gone=gone,
        into=State(into, lines, typed),
        extra=extra,
        followers=tuple(others),
        moved=moved,
        stronger=stronger,
        merged=merged,
        dropped=dropped,
        warnings=tuple(warnings),
    )


def _pair(work: Work, from_name: str, into_name: str) -> tuple[NodeRecord, NodeRecord]:
    faults = Faults()
    found = find_nodes(work.tx, [from_name, into_name])
    gone, into = found.get(nfc(from_name)), found.get(nfc(into_name))
    missing = Missing(work.tx)
    for index, (record, name, path) in enumerate(
        ((gone, from_name, "$.from"), (into, into_name, "$.into"))
    ):
        if record is None:
            faults.add(index, missing.problem(name, path))
    if gone is not None and into is not None and gone.id == into.id:
        message = "from and into are the same node"
        faults.add(1, Problem(code=NothingToChangeError.code, path="$.into", message=message))
    faults.raise_any()
    if gone is None or into is None:  # told above
        raise AssertionError
    return gone, into


def _plan_merge_edges(
    work: Work, gone: NodeRecord, into: NodeRecord
) -> tuple[tuple[tuple[EdgeRecord, EdgeKey], ...], tuple[tuple[EdgeRecord, float], ...], int, int]:
    """Return edges to move, edges whose weight grows, and how many merge and are dropped."""
    moved: list[tuple[EdgeRecord, EdgeKey]] = []
    stronger: list[tuple[EdgeRecord, float]] = []
    merged = dropped = 0
    for edge in all_edges(work.tx, gone.id):
        if into.id in (edge.from_id, edge.to_id):
            dropped += 1
            continue
        start, end, edge_type = edge.key
        key = EdgeKey(
            into.name if start == gone.name else start,
            into.name if end == gone.name else end,
            edge_type,
        )
        there = work.tx.find_edges([key]).get(key)
        if there is None:
            moved.append((edge, key))
            continue
        merged += 1
        if edge.edge.weight > there.edge.weight:
            stronger.append((there, edge.edge.weight))
    return tuple(moved), tuple(stronger), merged, dropped
