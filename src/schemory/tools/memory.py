"""The memory tools, put together (memory.md §5)."""

from __future__ import annotations

from schemory.hints import TYPE_CHECKING
from schemory.tools.memory_find_specs import LISTING_SPECS, SEARCH_SPECS
from schemory.tools.memory_spec import MemoryDesk, make_memory_tool
from schemory.tools.memory_specs import CORE_SPECS, LIFECYCLE_SPECS, READ_SPEC, TRANSFER_SPECS
from schemory.tools.registry import Tool

if TYPE_CHECKING:
    from typing import Final

MEMORY_SPECS: Final = (
    *CORE_SPECS,
    *SEARCH_SPECS,
    READ_SPEC,
    *LISTING_SPECS,
    *LIFECYCLE_SPECS,
    *TRANSFER_SPECS,
)
"""Every tool of the toolset `memory`."""


def memory_tools(desk: MemoryDesk) -> tuple[Tool, ...]:
    """Return the memory tools; their calls work on what `desk` opens."""
    return tuple(make_memory_tool(desk, spec) for spec in MEMORY_SPECS)
