"""Renaming a node: its edges and the relationship lines that name it follow (graph.md §8)."""

from schemory.errors import NothingToChangeError, Problem
from schemory.graph.checks import (
    Faults,
    Missing,
    call_text,
    check_secrets,
    find_nodes,
    new_name_problem,
    shown,
    twin_warnings,
)
from schemory.graph.followers import State, change_of, find_followers
from schemory.graph.nodes import taken_problem
from schemory.graph.results import NodeRenamed
from schemory.graph.stale import lines_naming_gone
from schemory.graph.work import Work
from schemory.model.events import AfterUpdateNodes, BeforeUpdateNodes
from schemory.model.frozen import dataclass, replace
from schemory.model.node import Node, NodeChange, NodeRecord
from schemory.model.text import nfc


@dataclass(frozen=True, slots=True)
class _Rename:
    node: NodeRecord
    new_name: str
    followers: tuple[State, ...]
    warnings: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        others = (state.record.name for state in self.followers if state.record.id != self.node.id)
        return (self.node.name, *others)

    @property
    def nodes(self) -> tuple[Node, ...]:
        own = next((s.metadata for s in self.followers if s.record.id == self.node.id), None)
        lines = self.node.node.metadata if own is None else own
        others = (s.as_record().node for s in self.followers if s.record.id != self.node.id)
        return (Node(self.new_name, self.node.node.node_type, lines), *others)


def rename_node(work: Work, name: str, new_name: str, *, allow_secret: bool) -> NodeRenamed:
    """Give a node another name; its edges and the relationship lines that name it follow."""
    plan = work.planned(
        lambda: _plan_rename(work, name, new_name, allow_secret=allow_secret),
        lambda plan: [BeforeUpdateNodes(names=plan.names, nodes=plan.nodes)],
    )
    changes = {state.record.id: change_of(state) for state in plan.followers}
    own = changes.pop(plan.node.id, NodeChange(id=plan.node.id))
    renamed, *_ = work.tx.update_nodes([replace(own, name=plan.new_name), *changes.values()])
    work.done(AfterUpdateNodes(names=plan.names, nodes=plan.nodes))
    stale = lines_naming_gone(work.tx, [plan.node.name])
    return NodeRenamed(
        node=renamed,
        changed_nodes=plan.names[1:],
        warnings=(*plan.warnings, *stale.warnings),
        stale_lines=stale.lines,
    )


def _plan_rename(work: Work, name: str, new_name: str, *, allow_secret: bool) -> _Rename:
    faults = Faults()
    goal = nfc(new_name)
    found = find_nodes(work.tx, [name, new_name])
    node, taken = found.get(nfc(name)), found.get(goal)
    if node is None:
        faults.add(0, Missing(work.tx).problem(name, "$.name"))
    problem = new_name_problem(new_name, "$.newName")
    if problem is None and nfc(name) == goal:
        message = f"the node is called {shown(goal)} already"
        code = NothingToChangeError.code
        problem = Problem(code=code, path="$.newName", message=message)
    elif problem is None and taken is not None:
        hint = call_text("merge_nodes", {"from": nfc(name), "into": goal}) + " makes them one"
        problem = replace(taken_problem(taken, "$.newName"), suggestion=hint)
    faults.extend(1, [problem] if problem else [])
    check_secrets(faults, 1, [("$.newName", new_name)], allow_secret=allow_secret)
    faults.raise_any()
    if node is None:  # told above
        raise AssertionError
    twins = twin_warnings(work.tx, [goal], besides=node.name)
    followers = find_followers(work, node, goal)
    return _Rename(node, goal, tuple(followers.values()), (*faults.warnings, *twins))
