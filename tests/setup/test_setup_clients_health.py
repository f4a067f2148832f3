"""The doctor's look at clients' files: entries that point nowhere."""

import os
import sys
from pathlib import Path

import pytest

from schemory.setup.clients.entry import Entry
from schemory.setup.clients.health import find_dead_entries
from schemory.setup.clients.job import Order, install
from schemory.setup.clients.local import this_machine
from schemory.setup.clients.places import Machine, user_files
from schemory.setup.clients.table import CLIENTS, find_client
from schemory.storage.keeping import Finding, Severity

NAMES = [client.name for client in CLIENTS]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return this_machine({"PATH": ""}, tmp_path / "home")


def _look(machine: Machine, project: str | None = None) -> tuple[Finding, ...]:
    return find_dead_entries(machine, project=project, which=lambda _name: None)


def _entry(command: str, *more: str) -> Entry:
    return Entry(command=command, args=("-P", "-m", "schemory", "serve", *more))


@pytest.mark.covers("setup.clients.health")
@pytest.mark.parametrize("name", NAMES)
def test_an_interpreter_that_is_gone_is_found_in_every_clients_file(
    name: str, machine: Machine, tmp_path: Path
) -> None:
    client = find_client(name)
    list(install([client], _entry(sys.executable), Order(name="schemory"), machine))
    assert _look(machine) == ()
    gone = str(tmp_path / "old venv" / "bin" / "python")
    force = Order(name="schemory", force=True)
    list(install([client], _entry(gone), force, machine))
    findings = _look(machine)
    assert len(findings) == len(user_files(client, machine))
    for finding in findings:
        assert finding.code == "client.command"
        assert finding.severity is Severity.WARNING
        assert client.title in finding.what
        assert gone in finding.what
        assert f"--client {name} --force" in finding.next_step


@pytest.mark.covers("setup.clients.health")
def test_folders_that_are_gone_are_found_in_a_projects_file_too(
    machine: Machine, tmp_path: Path
) -> None:
    project, schemas = tmp_path / "api", tmp_path / "schemas"
    project.mkdir()
    schemas.mkdir()
    entry = _entry(sys.executable, "--project", str(project), "--schemas", str(schemas))
    order = Order(name="schemory", project=str(project))
    list(install([find_client("cursor")], entry, order, machine))
    assert _look(machine, str(project)) == ()
    schemas.rmdir()
    (finding,) = _look(machine, str(project))
    assert finding.code == "client.schemas"
    assert f"--client cursor --project {project}" in finding.next_step
    list(install([find_client("zed")], entry, Order(name="mine"), machine))
    moved = project.rename(tmp_path / "moved")
    codes = [finding.code for finding in _look(machine, str(moved))]
    assert sorted(codes) == ["client.project"] * 2 + ["client.schemas"] * 2


@pytest.mark.covers("setup.clients.health")
def test_a_broken_file_is_a_finding_only_where_it_names_us(machine: Machine) -> None:
    file = Path(str(user_files(find_client("cursor"), machine)[0]))
    file.parent.mkdir(parents=True)
    file.write_text('{"mcpServers": {"other": }')
    assert _look(machine) == ()
    file.write_text('{"mcpServers": {"schemory": }')
    (finding,) = _look(machine)
    assert finding.code == "client.file"
    assert "line 1, column 29" in finding.what


@pytest.mark.covers("setup.clients.health")
def test_a_plain_command_is_looked_for_and_other_programs_entries_are_not(
    machine: Machine,
) -> None:
    file = Path(str(user_files(find_client("cursor"), machine)[0]))
    file.parent.mkdir(parents=True)
    file.write_text(
        '{"mcpServers": {"a": {"command": "uvx", "args": ["schemory", "serve"]},'
        ' "b": {"command": "/gone/node"}}}'
    )
    (finding,) = _look(machine)
    assert "uvx is gone" in finding.what
    found = find_dead_entries(machine, project=None, which=lambda name: f"{os.sep}bin{name}")
    assert found == ()


@pytest.mark.covers("setup.clients.health")
def test_a_file_is_looked_at_once_where_the_project_is_the_home_folder(machine: Machine) -> None:
    cursor = find_client("cursor")
    list(install([cursor], _entry("/gone/python"), Order(name="schemory"), machine))
    findings = _look(machine, project=machine.home)
    assert len(findings) == 1
    assert "--project" not in findings[0].next_step


@pytest.mark.covers("setup.clients.health")
def test_a_file_that_cannot_be_read_at_all_is_a_finding(machine: Machine) -> None:
    file = Path(machine.home) / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    with file.open("wb") as out:
        out.truncate(65 * 1024 * 1024)
    findings = _look(machine)
    assert [finding.code for finding in findings] == ["client.file"]


@pytest.mark.covers("setup.clients.health")
@pytest.mark.parametrize(
    ("name", "place", "text"),
    [
        ("claude-code", ".claude.json", '{"mcpServers": {}, "schemory": %s}'),
        ("codex", ".codex/config.toml", "schemory = %s"),
    ],
)
def test_a_number_beyond_pythons_limit_stops_neither_doctor_nor_install(
    name: str, place: str, text: str, machine: Machine
) -> None:
    file = Path(machine.home) / place
    file.parent.mkdir(parents=True, exist_ok=True)
    before = text % ("9" * 6000)
    file.write_text(before)
    findings = _look(machine)
    (outcome,) = install([find_client(name)], _entry("python"), Order(name="schemory"), machine)
    if name == "codex":
        assert [finding.code for finding in findings] == ["client.file"]
        assert outcome.fault is not None
        assert file.read_text() == before
    else:
        assert findings == ()
        assert outcome.fault is None
        assert "9" * 6000 in file.read_text()
