"""Changing edges: new evidence for their weight, other ends, another type (graph.md §2)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from schemory.errors import DuplicateInCallError, NothingToChangeError, Problem
from schemory.graph.checks import (
    Faults,
    Missing,
    check_secrets,
    find_nodes,
    invalid,
    new_name_problem,
    once_each,
    require_items,
    revision_problem,
)
from schemory.graph.edges import (
    MissingEdges,
    arrow,
    exists_problem,
    find_edges,
    missing_end,
    nfc_key,
    weight_problems,
)
from schemory.graph.inputs import EdgeUpdate, WeightMode
from schemory.graph.relations import Relations
from schemory.graph.results import EdgesWritten
from schemory.graph.stale import lines_of_gone_edges
from schemory.graph.work import Work
from schemory.model.edge import Edge, EdgeChange, EdgeKey, EdgeRecord
from schemory.model.events import AfterUpdateEdges, BeforeUpdateEdges
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import place
from schemory.model.node import NodeRecord
from schemory.model.schema import Direction
from schemory.model.text import nfc
from schemory.model.weight import blend_weight


@dataclass(frozen=True, slots=True)
class _Update:
    """One planned change: what stands there, what shall stand there."""

    before: EdgeRecord
    after: Edge
    keeps_origin: bool

    @property
    def is_move(self) -> bool:
        return self.after.key != self.before.key

    @property
    def change(self) -> EdgeChange:
        return EdgeChange(
            id=self.before.id,
            key=self.after.key if self.is_move else None,
            weight=self.after.weight,
            property_name=None if self.keeps_origin else "",
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    updates: tuple[_Update, ...]
    warnings: tuple[str, ...]

    @property
    def changed(self) -> tuple[_Update, ...]:
        return tuple(update for update in self.updates if update.after != update.before.edge)


def update_edges(work: Work, updates: Sequence[EdgeUpdate], *, allow_secret: bool) -> EdgesWritten:
    """Change weights and move edges, all or none."""
    require_items(updates, "$.edges")
    plan = work.planned(
        lambda: _plan(work, updates, allow_secret=allow_secret),
        lambda plan: [
            BeforeUpdateEdges(
                keys=tuple(update.before.key for update in plan.updates),
                edges=tuple(update.after for update in plan.updates),
            )
        ],
    )
    changed = plan.changed
    by_id: dict[int, EdgeRecord] = {}
    if changed:
        written = work.tx.update_edges([update.change for update in changed])
        by_id = {record.id: record for record in written}
        work.done(
            AfterUpdateEdges(
                keys=tuple(update.before.key for update in changed),
                edges=tuple(update.after for update in changed),
            )
        )
    moved = [update.before.key for update in changed if update.is_move]
    stale = lines_of_gone_edges(work.tx, Relations(work.catalog), moved)
    return EdgesWritten(
        edges=tuple(by_id.get(update.before.id, update.before) for update in plan.updates),
        warnings=(*plan.warnings, *stale.warnings),
        stale_lines=stale.lines,
    )


def _plan(work: Work, updates: Sequence[EdgeUpdate], *, allow_secret: bool) -> _Plan:
    faults = Faults()
    keys = [nfc_key(item.from_name, item.to_name, item.edge_type) for item in updates]
    goals = [_goal(item) for item in updates]
    paths = [f"$.edges[{index}]" for index in range(len(updates))]
    stored = find_edges(work.tx, [*keys, *goals])
    ends = find_nodes(work.tx, (n for key in (*keys, *goals) for n in (key.from_name, key.to_name)))
    missing, missing_edges = Missing(work.tx), MissingEdges(work.tx)
    for index, item in enumerate(updates):
        path = paths[index]
        record = stored.get(keys[index])
        if record is None:
            faults.add(index, missing_edges.problem(keys[index], path, ends))
        else:
            conflict = revision_problem(record, item.expected_revision, f"{path}.expectedRevision")
            faults.extend(index, [conflict] if conflict else [])
        faults.extend(index, _item_problems(item, keys[index] != goals[index], path))
        for name, where in ((item.new_from, "newFrom"), (item.new_to, "newTo")):
            if name is not None:
                faults.extend(index, missing_end(missing, ends, name, f"{path}.{where}"))
        texts = [(f"{path}.newEdgeType", item.new_edge_type)] if item.new_edge_type else []
        check_secrets(faults, index, texts, allow_secret=allow_secret)
    for index, problem in once_each(keys, paths):
        faults.add(index, problem)
    _check_goals(faults, keys, goals, stored)
    faults.raise_any()
    relations = Relations(work.catalog)
    made = (
        _updated(relations, ends, stored[keys[index]], item, goals[index])
        for index, item in enumerate(updates)
    )
    return _Plan(tuple(made), tuple(faults.warnings))


def _goal(item: EdgeUpdate) -> EdgeKey:
    return nfc_key(
        item.from_name if item.new_from is None else item.new_from,
        item.to_name if item.new_to is None else item.new_to,
        item.edge_type if item.new_edge_type is None else item.new_edge_type,
    )


def _item_problems(item: EdgeUpdate, is_move: bool, path: str) -> Iterator[Problem]:  # noqa: FBT001 (private, one caller)
    yield from weight_problems(item.weight, f"{path}.weight")
    if item.weight_mode not in get_args(WeightMode):
        where = f"{path}.weightMode"
        yield invalid(where, f'{place(where)} must be "blend" or "set"')
    if item.weight is None and not is_move:
        yield Problem(
            code=NothingToChangeError.code,
            path=path,
            message=f"{place(path)} changes nothing: give weight, newFrom, newTo or newEdgeType",
        )
    if item.new_edge_type is not None and nfc(item.new_edge_type) != nfc(item.edge_type):
        problem = new_name_problem(item.new_edge_type, f"{path}.newEdgeType")
        if problem is not None:
            yield problem


def _check_goals(
    faults: Faults,
    keys: Sequence[EdgeKey],
    goals: Sequence[EdgeKey],
    stored: Mapping[EdgeKey, EdgeRecord],
) -> None:
    """Note moves onto a triple that is taken, also by what else the call does."""
    moved_away = {key for key, goal in zip(keys, goals, strict=True) if key != goal}
    first: dict[EdgeKey, int] = {}
    for index, (key, goal) in enumerate(zip(keys, goals, strict=True)):
        if key == goal:
            continue
        path = f"$.edges[{index}]"
        if goal in first:
            message = f"goes to {arrow(goal)} like $.edges[{first[goal]}]"
            problem = Problem(code=DuplicateInCallError.code, path=path, message=message)
            faults.add(index, problem)
        elif goal in stored and goal not in moved_away:
            faults.add(index, exists_problem(goal, path))
        first.setdefault(goal, index)


def _updated(
    relations: Relations,
    ends: Mapping[str, NodeRecord],
    record: EdgeRecord,
    item: EdgeUpdate,
    goal: EdgeKey,
) -> _Update:
    weight = record.edge.weight
    if item.weight is not None:
        is_set = item.weight_mode == "set"
        weight = float(item.weight) if is_set else blend_weight(weight, item.weight)
    return _Update(record, Edge(*goal, weight), _keeps_origin(relations, ends, record, goal))


def _keeps_origin(
    relations: Relations, ends: Mapping[str, NodeRecord], record: EdgeRecord, goal: EdgeKey
) -> bool:
    """Whether the property that made the edge still owns it at its goal.

    It does while only the target changed, so that the property's next update replaces the moved
    edge; an edge of another owner or type was made by whoever moved it.
    """
    if goal == record.key:
        return True
    if goal.edge_type != record.edge.edge_type:
        return False
    types = [ends[name].node.node_type for name in (record.edge.from_name, record.edge.to_name)]
    owner = relations.owner_end(record, *types)
    if owner is Direction.OUT:
        return goal.from_name == record.edge.from_name
    if owner is Direction.IN:
        return goal.to_name == record.edge.to_name
    return True
