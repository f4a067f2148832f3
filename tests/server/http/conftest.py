"""Real servers on real loopback sockets, and the plainest possible clients for them."""

import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

TIMEOUT_SECONDS = 60.0
MODERN = "2026-07-28"
Message: TypeAlias = dict[str, Any]

TOKENS: Mapping[str, str] = {
    name: f"{name}-token-{'x' * 32}"
    for name in ("reader", "writer", "admin", "ana", "ben", "scraper", "idle")
}


def token_file(path: Path, entries: Sequence[Mapping[str, object]]) -> Path:
    path.write_text(json.dumps(entries), encoding="utf-8")
    path.chmod(0o600)
    return path


def entry(name: str, *scopes: str, projects: Sequence[str] | None = None) -> Mapping[str, object]:
    limit = {} if projects is None else {"projects": list(projects)}
    return {
        "token": TOKENS[name],
        "principal": name,
        "scopes": [f"memory:{scope}" for scope in scopes],
        **limit,
    }


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def message(self) -> Message:
        """The JSON-RPC answer, from plain JSON or from the last event of a stream."""
        text = self.text
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            text = [line for line in text.splitlines() if line.startswith("data: {")][-1][6:]
        found: Message = json.loads(text)
        return found


@dataclass
class Served:
    """A server's process."""

    process: subprocess.Popen[bytes]
    errors: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def token(self, who: str) -> str:
        """Return the token of a known principal; any other text is one itself."""
        return TOKENS.get(who, who)

    def stderr(self) -> str:
        return self.errors.read_text(encoding="utf-8")

    def send(
        self,
        method: str = "POST",
        path: str = "/mcp",
        body: bytes | str | None = None,
        **headers: str,
    ) -> Answer:
        """Make one request; header names are written with underscores."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, named)
            got = connection.getresponse()
            found = {name.lower(): value for name, value in got.getheaders()}
            return Answer(got.status, found, got.read())
        finally:
            connection.close()

    def ask(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        who: str | None = None,
        version: str | None = None,
        number: int | None = 1,
        **headers: str,
    ) -> Answer:
        """Send one JSON-RPC message, without a session unless a header names one."""
        message: Message = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
        if number is not None:
            message["id"] = number
        fixed = {
            "Content_Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **({"Authorization": f"Bearer {self.token(who)}"} if who else {}),
            **({"Mcp_Protocol_Version": version} if version else {}),
        }
        return self.send("POST", "/mcp", json.dumps(message), **{**fixed, **headers})

    def call(self, tool: str, arguments: Mapping[str, Any], *, who: str | None = None) -> Answer:
        return self.ask("tools/call", {"name": tool, "arguments": dict(arguments)}, who=who)

    def result(self, tool: str, arguments: Mapping[str, Any], *, who: str | None = None) -> Message:
        """Return the structured answer of a call that comes through."""
        answer = self.call(tool, arguments, who=who)
        assert answer.status == 200, answer.text
        found: Message = answer.message["result"]["structuredContent"]
        return found

    def shake_hands(
        self,
        *,
        who: str | None = None,
        version: str = "2025-11-25",
        capabilities: Mapping[str, object] | None = None,
    ) -> str:
        """Open a session of a handshake era; return its name."""
        greeting = {
            "protocolVersion": version,
            "capabilities": dict(capabilities or {}),
            "clientInfo": {"name": "pytest", "version": "1"},
        }
        answer = self.ask("initialize", greeting, who=who)
        assert answer.status == 200, answer.text
        name = answer.headers["mcp-session-id"]
        self.ask("notifications/initialized", who=who, number=None, Mcp_Session_Id=name)
        return name

    @asynccontextmanager
    async def client(
        self, mode: Any = "auto", who: str | None = None, **more: Any
    ) -> AsyncIterator[Client]:
        """A client of the MCP SDK."""
        headers = {"Authorization": f"Bearer {self.token(who)}"} if who else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as web,
            Client(streamable_http_client(self.url, http_client=web), mode=mode, **more) as client,
        ):
            yield client

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), TIMEOUT_SECONDS)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT_SECONDS)


Starter: TypeAlias = Callable[..., Served]


class Servers:
    """Starts servers; stops what still runs at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._all: list[Served] = []

    def start(self, *arguments: str, port: int = 0, **more: str) -> Served:
        process, errors = self.launch(*arguments, port=port, **more)
        served = Served(process, errors, _port(process, errors))
        self._all.append(served)
        return served

    def launch(
        self, *arguments: str, port: int = 0, **more: str
    ) -> tuple[subprocess.Popen[bytes], Path]:
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        errors = self.folder / f"stderr-{len(list(self.folder.glob('stderr-*')))}.log"
        address = () if "--http" in arguments else ("--http", f"127.0.0.1:{port}")
        with errors.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "schemory", "serve", *address, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=self.folder,
                env={**kept, "HOME": str(self.folder), "LC_ALL": "C.UTF-8", **more},
            )
        return process, errors

    def close(self) -> None:
        for served in self._all:
            served.process.kill()
            served.process.wait()


def _port(process: subprocess.Popen[bytes], errors: Path) -> int:
    """Return the port that the server says it listens at, once it does."""
    latest = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < latest:
        told = errors.read_text(encoding="utf-8")
        _, found, rest = told.partition("listening at http://")
        if found and "\n" in rest:
            port = int(rest.partition("/")[0].rpartition(":")[2])
            _wait_until_open(port)
            return port
        assert process.poll() is None, told
        select.select([], [], [], 0.02)
    raise AssertionError(errors.read_text(encoding="utf-8"))


def _wait_until_open(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    """Starts servers of its own for one test."""
    found = Servers(tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="module")
def team_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("team")


@pytest.fixture(scope="module")
def team(team_folder: Path) -> Iterator[Served]:
    """A server for several principals, shared by a module's tests."""
    file = token_file(
        team_folder / "tokens.json",
        [
            entry("reader", "read"),
            entry("writer", "write"),
            entry("admin", "admin"),
            entry("ana", "admin", projects=["alpha"]),
            entry("ben", "admin", projects=["beta", "gamma"]),
            entry("scraper"),
        ],
    )
    found = Servers(team_folder)
    yield found.start(
        *("--http-auth-file", str(file), "--toolset", "graph,memory,graph_query,admin"),
        *("--allow-cross-project", "--pack", "rpg", "--debug"),
        MEMORY_HTTP_RATE="0",
    )
    found.close()


@pytest.fixture(scope="session")
def make_servers() -> type[Servers]:
    return Servers


@pytest.fixture(scope="session")
def save_tokens() -> Callable[..., Path]:
    """Writes a token file from (principal, scope …) rows."""
    return lambda path, rows: token_file(path, [entry(*row) for row in rows])
