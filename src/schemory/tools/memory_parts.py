"""Pieces of the schemas that memory tools show; data, and no more than data (memory.md §4, §5)."""

from __future__ import annotations

from collections.abc import Mapping

from schemory.hints import TYPE_CHECKING
from schemory.model.entry import SourceType, Status
from schemory.model.jsonvalue import Json

if TYPE_CHECKING:
    from typing import Final

ANY_STATUS: Final = "any"

TEXT: Final[Mapping[str, Json]] = {"type": "string"}
FLAG: Final[Mapping[str, Json]] = {"type": "boolean"}
WHOLE: Final[Mapping[str, Json]] = {"type": "integer"}
COUNT: Final[Mapping[str, Json]] = {"type": "integer", "minimum": 1}
TEXTS: Final[Mapping[str, Json]] = {"type": "array", "items": TEXT}
ALLOW_SECRET: Final[Mapping[str, Json]] = {"allow_secret": FLAG}
"""Accepted and told by the refusal, but not advertised: it is no habit to have."""

STATUSES: Final = (*(status.value for status in Status), ANY_STATUS)
STATUS: Final[Mapping[str, Json]] = {"type": "string", "enum": list(STATUSES)}
SOURCE_TYPE: Final[Mapping[str, Json]] = {
    "type": "string",
    "enum": [each.value for each in SourceType],
}
MODE: Final[Mapping[str, Json]] = {"type": "string", "enum": ["project", "cross_project"]}
_PROJECT_FACTS: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "resolved_by": TEXT,
        "display_name": TEXT,
        "canonical_path": TEXT,
    },
    "required": ["id", "resolved_by", "display_name"],
}
_FINDINGS: Final[Mapping[str, Json]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "rule": TEXT,
            "field": TEXT,
            "start": {"type": "integer"},
            "end": {"type": "integer"},
        },
        "required": ["rule", "field", "start", "end"],
    },
}


def memory_output_schema(data: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of an answer with these properties of its own; errors satisfy it too."""
    return {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "project_id": TEXT,
            "project": _PROJECT_FACTS,
            "warnings": {"type": "array", "items": TEXT},
            **data,
            "error_code": TEXT,
            "detail": TEXT,
            "hint": TEXT,
            "findings": _FINDINGS,
        },
        "required": ["ok"],
        "additionalProperties": False,
    }


def _object(properties: Mapping[str, Json], *required: str) -> dict[str, Json]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def list_schema(properties: Mapping[str, Json], *required: str) -> dict[str, Json]:
    """Return the output schema of an array of such objects."""
    return {"type": "array", "items": _object(properties, *required)}


_SHARE: Final[Mapping[str, Json]] = {"type": "number", "minimum": 0, "maximum": 1}
_NUMBER: Final[Mapping[str, Json]] = {"type": "number"}
_ANY_OBJECT: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {},
    "additionalProperties": True,
}
_HEAD: Final[Mapping[str, Json]] = {
    **dict.fromkeys(("id", "project_id", "scope", "topic", "title", "snippet"), TEXT),
    "tags": TEXTS,
    **dict.fromkeys(("source_type", "source_ref", "status"), TEXT),
    "confidence": _SHARE,
    "importance": COUNT,
    **dict.fromkeys(("created_at", "updated_at", "verification_hint"), TEXT),
}
_HEAD_REQUIRED: Final = (
    *("id", "project_id", "scope", "topic", "snippet", "tags", "source_type", "status"),
    *("importance", "created_at", "updated_at", "verification_hint"),
)
HITS: Final = list_schema(
    {
        **_HEAD,
        "content": TEXT,
        "score": _NUMBER,
        "match": TEXT,
        "warnings": TEXTS,
        "explain": _ANY_OBJECT,
        "omitted": TEXTS,
    },
    *_HEAD_REQUIRED,
    "score",
    "warnings",
)
SIMILAR: Final = list_schema(
    {**_HEAD, "similarity": _SHARE, "match": TEXT}, *_HEAD_REQUIRED, "similarity"
)
ENTRY: Final[Mapping[str, Json]] = _object(
    {
        **{key: part for key, part in _HEAD.items() if key != "snippet"},
        **dict.fromkeys(("content", "summary", "source_path", "source_uri"), TEXT),
        **dict.fromkeys(("content_sha256", "created_by", "source_state"), TEXT),
        **dict.fromkeys(("invalidated_at", "invalidation_reason"), TEXT),
        "metadata": _ANY_OBJECT,
        "revision": COUNT,
        "warnings": TEXTS,
    },
    *(key for key in _HEAD_REQUIRED if key != "snippet"),
    *("content", "content_sha256", "revision", "warnings"),
)
HISTORY: Final = list_schema(
    {
        "revision": COUNT,
        **dict.fromkeys(("changed_at", "scope", "topic", "title", "content", "summary"), TEXT),
        "status": TEXT,
    },
    *("revision", "changed_at", "scope", "topic", "content", "status"),
)
LINKS: Final = list_schema(
    dict.fromkeys(
        ("link_id", "source_entry_id", "target_entry_id", "relation", "label", "created_at"), TEXT
    ),
    *("link_id", "source_entry_id", "target_entry_id", "relation", "created_at"),
)
LINES: Final = list_schema(
    dict.fromkeys(("entry_id", "text", "scope", "topic", "status", "updated_at"), TEXT),
    *("entry_id", "text", "scope", "topic", "status", "updated_at"),
)
NAMES: Final = list_schema({"name": TEXT, "count": COUNT}, "name", "count")
TWINS: Final = list_schema({"entry_id": TEXT, "similarity": _SHARE}, "entry_id", "similarity")
LEFT_OUT: Final = list_schema(
    {"entry_id": TEXT, "reason": TEXT, "status": TEXT, "of": TEXT}, "entry_id", "reason", "status"
)
GROUPS: Final[Mapping[str, Json]] = _object(
    dict.fromkeys(("decisions", "handoffs", "workarounds", "bug_patterns", "retired"), LINES)
)
COUNTS: Final[Mapping[str, Json]] = _object(
    dict.fromkeys(("entries", "active", "superseded", "invalidated", "archived"), WHOLE)
)
FEATURES: Final[Mapping[str, Json]] = _object(dict.fromkeys(("fts", "vector", "audit_log"), FLAG))
VECTORS: Final[Mapping[str, Json]] = _object(
    {
        **dict.fromkeys(("backend", "state", "model", "detail"), TEXT),
        **dict.fromkeys(("embedded", "total", "of_other_models"), WHOLE),
    },
    "backend",
    "state",
)
"""How search by meaning stands; how many entries have vectors, where a model tells which."""
