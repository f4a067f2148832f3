"""What moving in is asked for, and what it tells: every count with its evidence."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from schemory.model.frozen import dataclass
from schemory.transfer.foreign.draft import Evidence, Place
from schemory.transfer.foreign.kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveOptions:
    """How to move in.

    Attributes:
        kind: What the source is; None = find out.
        scope: Of every entry, instead of what the source tells.
        tags: For every entry, beside its own.
        dry_run: Never write.
        allow_secret: Take texts that look like credentials.
        skip_secrets: Leave the entries out that hold one, and take the rest.
        source_project: Of a database with several projects, take only this one.
        into_one: A database goes into the project of the call; else each project keeps its own.
    """

    kind: Kind | None = None
    scope: str | None = None
    tags: tuple[str, ...] = ()
    dry_run: bool = False
    allow_secret: bool = False
    skip_secrets: bool = False
    source_project: str | None = None
    into_one: bool = False


@dataclass(frozen=True, slots=True)
class Twin:
    """An entry of the source that says what another says, wholly or nearly."""

    place: Place
    entry_id: str
    share: float = 1.0
    where: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """An entry as it will be: where it comes from and what it is called."""

    place: Place
    entry_id: str
    title: str
    scope: str
    topic: str
    source_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What becomes of the entries of the source; together they are all of them.

    Attributes:
        new: Are stored.
        changed: Are known, and the source says something else by now; the old text stays in the
            entry's history.
        refreshed: Are known and say the same; the file around them has changed.
        unchanged: Are known, nothing is new.
        duplicates: Are in the source twice, or in the store from elsewhere.
        edited_here: Changed in the source, but the entry was changed here too; left as it is.
        secrets: Left out, since they seem to hold a credential.
        links: Links that are new; no entries.
    """

    new: int = 0
    changed: int = 0
    refreshed: int = 0
    unchanged: int = 0
    duplicates: int = 0
    edited_here: int = 0
    secrets: int = 0
    links: int = 0

    @property
    def has_changes(self) -> bool:
        """Whether anything is to be written."""
        return bool(self.new or self.changed or self.refreshed or self.links)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What goes into one project.

    Attributes:
        seq: The transaction's number, for `undo`; None while nothing is written.
        audit_rows: Rows of the source's audit that were kept.
    """

    project_id: str
    counts: Counts
    seq: int | None = None
    audit_rows: int = 0
    source_project: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What moving in did, or would do.

    Attributes:
        why: Why the source was taken for that kind; "" = the caller said so.
        is_written: Otherwise this is the plan.
        skipped: Files that are not for this import, by reason.
        refused: What should have been taken and could not be; `refused_count` is all of it.
        junk: Places without substance, by reason.
        removed: Invisible characters that were taken out, by name.
        notes: What else a person should know, counted.
        duplicates: Exact ones, `near` the nearly equal ones, which are taken all the same.
        edited_here: Entries that both sides changed.
        gone: Entries of an earlier import whose section the source has no longer; left alone.
        secrets: Entries that are left out, or taken as allowed, with the rule that spoke.
        unresolved: Links whose target is nowhere.
        samples: The first of the new entries.
    """

    path: str
    kind: Kind
    parts: tuple[Part, ...]
    why: str = ""
    is_written: bool = False
    files: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    refused: tuple[Evidence, ...] = ()
    refused_count: int = 0
    junk: Mapping[str, int] = field(default_factory=dict[str, int])
    junk_places: tuple[Evidence, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    notes: Mapping[str, int] = field(default_factory=dict[str, int])
    duplicates: tuple[Twin, ...] = ()
    near: tuple[Twin, ...] = ()
    edited_here: tuple[Twin, ...] = ()
    gone: tuple[Twin, ...] = ()
    secrets: tuple[Evidence, ...] = ()
    unresolved: tuple[Evidence, ...] = ()
    samples: tuple[Sample, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def has_changes(self) -> bool:
        """Whether anything is, or would be, written."""
        return any(part.counts.has_changes or part.audit_rows for part in self.parts)


Confirm: TypeAlias = Callable[[Moved], bool]
"""Asked with the plan whether to write it."""
