"""What an export or import of memory is asked for, and what it tells."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, TypeAlias

from schemory.errors import VetoedError
from schemory.memory.handoff_results import Answer
from schemory.model.entry import Status
from schemory.model.frozen import dataclass, field

FORMAT: Final = "memory-node.project-export"
VERSION: Final = 1

Progress: TypeAlias = Callable[[float, float | None, str], None]
"""Told (done, total or None, what is going on) now and then."""

IsCancelled: TypeAlias = Callable[[], bool]
"""Asked between steps whether to give up."""


class TransferCancelledError(VetoedError):
    """The caller gave up; nothing was stored and no file is left."""


class ExportFormat(StrEnum):
    """The forms of an export; an import recognises them by their content."""

    JSON = "json"  # one envelope
    ZIP = "zip"  # the envelope's parts as members, with their sums
    JSONL = "jsonl"  # an entry a line, for keeping in git


class OnConflict(StrEnum):
    """What an import does with what the project holds already."""

    FAIL = "fail"  # refuse at the first entry that is there, by id or content
    MERGE = "merge"  # insert what is new, bring metadata of the rest together
    REPLACE = "replace"  # the file becomes all that the project holds


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What goes into an export; active entries always do.

    Attributes:
        overwrite: Replace a file that is there.
    """

    format: ExportFormat = ExportFormat.JSON
    include_archived: bool = False
    include_invalidated: bool = False
    include_superseded: bool = False
    overwrite: bool = False

    @property
    def statuses(self) -> tuple[Status, ...]:
        """Which entries are meant."""
        more = (
            (self.include_superseded, Status.SUPERSEDED),
            (self.include_invalidated, Status.INVALIDATED),
            (self.include_archived, Status.ARCHIVED),
        )
        return (Status.ACTIVE, *(status for is_in, status in more if is_in))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How an import treats what is there, and what it lets pass.

    Attributes:
        confirm_replace: Without it `replace` is refused.
        allow_secret: Take texts that look like credentials.
        dry_run: Check everything and count, write nothing.
    """

    on_conflict: OnConflict = OnConflict.FAIL
    confirm_replace: bool = False
    allow_secret: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport(Answer):
    """What was exported.

    Attributes:
        path: The file, as a real path.
        left_out: Entries by status that the options did not ask for.
    """

    path: str
    format: ExportFormat
    entries: int
    tags: int
    links: int
    size_bytes: int
    sha256: str
    left_out: Mapping[Status, int] = field(default_factory=dict[Status, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCounts:
    """What became of the file's entries: `inserted + updated + unchanged + skipped` is all of them.

    Attributes:
        updated: Already there; something about them is new.
        unchanged: Already there, nothing new about them.
        skipped: Their content is there already, under another id, and nothing about it is new.
        links: Links that were inserted.
        removed: With `replace`: entries of the project that the file does not hold.
    """

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: int = 0
    links: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport(Answer):
    """What an import did, or on a dry run would do.

    Attributes:
        path: The file, as a real path.
        origin: The project that was exported; None = the file does not say.
        seq: Number of the transaction, for `undo`; None when nothing was written.
        backup_path: With `replace`: an export of everything the project held before.
        renamed: Entries that got a new id, because another project of the store holds theirs;
            None on a dry run, which does not look for them.
    """

    path: str
    counts: ImportCounts
    origin: str | None = None
    seq: int | None = None
    backup_path: str | None = None
    renamed: int | None = None
    dry_run: bool = False
