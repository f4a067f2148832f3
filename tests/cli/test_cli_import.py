"""`import` from the command line: what it is, what it would do, and the way back."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_NOTE = "# Rules\n\n## Build\n\nRun `make`.\n\n## Test\n\nRun `make test`.\n"
_GRAPH = '{"type":"entity","name":"Ada","entityType":"person","observations":["wrote"]}\n'


@pytest.fixture
def note(home: Path) -> Path:
    """A file of notes in the project's folder."""
    path = home / "CLAUDE.md"
    path.write_text(_NOTE, encoding="utf-8")
    return path


@pytest.mark.covers("cli.import.plan")
def test_a_dry_run_shows_the_plan_and_writes_nothing(cli: Callable[..., Any], note: Path) -> None:
    done = cli("import", note.name, "--dry-run")
    assert done.code == 0
    assert done.out.splitlines()[:4] == [
        f"would import {note}",
        "as notes: CLAUDE.md is a file of notes for agents",
        "new        2",
        "unchanged  0",
    ]
    assert "CLAUDE.md:3  Build" in done.out
    assert cli("list", "--json").data["results"] == []


@pytest.mark.covers("cli.import.plan")
def test_without_an_answer_nothing_is_written_until_it_is_told_to(
    cli: Callable[..., Any], note: Path
) -> None:
    unasked = cli("import", note.name)
    assert (unasked.code, "would import" in unasked.out) == (2, True)
    assert "--yes" in unasked.err
    plan = cli("import", note.name, "--json")
    assert (plan.code, plan.data["written"], plan.data["changes"]) == (0, False, True)
    assert plan.data["projects"][0]["counts"]["new"] == 2
    assert [entry["place"] for entry in plan.data["entries"]] == ["CLAUDE.md:3", "CLAUDE.md:7"]
    done = cli("import", note.name, "--yes", "--json")
    assert (done.code, done.data["written"]) == (0, True)
    assert done.data["projects"][0]["transaction"] == 1
    again = cli("import", note.name, "--yes")
    assert (again.code, "nothing to import: all of it is here already" in again.out) == (0, True)


@pytest.mark.covers("cli.import.undo")
def test_the_command_that_is_shown_takes_the_import_back(
    cli: Callable[..., Any], note: Path
) -> None:
    done = cli("import", note.name, "--yes")
    shown = done.out.partition("`schemory ")[2].partition("`")[0].split()
    assert shown[:2] == ["undo", "1"]
    assert "2 entries inserted" in cli(*shown).out
    assert cli("list", "--json").data["results"] == []
    assert cli("import", note.name, "--yes").code == 0
    assert "2 entries inserted" in cli("undo", "3").out


@pytest.mark.covers("cli.import.undo")
def test_a_number_that_two_things_have_is_asked_back(cli: Callable[..., Any], note: Path) -> None:
    cli("import", note.name, "--yes")
    nodes = '{"nodes":[{"name":"A","nodeType":"t","metadata":[]}]}'
    assert cli("call", "add_nodes", nodes).code == 0
    both = cli("undo", "1")
    assert both.code == 2
    assert "`schemory undo 1 --graph`" in both.err
    assert "1 node inserted" in cli("undo", "1", "--graph").out
    assert "entries inserted" in cli("undo", "1").out or "--project-id" in cli("undo", "1").err


@pytest.mark.covers("cli.import.undo")
def test_an_import_is_not_undone_over_a_later_change(cli: Callable[..., Any], note: Path) -> None:
    cli("import", note.name, "--yes")
    entry_id = cli("list", "--json").data["results"][0]["id"]
    assert cli("edit", entry_id, "--title", "Mine").code == 0
    refused = cli("undo", "1", "--json")
    assert (refused.code != 0, refused.data["error_code"]) == (True, "UNDO_CONFLICT")


@pytest.mark.covers("cli.import.kinds")
def test_a_graph_file_goes_into_the_graph(cli: Callable[..., Any], home: Path) -> None:
    (home / "memory.jsonl").write_text(_GRAPH, encoding="utf-8")
    unasked = cli("import", "memory.jsonl")
    assert (unasked.code, "would import" in unasked.out) == (2, True)
    assert "has entities or nodes" in unasked.err
    assert cli("nodes", "--json").out.count("Ada") == 0
    done = cli("import", "--from", "memory-server", "memory.jsonl", "--yes", "--json")
    assert (done.data["nodes"], done.data["transaction"]) == (1, 1)
    assert cli("import", "--from", "graph", "memory.jsonl", "--dry-run").code == 0


