"""`validate`: what in the stored graph does not hold, page by page (graph.md §2, §4)."""

from collections.abc import Iterator, Sequence

from schemory.errors import (
    InvalidCursorError,
    InvalidParamError,
    Problem,
    UnknownTypeError,
    error_for,
)
from schemory.graph.checks import call_text, shown, type_problem
from schemory.graph.relations import SEPARATOR, edge_key
from schemory.graph.results import NodeFault, ValidationPage
from schemory.graph.unique import find_holder
from schemory.model.edge import EdgeKey
from schemory.model.jsonvalue import child_path
from schemory.model.metadata import parse_line
from schemory.model.node import NodeRecord
from schemory.model.schema import NodeSchema, Property, PropertyType
from schemory.model.text import nfc
from schemory.schemas.catalog import SchemaCatalog
from schemory.schemas.fit import typed_value
from schemory.schemas.plan import node_faults, property_lines
from schemory.storage.protocols import GraphReader, LineHit, Position

MAX_CHECKED = 2_000
"""How many nodes one page looks at."""

_CHUNK = 100
_LONGEST_RUN = 4
_MARK = "v"


def validate(
    reader: GraphReader,
    catalog: SchemaCatalog,
    *,
    node_type: str | None,
    limit: int,
    after: Position | None,
    strict_types: bool,
) -> ValidationPage:
    """Return findings about nodes in creation order, at most about `limit` of them."""
    if limit < 1:
        raise InvalidParamError("limit must be at least 1")
    types = () if node_type is None else (nfc(node_type),)
    _check_known(reader, catalog, types)
    check = _Check(reader, catalog, strict_types=strict_types)
    last = _last(after)
    while True:
        batch = reader.list_nodes(after_id=last, limit=_CHUNK, node_types=types)
        for index, record in enumerate(batch):
            check.look_at(record)
            is_last = index == len(batch) - 1 and len(batch) < _CHUNK
            if not is_last and (check.found >= limit or check.checked >= MAX_CHECKED):
                return check.page((_MARK, record.id))
        if len(batch) < _CHUNK:
            return check.page(None)
        last = batch[-1].id


def _last(after: Position | None) -> int:
    match after:
        case None:
            return 0
        case ("v", int(last)):
            return last
        case _:
            raise InvalidCursorError("the cursor is not one of this listing")


def _check_known(reader: GraphReader, catalog: SchemaCatalog, types: Sequence[str]) -> None:
    if not types or reader.list_nodes(limit=1, node_types=types):
        return
    problem = type_problem(catalog, types[0], "$.nodeType")
    if problem is not None:
        raise error_for([problem])


class _Check:
    """Collects findings node by node."""

    def __init__(self, reader: GraphReader, catalog: SchemaCatalog, *, strict_types: bool) -> None:
        self._reader = reader
        self._catalog = catalog
        self._strict_types = strict_types
        self._faults: list[NodeFault] = []
        self._stubs: list[str] = []
        self._stale: list[LineHit] = []
        self.checked = 0

    @property
    def found(self) -> int:
        return len(self._faults) + len(self._stubs) + len(self._stale)

    def page(self, more: Position | None) -> ValidationPage:
        return ValidationPage(
            faults=tuple(self._faults),
            stubs=tuple(self._stubs),
            stale_lines=tuple(self._stale),
            checked=self.checked,
            more=more,
        )

    def look_at(self, record: NodeRecord) -> None:
        self.checked += 1
        node = record.node
        schema = self._catalog.get(node.node_type)
        problems = tuple(self._problems(schema, record))
        if record.is_stub:
            # What a stub lacks is the same for all stubs of its type: it says enough to be one.
            self._stubs.append(node.name)
        elif problems:
            self._faults.append(
                NodeFault(node_name=node.name, node_type=node.node_type, problems=problems)
            )
        if schema is not None:
            lines = dict.fromkeys(self._stale_lines(schema, record))
            self._stale += [LineHit(node_name=node.name, line=line) for line in lines]

    def _problems(self, schema: NodeSchema | None, record: NodeRecord) -> Iterator[Problem]:
        if schema is None:
            if self._strict_types:
                yield self._unknown(record)
            return
        yield from node_faults(schema, record)
        for prop in schema.properties.values():
            if prop.is_unique and prop.name != "name":
                yield from self._shared(prop, record)

    def _unknown(self, record: NodeRecord) -> Problem:
        node_type = record.node.node_type
        problem = type_problem(self._catalog, node_type, "$.nodeType")
        near = problem.nearest if problem else ()
        goal = near[0] if near else "…"
        return Problem(
            code=UnknownTypeError.code,
            path="$.nodeType",
            message=f"no schema defines the type {shown(node_type)}",
            nearest=near,
            suggestion=call_text(
                "update_nodes", {"nodes": [{"name": record.name, "nodeType": goal}]}
            ),
        )

    def _shared(self, prop: Property, record: NodeRecord) -> Iterator[Problem]:
        for line in property_lines(prop, record)[:1]:
            holder = find_holder(self._reader, prop, record.node, parse_line(line).value)
            if holder is None:
                continue
            node_type = record.node.node_type
            change = {"name": record.name, prop.name: "…"}
            yield Problem(
                code=InvalidParamError.code,
                path=child_path(f"$.{node_type}", prop.name),
                message=f"{prop.name} must be unique, but {shown(holder.name)} has the same value",
                nearest=(holder.name,),
                suggestion="call " + call_text(f"update_{node_type}", {node_type: change}),
            )

    def _stale_lines(self, schema: NodeSchema, record: NodeRecord) -> Iterator[str]:
        for prop in schema.properties.values():
            if prop.relationship is None:
                continue
            typed = typed_value(prop, record)
            for line in property_lines(prop, record):
                if typed is not None:
                    values = typed if isinstance(typed, list | tuple) else [typed]
                    names = [value for value in values if isinstance(value, str)]
                    is_whole = len(self._edges(record, prop, names)) == len(set(names))
                else:
                    is_whole = self._reads_as_targets(record, prop, parse_line(line).value)
                if not is_whole:
                    yield line

    def _edges(
        self, record: NodeRecord, prop: Property, names: Sequence[str]
    ) -> frozenset[EdgeKey]:
        if prop.relationship is None:
            return frozenset()
        keys = [edge_key(record.name, prop.relationship, nfc(name)) for name in names]
        return frozenset(self._reader.find_edges(keys))

    def _reads_as_targets(self, record: NodeRecord, prop: Property, value: str) -> bool:
        """Whether a value can be read as names that all have their edge.

        A joined line cannot be split back, since names may hold `, `: any way to read it will do.
        """
        if prop.relationship is None or not value:
            return True
        if self._edges(record, prop, [value]):
            return True
        if prop.type is not PropertyType.ARRAY:
            return False
        parts = value.split(SEPARATOR)
        runs = {
            (start, end): SEPARATOR.join(parts[start:end])
            for start in range(len(parts))
            for end in range(start + 1, min(start + _LONGEST_RUN, len(parts)) + 1)
        }
        there = self._edges(record, prop, tuple(dict.fromkeys(runs.values())))
        joined = {
            span
            for span, name in runs.items()
            if edge_key(record.name, prop.relationship, nfc(name)) in there
        }
        reached = {0}
        for end in range(1, len(parts) + 1):
            if any((start, end) in joined for start in reached):
                reached.add(end)
        return len(parts) in reached
