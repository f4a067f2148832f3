"""Cuts a Markdown text into sections of substance, by whole lines; every line is accounted for.

A section is a heading with what belongs to it. A short one stays whole with the headings below it;
a long one gives its own text and, apart, what stands below. A decision record always stays whole.
Fenced code is never cut. The headings are found by a CommonMark parser, so that a `#` in a fence
or a comment is none and an underlined heading is one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final

from schemory.transfer.foreign.frontmatter import FrontMatter, read_front_matter
from schemory.transfer.foreign.junk import (
    is_contents,
    is_empty,
    is_marker,
    is_placeholder,
    marks_end,
    marks_start,
)
from schemory.transfer.foreign.records import is_record, is_record_log

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

WHOLE_CHARS: Final = 2_000
"""A section with everything below its heading is one entry up to this length."""

_EMPHASIS: Final = re.compile(r"\*\*|__|`|<[^<>]*>")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SPACES: Final = re.compile(r"\s+")


class Why(StrEnum):
    """Why lines of a file become no entry."""

    FRONT_MATTER = "front matter, kept with the file's first entry"
    HEADING = "headings without a text of their own, kept as titles"
    EMPTY = "empty sections"
    PLACEHOLDER = "placeholders"
    CONTENTS = "tables of contents"
    MARKER = "markers of generated text"
    BLANK = "blank lines"


@dataclass(frozen=True, slots=True)
class Removed:
    """Lines that are in no piece, 0-based, `end` exclusive."""

    start: int
    end: int
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Lines that become one entry.

    Attributes:
        headings: Of the section and all above it, the top one first.
        start: First line, 0-based; `end` is exclusive.
        text: The lines without markers and without blank lines at the ends.
        numbers: The lines that the text is made of.
        is_record: It is a decision record.
        is_generated: It stands between the markers of a program that wrote it.
    """

    headings: tuple[str, ...]
    start: int
    end: int
    text: str
    numbers: tuple[int, ...]
    is_record: bool = False
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """A text in pieces; these, the removed lines and the front matter are all of its lines."""

    front: FrontMatter
    pieces: tuple[Piece, ...]
    removed: tuple[Removed, ...]
    title: str | None


