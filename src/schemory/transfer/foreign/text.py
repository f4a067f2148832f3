"""Bytes of a foreign file as text: decoded or refused with the place, invisible junk taken out.

What is taken out is counted by name. It is what no reader sees and what breaks searches: zero-width
characters, control characters and the line ends of Windows. What some writing needs stays: joiners
in the scripts that use them (Persian, Hindi, Malayalam …) and between emoji, direction marks, and
everything that could be an attempt to hide orders, so that a hit can warn of it.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

from schemory.model.frozen import dataclass

_SNIFFED: Final = 8_192
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CRLF: Final = re.compile("\r\n?")
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\u180e\u200b-\u200d\u2060\ufeff\ud800-\udfff]"
)
_ZWJ: Final = "\u200d"
_JOINERS: Final = frozenset("\u180e\u200c\u200d")
_JOINED: Final = re.compile(
    "[\u0600-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1bff\ua840-\ua87f\ua8e0-\ua8ff"
    "\uaa60-\uaa7f\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff]"
)
_EMOJI_TAIL: Final = re.compile("[\ufe0f\U0001f3fb-\U0001f3ff]")
_FIRST_SYMBOL: Final = 0x2190
LINE_ENDS: Final = "line ends of Windows"


class UnreadableTextError(Exception):
    """A file is no text that can be taken; the message says why and where, without its content."""


class BinaryError(UnreadableTextError):
    """A file is no text at all."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text without what nobody sees; `removed` counts by name what was taken out."""

    text: str
    removed: Mapping[str, int]


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8 with or without a byte-order mark, UTF-16 with one.

    Raises:
        BinaryError: It is no text.
        UnreadableTextError: It has another encoding; says at which byte and line that shows.
    """
    if data.startswith(_UTF_16):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as fault:
            raise UnreadableTextError(f"is no whole UTF-16 (byte {fault.start + 1})") from None
    if b"\0" in data[:_SNIFFED]:
        raise BinaryError("is no text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise UnreadableTextError(
            f"is no UTF-8 (byte {fault.start + 1}, line {line}); save it as UTF-8"
        ) from None


def clean(text: str) -> Cleaned:
    r"""Return `text` with plain line ends and without invisible characters that nothing needs.

    >>> clean("Role\u200b\r\n").text, dict(clean("Role\u200b").removed)
    ('Role\n', {'U+200B ZERO WIDTH SPACE': 1})
    >>> clean("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645").removed
    {}
    """
    removed: Counter[str] = Counter()
    plain, line_ends = _CRLF.subn("\n", text)
    if line_ends:
        removed[LINE_ENDS] = line_ends

    def judge(found: re.Match[str]) -> str:
        character = found.group()
        if character in _JOINERS and _joins(found.string, found.start()):
            return character
        removed[_name(character)] += 1
        return ""

    plain = plain if plain.isascii() and plain.isprintable() else _INVISIBLE.sub(judge, plain)
    return Cleaned(plain, dict(removed))


def _joins(text: str, at: int) -> bool:
    """Whether a joiner does what it is for: shapes letters that need it, or makes one emoji."""
    before = text[at - 1] if at else ""
    if _JOINED.match(before):
        return True
    if text[at] != _ZWJ:
        return False
    start = at - 1
    while start > 0 and _EMOJI_TAIL.match(text[start]):
        start -= 1
    return start >= 0 and _is_symbol(text[start]) and _is_symbol(text[at + 1 : at + 2])


def _is_symbol(character: str) -> bool:
    return (
        character != ""
        and ord(character) >= _FIRST_SYMBOL
        and unicodedata.category(character) in {"So", "Sm", "Sk", "Po", "Cn"}
    )


def _name(character: str) -> str:
    name = unicodedata.name(character, "control character")
    return f"U+{ord(character):04X} {name}"
