"""The one way in which a tool's work is imported only once it is asked for."""

from collections.abc import Callable
from typing import Any


def late(place: str) -> Callable[..., Any]:
    """Return what stands for the function at `module:name` of this room until it is called.

    Listing tools then costs none of what calling them needs. Threads may make first calls at the
    same time: the import of a module is made once, and others wait for it.
    """
    module, _, name = place.partition(":")

    def call(*arguments: Any, **named: Any) -> Any:
        import importlib  # noqa: PLC0415 (a start-up calls nothing)

        found = importlib.import_module(f"schemory.tools.{module}")
        return getattr(found, name)(*arguments, **named)

    call.__doc__ = place
    return call
