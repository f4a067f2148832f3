"""The one way in which a module is imported only once something of it is asked for."""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class LateModule:
    """Stands for a module until then; type checkers are shown the real import instead.

    Threads may ask first at the same time: the import is made once, and others wait for it.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        import importlib  # noqa: PLC0415 (a start-up asks for nothing)

        found = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, found)  # the next time it is simply there
        return found
