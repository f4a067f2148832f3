"""What can be typed on the command line, read off the parsers, as completion scripts need it."""

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from schemory.cli.command import Command, add_common_options, make_parser
from schemory.config import TOOLSETS
from schemory.model.frozen import dataclass
from schemory.schemas.load import pack_names

_ALTERNATIVES: Final = re.compile(r"[a-z]+(?:\|[a-z]+)+")
_PLACES: Final = re.compile(r"FILE|FOLDER|DIR|PATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What may stand in one place.

    Attributes:
        name: As the help calls it.
        words: All that is allowed there; () = anything.
        is_place: A file or folder may stand there.
    """

    name: str
    words: tuple[str, ...] = ()
    is_place: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a command.

    Attributes:
        spellings: `--help`, `-h`.
        value: What it takes; None = nothing.
        is_repeatable: Whether it may be given several times.
    """

    spellings: tuple[str, ...]
    summary: str
    value: Value | None
    is_repeatable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """A plain word after a command."""

    value: Value
    is_optional: bool
    is_last_of_many: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandShape:
    """What can be typed after a command, the options of every command left out.

    Attributes:
        words: The command's name: `("add",)`, `("schema", "check")`.
    """

    words: tuple[str, ...]
    summary: str
    options: tuple[Option, ...]
    operands: tuple[Operand, ...]

    @property
    def name(self) -> str:
        """The command as it is typed."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The whole command line.

    Attributes:
        common: Options that every command has.
    """

    commands: tuple[CommandShape, ...]
    common: tuple[Option, ...]

    @property
    def families(self) -> Mapping[str, tuple[CommandShape, ...]]:
        """The commands of two words, by their first."""
        firsts = dict.fromkeys(each.words[0] for each in self.commands if len(each.words) > 1)
        return {first: tuple(c for c in self.commands if c.words[0] == first) for first in firsts}

    @property
    def first_words(self) -> Mapping[str, str]:
        """What can be the first word, each with a summary."""
        found = {each.words[0]: each.summary for each in self.commands if len(each.words) == 1}
        for first, members in self.families.items():
            found[first] = ", ".join(each.words[1] for each in members)
        return found


def read_shape(commands: Iterable[Command]) -> Shape:
    """Return what can be typed, the commands in their order."""
    common = argparse.ArgumentParser(add_help=True)
    add_common_options(common)
    shared = _options(common)
    names = {spelling for option in shared for spelling in option.spellings}
    return Shape(commands=tuple(_command(each, names) for each in commands), common=shared)


def _command(command: Command, shared: set[str]) -> CommandShape:
    parser = make_parser(command)
    return CommandShape(
        words=tuple(command.name.split()),
        summary=command.summary.partition(";")[0],
        options=tuple(
            each for each in _options(parser, command.name) if shared.isdisjoint(each.spellings)
        ),
        operands=tuple(_operands(parser, command.name)),
    )


def _actions(parser: argparse.ArgumentParser) -> Sequence[argparse.Action]:
    return parser._actions  # noqa: SLF001 (argparse has no public list of them)


def _options(parser: argparse.ArgumentParser, command: str = "") -> tuple[Option, ...]:
    return tuple(
        Option(
            spellings=tuple(action.option_strings),
            summary=(action.help or "").replace("%%", "%"),
            value=None if action.nargs == 0 else _value(action, command),
            is_repeatable="Append" in type(action).__name__,
        )
        for action in _actions(parser)
        if action.option_strings and action.help != argparse.SUPPRESS
    )


def _operands(parser: argparse.ArgumentParser, command: str) -> Iterable[Operand]:
    for action in _actions(parser):
        if not action.option_strings:
            yield Operand(
                value=_value(action, command),
                is_optional=action.nargs in {"?", "*"},
                is_last_of_many=action.nargs in {"+", "*"},
            )


def _value(action: argparse.Action, command: str = "") -> Value:
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.choices is not None:
        return Value(name=name, words=tuple(map(str, action.choices)))
    if _ALTERNATIVES.fullmatch(name):
        return Value(name="VALUE", words=tuple(name.split("|")))
    known = _KNOWN.get(f"{command} {action.dest}") or _KNOWN.get(action.dest)
    return Value(
        name=name,
        words=tuple(known()) if known else (),
        is_place=known is None and bool(_PLACES.search(name)),
    )


def _skill_hosts() -> Sequence[str]:
    from schemory.setup.skill import SKILL_TARGETS  # noqa: PLC0415 (only where one is asked for)

    return list(SKILL_TARGETS)


def _kinds() -> Sequence[str]:
    from schemory.transfer.foreign.kinds import Kind  # noqa: PLC0415 (as above)

    return [kind.value for kind in Kind]


def _clients() -> Sequence[str]:
    from schemory.setup.clients.table import CLIENTS  # noqa: PLC0415 (only where one is asked for)

    return [client.name for client in CLIENTS]


_KNOWN: Final[Mapping[str, Callable[[], Sequence[str]]]] = {
    "MEMORY_PACKS": pack_names,
    "MEMORY_TOOLSET": lambda: TOOLSETS,
    "pack": pack_names,
    "schema pack name": pack_names,
    "client": _clients,
    "skill client": _skill_hosts,
    "import kind": _kinds,
}
"""Values that are known when the script is made, by the destination of what takes them, behind its
command where another one has a destination of that name."""
