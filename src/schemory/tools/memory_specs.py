"""The memory tools that keep, read, change and carry entries, as data (memory.md §5)."""

from __future__ import annotations

from collections.abc import Mapping

from schemory.hints import TYPE_CHECKING
from schemory.model.entry import MAX_IMPORTANCE, MIN_IMPORTANCE
from schemory.model.jsonvalue import Json
from schemory.tools.late import late
from schemory.tools.memory_parts import (
    ALLOW_SECRET,
    COUNT,
    COUNTS,
    ENTRY,
    FEATURES,
    FLAG,
    HISTORY,
    MODE,
    SOURCE_TYPE,
    TEXT,
    TEXTS,
    TWINS,
    VECTORS,
    WHOLE,
)
from schemory.tools.memory_spec import Confirming, Handler, MemorySpec
from schemory.tools.parts import NULLABLE
from schemory.tools.registry import Effect

if TYPE_CHECKING:
    from typing import Final

_IMPORTANCE: Final[Mapping[str, Json]] = {
    "type": "integer",
    "minimum": MIN_IMPORTANCE,
    "maximum": MAX_IMPORTANCE,
}
_CONFIDENCE: Final[Mapping[str, Json]] = {"type": "number", "minimum": 0, "maximum": 1}
FIELDS: Final[Mapping[str, Json]] = {
    **dict.fromkeys(("scope", "topic", "title", "content", "summary"), TEXT),
    "source_type": SOURCE_TYPE,
    **dict.fromkeys(("source_ref", "source_path", "source_uri"), TEXT),
    "tags": TEXTS,
    "importance": _IMPORTANCE,
    "confidence": _CONFIDENCE,
}
_CLEARED: Final[Mapping[str, Json]] = {key: {NULLABLE: True} for key in FIELDS}
"""A null clears an optional field; which ones are optional the memory knows."""
_GRAPH: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "space": TEXT,
        "shared": FLAG,
        "nodes": {"type": "integer"},
        "edges": {"type": "integer"},
        "node_types": {"type": "object", "properties": {}, "additionalProperties": True},
    },
    "required": ["space", "nodes", "edges"],
}
_WRITTEN: Final[Mapping[str, Json]] = {
    "entry_id": TEXT,
    "status": TEXT,
    "revision": COUNT,
    "similar": TWINS,
}
_ENTRY_ID: Final[Mapping[str, Json]] = {"entry_id": TEXT}
_CHANGED: Final[Mapping[str, Json]] = {
    "entry_id": TEXT,
    "previous_status": TEXT,
    "status": TEXT,
    "invalidated_at": TEXT,
    "changed": FLAG,
}
FORMATS: Final = ("json", "zip", "jsonl")
CONFLICTS: Final = ("fail", "merge", "replace")
INCLUDED: Final = ("include_archived", "include_invalidated", "include_superseded")
COUNTED: Final = ("inserted", "updated", "unchanged", "skipped", "links", "removed")


def _status_spec(
    verb: str,
    description: str,
    handle: Handler,
    *,
    takes_reason: bool = False,
) -> MemorySpec:
    return MemorySpec(
        name=f"memory_{verb}_entry",
        title=f"{verb.title()} an entry",
        description=description,
        effect=Effect.WRITE,
        handle=handle,
        properties={**_ENTRY_ID, **({"reason": TEXT} if takes_reason else {})},
        required=("entry_id",),
        unadvertised=ALLOW_SECRET if takes_reason else None,
        output=_CHANGED,
    )


def _words(*allowed: str) -> Mapping[str, Json]:
    return {"type": "string", "enum": list(allowed)}


def _counts_schema(*names: str) -> Mapping[str, Json]:
    return {"type": "object", "properties": dict.fromkeys(names, WHOLE), "required": []}


CORE_SPECS: Final = (
    MemorySpec(
        name="memory_status",
        title="Memory status",
        description="Show which project this is, what memory and graph hold, and what is on.",
        effect=Effect.READ,
        handle=late("memory_core:status"),
        properties={},
        output={
            "db_path": TEXT,
            "counts": COUNTS,
            "features": FEATURES,
            "index": TEXT,
            "vectors": VECTORS,
            "graph": _GRAPH,
        },
    ),
    MemorySpec(
        name="memory_add_entry",
        title="Add an entry",
        description=(
            "Keep what later sessions need: a decision with its reason, a root cause, a "
            "workaround, a convention, a handoff. Search first. content is kept word for word; "
            "scope is an area such as backend, topic the matter such as auth. Never secrets. "
            "The same content is stored once (dedupe)."
        ),
        effect=Effect.WRITE,
        handle=late("memory_core:add_entry"),
        properties={**FIELDS, "dedupe": FLAG},
        required=("topic", "content", "source_type"),
        unadvertised=ALLOW_SECRET,
        output={
            "deduped": FLAG,
            "existing_entry_id": TEXT,
            **_WRITTEN,
        },
    ),
    MemorySpec(
        name="memory_update_entry",
        title="Update an entry",
        description=(
            "Correct an entry: only what is given changes, tags as a whole. Its earlier text "
            "stays in its history. If it stopped being true, invalidate it or link a new entry "
            "that supersedes it."
        ),
        effect=Effect.WRITE,
        handle=late("memory_core:update_entry"),
        properties={"entry_id": TEXT, **FIELDS, "expected_revision": COUNT},
        required=("entry_id",),
        unadvertised={**ALLOW_SECRET, **_CLEARED},
        output={"changed": TEXTS, "updated_at": TEXT, **_WRITTEN},
    ),
)
"""The tools that say what there is and keep more of it."""

