"""Moves in from the TypeScript memory-node server: every row, project by project.

Entries, tags and links keep their ids, times, statuses and metadata; what does not fit our rules is
brought to the nearest that does, the original stays in the entry's metadata, and each such case is
counted. All projects are read and checked before the first is written; each is one transaction.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

from schemory.errors import InvalidParamError, SchemoryError
from schemory.identity.remotes import canonical_remote
from schemory.memory.entries import EntryRules
from schemory.memory.faults import invalid
from schemory.memory.inputs import ProjectRef
from schemory.memory.record import Record
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import Limits
from schemory.model.author import Author
from schemory.model.entry import AuditRow, Project
from schemory.model.likeness import nearest
from schemory.model.moment import moment_text
from schemory.model.project import GIT_PREFIX, PATH_PREFIX
from schemory.storage.foreign.memory_node import MemoryNode, Row, open_memory_node
from schemory.storage.memory_protocols import MemoryReader, MemoryTransaction
from schemory.storage.protocols import Position
from schemory.storage.scratch.database import Scratch
from schemory.storage.scratch.tables import Fate
from schemory.transfer.foreign.audit import OPERATION, audit_arguments
from schemory.transfer.foreign.draft import Place, Tally
from schemory.transfer.foreign.files import Root
from schemory.transfer.foreign.kinds import Kind
from schemory.transfer.foreign.memory_node_rows import (
    audit_of_row,
    entry_of_row,
    link_of_row,
    loaded,
    tag_of_row,
    text_of,
)
from schemory.transfer.foreign.options import Confirm, Counts, Moved, MoveOptions, Part
from schemory.transfer.memory.check import Checker
from schemory.transfer.memory.compare import Comparison
from schemory.transfer.memory.faults import FileFaults
from schemory.transfer.memory.meter import Meter
from schemory.transfer.memory.options import OnConflict
from schemory.transfer.memory.write import Loading, derive_terms

_PAGE: Final = 1_000
_MANY: Final = 10_000
_RELAXED: Final = Limits(
    max_entry_bytes=64 * 1024 * 1024,
    max_tags=_MANY,
    max_title_chars=_MANY,
    max_summary_chars=_MANY,
    max_source_ref_chars=_MANY,
    max_source_uri_chars=_MANY,
    max_project_id_chars=_MANY,
    max_scope_chars=_MANY,
    max_topic_chars=_MANY,
    max_tag_chars=_MANY,
)
"""What was stored once is not refused for its length."""


def move_database(
    memory: ProjectMemory,
    ref: ProjectRef,
    root: Root,
    options: MoveOptions,
    *,
    confirm: Confirm,
    by: Author,
    meter: Meter,
) -> Moved:
    """Take the rows of a database into the projects they belong to.

    Raises:
        InvalidParamError: It is no such database, one project was asked for and there are many,
            or entries of it supersede each other in a circle.
        SecretDetectedError: Some text seems to hold a credential; all places are told.
        ConflictError: With what is stored, entries would supersede each other in a circle.
    """
    with open_memory_node(root.path) as source, ExitStack() as stack:
        tally = Tally(files=1)
        faults = FileFaults(allow_secret=options.allow_secret)
        moves: list[_Move] = []
        every = list(source.projects())
        chosen = _chosen(every, options)
        for row in chosen:
            target = _target(memory, ref, row, options)
            arguments = audit_arguments(root, options)
            record = stack.enter_context(memory.recording(OPERATION, target, arguments, by))
            scratch = stack.enter_context(Scratch())
            moves.append(_Move(memory, record, scratch, row, source, tally, faults, options))
        for number, move in enumerate(moves):
            move.read()
            meter.phase(0, 50, "reading")((number + 1) / len(moves))
        faults.raise_any()
        _note_rest(source, every, chosen, tally)
        return _run(memory, root, options, moves, tally, confirm=confirm, meter=meter)


def _run(
    memory: ProjectMemory,
    root: Root,
    options: MoveOptions,
    moves: "list[_Move]",
    tally: Tally,
    *,
    confirm: Confirm,
    meter: Meter,
) -> Moved:
    parts = tuple(move.compare(meter) for move in moves)
    plan = _moved(root, tally, parts, moves)
    if options.dry_run or not plan.has_changes or not confirm(plan):
        return plan
    written = tuple(
        move.write(memory, meter) if part.counts.has_changes or part.audit_rows else part
        for move, part in zip(moves, parts, strict=True)
    )
    return replace(_moved(root, tally, written, moves), is_written=True)


def _moved(root: Root, tally: Tally, parts: tuple[Part, ...], moves: "list[_Move]") -> Moved:
    warnings = dict.fromkeys(text for move in moves for text in move.record.warnings)
    others = sum(move.other_contents for move in moves)
    if others:
        warnings[f"{others} entries have another content there; what is stored here was kept."] = (
            None
        )
    return Moved(
        path=str(root.path),
        kind=Kind.MEMORY_NODE,
        parts=parts,
        files=tally.files,
        refused=tuple(tally.refused),
        refused_count=tally.refused_count,
        removed=tally.removed,
        notes=tally.notes,
        warnings=tuple(warnings),
    )


@dataclass(slots=True)
class _Move:
    """One project on its way."""

    memory: ProjectMemory
    record: Record
    scratch: Scratch
    row: Row
    source: MemoryNode
    tally: Tally
    faults: FileFaults
    options: MoveOptions
    left_out: int = 0
    other_contents: int = 0

    @property
    def source_id(self) -> str:
        return text_of(self.row, "id")

    def read(self) -> None:
        """Take entries, tags and links into the scratch."""
        rules = EntryRules(limits=_RELAXED)
        checker = Checker(rules, self.faults)
        for number, row in enumerate(self.source.entries(self.source_id), 1):
            place = f"{self.source_id} entry {text_of(row, 'id') or number}"
            fields = entry_of_row(row, self.tally, self._now())
            if not str(fields["content"]).strip():
                self.tally.refuse(Place(place), "has no text")
                continue
            if self._is_left_out(rules, fields, place):
                continue
            kept = checker.entry(fields, place)
            if kept is not None:
                self.scratch.entries.add({**kept, "project_id": None}, place)
        for row in self.source.tags(self.source_id):
            if not text_of(row, "name").strip():
                self.tally.notes["tags without a name, not taken"] += 1
                continue
            tag = checker.tag(tag_of_row(row, self.tally), f"{self.source_id} tag")
            if tag is not None:
                self.scratch.add_tag(tag)
        self._read_links(checker)

    def compare(self, meter: Meter) -> Part:
        """Say what will become of the rows."""
        with self.memory.store.read_memory(self.record.place.id) as reader:
            self._settle(reader, meter)
            rows = sum(1 for _ in self._new_audit(reader))
        return self._part(rows)

    def write(self, memory: ProjectMemory, meter: Meter) -> Part:
        """Write what was settled, in one transaction."""
        place = self.record.place
        derive_terms(self.scratch, memory.store, place.id, meter.phase(60, 80, "indexing"))
        with self.record.transaction() as tx:
            self._settle(tx, meter)
            loading = Loading(
                tx,
                self.scratch,
                place.id,
                origin=None if self.source_id == place.id else self.source_id,
                ids=memory.work.ids,
                index_text=memory.store.index_text,
                advance=meter.phase(80, 100, "writing"),
            )
            loading.find_new_ids()
            self.record.keep_project(tx)
            self._keep_project(tx)
            loading.write()
            rows = list(self._new_audit(tx))
            for row in rows:
                tx.insert_audit(row)
            part = self._part(len(rows))
            counts = part.counts
            self.record.facts.update(
                inserted=counts.new, updated=counts.changed, links=counts.links, audit=len(rows)
            )
        return replace(part, seq=loading.seq if part.counts.has_changes else None)

    def _settle(self, reader: MemoryReader, meter: Meter) -> None:
        comparison = Comparison(
            reader,
            self.scratch,
            project_id=self.record.place.id,
            origin=self.source_id,
            limits=_RELAXED,
            ids=self.memory.work.ids,
            advance=meter.phase(50, 60, "comparing with what is stored"),
        )
        comparison.settle(OnConflict.MERGE)
        self.other_contents = comparison.other_contents

    def _part(self, audit_rows: int) -> Part:
        count = self.scratch.entries.count
        counts = Counts(
            new=count(Fate.INSERT),
            changed=count(Fate.UPDATE),
            unchanged=count(Fate.SAME),
            duplicates=count(Fate.SKIP),
            secrets=self.left_out,
            links=self.scratch.links.count(Fate.INSERT),
        )
        return Part(
            project_id=self.record.place.id,
            counts=counts,
            audit_rows=audit_rows,
            source_project=self.source_id,
        )

    def _is_left_out(self, rules: EntryRules, fields: Row, place: str) -> bool:
        """Whether an entry holds a credential and is to stay behind for it."""
        if not self.options.skip_secrets:
            return False
        probe = FileFaults(allow_secret=True)
        Checker(rules, probe).entry(fields, place)
        self.left_out += bool(probe.secrets)
        return bool(probe.secrets)

    def _read_links(self, checker: Checker) -> None:
        ends = self.scratch.entries
        for row in self.source.links(self.source_id):
            fields = link_of_row(row, self.tally)
            place = f"{self.source_id} link {text_of(row, 'id')}"
            source, target = str(fields["source_entry_id"]), str(fields["target_entry_id"])
            if source == target or not (ends.has(source) and ends.has(target)):
                self.tally.refuse(Place(place), "links an entry that is not there, or itself")
                continue
            link = checker.link(fields, place)
            if link is not None and not self.scratch.links.add(link, place):
                self.tally.notes["links that say what another says"] += 1
        circle = self.scratch.find_cycle(with_stored=False)
        if circle is not None:
            place = f"{self.source_id} entry {circle}"
            self.faults.add(place, invalid("id", "supersedes itself over other entries"))
        self.scratch.links.supersede()

    def _new_audit(self, reader: MemoryReader) -> Iterator[AuditRow]:
        """Yield the source's audit rows that are not here yet."""
        if not self.memory.settings.audit:
            return
        known: set[str] = set()
        after: Position | None = None
        while True:
            page = reader.list_audit(after=after, limit=_PAGE)
            known.update(row.id for row in page.rows)
            after = page.more
            if after is None:
                break
        for row in self.source.audit(self.source_id):
            audit = audit_of_row(row, self.record.place.id, self._now())
            if audit.id not in known:
                yield audit

    def _keep_project(self, tx: MemoryTransaction) -> None:
        """Take what the database tells of the project, where nothing better is known."""
        stored = tx.find_project()
        if stored is None:
            return
        metadata = loaded(self.row.get("metadata_json"))
        name = text_of(self.row, "display_name") or None
        has_name = stored.display_name not in {None, stored.id}
        tx.put_project(
            Project(
                id=stored.id,
                display_name=stored.display_name if has_name else name,
                canonical_path=stored.canonical_path or text_of(self.row, "canonical_path") or None,
                git_remote=stored.git_remote or text_of(self.row, "git_remote") or None,
                metadata={**metadata, **(stored.metadata or {})} or None,
            )
        )

    def _now(self) -> str:
        return moment_text(self.memory.work.now())


