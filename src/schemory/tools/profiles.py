"""Which tools a profile lists, and what a list of tools costs a model (graph.md §4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, compact
from schemory.tools.registry import Tool

if TYPE_CHECKING:
    from typing import Final

MAX_COMFORTABLE_TOOLS: Final = 40
"""Beyond this many tools, models choose worse and some hosts cut the list."""

_GENERIC_TOOLS = 3
_BYTES_PER_TOKEN = 4


class Profile(StrEnum):
    """How schemas become tools."""

    FULL = "full"  # three tools for each schema
    COMPACT = "compact"  # three generic tools for all of them
    AUTO = "auto"  # full while the entire list stays comfortable, else compact


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a tool list costs: how many tools, about how many tokens of a model's context."""

    tools: int
    tokens: int

    @property
    def is_high(self) -> bool:
        """Whether the list is longer than models handle well."""
        return self.tools > MAX_COMFORTABLE_TOOLS


def chosen(profile: Profile, *, fixed: int, generated: int) -> Profile:
    """Return full or compact: what `profile` means for so many fixed and generated tools.

    A long list with few generated tools stays full: compact would not shorten it.

    >>> chosen(Profile.AUTO, fixed=14, generated=26), chosen(Profile.AUTO, fixed=14, generated=27)
    (<Profile.FULL: 'full'>, <Profile.COMPACT: 'compact'>)
    >>> chosen(Profile.AUTO, fixed=42, generated=3)
    <Profile.FULL: 'full'>
    """
    if profile is not Profile.AUTO:
        return profile
    fits = fixed + generated <= MAX_COMFORTABLE_TOOLS
    return Profile.FULL if fits or generated <= _GENERIC_TOOLS else Profile.COMPACT


def wire_tool(tool: Tool) -> dict[str, Json]:
    """Return a tool as `tools/list` shows it."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.effect.hints,
    }


def price_of(tools: Sequence[Mapping[str, Json]]) -> Price:
    """Return the price of a wire tool list; hosts pass name, description and inputSchema on."""
    shown = ("name", "description", "inputSchema")
    told = sum(len(compact({key: tool[key] for key in shown}).encode()) for tool in tools)
    return Price(tools=len(tools), tokens=-(-told // _BYTES_PER_TOKEN))
