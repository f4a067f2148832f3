"""The server that the official suite meets: it starts, and answers a client of either era."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp_types import ElicitResult

ROOT = Path(__file__).parent.parent.parent
ADDRESS = re.compile(r"http://[^\s,]+/mcp")


@pytest.fixture
def address(tmp_path: Path, environment: Mapping[str, str]) -> Iterator[str]:
    log = tmp_path / "server.log"
    command = [sys.executable, "-m", "tests.conformance_server", "--port", "0"]
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, cwd=ROOT, stderr=errors, env=environment) as process,
    ):
        try:
            while not (found := ADDRESS.search(log.read_text())):
                assert process.poll() is None, log.read_text()
                os.sched_yield()
            yield found[0]
        finally:
            process.terminate()


@pytest.mark.covers("server.conformance.fixture")
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_the_suites_server_answers_a_client_of_either_era(address: str, era: Any) -> None:
    async def person(context: Any, params: Any) -> ElicitResult:
        del context
        assert params.message == "Who are you?"
        return ElicitResult(action="accept", content={"username": "u", "email": "e@example.org"})

    async def talk() -> None:
        async with Client(address, mode=era, elicitation_callback=person) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"test_simple_text", "add_nodes"} <= names
            simple: Any = await client.call_tool("test_simple_text", {})
            assert simple.content[0].text == "This is a simple text response for testing."
            image: Any = await client.call_tool("test_image_content", {})
            assert image.content[0].type == "image"
            asked: Any = await client.call_tool("test_elicitation", {"message": "Who are you?"})
            assert "e@example.org" in asked.content[0].text
            read: Any = await client.read_resource("test://template/7/data")
            assert '"id": "7"' in read.contents[0].text
            prompt = await client.get_prompt(
                "test_prompt_with_arguments", {"arg1": "a", "arg2": "b"}
            )
            assert "arg2='b'" in str(prompt.messages[0].content)

    asyncio.run(asyncio.wait_for(talk(), 60))
