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

import jsonschema  # type: ignore[import-untyped]  # it ships no types
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
        told = self.receive_any()
        message: Message = {"jsonrpc": "2.0", "batch": told} if isinstance(told, list) else told
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
            if "method" not in message and "batch" not in message and message["id"] == number:
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
_PLACE = re.compile(r"<cursor>|<id \d+>")
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
        self._known: dict[str, dict[str, str]] = {}
        self._schemas: dict[str, Any] = {}
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
        if "batch" in message:
            answers = [Pair.judged(each) for each in message["batch"]]
            return sorted(answers, key=lambda each: json.dumps(each, sort_keys=True))
        if "error" in message:
            return {"id": message["id"], "code": message["error"]["code"]}
        return comparable(message)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return what both answered, which must be the same but for times and cursors."""
        return self._same(method, params, None)

    def call(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Make the call of a golden conversation on both, and hold the answer to its schema."""
        params = {key: step[key] for key in ("arguments",) if key in step}
        answer = self._same("tools/call", {"name": step["tool"], **params}, step["structured"])
        result: dict[str, Any] = answer["result"]
        self.holds_schema(step["tool"], result)
        assert result["isError"] == step["is_error"]
        return result

    def holds_schema(self, tool: str, result: Mapping[str, Any]) -> None:
        """Check a result against the output schema that `tools/list` shows."""
        if not self._schemas:
            listed = self.peers["fast"].ask("tools/list", "schemas", **self.params())
            tools = listed["result"]["tools"]
            self._schemas = {each["name"]: each["outputSchema"] for each in tools}
        validator = jsonschema.Draft202012Validator(self._schemas[tool])
        validator.validate(result["structuredContent"])
        assert result["content"][0]["text"]

    def _same(self, method: str, params: Mapping[str, Any], golden: Any) -> dict[str, Any]:
        number = next(self._numbers)
        told: dict[str, Any] = {}
        for name, peer in self.peers.items():
            known = self._known.setdefault(name, {})
            text = json.dumps(params)
            for place, real in known.items():
                text = text.replace(place, real)
            answer = peer.ask(method, number, **self.params(**json.loads(text)))
            learn(golden, answer.get("result", {}).get("structuredContent"), known)
            shown = json.dumps(answer)
            for place, real in known.items():
                shown = shown.replace(real, place)
            told[name] = comparable(json.loads(shown))
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


def learn(golden: Any, live: Any, known: dict[str, str]) -> None:
    """Note what stands in a live answer where a golden one has an id's or cursor's place."""
    if isinstance(golden, dict) and isinstance(live, dict):
        for key in golden.keys() & live.keys():
            learn(golden[key], live[key], known)
    elif isinstance(golden, list) and isinstance(live, list):
        for each, other in zip(golden, live, strict=False):
            learn(each, other, known)
    elif isinstance(golden, str) and isinstance(live, str) and _PLACE.fullmatch(golden):
        known[golden] = live


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
