"""Reads Markdown: notes for agents, memory banks, decision records and plain folders."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from schemory.model.entry import SourceType, Status
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.model.text import fold
from schemory.transfer.foreign.draft import Draft, Place, Tally
from schemory.transfer.foreign.files import Root, TextFile, find_files, read_text_file
from schemory.transfer.foreign.kinds import Kind
from schemory.transfer.foreign.records import (
    decision_status,
    entry_status,
    record_number,
    superseded_by,
)
from schemory.transfer.foreign.sections import Piece, Split, Why, split

ENDINGS: Final = frozenset({".md", ".mdc", ".markdown", ".mdown"})
NOTE_NAMES: Final = frozenset(
    {
        *("claude.md", "claude.local.md", "agents.md", "agents.override.md", "agent.md"),
        *("gemini.md", "memory.md", "memories.md", "qwen.md", "codex.md", "warp.md"),
        *(".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints"),
        *("copilot-instructions.md", "conventions.md", ".rules"),
    }
)
_MEMORIES: Final = frozenset({"memory.md", "memories.md"})
_BANK: Final[Mapping[str, SourceType]] = {
    "projectbrief": SourceType.DOC_OBSERVATION,
    "productcontext": SourceType.DOC_OBSERVATION,
    "systempatterns": SourceType.DOC_OBSERVATION,
    "techcontext": SourceType.ENVIRONMENT_NOTE,
    "activecontext": SourceType.HANDOFF,
    "progress": SourceType.HANDOFF,
    "decisionlog": SourceType.DECISION,
}
BANK_NAMES: Final = frozenset(_BANK)
LOG_NAMES: Final = frozenset({"decisionlog", "decisions", "adr", "adrs", "decision_log"})
_SCOPES: Final[Mapping[Kind, str]] = {
    Kind.NOTES: "conventions",
    Kind.MEMORY_BANK: "memory bank",
    Kind.ADR: "decisions",
    Kind.MARKDOWN: "notes",
}
_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_MAX_REF: Final = 300
_PARTED: Final = " > "


@dataclass(frozen=True, slots=True)
class Reading:
    """How Markdown is read: as what, and how long a piece may be."""

    kind: Kind
    max_bytes: int


def is_markdown(path: Path) -> bool:
    """Whether a file's name says that it is Markdown, or notes for agents."""
    return path.suffix.lower() in ENDINGS or path.name.lower() in NOTE_NAMES


def read_markdown(root: Root, reading: Reading, tally: Tally) -> Iterator[Draft]:
    """Yield drafts of every section of substance, file by file."""
    wanted = _is_note if reading.kind is Kind.NOTES and root.path.is_dir() else is_markdown
    for path in find_files(root, wanted, tally):
        file = read_text_file(root, path, tally)
        if file is not None:
            yield from drafts_of(root, file, reading, tally)


def drafts_of(root: Root, file: TextFile, reading: Reading, tally: Tally) -> Iterator[Draft]:
    """Yield the drafts of one file."""
    is_log = fold(file.path.stem) in LOG_NAMES
    parted = split(file.text, max_bytes=reading.max_bytes, is_log=is_log)
    count_removed(parted, file, tally)
    seen: Counter[str] = Counter()
    for number, piece in enumerate(parted.pieces):
        draft = _draft(root, file, parted, piece, reading.kind)
        seen[draft.key] += 1
        if seen[draft.key] > 1:  # headings that say the same
            draft = replace(draft, key=f"{draft.key} ({seen[draft.key]})")
        yield with_front(draft, parted) if number == 0 else draft


def count_removed(parted: Split, file: TextFile, tally: Tally) -> None:
    """Tell the tally what of a file is in no piece."""
    for lines in parted.removed:
        if lines.why is Why.HEADING:
            tally.notes[Why.HEADING.value] += 1
        elif lines.why not in {Why.BLANK, Why.FRONT_MATTER}:
            tally.drop(Place(file.shown, lines.start + 1), lines.why.value)
    if not parted.pieces:
        tally.drop(Place(file.shown), "files without text")


