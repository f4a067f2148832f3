"""Looking after the store from the command line: doctor, backup, restore, vacuum, migrate."""

import io
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

import schemory
from schemory.cli.command import make_parser
from schemory.cli.main import all_commands, find_command, main
from schemory.cli.output import Output
from schemory.storage.sqlite.migrate import LATEST


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


STORE = ".mcp-servers/memory/memory.sqlite"
SOURCE = Path(schemory.__file__).parent


def codes(run: Any) -> list[str]:
    return [finding["code"] for finding in run.data["findings"]]


@pytest.mark.covers("cli.doctor")
def test_a_fresh_start_is_well_and_the_doctor_makes_nothing(
    cli: Callable[..., Any], home: Path
) -> None:
    done = cli("doctor")
    assert (done.code, done.err) == (0, "")
    assert "not there yet" in done.out
    assert "all is well" in done.out
    assert list(home.iterdir()) == []


@pytest.mark.covers("cli.doctor")
def test_a_default_that_cannot_be_used_is_told(cli: Callable[..., Any], home: Path) -> None:
    (home / ".env").write_text(f"MEMORY_SCOPE_DEFAULT={'x' * 121}\n")
    done = cli("doctor", "--json")
    assert done.code == 1
    (found,) = done.data["findings"]
    assert found["code"] == "settings"
    assert "MEMORY_SCOPE_DEFAULT is ignored" in found["what"]


@pytest.mark.covers("cli.doctor")
def test_a_store_in_use_is_well_and_its_tools_are_counted(
    story: Callable[..., Any], home: Path
) -> None:
    done = story("doctor", "--json")
    assert (done.code, done.data["healthy"], done.data["findings"]) == (0, True, [])
    assert done.data["stores"][0]["location"] == str(home / STORE)
    price = story("status", "--json").data["tools"]
    assert done.data["tools"] == {k: price[k] for k in ("count", "approxTokens")}


@pytest.mark.covers("cli.doctor")
def test_what_search_says_about_a_damaged_index_is_true(
    story: Callable[..., Any], home: Path
) -> None:
    with closing(apsw.Connection(str(home / STORE))) as db:
        db.execute("DELETE FROM node_index_1_data WHERE id > 10")
    found = story("find", "wizard", "--json")
    assert "schemory doctor --fix" in found.out + found.err
    bad = story("doctor")
    assert bad.code == 1
    assert "[index.graph]" in bad.out
    assert "mends 1 of them" in bad.err
    mended = story("doctor", "--fix", "--json")
    assert (mended.code, mended.data["findings"], len(mended.data["fixed"])) == (0, [], 1)
    again = story("find", "wizard", "--json")
    assert "doctor" not in again.out + again.err
    assert "Gandalf" in again.out


@pytest.mark.skipif(os.name != "posix", reason="modes as POSIX has them")
@pytest.mark.covers("cli.doctor")
def test_the_own_folder_is_closed_and_a_foreign_one_is_not(
    story: Callable[..., Any], home: Path
) -> None:
    folder = (home / STORE).parent
    folder.chmod(0o755)
    (home / STORE).chmod(0o644)
    assert codes(story("doctor", "--json")) == ["file.permissions", "folder.permissions"]
    assert story("doctor", "--fix").code == 0
    folder.chmod(0o755)
    assert story("doctor", "--db", str(home / STORE)).code == 0


@pytest.mark.covers("cli.doctor")
def test_an_unusable_store_gives_exit_code_3_and_the_way_on(
    cli: Callable[..., Any], home: Path
) -> None:
    (home / "notes.txt").write_text("no database", encoding="utf-8")
    done = cli("doctor", "--db", "notes.txt")
    assert done.code == 3
    assert "fatal:" in done.out
    assert "--graph-file" in done.out
    assert cli("doctor", "--db", "notes.txt", "--fix", "--json").data["usable"] is False
    assert (home / "notes.txt").read_text(encoding="utf-8") == "no database"


@pytest.mark.covers("cli.doctor")
def test_graph_files_schemas_and_long_tool_lists_are_looked_over(
    cli: Callable[..., Any], home: Path
) -> None:
    (home / "memory.jsonl").write_text('<<<<<<< a\n{"type":"node","na\n', encoding="utf-8")
    (home / "schemas").mkdir()
    (home / "schemas" / "x.schema.json").write_text("{", encoding="utf-8")
    done = cli(
        "doctor", "--json", "--graph-file", "memory.jsonl", "--schemas", "schemas", "--pack", "rpg"
    )
    assert done.code == 1
    assert {"graph-file.lines", "graph-file.conflict", "schema.fault", "tools.many"} == set(
        codes(done)
    )
    assert sorted(each.name for each in home.iterdir()) == ["memory.jsonl", "schemas"]


@pytest.mark.covers("cli.backup")
def test_a_backup_and_a_restore_from_the_command_line(
    story: Callable[..., Any], home: Path
) -> None:
    made = story("backup", "b.sqlite", "--json")
    assert made.code == 0
    assert (made.data["verified"], made.data["counts"]["nodes"]) == (True, 3)
    story("call", "delete_nodes", json.dumps({"nodeNames": ["Bilbo"]}))
    assert story("nodes", "--json").out.count('"name"') == 2
    done = story("restore", "b.sqlite")
    assert done.code == 0
    assert ".before-restore-" in done.err
    assert story("nodes", "--json").out.count('"name"') == 3
    assert story("doctor").code == 0
    assert story("restore", "nowhere.sqlite", "--json").code == 3
    assert story("backup", str(home)).code == 1


@pytest.mark.covers("cli.backup")
def test_vacuum_and_migrate_say_what_they_did(story: Callable[..., Any]) -> None:
    tidied = story("vacuum", "--json").data
    assert 0 < tidied["bytesAfter"] <= tidied["bytesBefore"]
    assert "already" in story("migrate").out
    assert story("migrate", "--json").data["versionBefore"] == LATEST
    assert story("vacuum", "--db", "nowhere.sqlite").code == 3
    assert story("vacuum", "--graph-file", "g.jsonl").code == 1
    assert story("backup", "b", "--db", ":memory:").code == 1


@pytest.mark.covers("cli.backup")
def test_on_a_terminal_a_restore_asks_first(
    story: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    story("backup", "b.sqlite")
    for answer, code in (("\n", 2), ("y\n", 0)):
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        out = Output(stdout=Terminal(), stderr=Terminal(), is_terminal=True)
        assert main(["restore", "b.sqlite"], out) == code


@pytest.mark.covers("cli.hints")
def test_every_hint_about_the_care_of_the_store_can_be_typed() -> None:
    ours = {"doctor", "backup", "restore", "vacuum", "migrate"}
    hints = {
        hint
        for module in SOURCE.rglob("*.py")
        for hint in re.findall(
            r"schemory ((?:doctor|backup|restore|vacuum|migrate)[^`\"']*)`",
            module.read_text(encoding="utf-8"),
        )
    }
    assert "doctor --fix" in hints
    assert {hint.split()[0] for hint in hints} <= ours
    for hint in hints:
        name, *rest = hint.split()
        parser = make_parser(find_command(name))
        if rest:  # else the hint only names the command
            parser.parse_args(rest)
    assert ours <= {command.name for command in all_commands()}
