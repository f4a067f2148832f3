"""The verbs that schemas generate: add, update and delete by type (G§5.3, graph.md §4)."""

from collections.abc import Iterable, Mapping

from schemory.errors import (
    NothingToChangeError,
    Problem,
    SchemoryError,
    UnknownTypeError,
    WrongTypeError,
    error_for,
)
from schemory.graph.checks import (
    Faults,
    Missing,
    check_secrets,
    find_nodes,
    revision_problem,
    shown,
    texts_of,
    twin_warnings,
    type_problem,
)
from schemory.graph.nodes import delete_found, taken_problem
from schemory.graph.results import EntityWritten, NodesDeleted
from schemory.graph.targets import EdgePlan, Targets, find_given_targets, plan_edges
from schemory.graph.unique import shared_values
from schemory.graph.work import Work
from schemory.model.edge import EdgeRecord
from schemory.model.events import (
    AfterAddEdges,
    AfterAddNodes,
    AfterDeleteEdges,
    AfterUpdateNodes,
    Before,
    BeforeAddEdges,
    BeforeAddNodes,
    BeforeDeleteEdges,
    BeforeDeleteNodes,
    BeforeUpdateNodes,
)
from schemory.model.frozen import dataclass, replace
from schemory.model.jsonvalue import Json, child_path, place
from schemory.model.node import STUB, NewNode, Node, NodeChange, NodeRecord, TypedValue
from schemory.model.schema import NodeSchema
from schemory.model.text import nfc
from schemory.schemas.plan import AddPlan, UpdatePlan, entity_name, plan_add, plan_update


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be written: an entity in its new state, stubs, and changes of edges."""

    before: NodeRecord | None
    node: Node
    typed: tuple[TypedValue, ...]
    stubs: tuple[Node, ...]
    edges: EdgePlan
    warnings: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        """Whether an existing node's own state changes."""
        before = self.before
        if before is None:
            return False
        return before.node != self.node or _by_property(before.typed) != _by_property(self.typed)

    @property
    def new_nodes(self) -> tuple[Node, ...]:
        """The entity if it is new, then the stubs."""
        return self.stubs if self.before is not None else (self.node, *self.stubs)

    def announcements(self) -> list[Before]:
        """Return the events to tell before it is written."""
        events: list[Before] = []
        if self.new_nodes:
            events.append(BeforeAddNodes(nodes=self.new_nodes))
        if self.before is not None and self.is_changed:
            events.append(BeforeUpdateNodes(names=(self.before.name,), nodes=(self.node,)))
        if self.edges.removed:
            keys = tuple(record.key for record in self.edges.removed)
            events.append(BeforeDeleteEdges(edges=keys))
        if self.edges.new:
            events.append(BeforeAddEdges(edges=tuple(new.edge for new in self.edges.new)))
        return events


def _by_property(typed: Iterable[TypedValue]) -> list[TypedValue]:
    return sorted(typed, key=lambda value: value.property_name)


def get_schema(work: Work, node_type: str) -> NodeSchema:
    """Return the schema of a type.

    Raises:
        UnknownTypeError: None defines it; names the nearest.
    """
    schema = work.catalog.get(nfc(node_type))
    if schema is None:
        problem = type_problem(work.catalog, nfc(node_type), "$.nodeType")
        raise error_for([problem]) if problem else UnknownTypeError(node_type)
    return schema


def add_entity(
    work: Work,
    node_type: str,
    properties: Mapping[str, Json],
    *,
    path: str,
    allow_secret: bool,
) -> EntityWritten:
    """Add a node of a schema's type with the edges that its relationship properties make."""
    schema = get_schema(work, node_type)
    faults = Faults()
    check_secrets(faults, 0, texts_of(properties, path), allow_secret=allow_secret)
    plan = work.planned(
        lambda: _plan_add(work, schema, properties, path, faults.copy()),
        lambda plan: plan.announcements(),
    )
    return _write(work, plan)


def _plan_add(
    work: Work, schema: NodeSchema, properties: Mapping[str, Json], path: str, faults: Faults
) -> _Plan:
    try:
        asked = plan_add(schema, properties, path=path)
    except SchemoryError as error:
        faults.extend(0, error.problems)
        faults.extend(0, _also_wrong(work, schema, properties, path, is_new=True))
        faults.raise_any()
        raise
    stored = find_nodes(work.tx, [asked.node.name]).get(asked.node.name)
    if stored is not None:
        faults.add(0, _exists(schema, stored, child_path(path, "name")))
    return _finish(work, asked, asked.node, None, faults)


def _exists(schema: NodeSchema, stored: NodeRecord, path: str) -> Problem:
    problem = taken_problem(stored, path)
    if stored.node.node_type != schema.node_type:
        return problem
    name, node_type = shown(stored.name), schema.node_type
    hint = f'update_{node_type} {{"{node_type}":{{"name":{name}, …}}}} changes it'
    return replace(problem, suggestion=hint)


def _also_wrong(
    work: Work, schema: NodeSchema, properties: Mapping[str, Json], path: str, *, is_new: bool
) -> list[Problem]:
    """Return what the graph has against arguments that are wrong by themselves already."""
    problems: list[Problem] = []
    name = properties.get("name")
    if is_new and isinstance(name, str):
        stored = find_nodes(work.tx, [name]).get(nfc(name))
        if stored is not None:
            problems.append(_exists(schema, stored, child_path(path, "name")))
    given = find_given_targets(schema, properties, path)
    problems += Targets(work, own_name=nfc(name) if isinstance(name, str) else "").missing(given)
    return problems


