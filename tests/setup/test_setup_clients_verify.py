"""Starting an entry to see whether it works, with real processes."""

import os
import sys
from pathlib import Path

import pytest

from schemory.setup.clients.entry import Entry, Variable
from schemory.setup.clients.verify import Trial, try_entry

SERVE = ("-P", "-m", "schemory", "serve")


def _environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ.get("PATH", ""), "MEMORY_TOOLS": "nonsense"}


def _try(home: Path, *args: str, env: tuple[Variable, ...] = (), seconds: float = 30) -> Trial:
    entry = Entry(command=sys.executable, args=args, env=env)
    return try_entry(entry, environ=_environ(home), folder=str(home), timeout_seconds=seconds)


@pytest.mark.covers("setup.clients.verify")
def test_a_working_entry_lists_its_tools_even_where_the_folder_has_modules_in_the_way(
    tmp_path: Path,
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('wrong json')\n")
    (tmp_path / "schemory.py").write_text("raise SystemExit('wrong schemory')\n")
    trial = _try(tmp_path, *SERVE)
    assert trial.fault is None
    assert trial.tools > 10
    assert trial.version
    unsafe = _try(tmp_path, *SERVE[1:])
    assert unsafe.fault is not None


@pytest.mark.covers("setup.clients.verify")
def test_variables_reach_the_server(tmp_path: Path) -> None:
    few = _try(tmp_path, *SERVE, env=(Variable("MEMORY_TOOLSET", "graph"),))
    many = _try(tmp_path, *SERVE)
    assert 0 < few.tools < many.tools
    wrong = _try(tmp_path, *SERVE, env=(Variable("MEMORY_TOOLS"),))
    assert "MEMORY_TOOLS is 'nonsense'" in (wrong.fault or "")
    missing = _try(tmp_path, *SERVE, env=(Variable("NOT_THERE"),))
    assert missing.fault == "NOT_THERE is not set, so there is nothing to hand on"


@pytest.mark.covers("setup.clients.verify")
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys; sys.exit('no such store')", "no such store"),
        ("print('hello')", "it said nothing"),
        ("print('[1]')", "it said nothing"),
        ('input(); print(\'{"id": 1, "error": {}}\')', "it said nothing"),
        ("import time; time.sleep(60)", "no answer within 1 seconds"),
    ],
)
def test_an_entry_that_does_not_work_is_told_and_ended(
    code: str, told: str, tmp_path: Path
) -> None:
    trial = _try(tmp_path, "-c", code, seconds=1 if "sleep" in code else 30)
    assert told in (trial.fault or "")


@pytest.mark.covers("setup.clients.verify")
def test_a_command_that_is_not_there_is_told(tmp_path: Path) -> None:
    entry = Entry(command=str(tmp_path / "gone"), args=())
    trial = try_entry(entry, environ={}, folder=str(tmp_path))
    assert "cannot be started" in (trial.fault or "")


@pytest.mark.covers("setup.clients.verify")
def test_a_server_that_will_not_end_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "stubborn.py"
    program.write_text(
        "import json, os, sys, time\n"
        "open('pid', 'w').write(str(os.getpid()))\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    answer = {'tools': [], 'serverInfo': {'version': '9'}}\n"
        "    if 'id' in asked:\n"
        "        print(json.dumps({'id': asked['id'], 'result': answer}), flush=True)\n"
        "time.sleep(60)\n"
    )
    trial = _try(tmp_path, str(program), seconds=2)
    assert trial == Trial(tools=0, version="9")
    if os.name == "posix":
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)
