"""A real server process with its pipes in hand, and real parts for servers inside the test."""

import itertools
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest

TIMEOUT_SECONDS = 30.0
Message: TypeAlias = dict[str, Any]


@dataclass
class Peer:
    """The other end of a server's pipes."""

    process: subprocess.Popen[bytes]
    errors: Path
    received: list[Message] = field(default_factory=list[Message])
    _lines: "queue.SimpleQueue[bytes | None]" = field(default_factory=queue.SimpleQueue)

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def send_raw(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method: str, number: int | str | None = None, **params: Any) -> None:
        message: Message = {"jsonrpc": "2.0", "method": method}
        if params:
            message["params"] = params
        if number is not None:
            message["id"] = number
        self.send_raw(json.dumps(message).encode() + b"\n")

    def receive(self) -> Message:
        """Return the next message; every line on stdout must be one."""
        message: Message = self.receive_any()
        assert message["jsonrpc"] == "2.0"
        self.received.append(message)
        return message

    def receive_any(self) -> Any:
        """Return what the next line holds: a message, or the answers to a batch."""
        line = self._lines.get(timeout=TIMEOUT_SECONDS)
        assert line is not None, "the server closed its output: " + self.stderr()
        return json.loads(line)

    def answer(self, number: int | str | None) -> Message:
        """Return the answer to a request, whatever comes before it."""
        while True:
            message = self.receive()
            if "method" not in message and message["id"] == number:
                return message

    def ask(self, method: str, number: int | str, **params: Any) -> Message:
        self.send(method, number, **params)
        return self.answer(number)

    def call(self, number: int, tool: str, arguments: object) -> Message:
        return self.ask("tools/call", number, name=tool, arguments=arguments)

    def shake_hands(self, version: str = "2025-11-25", **capabilities: Any) -> Message:
        answer = self.ask(
            "initialize",
            0,
            protocolVersion=version,
            capabilities=capabilities,
            clientInfo={"name": "pytest", "version": "1"},
        )
        self.send("notifications/initialized")
        result: Message = answer["result"]
        return result

    def close_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def wait(self) -> int:
        return self.process.wait(TIMEOUT_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stderr(self) -> str:
        return self.errors.read_text(encoding="utf-8")


Starter: TypeAlias = Callable[..., Peer]


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which the person running the tests does not matter."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}


@pytest.fixture(params=["fast", "sdk"])
def start(
    tmp_path: Path, environment: Mapping[str, str], request: pytest.FixtureRequest
) -> Iterator[Starter]:
    """Starts `schemory serve` on each adapter in turn; what still runs at the end is killed."""
    chosen = {"MEMORY_SDK": "1"} if request.param == "sdk" else {}
    yield from starting(tmp_path, {**environment, **chosen})


@pytest.fixture
def start_as_told(tmp_path: Path, environment: Mapping[str, str]) -> Iterator[Starter]:
    """Starts `schemory serve` with the adapter that its arguments choose."""
    yield from starting(tmp_path, environment)


def starting(tmp_path: Path, environment: Mapping[str, str]) -> Iterator[Starter]:
    peers: list[Peer] = []

    def start_one(*arguments: str, **more: str) -> Peer:
        errors = tmp_path / f"stderr-{len(peers)}.log"
        with errors.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "schemory", "serve", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=tmp_path,
                env={**environment, **more},
            )
        peers.append(Peer(process, errors))
        return peers[-1]

    yield start_one
    for peer in peers:
        peer.process.kill()
        peer.process.wait()
        for pipe in (peer.process.stdin, peer.process.stdout):
            if pipe:
                pipe.close()


MODERN = "2026-07-28"
ENVELOPE: Mapping[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "pytest", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CURSOR = "<cursor>"
_CHANGING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r'(\\?"next_?[cC]ursor\\?":\s*\\?")[^"\\]+'), r"\1<cursor>"),
)


class Pair:
    """The same server twice, once on each adapter, asked the same in turn."""

    def __init__(
        self,
        start: Starter,
        era: str,
        *arguments: str,
        capabilities: Mapping[str, Any] | None = None,
        **environment: str,
    ) -> None:
        self.era = era
        self.peers = {
            "fast": start("--db", ":memory:", *arguments, **environment),
            "sdk": start("--db", ":memory:", *arguments, "--sdk", **environment),
        }
        self._numbers = itertools.count(1)
        self._capabilities = dict(capabilities or {})
        self.cursors: dict[str, str] = {}
        for peer in self.peers.values():
            if era not in {MODERN, ""}:
                peer.shake_hands(era, **self._capabilities)

    def params(self, **params: Any) -> dict[str, Any]:
        if self.era != MODERN:
            return params
        envelope = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": self._capabilities}
        return {**params, "_meta": envelope}

    def line(self, number: Any, method: Any, **params: Any) -> bytes:
        """Return a request as one line."""
        told = {"jsonrpc": "2.0", "id": number, "method": method, "params": self.params(**params)}
        return json.dumps(told).encode()

    @staticmethod
    def judged(message: Message) -> Any:
        """Return what must be the same of an answer: of errors the code, but not the wording."""
        if "error" in message:
            return {"id": message["id"], "code": message["error"]["code"]}
        return comparable(message)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return what both answered, which must be the same but for times and cursors."""
        number = next(self._numbers)
        told: dict[str, Any] = {}
        for name, peer in self.peers.items():
            sent = params
            arguments = params.get("arguments")
            if isinstance(arguments, dict) and arguments.get("cursor") == CURSOR:
                mended = {**arguments, "cursor": self.cursors[name]}
                sent = {**params, "arguments": mended}
            answer = peer.ask(method, number, **self.params(**sent))
            data = answer.get("result", {}).get("structuredContent", {}).get("data", {})
            if isinstance(data, dict) and "nextCursor" in data:
                self.cursors[name] = data["nextCursor"]
            told[name] = comparable(answer)
        assert told["fast"] == told["sdk"]
        result: dict[str, Any] = told["fast"]
        return result

    def send(self, line: bytes) -> dict[str, list[str]]:
        """Send a line to both, and return what each said until a later call was answered."""
        told: dict[str, list[str]] = {}
        number = next(self._numbers)
        for name, peer in self.peers.items():
            seen = len(peer.received)
            peer.send_raw(line + b"\n")
            # Behind everything in the lane, and once more behind the answers to that.
            for key in (f"wall-{number}", f"last-{number}"):
                peer.ask("tools/call", key, **self.params(name="no_such_tool"))
            answers = (m for m in peer.received[seen:] if not is_wall(m))
            told[name] = sorted(json.dumps(self.judged(m), sort_keys=True) for m in answers)
        return told


def is_wall(message: dict[str, Any]) -> bool:
    return str(message.get("id", "")).startswith(("wall-", "last-"))


def comparable(answer: Any) -> Any:
    text = json.dumps(answer)
    for pattern, shown in _CHANGING:
        text = pattern.sub(shown, text)
    return json.loads(text)


PairMaker: TypeAlias = Callable[..., Pair]


@pytest.fixture
def pair_of(start_as_told: Starter) -> PairMaker:
    """Makes pairs: the era (empty = without a handshake), arguments, environment."""
    return lambda era, *arguments, **more: Pair(start_as_told, era, *arguments, **more)