def _chosen(every: list[Row], options: MoveOptions) -> list[Row]:
    ids = [text_of(row, "id") for row in every]
    if options.source_project is not None:
        if options.source_project not in ids:
            near = nearest(options.source_project, ids)
            raise _no_project("holds no project of that id", ids, near)
        return [row for row in every if text_of(row, "id") == options.source_project]
    if options.into_one and len(ids) > 1:
        raise _no_project("holds several projects, and one target was named", ids, ())
    return every


def _no_project(fault: str, ids: list[str], near: tuple[str, ...]) -> InvalidParamError:
    shown = ", ".join(ids[:20]) or "none"
    message = f"The database {fault}"
    hint = f"Name one with --source-project; it holds {shown}."
    return InvalidParamError.at("--source-project", message, nearest=near, suggestions=[hint])


def _target(memory: ProjectMemory, ref: ProjectRef, row: Row, options: MoveOptions) -> ProjectRef:
    """Return the project that a project of the database becomes.

    Ids that were made from a remote or a path are made anew by our rules, so that the project is
    found again from its folder; an id that somebody chose stays.
    """
    if options.into_one:
        return ref
    own_id = text_of(row, "id")
    if own_id.startswith(GIT_PREFIX):
        address = own_id.removeprefix(GIT_PREFIX)
        own_id = canonical_remote(address) or canonical_remote(f"https://{address}") or own_id
    folder = text_of(row, "canonical_path")
    if own_id.startswith(PATH_PREFIX) and folder:
        there = ProjectRef(project_path=folder, allowed_ids=ref.allowed_ids)
        try:
            own_id = memory.place(there).id
        except SchemoryError:  # the folder is gone, or not for us: the id stays as it was
            return ProjectRef(project_id=own_id, allowed_ids=ref.allowed_ids)
    return ProjectRef(project_id=own_id, allowed_ids=ref.allowed_ids)


def _note_rest(source: MemoryNode, every: list[Row], chosen: list[Row], tally: Tally) -> None:
    """Count what belongs to no project that is taken."""
    taken = tuple(text_of(row, "id") for row in every)
    elsewhere = source.count_audit_elsewhere(taken)
    if elsewhere:
        tally.notes["audit rows of no project, not taken"] += elsewhere
    if len(chosen) < len(every):
        tally.notes["other projects of the database, not asked for"] += len(every) - len(chosen)
    for name in source.other_tables():
        tally.notes[f"table {name!r}, not known: its rows are not taken"] += 1
