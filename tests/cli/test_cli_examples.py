"""Every example in a command's help is one that works: each is run as it stands."""

import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import schemory
from schemory.cli.main import all_commands, main
from schemory.cli.output import Output

ELSEWHERE = {
    "serve": "goes on until it is ended",
    "ui": "goes on until it is ended",
    "demo": "starts a server; test_cli_demo runs it",
    "embed": "needs a model",
    "schemory add": "opens an editor on a terminal; test_cli_memory tries that",
    "schemory edit ID": "as above",
    "schemory init                                  # asks": "asks on a terminal",
    "schemory completion powershell | Out-String | Invoke-Expression": "for PowerShell",
    "schemory import --from memory-node ~/.mcp-servers/memory/memory.sqlite --yes": (
        "needs a database of that server; the tests of moving in have one"
    ),
}
"""Commands and examples that other tests try, and why."""

EXAMPLE_ID = "0197c1d2-7a4b-7c31-9d2e-5f60718293a4"
FINDINGS = ("schemory undo 42", "schemory validate")
"""Examples that find something in the story below, or nothing to undo: exit code 1 is right."""

NODES = {
    "Gandalf": "npc",
    "Frodo": "npc",
    "Mordor": "location",
    "Minas Tirith": "location",
    "Rohan": "location",
    "grey pilgrim": "npc",
    "Old Name": "npc",
}
EDGES = [("Gandalf", "Frodo", "mentors"), ("Frodo", "Mordor", "located_in")]
GRAPH_LINES = '{"type":"node","name":"Bree","nodeType":"location","metadata":[]}\n'

EXAMPLES = [
    (command.name, line.replace(EXAMPLE_ID, "ID"))
    for command in all_commands()
    if command.name not in ELSEWHERE
    for line in command.examples
    if line.replace(EXAMPLE_ID, "ID") not in ELSEWHERE
]


def run(*arguments: str, stdin: str = "") -> tuple[int, str]:
    """Run one command line inside the test."""
    before, sys.stdin = sys.stdin, io.StringIO(stdin)
    printed = io.StringIO()
    try:
        code = main(arguments, Output(stdout=printed, stderr=printed))
    finally:
        sys.stdin = before
    return code, printed.getvalue()


def shell(line: str) -> tuple[int, str]:
    """Run a line by a real shell, since it has more than one command in it."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [str(shutil.which("bash")), "--norc", "-c", f"set -o pipefail; {line}"],
        env={"PATH": programs, "HOME": os.environ["HOME"], "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def done(*arguments: str) -> Mapping[str, str]:
    """Run a command that must succeed; returns its JSON, if any."""
    code, printed = run(*arguments)
    assert code == 0, printed
    return dict(json.loads(printed)) if "--json" in arguments else {}


@pytest.fixture
def places(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Makes everything that examples speak of; gives what stands for their placeholders."""
    here = home / "code" / "api"
    for folder in (here, home / "backups", home / "basic-memory", home / ".cursor"):
        folder.mkdir(parents=True)
    (home / ".config" / "fish" / "completions").mkdir(parents=True)
    monkeypatch.chdir(here)
    nodes = [{"name": name, "nodeType": kind, "metadata": []} for name, kind in NODES.items()]
    nodes[0]["metadata"] = ["Role: Wizard"]
    edges = [{"from": a, "to": b, "edgeType": kind} for a, b, kind in EDGES]
    done("call", "add_nodes", json.dumps({"nodes": nodes}))
    done("call", "add_edges", json.dumps({"edges": edges}))
    texts = ("token expiry is one hour", "retry with jitter", "src/auth/token.py is old")
    kinds = ("decision", "decision", "bug_pattern")
    ids = [
        done("add", text, "--scope", "api", "--topic", "http", "--type", kind, "--json")["entry_id"]
        for text, kind in zip(texts, kinds, strict=True)
    ]
    done("schema", "new", "npc", "--to", ".")
    shutil.copytree(RPG, here / "schemas")
    npc = {"name": "Bombadil", "role": "Merchant", "status": "Active"}
    (here / "npc.json").write_text(json.dumps({"npc": npc}), encoding="utf-8")
    (here / "memory.json").write_text(GRAPH_LINES, encoding="utf-8")
    (here / "CLAUDE.md").write_text("# Rules\n\n- Run the tests.\n", encoding="utf-8")
    (home / "basic-memory" / "a.md").write_text("---\ntitle: A\n---\nFact.\n", encoding="utf-8")
    return {"NEW_ID": ids[1], "OLD_ID": ids[2], "ID": ids[0]}


RPG = Path(schemory.__file__).parent / "schemas" / "builtin" / "rpg"


def _graph_file(_: dict[str, str]) -> None:
    Path("memory.jsonl").write_text(GRAPH_LINES, encoding="utf-8")


def _memory_file(_: dict[str, str]) -> None:
    done("export", "memory.jsonl", "--all")


def _backup(_: dict[str, str]) -> None:
    done("backup", "~/backups/memory.sqlite")


def _link(places: dict[str, str]) -> None:
    linked = done("link", places["NEW_ID"], "supersedes", places["OLD_ID"], "--json")
    places["LINK_ID"] = linked["link_id"]


def _commit(_: dict[str, str]) -> None:
    code, printed = shell(
        "git init -q && git -c user.name=a -c user.email=a@example.org"
        " commit -q --allow-empty -m 'Release 2'"
    )
    assert code == 0, printed


def _installed(_: dict[str, str]) -> None:
    done("install", "--client", "claude-code", "--client", "cursor", "--no-verify")
    done("install", "--client", "cursor", "--project", ".", "--no-verify")


def _skilled(_: dict[str, str]) -> None:
    done("skill", "--client", "claude-code")


FIRST: Mapping[str, Callable[[dict[str, str]], None]] = {
    "schemory import-graph -": _graph_file,
    "schemory import memory.jsonl": _memory_file,
    "schemory restore ~": _backup,
    "schemory link --remove": _link,
    "git log": _commit,
    "schemory uninstall": _installed,
    "schemory skill --client claude-code --remove": _skilled,
    "schemory schema pack rpg ./schemas": lambda _: shutil.rmtree("schemas"),
    "schemory init ./schemas": lambda _: shutil.rmtree("schemas"),
}
"""What has to be there before some examples, by how they begin."""


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
@pytest.mark.covers("cli.examples")
@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_an_example_does_what_it_says(name: str, line: str, places: dict[str, str]) -> None:
    for beginning, prepare in FIRST.items():
        if line.startswith(beginning):
            prepare(places)
    words = [places.get(word, word) for word in shlex.split(line, comments=True)]
    if name in {"install", "init"}:
        words.append("--no-verify")  # whether the server starts is tried by their own tests
    if line == "schemory import CLAUDE.md":
        words.append("--yes")  # a person is asked
    if {"|", "<", ">"} & set(words) or "$(" in line:
        code, printed = shell(line)
    else:
        code, printed = run(*(os.path.expanduser(word) for word in words[1:]))  # noqa: PTH111 (as a shell)
    assert "internal error" not in printed
    assert "Traceback" not in printed
    allowed = {0, 1} if line.startswith(FINDINGS) else {0}
    assert code in allowed, (line, printed)
