"""Tags of one project inside the open transaction; an entry's are found and made by name."""

from collections.abc import Iterable, Mapping, Sequence

from schemory.model.entry import Tag
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.ledger import LedgerEntry
from schemory.storage.sqlite.space import Space

_FIND = "SELECT id FROM memory_tags WHERE project = ? AND name = ?"
_INSERT = """
  INSERT INTO memory_tags (project, name, description, created_at, since_seq)
  VALUES (?, ?, ?, ?, ?)
"""


class TagWriter:
    """Writes tags, and which entry has which."""

    def __init__(self, space: Space, entry: LedgerEntry) -> None:
        self._space = space
        self._entry = entry
        self._known: dict[str, int] = {}

    def attach(self, entries: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Give entries, by row id, their tags."""
        sql = """
            INSERT INTO memory_entry_tags (project, entry_row, tag_id) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        rows = ((row_id, self._id(name)) for row_id, names in entries for name in names)
        self._space.write(sql, rows)

    def detach(self, row_ids: Iterable[int]) -> None:
        """Take all tags from entries; the tags themselves stay."""
        sql = "DELETE FROM memory_entry_tags WHERE project = ? AND entry_row = ?"
        self._space.write(sql, ((row_id,) for row_id in row_ids))

    def put(self, tags: Iterable[Tag]) -> None:
        """Write tags' own fields; what is there keeps its creation time, None its description."""
        for tag in tags:
            found = self._space.ints(_FIND, tag.name)
            if not found:
                created = tag.created_at or self._entry.now
                self._insert(tag.name, tag.description, created)
            elif tag.description is not None:
                self._describe(found[0], tag.description)

    def forget_descriptions(self, names: Iterable[str]) -> None:
        """Take the descriptions from tags; what has none or is not there is passed over."""
        for name in names:
            for tag_id in self._space.ints(_FIND, name):
                self._describe(tag_id, None)

    def _describe(self, tag_id: int, description: str | None) -> None:
        sql = """
            SELECT id, name, description, created_at, since_seq FROM memory_tags
            WHERE id = ?2 AND project = ?1
        """
        rows = self._space.rows(sql, tag_id)
        if rows[0][2] == description:
            return
        self._entry.keep(Kind.TAG, rows)
        sql = """
            UPDATE memory_tags SET description = ?3, since_seq = ?4
            WHERE id = ?2 AND project = ?1
        """
        self._space.write(sql, [(tag_id, description, self._entry.seq)])

    def _id(self, name: str) -> int:
        if name not in self._known:
            found = self._space.ints(_FIND, name)
            self._known[name] = found[0] if found else self._insert(name, None, self._entry.now)
        return self._known[name]

    def _insert(self, name: str, description: str | None, created_at: str) -> int:
        self._space.write(_INSERT, [(name, description, created_at, self._entry.seq)])
        return self._space.db.last_insert_rowid()

    def restore(self, tags: Mapping[int, Tag]) -> None:
        """Insert tags again under ids they had before; a name that is taken is passed over."""
        free = {i: tag for i, tag in tags.items() if not self._space.ints(_FIND, tag.name)}
        self._entry.keep_absence(Kind.TAG, free)
        sql = """
            INSERT INTO memory_tags (project, id, name, description, created_at, since_seq)
            VALUES (?, ?, ?, ?, ?, ?)
        """
        seq = self._entry.seq
        rows = ((i, tag.name, tag.description, tag.created_at, seq) for i, tag in free.items())
        self._space.write(sql, rows)

    def set_descriptions(self, tags: Mapping[int, Tag]) -> None:
        """Put present tags back into an earlier state."""
        for tag_id, tag in tags.items():
            self._describe(tag_id, tag.description)

    def delete_unused(self, ids: Iterable[int]) -> None:
        """Delete those of the tags that no entry has.

        A bare name leaves no past: entries' own has it, and goes with them.
        """
        sql = f"""
            SELECT id, name, description, created_at, since_seq FROM memory_tags AS t
            WHERE id = ?2 AND project = ?1 AND {_UNUSED}
        """  # noqa: S608 (a condition of ours)
        rows = [row for tag_id in ids for row in self._space.rows(sql, tag_id)]
        self._entry.keep(Kind.TAG, (row for row in rows if row[2] is not None))
        self._delete(row[0] for row in rows)

    def drop_unused(self) -> None:
        """Delete every tag that no entry has and nobody described, with all its past.

        After entries were deleted: a tag may have been a word of theirs alone.
        """
        sql = f"""
            SELECT id FROM memory_tags AS t INDEXED BY memory_tags_by_project
            WHERE project = ?1 AND description IS NULL AND {_UNUSED}
        """  # noqa: S608 (a condition of ours)
        ids = self._space.ints(sql)
        past = "DELETE FROM change WHERE project = ? AND kind = 'tag' AND item_id = ?"
        self._space.write(past, ((tag_id,) for tag_id in ids))
        self._delete(ids)

    def _delete(self, ids: Iterable[int]) -> None:
        self._known.clear()
        sql = "DELETE FROM memory_tags WHERE id = ?2 AND project = ?1"
        self._space.write(sql, ((tag_id,) for tag_id in ids))


_UNUSED = """
  NOT EXISTS (
    SELECT 1 FROM memory_entry_tags AS u INDEXED BY memory_entry_tags_by_tag
    WHERE u.project = ?1 AND u.tag_id = t.id)
"""
