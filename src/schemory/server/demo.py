"""A real MCP client talks to the real server, so that a person sees what an agent sees."""

import asyncio
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Implementation

import schemory
from schemory.errors import StoreError
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A call of the demonstration, and why it is made.

    Attributes:
        is_mistake: The server is expected to refuse it.
    """

    title: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    is_mistake: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """What client and server say of themselves.

    Attributes:
        start_line: What the server wrote to stderr.
        tools: The names in its tool list.
    """

    start_line: str
    protocol: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An answer as the agent gets it."""

    step: Step
    text: str
    structured: Json
    is_error: bool


_BILBO = {
    "name": "Bilbo",
    "role": "Thief",
    "status": "Active",
    "currentLocation": "Hobbiton",
}

STEPS: tuple[Step, ...] = (
    Step(
        title="Add a place, then a character who is there: the edge makes itself",
        tool="add_location",
        arguments={"location": {"name": "Rivendell", "atmosphere": "hushed"}},
    ),
    Step(
        title="The npc schema knows role and status, and that currentLocation is an edge",
        tool="add_npc",
        arguments={
            "npc": {
                "name": "Gandalf",
                "role": "Wizard",
                "status": "Active",
                "currentLocation": "Rivendell",
                "traits": ["wise", "impatient"],
            }
        },
    ),
    Step(
        title="A mistake: two things are wrong, both are told at once, nothing is stored",
        tool="add_npc",
        arguments={"npc": {**_BILBO, "role": "Thieff"}},
        is_mistake=True,
    ),
    Step(
        title="The error held the call that helps",
        tool="add_location",
        arguments={"location": {"name": "Hobbiton"}},
    ),
    Step(title="Now the same call succeeds", tool="add_npc", arguments={"npc": _BILBO}),
    Step(
        title="Relate two nodes by hand, with a weight",
        tool="add_edges",
        arguments={
            "edges": [{"from": "Gandalf", "to": "Bilbo", "edgeType": "mentors", "weight": 0.9}]
        },
    ),
    Step(
        title="Gandalf moves: one line changes, the old edge goes, the new one comes",
        tool="update_npc",
        arguments={"npc": {"name": "Gandalf", "currentLocation": "Hobbiton"}},
    ),
    Step(
        title="Search: matches first, then their neighbours and the edges between them",
        tool="search_nodes",
        arguments={"query": "wizard"},
    ),
    Step(title="Delete, with every edge", tool="delete_npc", arguments={"npc": {"name": "Bilbo"}}),
    Step(
        title="What is left around Gandalf",
        tool="open_nodes",
        arguments={"names": ["Gandalf", "Bilbo"]},
    ),
)


def converse(greet: Callable[[Greeting], None], show: Callable[[Seen], None]) -> bool:
    """Hold the conversation with a server in a temporary folder; whether all went as told.

    Raises:
        StoreError: The server failed. Whatever `greet` and `show` raise, as they raised it.
    """
    with tempfile.TemporaryDirectory(prefix="schemory-demo-") as folder:
        log = Path(folder) / "server.log"
        try:
            return asyncio.run(_converse(Path(folder), log, greet, show))
        except (MCPError, BaseExceptionGroup) as fault:
            cause = _first(fault)
        if isinstance(cause, MCPError):
            told = log.read_text(encoding="utf-8").strip() or str(cause)
            raise StoreError(f"The demonstration's server failed: {told}")
        raise cause


def _first(fault: BaseException) -> BaseException:
    """Return what went wrong first: the client's tasks report in groups within groups."""
    while isinstance(fault, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", fault)
        fault = group.exceptions[0]
    return fault


async def _converse(
    folder: Path, log: Path, greet: Callable[[Greeting], None], show: Callable[[Seen], None]
) -> bool:
    store = folder / "memory.sqlite"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "schemory", "serve", "--db", str(store), "--pack", "rpg"],
        # The person's own schemas and settings stay out of the demonstration.
        env={"HOME": str(folder), "USERPROFILE": str(folder)},
    )
    me = Implementation(name="schemory-demo", version=schemory.__version__)
    as_told = True
    with log.open("w", encoding="utf-8") as errors:
        async with Client(stdio_client(server, errlog=errors), client_info=me) as client:
            listed = await client.list_tools()
            names = tuple(tool.name for tool in listed.tools)
            greet(_greeting(log, client.protocol_version, names))
            for step in STEPS:
                seen = _seen(step, await client.call_tool(step.tool, step.arguments))
                as_told = as_told and seen.is_error == step.is_mistake
                show(seen)
    return as_told


def _greeting(log: Path, protocol: str, tools: tuple[str, ...]) -> Greeting:
    first = log.read_text(encoding="utf-8").partition("\n")[0]
    return Greeting(start_line=first, protocol=protocol, tools=tools)


def _seen(step: Step, result: CallToolResult) -> Seen:
    texts = [block.text for block in result.content if block.type == "text"]
    return Seen(
        step=step,
        text="\n".join(texts),
        structured=result.structured_content,
        is_error=result.is_error,
    )
