"""The redacted record of writes (memory.md §8)."""

import hashlib
import json
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.errors import InvalidParamError, NotFoundError, SchemoryError, SecretDetectedError
from schemory.memory.inputs import NewEntry, ProjectRef, Refused, UnlinkRequest
from schemory.model.entry import AuditRow
from schemory.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from tests.memory.conftest import Notes, NotesMaker

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def digest(field: str, text: str) -> dict[str, Any]:
    data = text.encode()
    return {
        "field": field,
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "chars": len(text),
    }


@pytest.mark.covers("memory.audit.success", "memory.audit.redacted")
def test_a_successful_write_is_one_row_with_every_free_text_redacted(notes: "Notes") -> None:
    entry = notes.entry(
        "Contént.", title="T", summary="S", source_ref="r", tags=("One", "two"), importance=4
    )
    (row,) = notes.audit()
    assert (row.project_id, row.operation, row.entry_id) == ("p", "memory_add_entry", entry.id)
    assert (row.actor, row.timestamp) == ("probe/1.0", "2026-03-08T09:05:07.000Z")
    assert row.result == {"outcome": "ok"}
    assert row.params == {
        "topic": digest("topic", "auth"),
        "content": digest("content", "Contént."),
        "source_type": "agent_note",
        "scope": digest("scope", "backend"),
        "title": digest("title", "T"),
        "summary": digest("summary", "S"),
        "source_ref": digest("source_ref", "r"),
        "tags": [digest("tags[0]", "One"), digest("tags[1]", "two")],
        "importance": 4,
        "dedupe": True,
        "allow_secret": False,
    }


@pytest.mark.covers("memory.audit.each-write")
def test_each_writing_verb_is_one_row_and_reads_are_none(notes: "Notes") -> None:
    memory, ref = notes.memory, notes.ref
    first, second = notes.entry("One."), notes.entry("Two.")
    notes.update(first.id, title="T")
    link = notes.link(first, "explains", second, label="because").link
    memory.unlink_entries(ref, UnlinkRequest(link_id=link.id))
    memory.invalidate_entry(ref, first.id, reason="Wrong.")
    memory.restore_entry(ref, first.id)
    memory.archive_entry(ref, first.id)
    memory.rebuild_index(ref)
    memory.delete_entry(ref, first.id, confirm=True)
    notes.search("one")
    notes.read(second.id)
    rows = notes.audit()
    assert [row.operation.removeprefix("memory_") for row in rows] == [
        "add_entry",
        "add_entry",
        "update_entry",
        "link_entries",
        "unlink_entries",
        "invalidate_entry",
        "restore_entry",
        "archive_entry",
        "rebuild_index",
        "delete_entry",
    ]
    assert rows[3].params["label"] == digest("label", "because")
    assert rows[5].params["reason"] == digest("reason", "Wrong.")
    assert rows[9].result == {"outcome": "ok", "links_removed": 0}
    assert rows[4].params == {"link_id": link.id}


@pytest.mark.covers("memory.audit.refusal")
def test_a_refusal_is_a_row_with_its_code(notes: "Notes") -> None:
    entry = notes.entry()
    refusals: list[Callable[[], object]] = [
        lambda: notes.add(" "),
        lambda: notes.add("x" * 200_001),
        lambda: notes.update(entry.id),
        lambda: notes.update("no-such", title="T"),
        lambda: notes.memory.delete_entry(notes.ref, entry.id),
        lambda: notes.link(entry, "explains", entry),
        lambda: notes.add(source_path="/etc/passwd"),
    ]
    for call in refusals:
        with pytest.raises(SchemoryError):
            call()
    rows = notes.audit()[1:]
    assert [row.result for row in rows] == [
        {"outcome": "refused", "error_code": code}
        for code in (
            "INVALID_PARAM",
            "LIMIT_EXCEEDED",
            "INVALID_PARAM",
            "NOT_FOUND",
            "CONFIRM_REQUIRED",
            "INVALID_PARAM",
            "PATH_NOT_ALLOWED",
        )
    ]
    assert rows[1].params["content"] == digest("content", "x" * 200_001)
    assert rows[3].entry_id == "no-such"


@pytest.mark.covers("memory.audit.no-project")
def test_a_refusal_without_a_project_has_an_empty_project_id(
    notes: "Notes", memory_store: SqliteStore
) -> None:
    with pytest.raises(InvalidParamError):
        notes.at().add("Nowhere.")
    with memory_store.read_memory("") as reader:
        (row,) = reader.list_audit(limit=10).rows
    assert (row.project_id, row.result["error_code"]) == ("", "INVALID_PARAM")
    assert notes.memory.list_projects(ProjectRef()).projects == ()


