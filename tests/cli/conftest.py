"""Runs command lines inside the test, in a home folder of their own."""

import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from schemory.cli.main import main
from schemory.cli.output import Output


@dataclass(frozen=True)
class Run:
    """What a command line did."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The JSON value on stdout."""
        return json.loads(self.out)


Runner: TypeAlias = Callable[..., Run]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder and home of the command lines."""
    for name in [name for name in os.environ if name.startswith("MEMORY_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Runs one command line; `stdin` is what it reads."""
    del home

    def run(*arguments: str, stdin: bytes = b"") -> Run:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        out, err = io.StringIO(), io.StringIO()
        code = main(arguments, Output(stdout=out, stderr=err))
        return Run(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def story(cli: Runner) -> Runner:
    """The same, on a store that holds three nodes and two edges."""
    nodes = [
        {"name": "Gandalf", "nodeType": "npc", "metadata": ["Role: Wizard", "Status: Active"]},
        {"name": "Rivendell", "nodeType": "location", "metadata": ["Atmosphere: hushed"]},
        {"name": "Bilbo", "nodeType": "npc", "metadata": []},
    ]
    edges = [
        {"from": "Gandalf", "to": "Rivendell", "edgeType": "located_in"},
        {"from": "Gandalf", "to": "Bilbo", "edgeType": "mentors", "weight": 0.5},
    ]
    assert cli("call", "add_nodes", json.dumps({"nodes": nodes})).code == 0
    assert cli("call", "add_edges", json.dumps({"edges": edges})).code == 0
    return cli
