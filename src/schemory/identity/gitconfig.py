"""Reads the remotes out of a git configuration file; includes are not followed."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


class ConfigValue(NamedTuple):
    """One `key = value` of a git configuration: section and key in lower case."""

    section: str
    subsection: str
    key: str
    value: str


def parse_git_config(text: str) -> Iterator[ConfigValue]:
    r"""Yield the values of a git configuration in order; lines that break its grammar are skipped.

    >>> [tuple(v) for v in parse_git_config('[Remote "origin"]\n\tURL = "a b" ; note')]
    [('remote', 'origin', 'url', 'a b')]
    """
    section = subsection = ""
    for line in _whole_lines(text):
        rest = line
        header = _header().match(rest)
        if header is not None:
            section, subsection = _names(header)
            rest = rest[header.end() :]
        found = _assignment().fullmatch(rest)
        if found is not None:
            value = "true" if found["value"] is None else _value(found["value"])
            yield ConfigValue(section, subsection, found["key"].lower(), value)


def _whole_lines(text: str) -> Iterator[str]:
    """Yield lines with their continuations; a backslash before the end of a line continues it."""
    pending = ""
    for line in text.splitlines():
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
        else:
            yield pending + line
            pending = ""
    if pending:
        yield pending


@cache
def _header() -> re.Pattern[str]:
    return re.compile(
        r"\s*\[\s*(?P<section>[A-Za-z0-9.-]+)(?:\s+\"(?P<sub>(?:[^\"\\]|\\.)*)\")?\s*\]"
    )


@cache
def _assignment() -> re.Pattern[str]:
    return re.compile(r"\s*(?P<key>[A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(?P<value>.*)|(?:[#;].*)?)")


def _names(header: re.Match[str]) -> tuple[str, str]:
    section, subsection = header["section"], header["sub"]
    if subsection is not None:
        return section.lower(), re.sub(r"\\(.)", r"\1", subsection)
    # The old spelling `[remote.origin]`, whose subsection ignores case.
    first, _, rest = section.lower().partition(".")
    return first, rest


def _value(text: str) -> str:
    """Return a raw value without its comment, quotes and escapes; inner blanks stay."""
    kept: list[str] = []
    end = 0  # behind the last character that is no trailing blank
    is_quoted = False
    characters = iter(text)
    for char in characters:
        if char == "\\":
            escaped = next(characters, "")
            kept.append(_ESCAPES.get(escaped, escaped))
            end = len(kept)
        elif char == '"':
            is_quoted = not is_quoted
            end = len(kept)
        elif char in "#;" and not is_quoted:
            break
        else:
            kept.append(char)
            if is_quoted or not char.isspace():
                end = len(kept)
    return "".join(kept[:end])
