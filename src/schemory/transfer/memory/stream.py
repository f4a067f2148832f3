"""Reads JSON too large for the memory: an object's members and an array's items one at a time.

Our own rather than a library: each value is decoded by the standard library's fast scanner, and
all that is ours is finding the next one. A library would have been a compiled dependency for what
the export needs of it, and keeps the last of two equal keys.
"""

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from schemory.errors import InvalidParamError
from schemory.model.jsonvalue import Json

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_BEHIND: Final = frozenset(" \t\n\r,:]}")
"""What can follow a value."""

_AHEAD: Final = 64 * 1024
"""Characters that are read at once."""


class _RefusedError(ValueError):
    """The scanner would take it, JSON does not: a key twice, or NaN."""


class JsonText:
    """A JSON text that is read as it is needed.

    Args:
        chunks: Its bytes, UTF-8, a byte-order mark allowed.
        name: What to call it in messages.
        max_chars: The longest single value; more is refused, not gathered.

    Raises:
        InvalidParamError: (from every method) It is no JSON, or some value is too long.
    """

    def __init__(self, chunks: Iterator[bytes], name: str, max_chars: int) -> None:
        self._chunks = chunks
        self._name = name
        self._max_chars = max_chars
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._passed = 0
        self._is_end = False

    def peek(self) -> str:
        """Return the next character that is no white space, "" at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read(_AHEAD):
                return ""

    def take(self, char: str) -> None:
        """Go past `char`, which must come next."""
        if self.peek() != char:
            raise self._error(f"{char!r} was expected")
        self._at += 1

    def finish(self) -> None:
        """Pass when nothing follows."""
        if self.peek():
            raise self._error("something follows the end of the JSON value")

    def value(self) -> Json:
        """Return the next value, whole."""
        if not self.peek():
            raise self._error("the file ends where a value was expected")
        ahead = _AHEAD
        while True:
            self._read(ahead)
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except _RefusedError as fault:
                raise self._error(str(fault)) from None
            except (ValueError, RecursionError) as fault:
                if self._is_end or ahead > self._max_chars:
                    raise self._value_error(fault) from None
                ahead *= 2
                continue
            if not self._is_whole(end) and ahead <= self._max_chars:
                ahead *= 2
                continue
            if end - self._at > self._max_chars:
                raise self._error(f"a value is longer than {self._max_chars} characters")
            self._at = end
            parsed: Json = value
            return parsed

    def _is_whole(self, end: int) -> bool:
        """Whether a value that seems to end there does: a number may go on in what comes next."""
        return self._is_end or self._text[end : end + 1] in _BEHIND

    def items(self) -> Iterator[Json]:
        """Yield the items of the array that comes next."""
        self.take("[")
        if self.peek() == "]":
            self.take("]")
            return
        while True:
            yield self.value()
            if self.peek() == "]":
                self.take("]")
                return
            self.take(",")

    def keys(self) -> Iterator[str]:
        """Yield the keys of the object that comes next; the caller reads each one's value."""
        self.take("{")
        if self.peek() == "}":
            self.take("}")
            return
        seen: set[str] = set()
        while True:
            key = self.value() if self.peek() == '"' else None
            if not isinstance(key, str):
                raise self._error("a key in quotes was expected")
            if key in seen:
                raise self._error(f"the key {key[:80]!r} stands there twice")
            seen.add(key)
            self.take(":")
            yield key
            if self.peek() == "}":
                self.take("}")
                return
            self.take(",")

    def _read(self, ahead: int) -> bool:
        """Have at least `ahead` characters before us, if there are so many; False at the end."""
        missing = ahead - (len(self._text) - self._at)
        if missing <= 0 or self._is_end:
            return not self._is_end
        parts = [self._text[self._at :]]
        while missing > 0 and not self._is_end:
            chunk = next(self._chunks, b"")
            self._is_end = not chunk
            try:
                parts.append(self._decoder.decode(chunk, final=self._is_end))
            except UnicodeDecodeError:
                raise refused(f"{self._name} is no UTF-8 text") from None
            missing -= len(parts[-1])
        self._passed += self._at
        self._text, self._at = "".join(parts), 0
        return self._at < len(self._text)

    def _value_error(self, fault: Exception) -> InvalidParamError:
        if isinstance(fault, RecursionError):
            return self._error("a value is nested too deeply")
        if not self._is_end:
            return self._error(f"no value of at most {self._max_chars} characters ends here")
        reason = fault.msg if isinstance(fault, json.JSONDecodeError) else str(fault)
        position = fault.pos - self._at if isinstance(fault, json.JSONDecodeError) else 0
        return self._error(reason, ahead=position)

    def _error(self, reason: str, *, ahead: int = 0) -> InvalidParamError:
        position = self._passed + self._at + ahead + 1
        return refused(f"{self._name} is no JSON as expected (character {position}): {reason}")


def parse_line(line: bytes, where: str) -> Json:
    """Return the JSON value of one line.

    Raises:
        InvalidParamError: It is none.
    """
    try:
        value: Json = _DECODER.decode(line.decode())
    except UnicodeDecodeError:
        raise refused(f"{where} is no UTF-8 text") from None
    except RecursionError:
        raise refused(f"{where} is nested too deeply") from None
    except json.JSONDecodeError as fault:
        raise refused(f"{where} is no JSON (character {fault.pos + 1}): {fault.msg}") from None
    except ValueError as fault:
        raise refused(f"{where} is no JSON as expected: {fault}") from None
    return value


def refused(message: str, *hints: str) -> InvalidParamError:
    """Return the error of a file that cannot be imported."""
    return InvalidParamError.at(
        "$.import_path", message, headline=f"{message}; nothing was stored", suggestions=hints
    )


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise _RefusedError(f"the key {twice[:80]!r} stands in one object twice")
    return made


def _constant(word: str) -> float:
    raise _RefusedError(f"{word} is no JSON number")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
