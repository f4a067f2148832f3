"""Reads a folder of basic-memory: a note is an entry, its relations are links.

The form as its makers document it: front matter with title, type, permalink and tags; observations
`- [category] text #tag (context)` and relations `- type [[Target]] (context)` anywhere in a note.
A note stays one entry, since its observations are read in its context and its relations hold for
all of it; a long one is cut at headings, and its first entry has the links.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from schemory.model.entry import Relation, SourceType
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.model.text import fold
from schemory.transfer.foreign.draft import Draft, DraftLink, Place, Tally
from schemory.transfer.foreign.files import Root, TextFile, find_files, read_text_file
from schemory.transfer.foreign.kinds import Kind
from schemory.transfer.foreign.markdown import (
    Reading,
    count_removed,
    date_of,
    headings_in,
    is_markdown,
    make_key,
    with_front,
)
from schemory.transfer.foreign.sections import Piece, Split, Why, split

WHOLE_NOTE_CHARS: Final = 8_000
"""A note up to this length is one entry."""

_OBSERVATION: Final = re.compile(
    r"^\s*[-*+]\s+\[(?P<category>[^\[\]()]{1,60})\]\s+(?P<text>\S[^\n]*)$", re.MULTILINE
)
_TASK_MARKS: Final = frozenset({"x", "X", "-", "/", ">", "?", "!"})
_TAG: Final = re.compile(r"(?<![\w&/#])#(?P<tag>[^\W\d_][\w/-]*)")
_RELATION: Final = re.compile(
    r"^\s*[-*+]\s+(?P<type>[^\[\]\n]{0,80}?)\s*\[\[(?P<target>[^\[\]\n]+)\]\][^\S\n]*(?P<rest>[^\n]*)$",
    re.MULTILINE,
)
_FENCES: Final = re.compile(r"^(?P<mark>```+|~~~+).*?^(?P=mark)[`~]*\s*$", re.MULTILINE | re.DOTALL)
_RELATIONS: Final[Mapping[str, Relation]] = {
    "relates_to": Relation.RELATED_TO,
    "related_to": Relation.RELATED_TO,
    "supersedes": Relation.SUPERSEDES,
    "replaces": Relation.SUPERSEDES,
    "derived_from": Relation.DERIVED_FROM,
    "based_on": Relation.DERIVED_FROM,
    "originated_from": Relation.DERIVED_FROM,
    "extracted_from": Relation.DERIVED_FROM,
    "blocks": Relation.BLOCKS,
    "explains": Relation.EXPLAINS,
    "documents": Relation.EXPLAINS,
    "describes": Relation.EXPLAINS,
    "duplicates": Relation.DUPLICATES,
    "duplicate_of": Relation.DUPLICATES,
}
_TYPES: Final[Mapping[str, SourceType]] = {
    "decision": SourceType.DECISION,
    "adr": SourceType.DECISION,
    "handoff": SourceType.HANDOFF,
    "session": SourceType.HANDOFF,
    "bug": SourceType.BUG_PATTERN,
    "workaround": SourceType.WORKAROUND,
    "preference": SourceType.USER_PREFERENCE,
    "environment": SourceType.ENVIRONMENT_NOTE,
}
_MAX_LABEL: Final = 200


@dataclass(frozen=True, slots=True)
class Semantics:
    """What a note's lines say beyond their words."""

    observations: int
    categories: tuple[str, ...]
    tags: tuple[str, ...]
    links: tuple[DraftLink, ...]


def read_basic_memory(root: Root, reading: Reading, tally: Tally) -> Iterator[Draft]:
    """Yield the drafts of every note."""
    for path in find_files(root, is_markdown, tally):
        file = read_text_file(root, path, tally)
        if file is not None:
            yield from _note(root, file, reading, tally)


def semantics_of(text: str) -> Semantics:
    r"""Return categories and tags of a note's observations, and its relations; code says none.

    >>> semantics_of("- [method] Pour over #coffee (tested)\n- requires [[Grinder]]").categories
    ('method',)
    """
    plain = _FENCES.sub("", text)
    categories: dict[str, None] = {}
    tags: dict[str, None] = {}
    observations = 0
    for found in _OBSERVATION.finditer(plain):
        category = found["category"].strip()
        if category and category not in _TASK_MARKS and "[[" not in found["text"][:2]:
            observations += 1
            categories[category] = None
            tags.update(dict.fromkeys(tag["tag"] for tag in _TAG.finditer(found["text"])))
    links = dict.fromkeys(_link(found) for found in _RELATION.finditer(plain))
    return Semantics(observations, tuple(categories), tuple(tags), tuple(links))


