"""What a command is, and the options that all of them share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from schemory.cli.options import COMMON_OPTIONS
from schemory.cli.output import Output
from schemory.config import KEYS, Raw, Settings, load_settings
from schemory.errors import UsageError
from schemory.hints import TYPE_CHECKING, cast
from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from typing import NoReturn, TextIO

    from schemory.app import App

OK, FINDING, USAGE, STORE = 0, 1, 2, 3
"""Exit codes."""

_SETTING_NAMES = tuple(key.name for key in KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One run of a command.

    Attributes:
        args: The command's own arguments.
        overrides: Settings that the command line gives, by name.
    """

    args: argparse.Namespace
    overrides: Mapping[str, Raw]
    out: Output
    stdin: TextIO

    def settings(self) -> Settings:
        """Return the settings of this run."""
        return load_settings(self.overrides)

    @contextmanager
    def app(self, settings: Settings | None = None) -> Generator[App]:
        """Open the product and close it at the end."""
        from schemory.app import open_app  # noqa: PLC0415 (help and usage errors need no store)

        with open_app(settings or self.settings()) as app:
            yield app


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command as data.

    Attributes:
        name: As typed: `nodes`, `schema check`.
        summary: One line for the list of commands.
        examples: Command lines with a comment, for its help.
    """

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Request], int]
    examples: tuple[str, ...] = ()


def _narrow(prog: str) -> argparse.HelpFormatter:
    """Return a formatter that does not ask how wide the terminal is.

    For each option that is added argparse makes one, to look at how its value is called; asking
    for the width would import a good part of what a quick command needs.
    """
    return argparse.HelpFormatter(prog, width=80)


class _Parser(argparse.ArgumentParser):
    """Raises instead of exiting, so that every error ends in one place."""

    def format_help(self) -> str:
        """Return the help, as wide as the terminal."""
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        command = self.prog.partition(" ")[2]
        hint = f"schemory {command} --help" if command else "schemory --help"
        from schemory.cli.typos import likely_meant  # noqa: PLC0415 (only for a mistake)

        meant = [f"Did you mean `{each}`?" for each in likely_meant(message, self._actions)]
        raise UsageError(message, suggestions=[*meant, f"See `{hint}`."])


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that stand before or after every command."""
    group = parser.add_argument_group("common options, before or after the command")
    for option in COMMON_OPTIONS:
        option.add_to(group)
    silent = argparse.SUPPRESS
    group.add_argument("--json", action="store_true", default=silent, help="print one JSON value")


def make_parser(command: Command) -> argparse.ArgumentParser:
    """Return the parser of one command, its examples in the help."""
    examples = "\n".join(f"  {line}" for line in command.examples)
    parser = _Parser(
        prog=f"schemory {command.name}",
        description=command.summary[0].upper() + command.summary[1:] + ".",
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=_narrow,
        allow_abbrev=False,
    )
    command.configure(parser)
    add_common_options(parser)
    return parser


def make_common_parser() -> argparse.ArgumentParser:
    """Return the parser of what stands before the command."""
    parser = _Parser(prog="schemory", add_help=False, allow_abbrev=False, formatter_class=_narrow)
    add_common_options(parser)
    return parser


def merge(before: argparse.Namespace, after: argparse.Namespace) -> dict[str, Raw]:
    """Return the settings given before and after the command; later ones win, lists are joined."""
    overrides: dict[str, Raw] = {}
    for namespace in (before, after):
        for name in _SETTING_NAMES:
            value: object = getattr(namespace, name, None)
            if isinstance(value, list):
                earlier = overrides.get(name, ())
                known = earlier if isinstance(earlier, tuple) else (earlier,)
                overrides[name] = (*known, *map(str, cast("list[object]", value)))
            elif isinstance(value, str):
                overrides[name] = value
    return overrides


def count(text: str) -> int:
    """Return the number of an option that takes 0 or more.

    Raises:
        argparse.ArgumentTypeError: It is no such number.
    """
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return number


def read_text(source: str, stdin: TextIO) -> str:
    """Return an argument as it is; `-` stands for standard input, less a byte order mark.

    Raises:
        UsageError: Standard input is no UTF-8.
    """
    if source != "-":
        return source
    try:  # the bytes, since the system's own encoding may be another one
        return stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UsageError(f"standard input is no UTF-8: byte {fault.start + 1}") from None


def value_options(parser: argparse.ArgumentParser) -> Sequence[str]:
    """Return the spellings of all options that take a value."""
    return [
        spelling
        for action in parser._actions  # noqa: SLF001 (argparse has no public list of its options)
        if action.nargs != 0
        for spelling in action.option_strings
    ]
