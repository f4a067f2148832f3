"""Toolset `admin` (`--manage-schemas`): schemas defined and removed while the server runs."""

from collections.abc import Mapping
from typing import Final, cast

from schemory.errors import InvalidParamError, Problem
from schemory.model.jsonvalue import Json
from schemory.tools.bench import Bench, Spec, text_of
from schemory.tools.registry import Call, Effect, Reply
from schemory.tools.schema_tools import find_schema
from schemory.tools.wire import TEXTS

_TEXT: Final[Mapping[str, Json]] = {"type": "string"}


def _require_everything(call: Call) -> None:
    """Refuse a caller who may use some projects only: schemas are shared by all."""
    if call.caller.projects is not None:
        message = "Schemas are shared by all projects; this caller may use some only"
        problem = Problem(code=InvalidParamError.code, path="$", message=message)
        raise InvalidParamError(message, problems=[problem])


def _define_schema(bench: Bench, call: Call) -> Reply:
    _require_everything(call)
    before = set(bench.catalog.types())
    document = cast("Mapping[str, Json]", call.arguments["schema"])
    node_type = bench.graph.define_schema(document).node_type
    verb = "Redefined" if node_type in before else "Defined"
    return bench.replies.success(_about(node_type), f"{verb} {node_type}")


def _remove_schema(bench: Bench, call: Call) -> Reply:
    _require_everything(call)
    node_type = find_schema(bench, text_of(call, "nodeType")).node_type
    bench.graph.remove_schema(node_type)
    return bench.replies.success(_about(node_type), f"Removed the schema of {node_type}")


def _about(node_type: str) -> dict[str, Json]:
    tools = [f"{verb}_{node_type}" for verb in ("add", "update", "delete")]
    return {"nodeType": node_type, "tools": tools}


ADMIN_SPECS: Final = (
    Spec(
        name="define_schema",
        title="Define a schema",
        description=(
            "Define or replace a node type at once: name add_TYPE, description, and properties, "
            "each with type and description; also required, enum, relationship with edgeType and "
            "nodeType. describe_schema shows examples. Stored nodes stay as they are; validate "
            "reports those that no longer fit."
        ),
        effect=Effect.WRITE,
        handle=_define_schema,
        properties={
            "schema": {"type": "object", "properties": {}, "additionalProperties": True},
        },
        required=("schema",),
        toolset="admin",
        is_shared=True,
        data={"nodeType": _TEXT, "tools": TEXTS},
    ),
    Spec(
        name="remove_schema",
        title="Remove a schema",
        description="Remove a node type's schema and its tools. Its nodes stay as they are.",
        effect=Effect.DESTRUCTIVE,
        handle=_remove_schema,
        properties={"nodeType": _TEXT},
        required=("nodeType",),
        toolset="admin",
        is_shared=True,
        data={"nodeType": _TEXT, "tools": TEXTS},
    ),
)
"""The tools that change schemas."""
