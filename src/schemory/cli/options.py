"""Flags that give settings, as data: what argparse is told of, and what reads a plain command line.

Importing argparse and building parsers costs as much as a bare start of Python. A server's command
line is written by a program and nearly always plain, so it is read from the same table directly;
whatever is not plain, mistakes and cries for help among it, goes to argparse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A flag that gives a setting.

    Attributes:
        setting: The setting's name.
        shown: What stands for its value in the help; "" = a switch, which takes none.
        is_repeatable: Whether it may come several times, each with one more value.
    """

    flag: str
    setting: str
    meaning: str
    shown: str = ""
    is_repeatable: bool = False

    def add_to(self, parser: Any) -> None:
        """Tell a parser of argparse, or a group of one, of the flag."""
        import argparse  # noqa: PLC0415 (see the module)

        facts: dict[str, Any] = {"metavar": self.shown}
        if not self.shown:
            facts = {"action": "store_const", "const": "1"}
        elif self.is_repeatable:
            facts["action"] = "append"
        silent = argparse.SUPPRESS  # what is not given is not there
        parser.add_argument(
            self.flag, dest=self.setting, default=silent, help=self.meaning, **facts
        )


def read_plain(words: Sequence[str], options: Iterable[Option]) -> dict[str, Any] | None:
    """Return the settings that `words` give, by name; None where argparse has to look at them.

    Plain is `--flag value`, `--flag=value` and `--switch`, each spelt out and known.
    """
    known = {option.flag: option for option in options}
    given: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        flag, has_value, value = word.partition("=")
        option = known.get(flag)
        if option is None or (has_value and not option.shown):
            return None
        if not option.shown:
            given[option.setting] = "1"
            continue
        text = value if has_value else next(rest, None)
        if text is None or (not has_value and text.startswith("-")):
            return None
        earlier = given.get(option.setting, ()) if option.is_repeatable else ()
        given[option.setting] = (*earlier, text) if option.is_repeatable else text
    return given


COMMON_OPTIONS: tuple[Option, ...] = (
    Option(flag="--db", setting="MEMORY_DB_PATH", shown="PATH", meaning="the SQLite store"),
    Option(
        flag="--graph-file",
        setting="MEMORY_FILE",
        shown="FILE",
        meaning="a JSONL file as the store",
    ),
    Option(
        flag="--project",
        setting="MEMORY_PROJECT",
        shown="PATH|ID",
        meaning="the project; without it the graph is the shared one, "
        "the memory the current folder's",
    ),
    Option(
        flag="--schemas",
        setting="MEMORY_SCHEMAS",
        shown="DIR",
        meaning="a folder of *.schema.json files; repeatable",
        is_repeatable=True,
    ),
    Option(
        flag="--pack",
        setting="MEMORY_PACKS",
        shown="NAME",
        meaning="a built-in set of schemas: rpg, software; repeatable",
        is_repeatable=True,
    ),
    Option(flag="--debug", setting="MEMORY_DEBUG", meaning="log"),
)
"""Before or after every command."""
