"""What can be done for a store as a whole: look it over, mend, copy, bring back, tidy, update."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias

from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json

Progress: TypeAlias = Callable[[float, float | None, str], None]
"""Told how much is done, of how much (None = unknown), and what is going on."""


def unheard(done: float, total: float | None, message: str) -> None:
    """Take progress that nobody watches."""
    del done, total, message


class Severity(StrEnum):
    """How bad a finding is."""

    FATAL = "fatal"  # the store cannot be used, or not all of it
    ERROR = "error"  # something does not work as it should
    WARNING = "warning"  # it works, but may not for long, or not as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        code: Stable, such as `index.graph`.
        what: A sentence; names, ids and places only, never what is stored.
        next_step: What to do about it.
        can_fix: Whether `Keeper.mend` puts it right.
    """

    code: str
    severity: Severity
    what: str
    next_step: str
    can_fix: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What looking a store over found.

    Attributes:
        exists: Whether there is a store; none is made by looking.
        is_current: Whether it can be opened without being changed first.
        facts: What may interest a person: location, size, versions, counts.
    """

    exists: bool
    is_current: bool
    facts: Mapping[str, Json]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A backup that was verified.

    Attributes:
        counts: How much it holds: nodes, edges, entries, projects (a graph file: lines, …).
    """

    path: Path
    bytes: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A store that was brought back.

    Attributes:
        replaced: Where what was there before is now; None = nothing was there.
    """

    path: Path
    replaced: Path | None
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    """How many bytes the store took before and after."""

    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """The schema's version before and after.

    Attributes:
        copy: The file as it was, kept because a step could not be taken back.
    """

    version_before: int
    version_after: int
    copy: Path | None = field(default=None)


class Keeper(Protocol):
    """Looks after one store; it need not be open, nor sound."""

    @property
    def location(self) -> str:
        """The absolute path, for people."""
        ...

    def inspect(self, progress: Progress = unheard) -> Inspection:
        """Look everything over; changes nothing and makes nothing."""
        ...

    def mend(self, findings: tuple[Finding, ...]) -> tuple[str, ...]:
        """Put right what can be put right without loss; returns a sentence for each thing done.

        Raises:
            StoreError: It cannot be written, or somebody else is writing all the time.
        """
        ...

    def backup(self, target: Path, progress: Progress = unheard) -> Copied:
        """Copy the store to a file while others use it; it is there only when it is verified.

        Raises:
            StoreError: There is no store, it is damaged, or `target` cannot be written.
            InvalidParamError: `target` is the store itself or a file that is no backup.
        """
        ...

    def restore(self, source: Path, progress: Progress = unheard) -> Restored:
        """Put a verified copy of `source` in the store's place; what was there is kept beside it.

        Raises:
            StoreBusyError: Somebody has the store open. StoreCorruptError: `source` is no sound
                backup; the store is as it was.
        """
        ...

    def vacuum(self) -> Tidied:
        """Give back free space, so that deleted text is nowhere in the file.

        Raises:
            StoreError: There is no store, or somebody reads it.
        """
        ...

    def migrate(self) -> Migrated:
        """Bring the schema to this version's.

        Raises:
            StoreError: There is no store, it is newer, or somebody else is writing.
        """
        ...
