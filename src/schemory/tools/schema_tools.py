"""Handlers of `list_schemas`, `describe_schema` and `validate`; in every profile."""

from collections.abc import Callable, Sequence
from typing import cast

from schemory.errors import Problem, UnknownTypeError
from schemory.graph.results import ValidationPage
from schemory.model.jsonvalue import Json
from schemory.model.likeness import nearest
from schemory.model.schema import NodeSchema
from schemory.model.text import counted
from schemory.schemas.report import FileFault
from schemory.tools.bench import Bench, text_of, whole_of
from schemory.tools.definition import definition
from schemory.tools.fitting import ENVELOPE_BYTES, fitted
from schemory.tools.graph import stale_notes
from schemory.tools.registry import Call, Reply
from schemory.tools.replies import problem_wire, wire_bytes
from schemory.tools.wire import item_bytes

_CURSOR_BYTES = 300
_FAULT_SHARE = 4
_DEFAULT_FINDINGS = 100


def find_schema(bench: Bench, node_type: str) -> NodeSchema:
    """Return the schema of `node_type`.

    Raises:
        UnknownTypeError: There is none; the nearest types are named.
    """
    schema = bench.catalog.get(node_type)
    if schema is not None:
        return schema
    near = nearest(node_type, bench.catalog.types())
    message = "no schema defines that nodeType"
    hint = f'describe_schema {{"nodeType":"{near[0]}"}}' if near else "list_schemas {}"
    problem = Problem(
        code="UNKNOWN_TYPE", path="$.nodeType", message=message, nearest=near, suggestion=hint
    )
    raise UnknownTypeError(message, problems=[problem])


def list_schemas(bench: Bench, call: Call) -> Reply:
    """List the types that have a schema, as many as fit, and what is wrong with schema files."""
    after = bench.position(call, "list_schemas")
    last = str(after[0]) if after else ""
    schemas = [s for s in bench.catalog.schemas() if s.node_type > last]
    data: dict[str, Json] = {} if after else _faults(bench)
    room = bench.budget - ENVELOPE_BYTES - _CURSOR_BYTES - wire_bytes(data)
    shown: list[Json] = []
    for schema in sorted(schemas, key=lambda s: s.node_type):
        summary = _summary(schema)
        room -= item_bytes(summary)
        if bench.budget > 0 and room < 0 and shown:
            data |= {
                "truncated": True,
                "nextCursor": bench.cursor(call, "list_schemas", (last,)),
            }
            break
        shown.append(summary)
        last = schema.node_type
    action = f"Listed {counted(len(shown), 'schema')}"
    return bench.replies.success({"schemas": shown, **data}, action)


def _summary(schema: NodeSchema) -> dict[str, Json]:
    properties = schema.properties.values()
    edges = {p.name: p.relationship.edge_type for p in properties if p.relationship is not None}
    summary: dict[str, Json] = {
        "nodeType": schema.node_type,
        "description": schema.description,
        "required": [p.name for p in properties if p.is_required],
        "optional": [p.name for p in properties if not p.is_required],
    }
    return {**summary, "relationships": edges} if edges else summary


def _faults(bench: Bench) -> dict[str, Json]:
    """Return what is wrong with schema files, within a share of the budget."""
    found: dict[str, Sequence[Json]] = {
        "faults": [_fault(fault) for fault in bench.catalog.faults()],
        "warnings": [str(warning) for warning in bench.catalog.warnings()],
    }
    data = {key: value for key, value in found.items() if value}
    return fitted(data, bench.budget // _FAULT_SHARE) if bench.budget > 0 else {**data}


def _fault(fault: FileFault) -> dict[str, Json]:
    return {"file": fault.file, **problem_wire(fault.problem)}


def describe_schema(bench: Bench, call: Call) -> Reply:
    """Show one type's schema as the document that defines it."""
    schema = find_schema(bench, text_of(call, "nodeType"))
    data: dict[str, Json] = {"nodeType": schema.node_type, "schema": definition(schema)}
    if schema.origin:
        data["origin"] = schema.origin
    return bench.replies.success(data, f"Described {schema.node_type}")


def validate(bench: Bench, call: Call) -> Reply:
    """Tell what stored nodes no longer fit, as many findings as fit the budget."""
    node_type = cast("str | None", call.arguments.get("nodeType"))
    after = bench.position(call, "validate")
    graph = bench.graph_for(call)
    return shrinking(
        bench,
        whole_of(call, "limit") or _DEFAULT_FINDINGS,
        lambda limit: _validation(bench, call, graph.validate(node_type, limit=limit, after=after)),
    )


def _validation(bench: Bench, call: Call, page: ValidationPage) -> Reply:
    problems: list[Json] = [
        {
            "node": fault.node_name,
            "nodeType": fault.node_type,
            **problem_wire(problem, bench.rephrase),
        }
        for fault in page.faults
        for problem in fault.problems
    ]
    data: dict[str, Json] = {
        "problems": problems,
        "stubs": list(page.stubs),
        "staleLines": [],
        "checked": page.checked,
        **stale_notes(page.stale_lines),
    }
    if page.more is not None:
        data |= {"truncated": True, "nextCursor": bench.cursor(call, "validate", page.more)}
    found = len(problems) + len(page.stubs) + len(page.stale_lines)
    action = f"Checked {counted(page.checked, 'node')}: {counted(found, 'finding')}"
    return bench.replies.success(data, action)


def shrinking(bench: Bench, limit: int, answer: Callable[[int], Reply]) -> Reply:
    """Return the answer with the largest of `limit`, its half, its quarter… that fits the budget.

    With a limit of 1 it goes out whole.
    """
    reply = answer(limit)
    while limit > 1 and 0 < bench.budget < len(reply.text.encode()):
        limit //= 2
        reply = answer(limit)
    return reply
