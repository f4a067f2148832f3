"""Batches on both adapters: served in the one version that has them, refused with a reason else."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from schemory.server.batches import Gathering, items_of, refusal
from schemory.server.jsonrpc import (
    MAX_BATCH,
    Answer,
    Batch,
    Fault,
    Notification,
    Request,
    parse_line,
)

BATCHES = "2025-03-26"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return {**message, "params": params} if params else message


def call(number: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(number, "tools/call", name=tool, arguments=arguments)


def node(name: str) -> dict[str, Any]:
    return {"name": name, "nodeType": "t", "metadata": []}


def sent(peer: Any, items: Any) -> Any:
    """Send a batch and return what comes back."""
    peer.send_raw(json.dumps(items).encode() + b"\n")
    return peer.receive_any()


def by_id(answers: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    found = {answer["id"]: answer for answer in answers}
    assert len(found) == len(answers)
    return found


@pytest.mark.covers("server.batches.served")
def test_the_answers_to_a_batch_come_in_one_array(start: Callable[..., Any]) -> None:
    peer = start("--db", ":memory:")
    peer.shake_hands(BATCHES)
    batch = [
        request("a", "ping"),
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
        call(1, "add_nodes", nodes=[node("n")]),
        request(2, "no/such"),
        call(3, "open_nodes", names=["n"]),
        {"jsonrpc": "2.0", "id": 4},
        7,
    ]
    answers = by_id(sent(peer, batch))
    assert set(answers) == {"a", 1, 2, 3, 4, None}
    assert answers["a"]["result"] == {}
    assert "n" in json.dumps(answers[3]["result"])
    codes = {key: answers[key]["error"]["code"] for key in (2, 4, None)}
    assert codes == {2: -32601, 4: -32600, None: -32600}
    assert peer.ask("ping", 9)["result"] == {}


@pytest.mark.covers("server.batches.served")
def test_a_batch_of_notifications_gets_no_answer(start: Callable[..., Any]) -> None:
    peer = start("--db", ":memory:")
    peer.shake_hands(BATCHES)
    told = [{"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}] * 3
    peer.send_raw(json.dumps(told).encode() + b"\n")
    peer.send("ping", 9)
    assert peer.receive_any() == {"jsonrpc": "2.0", "id": 9, "result": {}}


@pytest.mark.covers("server.batches.served")
def test_a_batch_of_one_is_answered_by_an_array_of_one(start: Callable[..., Any]) -> None:
    peer = start("--db", ":memory:")
    peer.shake_hands(BATCHES)
    assert sent(peer, [request(1, "ping")]) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.covers("server.batches.served")
@pytest.mark.parametrize("echo", [2, "2", [2]], ids=repr)
def test_a_cancelled_call_does_not_hold_up_the_rest_of_its_batch(
    start: Callable[..., Any], echo: Any
) -> None:
    peer = start("--db", ":memory:")
    peer.shake_hands(BATCHES)
    many = [node(f"n{i}") for i in range(3_000)]
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    batch = [
        call(1, "add_nodes", nodes=many),
        call(2, "add_nodes", nodes=[node("late")]),
        {**cancelled, "params": {"requestId": echo}},
        request(3, "ping"),
    ]
    is_cancelled = echo != [2]
    assert set(by_id(sent(peer, batch))) == {1, 3} | (set() if is_cancelled else {2})
    found = peer.call(4, "open_nodes", {"names": ["late"]})["result"]["structuredContent"]
    assert found["data"]["notFound"] == (["late"] if is_cancelled else [])


@pytest.mark.covers("server.batches.served")
def test_an_id_twice_in_a_batch_is_answered_twice(start: Callable[..., Any]) -> None:
    peer = start("--db", ":memory:")
    peer.shake_hands(BATCHES)
    answers = sent(peer, [request(1, "no/such"), request(1, "no/such")])
    assert [answer["id"] for answer in answers] == [1, 1]


@pytest.mark.covers("server.batches.served")
def test_a_handshake_inside_a_batch_is_refused(start: Callable[..., Any]) -> None:
    peer = start("--db", ":memory:")
    peer.shake_hands(BATCHES)
    hello = {"protocolVersion": BATCHES, "capabilities": {}}
    hello["clientInfo"] = {"name": "a", "version": "1"}
    answers = by_id(sent(peer, [request(1, "initialize", **hello), request(2, "ping")]))
    assert answers[1]["error"]["code"] == -32600
    assert "batch" in answers[1]["error"]["message"]
    assert answers[2]["result"] == {}


@pytest.mark.covers("server.batches.refused")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_other_versions_refuse_a_batch_and_say_why(start: Callable[..., Any], version: str) -> None:
    peer = start("--db", ":memory:")
    peer.shake_hands(version)
    answer = sent(peer, [request(1, "ping")])
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert version in answer["error"]["message"]
    assert BATCHES in answer["error"]["message"]
    assert peer.ask("ping", 2)["result"] == {}


@pytest.mark.covers("server.batches.refused")
@pytest.mark.parametrize("first", [[], [request(1, "server/discover", _meta=ENVELOPE)]])
def test_a_batch_before_a_handshake_or_in_the_newest_era_is_refused(
    start: Callable[..., Any], first: list[dict[str, Any]]
) -> None:
    peer = start("--db", ":memory:")
    for message in first:
        peer.send_raw(json.dumps(message).encode() + b"\n")
        peer.receive()
    answer = sent(peer, [request(2, "ping")])
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert BATCHES in answer["error"]["message"]


@pytest.mark.covers("server.batches.bounds")
def test_a_batch_holds_something_and_not_too_much(start: Callable[..., Any]) -> None:
    peer = start("--db", ":memory:")
    peer.shake_hands(BATCHES)
    assert sent(peer, [])["error"]["code"] == -32600
    many = [request(i, "ping") for i in range(MAX_BATCH)]
    assert len(sent(peer, many)) == MAX_BATCH
    too_many = sent(peer, [*many, request("x", "ping")])
    assert too_many["error"]["code"] == -32600
    assert str(MAX_BATCH) in too_many["error"]["message"]


def test_a_line_with_an_array_is_a_batch_of_messages_and_faults() -> None:
    line = (
        b'[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","method":"n"},[],'
        b'{"jsonrpc":"2.0","id":2,"result":{}}]'
    )
    batch = parse_line(line)
    assert isinstance(batch, Batch)
    kinds = [type(item) for item in batch.items]
    assert kinds == [Request, Notification, Fault, Answer]


def test_answers_are_gathered_until_the_last_is_there() -> None:
    batch = Batch((Request(1, "m", None), Notification("n", None), Request(2, "m", None)))
    gathering: Gathering[str] = Gathering(batch)
    assert gathering.add("one") == []
    assert gathering.add(None) == ["one"]
    assert items_of(batch) == batch.items
    assert refusal(BATCHES) == ""
