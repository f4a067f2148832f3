"""Entries, hits, links as answers show them: snake_case, absent fields left out (memory.md §4)."""

from collections.abc import Iterable, Mapping
from typing import Final

from schemory.memory.results import (
    EntryRead,
    ScoreParts,
    SearchHit,
    SimilarEntry,
)
from schemory.memory.trust import verification_hint
from schemory.model.entry import Entry, Link
from schemory.model.jsonvalue import Json, plain_number
from schemory.storage.memory_protocols import EarlierText, NameCount
from schemory.tools.memory_bench import COUNT, FLAG, TEXT, TEXTS, WHOLE

_SCORE_DIGITS: Final = 6


def present(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields that have a value: what is absent is left out."""
    return {key: value for key, value in fields.items() if value is not None}


def entry_wire(entry: Entry, *, content: str | None = None) -> dict[str, Json]:
    """Return all of an entry; `content` in place of its whole content."""
    return present(
        {
            "id": entry.id,
            "project_id": entry.project_id,
            "scope": entry.scope,
            "topic": entry.topic,
            "title": entry.title,
            "content": entry.content if content is None else content,
            "summary": entry.summary,
            "tags": list(entry.tags),
            "source_type": entry.source_type.value,
            "source_ref": entry.source_ref,
            "source_path": entry.source_path,
            "source_uri": entry.source_uri,
            "content_sha256": entry.content_sha256,
            "status": entry.status.value,
            "confidence": _number(entry.confidence),
            "importance": entry.importance,
            "created_by": entry.created_by,
            "created_at": entry.created_at,
            "updated_at": entry.updated_at,
            "invalidated_at": entry.invalidated_at,
            "invalidation_reason": entry.invalidation_reason,
            "metadata": entry.metadata,
            "revision": entry.revision,
        }
    )


def read_wire(read: EntryRead, content: str) -> dict[str, Json]:
    """Return an entry as it is read, with what speaks against trusting it."""
    more = present({"source_state": read.source_state})
    return {
        **entry_wire(read.entry, content=content),
        **more,
        "verification_hint": read.verification_hint,
        "warnings": list(read.codes),
    }


def hit_wire(hit: SearchHit, *, with_content: bool = False) -> dict[str, Json]:
    """Return a hit: where it is, what it is, the telling passage, and how far to trust it."""
    entry = hit.entry
    return {
        **_head(entry, hit.snippet),
        **({"content": entry.content} if with_content else {}),
        "score": round(hit.score, _SCORE_DIGITS),
        **present({"match": hit.match}),
        "warnings": list(hit.codes),
        "verification_hint": hit.verification_hint,
        **({"explain": parts_wire(hit.parts)} if hit.parts is not None else {}),
    }


def similar_wire(similar: SimilarEntry) -> dict[str, Json]:
    """Return an entry that says nearly the same."""
    hint = verification_hint(similar.entry.status)
    return {
        **_head(similar.entry, similar.snippet),
        "similarity": round(similar.similarity, _SCORE_DIGITS),
        "verification_hint": hint,
    }


def _head(entry: Entry, snippet: str) -> dict[str, Json]:
    return present(
        {
            "id": entry.id,
            "project_id": entry.project_id,
            "scope": entry.scope,
            "topic": entry.topic,
            "title": entry.title,
            "snippet": snippet,
            "tags": list(entry.tags),
            "source_type": entry.source_type.value,
            "source_ref": entry.source_ref,
            "status": entry.status.value,
            "confidence": _number(entry.confidence),
            "importance": entry.importance,
            "created_at": entry.created_at,
            "updated_at": entry.updated_at,
        }
    )


def parts_wire(parts: ScoreParts) -> dict[str, Json]:
    """Return how a hit's place came about."""
    return {
        "held": parts.held,
        "relevance": round(parts.relevance, _SCORE_DIGITS),
        "from_neighbour": round(parts.from_neighbour, _SCORE_DIGITS),
        "from_parent": round(parts.from_parent, _SCORE_DIGITS),
        "words": list(parts.words),
    }


def earlier_wire(earlier: EarlierText, content: str) -> dict[str, Json]:
    """Return an entry's state before a change."""
    entry = earlier.entry
    return present(
        {
            "revision": earlier.revision,
            "changed_at": earlier.changed_at,
            "scope": entry.scope,
            "topic": entry.topic,
            "title": entry.title,
            "content": content,
            "summary": entry.summary,
            "status": entry.status.value,
        }
    )


def link_wire(link: Link) -> dict[str, Json]:
    """Return a link between two entries."""
    return present(
        {
            "link_id": link.id,
            "source_entry_id": link.source_entry_id,
            "target_entry_id": link.target_entry_id,
            "relation": link.relation.value,
            "label": link.label,
            "created_at": link.created_at,
        }
    )


def names_wire(names: Iterable[NameCount]) -> list[Json]:
    """Return names with their counts."""
    return [{"name": each.name, "count": each.count} for each in names]


def _number(value: float | None) -> float | None:
    return None if value is None else plain_number(value)


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
SIMILAR: Final = list_schema({**_HEAD, "similarity": _SHARE}, *_HEAD_REQUIRED, "similarity")
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
