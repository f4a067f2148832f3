"""Reads what mem0 and OpenMemory give out.

Forms met in the wild: the answer of `get_all` and the platform's export (`results` or `memories`,
each with `memory` or `content`, `metadata`, `categories`, times and owner ids), a bare list of
such, one a line, and OpenMemory's backup, a ZIP of `memories.json` and `memories.jsonl.gz` with
states and categories. What is no memory is counted and told.
"""

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import BinaryIO, Final, cast

from schemory.model.entry import SourceType, Status
from schemory.model.jsonvalue import Json
from schemory.transfer.foreign.draft import Draft, Tally
from schemory.transfer.foreign.files import MAX_FILE_BYTES, Root
from schemory.transfer.foreign.json_files import (
    JsonRecord,
    as_object,
    open_file,
    read_records,
    text_of,
)
from schemory.transfer.foreign.kinds import Kind
from schemory.transfer.foreign.text import clean
from schemory.transfer.memory.stream import refused
from schemory.transfer.zips import BROKEN_ZIP

_LISTS: Final = frozenset({"results", "memories", "data", "items", "categories", "relations"})
_HOLDERS: Final = frozenset({"", "results", "memories", "data", "items"})
_TEXTS: Final = ("memory", "content", "text", "data")
_OWNERS: Final = ("user_id", "agent_id", "app_id", "run_id", "app")
_TAKEN: Final = frozenset({*_TEXTS, "id", "created_at", "updated_at", "categories", "tags"})
_NOT_KEPT: Final = frozenset({"score", "embedding", "vector", "embeddings", "hash"})
_PREFERENCES: Final = ("preference", "personal_preference")
_STATES: Final[Mapping[str, Status]] = {
    "active": Status.ACTIVE,
    "paused": Status.ARCHIVED,
    "archived": Status.ARCHIVED,
}
_DELETED: Final = "memories that were deleted there"


def read_mem0(root: Root, max_bytes: int, tally: Tally) -> Iterator[Draft]:
    """Yield a draft of every memory of an export."""
    max_chars = 12 * max_bytes + MAX_FILE_BYTES
    tally.files += 1
    if zipfile.is_zipfile(root.path):
        yield from _Reader(tally).read(_archive_records(root, max_chars))
        return
    with open_file(root.path) as file:
        records = read_records(file, root.path.name, lists=_LISTS, max_chars=max_chars)
        yield from _Reader(tally).read(records)


class _Reader:
    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._categories: dict[str, str] = {}

    def read(self, records: Iterator[JsonRecord]) -> Iterator[Draft]:
        for record in records:
            if record.key == "categories":
                self._learn(as_object(record.value))
            elif record.key in _HOLDERS and (record.number or record.key):
                draft = self._draft(record)
                if draft is not None:
                    yield draft
            elif record.key and isinstance(record.value, dict | list) and record.value:
                self._tally.notes[f"things in {record.key!r} that are no memories, not taken"] += 1

    def _learn(self, category: Mapping[str, Json]) -> None:
        known, name = text_of(category, "id"), text_of(category, "name")
        if known and name:
            self._categories[known] = name

    def _draft(self, record: JsonRecord) -> Draft | None:
        memory = as_object(record.value)
        text = text_of(memory, *_TEXTS)
        if text is None:
            known = ", ".join(sorted(memory)[:6]) or "no members"
            self._tally.refuse(record.place, f"is no memory: it has {known}, but no text")
            return None
        state = text_of(memory, "state") or "active"
        if state == "deleted" or memory.get("deleted_at"):
            self._tally.skipped[_DELETED] += 1
            return None
        cleaned = clean(text)
        self._tally.removed.update(cleaned.removed)
        categories = self._names(memory)
        foreign_id = text_of(memory, "id")
        is_preference = any(word in category for category in categories for word in _PREFERENCES)
        return Draft(
            place=record.place,
            key=f"mem0:{foreign_id}" if foreign_id else f"mem0:{_sum(cleaned.text)}",
            content=cleaned.text,
            scope=text_of(memory, "app", "app_id", "agent_id", "user_id") or "mem0",
            topic=categories[0] if categories else "memories",
            source_type=SourceType.USER_PREFERENCE if is_preference else SourceType.AGENT_NOTE,
            tags=categories,
            status=_STATES.get(state, Status.ACTIVE),
            created_at=text_of(memory, "created_at"),
            updated_at=text_of(memory, "updated_at", "created_at"),
            created_by=text_of(memory, "agent_id", "app"),
            names=(foreign_id,) if foreign_id else (),
            metadata=_metadata(memory),
        )

    def _names(self, memory: Mapping[str, Json]) -> tuple[str, ...]:
        """Return a memory's categories and tags by name."""
        found: dict[str, None] = {}
        metadata = as_object(memory.get("metadata"))
        lists = (memory.get("categories"), memory.get("tags"), metadata.get("tags"))
        for each in lists:
            names = each.split(",") if isinstance(each, str) else each
            if isinstance(names, list):
                found.update(dict.fromkeys(name.strip() for name in names if isinstance(name, str)))
        known = memory.get("category_ids")
        if isinstance(known, list):
            found.update(dict.fromkeys(self._categories.get(str(each), "") for each in known))
        return tuple(name for name in found if name)


def _metadata(memory: Mapping[str, Json]) -> dict[str, Json]:
    rest = {
        key: value
        for key, value in memory.items()
        if key not in _TAKEN and key not in _NOT_KEPT and value not in (None, "", [], {})
    }
    owners: dict[str, Json] = {key: rest.pop(key) for key in _OWNERS if key in rest}
    own = as_object(rest.pop("metadata", None))
    origin: dict[str, Json] = {"kind": Kind.MEM0.value, **owners}
    if "id" in memory:
        origin["id"] = memory["id"]
    return {**own, **rest, "import": origin}


def _sum(text: str) -> str:
    import hashlib  # noqa: PLC0415 (only for memories without an id)

    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _archive_records(root: Root, max_chars: int) -> Iterator[JsonRecord]:
    """Yield the records of a backup: of `memories.json`, or without it of the lines."""
    try:
        with zipfile.ZipFile(root.path) as archive:
            member = _member(archive)
            shown = PurePosixPath(member.filename).name
            with archive.open(member) as file:
                yield from read_records(
                    cast("BinaryIO", file), shown, lists=_LISTS, max_chars=max_chars
                )
    except BROKEN_ZIP as fault:
        raise refused(f"{root.path.name} is a damaged or locked ZIP") from fault


def _member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    for wanted in ("memories.json", "memories.jsonl.gz", "memories.jsonl"):
        for member in archive.infolist():
            if PurePosixPath(member.filename).name == wanted:
                return member
    raise refused("the ZIP holds no memories.json, so it is no backup of OpenMemory")
