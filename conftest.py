"""Examples in documents and docstrings are tests: files are written, sessions held, compared."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from typing import Any

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.rest import DocTestParser

_FENCE = re.compile(
    r"^```(?P<language>[a-z]+)(?: title=(?P<title>\S+))?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_TIMEOUT_SECONDS = 120


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let golden files be written anew; their difference is then reviewed like any change."""
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew")


def _fenced_blocks(document: Document) -> Iterator[Region]:
    """Yield files to write (a block with a title) and shell sessions to hold (`console`)."""
    for match in _FENCE.finditer(document.text):
        parsed = (match["title"], match["body"])
        if match["title"]:
            yield Region(match.start(), match.end(), parsed, _write_file)
        elif match["language"] == "console":
            yield Region(match.start(), match.end(), parsed, _hold_session)


def _write_file(example: Example) -> None:
    title, body = example.parsed
    file = Path(title)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(body, encoding="utf-8")


def _hold_session(example: Example) -> str | None:
    for command, wanted in _commands(example.parsed[1]):
        done = subprocess.run(  # noqa: S602 (the documents are ours)
            command,
            shell=True,
            executable="/bin/bash",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=_TIMEOUT_SECONDS,
            env=_environment(),
            check=False,
        )
        if not OutputChecker().check_output(wanted, done.stdout, ELLIPSIS):
            return f"$ {command}\nexpected:\n{wanted}\ngot:\n{done.stdout}"
    return None


def _commands(body: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        count = 1
        while lines[count - 1].endswith("\\\n"):
            count += 1
        # Dots at the end of a line stand for the line's end too: long lines can be broken.
        wanted = "".join(lines[count:]).replace("...\n", "...")
        yield "".join(lines[:count]).rstrip("\n"), wanted


def _environment() -> dict[str, str]:
    here = str(Path.cwd())
    programs = str(Path(sys.executable).parent)
    path = os.pathsep.join([programs, os.environ.get("PATH", "")])
    return {"PATH": path, "HOME": here, "LC_ALL": "C.UTF-8"}


def _enter_folder(namespace: dict[str, Any]) -> None:
    namespace["_before"] = Path.cwd()
    namespace["_folder"] = tempfile.TemporaryDirectory(prefix="schemory-docs-")
    os.chdir(namespace["_folder"].name)


def _leave_folder(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_before"])
    namespace["_folder"].cleanup()


pytest_collect_file = (
    Sybil(
        parsers=[DocTestParser(optionflags=ELLIPSIS), _fenced_blocks],
        patterns=["*.md"],
        setup=_enter_folder,
        teardown=_leave_folder,
    )
    + Sybil(
        parsers=[DocTestParser(optionflags=ELLIPSIS)],
        patterns=["*.py"],
        path="src",
        document_types={".py": PythonDocStringDocument},
    )
).pytest()
