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
from schemory.memory.vector_backend import VectorHealth
from schemory.model.entry import Entry, Link
from schemory.model.jsonvalue import Json, plain_number
from schemory.storage.memory_protocols import EarlierText, NameCount
from schemory.storage.vector_protocols import VectorCount

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
        **present({"match": similar.match}),
        "verification_hint": hint,
    }


def vectors_wire(health: VectorHealth, count: VectorCount | None) -> dict[str, Json]:
    """Return how search by meaning stands."""
    counts: dict[str, Json] = {}
    if count is not None:
        counts = {"embedded": count.embedded, "total": count.total}
        counts |= {"of_other_models": count.of_other_models} if count.of_other_models else {}
    facts: dict[str, Json] = {"model": health.model, "detail": health.detail}
    return {"backend": health.backend, "state": health.state, **present(facts), **counts}


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
        **present(
            {
                "together": _rounded(parts.together),
                "by_words": _rounded(parts.by_words),
                "similarity": _rounded(parts.similarity),
                "weight_of_similarity": parts.weight,
            }
        ),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _SCORE_DIGITS)


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
