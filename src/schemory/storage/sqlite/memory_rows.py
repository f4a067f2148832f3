"""Rows of the memory tables to values and back; the only place that knows their column order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from schemory.hints import TYPE_CHECKING
from schemory.model.entry import AuditRow, Entry, Link, Project, Relation, SourceType, Status, Tag
from schemory.model.jsonvalue import Json, compact
from schemory.model.text import fold
from schemory.storage.memory_protocols import IndexTerms, IndexText
from schemory.storage.sqlite.memory_columns import ENTRY_COLUMNS
from schemory.storage.sqlite.space import Space, id_list, text_list

if TYPE_CHECKING:
    from typing import Any

    from schemory.storage.sqlite.rows import Row


def entry_values(row_id: int, entry: Entry, seq: int) -> Row:
    """Return what INSERT_ENTRY and UPDATE_ENTRY bind behind the project's number."""
    return (
        row_id,
        entry.id,
        entry.scope,
        entry.topic,
        entry.source_type.value,
        entry.status.value,
        entry.confidence,
        entry.importance,
        entry.created_at,
        entry.updated_at,
        entry.created_by,
        entry.revision,
        entry.invalidated_at,
        entry.invalidation_reason,
        entry.content_sha256,
        entry.source_ref,
        entry.source_path,
        entry.source_uri,
        entry.source_sha256,
        entry.source_bytes,
        entry.source_blob,
        entry.title,
        entry.summary,
        metadata_text(entry.metadata),
        entry.content,
        fold(entry.scope),
        fold(entry.topic),
        seq,
    )


def entry_of_row(row: Row, project_id: str) -> Entry:
    """Return the entry of a row of ENTRY_COLUMNS."""
    (
        _,
        entry_id,
        scope,
        topic,
        source_type,
        status,
        confidence,
        importance,
        created_at,
        updated_at,
        created_by,
        revision,
        _,
        invalidated_at,
        invalidation_reason,
        content_sha256,
        source_ref,
        source_path,
        source_uri,
        source_sha256,
        source_bytes,
        source_blob,
        title,
        summary,
        metadata,
        content,
        tags,
    ) = row
    return Entry(
        id=entry_id,
        project_id=project_id,
        scope=scope,
        topic=topic,
        content=content,
        content_sha256=content_sha256,
        source_type=SourceType(source_type),
        created_at=created_at,
        updated_at=updated_at,
        title=title,
        summary=summary,
        source_ref=source_ref,
        source_path=source_path,
        source_uri=source_uri,
        source_sha256=source_sha256,
        source_bytes=source_bytes,
        source_blob=source_blob,
        status=Status(status),
        confidence=confidence,
        importance=importance,
        created_by=created_by,
        invalidated_at=invalidated_at,
        invalidation_reason=invalidation_reason,
        metadata=parsed_metadata(metadata),
        tags=tag_names(tags),
        revision=revision,
    )


def tag_names(text: str) -> tuple[str, ...]:
    """Return the names in a column of TAGS."""
    return () if text == "[]" else tuple(json.loads(text))


def metadata_text(metadata: Mapping[str, Json] | None) -> str | None:
    """Return free fields as a `metadata_json` column."""
    return None if metadata is None else compact(dict(metadata))


def parsed_metadata(text: str | None) -> Mapping[str, Json] | None:
    """Return the free fields of a `metadata_json` column."""
    if text is None:
        return None
    metadata: Mapping[str, Json] = json.loads(text)
    return metadata


def link_of_row(row: Row) -> Link:
    """Return the link of a row of LINK_COLUMNS."""
    _, link_id, source, target, relation, label, created_at, metadata, _ = row
    return Link(
        id=link_id,
        source_entry_id=source,
        target_entry_id=target,
        relation=Relation(relation),
        created_at=created_at,
        label=label,
        metadata=parsed_metadata(metadata),
    )


def tag_of_row(row: Row) -> Tag:
    """Return the tag of (name, description, created_at)."""
    name, description, created_at = row
    return Tag(name=name, description=description, created_at=created_at)


def project_of_row(row: Row) -> Project:
    """Return the project of (id, display_name, canonical_path, git_remote, times, metadata)."""
    project_id, display_name, path, remote, created_at, updated_at, metadata = row
    return Project(
        id=project_id,
        display_name=display_name,
        canonical_path=path,
        git_remote=remote,
        created_at=created_at,
        updated_at=updated_at,
        metadata=parsed_metadata(metadata),
    )


def audit_of_row(row: Row) -> AuditRow:
    """Return the audit row of (id, timestamp, project, operation, entry, actor, params, result)."""
    audit_id, timestamp, project_id, operation, entry_id, actor, params, result = row
    return AuditRow(
        id=audit_id,
        timestamp=timestamp,
        project_id=project_id,
        operation=operation,
        entry_id=entry_id,
        actor=actor,
        params=json.loads(params),
        result=json.loads(result),
    )


def index_text(entry: Entry, terms: IndexTerms) -> IndexText:
    """Return what an entry is indexed by, as the index's view makes it of the stored row."""
    place = " ".join((entry.scope, entry.topic, *sorted(set(entry.tags))))
    return IndexText(
        title=terms.terms(entry.title) if entry.title else "",
        content=terms.terms(entry.content),
        summary=terms.terms(entry.summary) if entry.summary else "",
        place=terms.terms(place),
    )


def indexed_fields(entry: Entry) -> tuple[Any, ...]:
    """Return what of an entry its index rows are made from."""
    return (entry.title, entry.content, entry.summary, entry.scope, entry.topic, entry.tags)


def entry_rows(space: Space, row_ids: Iterable[int]) -> dict[int, Row]:
    """Return rows of ENTRY_COLUMNS by row id, ascending."""
    sql = f"""
        SELECT {ENTRY_COLUMNS} FROM carray(?2) AS wanted CROSS JOIN memory_entries AS e
        WHERE e.row_id = wanted.value AND e.project = ?1
    """  # noqa: S608 (column names of ours)
    wanted = sorted(set(row_ids))
    return {row[0]: row for row in space.rows(sql, id_list(wanted))} if wanted else {}


def entry_rows_by_id(space: Space, ids: Sequence[str]) -> dict[str, Row]:
    """Return rows of ENTRY_COLUMNS by the entries' text ids, which are storable."""
    sql = f"""
        SELECT {ENTRY_COLUMNS} FROM carray(?2) AS wanted
        CROSS JOIN memory_entries AS e INDEXED BY memory_entries_by_id
        WHERE e.id = wanted.value AND e.project = ?1
    """  # noqa: S608 (column names of ours)
    return {row[1]: row for row in space.rows(sql, text_list(ids))} if ids else {}
