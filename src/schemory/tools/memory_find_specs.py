"""The memory tools that find, list and link, as data (memory.md §5)."""

from __future__ import annotations

from collections.abc import Mapping

from schemory.hints import TYPE_CHECKING
from schemory.model.entry import Relation
from schemory.model.jsonvalue import Json
from schemory.tools.late import late
from schemory.tools.memory_parts import (
    ALLOW_SECRET,
    COUNT,
    FLAG,
    GROUPS,
    HITS,
    LEFT_OUT,
    LINKS,
    MODE,
    NAMES,
    SIMILAR,
    SOURCE_TYPE,
    STATUS,
    TEXT,
    TEXTS,
)
from schemory.tools.memory_spec import MemorySpec
from schemory.tools.registry import Effect

if TYPE_CHECKING:
    from typing import Final

NAME: Final = "memory_search"
_MIN_MAX_CHARS: Final = 1_000  # the first hit always has room
_list_names = late("memory_listing:list_names")
_RELATION: Final[Mapping[str, Json]] = {
    "type": "string",
    "enum": [each.value for each in Relation],
}
_DIRECTIONS: Final = ("in", "out", "both")
_LINK_PROPERTIES: Final[Mapping[str, Json]] = {
    "source_entry_id": TEXT,
    "target_entry_id": TEXT,
    "relation": _RELATION,
}
_LINK_OUTPUT: Final[Mapping[str, Json]] = {
    "link_id": TEXT,
    "source_entry_id": TEXT,
    "target_entry_id": TEXT,
    "relation": TEXT,
    "label": TEXT,
    "created_at": TEXT,
    "changed": FLAG,
    "target_status": TEXT,
}


def _names_spec(kind: str, description: str, *filters: str) -> MemorySpec:
    return MemorySpec(
        name=f"memory_list_{kind}s",
        title=f"List {kind}s",
        description=description,
        effect=Effect.READ,
        handle=lambda bench, call: _list_names(bench, call, kind),
        properties={"status": STATUS, **dict.fromkeys(filters, TEXT), "limit": COUNT},
        output={"status": TEXT, "scope": TEXT, "topic": TEXT, "items": NAMES, "truncated": FLAG},
    )


SEARCH_SPECS: Final = (
    MemorySpec(
        name=NAME,
        title="Search the memory",
        description=(
            "Look here before you start on something and before you save. query is plain words, "
            'identifiers or a "quoted phrase"; blank lists the newest. Hits are notes of earlier '
            "sessions to be checked, not facts. mode cross_project searches every project."
        ),
        effect=Effect.READ,
        handle=late("memory_search:search"),
        properties={
            "query": TEXT,
            "scope": TEXT,
            "topic": TEXT,
            "tags": TEXTS,
            "tags_match": {"type": "string", "enum": ["all", "any"]},
            "source_type": TEXT,
            "status": {**STATUS, "description": "Default active."},
            "created_after": TEXT,
            "created_before": TEXT,
            "mode": MODE,
            "limit": {**COUNT, "description": "Default 10."},
            "include_content": FLAG,
            "max_chars": {"type": "integer", "minimum": _MIN_MAX_CHARS},
            "cursor": {"type": "string", "description": "next_cursor of the page before."},
            "explain": FLAG,
        },
        required=("query",),
        # memory_add_entry shows the words; whoever filters by one has seen it there or in a hit.
        unadvertised={"source_type": SOURCE_TYPE},
        output={
            "results": HITS,
            "truncated": FLAG,
            "next_cursor": TEXT,
            "scopes": NAMES,
            "topics": NAMES,
            "left_out": LEFT_OUT,
            "ignored_words": TEXTS,
            "projects_searched": {"type": "integer", "minimum": 0},
        },
    ),
    MemorySpec(
        name="memory_find_similar",
        title="Find similar entries",
        description="List entries that say nearly the same as an entry, or as a text.",
        effect=Effect.READ,
        handle=late("memory_search:find_similar"),
        properties={"entry_id": TEXT, "text": TEXT, "status": STATUS, "limit": COUNT},
        output={"results": SIMILAR, "truncated": FLAG},
    ),
)
"""The tools that find."""

LISTING_SPECS: Final = (
    _names_spec("scope", "Count the entries of each scope, of active ones by default."),
    _names_spec("topic", "Count the entries of each topic.", "scope"),
    _names_spec("tag", "Count the entries of each tag.", "scope", "topic"),
    MemorySpec(
        name="memory_link_entries",
        title="Link entries",
        description=(
            "Relate two entries: the source supersedes, explains, … the target. supersedes also "
            "retires the target."
        ),
        effect=Effect.WRITE,
        handle=late("memory_listing:link_entries"),
        properties={**_LINK_PROPERTIES, "label": TEXT},
        required=tuple(_LINK_PROPERTIES),
        unadvertised=ALLOW_SECRET,
        output=_LINK_OUTPUT,
    ),
    MemorySpec(
        name="memory_unlink_entries",
        title="Unlink entries",
        description="Remove a link, by link_id or by the three that make it.",
        effect=Effect.WRITE,
        handle=late("memory_listing:unlink_entries"),
        properties={"link_id": TEXT, **_LINK_PROPERTIES},
        output=_LINK_OUTPUT,
    ),
    MemorySpec(
        name="memory_list_entry_links",
        title="List an entry's links",
        description="List the links that come in to an entry and go out of it.",
        effect=Effect.READ,
        handle=late("memory_listing:list_links"),
        properties={
            "entry_id": TEXT,
            "direction": {"type": "string", "enum": list(_DIRECTIONS)},
            "limit": COUNT,
        },
        required=("entry_id",),
        output={"entry_id": TEXT, "direction": TEXT, "links": LINKS, "truncated": FLAG},
    ),
    MemorySpec(
        name="memory_handoff_summary",
        title="Hand off",
        description=(
            "Show what came up lately (decisions, handoffs, workarounds, bug patterns, retired "
            "entries), to start a session or to end one."
        ),
        effect=Effect.READ,
        handle=late("memory_listing:handoff_summary"),
        properties={
            "since": {"type": "string", "description": "7d (default), 24h, or an ISO date."},
            "scope": TEXT,
        },
        output={"since": TEXT, "scope": TEXT, "groups": GROUPS, "truncated": FLAG},
    ),
)
"""The tools that list and link."""
