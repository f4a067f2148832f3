"""Import a project's memory: checked and compared beforehand, written at once (memory.md §7)."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from schemory.errors import ConfirmRequiredError, InvalidParamError
from schemory.memory.entries import EntryRules
from schemory.memory.inputs import ProjectRef
from schemory.memory.place import Place
from schemory.memory.record import Record
from schemory.memory.service import ProjectMemory
from schemory.model.author import NOBODY, Author
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.storage.files import file_error
from schemory.storage.memory_protocols import MemoryReader, MemoryTransaction
from schemory.storage.scratch.database import Scratch
from schemory.storage.scratch.tables import Fate
from schemory.transfer.memory.backup import write_backup
from schemory.transfer.memory.compare import Comparison
from schemory.transfer.memory.load import Loaded, load_file
from schemory.transfer.memory.meter import Meter, ignore_progress, never_cancelled
from schemory.transfer.memory.options import (
    ImportCounts,
    ImportOptions,
    ImportReport,
    IsCancelled,
    OnConflict,
    Progress,
)
from schemory.transfer.memory.source_paths import ELSEWHERE, SourcePaths
from schemory.transfer.memory.write import Loading, derive_terms

OPERATION = "memory_import_project"


def import_project(
    memory: ProjectMemory,
    ref: ProjectRef,
    import_path: str,
    options: ImportOptions | None = None,
    *,
    by: Author = NOBODY,
    progress: Progress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> ImportReport:
    """Take an export into a project, all of it or nothing, in one transaction that can be undone.

    The file's form is recognised. Entries of another project become the importing one's; their
    metadata tells the origin. Where the project lies and its remote are never taken from a file.

    Args:
        memory: Holds the project.
        ref: Which project; it is made if the file holds anything.
        import_path: Inside the project's folder or an allowed root.
        options: What to do with what is there, and what to let pass.
        by: Who imports.
        progress: Told now and then how far it is, in percent.
        is_cancelled: Asked now and then whether to stop.

    Raises:
        PathNotAllowedError: The path lies outside.
        ConfirmRequiredError: `replace` without `confirm_replace`.
        InvalidParamError: It is no export, or something in it cannot be stored; all is told.
        LimitExceededError: Likewise, for sizes.
        SecretDetectedError: Some text seems to hold a credential.
        ConflictError: `fail`, and something is there already; or links would form a circle.
        TransferCancelledError: The caller gave up.
    """
    options = options or ImportOptions()
    with memory.recording(OPERATION, ref, _arguments(import_path, options), by) as record:
        path = record.place.resolve_path(import_path, "import_path")
        meter = Meter(progress, is_cancelled, "import")
        with _opened(path) as file, Scratch() as scratch:
            _require_confirmation(options)  # not before: there has to be a file
            rules = EntryRules(limits=record.place.limits, allowed_tags=record.place.allowed_tags)
            paths = SourcePaths(record.place)
            loaded = load_file(
                path,
                file,
                scratch,
                rules,
                paths=paths,
                allow_secret=options.allow_secret,
                now=memory.work.now(),
                advance=meter.phase(0, 50, "checking the file"),
            )
            _warn(record, loaded, paths, options)
            report = _Import(
                memory, record, scratch, loaded=loaded, options=options, meter=meter
            ).run(str(path))
    return replace(report, warnings=record.warnings)


class _Import:
    """One import whose file is in the scratch."""

    def __init__(
        self,
        memory: ProjectMemory,
        record: Record,
        scratch: Scratch,
        *,
        loaded: Loaded,
        options: ImportOptions,
        meter: Meter,
    ) -> None:
        self._memory = memory
        self._record = record
        self._scratch = scratch
        self._loaded = loaded
        self._options = options
        self._meter = meter
        self._backup: Path | None = None
        self._has_tag_changes = False

    def run(self, path: str) -> ImportReport:
        """Compare, and unless this is a dry run write."""
        store, place = self._memory.store, self._record.place
        loading: Loading | None = None
        try:
            with store.read_memory(place.id) as reader:
                seen = reader.last_seq()
                self._compare(reader)
            advance = self._meter.phase(65, 80, "preparing the index")
            derive_terms(self._scratch, store, place.id, advance)
            if not self._options.dry_run:
                with self._record.transaction() as tx:
                    # Somebody wrote meanwhile: look again, now that nobody else can.
                    if tx.last_seq() != seen:
                        self._compare(tx)
                    loading = self._load(tx)
                self._tell_new_ids(loading.renamed)
        except BaseException:
            self._drop_backup()
            raise
        return self._report(path, loading)

    def _tell_new_ids(self, number: int) -> None:
        """Warn that ids which people and texts may know are not these entries' here."""
        if number:
            entries, have = ("1 entry", "has") if number == 1 else (f"{number:,} entries", "have")
            self._record.warn(
                f"{entries} of the file {have} a new id here, since another project of this store "
                "has the old one."
            )

    def _compare(self, reader: MemoryReader) -> None:
        comparison = Comparison(
            reader,
            self._scratch,
            project_id=self._record.place.id,
            origin=self._loaded.origin,
            limits=self._record.place.limits,
            ids=self._memory.work.ids,
            advance=self._meter.phase(50, 58, "comparing with what is stored"),
        )
        comparison.settle(self._options.on_conflict)
        self._has_tag_changes = comparison.has_tag_changes(self._options.on_conflict)
        if comparison.other_contents:
            self._record.warn(
                f"{comparison.other_contents} entries have another content in the file; "
                "what is stored was kept (on_conflict=replace takes the file's)."
            )
        self._write_backup(reader)

    def _write_backup(self, reader: MemoryReader) -> None:
        options = self._options
        if options.on_conflict is not OnConflict.REPLACE or options.dry_run:
            return
        self._drop_backup()
        if not reader.count_statuses():
            return
        place, memory = self._record.place, self._memory
        now = memory.work.now()
        self._backup = write_backup(reader, memory.store.location, place, now, self._meter)
        if self._backup is None:
            self._record.warn("This store has no folder, so no backup was written.")

    def _drop_backup(self) -> None:
        if self._backup is not None:
            self._backup.unlink(missing_ok=True)
            self._backup = None

    def _load(self, tx: MemoryTransaction) -> Loading:
        place = self._record.place
        loading = Loading(
            tx,
            self._scratch,
            place.id,
            origin=self._loaded.origin,
            ids=self._memory.work.ids,
            index_text=self._memory.store.index_text,
            advance=self._meter.phase(80, 100, "writing"),
            clears_tags=self._options.on_conflict is OnConflict.REPLACE,
        )
        counts = self._counts()
        loading.find_new_ids()
        if self._has_changes(counts):
            self._record.keep_project(tx)
            self._keep_metadata(tx, place)
            loading.write()
        self._record.facts.update(
            inserted=counts.inserted,
            updated=counts.updated,
            links=counts.links,
            removed=counts.removed,
        )
        return loading

    def _keep_metadata(self, tx: MemoryTransaction, place: Place) -> None:
        """Take what the file says of its project, where that is this one.

        Its name only where nobody knows a better one than the id, its beginning if earlier.
        """
        stored, told = tx.find_project(), self._loaded
        if stored is None or told.origin not in {None, place.id}:
            return
        project = stored
        if isinstance(told.metadata, dict):
            project = replace(project, metadata=told.metadata)
        if told.display_name is not None and stored.display_name in {None, place.id}:
            project = replace(project, display_name=told.display_name)
        if told.created_at is not None and told.created_at < stored.created_at:
            project = replace(project, created_at=told.created_at)
        if project != stored:
            tx.put_project(project)

    def _counts(self) -> ImportCounts:
        count = self._scratch.entries.count
        return ImportCounts(
            inserted=count(Fate.INSERT),
            updated=count(Fate.UPDATE),
            unchanged=count(Fate.SAME),
            skipped=count(Fate.SKIP),
            links=self._scratch.links.count(Fate.INSERT),
            removed=self._scratch.count_gone(),
        )

    def _has_changes(self, counts: ImportCounts) -> bool:
        is_new = counts.inserted or counts.updated or counts.links or counts.removed
        return bool(is_new) or self._has_tag_changes or any(self._scratch.links.gone())

    def _report(self, path: str, loading: Loading | None) -> ImportReport:
        counts = self._counts()
        has_written = loading is not None and self._has_changes(counts)
        return ImportReport(
            project=self._record.place.project,
            path=path,
            counts=counts,
            origin=self._loaded.origin,
            seq=loading.seq if loading is not None and has_written else None,
            backup_path=None if self._backup is None else str(self._backup),
            renamed=None if loading is None else loading.renamed,
            dry_run=self._options.dry_run,
        )


