"""The memory from the command line: everything the tools do, for people and for programs."""

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from schemory.cli.main import main
from schemory.cli.memory_draft import draft_of, fields_of
from schemory.cli.output import Output
from schemory.errors import UsageError


@pytest.fixture
def notes(cli: Callable[..., Any], home: Path) -> Callable[..., Any]:
    """Runs a command line in a folder of its own, beside the store."""
    del home
    return cli


def added(notes: Callable[..., Any], text: str, *more: str) -> str:
    done = notes("add", text, "--scope", "backend", "--topic", "http", *more, "--json")
    assert done.code == 0, done.err
    return str(done.data["entry_id"])


@pytest.mark.covers("cli.memory.add")
def test_an_entry_is_added_found_and_shown(notes: Callable[..., Any]) -> None:
    entry_id = added(notes, "Retry only on 429", "--type", "decision", "--tag", "Net")
    found = notes("search", "retry")
    assert found.code == 0
    assert found.out.split("\t")[0] == entry_id
    shown = notes("show", entry_id)
    for word in ("Retry only on 429", "decision", "net", "backend / http"):
        assert word in shown.out
    assert notes("show", entry_id, "--json").data["entry"]["created_by"] == "cli"


@pytest.mark.covers("cli.memory.add")
def test_standard_input_is_stored_byte_for_byte(notes: Callable[..., Any]) -> None:
    text = "é first\r\nsecond\t\n"
    done = notes("add", "-", "--scope", "s", "--topic", "t", "--json", stdin=text.encode())
    read = notes("show", done.data["entry_id"], "--json").data
    assert read["entry"]["content"] == text
    bad = notes("add", "-", "--scope", "s", "--topic", "t", stdin=b"\xff\xfe")
    assert (bad.code, "UTF-8" in bad.err) == (2, True)


@pytest.mark.covers("cli.memory.add")
def test_the_same_text_is_kept_once(notes: Callable[..., Any]) -> None:
    entry_id = added(notes, "Once")
    again = notes("add", "Once", "--scope", "backend", "--topic", "http")
    assert again.out == f"there already: {entry_id}\n"
    assert added(notes, "Once", "--no-dedupe") != entry_id


@pytest.fixture
def known(notes: Callable[..., Any], home: Path) -> Callable[..., Any]:
    """Runs a command line where three entries have ids that we know."""
    entries = [
        {
            "id": f"{beginning}-7a4b-7c31-9d2e-5f60718293a4",
            "scope": "s",
            "topic": "t",
            "content": f"Content of {beginning}.",
            "source_type": "decision",
            "created_at": "2026-03-01T10:00:00.000Z",
        }
        for beginning in ("aaaa0001", "aaaa0002", "bbbb0003")
    ]
    file = home / "known.json"
    envelope = {"format": "memory-node.project-export", "version": 1, "entries": entries}
    file.write_text(json.dumps({**envelope, "tags": [], "links": []}))
    done = notes("import", str(file))
    assert done.code == 0, done.err
    return notes


@pytest.mark.covers("cli.memory.id_beginning")
def test_the_beginning_of_an_id_names_its_entry(known: Callable[..., Any]) -> None:
    whole = "bbbb0003-7a4b-7c31-9d2e-5f60718293a4"
    assert "Content of bbbb0003" in known("show", "bbbb00").out
    assert "Content of bbbb0003" in known("show", "bbbb0003-7a4b", "--all-projects").out
    assert known("edit", "bbbb00", "--importance", "5").code == 0
    for verb, status in (
        ("invalidate", "invalidated"),
        ("restore", "active"),
        ("archive", "archived"),
    ):
        assert known(verb, "bbbb0003").out.startswith(f"{whole} is {status}"), verb
    linked = known("link", "bbbb00", "explains", "aaaa0002").out
    assert linked == f"linked: {whole} explains aaaa0002-7a4b-7c31-9d2e-5f60718293a4\n"
    assert "explains" in known("link", "bbbb00").out
    assert known("link", "--remove", "bbbb00", "explains", "aaaa0002").out.startswith("unlinked")
    assert known("delete", "bbbb00", "--yes").out == f"deleted {whole}\n"
    assert known("show", whole).code == 1


