"""The memory of a real server process that works on a large graph."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import made
from benchmarks.measure import Figure


class Server:
    """A `schemory serve` process, asked over its standard input."""

    def __init__(self, store: Path) -> None:
        command = [sys.executable, "-m", "schemory", "serve", "--db", str(store), "--pack", "rpg"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._number = 0
        client = {"name": "benchmark", "version": "1"}
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.ask("initialize", version)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._process.stdin is None:
            raise BrokenPipeError
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send a request and return its result."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        if self._process.stdout is None:
            raise BrokenPipeError
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer["result"]
        raise EOFError("the server ended")

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool and return its answer, which must be no error."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result)
        return result["structuredContent"]

    def peak_megabytes(self) -> float:
        """Return the most memory the process ever held, in MB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(found.group(1)) / 1000 if found else float("nan")

    def close(self) -> None:
        """End the server as a client does."""
        self._process.communicate()


def remembering(store: Path, hub: str, rare: str) -> Iterator[Figure]:
    """Measure the peak memory of a server that reads, searches, opens and writes."""
    server = Server(store)
    try:
        server.ask("tools/list", {})
        started = server.peak_megabytes()
        for text in (rare, made.COMMON, "a", ""):
            server.call("search_nodes", {"query": text})
        server.call("open_nodes", {"names": [hub]})
        page = server.call("read_graph", {})
        for _ in range(20):
            page = server.call("read_graph", {"cursor": page["data"]["nextCursor"]})
        for i in range(50):
            nodes = [{"name": f"Server's {i}", "nodeType": "npc", "metadata": ["Role: Guest"]}]
            server.call("add_nodes", {"nodes": nodes})
        peak = server.peak_megabytes()
    finally:
        server.close()
    yield Figure(
        name="peak memory of a server",
        ours=peak,
        raw=started,
        unit="MB",
        value=peak,
        value_unit="MB",
        goal=150,
        note="raw column = right after tools/list",
    )
