"""Entries' vectors in their table: which are missing, putting them there, taking them away.

Their numbers are nobody's business here but the shelf's (`memory_shelf`), which compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from schemory.hints import TYPE_CHECKING
from schemory.storage.sqlite.space import Space, id_list
from schemory.storage.vector_protocols import (
    EntryVector,
    TextWithoutVector,
    VectorCount,
    VectorModel,
)

if TYPE_CHECKING:
    from typing import Final

_WITHOUT: Final = """
  SELECT e.row_id, e.since_seq, e.title, e.summary, substr(e.content, 1, ?3)
  FROM memory_entries AS e INDEXED BY memory_entries_by_project
  WHERE e.project = ?1 AND e.row_id < ?4 AND NOT EXISTS (
    SELECT 1 FROM memory_vectors AS v
    WHERE v.project = ?1 AND v.entry_row = e.row_id AND v.model = ?2)
  ORDER BY e.row_id DESC LIMIT ?5
"""
_PUT: Final = """
  INSERT INTO memory_vectors (project, entry_row, entry_id, backend, model, dimensions,
                              vector_blob, version, updated_at)
  SELECT ?1, e.row_id, e.id, ?4, ?5, ?6, ?7, ?8, ?9 FROM memory_entries AS e
  WHERE e.row_id = ?2 AND e.project = ?1 AND e.since_seq = ?3
  ON CONFLICT (project, entry_row, model) DO UPDATE SET
    vector_blob = excluded.vector_blob, version = excluded.version,
    updated_at = excluded.updated_at
"""


def list_without(
    space: Space, model: str, *, below: int | None, limit: int, chars: int
) -> tuple[TextWithoutVector, ...]:
    """Return entries that have no vector of a model, newest first, below a row id if one is given.

    Args:
        space: The project.
        model: Whose vectors are meant.
        below: Where an earlier list ended.
        limit: As many at most.
        chars: Of a content not more is read.
    """
    before = 1 << 62 if below is None else below
    rows = space.rows(_WITHOUT, model, chars, before, limit)
    return tuple(TextWithoutVector(*row) for row in rows)


def count_vectors(space: Space, model: str) -> VectorCount:
    """Return how many entries have a vector of a model, of how many, and other models' vectors."""
    sql = """
        SELECT (SELECT count(*) FROM memory_entries INDEXED BY memory_entries_by_project
                WHERE project = ?1),
               (SELECT count(*) FROM memory_vectors INDEXED BY memory_vectors_by_version
                WHERE project = ?1 AND model = ?2),
               (SELECT count(*) FROM memory_vectors INDEXED BY memory_vectors_by_version
                WHERE project = ?1 AND model <> ?2)
    """
    total, embedded, others = space.row(sql, model) or (0, 0, 0)
    return VectorCount(embedded=embedded, total=total, of_other_models=others)


def put_vectors(
    space: Space, model: VectorModel, vectors: Sequence[EntryVector], *, now: str
) -> int:
    """Store vectors of entries that are still in the state they were made of; returns how many."""
    if not vectors:
        return 0
    sql = "UPDATE projects SET vector_version = vector_version + 1 WHERE number = ?"
    space.db.execute(sql, (space.number,))
    version = vector_version(space)
    facts = (model.backend, model.model, model.dimensions)
    rows = ((row_id, seq, *facts, blob, version, now) for row_id, seq, blob in vectors)
    return space.write(_PUT, rows)


def vector_version(space: Space) -> int:
    """Return a number that grows whenever vectors of the project come."""
    row = space.row("SELECT vector_version FROM projects WHERE number = ?")
    return 0 if row is None else row[0]


def forget_vectors(space: Space, row_ids: Iterable[int]) -> None:
    """Remove every vector of these entries: before they go, or when their text changes."""
    sql = "DELETE FROM memory_vectors WHERE project = ? AND entry_row = ?"
    space.write(sql, ((row_id,) for row_id in row_ids))


def drop_vectors(space: Space, ids: Sequence[str] | None, except_model: str) -> int:
    """Remove vectors, of these entries or of all, but none of one model; returns how many."""
    if ids is None:
        sql = "DELETE FROM memory_vectors WHERE project = ? AND model <> ?"
        return space.write(sql, [(except_model,)])
    sql = """
        DELETE FROM memory_vectors WHERE project = ?1 AND model <> ?2 AND entry_row = (
          SELECT row_id FROM memory_entries WHERE project = ?1 AND id = ?3)
    """
    return space.write(sql, ((except_model, entry_id) for entry_id in ids))


def blobs_of(space: Space, model: str, row_ids: Iterable[int]) -> dict[int, bytes]:
    """Return the vectors that these entries have now."""
    sql = """
        SELECT v.entry_row, v.vector_blob FROM carray(?3) AS wanted
        CROSS JOIN memory_vectors AS v
        WHERE v.project = ?1 AND v.entry_row = wanted.value AND v.model = ?2
    """
    wanted = list(row_ids)
    return dict(space.rows(sql, model, id_list(wanted))) if wanted else {}


def check_vectors(db: apsw.Connection, number: int) -> tuple[str, ...]:
    """Return what is wrong with a project's vectors, () when they are sound."""
    faults: list[str] = []
    orphans = _count(db, number, _ORPHANS)
    if orphans:
        faults.append(f"{orphans} vectors belong to no entry")
    malformed = _count(db, number, _MALFORMED)
    if malformed:
        faults.append(f"{malformed} vectors have another length than they say")
    return tuple(faults)


def mend_vectors(db: apsw.Connection, number: int) -> int:
    """Remove what `check_vectors` tells of; their entries get new ones. Returns how many."""
    before = db.total_changes()
    for condition in (_ORPHANS, _MALFORMED):
        sql = f"DELETE FROM memory_vectors AS v WHERE v.project = ? AND {condition}"  # noqa: S608 (conditions of ours)
        db.execute(sql, (number,))
    return db.total_changes() - before


_ORPHANS: Final = """NOT EXISTS (
  SELECT 1 FROM memory_entries AS e
  WHERE e.project = v.project AND e.row_id = v.entry_row AND e.id = v.entry_id)"""
_MALFORMED: Final = "(length(v.vector_blob) <> 2 * v.dimensions OR v.dimensions < 1)"


def _count(db: apsw.Connection, number: int, condition: str) -> int:
    sql = f"SELECT count(*) FROM memory_vectors AS v WHERE v.project = ? AND {condition}"  # noqa: S608 (conditions of ours)
    return int(db.execute(sql, (number,)).get)