@pytest.mark.covers("memory.audit.secret")
def test_a_row_of_a_detected_secret_has_lengths_and_no_hash(notes: "Notes") -> None:
    with pytest.raises(SecretDetectedError):
        notes.add(f"token {TOKEN}", title="Innocent")
    notes.add(f"token {TOKEN}", allow_secret=True)
    arguments = {"content": [TOKEN], "summary": "fine"}
    notes.memory.record_refusal(notes.ref, Refused(operation="x", arguments=arguments))
    refused, allowed, unparsed = notes.audit()
    assert refused.result == {"outcome": "refused", "error_code": "SECRET_DETECTED"}
    assert refused.params["content"] == {"field": "content", "bytes": 46, "chars": 46}
    assert refused.params["title"] == {"field": "title", "bytes": 8, "chars": 8}
    for row in (refused, allowed, unparsed):
        assert "sha256" not in str(row.params)
        assert TOKEN not in str(row)
    assert allowed.result == {"outcome": "ok", "allow_secret": True, "findings": 1}


@pytest.mark.covers("memory.audit.redacted")
def test_no_argument_gets_into_the_audit_in_clear(notes: "Notes") -> None:
    entry = notes.entry()
    word = "PLAINTEXTWORD with blanks"
    for call in (
        lambda: notes.update(entry.id, **{"unknown field": word, word: "x" * 10}),
        lambda: notes.update(word, title=word),
        lambda: notes.add(source_type=word, tags=(word,), importance=word),
        lambda: notes.link(entry, word, entry, label=word),
    ):
        with pytest.raises(SchemoryError):
            call()
    notes.memory.record_refusal(
        notes.ref,
        Refused(
            operation="memory_add_entry",
            arguments={"content": [word], "status": word, "nested": {"a": word}, "limit": 5},
        ),
    )
    rows = notes.audit()
    assert len(rows) == 6
    assert word not in str([(row.params, row.entry_id, row.result) for row in rows[1:]])
    assert rows[-1].params["limit"] == 5
    assert rows[-1].result == {"outcome": "refused", "error_code": "INVALID_PARAM"}


@pytest.mark.covers("memory.audit.redacted")
@pytest.mark.parametrize(
    "key",
    ["source_type", "relation", "status", "mode", "direction", "format", "on_conflict", "entry_id"],
)
def test_a_credential_in_the_place_of_a_word_or_id_is_not_recorded(
    notes: "Notes", key: str
) -> None:
    refused = Refused(operation="memory_add_entry", arguments={key: TOKEN})
    notes.memory.record_refusal(notes.ref, refused)
    (row,) = notes.audit()
    assert TOKEN not in str((row.params, row.entry_id))
    assert row.params[key] == {"field": key, "bytes": len(TOKEN), "chars": len(TOKEN)}


@pytest.mark.covers("memory.audit.redacted")
def test_the_name_of_an_argument_that_there_is_not_is_not_recorded(notes: "Notes") -> None:
    arguments: dict[str, Any] = {"title": "T", TOKEN: 1, "a name": "word", "b" * 900: [2]}
    notes.memory.record_refusal(notes.ref, Refused(operation="x", arguments=arguments))
    (row,) = notes.audit()
    assert row.params == {
        "title": {"field": "title", "bytes": 1, "chars": 1},  # no hash: a name is a credential
        "unknown_1": {"field": "unknown_1", "bytes": 1, "chars": 1},
        "unknown_2": {"field": "unknown_2", "bytes": 4, "chars": 4},
        "unknown_3": [{"field": "unknown_3[0]", "bytes": 1, "chars": 1}],
    }


@pytest.mark.covers("memory.audit.redacted", "memory.project.secret")
def test_a_credential_given_as_the_project_is_refused_and_not_recorded(
    open_notes: "NotesMaker", tmp_path: Path
) -> None:
    notes = open_notes(audit_file=tmp_path / "audit.jsonl")
    new = NewEntry(scope="s", topic="t", content="Text.", source_type="handoff")
    for ref in (ProjectRef(project_id=TOKEN), ProjectRef(project_id=f"password={TOKEN}")):
        with pytest.raises(SecretDetectedError) as refused:
            notes.memory.add_entry(ref, new, by=notes.by)
        findings: Any = refused.value.context["findings"]
        assert [finding["field"] for finding in findings] == ["project_id"]
        assert TOKEN not in str(refused.value)
        with pytest.raises(SecretDetectedError):
            notes.memory.status(ref)
    with pytest.raises(SchemoryError):
        notes.memory.add_entry(ProjectRef(project_path=TOKEN), new, by=notes.by)
    recorded = (tmp_path / "audit.jsonl").read_text()
    assert recorded.count("\n") == 3
    assert TOKEN not in recorded
    assert notes.memory.store.list_projects(limit=5) == ()


