"""Schemory: a local memory for AI agents in which every fact has a type, a source and a date."""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from schemory.api import OpenStore, open_store

__version__ = "0.1.0"
__all__ = ["OpenStore", "__version__", "open_store"]


def __getattr__(name: str) -> Any:
    # The command line imports this package too and must not wait for the store.
    if name in {"OpenStore", "open_store"}:
        from schemory import api  # noqa: PLC0415 (see above)

        return getattr(api, name)
    raise AttributeError(f"module 'schemory' has no attribute {name!r}")