@pytest.mark.covers("cli.memory.id_beginning")
def test_a_beginning_of_several_ids_lists_them_without_their_contents(
    known: Callable[..., Any],
) -> None:
    done = known("delete", "aaaa00", "--yes")
    assert done.code == 1
    for number in (1, 2):
        assert f"aaaa000{number}-7a4b-7c31-9d2e-5f60718293a4 (decision, 2026-03-01)" in done.err
    assert "Content" not in done.err
    assert known("show", "aaaa0001").code == 0


@pytest.mark.covers("cli.memory.id_beginning")
@pytest.mark.parametrize("text", ["bbbb0", "cccc0001", "bbbb0003%", "BBBB0003"])
def test_what_begins_no_id_is_not_found_and_says_what_to_do(
    known: Callable[..., Any], text: str
) -> None:
    done = known("show", text)
    assert done.code == 1
    assert f"holds no entry '{text}'" in done.err
    assert "`schemory search` finds entries" in done.err


@pytest.mark.covers("cli.memory.named_file")
@pytest.mark.parametrize("project", [(), ("--project-id", "p")])
def test_a_file_that_a_person_names_may_lie_anywhere(
    notes: Callable[..., Any],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    project: tuple[str, ...],
) -> None:
    work, elsewhere = home / "work", home / "elsewhere"
    work.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(work)
    added(notes, "Kept.", *project)
    file = str(elsewhere / "out.json")
    assert notes("export", file, *project).code == 0
    assert notes("import", file, "--on-conflict", "merge", *project).code == 0
    assert notes("import", "../elsewhere/out.json", "--project-id", "other").code == 0
    monkeypatch.setenv("MEMORY_ALLOWED_ROOTS", str(work))
    assert notes("export", str(elsewhere / "more.json"), *project).code == 1
    assert [path.name for path in elsewhere.iterdir()] == ["out.json"]


@pytest.mark.covers("cli.memory.exit_codes")
def test_exit_codes_tell_found_refused_and_misused(notes: Callable[..., Any]) -> None:
    assert notes("search", "zebra").code == 1
    assert notes("show", "nope").code == 1
    assert notes("add", "text without a topic", "--scope", "s").code == 2
    assert notes("add").code == 2
    assert notes("add", "x", "--topic", "t", "--type", "nonsense").code == 2
    assert notes("list", "--db", "/proc/nowhere/x.sqlite").code == 3


@pytest.mark.covers("cli.memory.json")
def test_programs_get_the_tools_own_shapes(notes: Callable[..., Any]) -> None:
    added(notes, "Known")
    assert notes("list", "--json").data["results"][0]["snippet"] == "Known"
    assert notes("list", "scopes", "--json").data["items"] == [{"name": "backend", "count": 1}]
    refused = notes("show", "nope", "--json")
    assert refused.code == 1
    assert refused.data["ok"] is False
    assert refused.data["error_code"] == "NOT_FOUND"


@pytest.mark.covers("cli.memory.list")
def test_lists_are_narrowed_and_counted(notes: Callable[..., Any]) -> None:
    for number in range(3):
        added(notes, f"note {number}", "--tag", "x" if number else "y")
    assert notes("list", "--tag", "x").err.startswith("2 entries")
    assert notes("list", "--limit", "1").err == "1 entry; --limit shows more\n"
    assert len(notes("list", "--limit", "0").out.splitlines()) == 3
    assert notes("list", "tags").out == "x\t2\ny\t1\n"


@pytest.mark.covers("cli.memory.list")
def test_a_long_list_is_gathered_from_all_its_pages(notes: Callable[..., Any]) -> None:
    for number in range(60):
        added(notes, f"common note {number}")
    ids = [hit["id"] for hit in notes("list", "--limit", "0", "--json").data["results"]]
    assert len(set(ids)) == len(ids) == 60
    assert len(notes("search", "common", "--limit", "55", "--json").data["results"]) == 55


@pytest.mark.covers("cli.memory.edit")
def test_an_entry_is_changed_by_flags(notes: Callable[..., Any]) -> None:
    entry_id = added(notes, "Before", "--title", "T")
    done = notes("edit", entry_id, "--content", "After", "--importance", "5", "--clear", "title")
    assert (done.code, "revision 2" in done.out) == (0, True)
    entry = notes("show", entry_id, "--history", "--json").data
    assert entry["entry"]["content"] == "After"
    assert "title" not in entry["entry"]
    assert entry["history"][0]["content"] == "Before"
    assert "Before" in notes("show", entry_id, "--history").out


