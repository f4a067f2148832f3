"""Tools name the functions that do their work; each name leads to one."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import schemory.tools
from schemory.memory.inputs import CROSS_PROJECT
from schemory.tools.late import late
from schemory.tools.memory_parts import MODE


def places() -> Iterator[str]:
    """Yield every `module:name` that is written in the room."""
    for file in sorted(Path(schemory.tools.__path__[0]).glob("*.py")):
        yield from re.findall(r'\blate\(\s*"([^"]+)"\s*\)', file.read_text(encoding="utf-8"))


@pytest.mark.covers("tools.late")
def test_every_late_function_is_there() -> None:
    found = sorted(set(places()))
    assert len(found) > 40
    for place in found:
        module, _, name = place.partition(":")
        assert callable(getattr(importlib.import_module(f"schemory.tools.{module}"), name)), place


@pytest.mark.covers("tools.late")
def test_a_late_function_does_what_the_real_one_does() -> None:
    shorten = late("replies:shorten")
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abcdef", limit=3) == "ab…"


@pytest.mark.covers("tools.late")
def test_what_the_list_shows_of_the_memorys_rules_is_what_the_memory_holds_to() -> None:
    assert MODE == {"type": "string", "enum": ["project", CROSS_PROJECT]}