@dataclass(slots=True)
class _Section:
    level: int
    headings: tuple[str, ...]
    start: int
    body: int
    end: int = 0
    children: list["_Section"] = field(default_factory=list["_Section"])

    @property
    def own_end(self) -> int:
        return self.children[0].start if self.children else self.end


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text with their ends; `"".join` gives it back.

    >>> lines_of("a\n\nb")
    ['a\n', '\n', 'b']
    """
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def split(text: str, *, max_bytes: int, is_log: bool = False, whole: bool = False) -> Split:
    """Return the pieces of a Markdown text.

    Args:
        text: With plain line ends.
        max_bytes: No piece is longer; what is gets cut between blocks, or else between lines.
        is_log: Every section under the title is a decision record.
        whole: The text is one piece, whatever its headings.
    """
    lines = lines_of(text)
    front = read_front_matter(lines)
    outline = _Outline(lines, front.end)
    cutter = _Cutter(lines, outline, max_bytes)
    root = outline.root
    if front.end:
        cutter.remove(0, front.end, Why.FRONT_MATTER)
    if whole:
        cutter.take(root, root.start, root.end)
    else:
        cutter.cut(root, is_log=is_log or is_record_log(outline.title))
    return Split(front, tuple(cutter.pieces), tuple(cutter.removed), outline.title)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 (only for Markdown)

    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


class _Outline:
    """The sections of a text, and where its fences and comments are."""

    def __init__(self, lines: Sequence[str], start: int) -> None:
        self.root = _Section(0, (), start, start, len(lines))
        self.blocks: list[int] = []
        self.markers: dict[int, str] = {}
        self._open = [self.root]
        tokens = _parser().parse("".join(lines[start:]))
        for index, token in enumerate(tokens):
            if token.map is None or token.level:
                continue
            first, last = token.map[0] + start, token.map[1] + start
            self.blocks.append(first)
            if token.type == "heading_open":
                self._add(int(token.tag[1:]), tokens[index + 1].content, first, last)
            elif token.type == "html_block":
                self._take_markers(lines, first, last)
        self._close(1)

    @property
    def title(self) -> str | None:
        """The heading that the entire text stands under, if it is one."""
        top = self.root.children
        return top[0].headings[0] if len(top) == 1 else None

    def _add(self, level: int, heading: str, first: int, last: int) -> None:
        self._close(level, first)
        above = self._open[-1]
        section = _Section(level, (*above.headings, plain_heading(heading)), first, last)
        above.children.append(section)
        self._open.append(section)

    def _close(self, level: int, at: int | None = None) -> None:
        while len(self._open) > 1 and self._open[-1].level >= level:
            self._open.pop().end = self.root.end if at is None else at

    def _take_markers(self, lines: Sequence[str], first: int, last: int) -> None:
        for number in range(first, last):
            if is_marker(lines[number]):
                self.markers[number] = lines[number]


class _Cutter:
    """Gathers pieces and what is removed, in the text's order."""

    def __init__(self, lines: Sequence[str], outline: _Outline, max_bytes: int) -> None:
        self._lines = lines
        self._outline = outline
        self._max_bytes = max_bytes
        self._is_generated = False
        self.pieces: list[Piece] = []
        self.removed: list[Removed] = []

    def cut(self, section: _Section, *, is_log: bool) -> None:
        """Cut a section: whole, or its own text and then what stands below it."""
        is_top = section is self._outline.root or self._is_title(section)
        if section is not self._outline.root and is_record(self._words_below(section)):
            self.take(section, section.start, section.end, is_record=True)
            return
        if not is_top and self._length(section) <= WHOLE_CHARS:
            self.take(section, section.start, section.end)
            return
        self.take(section, section.start, section.own_end)
        for child in section.children:
            if is_log and is_top and not self._is_title(child):
                self.take(child, child.start, child.end, is_record=True)
            else:
                self.cut(child, is_log=is_log)

    def take(self, section: _Section, start: int, end: int, *, is_record: bool = False) -> None:
        """Make lines a piece, or several where they are too long, or remove what is no text."""
        was_generated = self._is_generated
        kept = [number for number in range(start, end) if not self._take_marker(number)]
        if not kept:
            return
        is_generated = was_generated or self._is_generated
        why = self._junk(
            section, [self._lines[number] for number in kept if number >= section.body]
        )
        if why is not None:
            self._remove_all(kept, why)
            return
        for part in self._parts(kept):
            numbers = self._without_blank_ends(part)
            self.pieces.append(
                Piece(
                    headings=section.headings,
                    start=part[0],
                    end=part[-1] + 1,
                    text="".join(self._lines[number] for number in numbers).rstrip() + "\n",
                    numbers=tuple(numbers),
                    is_record=is_record,
                    is_generated=is_generated,
                )
            )

    def remove(self, start: int, end: int, why: Why) -> None:
        """Note lines that are in no piece."""
        if self.removed and self.removed[-1].end == start and self.removed[-1].why is why:
            start = self.removed.pop().start
        self.removed.append(Removed(start, end, why))

    def _take_marker(self, number: int) -> bool:
        line = self._outline.markers.get(number)
        if line is None:
            return False
        if marks_start(line):
            self._is_generated = True
        elif marks_end(line):
            self._is_generated = False
        self.remove(number, number + 1, Why.MARKER)
        return True

    def _remove_all(self, numbers: Sequence[int], why: Why) -> None:
        for number in numbers:
            self.remove(number, number + 1, why)

    def _junk(self, section: _Section, body: Sequence[str]) -> Why | None:
        if is_empty(body):
            if not section.headings:
                return Why.BLANK
            return Why.HEADING if section.children else Why.EMPTY
        if is_placeholder(body):
            return Why.PLACEHOLDER
        return Why.CONTENTS if is_contents(body) else None

    def _without_blank_ends(self, numbers: list[int]) -> list[int]:
        text = [at for at, number in enumerate(numbers) if self._lines[number].strip()]
        return numbers[text[0] : text[-1] + 1] if text else numbers

    def _is_title(self, section: _Section) -> bool:
        return self._outline.root.children == [section]

    def _length(self, section: _Section) -> int:
        return sum(len(self._lines[number]) for number in range(section.start, section.end))

    def _words_below(self, section: _Section) -> tuple[str, tuple[str, ...]]:
        return section.headings[-1], tuple(child.headings[-1] for child in section.children)

    def _parts(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """Cut lines where they are too long, at the start of a block if there is one in reach."""
        starts = set(self._outline.blocks)
        part: list[int] = []
        size, good = 0, 0
        for number in numbers:
            length = len(self._lines[number].encode())
            if part and size + length > self._max_bytes:
                at = good or len(part)
                yield part[:at]
                part = part[at:]
                size, good = sum(len(self._lines[n].encode()) for n in part), 0
            if part and number in starts:
                good = len(part)
            part.append(number)
            size += length
        if part:
            yield part


def plain_heading(text: str) -> str:
    """Return a heading without its marks.

    >>> plain_heading("**Use** [`make`](x.md) now")
    'Use make now'
    """
    return _SPACES.sub(" ", _EMPHASIS.sub("", _LINK.sub(r"\1", text))).strip()
