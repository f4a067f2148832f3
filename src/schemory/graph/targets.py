"""The targets of relationship properties, and the edges that are made, kept and removed for them.

An update removes only edges that its property made. An edge read from a file does not say what made
it: such an edge of the property's type counts as made by it unless another property's line names
its target. An edge made by `add_edges` is never removed. Source: graph.md §4.
"""

from collections.abc import Iterator, Mapping, Sequence

from schemory.errors import NodeNotFoundError, Problem, WrongTypeError
from schemory.graph.checks import (
    Missing,
    call_text,
    find_nodes,
    new_name_problem,
    shown,
    type_problem,
)
from schemory.graph.relations import Relations, edge_key, other_end
from schemory.graph.work import Work
from schemory.model.edge import IMPORTED, Edge, EdgeChange, EdgeKey, EdgeRecord, NewEdge
from schemory.model.frozen import dataclass, field, replace
from schemory.model.jsonvalue import Json, child_path, place
from schemory.model.node import UNKNOWN_TYPE, Node, NodeRecord, TypedValue
from schemory.model.schema import NodeSchema, OnMissing
from schemory.model.text import nfc
from schemory.schemas.plan import PlannedRelation

_CHUNK = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What was found out about the targets of one call."""

    stubs: tuple[Node, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Findings:
    stubs: dict[str, Node] = field(default_factory=dict[str, Node])
    problems: list[Problem] = field(default_factory=list[Problem])
    warnings: list[str] = field(default_factory=list[str])


class Targets:
    """Looks up what relationship properties of one call name; the entity itself counts as there."""

    def __init__(self, work: Work, *, own_name: str) -> None:
        self._work = work
        self._own_name = own_name
        self._missing = Missing(work.tx)

    def missing(self, relations: Sequence[PlannedRelation]) -> list[Problem]:
        """Return the problems of targets that do not exist and are not to be made."""
        stored = self._find(relations)
        return [
            self._gone(relation, target)
            for relation in relations
            if relation.relationship.on_missing is OnMissing.ERROR
            for target in relation.targets
            if target not in stored and target != self._own_name
        ]

    def resolve(self, relations: Sequence[PlannedRelation], own_type: str) -> Resolved:
        """Return what is missing, of the wrong type, or to be made."""
        stored = self._find(relations)
        found = _Findings()
        for relation in relations:
            for target in relation.targets:
                there = stored.get(target)
                if there is not None:
                    self._check_type(relation, target, there.node.node_type, found)
                elif target == self._own_name:
                    self._check_type(relation, target, own_type, found)
                elif relation.relationship.on_missing is OnMissing.CREATE:
                    self._add_stub(relation, target, found)
                else:
                    found.problems.append(self._gone(relation, target))
        return Resolved(
            stubs=tuple(found.stubs.values()),
            problems=tuple(found.problems),
            warnings=tuple(found.warnings),
        )

    def _find(self, relations: Sequence[PlannedRelation]) -> Mapping[str, NodeRecord]:
        names = (target for relation in relations for target in relation.targets)
        return find_nodes(self._work.tx, names)

    def _gone(self, relation: PlannedRelation, target: str) -> Problem:
        near = self._missing.nearest(target)
        message = f"{place(relation.path)} names {shown(target)}, which does not exist"
        if near:
            message += f"; did you mean {shown(near[0])}?"
        return Problem(
            code=NodeNotFoundError.code,
            path=relation.path,
            message=message,
            nearest=near,
            suggestion=f"{self._creating_call(relation, target)} creates it; then call again",
        )

    def _creating_call(self, relation: PlannedRelation, target: str) -> str:
        node_type = relation.relationship.node_type or UNKNOWN_TYPE
        call = call_text("add_nodes", {"nodes": [{"name": target, "nodeType": node_type}]})
        schema = self._work.catalog.get(node_type)
        needed = (
            [key for key, prop in schema.properties.items() if prop.is_required] if schema else []
        )
        if needed != ["name"]:
            return call
        return f"{call_text(f'add_{node_type}', {node_type: {'name': target}})} or {call}"

    def _check_type(
        self, relation: PlannedRelation, target: str, node_type: str, found: _Findings
    ) -> None:
        expected = relation.relationship.node_type
        if expected is None or node_type == expected:
            return
        message = (
            f"{place(relation.path)} names {shown(target)}, which is of type {shown(node_type)}, "
            f"not {expected}"
        )
        if not relation.relationship.enforce:
            found.warnings.append(message)
            return
        hint = f"name a node of type {expected}"
        found.problems.append(
            Problem(code=WrongTypeError.code, path=relation.path, message=message, suggestion=hint)
        )

    def _add_stub(self, relation: PlannedRelation, target: str, found: _Findings) -> None:
        node_type = nfc(relation.relationship.node_type or UNKNOWN_TYPE)
        problem = new_name_problem(target, relation.path)
        if problem is None and self._work.strict_types:
            problem = type_problem(self._work.catalog, node_type, relation.path)
        if problem is not None:
            found.problems.append(problem)
        elif target not in found.stubs:
            found.stubs[target] = Node(target, node_type)
            found.warnings.append(
                f"{place(relation.path)} names {shown(target)}, which did not exist: "
                f"an empty {node_type} was made for it"
            )


def find_given_targets(
    schema: NodeSchema, properties: Mapping[str, Json], path: str
) -> list[PlannedRelation]:
    """Return the targets that raw arguments name, as far as they can be read."""
    relations: list[PlannedRelation] = []
    for key, value in properties.items():
        prop = schema.find_property(key)
        if prop is None or prop.relationship is None:
            continue
        items = value if isinstance(value, list | tuple) else [value]
        names = [nfc(item) for item in items if isinstance(item, str) and item.strip()]
        relations.append(
            PlannedRelation(
                property_name=prop.name,
                relationship=prop.relationship,
                targets=tuple(dict.fromkeys(names)),
                path=child_path(path, key),
            )
        )
    return relations


@dataclass(frozen=True, slots=True)
class EdgePlan:
    """What happens to an entity's edges.

    Attributes:
        kept: Edges that already are what a given property asks for.
        handed_over: Edges whose property lets go of them while another property's line still
            names the target; that one owns them from now on.
    """

    new: tuple[NewEdge, ...] = ()
    kept: tuple[EdgeRecord, ...] = ()
    removed: tuple[EdgeRecord, ...] = ()
    handed_over: tuple[EdgeChange, ...] = ()


def plan_edges(
    work: Work,
    before: NodeRecord | None,
    node: Node,
    typed: tuple[TypedValue, ...],
    relations: Sequence[PlannedRelation],
) -> EdgePlan:
    """Plan the edges of a new (`before` is None) or changed entity from its given properties."""
    wanted: dict[EdgeKey, NewEdge] = {}
    for relation in relations:
        for target in relation.targets:
            key = edge_key(node.name, relation.relationship, target)
            made = Edge(*key, relation.relationship.weight)
            wanted.setdefault(key, NewEdge(edge=made, property_name=relation.property_name))
    if before is None:
        return EdgePlan(new=tuple(wanted.values()))
    kept = work.tx.find_edges(wanted)
    after = replace(before, node=node, typed=typed)
    removed: dict[int, EdgeRecord] = {}
    handed: dict[int, EdgeChange] = {}
    claims = Relations(work.catalog)
    for relation in relations:
        for edge in _edges_of(work, before.id, relation):
            if edge.key in wanted or edge.property_name not in (relation.property_name, IMPORTED):
                continue
            _, target = other_end(before.id, edge)
            claimant = next(claims.claimants(after, edge.key, target), None)
            if claimant is None:
                removed[edge.id] = edge
            elif edge.property_name != IMPORTED:
                handed[edge.id] = EdgeChange(id=edge.id, property_name=claimant.name)
    return EdgePlan(
        new=tuple(new for key, new in wanted.items() if key not in kept),
        kept=tuple(kept[key] for key in wanted if key in kept),
        removed=tuple(removed.values()),
        handed_over=tuple(handed.values()),
    )


def _edges_of(work: Work, node_id: int, relation: PlannedRelation) -> Iterator[EdgeRecord]:
    after_id = 0
    while True:
        edges = work.tx.edges_of(
            node_id,
            direction=relation.relationship.direction.value,
            edge_types=[relation.relationship.edge_type],
            after_id=after_id,
            limit=_CHUNK,
        )
        yield from edges
        if len(edges) < _CHUNK:
            return
        after_id = edges[-1].id
