"""Changes single tables of a TOML text by splicing: every other character stays as it is.

The text is cut into headers and `key = value` lines; what keys mean is the standard library's word.
No library that writes TOML is used: tomlkit puts a new table behind comments that belong to the
next one, mixes line ends, and moves keys that follow dotted ones into the new table.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json

_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")
_STRINGS: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\r\n]|\\.)*"|\'[^\'\r\n]*\'',
    re.DOTALL,
)
_HEADER: Final = re.compile(
    r"[ \t]*\[(?:\[(?P<many>[^\r\n]*?)\]|(?P<one>[^\r\n]*?))\][ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)"
)
_LITERAL: Final = re.compile(r"[^'\x00-\x08\x0a-\x1f\x7f]*\\[^'\x00-\x08\x0a-\x1f\x7f]*")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


class TomlError(Exception):
    """A text that is no TOML."""

    def __init__(self, fault: str, line: int, column: int) -> None:
        super().__init__(fault)
        self.fault, self.line, self.column = fault, line, column


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A header or a `key = value`, from the beginning of its line to the end of its last one.

    Attributes:
        path: The keys it is about, from the root.
        is_header: Whether it begins a table.
        value: Where its value stands.
        end: Behind its last character, before the line break.
    """

    path: tuple[str, ...]
    start: int
    end: int
    is_header: bool = False
    value: tuple[int, int] = field(default=(0, 0))


def read_toml(text: str) -> dict[str, object]:
    """Return what `text` says.

    Raises:
        TomlError: It is no TOML, with the place.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        place = _PLACE.search(str(fault))
        told = _PLACE.sub("", str(fault)).removesuffix(" (at end of document)").strip()
        if place is not None:
            raise TomlError(f"is no TOML: {told}", int(place[1]), int(place[2])) from None
        lines = text.splitlines() or [""]
        raise TomlError(f"is no TOML: {told}", len(lines), len(lines[-1]) + 1) from None
    except RecursionError:
        raise TomlError("is nested too deeply", 1, 1) from None
    except ValueError:  # Python's limit; what the client makes of it is not known
        raise TomlError("holds a number with too many digits to be read", 1, 1) from None


def set_table(text: str, path: Sequence[str], value: Mapping[str, Json], *, line_end: str) -> str:
    """Return `text` with the members of the table at `path` set; a new table goes to the end.

    Raises:
        TomlError: The text is no TOML.
    """
    read_toml(text)
    statements = list(_statements(text))
    wanted = tuple(path)
    header = next((s for s in statements if s.is_header and s.path == wanted), None)
    if header is None:
        kept = remove_table(text, path)
        return kept + _block(kept, path, value, line_end)
    for key, member in reversed(list(value.items())):
        spot = next((s for s in statements if s.path == (*wanted, key) and not s.is_header), None)
        if spot is not None:
            text = text[: spot.value[0]] + _render(member) + text[spot.value[1] :]
        elif not any(s.path[: len(wanted) + 1] == (*wanted, key) for s in statements):
            line = f"{line_end}{_key(key)} = {_render(member)}"
            text = text[: header.end] + line + text[header.end :]
        statements = list(_statements(text))
        header = next(s for s in statements if s.is_header and s.path == wanted)
    return text


def remove_table(text: str, path: Sequence[str]) -> str:
    """Return `text` without the table at `path` and those below it.

    Raises:
        TomlError: The text is no TOML.
    """
    read_toml(text)
    wanted = tuple(path)
    statements = [s for s in _statements(text) if s.path[: len(wanted)] == wanted]
    for start, end in reversed(_runs(text, statements)):
        text = _without(text, start, end)
    return text


def _runs(text: str, statements: Sequence[Statement]) -> list[tuple[int, int]]:
    """Return spans of statements with nothing but blanks between them."""
    runs: list[tuple[int, int]] = []
    for statement in statements:
        if runs and not text[runs[-1][1] : statement.start].strip():
            runs[-1] = (runs[-1][0], statement.end)
        else:
            runs.append((statement.start, statement.end))
    return runs


def _without(text: str, start: int, end: int) -> str:
    """Return `text` without whole lines, and without the blank line that set them off."""
    before, after = text[:start], text[end:]
    broken = re.match(r"[ \t]*(?:\r\n|\n)", after)
    if broken is not None:
        after = after[broken.end() :]
        if not after.strip() or after.lstrip(" \t").startswith(("\n", "\r\n")):
            before = re.sub(r"(\r\n|\n)(?:\r\n|\n)\Z", r"\1", before)
        return before + after
    return re.sub(r"(?:\r\n|\n){1,2}\Z", "", before) + after


def _block(text: str, path: Sequence[str], value: Mapping[str, Json], line_end: str) -> str:
    """Return the text of a new table at the end of `text`, set off by a blank line."""
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(key)} = {_render(member)}" for key, member in value.items()]
    block = line_end.join(lines)
    if not text.strip():
        return block + line_end
    if not text.endswith("\n"):
        return line_end * 2 + block
    return (line_end if text.rstrip(" \t").endswith("\n") else "") + block + line_end


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _render(value: Json) -> str:
    if isinstance(value, str):
        if _LITERAL.fullmatch(
            value
        ):  # Windows paths are easier to read without doubled backslashes
            return f"'{value}'"
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_render(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_render, value)) + "]"
    return json.dumps(value)


def _statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a text that is TOML."""
    at, table = 0, tuple[str, ...]()
    while at < len(text):
        line_end = _end_of_line(text, at)
        line = text[at:line_end].strip()
        if not line or line.startswith("#"):
            at = line_end + 1
            continue
        header = _HEADER.match(text, at) if line.startswith("[") else None
        if header is not None:
            table = _path(header["many"] or header["one"])
            yield Statement(path=table, start=at, end=header.end(), is_header=True)
            at = _end_of_line(text, header.end()) + 1
            continue
        equals = _find(text, at, "=")
        value_end = _value_end(text, equals + 1)
        value_start = equals + 1 + len(text[equals + 1 :]) - len(text[equals + 1 :].lstrip(" \t"))
        rest = _end_of_line(text, value_end)
        path = (*table, *_path(text[at:equals]))
        span = (value_start, len(text[:value_end].rstrip(" \t")))
        yield Statement(path=path, start=at, end=len(text[:rest].rstrip("\r")), value=span)
        at = rest + 1


def _path(keys: str) -> tuple[str, ...]:
    """Return the keys of a dotted key."""
    data: object = tomllib.loads(f"{keys.strip()} = 0")
    path: list[str] = []
    while isinstance(data, Mapping):
        ((key, data),) = cast("Mapping[str, object]", data).items()
        path.append(key)
    return tuple(path)


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _find(text: str, at: int, mark: str) -> int:
    """Return where `mark` is outside strings."""
    while not text.startswith(mark, at):
        string = _STRINGS.match(text, at)
        at = string.end() if string else at + 1
    return at


def _value_end(text: str, at: int) -> int:
    """Return where a value ends: at its line's end, a comment, or the end of its last bracket."""
    depth = 0
    while at < len(text):
        string = _STRINGS.match(text, at)
        if string is not None:
            at = string.end()
            continue
        mark = text[at]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif mark == "#":
            if depth == 0:
                return at
            at = _end_of_line(text, at)
            continue
        elif mark in "\r\n" and depth == 0:
            return at
        at += 1
    return at
