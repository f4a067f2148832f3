"""Refusals of the memory's commands name flags and commands, not tool arguments."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Runner


@pytest.mark.covers("cli.memory.hints")
def test_a_refusal_names_the_flag_that_allows_it(cli: "Runner", home: Path) -> None:
    added = cli("add", "A walrus.", "--scope", "a", "--topic", "t")
    entry_id = added.out.split()[1]
    refused = cli("delete", entry_id)
    assert refused.code == 1
    assert "Pass --yes" in refused.err
    assert "confirm=true" not in refused.err
    assert cli("export", "notes.json").code == 0
    again = cli("export", "notes.json")
    assert "Pass --overwrite" in again.err
    assert (home / "notes.json").is_file()
    missing = cli("show", "nope")
    assert "`schemory search`" in missing.err
    assert "--all-projects" in missing.err


@pytest.mark.covers("cli.memory.hints")
def test_a_moment_that_is_none_is_told_by_its_flag(cli: "Runner") -> None:
    for flag in ("--since", "--before"):
        told = cli("list", flag, "2026-13-45")
        assert told.err.startswith(f"error: {flag} must be how long ago")
        assert f"Say `{flag} 7d`" in told.err
    assert "Say `--since 7d`" in cli("handoff", "--since", "never").err
    for line in (
        ("nodes", "--limit", "-1"),
        ("list", "--limit", "x"),
        ("open", "a", "--neighbors", "-4"),
    ):
        told = cli(*line)
        assert told.code == 2
        assert "is not a whole number from 0" in told.err


@pytest.mark.covers("cli.memory.hints")
def test_a_warning_names_flags_and_commands_as_well(cli: "Runner") -> None:
    entry_id = cli("add", "A walrus.", "--scope", "a", "--topic", "t").out.split()[1]
    again = cli("add", "A walrus.", "--scope", "b", "--topic", "t")
    assert "`schemory edit` changes it, --no-dedupe writes a second entry" in again.err
    cli("archive", entry_id)
    assert "--archived takes it in" in cli("export", "notes.json").err
    edited = cli("edit", entry_id, "--title", "Tusks")
    assert "`schemory restore` makes it active again" in edited.err
    assert "but 1 archived does; --status any shows it" in cli("search", "walrus").err
    assert entry_id in cli("search", "walrus", "--status", "any").out


@pytest.mark.covers("cli.memory.hints")
def test_a_path_outside_is_told_with_what_a_person_can_set(
    cli: "Runner", home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_ALLOWED_ROOTS", str(home))
    cli("add", "A walrus.", "--scope", "a", "--topic", "t")
    for line in (("export", "/elsewhere.json"), ("import", "../e.json", "--project-id", "other")):
        told = cli(*line, "--on-conflict", "merge") if line[0] == "import" else cli(*line)
        assert told.code == 1
        assert "MEMORY_ALLOWED_ROOTS" in told.err
        assert "server" not in told.err
        assert "project_path" not in told.err