def _link(found: re.Match[str]) -> DraftLink:
    word = found["type"].strip().strip('"*_:').strip() or "relates_to"
    relation = _RELATIONS.get(re.sub(r"[\s-]+", "_", fold(word)), Relation.RELATED_TO)
    target = found["target"].partition("|")[0].partition("#")[0].strip()
    label = " ".join(part for part in (word, found["rest"].strip()) if part)
    is_plain = label == "relates_to"
    return DraftLink(relation, target, None if is_plain else label[:_MAX_LABEL])


def _note(root: Root, file: TextFile, reading: Reading, tally: Tally) -> Iterator[Draft]:
    is_whole = len(file.text) <= WHOLE_NOTE_CHARS
    parted = split(file.text, max_bytes=reading.max_bytes, whole=is_whole)
    count_removed(parted, file, tally)
    meaning = semantics_of(file.text)
    tally.notes["observations, as parts of their notes"] += meaning.observations
    seen: Counter[str] = Counter()
    for number, piece in enumerate(parted.pieces):
        draft = _draft(root, file, parted, piece, is_first=number == 0)
        seen[draft.key] += 1
        if seen[draft.key] > 1:
            draft = replace(draft, key=f"{draft.key} ({seen[draft.key]})")
        if number == 0:
            draft = with_front(_anchored(draft, meaning, file, parted), parted)
        yield draft
    if not parted.pieces and parted.front.end:
        tally.drop(Place(file.shown), Why.EMPTY.value)


def _anchored(draft: Draft, meaning: Semantics, file: TextFile, parted: Split) -> Draft:
    """Return a note's first draft: with its links, and the names by which others mean it."""
    front = parted.front
    shown = file.shown.removesuffix(file.path.suffix)
    names = (front.text_of("title"), front.text_of("permalink"), file.path.stem, shown)
    own = semantics_of(draft.content)
    return replace(
        draft,
        tags=(*draft.tags, *_missing(meaning, own)),
        links=meaning.links,
        names=tuple(name for name in names if name),
    )


def _missing(meaning: Semantics, own: Semantics) -> tuple[str, ...]:
    """Return tags of a note that its first part does not have itself."""
    have = {*own.categories, *own.tags}
    return tuple(tag for tag in (*meaning.categories, *meaning.tags) if tag not in have)


def _draft(root: Root, file: TextFile, parted: Split, piece: Piece, *, is_first: bool) -> Draft:
    front = parted.front
    title = front.text_of("title") or parted.title or file.path.stem
    kind = fold(front.text_of("type") or "note")
    parts = file.path.relative_to(root.folder).parts
    is_whole = len(parted.pieces) == 1
    own = semantics_of(piece.text)
    created = date_of(front.text_of("created", "created_at", "date")) or file.changed_at
    link = front.text_of("permalink")
    origin: dict[str, Json] = {
        "kind": Kind.BASIC_MEMORY.value,
        "file": file.source.path,
        "lines": [piece.numbers[0] + 1, piece.numbers[-1] + 1],
        **({"permalink": link} if link else {}),
        **({"type": kind} if kind != "note" else {}),
    }
    return Draft(
        place=Place(file.shown, piece.numbers[0] + 1),
        key=make_key(file.source.path, () if is_first else headings_in(parted, piece)),
        content=piece.text,
        lines=[number + 1 for number in piece.numbers],
        scope=parts[0] if len(parts) > 1 else "notes",
        topic=title,
        title=title if is_whole or not piece.headings else piece.headings[-1],
        source_type=_TYPES.get(kind, SourceType.AGENT_NOTE),
        source=file.source,
        tags=(*front.list_of("tags"), *own.categories, *own.tags),
        created_at=created,
        updated_at=max(created, file.changed_at),
        metadata={"import": origin},
    )