READ_SPEC: Final = MemorySpec(
    name="memory_read_entry",
    title="Read an entry",
    description="Read a whole entry by its id: content, source, status, whether its file changed.",
    effect=Effect.READ,
    handle=late("memory_reading:read_entry"),
    properties={
        "entry_id": TEXT,
        "mode": MODE,
        "offset": WHOLE,
        "max_chars": COUNT,
        "include_history": {"type": "boolean", "description": "Also its earlier texts."},
    },
    required=("entry_id",),
    output={
        "entry": ENTRY,
        "content_chars": WHOLE,
        "truncated": FLAG,
        "next_offset": WHOLE,
        "superseded_by": TEXTS,
        "history": HISTORY,
        "history_truncated": FLAG,
    },
)
"""The tool that reads."""

LIFECYCLE_SPECS: Final = (
    _status_spec(
        "invalidate",
        "Mark an entry as no longer true; it stays readable. Better than deleting.",
        late("memory_lifecycle:invalidate_entry"),
        takes_reason=True,
    ),
    _status_spec(
        "archive",
        "Put away an entry that is true but no longer needed.",
        late("memory_lifecycle:archive_entry"),
    ),
    _status_spec(
        "restore",
        "Make an invalidated or archived entry active again.",
        late("memory_lifecycle:restore_entry"),
    ),
    MemorySpec(
        name="memory_delete_entry",
        title="Delete an entry for good",
        description=(
            "Remove an entry and every trace of its text. Leave confirm out where your client can "
            "ask its user; else set it, with their consent."
        ),
        effect=Effect.DESTRUCTIVE,
        handle=late("memory_lifecycle:delete_entry"),
        properties={**_ENTRY_ID, "confirm": FLAG},
        required=("entry_id",),
        output={"entry_id": TEXT, "links_removed": WHOLE, "restored": TEXTS},
        confirming=Confirming(
            argument="confirm",
            title="Yes, delete it",
            question=late("memory_lifecycle:delete_question"),
        ),
    ),
    MemorySpec(
        name="memory_rebuild_index",
        title="Rebuild the search index",
        description="Build the project's search index anew, when a warning asks for it.",
        effect=Effect.WRITE,
        handle=late("memory_lifecycle:rebuild_index"),
        properties={},
        output={"indexed": WHOLE, "vectors": WHOLE},
    ),
)
"""The tools that change what an entry stands for."""

TRANSFER_SPECS: Final = (
    MemorySpec(
        name="memory_export_project",
        title="Export a project's memory",
        description=(
            "Write a project's entries, tags and links to a file in the project or an allowed "
            "root. Active entries always, others if asked for. jsonl diffs well in git."
        ),
        effect=Effect.WRITE,
        handle=late("memory_transfer:export_project"),
        properties={
            "save_path": TEXT,
            "format": _words(*FORMATS),
            **dict.fromkeys((*INCLUDED, "overwrite"), FLAG),
        },
        required=("save_path",),
        is_long=True,
        output={
            **dict.fromkeys(("save_path", "format", "sha256"), TEXT),
            **dict.fromkeys(("entries", "tags", "links", "size_bytes"), WHOLE),
            "left_out": _counts_schema("superseded", "invalidated", "archived"),
        },
    ),
    MemorySpec(
        name="memory_import_project",
        title="Import a project's memory",
        description=(
            "Read an export into a project, all of it or nothing. on_conflict: fail (default), "
            "merge, or replace, which makes a backup first and needs confirm_replace where your "
            "client cannot ask its user. dry_run only counts."
        ),
        effect=Effect.DESTRUCTIVE,
        handle=late("memory_transfer:import_project"),
        properties={
            "import_path": TEXT,
            "on_conflict": _words(*CONFLICTS),
            "confirm_replace": FLAG,
            "dry_run": FLAG,
        },
        required=("import_path",),
        unadvertised=ALLOW_SECRET,
        is_long=True,
        output={
            **dict.fromkeys(("import_path", "origin", "backup_path"), TEXT),
            **dict.fromkeys(("transaction", "renamed"), WHOLE),
            "counts": _counts_schema(*COUNTED),
            "dry_run": FLAG,
        },
        confirming=Confirming(
            argument="confirm_replace",
            title="Yes, replace it",
            question=late("memory_transfer:replace_question"),
        ),
    ),
)
"""The tools that move a project's memory."""
