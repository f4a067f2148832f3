"""What it costs that a session starts: from spawn to the tool list, beside a bare loop."""

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Figure

_ROUNDS = 11
_BARE = r"""
import json, sys
import apsw
db = apsw.Connection(sys.argv[1])
db.pragma("journal_mode", "wal")
db.execute("CREATE TABLE IF NOT EXISTS node (name TEXT, metadata TEXT)").fetchall()
with open(sys.argv[2], encoding="utf-8") as file:
    tools = json.load(file)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        rows = list(db.execute("SELECT count(*) FROM node"))
        result = {"tools": tools} if asked["method"] == "tools/list" else {"rows": rows}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}) + "\n")
        sys.stdout.flush()
"""
_ENVIRONMENT = {
    # Without kept bytecode each run would measure how fast Python compiles.
    name: value
    for name, value in os.environ.items()
    if name != "PYTHONDONTWRITEBYTECODE"
}
_CLIENT = {"name": "benchmark", "version": "1"}
_ASKED = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


class _Start(NamedTuple):
    cpu_ms: float
    wall_ms: float
    peak_mb: float


def _schemory() -> list[str]:
    """Return the command that users run: the installed script, where it is the code's own."""
    script = Path(sys.executable).with_name("schemory")
    entry = "from schemory.cli.front import run"
    if script.is_file() and entry in script.read_text(encoding="utf-8"):
        return [sys.executable, str(script)]
    return [sys.executable, "-m", "schemory"]


def starting(folder: Path) -> Iterator[Figure]:
    """Measure processor time, wall time and memory up to the answer of `tools/list`."""
    store = str(folder / "startup.sqlite")
    schemory = _schemory()
    serve = [*schemory, "serve", "--db", store]
    tools = folder / "tools.json"
    tools.write_text(json.dumps(_tools_of(serve)), encoding="utf-8")
    commands = {
        # It answers with the same list, or it would be compared with something that does less.
        "bare": [sys.executable, "-c", _BARE, str(folder / "bare.sqlite"), str(tools)],
        "ours": serve,
        "sdk": [*serve, "--sdk"],
    }
    others = {
        "schemory brief": [*schemory, "brief", "--db", store, "--project", "p"],
        "schemory --help": [*schemory, "--help"],
    }
    starts: dict[str, list[_Start]] = {name: [] for name in commands}
    ends: dict[str, list[float]] = {name: [] for name in others}
    for i in range(_ROUNDS + 1):
        for name, command in commands.items():
            start = _start(command)
            if i:  # the first fills caches and makes the store
                starts[name].append(start)
        for name, command in others.items():
            spent = _spent(command)
            if i:
                ends[name].append(spent)
    ours, bare, sdk = (_middle(starts[name]) for name in ("ours", "bare", "sdk"))
    told = f"through the SDK (--sdk): {sdk.cpu_ms:.0f} ms of CPU, {sdk.peak_mb:.0f} MB"
    name = "start to tools/list"
    yield Figure(
        name=f"{name}, CPU beside a bare loop",
        ours=ours.cpu_ms,
        raw=bare.cpu_ms,
        value=ours.cpu_ms / bare.cpu_ms,
        goal=2,
        note=told,
    )
    yield Figure(name=f"{name}, CPU", ours=ours.cpu_ms, value=ours.cpu_ms, value_unit="ms", goal=60)
    for name_of, goal in (("schemory brief", 100), ("schemory --help", None)):
        spent = statistics.median(ends[name_of])
        told_of = f"{name_of}, CPU"
        yield Figure(name=told_of, ours=spent, value=spent, value_unit="ms", goal=goal)
    yield Figure(
        name=f"{name}, wall",
        ours=ours.wall_ms,
        raw=bare.wall_ms,
        value=ours.wall_ms,
        value_unit="ms",
    )
    yield Figure(
        name=f"{name}, peak memory",
        ours=ours.peak_mb,
        raw=bare.peak_mb,
        unit="MB",
        value=ours.peak_mb,
        value_unit="MB",
        goal=35,
    )


def _tools_of(command: Sequence[str]) -> object:
    """Return the tools that a server lists."""
    asked = b"".join(json.dumps(message).encode() + b"\n" for message in _ASKED)
    done = subprocess.run(command, input=asked, capture_output=True, env=_ENVIRONMENT, check=True)
    return json.loads(done.stdout.splitlines()[-1])["result"]["tools"]


def _start(command: Sequence[str]) -> _Start:
    begin = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )
    if process.stdin is None or process.stdout is None:
        raise BrokenPipeError
    for message in _ASKED:
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    while json.loads(process.stdout.readline())["id"] != 2:  # noqa: PLR2004 (of tools/list)
        pass
    wall = time.perf_counter() - begin
    peak = _peak_megabytes(process.pid)
    # The end costs next to nothing, and only a process that has ended tells what it used.
    process.stdin.close()
    _, _, used = os.wait4(process.pid, 0)
    process.stdout.close()
    process.returncode = 0
    return _Start((used.ru_utime + used.ru_stime) * 1000, wall * 1000, peak)


def _peak_megabytes(process: int) -> float:
    """Return the most memory of a process that runs; what it was forked from does not count."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found.group(1)) / 1000 if found else float("nan")


def _spent(command: Sequence[str]) -> float:
    """Return the milliseconds of CPU that a command takes to its end."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=_ENVIRONMENT
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return (used.ru_utime + used.ru_stime) * 1000


def _middle(starts: Sequence[_Start]) -> _Start:
    return _Start(*(statistics.median(each) for each in zip(*starts, strict=True)))
