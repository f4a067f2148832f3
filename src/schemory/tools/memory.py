"""The memory tools, put together (memory.md §5)."""

from typing import Final

from schemory.tools.memory_bench import MemoryBench, make_memory_tool
from schemory.tools.memory_core import CORE_SPECS
from schemory.tools.memory_lifecycle import LIFECYCLE_SPECS
from schemory.tools.memory_listing import LISTING_SPECS
from schemory.tools.memory_reading import READ_SPEC
from schemory.tools.memory_search import SEARCH_SPECS
from schemory.tools.memory_transfer import TRANSFER_SPECS
from schemory.tools.registry import Tool

MEMORY_SPECS: Final = (
    *CORE_SPECS,
    *SEARCH_SPECS,
    READ_SPEC,
    *LISTING_SPECS,
    *LIFECYCLE_SPECS,
    *TRANSFER_SPECS,
)
"""Every tool of the toolset `memory`."""


def memory_tools(bench: MemoryBench) -> tuple[Tool, ...]:
    """Return the memory tools, working on `bench`."""
    return tuple(make_memory_tool(bench, spec) for spec in MEMORY_SPECS)
