"""Toolset `admin` (`--manage-schemas`): schemas defined and removed while the server runs."""

from collections.abc import Mapping
from typing import cast

from schemory.errors import InvalidParamError
from schemory.model.jsonvalue import Json
from schemory.tools.bench import Bench, text_of
from schemory.tools.registry import Call, Reply
from schemory.tools.schema_tools import find_schema


def _require_everything(call: Call) -> None:
    """Refuse a caller who may use some projects only: schemas are shared by all."""
    if call.caller.projects is not None:
        message = "Schemas are shared by all projects; this caller may use some only"
        raise InvalidParamError.at("$", message)


def define_schema(bench: Bench, call: Call) -> Reply:
    """Define or replace a type."""
    _require_everything(call)
    before = set(bench.catalog.types())
    document = cast("Mapping[str, Json]", call.arguments["schema"])
    node_type = bench.graph.define_schema(document).node_type
    verb = "Redefined" if node_type in before else "Defined"
    return bench.replies.success(_about(node_type), f"{verb} {node_type}")


def remove_schema(bench: Bench, call: Call) -> Reply:
    """Remove a type's schema; its nodes stay."""
    _require_everything(call)
    node_type = find_schema(bench, text_of(call, "nodeType")).node_type
    bench.graph.remove_schema(node_type)
    return bench.replies.success(_about(node_type), f"Removed the schema of {node_type}")


def _about(node_type: str) -> dict[str, Json]:
    tools = [f"{verb}_{node_type}" for verb in ("add", "update", "delete")]
    return {"nodeType": node_type, "tools": tools}
