"""Changes single members of a JSON text by splicing: every other character stays as it is."""

import json
import re
from collections.abc import Sequence
from typing import Final

from schemory.model.jsonvalue import Json
from schemory.setup.clients.jsonc import Body, Document, Member, read_jsonc

_REST_OF_LINE: Final = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_LINE_BREAK: Final = re.compile(r"\r\n|\n|\r")
_DEFAULT_STEP: Final = "  "


def set_member(text: str, path: Sequence[str], value: Json, *, line_end: str) -> str:
    """Return `text` with the member at `path` set; objects on the way are made where missing.

    Raises:
        JsoncError: The text is no JSON.
        TypeError: Something on the way is there and is no object.
    """
    document = read_jsonc(text, path)
    if document.is_blank:
        return _begun(text, path, value, line_end)
    depth = _deepest(document, path)
    body = document.bodies[tuple(path[:depth])]
    member = body.find(path[depth])
    style = _Style(text, document, line_end)
    if member is not None and depth == len(path) - 1:
        indent = style.indent_of(member, body, depth)
        rendered = style.render(value, indent, is_flat=style.is_flat(body))
        return text[: member.start] + rendered + text[member.end :]
    if member is not None:
        raise TypeError(".".join(path[: depth + 1]))
    nested: Json = value
    for key in reversed(path[depth + 1 :]):
        nested = {key: nested}
    return _inserted(text, body, (path[depth], nested), style, depth=depth)


def remove_member(text: str, path: Sequence[str]) -> str:
    """Return `text` without the member at `path`; unchanged when it is not there.

    Raises:
        JsoncError: The text is no JSON.
    """
    document = read_jsonc(text, path)
    body = document.bodies.get(tuple(path[:-1]))
    member = body.find(path[-1]) if body else None
    if body is None or member is None:
        return text
    index = body.members.index(member)
    if index < len(body.members) - 1:
        return _cut_before(text, body, index)
    if index == 0:
        return _cut_only(text, body, member)
    before = body.members[index - 1]
    end = member.end if member.comma is None else member.comma + 1
    start = _blanks_before(text, member.key_start, before.comma or before.end)
    if _ends_line(text, end):  # its own line goes with it, else a comment before it needs its end
        start = _line_break_before(text, start)
    kept = text[:start] + text[end:]
    if member.comma is None and before.comma is not None:
        kept = kept[: before.comma] + kept[before.comma + 1 :]
    return kept


class _Style:
    """How a text is laid out, so that what is added looks as if it had always been there."""

    def __init__(self, text: str, document: Document, line_end: str) -> None:
        self._text = text
        self._line_end = line_end
        root = document.bodies[()]
        self._root_start = root.start
        self._is_all_flat = _LINE_BREAK.search(text, root.start, root.end) is None
        self.step = self._find_step(root)
        self.colon = self._find_colon(root)

    def _find_step(self, root: Body) -> str:
        for member in root.members:
            indent = _indent(self._text, member.key_start)
            if indent:
                base = _indent(self._text, root.start) or ""
                return indent.removeprefix(base) or _DEFAULT_STEP
        return _DEFAULT_STEP

    def _find_colon(self, root: Body) -> str:
        for member in root.members:
            between = self._text[member.key_end : member.start]
            if between.strip() == ":" and "\n" not in between:
                return between
        return ": "

    def is_flat(self, body: Body) -> bool:
        """Whether an object stands on one line and its members should too."""
        if _LINE_BREAK.search(self._text, body.start, body.end) is not None:
            return False
        return bool(body.members) or (self._is_all_flat and body.start != self._root_start)

    def indent_of(self, member: Member | None, body: Body, depth: int) -> str:
        """Return the indentation of an object's members."""
        if member is not None:
            indent = _indent(self._text, member.key_start)
            if indent is not None:
                return indent
        own = _line_indent(self._text, body.start)
        return own + self.step if own or depth == 0 else self.step * (depth + 1)

    def render(self, value: Json, indent: str, *, is_flat: bool) -> str:
        """Return a value as text, its lines indented."""
        if is_flat:
            tight = self.colon == ":"
            separators = (",", ":") if tight else (", ", ": ")
            return json.dumps(value, ensure_ascii=False, separators=separators)
        text = json.dumps(value, ensure_ascii=False, indent=self.step)
        return text.replace("\n", self._line_end + indent)

    def line(self, indent: str) -> str:
        """Return the beginning of a new line."""
        return self._line_end + indent


def _begun(text: str, path: Sequence[str], value: Json, line_end: str) -> str:
    """Return a text of blanks and comments with a first object."""
    nested: Json = value
    for key in reversed(path):
        nested = {key: nested}
    lines = json.dumps(nested, ensure_ascii=False, indent=_DEFAULT_STEP)
    kept = text if not text.strip() or text.endswith(("\n", "\r")) else text + line_end
    return (kept if kept.strip() else "") + lines.replace("\n", line_end) + line_end


