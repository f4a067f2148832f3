"""Metadata lines: flat `Key: Value` texts, parsed on demand (graph.md §1, G§9)."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from schemory.model.text import fold

_SEPARATORS = frozenset("_-. \t\r\n")
_IGNORED_IN_KEYS = re.compile(r"[\s_\-]+")


class Line(NamedTuple):
    """A parsed metadata line; the key is empty for free text."""

    key: str
    value: str


def parse_line(line: str) -> Line:
    """Split at the first `": "`, else at a trailing `":"`, else the entire text is the value.

    >>> tuple(parse_line("Role: Wizard: grey")), tuple(parse_line("Traits:"))
    (('Role', 'Wizard: grey'), ('Traits', ''))
    >>> tuple(parse_line("free text"))
    ('', 'free text')
    """
    key, separator, value = line.partition(": ")
    if separator:
        return Line(key, value)
    if line.endswith(":"):
        return Line(line[:-1], "")
    return Line("", line)


def format_line(key: str, value: str) -> str:
    """Return `key: value`.

    >>> format_line("Role", "Wizard")
    'Role: Wizard'
    """
    return f"{key}: {value}"


def display_name(property_key: str) -> str:
    """Return a property key as words: `currentLocation` -> `Current Location`. Source: graph.md §3.

    >>> [display_name(k) for k in ("role", "player_character", "relatedNPCs", "HTTPPort")]
    ['Role', 'Player Character', 'Related NPCs', 'HTTP Port']
    """
    words = "".join(_spaced(property_key)).split()
    return " ".join(_capitalised(word) for word in words) or property_key


def _spaced(key: str) -> Iterator[str]:
    """Yield the key's characters with a space at each word border."""
    for at, character in enumerate(key):
        if character in _SEPARATORS:
            yield " "
            continue
        if at and character.isupper() and _starts_word(key, at):
            yield " "
        yield character


def _starts_word(key: str, at: int) -> bool:
    """Whether the capital at `at` begins a word: a small letter is beside it (`HTTPPort`)."""
    if not key[at - 1].isupper():
        return True
    rest = key[at + 1 :]
    # A plural `s` after capitals (`NPCs`, `APIsUsed`) belongs to the capitals.
    is_plural = rest.startswith("s") and not rest[1:2].islower()
    return rest[:1].islower() and not is_plural


def _capitalised(word: str) -> str:
    first = word[0].upper()
    return first + word[1:] if len(first) == 1 else word


def normal_key(key: str) -> str:
    """Return a key with case, spaces, `_` and `-` ignored, so that all its spellings meet.

    >>> {normal_key(key) for key in ("Current Location", "currentLocation", "current_location")}
    {'currentlocation'}
    """
    return fold(_IGNORED_IN_KEYS.sub("", key))


def has_key(line: str, spellings: Collection[str]) -> bool:
    """Whether the line's normalised key is one of `spellings`; free text has none.

    >>> has_key("Current Location: Bree", {"currentlocation"}), has_key("free text", {""})
    (True, False)
    """
    key = parse_line(line).key
    return bool(key) and normal_key(key) in spellings


def replace_lines(
    lines: Iterable[str], spellings: Collection[str], line: str | None
) -> tuple[str, ...]:
    """Return `lines` with one line for a key: at the place of the first that had it, else last.

    Further lines of the key go; None removes them all. Every other line stays byte for byte.
    Source: graph.md §3.

    >>> replace_lines(["role: Thief", "free", "Role: Noble"], {"role"}, "Role: Wizard")
    ('Role: Wizard', 'free')
    """
    kept: list[str] = []
    waiting = line
    for old in lines:
        if not has_key(old, spellings):
            kept.append(old)
        elif waiting is not None:
            kept.append(waiting)
            waiting = None
    if waiting is not None:
        kept.append(waiting)
    return tuple(kept)


def find_value(lines: Iterable[str], key: str) -> str | None:
    """Return the value of the first line with exactly that key, or None. Source: G§9.2."""
    return next((line.value for line in map(parse_line, lines) if line.key == key), None)


def filter_by_key(lines: Iterable[str], key: str) -> tuple[str, ...]:
    """Return all lines with exactly that key, in order. Source: G§9.2."""
    return tuple(line for line in lines if parse_line(line).key == key)


def merge_lines(*parts: Sequence[str]) -> tuple[str, ...]:
    """Return all lines in order of first appearance, each once. Source: G§9.2."""
    return tuple(dict.fromkeys(line for part in parts for line in part))


def line_map(lines: Iterable[str]) -> Mapping[str, str]:
    """Return key -> value; the last line of a key wins, free text is under the empty key."""
    return dict(map(parse_line, lines))
