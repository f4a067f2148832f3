"""One write on its way: its transaction, its row in the audit, and the project's own row."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress

from schemory.errors import SchemoryError, SecretDetectedError, StoreError
from schemory.hints import TYPE_CHECKING
from schemory.memory.audit_file import append_line
from schemory.memory.place import Place, moved_warning
from schemory.memory.redaction import holds_secret, redacted
from schemory.model.entry import AuditRow, Project
from schemory.model.moment import Clock, IdMaker, moment_text
from schemory.storage.protocols import WriteContext

if TYPE_CHECKING:
    from schemory.memory.settings import MemorySettings
    from schemory.model.author import Author
    from schemory.model.jsonvalue import Json
    from schemory.storage.memory_protocols import MemoryStore, MemoryTransaction


class Record:
    """One write of one caller.

    Attributes:
        entry_id: The entry it is about, for the audit.
        facts: More for the audit's result: codes, counts and switches, no stored text.
        has_secret: Some text seems to hold a credential, so nothing of the call may be hashed.
    """

    def __init__(
        self,
        store: MemoryStore,
        settings: MemorySettings,
        *,
        operation: str,
        arguments: Mapping[str, Json],
        by: Author,
        now: Clock,
        ids: IdMaker,
    ) -> None:
        self.operation = operation
        self.arguments = arguments
        self.by = by
        self.entry_id: str | None = None
        self.facts: dict[str, Json] = {}
        self.has_secret = False
        self._store = store
        self._settings = settings
        self._now = now
        self._ids = ids
        self._place: Place | None = None
        self._stored: Project | None = None
        self._warnings: list[str] = []

    @property
    def place(self) -> Place:
        """The project that is written to.

        Raises:
            ValueError: It is not known yet (a programming error).
        """
        if self._place is None:
            raise ValueError("the project is not resolved yet")
        return self._place

    @place.setter
    def place(self, place: Place) -> None:
        self._place = place
        self._warnings += place.warnings

    def warn(self, *warnings: str) -> None:
        """Add to what the answer tells."""
        self._warnings += warnings

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the answer tells, each once; complete when the write has ended."""
        return tuple(dict.fromkeys(self._warnings))

    @contextmanager
    def transaction(self) -> Generator[MemoryTransaction]:
        """Open the write transaction; at its end the audit row of a success goes in."""
        author, client = self.by.author, self.by.client
        context = WriteContext(operation=self.operation, author=author, client=client)
        row: AuditRow | None = None
        with self._store.memory_transaction(self.place.id, context) as tx:
            self._stored = tx.find_project()
            self.warn(*moved_warning(self.place, self._stored))
            yield tx
            if self._settings.audit:
                row = self._row(tx.now, {"outcome": "ok", **self.facts})
                tx.insert_audit(row)
        if row is not None:
            self._append(row)

    def keep_project(self, tx: MemoryTransaction) -> None:
        """Write what is known of the project by now, where the store does not know it yet."""
        told, stored = self.place.project, self._stored
        by_id_only = told.folder is None and stored is not None
        project = Project(
            id=told.id,
            display_name=None if by_id_only else told.display_name,
            canonical_path=told.canonical_path,
            git_remote=told.git_remote,
            created_at=stored.created_at if stored else tx.now,
            updated_at=tx.now,
        )
        if stored is None or _says_more(project, stored):
            tx.put_project(project)

    def refuse(self, error: SchemoryError) -> None:
        """Record that `error` refused the write; best effort, where the store can write at all."""
        self.has_secret |= any(p.code == SecretDetectedError.code for p in error.problems)
        # A store that has just failed would only fail again, a busy one after its whole time-out.
        self.refuse_with(error.code, in_store=not isinstance(error, StoreError))

    def refuse_with(self, code: str, *, in_store: bool = True) -> None:
        """Record a refusal by its code."""
        if not self._settings.audit:
            return
        self.has_secret |= holds_secret(self.arguments)
        row = self._row(moment_text(self._now()), {"outcome": "refused", "error_code": code})
        if in_store:
            context = WriteContext(operation=self.operation, author=self.by.author)
            with (
                suppress(StoreError),
                self._store.memory_transaction(row.project_id, context) as tx,
            ):
                tx.insert_audit(row)
        self._append(row)

    def _row(self, timestamp: str, result: Mapping[str, Json]) -> AuditRow:
        return AuditRow(
            id=self._ids(),
            timestamp=timestamp,
            project_id=self._place.id if self._place else "",
            operation=self.operation,
            entry_id=self.entry_id,
            actor=self.by.author,
            params=redacted(self.arguments, with_hashes=not self.has_secret),
            result=result,
        )

    def _append(self, row: AuditRow) -> None:
        file = self._settings.audit_file
        if file is None:
            return
        try:
            append_line(file, row)
        except OSError as fault:
            self.warn(f"The audit file could not be written: {fault.strerror or fault}.")


def _says_more(told: Project, stored: Project) -> bool:
    pairs = (
        (told.display_name, stored.display_name),
        (told.canonical_path, stored.canonical_path),
        (told.git_remote, stored.git_remote),
    )
    return any(new is not None and new != old for new, old in pairs)
