"""Toolset `admin` as data."""

from __future__ import annotations

from collections.abc import Mapping

from schemory.hints import TYPE_CHECKING
from schemory.model.jsonvalue import Json
from schemory.tools.late import late
from schemory.tools.parts import TEXTS
from schemory.tools.registry import Effect
from schemory.tools.spec import Spec

if TYPE_CHECKING:
    from typing import Final

_TEXT: Final[Mapping[str, Json]] = {"type": "string"}

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
        handle=late("admin:define_schema"),
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
        handle=late("admin:remove_schema"),
        properties={"nodeType": _TEXT},
        required=("nodeType",),
        toolset="admin",
        is_shared=True,
        data={"nodeType": _TEXT, "tools": TEXTS},
    ),
)
"""The tools that change schemas."""
