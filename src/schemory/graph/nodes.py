"""Adding, updating and deleting nodes (G§4.2, graph.md §2)."""

from collections.abc import Iterator, Sequence

from schemory.errors import NodeExistsError, NothingToChangeError, Problem
from schemory.graph.checks import (
    Faults,
    Missing,
    call_text,
    check_secrets,
    find_nodes,
    line_problems,
    new_name_problem,
    once_each,
    require_items,
    revision_problem,
    shown,
    twin_warnings,
    type_problem,
)
from schemory.graph.inputs import NodeInput, NodeUpdate
from schemory.graph.results import Failure, NodesDeleted, NodesWritten
from schemory.graph.stale import lines_naming_gone
from schemory.graph.work import Work
from schemory.model.events import (
    AfterAddNodes,
    AfterDeleteNodes,
    AfterUpdateNodes,
    BeforeAddNodes,
    BeforeDeleteNodes,
    BeforeUpdateNodes,
)
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import place
from schemory.model.node import NewNode, Node, NodeChange, NodeRecord
from schemory.model.text import nfc


@dataclass(frozen=True, slots=True)
class _AddPlan:
    nodes: tuple[Node, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


def add_nodes(
    work: Work, inputs: Sequence[NodeInput], *, continue_on_error: bool, allow_secret: bool
) -> NodesWritten:
    """Add every node, or none; with `continue_on_error` all that can be added."""
    require_items(inputs, "$.nodes")
    alone = _check_alone(inputs, allow_secret=allow_secret)

    def plan() -> _AddPlan:
        return _plan_add(work, inputs, alone.copy(), continue_on_error=continue_on_error)

    made = work.planned(plan, lambda made: [BeforeAddNodes(nodes=made.nodes)])
    records = work.tx.insert_nodes([NewNode(node=node) for node in made.nodes])
    work.done(AfterAddNodes(nodes=made.nodes))
    return NodesWritten(nodes=records, failures=made.failures, warnings=made.warnings)


def _check_alone(inputs: Sequence[NodeInput], *, allow_secret: bool) -> Faults:
    """Check what can be said of each node without looking at the store."""
    faults = Faults()
    paths = [f"$.nodes[{index}]" for index in range(len(inputs))]
    for index, (item, path) in enumerate(zip(inputs, paths, strict=True)):
        for text, where in ((item.name, f"{path}.name"), (item.node_type, f"{path}.nodeType")):
            problem = new_name_problem(text, where)
            if problem is not None:
                faults.add(index, problem)
        faults.extend(index, line_problems(item.metadata, f"{path}.metadata"))
        texts = [(f"{path}.name", item.name), *_with_paths(item.metadata, f"{path}.metadata")]
        check_secrets(faults, index, texts, allow_secret=allow_secret)
    for index, problem in once_each(
        [nfc(item.name) for item in inputs], [f"{path}.name" for path in paths]
    ):
        faults.add(index, problem)
    return faults


def _with_paths(lines: Sequence[str], path: str) -> Iterator[tuple[str, str]]:
    return ((f"{path}[{index}]", line) for index, line in enumerate(lines))


def _plan_add(
    work: Work, inputs: Sequence[NodeInput], faults: Faults, *, continue_on_error: bool
) -> _AddPlan:
    taken = find_nodes(work.tx, (item.name for item in inputs))
    for index, item in enumerate(inputs):
        stored = taken.get(nfc(item.name))
        if stored is not None:
            faults.add(index, taken_problem(stored, f"$.nodes[{index}].name"))
        if work.strict_types:
            problem = type_problem(work.catalog, nfc(item.node_type), f"$.nodes[{index}].nodeType")
            faults.extend(index, [problem] if problem else [])
    failures = faults.settle(len(inputs), continue_on_error=continue_on_error)
    nodes = tuple(
        Node(nfc(item.name), nfc(item.node_type), tuple(item.metadata))
        for index, item in enumerate(inputs)
        if index not in faults
    )
    twins = twin_warnings(work.tx, [node.name for node in nodes])
    return _AddPlan(nodes, failures, (*faults.warnings, *twins))


def taken_problem(stored: NodeRecord, path: str) -> Problem:
    """Return the problem of a new name that is taken."""
    node_type = shown(stored.node.node_type)
    return Problem(
        code=NodeExistsError.code,
        path=path,
        message=f"node {shown(stored.name)} already exists (type {node_type})",
        suggestion=call_text("open_nodes", {"names": [stored.name]})
        + " shows it; update_nodes changes it",
    )


@dataclass(frozen=True, slots=True)
class _Update:
    """One planned change: what stands there, what shall stand there."""

    before: NodeRecord
    after: Node

    @property
    def change(self) -> NodeChange:
        lines = set(self.after.metadata)
        return NodeChange(
            id=self.before.id,
            node_type=self.after.node_type,
            metadata=self.after.metadata,
            typed=tuple(value for value in self.before.typed if value.line in lines),
        )


def update_nodes(work: Work, updates: Sequence[NodeUpdate], *, allow_secret: bool) -> NodesWritten:
    """Replace metadata and types of existing nodes, all or none."""
    require_items(updates, "$.nodes")
    warnings: tuple[str, ...] = ()

    def plan() -> tuple[_Update, ...]:
        nonlocal warnings
        made, warnings = _plan_updates(work, updates, allow_secret=allow_secret)
        return made

    made = work.planned(
        plan,
        lambda made: [
            BeforeUpdateNodes(
                names=tuple(update.before.name for update in made),
                nodes=tuple(update.after for update in made),
            )
        ],
    )
    records = _apply(work, made)
    return NodesWritten(nodes=records, warnings=warnings)


def _apply(work: Work, made: Sequence[_Update]) -> tuple[NodeRecord, ...]:
    """Write what differs from what is stored, and tell it; returns all states in order."""
    changed = [update for update in made if update.after != update.before.node]
    written = work.tx.update_nodes([update.change for update in changed]) if changed else ()
    by_id = {record.id: record for record in written}
    if changed:
        work.done(
            AfterUpdateNodes(
                names=tuple(update.before.name for update in changed),
                nodes=tuple(update.after for update in changed),
            )
        )
    return tuple(by_id.get(update.before.id, update.before) for update in made)


def _plan_updates(
    work: Work, updates: Sequence[NodeUpdate], *, allow_secret: bool
) -> tuple[tuple[_Update, ...], tuple[str, ...]]:
    faults = Faults()
    stored = find_nodes(work.tx, (item.name for item in updates))
    missing = Missing(work.tx)
    for index, item in enumerate(updates):
        path = f"$.nodes[{index}]"
        record = stored.get(nfc(item.name))
        if record is None:
            faults.add(index, missing.problem(item.name, f"{path}.name"))
        else:
            faults.extend(index, _update_problems(work, item, record, path))
        faults.extend(index, line_problems(item.metadata or (), f"{path}.metadata"))
        texts = _with_paths(item.metadata or (), f"{path}.metadata")
        check_secrets(faults, index, texts, allow_secret=allow_secret)
    paths = [f"$.nodes[{index}].name" for index in range(len(updates))]
    for index, problem in once_each([nfc(item.name) for item in updates], paths):
        faults.add(index, problem)
    faults.raise_any()
    made = (
        _Update(stored[nfc(item.name)], _updated(stored[nfc(item.name)], item)) for item in updates
    )
    return tuple(made), tuple(faults.warnings)


def _update_problems(
    work: Work, item: NodeUpdate, record: NodeRecord, path: str
) -> Iterator[Problem]:
    conflict = revision_problem(record, item.expected_revision, f"{path}.expectedRevision")
    if conflict is not None:
        yield conflict
    if item.node_type is None and item.metadata is None:
        yield Problem(
            code=NothingToChangeError.code,
            path=path,
            message=f"{place(path)} changes nothing: give nodeType, metadata or both",
        )
    if item.node_type is None or nfc(item.node_type) == record.node.node_type:
        return
    fault = new_name_problem(item.node_type, f"{path}.nodeType")
    if fault is None and work.strict_types:
        fault = type_problem(work.catalog, nfc(item.node_type), f"{path}.nodeType")
    if fault is not None:
        yield fault


def _updated(record: NodeRecord, item: NodeUpdate) -> Node:
    node = record.node
    return Node(
        node.name,
        node.node_type if item.node_type is None else nfc(item.node_type),
        node.metadata if item.metadata is None else tuple(item.metadata),
    )


def delete_nodes(work: Work, names: Sequence[str]) -> NodesDeleted:
    """Delete those of `names` that exist, and every edge that touches them."""
    require_items(names, "$.nodeNames")
    wanted = [nfc(name) for name in names]
    found = work.planned(
        lambda: _plan_delete(work, wanted),
        lambda found: [BeforeDeleteNodes(names=tuple(record.name for record in found))],
    )
    there = {record.name for record in found}
    return delete_found(work, found, not_found=[name for name in wanted if name not in there])


def _plan_delete(work: Work, wanted: Sequence[str]) -> tuple[NodeRecord, ...]:
    paths = [f"$.nodeNames[{index}]" for index in range(len(wanted))]
    faults = Faults()
    for index, problem in once_each(wanted, paths):
        faults.add(index, problem)
    faults.raise_any()
    found = find_nodes(work.tx, wanted)
    if not found:
        missing = Missing(work.tx)
        for index, name in enumerate(wanted):
            faults.add(index, missing.problem(name, paths[index]))
        faults.raise_any()
    return tuple(found[name] for name in wanted if name in found)


def delete_found(
    work: Work, found: Sequence[NodeRecord], *, not_found: Sequence[str] = ()
) -> NodesDeleted:
    """Delete these nodes, tell it, and say which lines elsewhere still name them."""
    names = tuple(record.name for record in found)
    edges_removed = work.tx.delete_nodes([record.id for record in found])
    work.done(AfterDeleteNodes(names=names, deleted_count=len(names)))
    stale = lines_naming_gone(work.tx, names)
    return NodesDeleted(
        deleted=names,
        not_found=tuple(not_found),
        edges_removed=edges_removed,
        warnings=stale.warnings,
        stale_lines=stale.lines,
    )
