"""Export a project's memory to a file, streamed from one snapshot (memory.md §7)."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from schemory.errors import ConflictError, InvalidParamError, SchemoryError, StoreError
from schemory.memory.inputs import ProjectRef
from schemory.memory.place import Place
from schemory.memory.record import Record
from schemory.memory.service import ProjectMemory
from schemory.model.author import NOBODY, Author
from schemory.model.entry import Project, Status
from schemory.model.jsonvalue import Json
from schemory.model.moment import moment_text
from schemory.model.paths import PathStyle
from schemory.storage.files import replace_file
from schemory.storage.memory_protocols import MemoryReader
from schemory.transfer.memory.archive_write import TooDenseError, archive, encoded
from schemory.transfer.memory.meter import Meter, ignore_progress, never_cancelled
from schemory.transfer.memory.options import (
    ExportFormat,
    ExportOptions,
    ExportReport,
    IsCancelled,
    Progress,
)
from schemory.transfer.memory.pieces import envelope, lines
from schemory.transfer.memory.walk import MemoryWalk

OPERATION = "memory_export_project"


def export_project(
    memory: ProjectMemory,
    ref: ProjectRef,
    save_path: str,
    options: ExportOptions | None = None,
    *,
    by: Author = NOBODY,
    progress: Progress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> ExportReport:
    """Write a project's memory to a file; at every moment there is the old file or the new one.

    The project is not created. The export is audited where the store can be written.

    Args:
        memory: Holds the project.
        ref: Which project.
        save_path: Inside the project's folder or an allowed root; its folder must exist.
        options: What goes in, and in which form.
        by: Who exports.
        progress: Told now and then how far it is, in percent.
        is_cancelled: Asked now and then whether to stop.

    Raises:
        PathNotAllowedError: The path lies outside.
        InvalidParamError: It cannot be a file there.
        ConflictError: A file is there, and `overwrite` is not said.
        TransferCancelledError, StoreError: As named; the file is as it was.
    """
    options = options or ExportOptions()
    with memory.recording(OPERATION, ref, _arguments(save_path, options), by) as record:
        place = record.place
        meter = Meter(progress, is_cancelled, "export")
        target = _target(place, save_path, options, memory.store.location)
        with memory.store.read_memory(place.id) as reader:
            written = write_export(
                reader,
                target,
                options,
                project=known_project(place, reader),
                exported_at=moment_text(memory.work.now()),
                advance=meter.phase(0, 99, "exporting entries"),
                check=meter.check,
            )
        record.facts["entries"] = written.walk.entry_count
        record.warn(*_left_out(written.walk))
        # Only the audit's row: what was exported is on the disk, whatever becomes of it.
        if memory.settings.audit:
            with suppress(StoreError), record.transaction():
                pass
    return _report(record, target, options, written)


def _report(
    record: Record, target: Path, options: ExportOptions, written: "Written"
) -> ExportReport:
    return ExportReport(
        project=record.place.project,
        warnings=record.warnings,
        path=str(target),
        format=options.format,
        entries=written.walk.entry_count,
        tags=written.walk.tag_count,
        links=written.walk.link_count,
        size_bytes=written.size,
        sha256=written.sha256,
        left_out=written.walk.left_out,
    )


class Written:
    """A file that was written, and what of: `walk` has the counts."""

    def __init__(self, walk: MemoryWalk) -> None:
        self.walk = walk
        self.size = 0
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        return self._digest.hexdigest()

    def through(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the chunks, counted."""
        for chunk in chunks:
            self.size += len(chunk)
            self._digest.update(chunk)
            yield chunk


def write_export(
    reader: MemoryReader,
    target: Path,
    options: ExportOptions,
    *,
    project: Project,
    exported_at: str,
    advance: Callable[[float], None],
    check: Callable[[], None],
) -> Written:
    """Write what `reader` sees to `target`, which is known to be allowed.

    Args:
        reader: A snapshot.
        target: The file.
        options: What goes in, and in which form.
        project: What the file says of the project.
        exported_at: Stored time text.
        advance: Told which share of the entries is done; may raise to stop.
        check: Called before the file is put in its place; may raise to stop.
    """

    def write(is_stored: bool) -> Written:  # noqa: FBT001 (private)
        walk = MemoryWalk(reader, project, options.statuses, advance=advance)
        written = Written(walk)
        chunks = _chunks(walk, options.format, exported_at, is_stored=is_stored)
        guard = _still_free(target, options, check)
        replace_file(target, written.through(chunks), before_replace=guard)
        return written

    try:
        return write(is_stored=False)
    except TooDenseError:
        return write(is_stored=True)


def _chunks(
    walk: MemoryWalk, form: ExportFormat, exported_at: str, *, is_stored: bool
) -> Iterator[bytes]:
    if form is ExportFormat.ZIP:
        return archive(walk, exported_at, is_stored=is_stored)
    return encoded(lines(walk) if form is ExportFormat.JSONL else envelope(walk, exported_at))


def _arguments(save_path: str, options: ExportOptions) -> dict[str, Json]:
    return {
        "save_path": save_path,
        "format": options.format.value,
        "include_archived": options.include_archived,
        "include_invalidated": options.include_invalidated,
        "include_superseded": options.include_superseded,
        "overwrite": options.overwrite,
    }


def _target(place: Place, save_path: str, options: ExportOptions, location: str) -> Path:
    """Return the file to write, as a real path."""
    target = place.resolve_path(save_path, "save_path")
    if target.is_dir() or save_path.endswith(("/", "\\") if _is_windows(place) else "/"):
        raise _refused("names a folder", "Name a file in it, such as memory-export.json.")
    if not target.parent.is_dir():
        raise _refused("lies in a folder that does not exist", "Make the folder first.")
    if target.exists() and not target.is_file():
        raise _refused("is no regular file", "Name another one.")
    if str(target) in {location, f"{location}-wal", f"{location}-shm"}:
        raise _refused("is the store itself", "Name another file.")
    if target.exists() and not options.overwrite:
        raise _taken()
    return target


def _is_windows(place: Place) -> bool:
    return place.rules.style is PathStyle.WINDOWS


def _still_free(
    target: Path, options: ExportOptions, check: Callable[[], None]
) -> Callable[[], None]:
    """Return the last look before the file is put in its place."""

    def look() -> None:
        check()
        if not options.overwrite and target.exists():
            raise _taken()

    return look


def _refused(fault: str, hint: str) -> SchemoryError:
    message = f"save_path {fault}"
    return InvalidParamError.at("$.save_path", message, suggestion=hint)


def _taken() -> ConflictError:
    message = "save_path names a file that is there already"
    hint = "Pass overwrite=true to replace it, or name another file."
    return ConflictError.at("$.save_path", message, suggestion=hint)


def known_project(place: Place, reader: MemoryReader) -> Project:
    """Return what is known of the project; the place alone where nothing is stored."""
    stored = reader.find_project()
    if stored is not None:
        return stored
    told = place.project
    return Project(
        id=told.id,
        display_name=told.display_name,
        canonical_path=told.canonical_path,
        git_remote=told.git_remote,
    )


def _left_out(walk: MemoryWalk) -> Iterator[str]:
    if not walk.entry_count and not walk.left_out:
        yield "This project holds no entries; the file says so."
    for status, count in walk.left_out.items():
        left = f"1 {status} entry was" if count == 1 else f"{count} {status} entries were"
        yield f"{left} left out; {_switch(status)}=true takes {'it' if count == 1 else 'them'} in."


def _switch(status: Status) -> str:
    return f"include_{status.value}"
