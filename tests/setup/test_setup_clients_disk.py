"""Clients' files on disk: made, replaced, backed up, brought back, and left alone."""

import os
import stat
from pathlib import Path

import pytest

from schemory.errors import ConfigError, ConflictError, StoreReadonlyError, UnsupportedError
from schemory.setup.clients.client import System
from schemory.setup.clients.disk import BACKUP, apply_change, backups_of, read_file
from schemory.setup.clients.entry import Entry
from schemory.setup.clients.job import Order, install, standing, uninstall
from schemory.setup.clients.local import this_machine
from schemory.setup.clients.places import Machine
from schemory.setup.clients.plan import Change, Kind
from schemory.setup.clients.table import CLIENTS, find_client

ENTRY = Entry(command="/v/python", args=("-P", "-m", "schemory", "serve"))
NEWER = Entry(command="/w/python", args=("-P", "-m", "schemory", "serve"))
USER = Order(name="schemory")
LIVED_IN = b'{\n  "mcpServers": {\n    "a": {"command": "a"}\n  }\n}'

needs_posix = pytest.mark.skipif(os.name != "posix", reason="modes and links as POSIX has them")
needs_user = pytest.mark.skipif(
    os.name != "posix" or os.getuid() == 0, reason="root may write everywhere"
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return this_machine({"PATH": ""}, tmp_path)


def _cursor(machine: Machine) -> Path:
    return Path(machine.home) / ".cursor" / "mcp.json"


def _install(machine: Machine, entry: Entry = ENTRY, order: Order = USER) -> list[Kind | None]:
    outcomes = install([find_client("cursor")], entry, order, machine)
    return [each.change.kind if each.change else None for each in outcomes]


def _uninstall(machine: Machine, order: Order = USER) -> list[Kind | None]:
    outcomes = uninstall([find_client("cursor")], order, machine)
    return [each.change.kind if each.change else None for each in outcomes]


@pytest.mark.covers("setup.clients.disk", "setup.clients.uninstalled")
def test_a_file_is_made_with_its_folder_and_deleted_again(machine: Machine) -> None:
    file = _cursor(machine)
    assert _install(machine) == [Kind.CREATED]
    assert b"/v/python" in file.read_bytes()
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert _uninstall(machine) == [Kind.DELETED]
    assert list(file.parent.iterdir()) == []
    assert _uninstall(machine) == []


@pytest.mark.covers("setup.clients.disk", "setup.clients.uninstalled", "setup.clients.repeated")
def test_a_file_comes_back_byte_for_byte_and_its_backup_goes(machine: Machine) -> None:
    file = _cursor(machine)
    file.parent.mkdir()
    file.write_bytes(LIVED_IN)
    assert _install(machine) == [Kind.MERGED]
    backup = file.with_name(file.name + BACKUP)
    assert backup.read_bytes() == LIVED_IN
    before = file.stat()
    assert _install(machine) == [Kind.UNCHANGED]
    assert file.stat() == before
    assert backups_of(file) == [backup]
    assert _uninstall(machine) == [Kind.RESTORED]
    assert file.read_bytes() == LIVED_IN
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.covers("setup.clients.disk", "setup.clients.uninstalled")
def test_an_edit_made_meanwhile_stays_when_the_entry_is_taken_out(machine: Machine) -> None:
    file = _cursor(machine)
    file.parent.mkdir()
    file.write_bytes(LIVED_IN)
    _install(machine)
    file.write_bytes(file.read_bytes().replace(b'"a"}', b'"a", "args": []}'))
    assert _uninstall(machine) == [Kind.REMOVED]
    assert file.read_bytes() == LIVED_IN.replace(b'"a"}', b'"a", "args": []}')
    assert [backup.name for backup in backups_of(file)] == [
        "mcp.json.schemory-backup-2",
        "mcp.json.schemory-backup",
    ]


@pytest.mark.covers("setup.clients.disk", "setup.clients.conflict")
def test_an_entry_that_was_brought_up_to_date_is_still_undone_to_the_original(
    machine: Machine,
) -> None:
    file = _cursor(machine)
    file.parent.mkdir()
    file.write_bytes(LIVED_IN)
    _install(machine)
    (refused,) = install([find_client("cursor")], NEWER, USER, machine)
    assert isinstance(refused.fault, ConflictError)
    assert _install(machine, NEWER, Order(name="schemory", force=True)) == [Kind.REPLACED]
    assert len(backups_of(file)) == 2
    assert _uninstall(machine) == [Kind.RESTORED]
    assert file.read_bytes() == LIVED_IN
    assert backups_of(file) == []


@pytest.mark.covers("setup.clients.disk", "setup.clients.uninstalled")
def test_a_file_of_ours_that_was_brought_up_to_date_leaves_no_backup(machine: Machine) -> None:
    file = _cursor(machine)
    _install(machine)
    assert _install(machine, NEWER, Order(name="schemory", force=True)) == [Kind.REPLACED]
    assert _uninstall(machine) == [Kind.DELETED]
    assert list(file.parent.iterdir()) == []


@pytest.mark.covers("setup.clients.disk", "setup.clients.uninstalled")
def test_a_backup_that_keeps_more_than_an_entry_of_ours_stays(machine: Machine) -> None:
    file = _cursor(machine)
    file.parent.mkdir()
    file.write_bytes(LIVED_IN)
    _install(machine)
    edited = file.read_bytes().replace(b'"a"', b'"b"')
    file.write_bytes(edited)
    _install(machine, NEWER, Order(name="schemory", force=True))
    file.write_bytes(file.read_bytes().replace(b'"b"', b'"a"'))
    assert _uninstall(machine) == [Kind.RESTORED]
    (kept,) = backups_of(file)
    assert kept.read_bytes() == edited


@needs_posix
@pytest.mark.covers("setup.clients.disk")
def test_a_file_of_two_names_keeps_both(machine: Machine, tmp_path: Path) -> None:
    other = tmp_path / "dotfiles.json"
    other.write_bytes(LIVED_IN)
    other.chmod(0o640)
    file = _cursor(machine)
    file.parent.mkdir()
    file.hardlink_to(other)
    assert _install(machine) == [Kind.MERGED]
    assert b"schemory" in other.read_bytes()
    (backup,) = backups_of(file)
    assert backup.read_bytes() == LIVED_IN
    assert _uninstall(machine) == [Kind.RESTORED]  # which is shorter
    assert other.read_bytes() == LIVED_IN
    assert other.samefile(file)
    assert stat.S_IMODE(other.stat().st_mode) == 0o640


@needs_posix
@pytest.mark.covers("setup.clients.disk")
def test_mode_and_link_of_a_file_stay(machine: Machine, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_bytes(LIVED_IN)
    real.chmod(0o640)
    file = _cursor(machine)
    file.parent.mkdir()
    file.symlink_to(real)
    assert _install(machine) == [Kind.MERGED]
    assert file.is_symlink()
    assert b"schemory" in real.read_bytes()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    (backup,) = backups_of(file)
    assert backup.parent == file.parent
    assert stat.S_IMODE(backup.stat().st_mode) == 0o640
    assert _uninstall(machine) == [Kind.RESTORED]
    assert real.read_bytes() == LIVED_IN
    assert [path.name for path in real.parent.iterdir()] == ["cursor.json"]


@pytest.mark.covers("setup.clients.disk")
def test_a_change_that_another_program_made_meanwhile_is_not_lost(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(b"{}")
    change = Change(kind=Kind.MERGED, before=b"{ }", after=b"{1}")
    with pytest.raises(ConfigError, match="changed by another program"):
        apply_change(file, change)
    assert file.read_bytes() == b"{}"
    assert list(tmp_path.iterdir()) == [file]


@needs_user
@pytest.mark.covers("setup.clients.disk")
def test_a_folder_that_cannot_be_written_is_told_and_the_file_stays(machine: Machine) -> None:
    file = _cursor(machine)
    file.parent.mkdir()
    file.write_bytes(LIVED_IN)
    file.parent.chmod(0o500)
    (outcome,) = install([find_client("cursor")], ENTRY, USER, machine)
    file.parent.chmod(0o700)
    assert isinstance(outcome.fault, StoreReadonlyError)
    assert file.read_bytes() == LIVED_IN


@needs_posix
@pytest.mark.covers("setup.clients.broken")
def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"{}")
    for name, told in (("pipe", "regular"), ("lost", "leads nowhere"), ("file/x", "no folder")):
        with pytest.raises(ConfigError, match=told):
            read_file(tmp_path / name)
    assert read_file(tmp_path / "absent") is None


@pytest.mark.covers("setup.clients.broken")
def test_a_broken_file_is_untouched_and_the_other_clients_are_set_up(machine: Machine) -> None:
    file = _cursor(machine)
    file.parent.mkdir()
    file.write_bytes(b'{"mcpServers": {,}}')
    both = [find_client("cursor"), find_client("gemini")]
    broken, fine = install(both, ENTRY, USER, machine)
    assert isinstance(broken.fault, ConfigError)
    assert f"{file}:1:17" in broken.fault.problems[0].path
    assert file.read_bytes() == b'{"mcpServers": {,}}'
    assert list(file.parent.iterdir()) == [file]
    assert fine.change is not None
    assert fine.file.exists() if isinstance(fine.file, Path) else False


@pytest.mark.covers("setup.clients.disk")
def test_rehearsing_changes_nothing(machine: Machine) -> None:
    assert _install(machine, order=Order(name="schemory", is_dry=True)) == [Kind.CREATED]
    assert list(Path(machine.home).iterdir()) == []


@pytest.mark.covers("setup.clients.places", "setup.clients.uninstalled")
def test_a_project_gets_files_of_its_own_and_is_clean_afterwards(
    machine: Machine, tmp_path: Path
) -> None:
    project = tmp_path / "api server"
    project.mkdir()
    order = Order(name="schemory", project=str(project))
    outcomes = list(install(CLIENTS, ENTRY, order, machine))
    refused = [each.client.name for each in outcomes if isinstance(each.fault, UnsupportedError)]
    assert refused == ["claude-desktop", "cline"]
    made = sorted(path.relative_to(project).as_posix() for path in project.rglob("*.*"))
    assert ".mcp.json" in made
    assert ".codex/config.toml" in made
    assert ".junie/mcp/mcp.json" in made
    assert len([path for path in project.rglob("*") if path.is_file()]) == 10
    gone = list(uninstall(CLIENTS, order, machine))
    assert {each.change.kind for each in gone if each.change} == {Kind.DELETED}
    assert list(project.iterdir()) == []


@pytest.mark.covers("setup.clients.uninstalled")
def test_uninstalling_leaves_an_entry_of_another_program_alone(machine: Machine) -> None:
    file = _cursor(machine)
    file.parent.mkdir()
    foreign = b'{"mcpServers": {"schemory": {"command": "other"}}}'
    file.write_bytes(foreign)
    (outcome,) = uninstall([find_client("cursor")], USER, machine)
    assert isinstance(outcome.fault, ConflictError)
    assert file.read_bytes() == foreign
    assert _uninstall(machine, Order(name="schemory", force=True)) == [Kind.REMOVED]
    assert file.read_bytes() == b'{"mcpServers": {}}'


@pytest.mark.covers("cli.install")
def test_how_clients_stand_is_seen_by_their_files(machine: Machine) -> None:
    _install(machine, order=Order(name="other-name"))
    found = standing(find_client("cursor"), machine)
    assert found.is_installed
    assert [starts for _, starts in found.entries] == ["/v/python -P -m schemory serve"]
    assert not standing(find_client("gemini"), machine).entries
    assert machine.system in System


@needs_posix
@pytest.mark.covers("setup.clients.protected")
@pytest.mark.parametrize("is_dry", [True, False])
def test_a_file_that_somebody_write_protected_is_refused(machine: Machine, is_dry: bool) -> None:  # noqa: FBT001 (a case)
    file = _cursor(machine)
    file.parent.mkdir()
    file.write_bytes(LIVED_IN)
    file.chmod(0o444)
    order = Order(name="schemory", is_dry=is_dry)
    (outcome,) = install([find_client("cursor")], ENTRY, order, machine)
    assert isinstance(outcome.fault, StoreReadonlyError)
    assert "write-protected" in str(outcome.fault)
    assert file.read_bytes() == LIVED_IN
    assert list(file.parent.iterdir()) == [file]


@needs_posix
@pytest.mark.covers("setup.clients.protected")
def test_an_entry_in_a_protected_file_is_not_taken_out_and_that_is_told(machine: Machine) -> None:
    file = _cursor(machine)
    _install(machine)
    before = file.read_bytes()
    file.chmod(0o444)
    (outcome,) = uninstall([find_client("cursor")], USER, machine)
    assert isinstance(outcome.fault, StoreReadonlyError)
    assert file.read_bytes() == before


@pytest.mark.covers("setup.clients.uninstalled")
def test_uninstall_tells_of_a_file_that_it_could_not_read(machine: Machine) -> None:
    file = _cursor(machine)
    file.parent.mkdir()
    with file.open("wb") as out:
        out.truncate(65 * 1024 * 1024)
    (outcome,) = uninstall([find_client("cursor")], USER, machine)
    assert isinstance(outcome.fault, ConfigError)
    assert "larger than 64 MiB" in str(outcome.fault)