@pytest.mark.covers("cli.import.kinds")
def test_an_export_goes_back_into_the_memory(cli: Callable[..., Any], note: Path) -> None:
    cli("import", note.name, "--yes")
    for name in ("out.json", "out.jsonl", "out.zip"):
        assert cli("export", name).code == 0
        told = cli("import", name, "--on-conflict", "merge", "--json")
        assert (told.code, told.data["counts"]["unchanged"]) == (0, 2)


@pytest.mark.covers("cli.import.kinds")
def test_a_kind_that_is_not_known_names_the_nearest(cli: Callable[..., Any], note: Path) -> None:
    wrong = cli("import", "--from", "basicmemory", note.name)
    assert (wrong.code, "--from basic-memory" in wrong.err) == (2, True)
    assert "mempalace" in cli("help", "import").out
    nothing = cli("import", "missing.md")
    assert (nothing.code != 0, "missing" in nothing.err or "no file" in nothing.err) == (True, True)


@pytest.mark.covers("cli.import.kinds")
def test_a_database_of_the_other_server_moves_to_the_projects_it_holds(
    cli: Callable[..., Any], home: Path
) -> None:
    path = home / "old" / "memory.sqlite"
    path.parent.mkdir()
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE projects (id TEXT PRIMARY KEY, canonical_path TEXT, created_at TEXT);
        CREATE TABLE schema_migrations (version INTEGER);
        CREATE TABLE memory_entries (id TEXT, project_id TEXT, scope TEXT, topic TEXT, content TEXT,
          source_type TEXT, status TEXT, created_at TEXT);
        INSERT INTO projects VALUES ('team/app', NULL, '2026-05-01T00:00:00Z');
        INSERT INTO memory_entries VALUES ('e1', 'team/app', 's', 't', 'Kept', 'decision', 'active',
          '2026-05-01T00:00:00Z');
    """)
    more = "INSERT INTO memory_entries SELECT ?, project_id, scope, topic, ?, source_type, status, "
    for number in range(6):
        db.execute(
            f"{more} created_at FROM memory_entries WHERE id = 'e1'",
            (f"m{number}", f"Rule {number}"),
        )
    db.commit()
    db.close()
    refused = cli("status", "--db", str(path))
    assert refused.code != 0
    start = refused.err.index("`schemory import") + len("`schemory ")
    command = refused.err[start:].partition("`")[0].split()
    plan = cli(*command, "--dry-run").out
    assert "new        7" in plan
    assert "more (" not in plan  # nothing of it is shown, so there is no rest to tell of
    done = cli(*command, "--yes", "--json")
    assert (done.code, done.data["kind"]) == (0, "memory-node")
    assert [part["project_id"] for part in done.data["projects"]] == ["team/app"]
    beside = command[command.index("--db") + 1]
    found = cli("search", "Kept", "--db", beside, "--project-id", "team/app", "--json")
    assert [hit["id"] for hit in found.data["results"]] == ["e1"]


@pytest.mark.covers("cli.import.secrets")
def test_a_credential_is_told_by_line_and_rule_with_what_goes_on(
    cli: Callable[..., Any], note: Path
) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"
    note.write_text(f"{_NOTE}\n## Key\n\n{token}\n", encoding="utf-8")
    for flags in ((), ("--dry-run",), ("--yes",)):
        refused = cli("import", note.name, *flags)
        assert refused.code == 1
        assert "CLAUDE.md:13" in refused.err
        assert "github-token" in refused.err
        assert "--skip-secrets" in refused.err
        assert token not in refused.out + refused.err
    done = cli("import", note.name, "--skip-secrets", "--yes")
    assert done.code == 1  # a finding: something was left out
    assert "left out   1" in done.out
    both = cli("import", note.name, "--skip-secrets", "--allow-secret", "--yes")
    assert (both.code, "exclude each other" in both.err) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.covers("cli.import.plan")
@pytest.mark.parametrize(("answer", "stored"), [("y\n", 2), ("n\n", 0)])
def test_a_terminal_is_asked(
    cli: Callable[..., Any], note: Path, home: Path, answer: str, stored: int
) -> None:
    import pty  # noqa: PLC0415 (not on every system)

    terminal, far_end = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "schemory", "import", note.name],
        cwd=home,
        env={"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "dumb"},
        stdin=far_end,
        stdout=far_end,
        stderr=far_end,
    )
    os.close(far_end)
    shown = _converse(terminal, answer)
    assert program.wait(60) == (0 if stored else 2)
    assert ("takes it back" in shown) == bool(stored)
    assert len(cli("list", "--json").data["results"]) == stored


def _converse(terminal: int, answer: str) -> str:
    """Answer the question once it is asked, and return all that was shown."""
    shown, is_answered = b"", False
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if b"[y/N]" in shown and not is_answered:
            os.write(terminal, answer.encode())
            is_answered = True
    os.close(terminal)
    return shown.decode()


@pytest.mark.covers("cli.import.plan")
def test_a_plan_is_one_json_value_with_all_its_evidence(
    cli: Callable[..., Any], home: Path
) -> None:
    folder = home / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\n\u200btext\n\n## B\n\nTODO\n", encoding="utf-8")
    (folder / "b.md").write_bytes(b"# B\n\n\xff\n")
    done = cli("import", "--from", "markdown", "docs", "--json")
    assert done.code == 1  # a finding: one file could not be read
    plan = json.loads(done.out)
    assert plan["removed_characters"] == {"U+200B ZERO WIDTH SPACE": 1}
    assert plan["junk"] == {"placeholders": 1}
    assert [each["place"] for each in plan["refused"]] == ["b.md"]


@pytest.mark.covers("cli.import.plan")
@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_file_is_told_to_be_empty(cli: Callable[..., Any], home: Path, text: str) -> None:
    (home / "memory.json").write_text(text, encoding="utf-8")
    done = cli("import", "memory.json", "--yes")
    assert done.code == 1
    assert "memory.json is empty: there is nothing to import" in done.err
    assert "--from" not in done.err


@pytest.mark.covers("cli.import.plan")
def test_a_folder_with_a_graph_file_leads_to_that_file(cli: Callable[..., Any], home: Path) -> None:
    folder = home / "data"
    folder.mkdir()
    (folder / "memory.json").write_text(_GRAPH, encoding="utf-8")
    done = cli("import", "data", "--yes")
    assert done.code == 1
    first = next(line for line in done.err.splitlines() if line.startswith("try:"))
    assert str(folder / "memory.json") in first


@pytest.mark.covers("cli.import.plan")
def test_what_is_not_shown_is_counted_in_full(cli: Callable[..., Any], home: Path) -> None:
    text = "# Rules\n\n" + "\n\n".join(f"## Rule {n}\n\nMind {n * 7}." for n in range(230))
    (home / "CLAUDE.md").write_text(text, encoding="utf-8")
    done = cli("import", "CLAUDE.md", "--dry-run")
    assert "new        230" in done.out
    assert "… and 225 more (the first 200 with --json)" in done.out
    assert len(cli("import", "CLAUDE.md", "--dry-run", "--json").data["entries"]) == 200


@pytest.mark.covers("cli.terminal.safe")
@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not allow")
def test_a_files_name_cannot_drive_the_terminal(cli: Callable[..., Any], home: Path) -> None:
    folder = home / "no\x1b[31mtes"
    folder.mkdir()
    (folder / "a\nimported everything.md").write_text("# A\n\nText.\n", encoding="utf-8")
    done = cli("import", folder.name, "--yes")
    assert "no\\x1b[31mtes" in done.out
    assert "\x1b" not in done.out + done.err
    assert "imported everything.md:1" not in [line.split("  ")[0] for line in done.out.splitlines()]


@pytest.mark.covers("cli.import.plan")
def test_an_empty_path_is_not_the_current_folder(
    cli: Callable[..., Any],
    note: Path,
) -> None:
    del note
    done = cli("import", "", "--yes")
    assert (done.code, "PATH is empty" in done.err) == (2, True)
    assert cli("list", "--json").data["results"] == []
