"""What can be moved in, by the word after `--from`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """A form in which another tool keeps what it knows."""

    EXPORT = "export"
    GRAPH = "graph"
    NOTES = "notes"
    BASIC_MEMORY = "basic-memory"
    MEMORY_BANK = "memory-bank"
    ADR = "adr"
    MARKDOWN = "markdown"
    MEMORY_NODE = "memory-node"
    MEM0 = "mem0"
    MEMPALACE = "mempalace"
    JOURNAL = "journal"


SUMMARIES: Final[Mapping[Kind, str]] = {
    Kind.EXPORT: "an export of this memory (`schemory export`)",
    Kind.GRAPH: "a file of a knowledge-graph memory server: JSON Lines of entities or nodes",
    Kind.NOTES: "CLAUDE.md, AGENTS.md, GEMINI.md, MEMORY.md, .cursorrules, .mdc: notes for agents",
    Kind.BASIC_MEMORY: "a folder of basic-memory: notes with observations and relations",
    Kind.MEMORY_BANK: "a memory bank: projectbrief.md, activeContext.md, progress.md …",
    Kind.ADR: "decision records, one a file or several",
    Kind.MARKDOWN: "any other Markdown, a file or a folder",
    Kind.MEMORY_NODE: "a database of the TypeScript memory-node server",
    Kind.MEM0: "an export of mem0 or OpenMemory: JSON, JSON Lines, or the backup's ZIP",
    Kind.MEMPALACE: "an export of MemPalace: Markdown rooms, JSON, or JSON Lines a room",
    Kind.JOURNAL: "any other JSON records that hold a text with a title, a kind or a date",
}

ALIASES: Final[Mapping[str, Kind]] = {
    "schemory": Kind.EXPORT,
    "memory-server": Kind.GRAPH,
    "memorymesh": Kind.GRAPH,
    "claude": Kind.NOTES,
    "agents": Kind.NOTES,
    "cursor": Kind.NOTES,
    "openmemory": Kind.MEM0,
}

MARKDOWN_KINDS: Final = frozenset({Kind.NOTES, Kind.MEMORY_BANK, Kind.ADR, Kind.MARKDOWN})
"""Those that are read section by section."""