def _arguments(import_path: str, options: ImportOptions) -> dict[str, Json]:
    return {
        "import_path": import_path,
        "on_conflict": options.on_conflict.value,
        "confirm_replace": options.confirm_replace,
        "allow_secret": options.allow_secret,
        "dry_run": options.dry_run,
    }


def _require_confirmation(options: ImportOptions) -> None:
    if options.on_conflict is not OnConflict.REPLACE or options.confirm_replace:
        return
    message = "on_conflict=replace removes what the file does not hold; it must be confirmed"
    hint = "Pass confirm_replace=true; a backup is written first."
    raise ConfirmRequiredError.at("$.confirm_replace", message, suggestion=hint)


@contextmanager
def _opened(path: Path) -> Generator[BinaryIO]:
    """Open a regular file; a pipe of that name would hold us for ever."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as fault:
        if isinstance(fault, FileNotFoundError | IsADirectoryError | NotADirectoryError):
            raise _no_file(path) from fault
        raise file_error(fault, path) from fault
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_file(path)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _no_file(path: Path) -> InvalidParamError:
    return InvalidParamError.at("$.import_path", f"import_path names no file: {path}")


def _warn(record: Record, loaded: Loaded, paths: SourcePaths, options: ImportOptions) -> None:
    """Tell what of the file was taken otherwise than it stands there."""
    if loaded.secrets and options.allow_secret:
        record.has_secret = True
        record.facts["findings"] = loaded.secrets
        record.warn(f"{loaded.secrets} texts seem to hold a credential; stored as allowed.")
    if loaded.early:
        record.warn(f"Times of the file that are still to come ({loaded.early}) count as now.")
    if paths.moved:
        record.warn(
            f"The source files of some entries ({paths.moved}) lie outside the project and "
            f"the allowed roots; their paths are kept in metadata only ({ELSEWHERE})."
        )
