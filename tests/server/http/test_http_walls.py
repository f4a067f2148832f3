"""Hostile and clumsy requests are refused, and nobody else is kept waiting by them."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.http.conftest import Served, Servers

JSON = "application/json"
BOTH = "application/json, text/event-stream"
PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
LIMIT = 4 * 1024 * 1024


@pytest.fixture(scope="module")
def open_server(
    tmp_path_factory: pytest.TempPathFactory, make_servers: "type[Servers]"
) -> Iterator["Served"]:
    """A server of one person: no token, this machine only."""
    found = make_servers(tmp_path_factory.mktemp("open"))
    yield found.start()
    found.close()


def post(served: "Served", body: str | bytes = PING, **headers: str) -> int:
    fixed = {"Content_Type": JSON, "Accept": BOTH}
    return served.send("POST", "/mcp", body, **{**fixed, **headers}).status


def raw(served: "Served", data: bytes, seconds: float = 12.0) -> bytes:
    """Send bytes; return what comes until the server closes."""
    with served.connect() as connection:
        connection.settimeout(seconds)
        connection.sendall(data)
        got = b""
        with contextlib.suppress(TimeoutError):
            while part := connection.recv(65536):
                got += part
        return got


@pytest.mark.covers("http.walls.host")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example:{port}",
        "localhost:evil",
        "127.0.0.2",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/metrics", "/nothing"])
def test_a_foreign_host_name_is_refused(open_server: "Served", host: str, path: str) -> None:
    name = host.format(port=open_server.port)
    assert open_server.send("POST", path, PING, Host=name, Content_Type=JSON).status == 421
    modern = {"Mcp_Protocol_Version": "2026-07-28", "Content_Type": JSON, "Accept": BOTH}
    assert open_server.send("POST", path, PING, Host=name, **modern).status == 421


@pytest.mark.covers("http.walls.host")
def test_two_host_names_or_none_are_refused(open_server: "Served") -> None:
    body = f"\r\nContent-Type: {JSON}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    for head in (
        "POST /mcp HTTP/1.0",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example",
    ):
        got = raw(open_server, (head + body).encode())
        assert got.split(b" ")[1] in {b"400", b"421"}, got


@pytest.mark.covers("http.walls.host")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:{port}", "[::1]:{port}"])
def test_the_names_of_this_machine_are_let_in(open_server: "Served", host: str) -> None:
    assert post(open_server, Host=host.format(port=open_server.port)) == 200


@pytest.mark.covers("http.walls.origin")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://evil.example", 403),
        ("https://localhost.evil.example", 403),
        ("null", 403),
        ("file://", 403),
        ("http://localhost:6274", 200),
        ("http://127.0.0.1", 200),
    ],
)
def test_only_pages_of_this_machine_may_call(
    open_server: "Served", origin: str, status: int
) -> None:
    assert post(open_server, Origin=origin) == status


@pytest.mark.covers("http.walls.origin")
def test_a_browser_is_told_that_it_may_call(open_server: "Served") -> None:
    asked = {"Access_Control_Request_Method": "POST"}
    answer = open_server.send("OPTIONS", Origin="http://localhost:6274", **asked)
    assert answer.status == 204
    assert answer.headers["access-control-allow-origin"] == "http://localhost:6274"
    assert "mcp-session-id" in answer.headers["access-control-allow-headers"]
    refused = open_server.send("OPTIONS", Origin="http://evil.example", **asked)
    assert refused.status == 403
    assert "access-control-allow-origin" not in refused.headers


@pytest.mark.covers("http.walls.size")
@pytest.mark.parametrize("era", [{}, {"Mcp_Protocol_Version": "2026-07-28"}])
def test_a_body_over_4_mib_is_refused_and_one_under_it_is_not(
    open_server: "Served", era: dict[str, str]
) -> None:
    def padded(size: int) -> str:
        return PING[:-1] + " " * (size - len(PING)) + "}"

    assert post(open_server, padded(LIMIT + 1), **era) == 413
    assert post(open_server, padded(LIMIT), **era) != 413


@pytest.mark.covers("http.walls.size")
def test_a_body_that_does_not_say_its_size_is_cut_off_at_the_limit(open_server: "Served") -> None:
    connection = http.client.HTTPConnection("127.0.0.1", open_server.port, timeout=30)
    chunk = b"x" * 65536

    def endless() -> Iterator[bytes]:
        for _ in range(LIMIT // len(chunk) + 2):
            yield chunk

    try:
        connection.request(
            "POST", "/mcp", endless(), {"Content-Type": JSON, "Accept": BOTH}, encode_chunked=True
        )
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it has stopped listening already
    finally:
        connection.close()
    assert post(open_server) == 200


@pytest.mark.covers("http.walls.size")
def test_a_size_that_is_a_lie_is_believed_only_as_far_as_it_helps(open_server: "Served") -> None:
    for length in ("99999999999", "-1", "1e3", "0x10"):
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: {JSON}\r\n"
        got = raw(
            open_server, f"{head}Content-Length: {length}\r\nConnection: close\r\n\r\n".encode()
        )
        assert got.split(b" ")[1] in {b"400", b"413"}, (length, got)


@pytest.mark.covers("http.walls.bodies")
def test_large_bodies_share_a_bound_that_small_ones_do_not_meet(open_server: "Served") -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: {JSON}\r\nAccept: {BOTH}\r\n"
    begun = f"{head}Content-Length: {LIMIT}\r\n\r\n{{".encode()
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(open_server.connect()) for _ in range(17)]
        for connection in held:
            connection.sendall(begun)
        refused, _, _ = select.select(held, [], [], 20)
        told = refused[0].recv(4096).decode()
        assert told.startswith("HTTP/1.1 503")
        assert "retry-after: 1\r\n" in told.lower()
        assert len(refused) == 1  # of 17 that would be 68 MiB
        assert open_server.send("GET", "/healthz").status == 200
        assert post(open_server) == 200
        assert post(open_server, PING[:-1] + " " * 70_000 + "}") == 503
    while post(open_server, PING[:-1] + " " * 70_000 + "}") == 503:
        os.sched_yield()  # until the server has seen that they left
    assert 'reason="busy"' in open_server.send("GET", "/metrics").text


@pytest.mark.covers("http.walls.garbage")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"[[[[",
        b"\xff\xfe",
        b'"text"',
        b"{}",
        b"[" * 100_000,
        b'{"jsonrpc":"2.0","id":1,"method":1}',
        b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["a"]}}',
        b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    ],
)
@pytest.mark.parametrize("era", [{}, {"Mcp_Protocol_Version": "2026-07-28"}])
def test_what_is_no_message_gets_an_error_and_not_a_failure(
    open_server: "Served", body: bytes, era: dict[str, str]
) -> None:
    answer = open_server.send("POST", "/mcp", body, Content_Type=JSON, Accept=BOTH, **era)
    assert answer.status < 500, answer.text
    assert "Traceback" not in answer.text


@pytest.mark.covers("http.walls.message")
@pytest.mark.parametrize(
    ("body", "code", "number"),
    [
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', -32600, "a"),
        (b'{"jsonrpc":"2.0","words":"zanzibar"}', -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b"zanzibar", -32700, None),
        (b"", -32700, None),
    ],
)
@pytest.mark.parametrize("era", [{}, {"Mcp_Protocol_Version": "2026-07-28"}])
def test_what_is_no_message_is_told_so_in_one_line(
    open_server: "Served", body: bytes, code: int, number: object, era: dict[str, str]
) -> None:
    answer = open_server.send("POST", "/mcp", body, Content_Type=JSON, Accept=BOTH, **era)
    assert answer.status == 400
    assert answer.message["error"]["code"] == code
    assert answer.message["id"] == number
    told = answer.message["error"]["message"]
    assert "\n" not in told
    assert "pydantic" not in told
    assert "zanzibar" not in told


@pytest.mark.covers("http.walls.path")
def test_a_slash_at_the_end_of_the_address_leads_nowhere_else(open_server: "Served") -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    answer = open_server.send("POST", "/mcp/", ping, Content_Type=JSON, Accept=BOTH)
    assert (answer.status, answer.message["result"]) == (200, {})
    foreign = open_server.send("POST", "/mcp/", ping, Host="foreign.example")
    assert foreign.status == 421
    assert open_server.send("GET", "/healthz/").status == 404


@pytest.mark.covers("http.walls.garbage")
@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"\x00" * 1000,
        b"GET /mcp HTTP/9.9\r\n\r\n",
        (
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Length: 5\r\n\r\n0\r\n\r\n"
        ),
        b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_http_is_answered_or_dropped(open_server: "Served", data: bytes) -> None:
    try:
        got = raw(open_server, data)
    except ConnectionResetError:
        got = b""
    assert got == b"" or got.split(b" ")[1] in {b"400", b"421", b"431", b"505"}, got
    assert post(open_server) == 200


@pytest.mark.covers("http.walls.slow")
def test_slow_clients_are_cut_off_and_keep_nobody_waiting(open_server: "Served") -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: {JSON}\r\n"
    slow: list[socket.socket] = []
    try:
        for number in range(150):
            connection = open_server.connect()
            slow.append(connection)
            text = head if number % 2 else f"{head}Content-Length: 1000\r\n\r\n{{"
            connection.sendall(text.encode())
        for _ in range(5):
            started = time.monotonic()
            assert post(open_server) == 200
            assert time.monotonic() - started < 10
        heads = slow[1::2]
        for connection in heads:
            connection.settimeout(30)
            assert connection.recv(100).startswith(b"HTTP/1.1 408")
        # Those that sent the head have longer for the body.
        slow[0].settimeout(60)
        assert b" 408 " in slow[0].recv(100)
    finally:
        for connection in slow:
            connection.close()


@pytest.mark.covers("http.walls.slow")
def test_a_head_that_drips_in_is_cut_off_too(open_server: "Served") -> None:
    with open_server.connect() as connection:
        connection.settimeout(1.0)
        connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        got = b""
        for _ in range(40):
            try:
                connection.sendall(b"a")
                got = connection.recv(100)
                break
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
        assert got.startswith(b"HTTP/1.1 408") or got == b""


@pytest.mark.covers("http.walls.rate")
def test_a_principal_that_calls_too_often_is_told_when_to_come_back(
    servers: "Servers", save_tokens: "Callable[..., Path]", tmp_path: "Path"
) -> None:
    file = save_tokens(tmp_path / "t.json", [("reader", "read"), ("writer", "write")])
    served = servers.start("--http-auth-file", str(file), MEMORY_HTTP_RATE="60")
    answers = [served.ask("tools/list", who="reader") for _ in range(30)]
    statuses = [each.status for each in answers]
    assert statuses[:15] == [200] * 15
    assert 429 in statuses
    refused = next(each for each in answers if each.status == 429)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert served.ask("tools/list", who="writer").status == 200
    figures = served.send("GET", "/metrics", Authorization=f"Bearer {served.token('reader')}").text
    assert 'schemory_requests_refused_total{reason="rate"}' in figures


@pytest.mark.covers("http.walls.crowd")
def test_200_clients_at_once_are_all_served(open_server: "Served") -> None:
    def work(number: int) -> list[bool]:
        aim = {"project_id": f"crowd-{number % 7}"}
        new = {**aim, "scope": "s", "topic": "t", "source_type": "decision"}
        added = open_server.result("memory_add_entry", {**new, "content": f"note {number}"})
        found = open_server.result("memory_search", {**aim, "query": f"note {number}"})
        return [added["ok"], added["entry_id"] in [one["id"] for one in found["results"]]]

    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        assert list(pool.map(work, range(200))) == [[True, True]] * 200
    found = [open_server.result("memory_status", {"project_id": f"crowd-{n}"}) for n in range(7)]
    assert [each for each in found if not each["ok"]] == []
    assert sum(each["counts"]["entries"] for each in found) == 200


@pytest.mark.covers("http.walls.paths")
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/mcp/", 400),
        ("POST", "/mcp/../metrics", 404),
        ("PUT", "/mcp", 400),
        ("TRACE", "/mcp", 400),
        ("GET", "/mcp", 400),
        ("DELETE", "/mcp", 400),
        ("POST", "/metrics", 405),
    ],
)
def test_other_ways_in_lead_nowhere(
    open_server: "Served", method: str, path: str, status: int
) -> None:
    assert open_server.send(method, path, Accept=BOTH).status == status


@pytest.mark.covers("http.walls.headers")
@pytest.mark.parametrize("value", ["text/plain", "", "application/x-www-form-urlencoded"])
def test_a_page_cannot_post_without_asking_the_browser_first(
    open_server: "Served", value: str
) -> None:
    # Other content types are sent across origins without a preflight.
    assert post(open_server, Content_Type=value) in {400, 415}


@pytest.mark.covers("http.metrics")
def test_the_figures_tell_of_calls_and_refusals_and_nothing_that_is_stored(
    open_server: "Served",
) -> None:
    aim = {"project_id": "saffron", "scope": "cinnamon", "topic": "clove"}
    new = {**aim, "content": "cardamom", "source_type": "decision"}
    open_server.result("memory_add_entry", new)
    open_server.result("memory_read_entry", {"project_id": "saffron", "entry_id": "none"})
    open_server.call("turmeric", {})
    open_server.send("POST", "/mcp", PING, Host="evil.example")
    text = open_server.send("GET", "/metrics").text
    assert 'schemory_calls_total{tool="memory_add_entry",outcome="ok"}' in text
    assert 'schemory_calls_total{tool="memory_read_entry",outcome="error"}' in text
    assert 'schemory_calls_total{tool="unknown",outcome="refused"}' in text
    assert 'schemory_call_seconds_bucket{tool="memory_add_entry",le="+Inf"}' in text
    assert 'schemory_requests_refused_total{reason="host"}' in text
    assert "schemory_requests_in_flight 0" in text
    for word in ("saffron", "cinnamon", "clove", "cardamom", "turmeric", "evil"):
        assert word not in text
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(float(line.rpartition(" ")[2]) >= 0 for line in samples)


@pytest.mark.covers("http.probes")
def test_the_probes_answer_under_any_name(open_server: "Served") -> None:
    for path in ("/healthz", "/readyz"):
        answer = open_server.send("GET", path, Host="10.0.0.7:1234")
        assert (answer.status, answer.text) == (200, "ok\n")


@pytest.mark.covers("http.metrics")
def test_only_a_token_of_all_projects_reads_the_figures_of_a_team(
    servers: "Servers", save_tokens: "Callable[..., Path]", tmp_path: "Path"
) -> None:
    file = save_tokens(tmp_path / "t.json", [("scraper",), ("admin", "admin")])
    limited = json.loads(file.read_text())
    limited[1]["projects"] = ["alpha"]
    file.write_text(json.dumps(limited))
    served = servers.start("--http-auth-file", str(file))

    def figures(who: str) -> int:
        return served.send("GET", "/metrics", Authorization=f"Bearer {served.token(who)}").status

    assert (figures("scraper"), figures("admin"), figures("nobody")) == (200, 403, 401)
    assert served.send("GET", "/healthz").status == 200
