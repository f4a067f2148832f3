"""Moves in from another tool: read and compared first, shown as a plan, written in one transaction.

Source: surfaces.md, "Imports from elsewhere".
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from schemory.errors import InvalidParamError
from schemory.memory.inputs import ProjectRef
from schemory.memory.record import Record
from schemory.memory.service import ProjectMemory
from schemory.model.author import NOBODY, Author
from schemory.storage.memory_protocols import MemoryReader, MemoryTransaction
from schemory.storage.scratch.database import Scratch
from schemory.storage.scratch.tables import Fate
from schemory.transfer.foreign.audit import OPERATION, audit_arguments
from schemory.transfer.foreign.basic_memory import read_basic_memory
from schemory.transfer.foreign.detect import detect
from schemory.transfer.foreign.draft import MOST_TOLD, Draft, Tally
from schemory.transfer.foreign.files import Root, open_root
from schemory.transfer.foreign.intake import Intake
from schemory.transfer.foreign.journal import read_journal
from schemory.transfer.foreign.kinds import MARKDOWN_KINDS, Kind
from schemory.transfer.foreign.markdown import Reading, read_markdown
from schemory.transfer.foreign.mem0 import read_mem0
from schemory.transfer.foreign.mempalace import read_mempalace
from schemory.transfer.foreign.options import Confirm, Counts, Moved, MoveOptions, Part
from schemory.transfer.foreign.settle import Settling
from schemory.transfer.memory.meter import Meter, ignore_progress, never_cancelled
from schemory.transfer.memory.options import IsCancelled, Progress
from schemory.transfer.memory.write import Loading, derive_terms

_STEP: Final = 50


class Mover(Protocol):
    """Moves one source in."""

    def __call__(
        self,
        memory: ProjectMemory,
        ref: ProjectRef,
        root: Root,
        options: MoveOptions,
        /,
        *,
        confirm: Confirm,
        by: Author,
        meter: Meter,
    ) -> Moved:
        """Return the plan, or what was done."""
        ...


def move_in(
    memory: ProjectMemory,
    ref: ProjectRef,
    path: Path,
    options: MoveOptions | None = None,
    *,
    confirm: Confirm,
    by: Author = NOBODY,
    progress: Progress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> Moved:
    """Take what another tool kept into a project; what is told first is what is written then.

    Args:
        memory: Holds the project.
        ref: Which project; it is made if the source holds anything.
        path: The file or folder; a person named it, so it may lie anywhere.
        options: How.
        confirm: Shown the plan, says whether to write it; asked only when there is something.
        by: Who moves in.
        progress: Told now and then how far it is, in percent.
        is_cancelled: Asked now and then whether to stop.

    Raises:
        InvalidParamError: There is nothing at `path`, or it is nothing that is known.
        SecretDetectedError: Some text seems to hold a credential; every place is told.
        ConflictError: With its links an entry would supersede itself.
        TransferCancelledError: The caller gave up.
    """
    options = options or MoveOptions()
    place = memory.place(ref)
    root = open_root(
        path,
        project_root=place.project.root,
        style=place.rules.style,
        allowed_roots=place.roots,
    )
    found = detect(root, options.kind)
    if found.kind is Kind.MEMORY_NODE:
        from schemory.transfer.foreign.memory_node import move_database  # noqa: PLC0415 (rare)

        mover: Mover = move_database
    else:
        require_notes(found.kind, root)
        mover = _move_notes
    meter = Meter(progress, is_cancelled, "import")
    own = replace(options, kind=found.kind)
    plan = mover(memory, ref, root, own, confirm=confirm, by=by, meter=meter)
    return replace(plan, why=found.why)


def require_notes(kind: Kind, root: Root) -> None:
    """Pass when a kind is one of notes.

    Raises:
        InvalidParamError: It is for another command.
    """
    commands = {
        Kind.GRAPH: f"schemory import-graph {root.path}",
        Kind.EXPORT: f"schemory import {root.path}",
    }
    if kind in commands:
        message = f"{root.path} is no notes, but {kind.value}"
        raise InvalidParamError.at("PATH", message, suggestions=[f"Run `{commands[kind]}`."])


def _move_notes(
    memory: ProjectMemory,
    ref: ProjectRef,
    root: Root,
    options: MoveOptions,
    *,
    confirm: Confirm,
    by: Author,
    meter: Meter,
) -> Moved:
    arguments = audit_arguments(root, options)
    with memory.recording(OPERATION, ref, arguments, by) as record, Scratch() as scratch:
        return _Move(memory, record, scratch, root, options, confirm=confirm, meter=meter).run()


class _Move:
    """One source on its way into one project."""

    def __init__(
        self,
        memory: ProjectMemory,
        record: Record,
        scratch: Scratch,
        root: Root,
        options: MoveOptions,
        *,
        confirm: Confirm,
        meter: Meter,
    ) -> None:
        self._memory = memory
        self._record = record
        self._scratch = scratch
        self._root = root
        self._options = options
        self._confirm = confirm
        self._meter = meter
        self._tally = Tally()
        self._intake = Intake(
            scratch,
            record.place,
            options,
            self._tally,
            author=record.by.author,
            now=memory.work.now(),
        )

    def run(self) -> Moved:
        """Read, compare, ask, and write."""
        store, place = self._memory.store, self._record.place
        self._read()
        with store.read_memory(place.id) as reader:
            seen = reader.last_seq()
            plan = self._compare(reader)
        if self._options.dry_run or not plan.has_changes or not self._confirm(plan):
            return replace(plan, warnings=self._record.warnings)
        derive_terms(self._scratch, store, place.id, self._meter.phase(70, 85, "indexing"))
        with self._record.transaction() as tx:
            if tx.last_seq() != seen:  # somebody wrote meanwhile: look again
                plan = self._compare(tx)
            seq = self._write(tx, plan)
        parts = tuple(replace(part, seq=seq) for part in plan.parts)
        return replace(plan, parts=parts, is_written=True, warnings=self._record.warnings)

    def _read(self) -> None:
        advance = self._meter.phase(0, 40, "reading")
        for number, draft in enumerate(
            _drafts(self._root, self._options, self._record, self._tally)
        ):
            if number % _STEP == 0:
                advance(number / (number + 1_000))  # how many there will be is not known
            self._intake.take(draft)
        self._intake.finish()
        if self._intake.allowed_secrets:
            self._record.has_secret = True
            self._record.facts["findings"] = self._intake.allowed_secrets
            count = self._intake.allowed_secrets
            self._record.warn(f"{count} texts seem to hold a credential; stored as allowed.")

    def _compare(self, reader: MemoryReader) -> Moved:
        settling = Settling(
            reader,
            self._scratch,
            self._record.place.id,
            ids=self._memory.work.ids,
            advance=self._meter.phase(40, 70, "comparing with what is stored"),
        )
        settling.settle()
        knows_any = settling.unchanged or settling.changed or settling.refreshed
        gone = settling.find_gone(self._intake.files) if knows_any else []
        if settling.is_partly_compared or self._intake.compares_partly:
            self._record.warn("Not every entry was compared for near twins: there are too many.")
        return replace(self._plan(settling), gone=tuple(gone))

    def _plan(self, settling: Settling) -> Moved:
        intake, tally = self._intake, self._tally
        counts = Counts(
            new=settling.new,
            changed=settling.changed,
            refreshed=settling.refreshed,
            unchanged=settling.unchanged,
            duplicates=settling.duplicate_count + intake.duplicate_count,
            edited_here=settling.edited_count,
            secrets=intake.left_out,
            links=self._scratch.links.count(Fate.INSERT),
        )
        return Moved(
            path=str(self._root.path),
            kind=self._options.kind or Kind.MARKDOWN,
            parts=(Part(project_id=self._record.place.id, counts=counts),),
            files=tally.files,
            skipped=tally.skipped,
            refused=tuple(tally.refused),
            refused_count=tally.refused_count,
            junk=tally.junk,
            junk_places=tuple(tally.junk_places),
            removed=tally.removed,
            notes=tally.notes,
            duplicates=(*intake.duplicates, *settling.duplicates)[:MOST_TOLD],
            near=(*settling.near, *intake.near)[:MOST_TOLD],
            edited_here=tuple(settling.edited),
            secrets=tuple(intake.secrets),
            unresolved=tuple(intake.unresolved),
            samples=tuple(settling.samples),
            warnings=self._record.warnings,
        )

    def _write(self, tx: MemoryTransaction, plan: Moved) -> int | None:
        place = self._record.place
        loading = Loading(
            tx,
            self._scratch,
            place.id,
            origin=None,
            ids=self._memory.work.ids,
            index_text=self._memory.store.index_text,
            advance=self._meter.phase(85, 100, "writing"),
        )
        loading.find_new_ids()
        counts = plan.parts[0].counts
        self._record.facts.update(
            kind=plan.kind.value,
            inserted=counts.new,
            updated=counts.changed + counts.refreshed,
            links=counts.links,
        )
        if not counts.has_changes:
            return None
        self._record.keep_project(tx)
        loading.write()
        return loading.seq


def _drafts(root: Root, options: MoveOptions, record: Record, tally: Tally) -> Iterator[Draft]:
    kind = options.kind or Kind.MARKDOWN
    max_bytes = record.place.limits.max_entry_bytes
    if kind in MARKDOWN_KINDS:
        return read_markdown(root, Reading(kind, max_bytes), tally)
    if kind is Kind.BASIC_MEMORY:
        return read_basic_memory(root, Reading(kind, max_bytes), tally)
    if kind is Kind.JOURNAL:
        return read_journal(root, tally)
    readers: dict[Kind, Callable[[Root, int, Tally], Iterator[Draft]]] = {
        Kind.MEM0: read_mem0,
        Kind.MEMPALACE: read_mempalace,
    }
    return readers[kind](root, max_bytes, tally)