def _deepest(document: Document, path: Sequence[str]) -> int:
    """Return how far along `path` there are objects."""
    if () not in document.bodies:
        raise TypeError("the file")
    depth = 0
    while depth < len(path) - 1 and tuple(path[: depth + 1]) in document.bodies:
        depth += 1
    return depth


def _inserted(text: str, body: Body, member: tuple[str, Json], style: _Style, *, depth: int) -> str:
    key, value = member
    last = body.members[-1] if body.members else None
    flat = style.is_flat(body)
    indent = style.indent_of(body.members[0] if body.members else None, body, depth)
    colon = style.colon
    rendered = f"{json.dumps(key, ensure_ascii=False)}{colon}"
    rendered += style.render(value, indent, is_flat=flat)
    if last is None:
        return _first(text, body, rendered, style, indent, is_flat=flat)
    if flat:
        gap = "" if colon == ":" else " "
        at = last.end if last.comma is None else last.comma + 1
        comma = "," if last.comma is None else ""
        tail = "," if last.comma is not None else ""
        return f"{text[:at]}{comma}{gap}{rendered}{tail}{text[at:]}"
    new = style.line(indent) + rendered
    if last.comma is not None:
        at = _end_of_line(text, last.comma + 1)
        return f"{text[:at]}{new},{text[at:]}"
    at = _end_of_line(text, last.end)
    if text.startswith("}", at):  # the closing brace stands beside the last member
        tail = style.line(_line_indent(text, body.start))
        return f"{text[: last.end]},{new}{tail}{text[last.end :]}"
    return f"{text[: last.end]},{text[last.end : at]}{new}{text[at:]}"


def _first(
    text: str, body: Body, rendered: str, style: _Style, indent: str, *, is_flat: bool
) -> str:
    """Return `text` with the first member of an object that may hold blanks and comments."""
    inside = text[body.start + 1 : body.end - 1]
    if is_flat:
        kept = f"{inside.rstrip()} " if inside.strip() else ""  # a comment, beside which it stands
        return f"{text[: body.start + 1]}{kept}{rendered}{text[body.end - 1 :]}"
    closing = style.line(_line_indent(text, body.start))
    new = f"{inside.rstrip()}{style.line(indent)}{rendered}{closing}"
    return f"{text[: body.start + 1]}{new}{text[body.end - 1 :]}"


def _cut_before(text: str, body: Body, index: int) -> str:
    """Return `text` without a member that another one follows."""
    member = body.members[index]
    end = (member.comma or member.end) + 1
    rest = _end_of_line(text, end)
    if text[end:rest].strip():  # a comment beside it stays
        return text[: member.key_start] + text[end:].lstrip(" \t")
    start = member.key_start - len(_indent(text, member.key_start) or "")
    is_own_line = _indent(text, member.key_start) is not None
    broken = _LINE_BREAK.match(text, rest)
    if is_own_line and broken is not None:
        return text[:start] + text[broken.end() :]
    return text[: member.key_start] + text[end:].lstrip(" \t")


def _cut_only(text: str, body: Body, member: Member) -> str:
    """Return `text` without the only member of an object; comments in it stay."""
    end = member.end if member.comma is None else member.comma + 1
    before, after = text[body.start + 1 : member.key_start], text[end : body.end - 1]
    if not (before + after).strip():
        return text[: body.start + 1] + text[body.end - 1 :]
    kept = before.rstrip() if _ends_line(text, end) else before.rstrip(" \t")
    return text[: body.start + 1] + kept + after + text[body.end - 1 :]


def _end_of_line(text: str, at: int) -> int:
    """Return where a line's blanks and comments end, before its break."""
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found else at


def _ends_line(text: str, at: int) -> bool:
    """Whether nothing but blanks follow on a line."""
    rest = text[at:].lstrip(" \t")
    return rest.startswith(("\n", "\r"))


def _blanks_before(text: str, at: int, floor: int) -> int:
    """Return where the blanks before a position begin, on its line and not before `floor`."""
    while at > floor and text[at - 1] in " \t":
        at -= 1
    return at


def _line_break_before(text: str, at: int) -> int:
    """Return where the line break begins that ends at a position, if one does."""
    if text.endswith("\r\n", 0, at):
        return at - 2
    return at - 1 if text.endswith(("\n", "\r"), 0, at) else at


def _indent(text: str, at: int) -> str | None:
    """Return what stands before a position on its line; None when that is not only blanks."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    before = text[start:at]
    return before if not before.strip(" \t") else None


def _line_indent(text: str, at: int) -> str:
    """Return the blanks at the beginning of a position's line."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))]
