"""Both adapters inside the test: progress, cancellation, announcements, failures, one lane."""

import asyncio
import json
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from schemory.app import App, open_app
from schemory.config import load_settings
from schemory.model.jsonvalue import Json
from schemory.server.lane import Lane, post
from schemory.server.logs import describe, log_internal_error
from schemory.server.protocol import Conversation
from schemory.server.sdk import ToolServer
from schemory.tools.registry import Call, Effect, Reply, Tool
from schemory.tools.toolbox import Toolbox, ToolSettings, build_toolbox

Handle: TypeAlias = Callable[[Call], Reply]
ERAS = ["legacy", "2026-07-28"]
ROOT: dict[str, Json] = {
    "type": "object",
    "properties": {},
    "required": [],
    "additionalProperties": False,
}


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    folder = tmp_path / "schemas"
    folder.mkdir()
    return folder


@pytest.fixture
def app(tmp_path: Path, schemas: Path) -> Iterator[App]:
    settings = load_settings(
        {"MEMORY_DB_PATH": ":memory:", "MEMORY_SCHEMAS": (str(schemas),)},
        environ={},
        cwd=tmp_path,
        home=tmp_path,
    )
    with open_app(settings) as opened:
        yield opened


@pytest.fixture
def lane() -> Iterator[Lane]:
    opened = Lane("test-tools")
    yield opened
    opened.close(5)


Served: TypeAlias = Callable[[Toolbox, Lane], Any]
"""Makes what the SDK's client connects to."""


def through_the_sdk(toolbox: Toolbox, lane: Lane) -> Any:
    server = ToolServer(toolbox, lane, transport="test")
    server.announce_changes(asyncio.get_running_loop())
    return server.sdk


