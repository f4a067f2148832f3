"""An entry's past, from the ledger's images."""

import json

from schemory.storage.memory_protocols import EarlierText
from schemory.storage.sqlite.memory_images import entry_of_image
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
