"""Other nodes' relationship lines that follow a node to its new name (graph.md §8).

Edges follow by themselves, since they hold ids. A line follows where a relationship property made
it; any other line that names the old name is left alone, and reported.
"""

from collections.abc import Iterator
from itertools import islice

from schemory.graph.relations import SEPARATOR, Relations, other_end
from schemory.graph.work import Work
from schemory.model.edge import EdgeRecord
from schemory.model.frozen import dataclass, replace
from schemory.model.jsonvalue import Json
from schemory.model.metadata import format_line, parse_line
from schemory.model.node import NodeChange, NodeRecord, TypedValue
from schemory.model.schema import Property
from schemory.schemas.plan import property_lines
from schemory.storage.protocols import GraphReader

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class State:
    """A node's lines and typed values while they are being rewritten."""

    record: NodeRecord
    metadata: tuple[str, ...]
    typed: tuple[TypedValue, ...]

    @property
    def is_changed(self) -> bool:
        """Whether any line was rewritten."""
        return self.metadata != self.record.node.metadata

    def as_record(self) -> NodeRecord:
        """Return the node as it is to be."""
        node = replace(self.record.node, metadata=self.metadata)
        return replace(self.record, node=node, typed=self.typed)


def all_edges(reader: GraphReader, node_id: int) -> Iterator[EdgeRecord]:
    """Yield every edge of a node."""
    after_id = 0
    while True:
        edges = reader.edges_of(node_id, after_id=after_id, limit=_CHUNK)
        yield from edges
        if len(edges) < _CHUNK:
            return
        after_id = edges[-1].id


def find_followers(work: Work, node: NodeRecord, new_name: str) -> dict[int, State]:
    """Return the nodes whose relationship lines name `node`, by id, with those lines rewritten."""
    relations = Relations(work.catalog)
    states: dict[int, State] = {}
    edges = all_edges(work.tx, node.id)
    while batch := tuple(islice(edges, _CHUNK)):
        owners = work.tx.find_nodes_by_id(other_end(node.id, edge)[0] for edge in batch)
        for edge in batch:
            owner = owners[other_end(node.id, edge)[0]]
            state = states.get(owner.id) or State(owner, owner.node.metadata, owner.typed)
            for prop in relations.claimants(state.as_record(), edge.key, node.name):
                state = _rewrite(state, prop, node.name, new_name)
            states[owner.id] = state
    return {node_id: state for node_id, state in states.items() if state.is_changed}


def _rewrite(state: State, prop: Property, old: str, new: str) -> State:
    """Return the state with `new` for `old` in the property's lines and typed value."""
    changed = {
        line: format_line(parse_line(line).key, _replaced(parse_line(line).value, old, new))
        for line in property_lines(prop, state.as_record())
    }
    return State(
        state.record,
        tuple(changed.get(line, line) for line in state.metadata),
        tuple(_retyped(value, prop, changed, old, new) for value in state.typed),
    )


def _retyped(
    value: TypedValue, prop: Property, changed: dict[str, str], old: str, new: str
) -> TypedValue:
    if value.property_name != prop.name or value.line not in changed:
        return value
    items: Json = value.value
    if isinstance(items, list | tuple):
        items = list(dict.fromkeys(new if item == old else item for item in items))
    return replace(value, line=changed[value.line], value=new if items == old else items)


def _replaced(value: str, old: str, new: str) -> str:
    """Return a line's value with one name for another, alone or in a list; no name comes twice.

    >>> _replaced("Bree, Shire", "Shire", "The Shire"), _replaced("A, B", "A", "B")
    ('Bree, The Shire', 'B')
    """
    if value == old:
        return new
    sought, goal = f"{SEPARATOR}{old}{SEPARATOR}", f"{SEPARATOR}{new}{SEPARATOR}"
    fenced = f"{SEPARATOR}{value}{SEPARATOR}"
    put = SEPARATOR if goal in fenced else goal
    while sought in fenced:
        fenced = fenced.replace(sought, put, 1)
    return fenced[len(SEPARATOR) : -len(SEPARATOR)]


def change_of(state: State) -> NodeChange:
    """Return what makes the stored node what the state says."""
    return NodeChange(id=state.record.id, metadata=state.metadata, typed=state.typed)