@asynccontextmanager
async def through_our_own(toolbox: Toolbox, lane: Lane) -> AsyncGenerator[Any]:
    to_client, incoming = anyio.create_memory_object_stream[Any](1_000)
    outgoing, from_client = anyio.create_memory_object_stream[Any](0)
    loop = asyncio.get_running_loop()

    def send(message: dict[str, Json] | list[dict[str, Json]]) -> None:
        parsed = SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
        post(loop, to_client.send_nowait, parsed)

    talk = Conversation(toolbox, send, lane.submit, transport="test")

    async def pump() -> None:
        async for sent in from_client:
            talk.take(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    stop = toolbox.subscribe(talk.announce_tools)
    async with to_client, incoming, outgoing, from_client, anyio.create_task_group() as tasks:
        tasks.start_soon(pump)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()
    stop()


@pytest.fixture(params=[through_the_sdk, through_our_own], ids=["sdk", "fast"])
def served(request: pytest.FixtureRequest) -> Served:
    made: Served = request.param
    return made


def probe(handle: Handle) -> Tool:
    return Tool(
        name="probe",
        title="Probe",
        description="A tool of the test.",
        input_schema=ROOT,
        output_schema={"type": "object", "properties": {}, "required": []},
        effect=Effect.READ,
        toolset="graph",
        handle=handle,
    )


def toolbox_with(app: App, handle: Handle) -> Toolbox:
    toolbox = build_toolbox(
        app.graph,
        app.catalog,
        ToolSettings(),
        now=app.now,
        extra_tools=[probe(handle)],
    )
    toolbox.on_internal_error = log_internal_error
    return toolbox


OK = Reply(structured={"done": True}, text='{"done":true}')


@pytest.mark.covers("server.progress")
@pytest.mark.parametrize("era", ERAS)
def test_progress_comes_in_order_and_before_the_answer(
    app: App, lane: Lane, served: Served, era: str
) -> None:
    def handle(call: Call) -> Reply:
        for step in range(1, 4):
            call.progress(step, 3, f"step {step}")
        return OK

    async def talk() -> list[tuple[float, float | None, str | None]]:
        steps: list[tuple[float, float | None, str | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total, message))

        async with Client(served(toolbox_with(app, handle), lane), mode=era) as client:
            result = await client.call_tool("probe", {}, progress_callback=note)
            assert result.structured_content == {"done": True}
        return steps

    assert asyncio.run(talk()) == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@pytest.mark.covers("server.cancellation")
@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_call_is_told_so_and_the_server_goes_on(
    app: App, lane: Lane, served: Served, era: str
) -> None:
    started, told = threading.Event(), threading.Event()

    def handle(call: Call) -> Reply:
        started.set()
        while not call.is_cancelled():
            threading.Event().wait(0.005)
        told.set()
        return OK

    async def talk() -> None:
        async with Client(served(toolbox_with(app, handle), lane), mode=era) as client:
            call = asyncio.create_task(client.call_tool("probe", {}))
            await asyncio.to_thread(started.wait)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            result = await client.call_tool("read_graph", {})
            assert not result.is_error

    asyncio.run(asyncio.wait_for(talk(), 30))
    assert told.is_set()


@pytest.mark.covers("server.schemas.list_changed")
@pytest.mark.parametrize("era", ERAS)
def test_clients_of_both_eras_hear_of_new_tools(
    app: App, lane: Lane, served: Served, schemas: Path, era: str
) -> None:
    book = {
        "name": "add_book",
        "description": "A book",
        "properties": {"name": {"type": "string", "description": "Title", "required": True}},
    }

    async def talk() -> set[str]:
        heard = asyncio.Event()

        async def note(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/tools/list_changed":
                heard.set()

        async with Client(served(app.toolbox, lane), mode=era, message_handler=note) as client:
            await client.list_tools()
            if era == "legacy":
                await _define(book)
                await heard.wait()
            else:
                async with client.listen(tools_list_changed=True) as events:
                    await _define(book)
                    async for _ in events:
                        break
            listed = await client.list_tools()
        return {tool.name for tool in listed.tools}

    async def _define(data: dict[str, Any]) -> None:
        (schemas / "book.schema.json").write_text(json.dumps(data), encoding="utf-8")
        await asyncio.to_thread(app.catalog.reload)

    names = asyncio.run(asyncio.wait_for(talk(), 30))
    assert {"add_book", "update_book", "delete_book"} <= names


@pytest.mark.covers("server.internal_error")
def test_a_failure_inside_reaches_the_log_without_its_text_and_the_agent_as_an_id(
    app: App, lane: Lane, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    def handle(call: Call) -> Reply:
        del call
        raise RuntimeError("vermilion secret")

    async def talk() -> dict[str, Any]:
        async with Client(served(toolbox_with(app, handle), lane)) as client:
            result = await client.call_tool("probe", {})
            assert result.is_error
            answer: dict[str, Any] = result.structured_content
            return answer

    with caplog.at_level(logging.ERROR, logger="schemory"):
        answer = asyncio.run(talk())
    assert answer["error_code"] == "INTERNAL"
    assert answer["context"]["errorId"] in caplog.text
    assert "RuntimeError at" in caplog.text
    assert "vermilion" not in caplog.text + json.dumps(answer)


@pytest.mark.covers("server.one_lane")
def test_calls_run_one_after_the_other(app: App, lane: Lane, served: Served) -> None:
    running = 0
    most = 0

    def handle(call: Call) -> Reply:
        nonlocal running, most
        del call
        running += 1
        most = max(most, running)
        threading.Event().wait(0.01)
        running -= 1
        return OK

    async def talk() -> None:
        async with Client(served(toolbox_with(app, handle), lane)) as client:
            await asyncio.gather(*(client.call_tool("probe", {}) for _ in range(5)))

    asyncio.run(talk())
    assert most == 1


@pytest.mark.covers("server.author")
def test_what_is_written_carries_the_clients_name_and_version(
    app: App, lane: Lane, served: Served
) -> None:
    from mcp_types import Implementation  # noqa: PLC0415 (only here)

    async def talk() -> None:
        me = Implementation(name="writer\x07", version="2")
        async with Client(served(app.toolbox, lane), client_info=me) as client:
            nodes = {"nodes": [{"name": "A", "nodeType": "t", "metadata": []}]}
            await client.call_tool("add_nodes", nodes)

    asyncio.run(talk())
    with app.graph.reading() as reader:
        assert reader.find_nodes(["A"])["A"].author == "writer/2"


def test_an_unknown_tool_is_a_protocol_error(app: App, lane: Lane, served: Served) -> None:
    async def talk() -> MCPError:
        async with Client(served(app.toolbox, lane)) as client:
            with pytest.raises(MCPError, match="opn_nodes") as caught:
                await client.call_tool("opn_nodes", {})
        return caught.value

    assert asyncio.run(talk()).code == -32602


@pytest.mark.covers("server.tools.as_they_are")
@pytest.mark.parametrize("era", ERAS)
def test_the_wire_shows_each_tool_exactly_as_the_toolbox_has_it(
    app: App, lane: Lane, served: Served, era: str
) -> None:
    async def talk() -> list[dict[str, Any]]:
        async with Client(served(app.toolbox, lane), mode=era) as client:
            listed = await client.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]

    assert asyncio.run(talk()) == json.loads(json.dumps(app.toolbox.list_tools()))


def test_a_lane_hands_back_results_and_failures_in_turn() -> None:
    lane = Lane("test")

    def fail() -> int:
        raise ValueError("no")

    async def use() -> list[int]:
        first = await lane.run(lambda: 1)
        with pytest.raises(ValueError, match="no"):
            await lane.run(fail)
        return [first, await lane.run(lambda: 2)]

    assert asyncio.run(use()) == [1, 2]
    assert lane.close(5)


def test_a_lane_that_is_stuck_is_left_behind() -> None:
    lane = Lane("test")
    release = threading.Event()

    async def use() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(lane.run(release.wait), 0.05)

    asyncio.run(use())
    assert not lane.close(0.05)
    release.set()


def test_a_failure_is_described_by_class_and_place_only() -> None:
    with pytest.raises(ValueError, match="vermilion") as caught:
        int("vermilion")
    text = describe(caught.value)
    assert text.startswith("ValueError at test_server_sdk.py:")
    assert "vermilion" not in text
