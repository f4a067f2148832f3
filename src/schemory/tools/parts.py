"""Pieces of the schemas that tools show and are checked against; data, and no more than data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemory.hints import TYPE_CHECKING
from schemory.model.jsonvalue import Json

if TYPE_CHECKING:
    from typing import Final

    from schemory.schemas.input_schema import Verb

VERBS: Final[tuple[Verb, ...]] = ("add", "update", "delete")
"""What can be done to a node of a schema's type, a tool for each."""

PROJECT_ARGUMENT: Final = "project_id"
SECRET_OVERRIDE: Final[Mapping[str, Json]] = {"allowSecret": {"type": "boolean"}}
INFO: Final[Mapping[str, Json]] = {"includeInfo": {"type": "boolean"}}

NO_TEXT: Final = "x-no-text"
"""Private keyword: a number must be written as a number, not as text."""

HIDDEN: Final = "x-hidden"
"""Private keyword: accepted, but not among what messages say an object takes."""

NULLABLE: Final = "x-nullable"
"""Private keyword: null is a value of its own here, not the same as leaving the argument out."""

ANYTHING: Final = "any"
"""Private type: any JSON value, as it is."""

_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_INFO: Final[Mapping[str, Json]] = {
    "createdAt": _TEXT,
    "updatedAt": _TEXT,
    "revision": {"type": "integer"},
    "author": _TEXT,
}

TEXTS: Final[Mapping[str, Json]] = {"type": "array", "items": _TEXT}

NODES: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": _TEXT, "nodeType": _TEXT, "metadata": TEXTS, **_INFO},
        "required": ["name", "nodeType"],
    },
}

EDGES: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "from": _TEXT,
            "to": _TEXT,
            "edgeType": _TEXT,
            "weight": {"type": "number", "minimum": 0, "maximum": 1},
            **_INFO,
        },
        "required": ["from", "to", "edgeType", "weight"],
    },
}

STALE_LINES: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"node": _TEXT, "line": _TEXT},
        "required": ["node", "line"],
    },
}

PAGE_KEYS: Final[Mapping[str, Json]] = {
    "truncated": {"type": "boolean", "description": "More follows; go on with nextCursor."},
    "nextCursor": {"type": "string"},
    "totalMatches": {"type": "integer"},
    "totalNeighbors": {"type": "integer"},
}
"""What a bounded answer may carry beside its items."""

PROBLEMS: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": {"type": "object", "properties": {}, "additionalProperties": True},
}
"""Problems inside an answer's data, each as `problem_wire` shows it."""


def output_schema(data: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of an answer whose `data` has these properties; errors satisfy it too."""
    return {
        "type": "object",
        "properties": {
            "data": {"type": "object", "properties": dict(data), "required": []},
            "actionTaken": {"type": "string"},
            "timestamp": {"type": "string"},
            "error": {"type": "string"},
            "error_code": {"type": "string"},
            "context": {"type": "object", "properties": {}, "additionalProperties": True},
            "suggestions": {"type": "array", "items": {"type": "string"}},
        },
        "required": [],
        "additionalProperties": False,
    }


WRITTEN: Final[Mapping[str, Json]] = {
    "warnings": TEXTS,
    "staleLines": STALE_LINES,
    "truncated": {"type": "boolean"},
    "omitted": {"type": "object", "properties": {}, "additionalProperties": True},
}
"""What any write may answer beside its items; `omitted` counts what the budget left out."""


def array_of(properties: Mapping[str, Json], required: Sequence[str]) -> dict[str, Json]:
    """Return the schema of an array of such objects."""
    item: dict[str, Json] = {
        "type": "object",
        "properties": properties,
        "required": list(required),
    }
    return {"type": "array", "items": item}


def per_node(*lists: str) -> dict[str, Json]:
    """Return the schema of an array with one object a node, which holds these lists of texts."""
    properties: dict[str, Json] = {"nodeName": _TEXT, **dict.fromkeys(lists, TEXTS)}
    return array_of(properties, list(properties))


FAILED: Final = array_of(
    {"index": {"type": "integer"}, "problems": PROBLEMS}, ["index", "problems"]
)
"""Items that `continueOnError` left out."""

EDGE_KEYS: Final = array_of(
    {"from": _TEXT, "to": _TEXT, "edgeType": _TEXT}, ["from", "to", "edgeType"]
)
"""Edges by what identifies them."""


def array_argument(properties: Mapping[str, Json], required: tuple[str, ...]) -> dict[str, Json]:
    """Return the schema of an argument that lists such objects, at least one."""
    return {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
    }