def with_front(draft: Draft, parted: Split) -> Draft:
    """Return a file's first draft with what the file's head says."""
    if not parted.front.end:
        return draft
    described = parted.front.text_of("description", "summary")
    return replace(
        draft,
        summary=draft.summary or described,
        metadata={**draft.metadata, "front_matter": parted.front.text},
    )


def make_key(stored_path: str, headings: tuple[str, ...]) -> str:
    """Return what a section is known by: its file and its headings; long ones keep a sum.

    >>> make_key("CLAUDE.md", ("Build", "Linux")), make_key("a.md", ())
    ('CLAUDE.md#Build > Linux', 'a.md')
    """
    key = stored_path + ("#" + _PARTED.join(headings) if headings else "")
    if len(key) <= _MAX_REF:
        return key
    import hashlib  # noqa: PLC0415 (few keys are that long)

    return f"{key[:_MAX_REF]}…{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def headings_in(parted: Split, piece: Piece) -> tuple[str, ...]:
    """Return a piece's headings without the file's title: that may change and mean the same."""
    return piece.headings[1:] if parted.title is not None else piece.headings


def date_of(text: str | None) -> str | None:
    """Return a date that a file tells, as ISO text, None where it is none."""
    found = _DATE.search(text or "")
    return found.group().replace(" ", "T") if found else None


def _draft(root: Root, file: TextFile, parted: Split, piece: Piece, kind: Kind) -> Draft:
    front = parted.front
    title = front.text_of("title", "name") or parted.title or file.path.name
    is_decision = piece.is_record or kind is Kind.ADR
    created = date_of(front.text_of("created", "created_at", "date")) or file.changed_at
    draft = Draft(
        place=Place(file.shown, piece.numbers[0] + 1),
        key=make_key(file.source.path, headings_in(parted, piece)),
        content=piece.text,
        lines=[number + 1 for number in piece.numbers],
        scope=_scope(root, file, kind),
        topic=title,
        title=piece.headings[-1] if piece.headings else title,
        source_type=SourceType.DECISION if is_decision else source_type_of(file.path, kind),
        source=file.source,
        tags=(*front.list_of("tags"), *(("generated",) if piece.is_generated else ())),
        created_at=created,
        updated_at=max(created, file.changed_at),
        names=(file.path.stem,),
        metadata={"import": _origin(file, piece, kind)},
    )
    return _decision(draft, file) if is_decision else draft


def _origin(file: TextFile, piece: Piece, kind: Kind) -> dict[str, Json]:
    return {
        "kind": kind.value,
        "file": file.source.path,
        "lines": [piece.numbers[0] + 1, piece.numbers[-1] + 1],
    }


def _decision(draft: Draft, file: TextFile) -> Draft:
    """Return a decision record with its status, and the number that others call it by."""
    word = decision_status(draft.content)
    status = entry_status(word)
    number = record_number(draft.title or "", file.path.name)
    later = superseded_by(draft.content) if status is Status.SUPERSEDED else None
    told: dict[str, Json] = {"decision_status": word} if word else {}
    return replace(
        draft,
        status=status,
        names=(*draft.names, *((f"adr-{number}",) if number else ())),
        superseded_by=f"adr-{later}" if later else None,
        metadata={**draft.metadata, **told},
    )


def source_type_of(path: Path, kind: Kind) -> SourceType:
    """Return what kind of thing the sections of a file are."""
    name = path.name.lower()
    if kind is Kind.MEMORY_BANK:
        return _BANK.get(fold(path.stem), SourceType.DOC_OBSERVATION)
    if kind is Kind.NOTES and name in _MEMORIES:
        return SourceType.AGENT_NOTE
    return SourceType.DOC_OBSERVATION


def _scope(root: Root, file: TextFile, kind: Kind) -> str:
    """Return the scope: a plain folder's is the first folder below it."""
    parts = file.path.relative_to(root.folder).parts
    if kind is Kind.MARKDOWN and len(parts) > 1:
        return parts[0]
    return _SCOPES[kind]


def _is_note(path: Path) -> bool:
    """Whether a file of a folder is notes for agents: by its name, or as a rule of Cursor."""
    name = path.name.lower()
    is_rule = path.suffix.lower() == ".mdc" or path.parent.name in {".clinerules", "rules"}
    return name in NOTE_NAMES or (is_rule and is_markdown(path))
