"""What a command prints: tables and text for people, JSON for programs, pipes unharmed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache

from schemory.config import wants_colour
from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, compact

if TYPE_CHECKING:
    from typing import TextIO

_KEPT_INVISIBLE = frozenset("\n\t\u200c\u200d")
"""Breaks, and the joiners that emoji and several scripts need."""


class Style(StrEnum):
    """How a piece of text stands out on a terminal: the ANSI codes."""

    BOLD = "1"
    DIM = "2"
    RED = "31"
    GREEN = "32"
    YELLOW = "33"
    CYAN = "36"


@cache  # pipes and hooks see no style
def _styled() -> re.Pattern[str]:
    """Return what finds the marks that `Output.style` puts around a text."""
    return re.compile(rf"(\x1b\[(?:0|{'|'.join(Style)})m)")


@dataclass(slots=True)
class Output:
    """Where a command writes, and for whom.

    Attributes:
        is_json: Programs read: one JSON value on stdout, nothing else.
        colour: Whether stdout is a terminal that shows colours.
    """

    stdout: TextIO
    stderr: TextIO
    is_json: bool = False
    colour: bool = False
    is_terminal: bool = False

    def json(self, value: Json) -> None:
        """Print one JSON value: indented on a terminal, else on one line."""
        text = json.dumps(value, ensure_ascii=False, indent=2) if self.is_terminal else None
        self.stdout.write((text or compact(value)) + "\n")

    def line(self, text: str = "") -> None:
        """Print a line; invisible characters in it are shown, styles from `style` are kept."""
        if self.colour:
            text = "".join(
                part if is_style % 2 else visible(part)
                for is_style, part in enumerate(_styled().split(text))
            )
        else:
            text = visible(text)
        self.stdout.write(text + "\n")

    def note(self, text: str) -> None:
        """Print a line on stderr, beside the result and after what was printed so far."""
        self.stdout.flush()
        self.stderr.write(visible(text) + "\n")

    def style(self, text: str, style: Style) -> str:
        """Return `text` made safe for a terminal and, where colours are shown, styled."""
        shown = visible(text)
        return f"\x1b[{style.value}m{shown}\x1b[0m" if self.colour and shown else shown

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print rows: a table on a terminal, else tab-separated lines without a head."""
        if not self.is_terminal:
            for row in rows:
                self.line("\t".join(one_line(cell) for cell in row))
            return
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415 (heavy, only for a terminal)
        from rich.console import Console  # noqa: PLC0415 (as above)
        from rich.table import Table  # noqa: PLC0415 (as above)
        from rich.text import Text  # noqa: PLC0415 (as above)

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for header in headers:
            # An id that is broken over lines cannot be picked up to be used.
            table.add_column(header, overflow="fold", no_wrap=header == "id")
        for row in rows:
            table.add_row(*(Text(one_line(cell)) for cell in row))
        console = Console(
            file=self.stdout, color_system="auto" if self.colour else None, highlight=False
        )
        console.print(table)

    def facts(self, facts: Mapping[str, str]) -> None:
        """Print names with values, aligned."""
        width = max(map(len, facts), default=0)
        for name, value in facts.items():
            label = self.style(f"{name:<{width}}", Style.DIM)
            self.line(f"{label}  {visible(value)}")


def visible(text: str) -> str:
    """Return `text` with control, direction and other invisible characters written out.

    Stored text must not be able to drive the terminal it is shown on.

    >>> visible("a" + chr(27) + "[31mb") == "a" + chr(92) + "x1b[31mb"
    True
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in _KEPT_INVISIBLE else ascii(each)[1:-1]
        for each in text
    )


def one_line(text: str) -> str:
    """Return `text` as one visible line without tabs."""
    return visible(text).replace("\t", " ").replace("\r", "").replace("\n", " ⏎ ")


def shorten(text: str, width: int) -> str:
    """Return `text` cut to `width` characters, an ellipsis marking the cut.

    >>> shorten("a long line", 7)
    'a long…'
    """
    return text if len(text) <= width else text[: width - 1] + "…"


def standard_output(*, is_json: bool) -> Output:
    """Return the process's own output; text that its encoding lacks is written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # tests put other streams here
    is_terminal = sys.stdout.isatty()
    return Output(
        stdout=sys.stdout,
        stderr=sys.stderr,
        is_json=is_json,
        colour=is_terminal and not is_json and wants_colour(),
        is_terminal=is_terminal,
    )
