"""Writing entries: images first, index rows out, table rows, tags, index rows in.

Index rows of changed or deleted entries are removed while the index's view still shows the old
values. An entry whose indexed fields stay the same leaves the index alone.
"""

from collections.abc import Iterable, Mapping, Sequence

from schemory.model.entry import Entry
from schemory.storage.memory_protocols import IndexTerms, IndexText
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.ledger import LedgerEntry, highest_ids
from schemory.storage.sqlite.memory_columns import INSERT_ENTRY, UPDATE_ENTRY
from schemory.storage.sqlite.memory_index import MemoryIndex
from schemory.storage.sqlite.memory_rows import (
    entry_of_row,
    entry_rows,
    entry_rows_by_id,
    entry_values,
    index_text,
    indexed_fields,
)
from schemory.storage.sqlite.memory_tags import TagWriter
from schemory.storage.sqlite.memory_vectors import forget_vectors
from schemory.storage.sqlite.rows import Row
from schemory.storage.sqlite.space import Space


class EntryWriter:
    """Writes entries of one project inside the open transaction.

    Args:
        project_id: The project's text id.
        tags: Shared by all that write tags.
    """

    def __init__(
        self, space: Space, project_id: str, entry: LedgerEntry, terms: IndexTerms, tags: TagWriter
    ) -> None:
        self._space = space
        self._project_id = project_id
        self._entry = entry
        self._terms = terms
        self._tags = tags
        self.index = MemoryIndex(space, terms)

    def insert(self, entries: Sequence[Entry], texts: Sequence[IndexText] | None) -> None:
        """Insert entries under new row ids, with their tags and index rows."""
        self.index.get_ready()
        first = highest_ids(self._space)[Kind.ENTRY] + 1
        numbered = dict(enumerate(entries, first))
        self._space.write(INSERT_ENTRY, self._values(numbered))
        self._tags.attach((row_id, entry.tags) for row_id, entry in numbered.items())
        ready = map(self._text, entries) if texts is None else texts
        self.index.add(zip(numbered, ready, strict=True))

    def restore(self, entries: Mapping[int, Entry]) -> None:
        """Insert entries again under row ids they had before."""
        self.index.get_ready()
        self._entry.keep_absence(Kind.ENTRY, entries)
        self._space.write(INSERT_ENTRY, self._values(entries))
        self._tags.attach((row_id, entry.tags) for row_id, entry in entries.items())
        self.index.add((row_id, self._text(entry)) for row_id, entry in entries.items())
        past = "DELETE FROM memory_entry_past WHERE project = ? AND id = ? AND row_id = ?"
        self._space.write(past, ((entry.id, row_id) for row_id, entry in entries.items()))

    def _values(self, entries: Mapping[int, Entry]) -> Iterable[Row]:
        seq = self._entry.seq
        return (entry_values(row_id, entry, seq) for row_id, entry in entries.items())

    def _text(self, entry: Entry) -> IndexText:
        return index_text(entry, self._terms)

    def update(self, entries: Iterable[Entry]) -> None:
        """Replace entries, found by id; what is not there or the same already is passed over."""
        wanted = {entry.id: entry for entry in entries}
        rows = entry_rows_by_id(self._space, list(wanted))
        self.set({row[0]: wanted[entry_id] for entry_id, row in rows.items()})

    def set(self, states: Mapping[int, Entry]) -> None:
        """Put present entries, by row id, into new states."""
        self.index.get_ready()
        rows = entry_rows(self._space, states)
        old = {row_id: entry_of_row(row, self._project_id) for row_id, row in rows.items()}
        changed = {i: states[i] for i, entry in old.items() if entry != states[i]}
        self._entry.keep(Kind.ENTRY, (rows[i] for i in changed))
        moved = [i for i in changed if indexed_fields(old[i]) != indexed_fields(changed[i])]
        self.index.remove((i, self._text(old[i])) for i in moved)
        forget_vectors(self._space, (i for i in moved if _says(old[i]) != _says(changed[i])))
        self._space.write(UPDATE_ENTRY, self._values(changed))
        retagged = [i for i in moved if old[i].tags != changed[i].tags]
        self._tags.detach(retagged)
        self._tags.attach((i, changed[i].tags) for i in retagged)
        self.index.add((i, self._text(changed[i])) for i in moved)

    def delete(self, row_ids: Iterable[int], *, keeps_past: bool) -> None:
        """Delete entries that no link touches any more.

        Args:
            row_ids: Which; those that are not there are passed over.
            keeps_past: False leaves no image: the entry goes for good.
        """
        self.index.get_ready()
        rows = entry_rows(self._space, row_ids)
        if keeps_past:
            self._entry.keep(Kind.ENTRY, rows.values())
            past = """
                INSERT INTO memory_entry_past (project, id, row_id) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
            """
            old = (r for r in rows.values() if not self._entry.is_new(Kind.ENTRY, r[0]))
            self._space.write(past, ((row[1], row[0]) for row in old))
        entries = {i: entry_of_row(row, self._project_id) for i, row in rows.items()}
        self.index.remove((i, self._text(entry)) for i, entry in entries.items())
        self._tags.detach(rows)
        forget_vectors(self._space, rows)
        sql = "DELETE FROM memory_entries WHERE row_id = ?2 AND project = ?1"
        self._space.write(sql, ((row_id,) for row_id in rows))


def _says(entry: Entry) -> tuple[str | None, ...]:
    """Return the texts that an entry's vector is made of."""
    return entry.title, entry.summary, entry.content
