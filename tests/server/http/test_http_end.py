"""The end of a server: running calls are finished, waiting streams let go, the exit code is 0."""

import asyncio
import concurrent.futures
import contextlib
import http.client
import json
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemory.server.http_wire import bind

if TYPE_CHECKING:
    from tests.server.http.conftest import Served, Servers

NEW = {"project_id": "p", "scope": "s", "topic": "t", "source_type": "decision"}


def export(path: Path, count: int) -> Path:
    """Write a file to import that takes a while."""
    now = "2026-01-01T00:00:00.000Z"
    fixed = {"project_id": "p", "scope": "s", "topic": "t", "source_type": "decision"}
    dated = {"status": "active", "importance": 3, "created_at": now, "updated_at": now}
    entries = [
        {
            **fixed,
            **dated,
            "id": f"01900000-0000-7000-8000-{number:012d}",
            "content": f"entry number {number} of a long list",
            "tags": [],
        }
        for number in range(count)
    ]
    head = {"format": "memory-node.project-export", "version": 1, "exported_at": now}
    body = {"project": {"id": "p"}, "entries": entries, "tags": [], "links": []}
    path.write_text(json.dumps({**head, **body}), encoding="utf-8")
    return path


@pytest.mark.covers("http.end.calls")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("version", [None, "2026-07-28"])
def test_a_call_that_runs_is_finished_and_the_exit_code_is_0(
    servers: "Servers", tmp_path: Path, number: signal.Signals, version: str | None
) -> None:
    served = servers.start(MEMORY_ALLOWED_ROOTS=str(tmp_path))
    file = export(tmp_path / "many.json", 2500)
    arguments = {"project_id": "p", "import_path": str(file)}

    async def talk() -> tuple[object, int]:
        async with served.client(version or "legacy") as client:
            call = asyncio.create_task(client.call_tool("memory_import_project", arguments))
            await asyncio.to_thread(_begun, served)
            served.process.send_signal(number)
            result = await call
            with contextlib.suppress(Exception):
                return result.structured_content, await asyncio.to_thread(served.process.wait, 60)
            raise AssertionError("the server did not end")

    found: tuple[object, int] | None = None
    with contextlib.suppress(BaseExceptionGroup):  # the client's farewell finds nobody
        found = asyncio.run(asyncio.wait_for(talk(), 120))
    assert served.process.wait(60) == 0, served.stderr()
    again = servers.start()
    assert again.result("memory_status", {"project_id": "p"})["counts"]["entries"] == 2500
    if found is not None:
        result, code = found
        assert code == 0
        assert isinstance(result, Mapping)
        assert result["counts"]["inserted"] == 2500
    assert "Traceback" not in served.stderr()


def _begun(served: "Served") -> None:
    """Wait until a request is inside the server (the legacy client's stream may be another)."""
    latest = time.monotonic() + 30
    while time.monotonic() < latest:
        text = served.send("GET", "/metrics").text
        value = text.partition("\nschemory_requests_in_flight ")[2].partition("\n")[0]
        sessions = text.partition("\nschemory_sessions ")[2].partition("\n")[0]
        if int(value) > int(sessions):
            return
        time.sleep(0.02)
    raise AssertionError("the call did not begin")


@pytest.mark.covers("http.end.streams")
def test_waiting_clients_do_not_hold_the_server_up(servers: "Servers") -> None:
    served = servers.start()
    name = served.shake_hands()
    held: list[socket.socket] = []
    with contextlib.ExitStack() as stack:
        listen = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "subscriptions/listen",
            "params": {
                "notifications": {"toolsListChanged": True},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        }
        body = json.dumps(listen)
        kinds = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        modern = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
        size = f"Content-Length: {len(body)}"
        texts = (
            f"GET /mcp HTTP/1.1\r\nHost: localhost\r\n{kinds}Mcp-Session-Id: {name}\r\n\r\n",
            f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{kinds}{modern}{size}\r\n\r\n{body}",
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\n",  # half a head
            "",  # nothing at all
        )
        for text in texts:
            connection = stack.enter_context(served.connect())
            connection.sendall(text.encode())
            held.append(connection)
        for connection in held[:2]:
            connection.settimeout(30)
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        started = time.monotonic()
        assert served.stop() == 0
        assert time.monotonic() - started < 15
        last = b""
        while part := held[1].recv(4096):
            last += part
        assert b'"result"' in last  # the stream's own end, not a broken connection
    assert "error" not in served.stderr()


