"""Metadata lines: flat `Key: Value` texts, parsed on demand (graph.md §1, G§9)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\s_\-.]+")
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
    words = [word for word in _split_words(property_key) if word]
    return " ".join(word[0].upper() + word[1:] for word in words) or property_key


def _split_words(key: str) -> list[str]:
    # A plural `s` after capitals (`NPCs`) belongs to the capitals.
    marked = re.sub(r"([A-Z]{2,})s(?![a-z])", lambda m: m.group(1) + "\0", key)
    return [word.replace("\0", "s") for word in _WORD_BREAK.split(marked)]


def normal_key(key: str) -> str:
    """Return a key with case, spaces, `_` and `-` ignored, so that all its spellings meet.

    >>> {normal_key(key) for key in ("Current Location", "currentLocation", "current_location")}
    {'currentlocation'}
    """
    return _IGNORED_IN_KEYS.sub("", key).casefold()


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
