"""The records of a JSON file, whatever holds them: an array, lists in an object, lines, gzip."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

from schemory.errors import InvalidParamError
from schemory.model.jsonvalue import Json
from schemory.transfer.foreign.draft import Place
from schemory.transfer.memory.stream import JsonText, parse_line, refused

_CHUNK: Final = 256 * 1024
_GZIP: Final = b"\x1f\x8b"
_LINE_ENDINGS: Final = frozenset({".jsonl", ".ndjson"})
MAX_TOTAL_BYTES: Final = 4 * 1024 * 1024 * 1024
"""Unpacked; more is refused, not unpacked."""


class JsonRecord(NamedTuple):
    """A value of a file: `key` of the list that holds it ("" = none), `number` there, from 1."""

    key: str
    number: int
    value: Json
    place: Place


def read_records(
    file: BinaryIO, shown: str, *, lists: frozenset[str], max_chars: int
) -> Iterator[JsonRecord]:
    """Yield the records of a file; an object's other members come with their key and number 0.

    Args:
        file: Open for reading, at its start.
        shown: Its name for messages.
        lists: Keys of an object whose arrays are read item by item.
        max_chars: The longest single value.

    Raises:
        InvalidParamError: It is no JSON.
    """
    chunks = _chunks(file, shown)
    head = next(chunks, b"")
    if _is_lines(shown, head):
        yield from _lines(head, chunks, shown, max_chars)
        return
    text = JsonText(_joined(head, chunks), shown, max_chars)
    if text.peek() == "[":
        yield from _items("", text, shown)
    else:
        for key in text.keys():  # noqa: SIM118 (not a dict's)
            if key in lists and text.peek() == "[":
                yield from _items(key, text, shown)
            else:
                yield JsonRecord(key, 0, text.value(), Place(shown))
    text.finish()


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises:
        InvalidParamError: It cannot be.
    """
    try:
        return path.open("rb")
    except OSError as fault:
        raise refused(f"{path.name} cannot be read ({fault.strerror})") from fault


def as_object(value: Json) -> Mapping[str, Json]:
    """Return a JSON object; anything else is an empty one."""
    return cast("Mapping[str, Json]", value) if isinstance(value, dict) else {}


def text_of(record: Mapping[str, Json], *keys: str) -> str | None:
    """Return the first of these members that is a text with anything in it."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return None


def _chunks(file: BinaryIO, shown: str) -> Iterator[bytes]:
    start = file.read(len(_GZIP))
    file.seek(0)
    source: BinaryIO = file
    if start == _GZIP:
        source = cast("BinaryIO", gzip.GzipFile(fileobj=file))
    total = 0
    try:
        while chunk := source.read(_CHUNK):
            total += len(chunk)
            if total > MAX_TOTAL_BYTES:
                raise refused(f"{shown} unpacks to more than {MAX_TOTAL_BYTES // 1024**3} GiB")
            yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise refused(f"{shown} is damaged: it cannot be unpacked") from fault


def _joined(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from rest


def _is_lines(shown: str, head: bytes) -> bool:
    """Whether a file is JSON Lines: by its name, or since its first line is a whole object."""
    if any(ending in shown.lower() for ending in _LINE_ENDINGS):
        return True
    first, newline, rest = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    if not (newline and rest.strip() and first.rstrip().endswith(b"}")):
        return False
    try:
        return isinstance(parse_line(first, "line 1"), dict)
    except InvalidParamError:
        return False


def _items(key: str, text: JsonText, shown: str) -> Iterator[JsonRecord]:
    for number, value in enumerate(text.items(), 1):
        where = f"{shown} {key}[{number - 1}]" if key else f"{shown} [{number - 1}]"
        yield JsonRecord(key, number, value, Place(where))


def _lines(head: bytes, rest: Iterator[bytes], shown: str, max_chars: int) -> Iterator[JsonRecord]:
    waiting = head.removeprefix(b"\xef\xbb\xbf")
    number = 0
    for chunk in _joined(b"", rest):
        waiting += chunk
        *whole, waiting = waiting.split(b"\n")
        for line in whole:
            number += 1
            yield from _line(line, number, shown)
        if len(waiting) > 4 * max_chars:
            raise refused(f"{shown}, line {number + 1}, is longer than {max_chars} characters")
    yield from _line(waiting, number + 1, shown)


def _line(line: bytes, number: int, shown: str) -> Iterator[JsonRecord]:
    if line.strip():
        value = parse_line(line, f"{shown}, line {number}")
        yield JsonRecord("", number, value, Place(shown, number))
