"""Both kinds of clients over HTTP: sessions that outlive a server, news, progress, giving up."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPDeprecationWarning

if TYPE_CHECKING:
    from tests.server.http.conftest import Message, Served, Servers

HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
NEW = {"project_id": "p", "scope": "s", "topic": "t", "source_type": "decision"}
GEM = {
    "name": "add_gem",
    "description": "A gem.",
    "properties": {"cut": {"type": "string", "description": "How it is cut."}},
}


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    folder = tmp_path / "schemas"
    folder.mkdir()
    return folder


def status(served: "Served", session: str) -> int:
    return served.ask("tools/list", Mcp_Session_Id=session).status


@pytest.mark.covers("http.eras")
@pytest.mark.parametrize("version", HANDSHAKES)
def test_each_version_with_a_handshake_gets_a_session(servers: "Servers", version: str) -> None:
    served = servers.start()
    name = served.shake_hands(version=version)
    answer = served.ask(
        "tools/call",
        {"name": "memory_add_entry", "arguments": {**NEW, "content": version}},
        version=version,
        Mcp_Session_Id=name,
    )
    assert answer.message["result"]["structuredContent"]["ok"]
    assert answer.headers["mcp-session-id"] == name
    ended = served.send("DELETE", Mcp_Session_Id=name)
    assert ended.status == 200
    assert status(served, name) == 404


@pytest.mark.covers("http.eras")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_of_the_sdk_is_served_in_either_era(servers: "Servers", mode: str) -> None:
    served = servers.start()

    async def talk() -> str:
        async with served.client(mode) as client:
            assert (await client.list_tools()).tools
            await client.call_tool("memory_add_entry", {**NEW, "content": "hello"})
            found = await client.call_tool("memory_search", {"project_id": "p", "query": "hello"})
            assert found.structured_content
            assert len(found.structured_content["results"]) == 1
            assert (await client.list_prompts()).prompts
            return client.protocol_version

    version = asyncio.run(asyncio.wait_for(talk(), 60))
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")


@pytest.mark.covers("http.eras.list_changed")
def test_the_handshake_says_that_tools_may_change_and_no_more_than_is_true(
    servers: "Servers",
) -> None:
    served = servers.start()
    greeting = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "pytest", "version": "1"},
    }
    told = served.ask("initialize", greeting).message["result"]["capabilities"]
    assert told["tools"] == {"listChanged": True}
    assert told["resources"] == {"subscribe": True, "listChanged": False}
    assert told["prompts"] == {"listChanged": False}


@pytest.mark.covers("http.eras.list_changed")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_clients_of_both_eras_hear_that_the_tools_have_changed(
    servers: "Servers", schemas: Path, mode: str
) -> None:
    served = servers.start("--schemas", str(schemas))

    async def talk() -> set[str]:
        heard = asyncio.Event()

        async def note(message: Any) -> None:
            if "list_changed" in str(getattr(message, "method", "")):
                heard.set()

        async with served.client(mode, message_handler=note) as client:
            if mode == "legacy":
                await _change(schemas, heard.is_set)
            else:
                async with client.listen(tools_list_changed=True) as news:
                    following = asyncio.ensure_future(anext(aiter(news)))
                    await _change(schemas, following.done)
            return {tool.name for tool in (await client.list_tools()).tools}

    assert "add_gem" in asyncio.run(asyncio.wait_for(talk(), 60))


async def _change(schemas: Path, is_heard: Callable[[], bool]) -> None:
    """Write a schema, again if it came before the watching began, until it is heard of."""
    number = 0
    while not is_heard():
        number += 1
        text = json.dumps({**GEM, "description": f"A gem, {number}."})
        (schemas / "gem.schema.json").write_text(text)
        for _ in range(30):
            await asyncio.sleep(0.1)
            if is_heard():
                return


@pytest.mark.covers("http.eras.updated")
def test_a_subscriber_with_a_handshake_hears_of_changes_until_it_has_enough(
    servers: "Servers",
) -> None:
    served = servers.start()
    uri = "memory://project/p"

    async def talk() -> list[str]:
        heard: list[str] = []
        came = asyncio.Event()

        async def note(message: Any) -> None:
            if str(getattr(message, "method", "")) == "notifications/resources/updated":
                heard.append(str(message.params.uri))
                came.set()

        async with served.client("legacy", message_handler=note) as client:
            with pytest.warns(MCPDeprecationWarning):
                await client.subscribe_resource(uri)
            await client.call_tool("memory_add_entry", {**NEW, "content": "one"})
            await came.wait()
            with pytest.warns(MCPDeprecationWarning):
                await client.unsubscribe_resource(uri)
            seen = len(heard)
            await client.call_tool("memory_add_entry", {**NEW, "content": "two"})
            await client.call_tool("memory_status", {"project_id": "p"})
            assert len(heard) == seen
        return heard

    assert set(asyncio.run(asyncio.wait_for(talk(), 60))) == {uri}


@pytest.mark.covers("http.sessions.portable")
def test_a_session_goes_on_after_its_server_was_restarted(servers: "Servers") -> None:
    first = servers.start()
    name = first.shake_hands()
    assert first.stop() == 0
    second = servers.start(port=first.port)
    added = second.ask(
        "tools/call",
        {"name": "memory_add_entry", "arguments": {**NEW, "content": "still here"}},
        Mcp_Session_Id=name,
    )
    assert added.headers["mcp-session-id"] == name
    entry_id = added.message["result"]["structuredContent"]["entry_id"]
    read = second.result("memory_read_entry", {"project_id": "p", "entry_id": entry_id})
    assert read["entry"]["created_by"] == "pytest/1"  # as it said in its handshake with the first


@pytest.mark.covers("http.sessions.portable")
def test_a_client_of_the_sdk_lives_through_a_restart(servers: "Servers") -> None:
    first = servers.start()

    async def talk() -> bool:
        async with first.client("legacy") as client:
            await client.list_tools()
            await asyncio.to_thread(first.stop)
            await asyncio.to_thread(servers.start, port=first.port)
            result = await client.call_tool("memory_add_entry", {**NEW, "content": "on"})
            assert result.structured_content
            return bool(result.structured_content["ok"])

    assert asyncio.run(asyncio.wait_for(talk(), 60))


@pytest.mark.covers("http.sessions.portable")
def test_two_servers_on_one_store_share_their_clients(servers: "Servers") -> None:
    one, other = servers.start(), servers.start()
    name = one.shake_hands()
    for number in range(6):
        served = (one, other)[number % 2]
        answer = served.ask(
            "tools/call",
            {"name": "memory_add_entry", "arguments": {**NEW, "content": f"note {number}"}},
            Mcp_Session_Id=name,
        )
        assert answer.message["result"]["structuredContent"]["ok"]
    for served in (one, other):
        counts = served.result("memory_status", {"project_id": "p"})["counts"]
        assert counts["entries"] == 6


@pytest.mark.covers("http.sessions.signed")
def test_a_session_that_was_made_up_or_is_anothers_is_not_found(
    servers: "Servers", save_tokens: Callable[..., Path], tmp_path: Path
) -> None:
    file = save_tokens(tmp_path / "t.json", [("reader", "read"), ("writer", "write")])
    served = servers.start("--http-auth-file", str(file))
    name = served.shake_hands(who="reader")
    assert served.ask("tools/list", who="reader", Mcp_Session_Id=name).status == 200
    for made_up in (name[:-1] + "x", "0" * 64, "a", name + "A", "0" * 32 + name[32:]):
        answer = served.ask("tools/list", who="reader", Mcp_Session_Id=made_up)
        assert answer.status == 404, made_up
    assert served.ask("tools/list", who="writer", Mcp_Session_Id=name).status == 404
    stream = served.send(
        "GET",
        Accept="text/event-stream",
        Authorization=f"Bearer {served.token('writer')}",
        Mcp_Session_Id=name,
    )
    assert stream.status == 404


@pytest.mark.covers("http.sessions.none")
def test_a_request_without_a_session_is_answered_alone(servers: "Servers") -> None:
    served = servers.start()
    assert served.ask("tools/list").message["result"]["tools"]
    assert served.result("memory_add_entry", {**NEW, "content": "by curl"})["ok"]
    assert served.ask("tools/list", version="2025-06-18").status == 200


@pytest.mark.covers("http.progress")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_long_call_tells_how_far_it_is_and_holds_up_nobody(
    servers: "Servers", tmp_path: Path, mode: str
) -> None:
    served = servers.start(MEMORY_ALLOWED_ROOTS=str(tmp_path))
    file = tmp_path / "many.json"
    file.write_text(json.dumps(_export(3000)), encoding="utf-8")

    async def talk() -> tuple[list[float], "Message"]:
        steps: list[float] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            del total, message
            steps.append(progress)

        async with served.client(mode) as client:
            arguments = {"project_id": "p", "import_path": str(file)}
            call = asyncio.create_task(
                client.call_tool("memory_import_project", arguments, progress_callback=note)
            )
            started = time.monotonic()
            quick = await client.call_tool("memory_status", {"project_id": "other"})
            assert quick.structured_content
            assert time.monotonic() - started < 20
            result = await call
            assert result.structured_content
            return steps, result.structured_content

    steps, result = asyncio.run(asyncio.wait_for(talk(), 120))
    assert result["counts"]["inserted"] == 3000, result
    assert len(steps) > 1
    assert steps == sorted(steps)


def _export(count: int) -> dict[str, object]:
    now = "2026-01-01T00:00:00.000Z"
    entries = [
        {
            "id": f"01900000-0000-7000-8000-{number:012d}",
            "project_id": "p",
            "scope": "s",
            "topic": "t",
            "content": f"entry number {number} of a long list",
            "source_type": "decision",
            "status": "active",
            "importance": 3,
            "created_at": now,
            "updated_at": now,
            "tags": [],
        }
        for number in range(count)
    ]
    return {
        "format": "memory-node.project-export",
        "version": 1,
        "exported_at": now,
        "project": {"id": "p"},
        "entries": entries,
        "tags": [],
        "links": [],
    }


@pytest.mark.covers("http.cancel")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_that_gives_up_ends_its_call(
    servers: "Servers", tmp_path: Path, mode: str
) -> None:
    served = servers.start(MEMORY_ALLOWED_ROOTS=str(tmp_path))
    file = tmp_path / "many.json"
    file.write_text(json.dumps(_export(20_000)), encoding="utf-8")

    async def talk() -> None:
        async with served.client(mode) as client:
            arguments = {"project_id": "p", "import_path": str(file)}
            begun = asyncio.Event()

            async def note(progress: float, total: float | None, message: str | None) -> None:
                del progress, total, message
                begun.set()

            call = asyncio.create_task(
                client.call_tool("memory_import_project", arguments, progress_callback=note)
            )
            await begun.wait()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)

    asyncio.run(asyncio.wait_for(talk(), 120))
    text = ""
    for _ in range(300):
        text = served.send("GET", "/metrics").text
        if 'outcome="cancelled"' in text:
            break
        time.sleep(0.1)
    assert 'schemory_calls_total{tool="memory_import_project",outcome="cancelled"} 1' in text
    counts = served.result("memory_status", {"project_id": "p"})["counts"]
    assert counts["entries"] == 0  # all or nothing
