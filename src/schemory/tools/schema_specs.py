"""`list_schemas`, `describe_schema` and `validate` as data; they are in every profile."""

from __future__ import annotations

from collections.abc import Mapping

from schemory.hints import TYPE_CHECKING
from schemory.model.jsonvalue import Json
from schemory.tools.late import late
from schemory.tools.parts import PAGE_KEYS, PROBLEMS, STALE_LINES, TEXTS, array_of
from schemory.tools.registry import Effect
from schemory.tools.spec import Spec

if TYPE_CHECKING:
    from typing import Final

_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_TYPE: Final[Mapping[str, Json]] = {"type": "string"}
_CURSOR: Final[Mapping[str, Json]] = {
    "type": "string",
    "description": "nextCursor of the answer before.",
}

SCHEMA_SPECS: Final = (
    Spec(
        name="list_schemas",
        title="List schemas",
        description=(
            "List the node types that have a schema, what each requires, and schema files that "
            "could not be used."
        ),
        effect=Effect.READ,
        handle=late("schema_tools:list_schemas"),
        properties={"cursor": _CURSOR},
        is_shared=True,
        data={
            "schemas": array_of(
                {
                    "nodeType": _TEXT,
                    "description": _TEXT,
                    "required": TEXTS,
                    "optional": TEXTS,
                    "relationships": {
                        "type": "object",
                        "properties": {},
                        "additionalProperties": True,
                    },
                },
                ("nodeType", "description", "required", "optional"),
            ),
            "faults": PROBLEMS,
            "warnings": TEXTS,
            "omitted": {"type": "object", "properties": {}, "additionalProperties": True},
            **PAGE_KEYS,
        },
    ),
    Spec(
        name="describe_schema",
        title="Describe a schema",
        description="Return one type's schema: its properties, allowed values and relationships.",
        effect=Effect.READ,
        handle=late("schema_tools:describe_schema"),
        properties={"nodeType": _TYPE},
        required=("nodeType",),
        is_shared=True,
        data={
            "nodeType": _TEXT,
            "schema": {"type": "object", "properties": {}, "additionalProperties": True},
            "origin": _TEXT,
        },
    ),
    Spec(
        name="validate",
        title="Validate the graph",
        description=(
            "Check stored nodes against their schemas: what no longer fits, with a fix for each; "
            "stubs; lines that name something gone."
        ),
        effect=Effect.READ,
        handle=late("schema_tools:validate"),
        properties={"nodeType": _TYPE, "cursor": _CURSOR},
        unadvertised={"limit": {"type": "integer", "minimum": 1}},
        data={
            "problems": PROBLEMS,
            "stubs": TEXTS,
            "staleLines": STALE_LINES,
            "checked": {"type": "integer"},
            **PAGE_KEYS,
        },
    ),
)
"""The tools about schemas."""
