"""The memory half of the embedded store (storage.memory_protocols.MemoryStore)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property

import apsw

from schemory.hints import TYPE_CHECKING
from schemory.storage.sqlite.failures import memory_unsupported, translated
from schemory.storage.sqlite.projects import Start, find_project
from schemory.storage.sqlite.rows import text_ids
from schemory.storage.sqlite.space import Space

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    from schemory.model.entry import Entry, Project
    from schemory.storage.compensations import Compensations
    from schemory.storage.memory_protocols import IndexTerms, IndexText
    from schemory.storage.protocols import WriteContext
    from schemory.storage.sqlite.memory import SqliteMemoryReader
    from schemory.storage.sqlite.memory_shelf import Shelves
    from schemory.storage.sqlite.memory_statistics import Statistics
    from schemory.storage.sqlite.memory_transaction import SqliteMemoryTransaction

    class Writing(Protocol):
        """A write transaction of either half, as the store sees it."""

        compensations: Compensations

        def close(self) -> bool:
            """Write what is left to write; returns False when nothing was written."""
            ...

    Tx = TypeVar("Tx", bound=Writing)


class MemoryHalf(ABC):
    """The verbs of project memory; the store beneath gives connections and transactions.

    Its parts are imported at their first use: a graph starts without them.

    Args:
        terms: How entries are indexed; None = every verb is refused.
        remembers: Whether figures are kept between searches; not where a snapshot sees what is
            not committed.
    """

    def __init__(self, terms: IndexTerms | None, *, remembers: bool) -> None:
        self._terms = terms
        self._remembers = remembers

    @cached_property
    def _statistics(self) -> Statistics | None:
        from schemory.storage.sqlite.memory_statistics import Statistics  # noqa: PLC0415 (see class)

        return Statistics() if self._remembers else None

    @cached_property
    def _shelves(self) -> Shelves | None:
        from schemory.storage.sqlite.memory_shelf import Shelves  # noqa: PLC0415 (see class)

        return Shelves() if self._remembers else None

    @property
    @abstractmethod
    def location(self) -> str:
        """The absolute path, for people."""

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[apsw.Connection]:
        """Lend a connection inside a read transaction."""

    @abstractmethod
    def _written(self, enter: Callable[[apsw.Connection], Tx]) -> AbstractContextManager[Tx]:
        """Hold a write transaction around what `enter` makes of the connection."""

    @abstractmethod
    def _start(self, db: apsw.Connection, project_id: str) -> Start:
        """Return what the next transaction of a project begins with."""

    @abstractmethod
    def _upkeep(self) -> AbstractContextManager[apsw.Connection]:
        """Lend the writer's connection, alone, outside a transaction."""

    def _rules(self) -> IndexTerms:
        if self._terms is None:
            raise memory_unsupported()
        return self._terms

    def index_text(self, entry: Entry) -> IndexText:
        """Return what an entry is indexed by; costs the derivation, needs no lock."""
        from schemory.storage.sqlite.memory_rows import index_text  # noqa: PLC0415 (see class)

        return index_text(entry, self._rules())

    @contextmanager
    def read_memory(self, project_id: str) -> Generator[SqliteMemoryReader]:
        """Open a snapshot; an unknown project reads as empty and is not created."""
        from schemory.storage.sqlite.memory import SqliteMemoryReader  # noqa: PLC0415 (see class)

        terms = self._rules()
        with translated(self.location), self._snapshot() as db:
            space = Space(db, find_project(db, project_id))
            yield SqliteMemoryReader(space, project_id, terms, self._statistics, self._shelves)

    @contextmanager
    def memory_transaction(
        self, project_id: str, context: WriteContext
    ) -> Generator[SqliteMemoryTransaction]:
        """Open the write transaction of a project: commits at the end, rolls back on an exception.

        Raises:
            StoreBusyError: Another process kept the write lock too long; names it where known.
            StoreReadonlyError, StoreFullError, StoreCorruptError: As named.
            RuntimeError: This thread has a transaction open.
        """
        from schemory.storage.sqlite.memory_transaction import (  # noqa: PLC0415 (see class)
            SqliteMemoryTransaction,
        )

        terms = self._rules()

        def enter(db: apsw.Connection) -> SqliteMemoryTransaction:
            start = self._start(db, project_id)
            return SqliteMemoryTransaction(
                Space(db, start.number),
                project_id,
                terms,
                seq=start.seq,
                now=start.now,
                context=context,
            )

        with self._written(enter) as tx:
            yield tx

    def list_projects(self, *, after: str = "", limit: int) -> tuple[Project, ...]:
        """Return projects that hold entries, by id."""
        from schemory.storage.sqlite.memory_rows import project_of_row  # noqa: PLC0415 (see class)

        self._rules()
        sql = """
            SELECT id, display_name, canonical_path, git_remote, created_at, updated_at,
              metadata_json
            FROM projects AS p
            WHERE id > ? AND EXISTS (
              SELECT 1 FROM memory_entries AS e INDEXED BY memory_entries_by_project
              WHERE e.project = p.number)
            ORDER BY id LIMIT ?
        """
        with translated(self.location), self._snapshot() as db:
            return tuple(map(project_of_row, db.execute(sql, (after, limit))))

    def find_entry_project(self, entry_id: str) -> str | None:
        """Return the project that holds an entry, for reads that said `cross_project`."""
        self._rules()
        sql = """
            SELECT p.id FROM memory_entries AS e INDEXED BY memory_entries_anywhere
            CROSS JOIN projects AS p
            WHERE e.id = ? AND p.number = e.project
        """
        found: list[str] = []
        with translated(self.location), self._snapshot() as db:
            for known in text_ids([entry_id]):
                found += [str(row[0]) for row in db.execute(sql, (known,))]
        return found[0] if found else None

    def prune_audit(self, *, before: str, project_id: str | None) -> int:
        """Delete audit rows older than `before`; returns how many."""
        self._rules()
        sql = "DELETE FROM audit_log WHERE timestamp < ? AND (? IS NULL OR project_id = ?)"
        with self._upkeep() as db:
            already = db.total_changes()
            db.execute(sql, (before, project_id, project_id))
            return db.total_changes() - already
