"""Asking the person behind a client before a deletion: both adapters, both eras."""

import asyncio
import json
import os
import queue
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client as SdkClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import ElicitResult

from schemory.server.asking import Questions, can_ask
from schemory.server.jsonrpc import Answer
from schemory.tools.registry import Question

MODERN = "2026-07-28"
ASKING = ["2025-06-18", "2025-11-25"]
NOTE = {"scope": "s", "topic": "t", "content": "Use WAL.", "source_type": "decision"}
YES: dict[str, Any] = {"action": "accept", "content": {"confirm": True}}
DELETE = "memory_delete_entry"
_PROJECT = {"project_id": "p"}


class Client:
    """A client of either era that adds a note and has it deleted."""

    def __init__(self, peer: Any, version: str, capability: Any = None) -> None:
        self.peer = peer
        self.version = version
        self.capabilities = {"elicitation": {} if capability is None else capability}
        if version != MODERN:
            peer.shake_hands(version, **self.capabilities)

    def params(self, **params: Any) -> dict[str, Any]:
        if self.version != MODERN:
            return params
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        }
        return {**params, "_meta": meta}

    def send(self, number: int, tool: str, arguments: dict[str, Any], **more: Any) -> None:
        told = {**_PROJECT, **arguments}
        self.peer.send("tools/call", number, **self.params(name=tool, arguments=told, **more))

    def call(self, number: int, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        self.send(number, tool, arguments, **more)
        return self.peer.answer(number)["result"]

    def add(self) -> str:
        return str(self.call(1, "memory_add_entry", NOTE)["structuredContent"]["entry_id"])

    def is_there(self, entry: str) -> bool:
        result = self.call(99, "memory_read_entry", {"entry_id": entry})
        return not result["isError"]

    def reply(self, request: dict[str, Any], body: dict[str, Any]) -> None:
        message = {"jsonrpc": "2.0", "id": request["id"], **body}
        self.peer.send_raw(json.dumps(message).encode() + b"\n")


def asked(client: Client, entry: str) -> dict[str, Any]:
    """Return the request that asks the person."""
    client.send(2, DELETE, {"entry_id": entry})
    request: dict[str, Any] = client.peer.receive()
    assert request["method"] == "elicitation/create"
    return request


@pytest.mark.covers("server.elicitation.asked")
@pytest.mark.parametrize("version", ASKING)
def test_a_client_is_asked_in_the_middle_of_its_call(
    start: Callable[..., Any], version: str
) -> None:
    client = Client(start("--db", ":memory:"), version, {"form": {}})
    entry = client.add()
    request = asked(client, entry)
    assert entry in request["params"]["message"]
    assert request["params"]["requestedSchema"]["required"] == ["confirm"]
    assert client.peer.ask("ping", 3)["result"] == {}
    assert client.is_there(entry)  # other calls go on while the person thinks
    client.reply(request, {"result": YES})
    done = client.peer.answer(2)["result"]
    assert done["structuredContent"]["entry_id"] == entry
    assert not client.is_there(entry)


REFUSALS: dict[str, dict[str, Any]] = {
    "declined": {"result": {"action": "decline"}},
    "cancelled": {"result": {"action": "cancel"}},
    "not ticked": {"result": {"action": "accept", "content": {"confirm": False}}},
    "an error": {"error": {"code": -1, "message": "no"}},
    "another result": {"result": {"role": "user"}},
}


@pytest.mark.covers("server.elicitation.refused")
@pytest.mark.parametrize("said", REFUSALS)
def test_whoever_does_not_say_yes_keeps_the_note(start: Callable[..., Any], said: str) -> None:
    client = Client(start("--db", ":memory:"), "2025-11-25")
    entry = client.add()
    client.reply(asked(client, entry), REFUSALS[said])
    result = client.peer.answer(2)["result"]
    assert result["structuredContent"]["error_code"] == "CONFIRM_REQUIRED"
    assert client.is_there(entry)


UNREADABLE: dict[str, dict[str, Any]] = {
    "a list": {"result": []},
    "nothing": {"result": None},
    "an unknown action": {"result": {"action": "perhaps"}},
    "an error without a code": {"error": {"message": "no"}},
    "half of a surrogate pair": {"result": {"action": "accept", "content": {"confirm": "\ud800"}}},
}


@pytest.mark.covers("server.elicitation.unreadable")
@pytest.mark.parametrize("said", UNREADABLE)
def test_an_answer_that_cannot_be_read_ends_the_wait(start: Callable[..., Any], said: str) -> None:
    client = Client(start("--db", ":memory:"), "2025-11-25")
    entry = client.add()
    client.reply(asked(client, entry), UNREADABLE[said])
    result = client.peer.answer(2)["result"]
    assert result["structuredContent"]["error_code"] == "CONFIRM_REQUIRED"
    assert "did not answer" in result["structuredContent"]["detail"]
    assert client.is_there(entry)


@pytest.mark.covers("server.elicitation.rounds")
def test_in_the_newest_era_the_question_is_a_result_and_the_call_comes_again(
    start: Callable[..., Any],
) -> None:
    client = Client(start("--db", ":memory:"), MODERN, {"form": {}})
    entry = client.add()
    result = client.call(2, DELETE, {"entry_id": entry})
    assert result["resultType"] == "input_required"
    request = result["inputRequests"]["confirm"]
    assert request["method"] == "elicitation/create"
    assert entry in request["params"]["message"]
    assert client.is_there(entry)
    again = {"inputResponses": {"confirm": YES}, "requestState": result["requestState"]}
    client.send(3, DELETE, {"entry_id": entry}, **{**again, "requestState": "forged"})
    error = client.peer.answer(3)["error"]
    assert (error["code"], error["data"]) == (-32602, {"reason": "invalid_request_state"})
    answers = {"inputResponses": again["inputResponses"]}
    unasked = client.call(6, DELETE, {"entry_id": entry}, **answers)
    assert unasked["resultType"] == "input_required"
    refused = {**again, "inputResponses": {"confirm": {"action": "decline"}}}
    said_no = client.call(4, DELETE, {"entry_id": entry}, **refused)
    assert said_no["structuredContent"]["error_code"] == "CONFIRM_REQUIRED"
    assert said_no["resultType"] == "complete"
    done = client.call(5, DELETE, {"entry_id": entry}, **again)
    assert done["structuredContent"]["entry_id"] == entry
    assert not client.is_there(entry)


@pytest.mark.covers("server.elicitation.cannot")
@pytest.mark.parametrize(
    ("version", "capability"),
    [("2025-03-26", {"form": {}}), ("2025-11-25", {"url": {}}), (MODERN, {"url": {}})],
)
def test_whoever_cannot_show_a_form_needs_confirm(
    start: Callable[..., Any], version: str, capability: Any
) -> None:
    client = Client(start("--db", ":memory:"), version, capability)
    entry = client.add()
    result = client.call(2, DELETE, {"entry_id": entry})
    assert result["structuredContent"]["error_code"] == "CONFIRM_REQUIRED"
    done = client.call(3, DELETE, {"entry_id": entry, "confirm": True})
    assert not done["isError"]


@pytest.mark.covers("server.elicitation.said")
@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_a_call_that_says_confirm_asks_nobody(start: Callable[..., Any], version: str) -> None:
    client = Client(start("--db", ":memory:"), version)
    entry = client.add()
    done = client.call(2, DELETE, {"entry_id": entry, "confirm": True})
    assert done["structuredContent"]["entry_id"] == entry


@pytest.mark.covers("server.elicitation.graph")
def test_the_graphs_own_tools_ask_nobody(start: Callable[..., Any]) -> None:
    client = Client(start("--db", ":memory:"), "2025-11-25")
    node = {"name": "n", "nodeType": "t", "metadata": []}
    client.peer.call(1, "add_nodes", {"nodes": [node]})
    done = client.peer.call(2, "delete_nodes", {"nodeNames": ["n"]})["result"]
    assert not done["isError"]
    assert all(message.get("method") is None for message in client.peer.received)


@pytest.mark.covers("server.elicitation.import")
def test_a_replacing_import_asks_as_well(start: Callable[..., Any], tmp_path: Path) -> None:
    client = Client(start("--db", "memory.sqlite"), "2025-11-25")
    here = {"project_path": str(tmp_path)}
    for number, text in enumerate(("One.", "Two."), 1):
        client.peer.call(number, "memory_add_entry", {**NOTE, "content": text, **here})
    file = str(tmp_path / "out.json")
    client.peer.call(3, "memory_export_project", {**here, "save_path": file})
    replace = {**here, "import_path": file, "on_conflict": "replace"}
    client.peer.send("tools/call", 4, name="memory_import_project", arguments=replace)
    request = client.peer.receive()
    assert request["params"]["requestedSchema"]["required"] == ["confirm_replace"]
    client.reply(request, {"result": {"action": "accept", "content": {"confirm_replace": True}}})
    done = client.peer.answer(4)["result"]
    assert not done["isError"], done
    assert done["structuredContent"]["backup_path"]


@pytest.mark.covers("server.elicitation.given_up")
def test_a_question_is_taken_back_when_its_call_is_cancelled(start: Callable[..., Any]) -> None:
    client = Client(start("--db", ":memory:"), "2025-11-25")
    entry = client.add()
    request = asked(client, entry)
    client.peer.send("notifications/cancelled", requestId=2)
    told = client.peer.receive()
    assert told["method"] == "notifications/cancelled"
    assert told["params"]["requestId"] == request["id"]
    client.reply(request, {"result": YES})  # too late
    assert client.is_there(entry)
    assert 2 not in [message.get("id") for message in client.peer.received]


@pytest.mark.covers("server.elicitation.given_up")
def test_an_end_of_the_input_counts_as_no_answer(start: Callable[..., Any]) -> None:
    client = Client(start("--db", ":memory:"), "2025-11-25")
    asked(client, client.add())
    client.peer.close_input()
    result = client.peer.answer(2)["result"]
    assert result["structuredContent"]["error_code"] == "CONFIRM_REQUIRED"
    assert client.peer.wait() == 0


@pytest.mark.covers("server.elicitation.given_up")
def test_a_person_who_says_nothing_in_time_has_cancelled() -> None:
    sent: list[dict[str, Any]] = []
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    questions = Questions(sent.append, seconds=0.01)
    question = Question(key="confirm", params={"message": "Sure?"}, state="s")
    questions.ask(question, about="a call", then=said.put)
    assert said.get(timeout=10) == {"action": "cancel"}
    request, withdrawn = sent
    assert withdrawn["method"] == "notifications/cancelled"
    assert withdrawn["params"]["requestId"] == request["id"]
    questions.hear(Answer(request["id"], {"result": YES}))  # too late: nobody waits for it
    assert said.empty()


@pytest.mark.covers("server.elicitation.client")
@pytest.mark.parametrize("era", ["legacy", MODERN])
@pytest.mark.parametrize("adapter", ["fast", "sdk"])
@pytest.mark.parametrize("tick", [True, False])
def test_the_sdks_own_client_asks_its_person(
    tmp_path: Path, environment: Mapping[str, str], era: Any, adapter: str, *, tick: bool
) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "schemory", "serve", "--db", ":memory:"],
        env={**environment, **({"MEMORY_SDK": "1"} if adapter == "sdk" else {})},
    )
    shown: list[str] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        del context
        shown.append(params.message)
        return ElicitResult(action="accept", content={"confirm": tick})

    async def talk() -> None:
        with (tmp_path / "client.log").open("w", encoding="utf-8") as errors:
            transport = stdio_client(server, errlog=errors)
            async with SdkClient(transport, mode=era, elicitation_callback=person) as client:
                added: Any = await client.call_tool("memory_add_entry", {**NOTE, **_PROJECT})
                entry = added.structured_content["entry_id"]
                done: Any = await client.call_tool(DELETE, {"entry_id": entry, **_PROJECT})
                assert done.is_error is not tick
                assert done.structured_content["ok"] is tick
                assert [entry in message for message in shown] == [True]

    asyncio.run(asyncio.wait_for(talk(), 60))