@contextlib.contextmanager
def _asked(
    served: "Served", name: str, arguments: dict[str, str]
) -> Iterator[tuple[int, http.client.HTTPResponse]]:
    """Give the id of the question that a deletion asks, and the stream on which its end comes."""
    call = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "memory_delete_entry", "arguments": arguments},
    }
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Mcp-Session-Id": name,
    }
    with contextlib.closing(connection):
        connection.request("POST", "/mcp", json.dumps(call), headers)
        stream = connection.getresponse()
        line = b""
        while b"elicitation/create" not in line:
            line = stream.readline()
        yield json.loads(line.removeprefix(b"data: "))["id"], stream


@pytest.mark.covers("server.elicitation.unreadable")
def test_an_answer_over_http_that_cannot_be_read_ends_the_wait(servers: "Servers") -> None:
    served = servers.start()
    entry = served.result("memory_add_entry", {**NEW, "title": "Kept", "content": "to be kept"})
    name = served.shake_hands(capabilities={"elicitation": {}})
    arguments = {"project_id": "p", "entry_id": entry["entry_id"]}
    with _asked(served, name, arguments) as (number, stream):
        answer = {"jsonrpc": "2.0", "id": number, "result": [True]}
        headers = {"Content_Type": "application/json", "Mcp_Session_Id": name}
        accepted = "application/json, text/event-stream"
        taken = served.send(body=json.dumps(answer), Accept=accepted, **headers)
        assert taken.status == 202
        assert "CONFIRM_REQUIRED" in stream.read().decode()


@pytest.mark.covers("http.end.questions")
def test_a_question_to_a_person_does_not_hold_the_server_up(servers: "Servers") -> None:
    served = servers.start()
    entry = served.result("memory_add_entry", {**NEW, "title": "Kept", "content": "to be kept"})
    name = served.shake_hands(capabilities={"elicitation": {}})
    arguments = {"project_id": "p", "entry_id": entry["entry_id"]}
    with _asked(served, name, arguments) as (_, stream):
        started = time.monotonic()
        assert served.stop() == 0
        assert time.monotonic() - started < 15
        rest = stream.read().decode()
    assert "CONFIRM_REQUIRED" in rest
    assert "gave up" not in served.stderr()
    again = servers.start()
    kept = again.result("memory_read_entry", arguments)
    assert kept["entry"]["content"] == "to be kept"


@pytest.mark.covers("http.end.calls")
def test_a_busy_server_ends_without_losing_what_it_has_acknowledged(servers: "Servers") -> None:
    served = servers.start()

    def add(number: int) -> bool:
        try:
            new = {**NEW, "content": f"note {number}"}
            return bool(served.result("memory_add_entry", new)["ok"])
        except (OSError, AssertionError, http.client.HTTPException):
            return False  # it came too late

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        jobs = [pool.submit(add, number) for number in range(400)]
        while sum(job.done() for job in jobs) < 40:
            time.sleep(0.01)
        assert served.stop() == 0
        added = sum(job.result() for job in jobs)
    assert added >= 40
    again = servers.start()
    assert again.result("memory_status", {"project_id": "p"})["counts"]["entries"] >= added


@pytest.mark.covers("http.answers.at_once")
def test_small_answers_are_not_held_back() -> None:
    with bind("127.0.0.1", 0) as listener:

        async def accept() -> int:
            taken: asyncio.Future[int] = asyncio.get_running_loop().create_future()

            def look(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                del reader
                accepted = writer.get_extra_info("socket")
                taken.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
                writer.close()

            server = await asyncio.start_server(look, sock=listener)
            with socket.create_connection(listener.getsockname()):
                found = await taken
            server.close()
            return found

        assert asyncio.run(accept()) != 0


@pytest.mark.covers("http.end.ready")
def test_a_port_that_is_taken_is_told_in_one_line(servers: "Servers") -> None:
    served = servers.start()
    process, errors = servers.launch("--http", f"127.0.0.1:{served.port}")
    assert process.wait(60) == 3
    told = errors.read_text()
    assert f"cannot listen at 127.0.0.1:{served.port}" in told
    assert "Traceback" not in told


@pytest.mark.covers("http.end.ready")
def test_a_store_that_cannot_be_read_is_not_ready_but_alive(
    servers: "Servers", tmp_path: Path
) -> None:
    graph = tmp_path / "graph.jsonl"
    graph.write_text("")
    served = servers.start("--graph-file", str(graph))
    assert served.send("GET", "/readyz").status == 200
    graph.unlink()
    graph.mkdir()
    assert served.send("GET", "/readyz").status == 503
    assert served.send("GET", "/healthz").status == 200
