"""A file to import, whatever its form: what it says of itself, its entries, tags and links."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from schemory.errors import InvalidParamError, LimitExceededError
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, json_kind
from schemory.model.likeness import nearest
from schemory.transfer.memory.archive_limits import ENTRIES, LINKS, SUMMARY, TAGS
from schemory.transfer.memory.archive_read import Archive
from schemory.transfer.memory.stream import JsonText, parse_line, refused

_CHUNK: Final = 256 * 1024
_SNIFFED: Final = 64 * 1024
_ZIP: Final = b"PK"
_BOM: Final = b"\xef\xbb\xbf"
_ARRAYS: Final = ("entries", "tags", "links")
_HEAD: Final = ("format", "version", "exported_at", "project", "counts", "members")


class Part(StrEnum):
    """What a record of a file is."""

    HEAD = "head"  # a member of what the file says of itself: {key: value}
    ENTRY = "entries"
    TAG = "tags"
    LINK = "links"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One thing in a file; `where` is how a person finds it; `share` of it was read so far."""

    part: Part
    value: Json
    where: str
    share: float = 0.0


Share: TypeAlias = Callable[[], float]


class _Tally:
    """Knows how much of a file is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = max(1, os.fstat(file.fileno()).st_size)

    def chunks(self) -> Iterator[bytes]:
        while chunk := self._file.read(_CHUNK):
            yield chunk

    def share(self) -> float:
        return min(1.0, self._file.tell() / self._size)


def read_records(path: Path, file: BinaryIO, max_chars: int) -> Iterator[FileRecord]:
    """Yield everything in a file, in its order.

    Args:
        path: For messages and the size.
        file: Open for reading.
        max_chars: The longest single value.

    Raises:
        InvalidParamError: It is no export of memory.
        LimitExceededError: It unpacks to too much.
    """
    start = file.read(_SNIFFED)
    file.seek(0)
    if start.startswith(_ZIP):
        return _archive_records(Archive(path, file), max_chars)
    if not start.strip():
        raise refused(f"{path.name} is empty")
    tally = _Tally(file)
    if _is_lines(path, start):
        return _line_records(file, max_chars, tally.share)
    return _envelope_records(JsonText(tally.chunks(), path.name, max_chars), tally.share)


def _is_lines(path: Path, start: bytes) -> bool:
    """Whether a text is JSON Lines: its first line is an object that is no envelope."""
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        return True
    first, newline, rest = start.removeprefix(_BOM).lstrip().partition(b"\n")
    with suppress(InvalidParamError):
        value = parse_line(first, "line 1")
        if not isinstance(value, dict) or Part.ENTRY in value:
            return False
        # An envelope on one line has nothing behind it.
        return "format" not in value or bool(newline and rest.strip())
    return first.startswith((b'{"id"', b'{"tag"'))


def _envelope_records(text: JsonText, share: Share) -> Iterator[FileRecord]:
    if text.peek() != "{":
        raise refused("the file is no export of memory: it must hold one JSON object")
    yield FileRecord(Part.HEAD, {}, "$")  # an envelope must say what it is
    for key in text.keys():  # noqa: SIM118 (not a dict's)
        if key in _ARRAYS:
            yield from _array_records(Part(key), text, f"$.{key}", share)
        elif key in _HEAD:
            yield FileRecord(Part.HEAD, {key: text.value()}, "$", share())
        else:
            near = nearest(key, (*_ARRAYS, *_HEAD))
            hint = f"; did you mean {near[0]}?" if near else ""
            raise refused(f"the file has the unknown key {key[:80]!r}{hint}")
    text.finish()


def _array_records(part: Part, text: JsonText, name: str, share: Share) -> Iterator[FileRecord]:
    if text.peek() != "[":
        raise refused(f"{name} must be an array")
    for index, value in enumerate(text.items()):
        yield FileRecord(part, value, f"{name}[{index}]", share())


def _archive_records(archive: Archive, max_chars: int) -> Iterator[FileRecord]:
    for key, value in archive.manifest.items():
        yield FileRecord(Part.HEAD, {key: value}, "$")
    parts = ((Part.ENTRY, ENTRIES), (Part.TAG, TAGS), (Part.LINK, LINKS))
    for part, name in parts:
        if archive.has(name):
            text = JsonText(archive.chunks(name), name, max_chars)
            yield from _array_records(part, text, name, archive.share)
            text.finish()
    if archive.has(SUMMARY):  # not imported, but its sum counts
        for _ in archive.chunks(SUMMARY):
            pass


def _line_records(file: BinaryIO, max_chars: int, share: Share) -> Iterator[FileRecord]:
    number = 0
    while line := file.readline(max_chars * 4):
        number += 1
        where = f"line {number}"
        if not line.endswith(b"\n") and len(line) >= max_chars * 4:
            raise _too_long(where, max_chars)
        text = line.removeprefix(_BOM) if number == 1 else line
        if not text.strip():
            continue
        value = parse_line(text, where)
        yield from _records_of_line(value, where, share())


def _records_of_line(value: Json, where: str, share: float) -> Iterator[FileRecord]:
    if not isinstance(value, dict):
        raise refused(f"{where} must be an object, not {json_kind(value)}")
    if "format" in value:
        yield FileRecord(Part.HEAD, value, where, share)
    elif "tag" in value:
        told = {"name": value["tag"], **{k: v for k, v in value.items() if k != "tag"}}
        yield FileRecord(Part.TAG, told, where, share)
    else:
        links = value.pop("links", None) or []
        yield FileRecord(Part.ENTRY, value, where, share)
        if not isinstance(links, list):
            raise refused(f"{where}: links must be an array")
        for index, link in enumerate(links):
            told = {"source_entry_id": value.get("id"), **link} if isinstance(link, dict) else link
            yield FileRecord(Part.LINK, told, f"{where}.links[{index}]", share)


def _too_long(where: str, max_chars: int) -> LimitExceededError:
    message = f"{where} is longer than {max_chars} characters"
    return LimitExceededError.at(
        "$.import_path", message, headline=f"{message}; nothing was stored"
    )
