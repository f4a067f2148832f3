"""Reads JSON with comments and trailing commas, and remembers where the members on one path are.

Strict otherwise: what no client could read is a fault with line and column. Values off the path are
read by the standard library where they hold no comments, since such files may be megabytes.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from schemory.model.frozen import dataclass, field
from schemory.setup.clients.form import place_of

_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT: Final = re.compile(r"//|/\*")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER: Final = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.])"
)
_WORDS: Final = {"true": True, "false": False, "null": None}
_WORD: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_MAX_DEPTH: Final = 200
_MAX_MISSES: Final = 50


class JsoncError(Exception):
    """A text that is no JSON, even with comments and trailing commas allowed."""

    def __init__(self, text: str, at: int, fault: str) -> None:
        super().__init__(fault)
        self.fault = fault
        self.line, self.column = place_of(text, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One `"key": value` and where it stands.

    Attributes:
        key_start: Where the key's quote is.
        comma: Where the comma behind the value is; None where there is none.
    """

    key: str
    key_start: int
    key_end: int
    start: int
    end: int
    comma: int | None
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """An object on the path: from its `{` to behind its `}`."""

    start: int
    end: int
    members: tuple[Member, ...]

    def find(self, key: str) -> Member | None:
        """Return the member of that key."""
        return next((each for each in self.members if each.key == key), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text that was read.

    Attributes:
        data: What it means; None for a text of blanks and comments alone.
        bodies: The objects on the path, by the keys that lead to them.
        is_blank: Whether it holds no value at all.
        extras: Where the first comment and the first trailing comma are, by what they are.
    """

    data: object
    bodies: dict[tuple[str, ...], Body] = field(default_factory=dict[tuple[str, ...], Body])
    is_blank: bool = False
    extras: dict[str, int] = field(default_factory=dict[str, int])


def read_jsonc(text: str, path: Sequence[str]) -> Document:
    """Return what `text` says, with the places of the objects along `path`.

    Raises:
        JsoncError: It is no JSON, or a key on the path is there twice.
    """
    return _Reader(text).document(tuple(path))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _number(text: str) -> object:
    """Return an integer; one with more digits than Python reads stays a text, which is kept."""
    try:
        return int(text)
    except ValueError:
        return text


class _Reader:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._bodies: dict[tuple[str, ...], Body] = {}
        self._extras: dict[str, int] = {}
        self._misses = 0
        self._quick: Callable[[str, int], tuple[object, int]] = json.JSONDecoder(
            parse_constant=_refuse_constant, parse_int=_number
        ).raw_decode

    def document(self, path: tuple[str, ...]) -> Document:
        at = self._blank(0)
        if at == len(self._text):
            return Document(data=None, is_blank=True, extras=self._extras)
        try:
            data, at = self._value(at, path, (), 0)
        except RecursionError:
            raise self._error(at, "is nested too deeply") from None
        at = self._blank(at)
        if at != len(self._text):
            raise self._error(at, "has something behind its end")
        return Document(data=data, bodies=self._bodies, extras=self._extras)

    def _error(self, at: int, fault: str) -> JsoncError:
        return JsoncError(self._text, at, fault)

    def _blank(self, at: int) -> int:
        """Return where blanks and comments end."""
        found = _BLANK.match(self._text, at)
        end = found.end() if found else at
        if end > at and "comment" not in self._extras:
            comment = _COMMENT.search(self._text, at, end)
            if comment is not None:
                self._extras["comment"] = comment.start()
        if self._text.startswith("/*", end):
            raise self._error(end, "has a comment that does not end")
        return end

    def _value(
        self, at: int, path: tuple[str, ...] | None, here: tuple[str, ...], depth: int
    ) -> tuple[object, int]:
        """Return a value and where it ends; `path` leads on from it, None: it is off the path."""
        if depth > _MAX_DEPTH:
            raise self._error(at, "is nested too deeply")
        first = self._text[at : at + 1]
        if first == "{":
            if path is None and (quick := self._try_quick(at)):
                return quick
            return self._object(at, path, here, depth)
        if first == "[":
            return self._try_quick(at) or self._array(at, here, depth)
        if first == '"':
            return self._string(at)
        return self._scalar(at)

    def _try_quick(self, at: int) -> tuple[object, int] | None:
        if self._misses == _MAX_MISSES:
            return None
        try:
            return self._quick(self._text, at)
        except ValueError:  # comments, a trailing comma, or a fault that is then told exactly
            self._misses += 1  # each costs a look at the whole text before it
            return None

    def _object(
        self, at: int, path: tuple[str, ...] | None, here: tuple[str, ...], depth: int
    ) -> tuple[dict[str, object], int]:
        members: list[Member] = []
        start, at = at, self._blank(at + 1)
        while not self._text.startswith("}", at):
            member = self._member(at, path, here, depth)
            members.append(member)
            at = self._next(member, "}")
        if path is not None:
            self._refuse_double(members, path[:1])
            self._bodies[here] = Body(start=start, end=at + 1, members=tuple(members))
        return {member.key: member.value for member in members}, at + 1

    def _member(
        self, at: int, path: tuple[str, ...] | None, here: tuple[str, ...], depth: int
    ) -> Member:
        if not self._text.startswith('"', at):
            raise self._error(at, 'wants a key in double quotes or "}" here')
        key, key_end = self._string(at)
        colon = self._blank(key_end)
        if not self._text.startswith(":", colon):
            raise self._error(colon, 'wants ":" here')
        start = self._blank(colon + 1)
        onward = path[1:] if path and path[0] == key else None
        value, end = self._value(start, onward, (*here, key), depth + 1)
        behind = self._blank(end)
        return Member(
            key=key,
            key_start=at,
            key_end=key_end,
            start=start,
            end=end,
            comma=behind if self._text.startswith(",", behind) else None,
            value=value,
        )

    def _next(self, member: Member, closing: str) -> int:
        """Return where the next item begins or the closing mark is."""
        if member.comma is not None:
            at = self._blank(member.comma + 1)
            if self._text.startswith(closing, at):
                self._extras.setdefault("trailing comma", member.comma)
            return at
        at = self._blank(member.end)
        if not self._text.startswith(closing, at):
            raise self._error(at, f'wants "," or "{closing}" here')
        return at

    def _array(self, at: int, here: tuple[str, ...], depth: int) -> tuple[list[object], int]:
        items: list[object] = []
        at = self._blank(at + 1)
        while not self._text.startswith("]", at):
            value, end = self._value(at, None, here, depth + 1)
            items.append(value)
            at = self._blank(end)
            if self._text.startswith(",", at):
                comma, at = at, self._blank(at + 1)
                if self._text.startswith("]", at):
                    self._extras.setdefault("trailing comma", comma)
            elif not self._text.startswith("]", at):
                raise self._error(at, 'wants "," or "]" here')
        return items, at + 1

    def _string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self._error(at, "has a string that does not end or holds a bad escape")
        text: str = json.loads(found[0])
        return text, found.end()

    def _scalar(self, at: int) -> tuple[object, int]:
        number = _NUMBER.match(self._text, at)
        if number is not None:
            return json.loads(number[0], parse_int=_number), number.end()
        word = _WORD.match(self._text, at)
        if word is not None and word[0] in _WORDS:
            return _WORDS[word[0]], word.end()
        if at == len(self._text):
            raise self._error(at, "ends too soon")
        raise self._error(at, "wants a value here")

    def _refuse_double(self, members: Sequence[Member], keys: Sequence[str]) -> None:
        for key in keys:
            twice = [member for member in members if member.key == key][1:]
            if twice:
                raise self._error(twice[0].key_start, f'has the key "{key}" twice')