def _finish(
    work: Work,
    asked: AddPlan | UpdatePlan,
    node: Node,
    before: NodeRecord | None,
    faults: Faults,
) -> _Plan:
    """Check what the properties ask for against the graph, and plan the edges."""
    targets = Targets(work, own_name=node.name)
    resolved = targets.resolve(asked.relations, node.node_type)
    faults.extend(0, resolved.problems)
    faults.extend(0, shared_values(work.tx, work.catalog, node, asked.unique))
    faults.raise_any()
    new_names = [stub.name for stub in resolved.stubs]
    if before is None:
        new_names.insert(0, node.name)
    twins = twin_warnings(work.tx, new_names)
    return _Plan(
        before=before,
        node=node,
        typed=asked.typed,
        stubs=resolved.stubs,
        edges=plan_edges(work, before, node, asked.typed, asked.relations),
        warnings=(*faults.warnings, *asked.warnings, *resolved.warnings, *twins),
    )


def update_entity(
    work: Work,
    node_type: str,
    properties: Mapping[str, Json],
    *,
    path: str,
    expected_revision: int | None,
    allow_secret: bool,
) -> EntityWritten:
    """Change the given properties of a node of that type, their lines and their edges."""
    schema = get_schema(work, node_type)
    faults = Faults()
    check_secrets(faults, 0, texts_of(properties, path), allow_secret=allow_secret)

    def make_plan() -> _Plan:
        current = get_entity(work, schema, entity_name(schema, properties, path=path), path)
        at = child_path(path, "expectedRevision")
        conflict = revision_problem(current, expected_revision, at)
        found = faults.copy()
        found.extend(0, [conflict] if conflict else [])
        return _plan_update(work, schema, properties, path, current, found)

    return _write(work, work.planned(make_plan, lambda plan: plan.announcements()))


def _plan_update(  # noqa: PLR0917 (a step of the function above, with all it knows)
    work: Work,
    schema: NodeSchema,
    properties: Mapping[str, Json],
    path: str,
    current: NodeRecord,
    faults: Faults,
) -> _Plan:
    try:
        asked = plan_update(schema, properties, current, path=path)
    except SchemoryError as error:
        faults.extend(0, error.problems)
        faults.extend(0, _also_wrong(work, schema, properties, path, is_new=False))
        faults.raise_any()
        raise
    if not asked.has_changes:
        faults.add(0, _nothing(schema, path))
    node = Node(current.name, current.node.node_type, asked.metadata)
    return _finish(work, asked, node, current, faults)


def _nothing(schema: NodeSchema, path: str) -> Problem:
    others = ", ".join([key for key in schema.properties if key != "name"][:10])
    return Problem(
        code=NothingToChangeError.code,
        path=path,
        message=f"{place(path)} names nothing to change beside the name",
        suggestion=f"give a property to change: {others}" if others else None,
    )


def get_entity(work: Work, schema: NodeSchema, name: str, path: str) -> NodeRecord:
    """Return the node of that name and of the schema's type.

    Raises:
        NodeNotFoundError: No node has the name. WrongTypeError: It is of another type.
    """
    at = child_path(path, "name")
    record = find_nodes(work.tx, [name]).get(nfc(name))
    if record is None:
        raise error_for([Missing(work.tx).problem(name, at)])
    real = record.node.node_type
    if real == schema.node_type:
        return record
    is_known = work.catalog.get(real) is not None
    problem = Problem(
        code=WrongTypeError.code,
        path=at,
        message=f"{shown(record.name)} is of type {shown(real)}, not {schema.node_type}",
        nearest=(real,),
        suggestion=f"use the type {real}" if is_known else "use update_nodes or delete_nodes",
    )
    raise error_for([problem])


def _write(work: Work, plan: _Plan) -> EntityWritten:
    nodes = _write_nodes(work, plan)
    removed, edges = plan.edges.removed, plan.edges
    if removed:
        work.tx.delete_edges([record.id for record in removed])
        keys = tuple(record.key for record in removed)
        work.done(AfterDeleteEdges(edges=keys, deleted_count=len(keys)))
    if edges.handed_over:
        work.tx.update_edges(edges.handed_over)
        work.done()
    made: tuple[EdgeRecord, ...] = ()
    if edges.new:
        made = work.tx.insert_edges(edges.new)
        work.done(AfterAddEdges(edges=tuple(record.edge for record in made)))
    return EntityWritten(
        nodes=nodes,
        edges=(*edges.kept, *made),
        removed_edges=removed,
        warnings=plan.warnings,
    )


def _write_nodes(work: Work, plan: _Plan) -> tuple[NodeRecord, ...]:
    own = plan.before
    if own is not None and plan.is_changed:
        change = NodeChange(id=own.id, metadata=plan.node.metadata, typed=plan.typed)
        (changed,) = work.tx.update_nodes([change])
        work.done(AfterUpdateNodes(names=(own.name,), nodes=(plan.node,)))
        own = changed
    new = [NewNode(node=stub, extra=STUB) for stub in plan.stubs]
    if own is None:
        new.insert(0, NewNode(node=plan.node, typed=plan.typed))
    inserted = work.tx.insert_nodes(new) if new else ()
    if inserted:
        work.done(AfterAddNodes(nodes=plan.new_nodes))
    return inserted if own is None else (own, *inserted)


def delete_entity(work: Work, node_type: str, name: str, *, path: str) -> NodesDeleted:
    """Delete the node of that name and type, and every edge that touches it."""
    schema = get_schema(work, node_type)
    record = work.planned(
        lambda: get_entity(work, schema, name, path),
        lambda record: [BeforeDeleteNodes(names=(record.name,))],
    )
    return delete_found(work, [record])
