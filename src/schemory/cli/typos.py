"""What was likely meant by an option or a value that a command does not know."""

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import Final

from schemory.model.likeness import nearest

_UNKNOWN: Final = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)
_NO_CHOICE: Final = re.compile(r"argument ([^:]+): invalid choice: '([^']*)'")


def likely_meant(message: str, actions: Sequence[argparse.Action]) -> tuple[str, ...]:
    """Return options or values that are near to what argparse complains about, nearest first.

    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--limit"), parser.add_argument("--type", choices=["npc", "item"])
    >>> likely_meant("unrecognized arguments: --limt=3", parser._actions)
    ('--limit',)
    >>> likely_meant("argument --type: invalid choice: 'itm' (choose from …)", parser._actions)
    ('item',)
    """
    return tuple(dict.fromkeys(_meant(message, actions)))


def _meant(message: str, actions: Sequence[argparse.Action]) -> Iterator[str]:
    if unknown := _UNKNOWN.match(message):
        known = [spelling for action in actions for spelling in action.option_strings]
        for word in unknown[1].split():
            if word.startswith("-"):
                yield from nearest(word.partition("=")[0], known, 1)
    elif refused := _NO_CHOICE.match(message):
        for action in actions:
            names = {*action.option_strings, action.metavar, action.dest}
            if action.choices is not None and not names.isdisjoint(refused[1].split("/")):
                yield from nearest(refused[2], map(str, action.choices), 1)
