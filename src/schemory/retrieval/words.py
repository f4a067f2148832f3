"""Cuts a text into the runs that search knows: words, identifiers, and scripts without spaces."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

# Scripts that are written without spaces, or whose words carry their particles (Korean).
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"
    "\u3041-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\u1100-\u11ff\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
)
_INDIC = (
    "\u0900-\u0963\u0966-\u0dff\u0f18-\u0f39\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d"
)
_CONNECTORS = r"[._/\\:@#+\-=~?&%$]"
_EDGES = "._:@#+-=~?&%$"
_LONGEST_RUN = 256


class Run(NamedTuple):
    """A stretch of text that is one word, one identifier, or one piece of a spaceless script."""

    start: int
    end: int
    text: str
    is_spaceless: bool


def find_runs(text: str) -> Iterator[Run]:
    """Yield the runs of `text` in order; what lies between them is not searchable.

    >>> [run.text for run in find_runs("see `src/auth/token.py`: 连接池 in C++, don't")]
    ['see', 'src/auth/token.py', '连接池', 'in', 'C++', 'don', 't']
    """
    for found in pattern_for(text).finditer(text):
        yield Run(*found.span(), found.group(), is_spaceless=found.lastgroup == "spaceless")


def has_spaceless(text: str) -> bool:
    """Return whether `text` holds a script that is written without spaces.

    >>> has_spaceless("\u8fde\u63a5\u6c60"), has_spaceless("caf\u00e9 \u2014 ok")
    (True, False)
    """
    return not text.isascii() and _any_spaceless().search(text) is not None


@cache
def _any_spaceless() -> re.Pattern[str]:
    return re.compile(f"[{_SPACELESS}]")


def pattern_for(text: str) -> re.Pattern[str]:
    """Return the cheapest pattern that cuts `text` rightly: ASCII, without marks, or any."""
    if text.isascii():
        return _pattern("[A-Za-z0-9]", with_spaceless=False)
    letter = rf"[^\W_{_SPACELESS}]"
    if _any_mark().search(text):
        letter = rf"(?:{letter}|[{_MARKS}{_INDIC}])"
    return _pattern(letter, with_spaceless=True)


@cache
def _any_mark() -> re.Pattern[str]:
    return re.compile(f"[{_MARKS}{_INDIC}]")


@cache
def _pattern(letter: str, *, with_spaceless: bool) -> re.Pattern[str]:
    # `C++`, `C#` and `F#` are words of their own.
    named = r"(?<![A-Za-z0-9])[A-Za-z](?:\+\+|#)(?![A-Za-z0-9+#])"
    word = rf"(?P<word>{named}|{letter}+(?:{_CONNECTORS}{{1,3}}{letter}+)*)"
    return re.compile(rf"(?P<spaceless>[{_SPACELESS}]+)|{word}" if with_spaceless else word)


def split_identifier(run: str) -> Iterator[str]:
    """Yield `run` and every part of it that a person might search for, whole first.

    Levels: path, then address, then dots, then dashes and underscores, then a number at the end,
    then camel case.

    >>> list(split_identifier("src/getUser.py"))
    ['src/getUser.py', 'src', 'getUser.py', 'getUser', 'get', 'User', 'py']
    >>> list(split_identifier("HTTPServer2"))
    ['HTTPServer2', 'HTTP', 'Server', '2']
    """
    if len(run) <= _LONGEST_RUN:
        yield run
    if not run.endswith(("+", "#")):
        yield from _split(run, 0)


def _split(run: str, level: int) -> Iterator[str]:
    for deeper, separators in enumerate(_levels()[level:], start=level + 1):
        parts = [part for text in separators.split(run) if (part := text.strip(_EDGES))]
        if parts != [run]:
            for part in parts:
                yield from (part, *_split(part, deeper))
            return
    if len(run) <= _LONGEST_RUN:
        yield from _split_word(run)


def _split_word(word: str) -> Iterator[str]:
    numbered = _numbered().fullmatch(word)
    if numbered is None:
        for part in _words(word):
            yield from (part, *_split_word(part))
        return
    name, number = numbered.groups()
    words = _words(name)
    # `readToken7` is not found as `readToken`, which is another identifier; `iOS17` is as `iOS`.
    if not words or len(words[0]) == 1:
        yield name
    yield from (*words, number)


def _words(name: str) -> list[str]:
    """Return the words of camel case; none where there is but one."""
    parts = _camel().findall(name)
    return parts if len(parts) > 1 and "".join(parts) == name else []


@cache
def _numbered() -> re.Pattern[str]:
    """A word and its number (`server2`, `sha256`); one letter (`v2`, `x86`) is no word."""
    return re.compile(r"([^\W\d_]{2,})([0-9]+)")


@cache
def _levels() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, (r"[/\\]+", r"[:@#?&=%$]+", r"\.+", r"[-_+~]+")))


@cache
def _camel() -> re.Pattern[str]:
    """Words of camel case; capitals with a plural `s` (`NPCs`) stay one."""
    return re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z0-9]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")


def is_index_letter(char: str) -> bool:
    """Return whether the full-text engine keeps `char` inside a token: a letter or a digit."""
    return unicodedata.category(char)[0] in "LN"
