"""Values that no two nodes of a type may share (graph.md §3)."""

from collections.abc import Iterator, Sequence

from schemory.errors import InvalidParamError, Problem
from schemory.graph.checks import shown
from schemory.model.jsonvalue import place
from schemory.model.metadata import parse_line
from schemory.model.node import Node, NodeRecord
from schemory.model.schema import Property
from schemory.model.text import fold
from schemory.schemas.catalog import SchemaCatalog
from schemory.schemas.plan import UniqueValue, property_lines
from schemory.storage.protocols import GraphReader, Position, SearchQuery

_CHUNK = 100


def shared_values(
    reader: GraphReader, catalog: SchemaCatalog, node: Node, unique: Sequence[UniqueValue]
) -> Iterator[Problem]:
    """Yield a problem for each value of `node` that another node of its type has already."""
    schema = catalog.get(node.node_type)
    for value in unique:
        prop = schema.properties.get(value.property_name) if schema is not None else None
        holder = find_holder(reader, prop, node, value.value) if prop is not None else None
        if holder is not None:
            yield Problem(
                code=InvalidParamError.code,
                path=value.path,
                message=(
                    f"{place(value.path)} must be unique among {node.node_type} nodes, "
                    f"but {shown(holder.name)} has the same value"
                ),
                nearest=(holder.name,),
                suggestion="give another value, or change the other node first",
            )


def find_holder(reader: GraphReader, prop: Property, node: Node, value: str) -> NodeRecord | None:
    """Return another node of the type with exactly that value of the property, if any.

    The search index finds lines whose value starts so, in any spelling of the key; each is then
    compared exactly.
    """
    query = SearchQuery(terms=(fold(f": {value}"),), node_types=(node.node_type,))
    after: Position | None = None
    while True:
        page = reader.search(query, after=after, limit=_CHUNK)
        for hit in page.hits:
            is_other = hit.record.name != node.name
            if is_other and _has_value(hit.record, prop, value):
                return hit.record
        if page.more is None:
            return None
        after = page.more


def _has_value(record: NodeRecord, prop: Property, value: str) -> bool:
    return any(parse_line(line).value == value for line in property_lines(prop, record))
