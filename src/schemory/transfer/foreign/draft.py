"""What a reader makes of a foreign thing: an entry to be, and where it stands."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass as plain_dataclass
from dataclasses import field
from typing import Final

from schemory.model.entry import Relation, SourceType, Status
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json

MOST_TOLD: Final = 200
"""As many places are told one by one; all are counted."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands; `line` counts from 1, 0 = the entire file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class DraftLink:
    """A link of a draft to whatever answers to the name `target`."""

    relation: Relation
    target: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file a draft comes from: its path as entries store it, and what it is now.

    Attributes:
        is_allowed: It lies in the project or an allowed root, so that an entry may name it.
    """

    path: str
    sha256: str
    size: int
    blob: str
    is_allowed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An entry to be.

    Attributes:
        place: For people.
        key: What it is known by within the project, equal at every import: becomes source_ref.
        lines: The source's line, from 1, of each line of the content; () = not known.
        names: Other names that links of the same import may use.
        superseded_by: The name of what supersedes it.
        metadata: What the source tells beyond an entry's fields.
    """

    place: Place
    key: str
    content: str
    scope: str
    topic: str
    source_type: SourceType
    title: str | None = None
    summary: str | None = None
    source: SourceFile | None = None
    source_uri: str | None = None
    tags: tuple[str, ...] = ()
    status: Status = Status.ACTIVE
    importance: int | None = None
    confidence: float | None = None
    created_at: str | None = None
    updated_at: str | None = None
    created_by: str | None = None
    lines: Sequence[int] = ()
    names: tuple[str, ...] = ()
    links: tuple[DraftLink, ...] = ()
    superseded_by: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was counted: where it stands, and what is the matter."""

    place: Place
    what: str


@plain_dataclass(slots=True)
class Tally:
    """What a reader met that became no entry; each list is bounded, the counts are whole.

    Attributes:
        files: Files that were read.
        skipped: Files that are not for this import, by reason; no loss.
        refused: Files and records that should have been taken and could not be.
        junk: Places without substance, by reason.
        removed: Invisible characters that were taken out, by name.
        notes: What else a person should know, by text.
    """

    files: int = 0
    skipped: Counter[str] = field(default_factory=Counter[str])
    refused: list[Evidence] = field(default_factory=list[Evidence])
    refused_count: int = 0
    junk: Counter[str] = field(default_factory=Counter[str])
    junk_places: list[Evidence] = field(default_factory=list[Evidence])
    removed: Counter[str] = field(default_factory=Counter[str])
    notes: Counter[str] = field(default_factory=Counter[str])

    def refuse(self, place: Place, what: str) -> None:
        """Count something that cannot be taken."""
        self.refused_count += 1
        if len(self.refused) < MOST_TOLD:
            self.refused.append(Evidence(place, what))

    def drop(self, place: Place, why: str) -> None:
        """Count something without substance."""
        self.junk[why] += 1
        if len(self.junk_places) < MOST_TOLD:
            self.junk_places.append(Evidence(place, why))
