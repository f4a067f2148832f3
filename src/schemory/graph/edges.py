"""Adding, moving, weighing and deleting edges (G§4.3, graph.md §2)."""

from collections.abc import Iterator, Mapping, Sequence

from schemory.errors import EdgeExistsError, EdgeNotFoundError, Problem
from schemory.graph.checks import (
    Faults,
    Missing,
    call_text,
    check_secrets,
    find_nodes,
    invalid,
    new_name_problem,
    once_each,
    require_items,
    shown,
)
from schemory.graph.inputs import EdgeInput
from schemory.graph.relations import Relations
from schemory.graph.results import EdgesDeleted, EdgesWritten, Failure
from schemory.graph.stale import lines_of_gone_edges
from schemory.graph.work import Work
from schemory.model.edge import Edge, EdgeKey, EdgeRecord, NewEdge
from schemory.model.events import (
    AfterAddEdges,
    AfterDeleteEdges,
    BeforeAddEdges,
    BeforeDeleteEdges,
)
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import place
from schemory.model.node import NodeRecord
from schemory.model.text import nfc, text_fault
from schemory.model.weight import DEFAULT_WEIGHT, weight_fault
from schemory.storage.protocols import GraphReader


@dataclass(frozen=True, slots=True)
class _AddPlan:
    edges: tuple[Edge, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


def add_edges(
    work: Work, inputs: Sequence[EdgeInput], *, continue_on_error: bool, allow_secret: bool
) -> EdgesWritten:
    """Add every edge, or none; with `continue_on_error` all that can be added."""
    require_items(inputs, "$.edges")
    alone = _check_alone(inputs, allow_secret=allow_secret)

    def plan() -> _AddPlan:
        return _plan_add(work, inputs, alone.copy(), continue_on_error=continue_on_error)

    made = work.planned(plan, lambda made: [BeforeAddEdges(edges=made.edges)])
    records = work.tx.insert_edges([NewEdge(edge=edge) for edge in made.edges])
    work.done(AfterAddEdges(edges=made.edges))
    return EdgesWritten(edges=records, failures=made.failures, warnings=made.warnings)


def nfc_key(from_name: str, to_name: str, edge_type: str) -> EdgeKey:
    """Return a triple as it is looked up and stored."""
    return EdgeKey(nfc(from_name), nfc(to_name), nfc(edge_type))


def find_edges(reader: GraphReader, keys: Sequence[EdgeKey]) -> dict[EdgeKey, EdgeRecord]:
    """Return existing edges by NFC triple; a triple no store can hold is just not found."""
    return reader.find_edges([key for key in keys if not any(map(text_fault, key))])


def _check_alone(inputs: Sequence[EdgeInput], *, allow_secret: bool) -> Faults:
    """Check what can be said of each edge without looking at the store."""
    faults = Faults()
    paths = [f"$.edges[{index}]" for index in range(len(inputs))]
    for index, (item, path) in enumerate(zip(inputs, paths, strict=True)):
        problem = new_name_problem(item.edge_type, f"{path}.edgeType")
        faults.extend(index, [problem] if problem else [])
        faults.extend(index, weight_problems(item.weight, f"{path}.weight"))
        texts = [(f"{path}.edgeType", item.edge_type)]
        check_secrets(faults, index, texts, allow_secret=allow_secret)
    keys = [nfc_key(item.from_name, item.to_name, item.edge_type) for item in inputs]
    for index, problem in once_each(keys, paths):
        faults.add(index, problem)
    return faults


def weight_problems(weight: object, path: str) -> Iterator[Problem]:
    """Yield why a given weight is none; no weight is fine."""
    fault = None if weight is None else weight_fault(weight)
    if fault is not None:
        yield invalid(path, f"{place(path)} {fault}")


def _plan_add(
    work: Work, inputs: Sequence[EdgeInput], faults: Faults, *, continue_on_error: bool
) -> _AddPlan:
    ends = find_nodes(work.tx, (name for item in inputs for name in (item.from_name, item.to_name)))
    keys = [nfc_key(item.from_name, item.to_name, item.edge_type) for item in inputs]
    taken = find_edges(work.tx, keys)
    missing = Missing(work.tx)
    for index, item in enumerate(inputs):
        path = f"$.edges[{index}]"
        for name, where in ((item.from_name, f"{path}.from"), (item.to_name, f"{path}.to")):
            faults.extend(index, missing_end(missing, ends, name, where))
        if keys[index] in taken:
            faults.add(index, exists_problem(keys[index], path))
    failures = faults.settle(len(inputs), continue_on_error=continue_on_error)
    edges = tuple(
        Edge(*keys[index], DEFAULT_WEIGHT if item.weight is None else float(item.weight))
        for index, item in enumerate(inputs)
        if index not in faults
    )
    return _AddPlan(edges, failures, tuple(faults.warnings))


def missing_end(
    missing: Missing, ends: Mapping[str, NodeRecord], name: str, path: str
) -> Iterator[Problem]:
    """Yield the problem of an edge's end that does not exist."""
    if nfc(name) not in ends:
        yield missing.problem(name, path)


def exists_problem(key: EdgeKey, path: str) -> Problem:
    """Return the problem of a triple that is taken."""
    return Problem(
        code=EdgeExistsError.code,
        path=path,
        message=f"edge {arrow(key)} already exists",
        suggestion="update_edges changes its weight",
    )


def arrow(key: EdgeKey) -> str:
    """Return a triple as messages show it."""
    return f"{shown(key.from_name)} -[{shown(key.edge_type)[1:-1]}]-> {shown(key.to_name)}"


class MissingEdges:
    """Makes the problems of triples that do not exist, with the nearest that do."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader
        self._missing = Missing(reader)

    def problem(self, key: EdgeKey, path: str, ends: Mapping[str, NodeRecord]) -> Problem:
        """Return what is wrong with a triple: an end that does not exist, else just the edge."""
        gone = [name for name in (key.from_name, key.to_name) if name not in ends]
        near = self._missing.nearest(gone[0]) if gone else self._nearest_edges(key)
        message = f"there is no edge {arrow(key)}"
        if gone:
            message += f", since there is no node {shown(gone[0])}"
        if near:
            message += f"; there is {shown(near[0]) if gone else near[0]}"
        return Problem(
            code=EdgeNotFoundError.code,
            path=path,
            message=message,
            nearest=near,
            suggestion=call_text("open_nodes", {"names": [key.from_name]}) + " shows its edges",
        )

    def _nearest_edges(self, key: EdgeKey) -> tuple[str, ...]:
        can_ask = self._missing.may_ask(arrow(key)) and not text_fault(key.edge_type)
        return tuple(map(arrow, self._reader.suggest_edges(key))) if can_ask else ()


def delete_edges(work: Work, keys: Sequence[EdgeKey]) -> EdgesDeleted:
    """Delete those of the triples that exist."""
    require_items(keys, "$.edges")
    wanted = [nfc_key(*key) for key in keys]
    found = work.planned(
        lambda: _plan_delete(work, wanted),
        lambda found: [BeforeDeleteEdges(edges=tuple(record.key for record in found))],
    )
    there = tuple(record.key for record in found)
    work.tx.delete_edges([record.id for record in found])
    work.done(AfterDeleteEdges(edges=there, deleted_count=len(there)))
    stale = lines_of_gone_edges(work.tx, Relations(work.catalog), there)
    return EdgesDeleted(
        deleted=there,
        not_found=tuple(key for key in wanted if key not in set(there)),
        warnings=stale.warnings,
        stale_lines=stale.lines,
    )


def _plan_delete(work: Work, wanted: Sequence[EdgeKey]) -> tuple[EdgeRecord, ...]:
    paths = [f"$.edges[{index}]" for index in range(len(wanted))]
    faults = Faults()
    for index, problem in once_each(wanted, paths):
        faults.add(index, problem)
    faults.raise_any()
    found = find_edges(work.tx, wanted)
    if not found:
        ends = find_nodes(work.tx, (n for key in wanted for n in (key.from_name, key.to_name)))
        missing = MissingEdges(work.tx)
        for index, key in enumerate(wanted):
            faults.add(index, missing.problem(key, paths[index], ends))
        faults.raise_any()
    return tuple(found[key] for key in wanted if key in found)