@pytest.mark.covers("cli.memory.lifecycle")
def test_an_entry_goes_through_its_life(notes: Callable[..., Any]) -> None:
    entry_id = added(notes, "Mortal")
    assert "invalidated (was active)" in notes("invalidate", entry_id, "--reason", "no").out
    assert "(as before)" in notes("invalidate", entry_id).out
    assert "active (was invalidated)" in notes("restore", entry_id).out
    assert "archived" in notes("archive", entry_id).out
    assert notes("restore", "--entry", entry_id).code == 0
    assert notes("delete", entry_id).code == 1
    assert notes("show", entry_id).code == 0
    assert notes("delete", entry_id, "--yes").code == 0
    assert notes("show", entry_id).code == 1


@pytest.mark.covers("cli.memory.link")
def test_entries_are_linked_listed_and_unlinked(notes: Callable[..., Any]) -> None:
    old, new = added(notes, "Old way"), added(notes, "New way")
    assert notes("link", new, "supersedes", old).out == f"linked: {new} supersedes {old}\n"
    assert notes("link", new, "supersedes", old).out.startswith("linked already")
    listed = notes("link", new, "--json").data["links"]
    assert [link["target_entry_id"] for link in listed] == [old]
    assert "superseded" in notes("show", old, "--links").out
    assert notes("link", "--remove", listed[0]["link_id"]).out.startswith("unlinked")
    assert notes("link", new, "supersedes").code == 2


@pytest.mark.covers("cli.memory.brief")
def test_a_brief_says_what_there_is_or_that_there_is_nothing(notes: Callable[..., Any]) -> None:
    assert "It is empty" in notes("brief").out
    entry_id = added(notes, "Ship on Tuesdays", "--type", "decision")
    told = notes("brief").out
    assert entry_id in told
    assert "Ship on Tuesdays" in told
    assert "never instructions" in told
    assert notes("brief", "--json").data["counts"]["active"] == 1
    assert entry_id in notes("handoff", "--since", "24h").out
    assert notes("handoff", "--since", "soon").code == 1


@pytest.mark.covers("cli.memory.transfer")
def test_a_project_is_exported_and_imported(notes: Callable[..., Any], home: Path) -> None:
    entry_id = added(notes, "Portable")
    assert notes("export", "m.jsonl").code == 0
    assert json.loads((home / "m.jsonl").read_text().splitlines()[-1])
    assert notes("export", "m.jsonl").code == 1
    assert notes("export", "m.jsonl", "--overwrite").code == 0
    assert notes("export", "m.zip", "--json").data["format"] == "zip"
    assert notes("delete", entry_id, "--yes").code == 0
    assert notes("import", "m.jsonl", "--dry-run", "--json").data["counts"]["inserted"] == 1
    assert notes("show", entry_id).code == 1
    assert notes("import", "m.jsonl").code == 0
    assert notes("import", "m.jsonl").code == 1
    assert notes("import", "m.jsonl", "--on-conflict", "merge").code == 0
    assert notes("import", "m.jsonl", "--on-conflict", "replace").code == 1
    replaced = notes("import", "m.jsonl", "--on-conflict", "replace", "--yes", "--json").data
    assert Path(replaced["backup_path"]).is_file()


@pytest.mark.covers("cli.memory.transfer")
def test_an_export_makes_no_file_called_like_standard_output(
    notes: Callable[..., Any], home: Path
) -> None:
    done = notes("export", "-")
    assert done.code == 2
    assert "schemory export memory.json" in done.err
    assert not (home / "-").exists()


@pytest.mark.covers("cli.memory.transfer")
def test_each_fault_of_a_file_is_said_once_with_its_place(
    notes: Callable[..., Any], home: Path
) -> None:
    entry = {"id": "a", "scope": "s", "topic": "t", "content": "Text.", "source_type": "decsion"}
    head = {"format": "memory-node.project-export", "version": 1, "entries": [entry]}
    (home / "bad.json").write_text(json.dumps(head))
    lines = notes("import", "bad.json").err.splitlines()
    assert lines[1].startswith("  $.entries[0].source_type source_type must be one of ")
    assert lines[2] == "    nearest: 'decision'"
    assert lines[3].startswith("  $.entries[0].created_at created_at is required")
    (home / "bad.json").write_text(json.dumps({**head, "version": 7, "entries": []}))
    assert notes("import", "bad.json").err.count("the file has version 7") == 1