@pytest.mark.covers("server.elicitation.cannot")
@pytest.mark.parametrize(
    ("version", "capabilities", "can"),
    [
        ("2025-11-25", {"elicitation": {}}, True),
        ("2025-11-25", {"elicitation": {"form": {}, "url": {}}}, True),
        ("2025-11-25", {"elicitation": {"url": {}}}, False),
        ("2025-11-25", {"elicitation": None}, False),
        ("2025-11-25", {}, False),
        ("2025-11-25", None, False),
        ("2025-03-26", {"elicitation": {}}, False),
        (None, {"elicitation": {}}, False),
    ],
)
def test_an_empty_capability_means_forms(
    version: str | None, capabilities: Any, *, can: bool
) -> None:
    assert can_ask(version, capabilities) is can


@pytest.mark.covers("server.elicitation.http")
@pytest.mark.parametrize("era", ["legacy", MODERN])
@pytest.mark.parametrize("tick", [True, False])
def test_a_person_is_asked_over_http_as_well(
    tmp_path: Path, environment: Mapping[str, str], era: Any, *, tick: bool
) -> None:
    log = tmp_path / "server.log"
    command = [sys.executable, "-m", "schemory", "serve", "--db", ":memory:"]
    shown: list[str] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        del context
        shown.append(params.message)
        return ElicitResult(action="accept", content={"confirm": tick})

    async def talk(address: str) -> None:
        async with SdkClient(address, mode=era, elicitation_callback=person) as client:
            added: Any = await client.call_tool("memory_add_entry", {**NOTE, **_PROJECT})
            entry = added.structured_content["entry_id"]
            done: Any = await client.call_tool(DELETE, {"entry_id": entry, **_PROJECT})
            assert done.structured_content["ok"] is tick
            assert [entry in message for message in shown] == [True]

    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [*command, "--http", "127.0.0.1:0"], stderr=errors, env=environment, cwd=tmp_path
        ) as process,
    ):
        try:
            while not (found := re.search(r"http://[^\s,]+/mcp", log.read_text())):
                assert process.poll() is None, log.read_text()
                os.sched_yield()
            asyncio.run(asyncio.wait_for(talk(found[0]), 60))
        finally:
            process.terminate()
