"""A tool's work, imported only once it is asked for."""

from __future__ import annotations

from collections.abc import Callable

from schemory.hints import TYPE_CHECKING
from schemory.model.late import LateModule

if TYPE_CHECKING:
    from typing import Any


def late(place: str) -> Callable[..., Any]:
    """Return what stands for the function at `module:name` of this room until it is called.

    Listing tools then costs none of what calling them needs.
    """
    module, _, name = place.partition(":")
    stand_in = LateModule(f"schemory.tools.{module}")

    def call(*arguments: Any, **named: Any) -> Any:
        return getattr(stand_in, name)(*arguments, **named)

    call.__doc__ = place
    return call
