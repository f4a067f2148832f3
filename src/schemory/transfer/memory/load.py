"""Reads a file into the temporary database and checks all that the file alone can tell."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from schemory.errors import Problem
from schemory.memory.entries import EntryRules
from schemory.memory.faults import invalid
from schemory.memory.settings import Limits
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.model.likeness import nearest
from schemory.storage.scratch.database import Scratch
from schemory.transfer.memory.check import Checker
from schemory.transfer.memory.faults import MAX_TOLD, FileFaults
from schemory.transfer.memory.options import (
    FORMAT,
    VERSION,
)
from schemory.transfer.memory.source import FileRecord, Part, read_records
from schemory.transfer.memory.source_paths import SourcePaths
from schemory.transfer.memory.stream import refused

_STEP: Final = 200
_ROOM: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file says of its project, and what is odd about it.

    Attributes:
        secrets: How many of its texts look like credentials.
        early: How many of its times are far to come; they were taken as now.
    """

    origin: str | None
    display_name: str | None
    created_at: str | None
    metadata: Json
    secrets: int
    early: int


def load_file(
    path: Path,
    file: BinaryIO,
    scratch: Scratch,
    rules: EntryRules,
    *,
    paths: SourcePaths,
    allow_secret: bool,
    now: datetime,
    advance: Callable[[float], None],
) -> Loaded:
    """Take all of a file into `scratch`.

    Args:
        path: The file, for messages and its size.
        file: Open for reading.
        scratch: Still empty.
        rules: Of the project that imports.
        paths: Judges what entries name as their source.
        allow_secret: Only count what looks like a credential.
        now: The time of the import.
        advance: Told now and then which share is read; may raise to stop.

    Raises:
        InvalidParamError: It is no export, or things in it cannot be stored; all are told.
        LimitExceededError, SecretDetectedError: Likewise.
    """
    faults = FileFaults(allow_secret=allow_secret)
    loader = _Loader(scratch, Checker(rules, faults, paths, now), faults)
    for number, record in enumerate(read_records(path, file, max_chars(rules.limits))):
        if number % _STEP == 0:
            advance(record.share)
        loader.take(record)
    return loader.finish()


def max_chars(limits: Limits) -> int:
    r"""Return how long one thing of a file may be: content and metadata, each byte as `\u0000`."""
    return 12 * limits.max_entry_bytes + _ROOM


class _Loader:
    def __init__(self, scratch: Scratch, check: Checker, faults: FileFaults) -> None:
        self._scratch = scratch
        self._faults = faults
        self._check = check
        self._has_head = False
        self._head: dict[str, Json] = {}
        self._project: dict[str, Json] = {}

    def take(self, record: FileRecord) -> None:
        where = record.where
        if record.part is Part.HEAD:
            self._take_head(record.value, where)
        elif record.part is Part.ENTRY:
            entry = self._check.entry(record.value, where)
            if entry is not None and not self._scratch.entries.add(entry, where):
                self._faults.add(where, invalid("id", "is the id of an entry before it"))
        elif record.part is Part.TAG:
            tag = self._check.tag(record.value, where)
            if tag is not None and not self._scratch.add_tag(tag):
                self._faults.add(where, invalid("name", "is the name of a tag before it"))
        else:
            link = self._check.link(record.value, where)
            if link is not None and not self._scratch.links.add(link, where):
                fault = "or its ends and relation are those of a link before it"
                self._faults.add(where, invalid("id", fault))

    def finish(self) -> Loaded:
        """Check what only the whole file tells, and return what it says of itself."""
        for key, value in (("format", FORMAT), ("version", VERSION)):
            if self._has_head and key not in self._head:
                raise refused(f"the file does not say its {key}, {value!r}", _HINT)
        # What was refused would be missed by links; that is told when nothing else is wrong.
        if not self._faults.count:
            self._find_dangling()
        if not self._faults.count:
            self._settle_supersedes()
        self._faults.raise_any()
        return Loaded(
            origin=self._told("id"),
            display_name=self._told("display_name"),
            created_at=self._told("created_at"),
            metadata=self._project.get("metadata"),
            secrets=self._faults.secrets,
            early=self._check.early,
        )

    def _told(self, name: str) -> str | None:
        """Return what the file says of its project."""
        value = self._project.get(name)
        return value if isinstance(value, str) else None

    def _take_head(self, value: Json, where: str) -> None:
        if not isinstance(value, dict):
            raise refused(f"{where} must be an object")
        self._has_head = True
        self._head.update(value)
        form, version = value.get("format", FORMAT), value.get("version", VERSION)
        if form != FORMAT:
            raise refused(f"the file's format is not {FORMAT!r}", _HINT)
        if version != VERSION or isinstance(version, bool):
            shown = version if isinstance(version, int) else "no number"
            raise refused(
                f"the file has version {shown}, this program reads version {VERSION}",
                "Import it with the program that wrote it, or a newer one.",
            )
        if value.get("project") is not None:
            self._project = self._check.project(value["project"], f"{where}.project")

    def _find_dangling(self) -> None:
        """Refuse links with an end that is not in the file."""
        for place, field, entry_id in self._scratch.links.dangling():
            self._faults.add(place, self._dangling(field, entry_id))

    def _dangling(self, field: str, entry_id: str) -> Problem:
        near: tuple[str, ...] = ()
        if self._faults.count < MAX_TOLD:
            near = nearest(entry_id, self._scratch.entries.ids_near(entry_id, 20))
        return invalid(field, f"names {entry_id!r}, which is no entry of the file", near=near)

    def _settle_supersedes(self) -> None:
        """Refuse circles; an active entry that another supersedes is superseded."""
        found = self._scratch.find_cycle(with_stored=False)
        if found is not None:
            place = self._scratch.entries.place_of(found)
            self._faults.add(place, invalid("id", "supersedes itself over other entries"))
        self._scratch.links.supersede()


_HINT: Final = "Make it with memory_export_project; other files of notes are for `schemory import`."
