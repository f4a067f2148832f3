"""What entries and links were, from the ledger's images."""

import json

from schemory.model.entry import Entry, Link, Relation, SourceType, Status
from schemory.storage.memory_protocols import EarlierText
from schemory.storage.sqlite.images import Image
from schemory.storage.sqlite.memory_images import ENTRY_CONTENT
from schemory.storage.sqlite.space import Space


def earlier_texts(
    space: Space, project_id: str, row_id: int, limit: int
) -> tuple[EarlierText, ...]:
    """Return an entry's states before its changes, newest first."""
    sql = """
        SELECT c.image, l.recorded_at
        FROM change AS c CROSS JOIN ledger AS l
        WHERE c.project = ?1 AND c.kind = 'entry' AND c.item_id = ?2 AND c.image IS NOT NULL
          AND l.project = ?1 AND l.seq = c.seq
        ORDER BY c.seq DESC LIMIT ?3
    """
    found: list[EarlierText] = []
    for image_text, recorded_at in space.rows(sql, row_id, limit):
        entry = entry_of_image(json.loads(image_text), project_id)
        found.append(EarlierText(revision=entry.revision, changed_at=recorded_at, entry=entry))
    return tuple(found)


def entry_of_image(image: Image, project_id: str) -> Entry:
    """Return an entry's past state."""
    facts = {key: image[key] for key in ENTRY_CONTENT if key in image}
    facts |= {
        "source_type": SourceType(image["source_type"]),
        "status": Status(image["status"]),
        "tags": tuple(image["tags"]),
    }
    return Entry(
        project_id=project_id,
        updated_at=image["updated_at"],
        revision=image["revision"],
        **facts,
    )


def link_of_image(image: Image) -> Link:
    """Return a link's past state."""
    return Link(
        id=image["id"],
        source_entry_id=image["source"],
        target_entry_id=image["target"],
        relation=Relation(image["relation"]),
        created_at=image["created_at"],
        label=image["label"],
        metadata=image["metadata"],
    )
