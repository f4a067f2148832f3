"""While one call takes long, others are answered."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from schemory.transfer.memory.options import FORMAT, VERSION

ENTRIES = 6_000


def export_of(count: int) -> str:
    """Return an export with so many entries."""
    entries: list[dict[str, Any]] = [
        {
            "id": f"e{number:07}",
            "scope": "s",
            "topic": "t",
            "content": f"imported note {number}",
            "source_type": "agent_note",
            "created_at": "2026-03-08T12:00:00.000Z",
            "updated_at": "2026-03-08T12:00:00.000Z",
        }
        for number in range(count)
    ]
    envelope = {"format": FORMAT, "version": VERSION, "project": {"id": "p"}, "entries": entries}
    return json.dumps({**envelope, "tags": [], "links": []})


@pytest.mark.covers("server.memory.long_calls")
@pytest.mark.parametrize("flags", [(), ("--sdk",)], ids=["fast", "sdk"])
def test_a_long_import_tells_of_its_steps_and_holds_up_nobody(
    tmp_path: Path, environment: Mapping[str, str], flags: tuple[str, ...]
) -> None:
    (tmp_path / "m.json").write_text(export_of(ENTRIES))
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "schemory", "serve", "--db", str(tmp_path / "m.sqlite"), *flags],
        env=dict(environment),
        cwd=str(tmp_path),
    )
    steps: list[float] = []
    answered: list[bool] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        del total, message
        steps.append(progress)

    async def talk() -> None:
        async with Client(stdio_client(parameters)) as client:
            project = {"project_path": str(tmp_path)}
            work = asyncio.create_task(
                client.call_tool(
                    "memory_import_project",
                    {**project, "import_path": "m.json"},
                    progress_callback=note,
                )
            )
            while not work.done():
                await client.call_tool("memory_status", {"project_id": "p"})
                answered.append(not work.done())
            result = await work
            assert not result.is_error, result.content
            assert result.structured_content["counts"]["inserted"] == ENTRIES

    asyncio.run(asyncio.wait_for(talk(), 120))
    assert steps
    assert steps == sorted(steps)
    assert any(answered)
