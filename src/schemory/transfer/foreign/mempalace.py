"""Reads exports of MemPalace: rooms as Markdown, one JSON file, or JSON Lines a room.

In the Markdown a drawer is a section named by its id: the text as a quotation, then a table with
source, time and author. The JSON says `"format": "mempalace_export"` and has `drawers` with
`document` and `metadata` (wing, room, source_file, filed_at, added_by). The facts of its knowledge
graph are no notes; they are counted and told.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from schemory.model.entry import SourceType
from schemory.model.jsonvalue import Json
from schemory.transfer.foreign.draft import Draft, Place, Tally
from schemory.transfer.foreign.files import MAX_FILE_BYTES, Root, find_files, read_text_file
from schemory.transfer.foreign.json_files import (
    JsonRecord,
    as_object,
    open_file,
    read_records,
    text_of,
)
from schemory.transfer.foreign.kinds import Kind
from schemory.transfer.foreign.text import clean

FORMAT: Final = "mempalace_export"
_LISTS: Final = frozenset({"drawers", "kg_entities", "kg_triples", "entities", "triples"})
_GRAPH: Final = frozenset({"kg_entities", "kg_triples", "entities", "triples"})
_ROOM: Final = re.compile(r"^# (?P<wing>[^\n]*?) / (?P<room>[^\n]*)\n")
_DRAWER: Final = re.compile(r"^## (?P<id>[^\n]+)\n\s*\n(?=> ?)", re.MULTILINE)
_TABLE: Final = re.compile(
    r"^\n?\| Field \| Value \|\n\|[-| ]+\|\n(?P<rows>(?:\|[^\n]*\|\n?)+)(?:\s*^---\s*$)?",
    re.MULTILINE,
)
_ROW: Final = re.compile(r"^\| (?P<name>[^|]+?) \| (?P<value>.*?) \|$", re.MULTILINE)
_QUOTED: Final = re.compile(r"^> ?", re.MULTILINE)
_ROW_NAMES: Final[Mapping[str, str]] = {
    "Source": "source_file",
    "Filed": "filed_at",
    "Added by": "added_by",
}
_PAGES: Final = frozenset({"index.md", "overview.md"})
_ENDINGS: Final = frozenset({".md", ".json", ".jsonl"})
_UNKNOWN: Final = "unknown"
_FACTS: Final = "facts of the knowledge graph, not taken: they are no notes"


def read_mempalace(root: Root, max_bytes: int, tally: Tally) -> Iterator[Draft]:
    """Yield a draft of every drawer of an export."""
    max_chars = 12 * max_bytes + MAX_FILE_BYTES
    for path in find_files(root, _is_ours, tally):
        if path.suffix.lower() == ".md":
            yield from _rooms(root, path, tally)
        elif path.name != "manifest.json":
            yield from _json(root, path, max_chars, tally)


def is_room(text: str) -> bool:
    """Whether a Markdown text is a room of an export."""
    return _ROOM.match(text) is not None and _DRAWER.search(text) is not None


def _is_ours(path: Path) -> bool:
    return path.suffix.lower() in _ENDINGS and path.name not in _PAGES


def _rooms(root: Root, path: Path, tally: Tally) -> Iterator[Draft]:
    file = read_text_file(root, path, tally)
    if file is None:
        return
    head = _ROOM.match(file.text)
    starts = list(_DRAWER.finditer(file.text))
    if head is None or not starts:
        tally.refuse(Place(file.shown), "is no room of MemPalace: it has no drawers")
        return
    ends = [*(each.start() for each in starts[1:]), len(file.text)]
    for found, end in zip(starts, ends, strict=True):
        line = file.text.count("\n", 0, found.start()) + 1
        body = file.text[found.end() : end]
        facts: dict[str, Json] = {"wing": head["wing"], "room": head["room"]}
        tables = list(_TABLE.finditer(body))
        table = tables[-1] if tables else None  # a drawer may hold a table itself
        if table is None:
            tally.refuse(Place(file.shown, line), "is a drawer without its table of facts")
            continue
        rows = {row["name"]: row["value"] for row in _ROW.finditer(table["rows"])}
        facts |= {name: rows[word] for word, name in _ROW_NAMES.items() if word in rows}
        text = _QUOTED.sub("", body[: table.start()]).strip("\n") + "\n"
        draft = _draft(found["id"].strip(), text, facts, Place(file.shown, line))
        first = file.text.count("\n", 0, found.end()) + 1
        yield replace(draft, lines=range(first, first + text.count("\n") + 1))


def _json(root: Root, path: Path, max_chars: int, tally: Tally) -> Iterator[Draft]:
    tally.files += 1
    shown = root.shown(path)
    with open_file(path) as file:
        for record in read_records(file, shown, lists=_LISTS, max_chars=max_chars):
            if record.key in _GRAPH:
                tally.notes[_FACTS] += 1
            elif record.key == "drawers" or (record.number and not record.key):
                draft = _drawer(record, tally)
                if draft is not None:
                    yield draft


def _drawer(record: JsonRecord, tally: Tally) -> Draft | None:
    drawer = as_object(record.value)
    text = text_of(drawer, "document", "content", "text")
    foreign_id = text_of(drawer, "id", "drawer_id")
    if text is None or foreign_id is None:
        known = ", ".join(sorted(drawer)[:6]) or "no members"
        tally.refuse(record.place, f"is no drawer: it has {known}")
        return None
    cleaned = clean(text)
    tally.removed.update(cleaned.removed)
    facts = {**_loaded(drawer.get("metadata")), **_inline(drawer)}
    return _draft(foreign_id, cleaned.text, facts, record.place)


def _inline(drawer: Mapping[str, Json]) -> dict[str, Json]:
    return {key: drawer[key] for key in ("wing", "room", "source_file") if key in drawer}


def _loaded(value: Json) -> dict[str, Json]:
    """Return metadata given as an object or as its JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"metadata": value}
    return dict(as_object(value))


def _draft(foreign_id: str, text: str, facts: Mapping[str, Json], place: Place) -> Draft:
    known = {k: v for k, v in facts.items() if v not in (None, "", _UNKNOWN)}
    filed = text_of(known, "filed_at", "created_at", "date")
    rest = {k: v for k, v in known.items() if k not in {"wing", "room", "added_by", "filed_at"}}
    return Draft(
        place=place,
        key=f"mempalace:{foreign_id}",
        content=text,
        scope=text_of(facts, "wing") or "mempalace",
        topic=text_of(facts, "room") or "general",
        source_type=SourceType.AGENT_NOTE,
        created_at=filed,
        created_by=text_of(known, "added_by", "agent"),
        names=(foreign_id,),
        metadata={"import": {"kind": Kind.MEMPALACE.value, "id": foreign_id, **rest}},
    )
