"""Images of entries, tags and links for the ledger (see `images`).

An entry's image has its tags by name, a link's the text ids of its ends: `memory_purge` finds
them where an entry goes for good.
"""

import json
from typing import Final

from schemory.model.jsonvalue import compact
from schemory.storage.sqlite.memory_columns import ENTRY_COLUMNS, LINK_COLUMNS
from schemory.storage.sqlite.rows import Row

_ENTRY_KEYS: Final = (
    "row_id", "id", "scope", "topic", "source_type", "status", "confidence", "importance",
    "created_at", "updated_at", "created_by", "revision", "since", "invalidated_at",
    "invalidation_reason", "content_sha256", "source_ref", "source_path", "source_uri",
    "source_sha256", "source_bytes", "source_blob", "title", "summary", "metadata", "content",
    "tags",
)  # fmt: skip
ENTRY_CONTENT: Final = tuple(
    key for key in _ENTRY_KEYS if key not in {"row_id", "updated_at", "revision", "since"}
)
TAG_CONTENT: Final = ("name", "description", "created_at")
LINK_CONTENT: Final = ("id", "source", "target", "relation", "label", "created_at", "metadata")

CURRENT_ENTRY: Final = f"""
  SELECT {ENTRY_COLUMNS} FROM memory_entries AS e WHERE e.row_id = ?2 AND e.project = ?1
"""  # noqa: S608 (column names of ours)
CURRENT_TAG: Final = """
  SELECT id, name, description, created_at, since_seq FROM memory_tags
  WHERE id = ?2 AND project = ?1
"""
CURRENT_LINK: Final = f"""
  SELECT {LINK_COLUMNS} FROM memory_links AS l WHERE l.number = ?2 AND l.project = ?1
"""  # noqa: S608 (column names of ours)
ENTRIES_THERE: Final = """
  SELECT e.row_id, e.revision FROM carray(?2) AS wanted CROSS JOIN memory_entries AS e
  WHERE e.row_id = wanted.value AND e.project = ?1
"""
TAGS_THERE: Final = """
  SELECT t.id, 0 FROM carray(?2) AS wanted CROSS JOIN memory_tags AS t
  WHERE t.id = wanted.value AND t.project = ?1
"""
LINKS_THERE: Final = """
  SELECT l.number, 0 FROM carray(?2) AS wanted CROSS JOIN memory_links AS l
  WHERE l.number = wanted.value AND l.project = ?1
"""


def entry_image(row: Row) -> str:
    """Return the image of a row of ENTRY_COLUMNS; what is empty is left out."""
    image = {k: v for k, v in zip(_ENTRY_KEYS[1:], row[1:], strict=True) if v is not None}
    if "metadata" in image:
        image["metadata"] = json.loads(image["metadata"])
    image["tags"] = json.loads(image["tags"])
    return compact(image)


def tag_image(row: Row) -> str:
    """Return the image of a row (id, name, description, created_at, since)."""
    _, name, description, created_at, since = row
    facts = {"name": name, "description": description, "created_at": created_at, "since": since}
    return compact(facts)


def link_image(row: Row) -> str:
    """Return the image of a row of LINK_COLUMNS."""
    _, link_id, source, target, relation, label, created_at, metadata, since = row
    return compact(
        {
            "id": link_id,
            "source": source,
            "target": target,
            "relation": relation,
            "label": label,
            "created_at": created_at,
            "metadata": None if metadata is None else json.loads(metadata),
            "since": since,
        }
    )