@pytest.mark.covers("memory.project.secret")
def test_a_credential_in_a_projects_own_env_gets_nowhere(notes: "Notes", tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    ref = ProjectRef(project_path=str(folder))
    (folder / ".env").write_text(f"MEMORY_PROJECT_ID=x\nMEMORY_PROJECT_DISPLAY_NAME={TOKEN}\n")
    status = notes.memory.status(ref)
    assert status.project is not None
    assert status.project.display_name == "x"
    assert any("credential" in warning for warning in status.warnings)
    (folder / ".env").write_text(f"MEMORY_PROJECT_ID={TOKEN}\n")
    with pytest.raises(SecretDetectedError):
        notes.memory.status(ref)


@pytest.mark.covers("memory.audit.redacted")
def test_a_credential_given_as_an_entrys_id_is_not_recorded(notes: "Notes") -> None:
    with pytest.raises(NotFoundError):
        notes.memory.invalidate_entry(notes.ref, TOKEN, by=notes.by)
    (row,) = notes.audit()
    assert row.entry_id is None
    assert TOKEN not in str(row.params)


@pytest.mark.covers("memory.audit.redacted")
def test_a_word_that_is_none_of_the_allowed_is_free_text(notes: "Notes") -> None:
    arguments = {"source_type": "hunter2hunter2", "relation": "blocks", "format": "csv"}
    notes.memory.record_refusal(notes.ref, Refused(operation="x", arguments=arguments))
    (row,) = notes.audit()
    assert row.params == {
        "source_type": digest("source_type", "hunter2hunter2"),
        "relation": "blocks",
        "format": digest("format", "csv"),
    }


@pytest.mark.covers("memory.audit.off")
def test_the_audit_can_be_switched_off(open_notes: "NotesMaker", tmp_path: Path) -> None:
    notes = open_notes(audit=False, audit_file=tmp_path / "audit.jsonl")
    notes.entry()
    with pytest.raises(InvalidParamError):
        notes.add(" ")
    assert notes.audit() == ()
    assert not (tmp_path / "audit.jsonl").exists()


@pytest.mark.covers("memory.audit.file")
def test_each_row_is_also_a_json_line_of_the_owners_file(
    open_notes: "NotesMaker", tmp_path: Path
) -> None:
    file = tmp_path / "audit" / "log.jsonl"
    notes = open_notes(audit_file=file)
    entry = notes.entry()
    with pytest.raises(SecretDetectedError):
        notes.add(TOKEN)
    with pytest.raises(InvalidParamError):
        notes.at().add("Nowhere.")
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [line["result"]["outcome"] for line in lines] == ["ok", "refused", "refused"]
    assert [line["project_id"] for line in lines] == ["p", "p", ""]
    assert lines[0]["params"]["content"] == digest("content", "A note.")
    assert lines[0]["entry_id"] == entry.id
    assert TOKEN not in file.read_text("utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.covers("memory.audit.file")
def test_a_file_that_cannot_be_written_is_a_warning_and_the_entry_is_stored(
    open_notes: "NotesMaker", tmp_path: Path
) -> None:
    notes = open_notes(audit_file=tmp_path)
    added = notes.add("Kept.")
    assert any("audit file" in warning for warning in added.warnings)
    assert notes.read(added.entry.id).content == "Kept."


@pytest.mark.covers("memory.audit.one-transaction")
def test_a_write_that_fails_inside_leaves_no_row_of_success(
    notes: "Notes", monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = notes.entry()

    def fail(*_: object, **__: object) -> None:
        raise NotFoundError("gone meanwhile")

    monkeypatch.setattr("schemory.memory.writing.require_revision", fail)
    with pytest.raises(NotFoundError):
        notes.update(entry.id, title="T")
    assert [row.result["outcome"] for row in notes.audit()] == ["ok", "refused"]
    assert notes.read(entry.id).entry == entry


@pytest.mark.covers("memory.audit.list", "memory.audit.prune")
def test_audit_rows_are_listed_page_by_page_and_pruned_by_age(
    notes: "Notes", advance: Callable[[float], None]
) -> None:
    for number in range(5):
        notes.entry(str(number))
        advance(86_400)
    notes.at("other").entry("x")
    memory = notes.memory
    first = memory.list_audit(notes.ref, limit=3)
    second = memory.list_audit(notes.ref, after=first.more, limit=3)
    rows: tuple[AuditRow, ...] = (*first.rows, *second.rows)
    assert (len(first.rows), len(rows), second.more) == (3, 5, None)
    assert [row.timestamp for row in rows] == sorted(row.timestamp for row in rows)
    pruned = memory.prune_audit(notes.ref, "3d")
    assert (pruned.pruned, pruned.before) == (2, "2026-03-10T09:05:07.000Z")
    assert [row.timestamp[:10] for row in notes.audit()] == [
        "2026-03-10",
        "2026-03-11",
        "2026-03-12",
    ]
    assert memory.prune_audit(None, "0d").pruned == 3
    assert len(notes.at("other").audit()) == 1
    with pytest.raises(InvalidParamError):
        memory.prune_audit(None, "whenever")


@pytest.mark.covers("memory.audit.best-effort")
def test_a_refusal_is_told_although_the_store_cannot_record_it(
    notes_on_disk: "Notes", memory_on_disk: SqliteStore
) -> None:
    memory_on_disk.close()
    with pytest.raises(InvalidParamError):
        notes_on_disk.add(" ")


def test_rows_of_several_threads_are_all_there(notes_on_disk: "Notes") -> None:
    def write(name: str) -> None:
        for number in range(5):
            notes_on_disk.add(f"{name} {number}")

    threads = [threading.Thread(target=write, args=(str(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(notes_on_disk.audit()) == 20
    assert notes_on_disk.memory.status(notes_on_disk.ref).entries == 20
