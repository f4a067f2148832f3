"""Looks after one database file: the doctor's checks and repairs, backup, restore, migration."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from schemory.errors import (
    InvalidParamError,
    SchemoryError,
    StoreBusyError,
    StoreError,
)
from schemory.model.jsonvalue import Json
from schemory.model.moment import Clock
from schemory.storage.files import sync_folder
from schemory.storage.keeping import (
    Copied,
    Finding,
    Inspection,
    Migrated,
    Progress,
    Restored,
    Severity,
    Tidied,
    unheard,
)
from schemory.storage.sqlite import soundness, upkeep
from schemory.storage.sqlite.connections import WRITER_CACHE_KIB, Target, connect
from schemory.storage.sqlite.copying import open_source, renew_cursor_key, verified_copy
from schemory.storage.sqlite.failures import readonly_error, translated
from schemory.storage.sqlite.locks import patience
from schemory.storage.sqlite.migrate import LATEST, is_current, refuse_foreign_file
from schemory.storage.sqlite.netfs import refuse_network_path
from schemory.storage.sqlite.opening import create_or_migrate, needs_immutable
from schemory.storage.sqlite.restoring import LOGS, put_in_place
from schemory.storage.surroundings import (
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    check_leftovers,
    check_lock,
    check_modes,
    check_room,
    close_to_others,
    leftovers,
)
from schemory.storage.write_queue import WriteQueue

if TYPE_CHECKING:
    from schemory.storage.memory_protocols import IndexTerms

_TIMEOUT_SECONDS: Final = 15.0
_RESTORE_TIMEOUT_SECONDS: Final = 2.0
_MANY_PROJECTS: Final = 500


class SqliteKeeper:
    """A Keeper of a database file, sound or not.

    Args:
        path: The file, absolute.
        now: The clock.
        terms: How entries are indexed; None = their indexes are checked by structure only.
        owns_folder: The folder is the store's own and should be closed to others.
    """

    def __init__(
        self, path: Path, *, now: Clock, terms: "IndexTerms | None", owns_folder: bool = False
    ) -> None:
        self._path = path
        self._file = path.resolve()  # behind a symbolic link; SQLite keeps its logs there
        self._now = now
        self._terms = terms
        self._owns_folder = owns_folder
        self._patience_seconds = _TIMEOUT_SECONDS
        self._lock_file = path.with_name(path.name + "-lock")
        self._queue = WriteQueue(str(self._lock_file), str(path), needs_file=False)

    @property
    def location(self) -> str:
        """The absolute path, for people."""
        return str(self._path)

    # Looking over --------------------------------------------------------------------------

    def inspect(self, progress: Progress = unheard) -> Inspection:
        """Look everything over; changes nothing and makes nothing."""
        facts: dict[str, Json] = {"backend": "sqlite", "location": self.location}
        if not self._path.exists():
            return Inspection(exists=False, is_current=False, facts=facts, findings=())
        findings: list[Finding] = []
        is_current = False
        try:
            refuse_foreign_file(self.location)  # then nothing around it is ours to judge or to mend
            findings += self._surroundings()
            facts["fileBytes"] = self._path.stat().st_size
            with self._connected() as db:
                version = db.pragma("user_version")
                is_current = version == LATEST
                facts["schemaVersion"] = version
                progress(0, None, "reading every page")
                # A lock that a dead process left does not come free: nobody waits for it.
                is_stuck = any(finding.code == "lock.orphaned" for finding in findings)
                self._patience_seconds = 0.0 if is_stuck else _TIMEOUT_SECONDS
                findings += self._check(db, version, facts, progress)
        except SchemoryError as error:
            findings.append(_unusable(error))
        except OSError as error:
            findings.append(_unusable(StoreError(f"{self.location}: {error.strerror}")))
        return Inspection(exists=True, is_current=is_current, facts=facts, findings=tuple(findings))

    def _surroundings(self) -> Iterator[Finding]:
        folder = self._file.parent
        yield from check_modes(self._files(), folder, owns_folder=self._owns_folder)
        yield from check_leftovers(self._file)
        yield from check_lock(self._lock_file)
        yield from check_room(self._file)

    def _files(self) -> Iterator[Path]:
        yield self._lock_file
        for ending in ("", *LOGS):
            yield self._file.with_name(self._file.name + ending)

    def _check(
        self, db: apsw.Connection, version: int, facts: dict[str, Json], progress: Progress
    ) -> Iterator[Finding]:
        missing = soundness.missing_parts(db) if version == LATEST else ()
        if missing:
            yield from missing
            return
        yield from soundness.check_tables(db)
        if version < LATEST:
            yield _older(version)
            return
        if db.pragma("journal_mode") != "wal" and not db.readonly("main"):
            yield Finding(
                code="store.journal",
                severity=Severity.WARNING,
                what="the store has no write-ahead log: readers and writers wait for one another",
                next_step="`schemory doctor --fix` turns it on.",
                can_fix=True,
            )
        try:
            yield from self._check_indexes(db, facts, progress)
        except apsw.CorruptError:
            yield soundness.damage("the file is damaged: its tables cannot be read")
        except StoreBusyError as error:
            yield Finding(
                code="store.busy",
                severity=Severity.WARNING,
                what=f"{error.message}; not all search indexes were checked",
                next_step="Run `schemory doctor` again when nobody writes.",
            )

    def _check_indexes(
        self, db: apsw.Connection, facts: dict[str, Json], progress: Progress
    ) -> Iterator[Finding]:
        spaces, projects = soundness.graph_spaces(db), soundness.memory_projects(db)
        facts["projects"] = len({number for number, _ in (*spaces, *projects)})
        if len(projects) > _MANY_PROJECTS:
            yield _many(len(projects))
        total, done = len(spaces) + len(projects), 0
        for number, space in spaces:
            # FTS5 compares only as a writer; held for one index at a time, so others get on.
            with self._writing(db):
                yield from soundness.check_graph_index(db, number, space)
            done += 1
            progress(done, total, "checking search indexes")
        for number, project in projects:
            with self._writing(db):
                yield from soundness.check_memory_index(db, number, project, self._terms)
            yield from soundness.check_vectors(db, number, project)
            done += 1
            progress(done, total, "checking search indexes")

    # Mending -------------------------------------------------------------------------------

    def mend(self, findings: tuple[Finding, ...]) -> tuple[str, ...]:
        """Put right what can be put right without loss; returns a sentence for each thing done.

        Raises:
            StoreError: It cannot be written, or somebody else is writing all the time.
        """
        codes = {finding.code for finding in findings if finding.can_fix}
        steps: tuple[tuple[tuple[str, ...], Callable[[], Iterator[str]]], ...] = (
            (("file.permissions", "folder.permissions"), self._close),
            (("file.leftovers",), self._sweep),
            (("store.older",), self._update),
            (("store.journal",), self._turn_on_log),
            (("index.graph", "index.memory", "index.rows"), self._rebuild),
            (("vectors",), self._sweep_vectors),
        )
        return tuple(
            told for causes, step in steps if not codes.isdisjoint(causes) for told in step()
        )

    def _close(self) -> Iterator[str]:
        for file in self._files():
            if close_to_others(file, PRIVATE_FILE):
                yield f"{file} is now the user's alone (mode 600)"
        folder = self._file.parent
        if self._owns_folder and close_to_others(folder, PRIVATE_FOLDER):
            yield f"{folder} is now the user's alone (mode 700)"

    def _sweep(self) -> Iterator[str]:
        for file in leftovers(self._file):
            file.unlink(missing_ok=True)
            yield f"{file} was removed"

    def _update(self) -> Iterator[str]:
        done = self.migrate()
        yield f"the schema was brought from version {done.version_before} to {done.version_after}"

    def _turn_on_log(self) -> Iterator[str]:
        with self._connected() as db, self._writing(db):
            db.pragma("journal_mode", "wal")
        yield "the write-ahead log is on"

    def _rebuild(self) -> Iterator[str]:
        with self._connected() as db, self._writing(db):
            held = upkeep.rebuild_indexes(db, self._terms)
        yield f"every search index was built again ({held:,} nodes and entries)"

    def _sweep_vectors(self) -> Iterator[str]:
        with self._connected() as db, self._writing(db):
            removed = upkeep.mend_vectors(db)
        yield f"{removed:,} vectors that fit no entry were removed"

    # Verbs on the file ---------------------------------------------------------------------

    def backup(self, target: Path, progress: Progress = unheard) -> Copied:
        """Copy the store to a file while others use it; it is there only when it is verified.

        Raises:
            StoreError: There is no store, it is damaged, or `target` cannot be written.
            InvalidParamError: `target` is the store itself or a file that is no backup.
        """
        self._check_exists("nothing to back up")
        self._check_target(target)
        target = target.resolve()
        with (
            closing(open_source(self._path, is_live=True)) as source,
            verified_copy(source, target, journal_mode="delete", progress=progress) as made,
        ):
            copy, counts = made
            copy.replace(target)
            sync_folder(target.parent)
        return Copied(path=target, bytes=target.stat().st_size, counts=counts)

    def _check_target(self, target: Path) -> None:
        if target.is_dir():
            raise _bad_target(f"{target} is a folder: name a file in it")
        if not target.exists():
            return
        if not target.is_file():
            raise _bad_target(f"{target} is no regular file")
        if any(file.exists() and target.samefile(file) for file in self._files()):
            raise _bad_target(f"{target} is the store itself")
        try:
            refuse_foreign_file(str(target))
        except StoreError:
            raise _bad_target(
                f"{target} is there already and is no backup of a store; it was left untouched"
            ) from None

    def restore(self, source: Path, progress: Progress = unheard) -> Restored:
        """Put a verified copy of `source` in the store's place; what was there is kept beside it.

        Raises:
            StoreBusyError: Somebody has the store open. StoreCorruptError: `source` is no sound
                backup; the store is as it was.
        """
        if not source.is_file():
            raise StoreError(f"There is no backup at {source}", suggestions=["Check the path."])
        if self._path.exists() and source.samefile(self._path):
            raise _bad_target(f"{source} is the store itself")
        refuse_network_path(self.location)
        aside = self._aside()
        with (
            closing(open_source(source, is_live=False)) as backup,
            verified_copy(backup, self._file, journal_mode="wal", progress=progress) as made,
            self._queue.hold(_RESTORE_TIMEOUT_SECONDS),
        ):
            copy, counts = made
            renew_cursor_key(copy)
            replaced = put_in_place(copy, self._file, aside=aside)
        return Restored(path=self._path, replaced=replaced, counts=counts)

    def _aside(self) -> Path:
        stamp = self._now().strftime("%Y%m%dT%H%M%SZ")
        first = self._file.with_name(f"{self._file.name}.before-restore-{stamp}")
        names = (first, *(first.with_name(f"{first.name}-{turn}") for turn in range(2, 1000)))
        return next(name for name in names if not name.exists())

    def vacuum(self) -> Tidied:
        """Give back free space, so that deleted text is nowhere in the file.

        Raises:
            StoreError: There is no store, or somebody reads it.
        """
        self._check_exists("nothing to tidy")
        before = self._bytes()
        with self._connected() as db:
            if not is_current(db, self.location):
                raise StoreError(
                    f"The store has an older schema: {self.location}",
                    suggestions=["Run `schemory migrate` first."],
                )
            with self._writing(db):
                upkeep.vacuum(db, self.location)
        return Tidied(bytes_before=before, bytes_after=self._bytes())

    def migrate(self) -> Migrated:
        """Bring the schema to this version's.

        Raises:
            StoreError: There is no store, it is newer, or somebody else is writing.
        """
        self._check_exists("nothing to migrate")
        with self._connected() as db:
            before = db.pragma("user_version")
            copy = Path(f"{self.location}.before-v{before + 1}")
            had_copy = copy.exists()
            if not is_current(db, self.location):
                if db.readonly("main"):
                    raise readonly_error(self.location)
                with self._writing(db):
                    create_or_migrate(db, self._target(), now=self._now)
            after = db.pragma("user_version")
        kept = copy if after > before and copy.exists() and not had_copy else None
        return Migrated(version_before=before, version_after=after, copy=kept)

    # Inside --------------------------------------------------------------------------------

    def _check_exists(self, so_what: str) -> None:
        if not self._path.exists():
            raise StoreError(
                f"There is no store yet, so {so_what}: {self.location}",
                suggestions=["Name the store with --db, or see where it is: `schemory status`."],
            )

    def _bytes(self) -> int:
        return sum(
            file.stat().st_size
            for file in (self._file, self._file.with_name(self._file.name + "-wal"))
            if file.exists()
        )

    def _target(self) -> Target:
        return Target(
            path=self.location,
            busy_timeout_seconds=_TIMEOUT_SECONDS,
            synchronous="FULL",
            is_immutable=needs_immutable(self.location),
        )

    @contextmanager
    def _connected(self) -> Generator[apsw.Connection]:
        """Lend a connection to the file as it is; refuses what is not ours or newer."""
        refuse_network_path(self.location)
        refuse_foreign_file(self.location)
        with (
            translated(self.location),
            closing(connect(self._target(), cache_kib=WRITER_CACHE_KIB)) as db,
        ):
            is_current(db, self.location)  # refuses a newer one
            yield db

    @contextmanager
    def _writing(self, db: apsw.Connection) -> Generator[None]:
        if db.readonly("main"):
            yield
            return
        with self._queue.hold(self._patience_seconds) as seconds_left:
            db.set_busy_handler(patience(seconds_left))
            yield


def _unusable(error: SchemoryError) -> Finding:
    steps = (each for each in error.suggestions if "schemory doctor" not in each)
    return Finding(
        code="store.unusable",
        severity=Severity.FATAL,
        what=error.message,
        next_step=next(steps, "Restore a backup: `schemory restore FILE`."),
    )


def _older(version: int) -> Finding:
    return Finding(
        code="store.older",
        severity=Severity.WARNING,
        what=f"the store has schema version {version}, this program writes version {LATEST}; its "
        "search indexes were not checked",
        next_step="`schemory migrate` brings it up to date, as does the next use.",
        can_fix=True,
    )


def _many(count: int) -> Finding:
    return Finding(
        code="projects.many",
        severity=Severity.WARNING,
        what=f"{count:,} projects have a memory in this file; beyond {_MANY_PROJECTS} opening it "
        "becomes slow",
        next_step="Split them over several files with --db.",
    )


def _bad_target(message: str) -> InvalidParamError:
    return InvalidParamError(message, suggestions=["Name another file."])