@pytest.mark.covers("cli.memory.audit")
def test_the_audit_is_listed_and_pruned(notes: Callable[..., Any]) -> None:
    added(notes, "vermilion")
    notes("delete", "nope", "--yes")
    rows = notes("audit", "--json").data["rows"]
    assert [row["operation"] for row in rows] == ["memory_add_entry", "memory_delete_entry"]
    assert "vermilion" not in json.dumps(rows)
    assert "NOT_FOUND" in notes("audit").out
    assert len(notes("audit", "--limit", "1", "--json").data["rows"]) == 1
    assert notes("audit", "--unresolved", "--json").data["rows"] == []
    assert notes("audit", "prune").code == 2
    assert notes("audit", "prune", "--before", "1d").code == 2
    assert notes("audit", "prune", "--before", "1d", "--yes", "--json").data["pruned"] == 0
    assert len(notes("audit", "--json").data["rows"]) == 2


@pytest.mark.covers("cli.memory.project")
def test_the_current_folder_is_the_project_unless_one_is_named(
    notes: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = notes("add", "Here", "--scope", "s", "--topic", "t", "--json").data
    assert here["project"]["resolved_by"] == "path"
    (home / "other").mkdir()
    monkeypatch.chdir(home / "other")
    assert notes("list").out == ""
    assert "Here" in notes("list", "--project-id", here["project_id"]).out
    assert "Here" in notes("list", "--project", str(home)).out
    assert "Here" in notes("search", "here", "--all-projects").out
    assert "Here" in notes("show", here["entry_id"], "--all-projects").out
    projects = notes("projects", "--json").data["projects"]
    assert [each["id"] for each in projects] == [here["project_id"]]
    monkeypatch.setenv("MEMORY_PROJECT_ID", "team/app")
    assert notes("add", "There", "--scope", "s", "--topic", "t", "--json").data["project_id"] == (
        "team/app"
    )


@pytest.mark.covers("cli.memory.status")
def test_the_status_tells_of_both_halves(notes: Callable[..., Any], home: Path) -> None:
    assert "empty (pathhash:" in notes("status").out
    entry_id = added(notes, "Known")
    added(notes, "Known too")
    notes("archive", entry_id)
    told = notes("status", "--json").data
    assert (told["memory"]["entries"], told["memory"]["archived"]) == (2, 1)
    assert told["graph"]["nodes"] == 0
    assert "1 active, 1 archived (pathhash:" in notes("status").out
    assert notes("status", "--graph-file", str(home / "g.jsonl"), "--json").data["memory"] is None


@pytest.mark.covers("cli.memory.status.warnings")
def test_the_status_tells_what_is_wrong_with_the_memory(
    notes: Callable[..., Any], home: Path
) -> None:
    added(notes, "Known")
    assert notes("status", "--json").data["memory"]["index"] == "sound"
    database = apsw.Connection(str(home / ".mcp-servers" / "memory" / "memory.sqlite"))
    database.execute("DROP TABLE memory_index_1")
    database.close()
    (home / ".env").write_text("MEMORY_DB_PATH=/elsewhere\n")
    told = notes("status", "--json").data
    assert told["memory"]["index"] == "damaged"
    assert any("index is damaged or missing" in each for each in told["warnings"])
    shown = notes("status").out
    assert "`schemory doctor --fix` mends it" in shown
    assert "MEMORY_DB_PATH in the project's .env is not taken from there" in shown


class Terminal:
    """Standard input and output of a person at a terminal."""

    def __init__(self, notes: Callable[..., Any]) -> None:
        self._notes = notes

    def __call__(self, *arguments: str, types: str = "") -> tuple[int, str, str]:
        import io  # noqa: PLC0415 (only here)

        class Stream(io.StringIO):
            def isatty(self) -> bool:
                return True

        out, err = Stream(), Stream()
        before, sys.stdin = sys.stdin, Stream(types)
        try:
            code = main(arguments, Output(stdout=out, stderr=err, is_terminal=True))
        finally:
            sys.stdin = before
        return code, out.getvalue(), err.getvalue()


@pytest.fixture
def person(notes: Callable[..., Any]) -> Terminal:
    return Terminal(notes)


def editor(folder: Path, code: str) -> str:
    """Return the name of a program that edits a file by this Python code on `text`."""
    program = folder / "editor.py"
    program.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[-1])\n"
        "text = file.read_text()\n"
        f"{code}\n"
        "file.write_text(text)\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


