"""Lines, ends and slow clients of the adapter that does without the SDK."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from schemory.server.jsonrpc import Answer, Fault, Notification, Request, encode, parse_line
from schemory.server.shapes import is_of_era, problems_in
from schemory.server.wire import MAX_MESSAGE_BYTES, Wire

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b"{", None, -32700),
        (b"\xff", None, -32700),
        (b"\xef\xbb\xbf{}", None, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":NaN}}', None, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":-Infinity}}', None, -32700),
        (b"[" * 5_000, None, -32700),
        (b"9" * 5_000, None, -32700),
        (None, None, -32600),
        (b"[]", None, -32600),
        (b"1", None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"m"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":[]}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\uD800"}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"m"}', None, -32600),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":'
            + b"[" * 191
            + b"]" * 191
            + b"}}",
            1,
            -32600,
        ),
        (b'{"jsonrpc":"2.0","id":1}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":[],"result":{}}', None, -32600),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_line_that_is_no_message_is_a_fault_with_a_code(
    line: bytes | None, number: object, code: int
) -> None:
    fault = parse_line(line)
    assert isinstance(fault, Fault)
    assert (fault.id, fault.code) == (number, code)


def test_lines_that_are_messages_are_read_as_what_they_are() -> None:
    assert parse_line(b'{"jsonrpc":"2.0","id":"a","method":"m"}') == Request("a", "m", None)
    assert parse_line(b'{"jsonrpc":"2.0","method":"m","params":{}}') == Notification("m", {})
    pair = b'{"jsonrpc":"2.0","id":1,"method":"\\ud83d\\ude00 \\\\ud800"}'
    assert parse_line(pair) == Request(1, "😀 \\ud800", None)
    assert isinstance(parse_line(b'{"jsonrpc":"2.0","id":1,"result":{}}'), Answer)
    assert parse_line(b" \r") is None


@pytest.mark.covers("server.elicitation.unreadable")
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"result":[]}',
        b'{"jsonrpc":"2.0","id":1,"result":null}',
        b'{"id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":"no"}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":"-1","message":"no"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"x":"\\ud800"}}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":' + b"[" * 191 + b"]" * 191 + b"}}",
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_to_whoever_asked(line: bytes) -> None:
    answer = parse_line(line)
    assert isinstance(answer, Answer)
    assert answer.id == 1
    error: Any = answer.body["error"]
    assert error["code"] == -32600
    assert "result" not in answer.body


def test_what_is_written_is_one_line_that_reads_back_whatever_the_text() -> None:
    message: dict[str, Any] = {"text": "a\nb\u2028\ud800 😀\x00"}
    line = encode(message)
    assert line.count(b"\n") == 1
    assert json.loads(line) == message


def test_every_problem_of_parameters_is_told_with_its_path() -> None:
    wrong = {"protocolVersion": 1, "clientInfo": {"name": []}}
    problems = problems_in("initialize", wrong, is_modern=False)
    assert [problem["path"] for problem in problems] == [
        "params.protocolVersion",
        "params.capabilities",
        "params.clientInfo.name",
        "params.clientInfo.version",
    ]
    assert problems_in("no/such", {"anything": 1}, is_modern=False) == []
    assert problems_in("tools/list", None, is_modern=False) == []


def test_methods_belong_to_their_era() -> None:
    assert [is_of_era("ping", is_modern=era) for era in (False, True)] == [True, False]
    assert [is_of_era("server/discover", is_modern=era) for era in (False, True)] == [False, True]
    assert is_of_era("tools/call", is_modern=True)


def test_lines_come_whole_however_they_were_cut() -> None:
    source, writing = os.pipe()

    def write() -> None:
        os.write(writing, b"a\nb")
        os.write(writing, b"b\n\n")
        view = memoryview(b"x" * (MAX_MESSAGE_BYTES + 1) + b"\nlast")
        while view:
            view = view[os.write(writing, view) :]
        os.close(writing)

    threading.Thread(target=write, daemon=True).start()
    assert list(Wire(source, -1).lines()) == [b"a", b"bb", b"", None, b"last"]
    os.close(source)


@posix_only
@pytest.mark.covers("server.fast.slow_client")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_client_that_does_not_read_cannot_keep_the_server_alive(
    tmp_path: Path, environment: Mapping[str, str], number: signal.Signals, code: int
) -> None:
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "schemory", "serve", "--db", ":memory:"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
        ) as process,
    ):
        assert process.stdin
        assert process.stdout
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        # More than the pipe holds: from here on the server can only wait for its client.
        unread = b'{"jsonrpc":"2.0","id":"' + b"x" * 1_000 + b'","method":"ping"}\n'
        process.stdin.write(unread * 60)
        process.stdin.flush()
        process.send_signal(number)
        assert process.wait(30) == code


@pytest.mark.covers("server.fast.interleaved")
def test_requests_that_overlap_each_get_their_own_answer(start: Callable[..., Any]) -> None:
    peer = start("--db", "memory.sqlite")
    peer.shake_hands()
    for i in range(1, 60):
        if i % 3:
            node = {"name": f"n{i}", "nodeType": "t", "metadata": []}
            peer.send("tools/call", i, name="add_nodes", arguments={"nodes": [node]})
        else:
            peer.send("ping", i)
    answered: dict[int, Any] = {}
    while len(answered) < 59:
        message = peer.receive()
        assert message["id"] not in answered
        answered[message["id"]] = message["result"]
    for i, result in answered.items():
        shown = f"n{i}" in json.dumps(result)
        assert shown == bool(i % 3)


@pytest.mark.covers("server.fast.cancelled_in_line")
@pytest.mark.parametrize("echo", [int, str])
def test_a_call_cancelled_while_it_waits_is_neither_made_nor_answered(
    start: Callable[..., Any], echo: Callable[[int], object]
) -> None:
    peer = start("--db", "memory.sqlite")
    peer.shake_hands()
    many = [{"name": f"n{i}", "nodeType": "t", "metadata": [f"k: {i}"]} for i in range(4_000)]
    peer.send("tools/call", 1, name="add_nodes", arguments={"nodes": many})
    late = [{"name": "late", "nodeType": "t", "metadata": []}]
    peer.send("tools/call", 2, name="add_nodes", arguments={"nodes": late})
    peer.send("notifications/cancelled", requestId=echo(2))
    found = peer.call(3, "open_nodes", {"names": ["late"]})["result"]["structuredContent"]
    assert "late" in found["data"]["notFound"]
    assert 2 not in [message.get("id") for message in peer.received]
