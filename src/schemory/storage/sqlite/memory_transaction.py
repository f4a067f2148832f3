"""One write transaction of one project's memory (storage.memory_protocols.MemoryTransaction)."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from schemory.model.entry import AuditRow, Entry, Link, Project, Tag
from schemory.model.jsonvalue import compact
from schemory.storage.compensations import Compensations
from schemory.storage.memory_protocols import IndexTerms, IndexText
from schemory.storage.protocols import Commit, WriteContext
from schemory.storage.sqlite import memory_vectors
from schemory.storage.sqlite.ledger import LedgerEntry
from schemory.storage.sqlite.memory import SqliteMemoryReader
from schemory.storage.sqlite.memory_purge import purge_entries
from schemory.storage.sqlite.memory_removal import remove_entries
from schemory.storage.sqlite.memory_rows import metadata_text
from schemory.storage.sqlite.projects import make_project
from schemory.storage.sqlite.rows import text_ids
from schemory.storage.sqlite.space import Space, text_list
from schemory.storage.sqlite.undo import undo
from schemory.storage.sqlite.writers import Writers
from schemory.storage.vector_protocols import EntryVector, VectorModel


class SqliteMemoryTransaction(SqliteMemoryReader):
    """A project inside the writer connection's open transaction; reads see its own writes.

    The project's row is made at the first write but an audit row's.

    Args:
        seq: The number it has in the ledger, if it writes anything.
        now: Its time as stored text.

    Attributes:
        compensations: For the store, which runs them when it does not commit.
    """

    def __init__(
        self,
        space: Space,
        project_id: str,
        terms: IndexTerms,
        *,
        seq: int,
        now: str,
        context: WriteContext,
    ) -> None:
        super().__init__(space, project_id, terms, statistics=None)
        self._seq = seq
        self._now = now
        self._context = context
        self._entries_purged = 0
        self._has_other_writes = False
        self.compensations = Compensations()

    @property
    def now(self) -> str:
        """The transaction's time as stored text."""
        return self._now

    @property
    def seq(self) -> int:
        """The number this transaction has in the project's ledger, if it writes anything."""
        return self._seq

    @cached_property
    def _writers(self) -> Writers:
        self._make_project()
        entry = LedgerEntry(self._space, seq=self._seq, now=self._now, context=self._context)
        return Writers(self._space, entry, project_id=self._project_id, terms=self._terms)

    def _make_project(self) -> None:
        if not self._space.number:
            number = make_project(self._space.db, self._project_id, self._now)
            self._space = Space(self._space.db, number)

    def find_taken_ids(self, ids: Iterable[str]) -> frozenset[str]:
        """Return which of these entry ids another project of this store holds."""
        sql = """
            SELECT e.id FROM carray(?2) AS wanted
            CROSS JOIN memory_entries AS e INDEXED BY memory_entries_anywhere
            WHERE e.id = wanted.value AND e.project <> ?1
        """
        wanted = text_ids(ids)
        found = self._space.rows(sql, text_list(wanted)) if wanted else []
        return frozenset(row[0] for row in found)

    def put_project(self, project: Project) -> None:
        """Write what is known of the project; None, or a later beginning, keeps what is there."""
        self._make_project()
        sql = """
            UPDATE projects SET
              display_name = ifnull(?2, display_name), canonical_path = ifnull(?3, canonical_path),
              git_remote = ifnull(?4, git_remote), metadata_json = ifnull(?5, metadata_json),
              created_at = min(created_at, ifnull(?6, created_at)), updated_at = ?7
            WHERE number = ?1
        """
        facts = (project.display_name, project.canonical_path, project.git_remote)
        times = (project.created_at or None, self._now)
        self._space.write(sql, [(*facts, metadata_text(project.metadata), *times)])
        self._has_other_writes = True

    def insert_entries(
        self, entries: Sequence[Entry], *, texts: Sequence[IndexText] | None = None
    ) -> None:
        """Insert entries with their tags; `texts` are their ready-made index texts."""
        if entries:
            self._writers.memory.entries.insert(entries, texts)

    def update_entries(self, entries: Sequence[Entry]) -> None:
        """Replace entries (by id) by these states; the earlier ones stay in the ledger."""
        self._writers.memory.entries.update(entries)

    def delete_entries(self, ids: Sequence[str]) -> int:
        """Remove entries with tags, links, index rows, vectors and every ledger text of them.

        Returns:
            How many entries were there.
        """
        found = purge_entries(self._space, self._writers, text_ids(ids))
        self._entries_purged += found.deleted
        self._has_other_writes = self._has_other_writes or found.removed > 0
        return found.deleted

    def remove_entries(self, ids: Sequence[str]) -> int:
        """Remove entries with tags, links and index rows; the ledger keeps them for an undo.

        Returns:
            How many entries were there.
        """
        return remove_entries(self._space, self._writers, text_ids(ids))

    def insert_links(self, links: Sequence[Link]) -> None:
        """Insert links whose ends exist."""
        self._writers.memory.links.insert(links)

    def delete_links(self, ids: Sequence[str]) -> None:
        """Remove links."""
        self._writers.memory.links.delete(text_ids(ids))

    def put_tags(self, tags: Sequence[Tag]) -> None:
        """Write tags' own fields (description), for imports."""
        self._writers.memory.tags.put(tags)

    def forget_descriptions(self, names: Sequence[str]) -> None:
        """Take the descriptions from tags, for imports that tell all there is."""
        self._writers.memory.tags.forget_descriptions(names)

    def insert_audit(self, row: AuditRow) -> None:
        """Append one audit row."""
        sql = """
            INSERT INTO audit_log (project_id, id, timestamp, operation, entry_id, actor,
                                   params_redacted_json, result_json)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
        facts = (row.project_id, row.id, row.timestamp, row.operation, row.entry_id, row.actor)
        params, result = compact(dict(row.params)), compact(dict(row.result))
        self._space.db.execute(sql, (*facts, params, result))
        self._has_other_writes = True

    def undo(self, seq: int) -> Commit:
        """Reverse one committed transaction of this project, as a new one; returns the old one.

        Raises:
            UndoConflictError: Something it wrote has changed since; names what.
            InvalidParamError: No such transaction, or history does not reach back that far.
        """
        return undo(self._space, self._writers, seq)

    def rebuild_index(self) -> int:
        """Build the project's search index anew; returns how many entries it holds."""
        if not self._space.number:
            return 0
        self._has_other_writes = True
        return self._writers.memory.entries.index.rebuild()

    def put_vectors(self, model: VectorModel, vectors: Sequence[EntryVector]) -> int:
        """Store vectors of entries that did not change since; returns how many."""
        if not self._space.number:
            return 0
        self._has_other_writes = True
        return memory_vectors.put_vectors(self._space, model, vectors, now=self._now)

    def drop_vectors(self, ids: Sequence[str] | None = None, *, except_model: str = "") -> int:
        """Remove vectors, of these entries or of all, but none of one model; tells how many."""
        if not self._space.number:
            return 0
        self._has_other_writes = True
        known = None if ids is None else text_ids(ids)
        return memory_vectors.drop_vectors(self._space, known, except_model)

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Call `undo` if the transaction does not commit; for things outside the store."""
        self.compensations.add(undo)

    def close(self) -> bool:
        """Write the ledger's entry; returns False when nothing at all was written."""
        if "_writers" in self.__dict__:
            torn = {"entries_purged": self._entries_purged}
            wrote = self._writers.entry.close(torn=torn)
        else:
            wrote = False
        return wrote or self._has_other_writes