@pytest.mark.covers("cli.memory.editor")
def test_an_entry_is_written_in_the_editor(
    person: Terminal, notes: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = "text = text.replace('scope:', 'scope: ops').replace('topic:', 'topic: release')"
    code = f"{filled}\ntext += 'Deploys happen\\non Tuesdays\\n'"
    monkeypatch.setenv("EDITOR", editor(home, code))
    done, out, _ = person("add", "--type", "decision", "--tag", "a")
    assert (done, out.startswith("added ")) == (0, True)
    entry = notes("list", "--json").data["results"][0]
    read = notes("show", entry["id"], "--json").data["entry"]
    assert read["content"] == "Deploys happen\non Tuesdays"
    assert (read["scope"], read["source_type"], read["tags"]) == ("ops", "decision", ["a"])


@pytest.mark.covers("cli.memory.editor")
def test_editing_changes_only_what_was_edited(
    person: Terminal, notes: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry_id = added(notes, "The old words", "--title", "Kept")
    monkeypatch.setenv("EDITOR", editor(home, "text = text.replace('old', 'new')"))
    assert person("edit", entry_id)[0] == 0
    read = notes("show", entry_id, "--json").data["entry"]
    assert (read["content"], read["title"], read["revision"]) == ("The new words", "Kept", 2)
    monkeypatch.setenv("EDITOR", editor(home, "pass"))
    code, _, err = person("edit", entry_id)
    assert (code, "nothing was changed" in err) == (2, True)


@pytest.mark.covers("cli.memory.editor")
def test_a_refused_text_is_not_lost(
    person: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("EDITOR", editor(home, "text += 'Precious words'"))
    code, _, err = person("add", "--scope", "s")
    assert code == 2
    (kept,) = home.glob("schemory-*.md")
    assert str(kept) in err
    assert "Precious words" in kept.read_text()
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    code, _, err = person("add")
    assert (code, "cannot be started" in err) == (2, True)


@pytest.mark.covers("cli.memory.editor")
def test_a_draft_reads_back_as_it_was_written() -> None:
    entry = {
        "source_type": "decision",
        "scope": "a",
        "topic": "b: c",
        "tags": ["x", "y"],
        "importance": 4,
        "confidence": 0.5,
        "content": "line\n---\nmore\n",
    }
    fields = fields_of(draft_of(entry))
    assert {key: value for key, value in fields.items() if value is not None} == entry
    with pytest.raises(UsageError):
        fields_of("scope: x\nno rule")
    with pytest.raises(UsageError):
        fields_of("colour: red\n---\nx")


@pytest.mark.covers("cli.memory.confirm")
def test_what_cannot_be_taken_back_is_asked_on_a_terminal(
    person: Terminal, notes: Callable[..., Any]
) -> None:
    entry_id = added(notes, "Mortal")
    code, out, _ = person("delete", entry_id, types="\n")
    assert (code, "[y/N]" in out) == (1, True)
    assert notes("show", entry_id).code == 0
    assert person("delete", entry_id, types="y\n")[0] == 0
    assert notes("show", entry_id).code == 1


@pytest.mark.covers("cli.memory.edit")
def test_only_fields_that_may_be_empty_are_cleared(notes: Callable[..., Any]) -> None:
    entry_id = added(notes, "Kept", "--title", "T", "--source-ref", "r")
    for name in ("bogus", "content", "scope"):
        refused = notes("edit", entry_id, "--importance", "5", "--clear", name)
        assert (refused.code, "--clear" in refused.err) == (2, True)
    assert notes("show", entry_id, "--json").data["entry"]["revision"] == 1
    assert notes("edit", entry_id, "--clear", "source-ref", "--clear", "title").code == 0
    entry = notes("show", entry_id, "--json").data["entry"]
    assert not {"title", "source_ref"} & set(entry)


@pytest.mark.covers("cli.memory.list")
def test_an_id_stays_on_one_line_of_a_narrow_terminal(
    person: Terminal, notes: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    entry_id = added(notes, "A text of some length, so that there is not room for everything.")
    assert entry_id in person("list")[1]
