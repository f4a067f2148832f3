"""Cut the bytes of a graph file into JSON values and the pieces that are none (graph.md §7).

JSON Lines is the form; real files are messier. One grammar covers them all: values one after
another, where white space, commas and square brackets between them mean nothing. So JSON Lines, a
JSON array (even one cut off in the middle), values spread over several lines and values glued
together on one line are read alike, and a fault spoils only the line it is on.
"""

import codecs
import json
import re
from collections.abc import Generator, Iterator
from typing import Final, NamedTuple, NoReturn

from schemory.model.jsonvalue import Json

NOTE_MARK: Final = "# schemory: "
"""Starts the lines with which a file of rejected records says why; read as blank lines."""

_BOM = "\ufeff"
_BETWEEN = re.compile(r"[ \t\r\n,\[\]\ufeff]*")
_MARKER = re.compile(r"(?:<{7}|>{7}|\|{7})(?: .*)?|={7}")
_UNDECODED = re.compile("[\udc80-\udcff]")
_MAX_LONG_ATTEMPTS = 200
# A value may go on over the next lines; each failed try can read far ahead, so they are numbered.


class Value(NamedTuple):
    """One JSON value at the top level: the number of its first line, its own text, what it says."""

    line: int
    text: str
    value: Json


class Unreadable(NamedTuple):
    """A piece of a line that is no JSON value.

    Attributes:
        text: As it stands; bytes that are not UTF-8 are lone surrogates (`surrogateescape`).
        is_conflict: It is a marker that a merge left behind.
    """

    line: int
    text: str
    reason: str
    is_conflict: bool = False


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def decode_text(data: bytes) -> str:
    """Return a file's bytes as text, its byte-order mark removed; also UTF-16 that has one."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "surrogateescape").removeprefix(_BOM)


class Scanner:
    """Iterates over the pieces of a file and counts its physical lines while it goes.

    When it is exhausted, `lines` = lines on which a piece starts + `blank` + `structural` +
    `continued`, and the pieces are those lines + `glued`.

    Attributes:
        blank: Lines of white space (and our own notes).
        structural: Lines that hold nothing but the brackets and commas of a JSON array.
        continued: Lines that go on with a value of a line before.
        glued: Pieces that do not come first on their line.
        has_array: A value stood inside square brackets.
    """

    def __init__(self, data: bytes) -> None:
        self._text = decode_text(data)
        self._has_undecoded = _UNDECODED.search(self._text) is not None
        self._long_attempts = 0
        self._in_ancestor = False
        self.lines = 0
        self.blank = 0
        self.structural = 0
        self.continued = 0
        self.glued = 0
        self.has_array = False

    def __iter__(self) -> Iterator[Value | Unreadable]:
        text, at, total = self._text, 0, len(self._text)
        while at < total:
            end = self._line_end(at)
            self.lines += 1
            line = text[at:end]
            value = None if self._in_ancestor else self._whole_line(line)
            if value is not None:
                yield value
            else:
                end = yield from self._read_line(at, end)
            at = end + 1

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end

    def _whole_line(self, line: str) -> Value | None:
        """Return the line's one object: what nearly every line is."""
        if not line.startswith("{") or (self._has_undecoded and _UNDECODED.search(line)):
            return None
        try:
            value, end = _DECODER.raw_decode(line)
        except (ValueError, RecursionError):
            return None
        text = line.rstrip(" \t\r\n")
        return Value(self.lines, text, value) if end == len(text) else None

    def _read_line(self, at: int, end: int) -> Generator[Value | Unreadable, None, int]:
        """Yield the pieces of an unusual line; returns where it ends (a later line's end maybe)."""
        line = self._text[at:end].strip(" \t\r\ufeff")
        if not line or line.startswith(NOTE_MARK):
            self.blank += 1
            return end
        special = self._special(line)
        if special is not None:
            yield special
            return end
        return (yield from self._read_values(at, end))

    def _special(self, line: str) -> Unreadable | None:
        """Return the piece if the line is a conflict marker, an ancestor's side or not text."""
        if _MARKER.fullmatch(line):
            self._in_ancestor = line.startswith("|||||||")
            reason = "is a merge conflict marker; the records of both sides were read"
            return Unreadable(self.lines, line, reason, is_conflict=True)
        if self._in_ancestor:
            reason = "is the common ancestor's side of a merge conflict; ours and theirs were read"
            return Unreadable(self.lines, line, reason)
        if self._has_undecoded and _UNDECODED.search(line):
            return Unreadable(self.lines, line, "is not UTF-8 text")
        return None

    def _read_values(self, at: int, end: int) -> Generator[Value | Unreadable, None, int]:
        text, found = self._text, 0
        at = self._skip(at, end)
        if at >= end:
            self.structural += 1
        while at < end:
            first = self.lines
            try:
                value, stop = self._decode(at, end)
            except ValueError as error:
                yield Unreadable(first, text[at:end].rstrip(), _reason(text, at, end, error))
                self.glued += found > 0
                return end
            yield Value(first, text[at:stop], value)
            self.glued += found > 0
            found += 1
            if stop > end:
                more = text.count("\n", at, stop)
                self.lines += more
                self.continued += more
                end, found = self._line_end(stop), 1
            at = self._skip(stop, end)
        return end

    def _skip(self, at: int, end: int) -> int:
        between = _BETWEEN.match(self._text, at, end)
        stop = between.end() if between else at
        self.has_array = self.has_array or "[" in self._text[at:stop]
        return stop

    def _decode(self, at: int, end: int) -> tuple[Json, int]:
        """Decode the object at `at`, if need be over several lines.

        Raises:
            ValueError: No object starts there.
        """
        if self._text[at] != "{":
            raise ValueError("is no JSON object")
        try:
            if self._long_attempts >= _MAX_LONG_ATTEMPTS:
                value, stop = _DECODER.raw_decode(self._text[at:end])
                return value, at + stop
            value, stop = _DECODER.raw_decode(self._text, at)
        except RecursionError:
            raise ValueError("is nested too deeply") from None
        except json.JSONDecodeError as error:
            self._long_attempts += error.pos > end
            raise
        if stop > end and self._has_undecoded and _UNDECODED.search(self._text, at, stop):
            raise ValueError("is not UTF-8 text")
        return value, stop


def _reason(text: str, at: int, end: int, error: ValueError) -> str:
    """Say in words of a person why the piece at `at` cannot be read."""
    if text[at] != "{":
        return "is not JSON" if text[at] not in '"-0123456789' else "is not a JSON object"
    if not isinstance(error, json.JSONDecodeError):
        return f"is not valid JSON: {error}"
    if _is_cut_off(text[at:end].rstrip()):
        return "is cut off in the middle of a record"
    column = error.pos - at + 1 if at <= error.pos <= end else end - at
    return f"is not valid JSON (at character {column})"


def _is_cut_off(piece: str) -> bool:
    """Whether the piece would be fine if it only went on."""
    try:
        _DECODER.raw_decode(piece)
    except json.JSONDecodeError as error:
        return error.pos >= len(piece) or error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return False
    return False
