"""Moving in a database of the TypeScript server: every row, and the file left as it is."""

import hashlib
import json
import sqlite3
import sys
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from schemory.errors import InvalidParamError, SecretDetectedError, StoreCorruptError
from schemory.model.entry import Status

_T = "2026-05-11T10:00:00.000Z"


def _fill(database: Any) -> None:
    database.project(
        "team/app",
        canonical_path="/srv/app",
        display_name="The App",
        git_remote="https://github.com/team/app.git",
        metadata_json='{"language":"php"}',
    )
    database.entry(
        "e1",
        "Tokens expire\r\ninclusively.",
        title="Expiry",
        summary="short",
        source_ref="mantis:1",
        source_path="src/auth.php",
        source_uri="https://example.org/1",
        confidence=0.8,
        importance=5,
        created_by="codex",
        metadata_json='{"ticket":7}',
    )
    database.entry("e2", "Old rule", status="superseded")
    database.entry(
        "e3", "No longer", status="invalidated", invalidated_at=_T, invalidation_reason="moved"
    )
    database.insert(
        "memory_tags", project_id="team/app", name="auth", description="log-in", created_at=_T
    )
    database.insert("memory_entry_tags", entry_id="e1", tag_id=1)
    link = {"id": "l1", "project_id": "team/app", "created_at": _T}
    ends = {"source_entry_id": "e1", "target_entry_id": "e2"}
    database.insert("memory_links", relation="supersedes", label="new", **link, **ends)
    database.insert(
        "audit_log",
        id="a1",
        timestamp=_T,
        project_id="team/app",
        operation="memory_add_entry",
        entry_id="e1",
        actor="codex",
        params_redacted_json='{"content":{"bytes":3},"title":"kept too openly"}',
        result_json='{"ok":true}',
    )


def _prints(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.is_file()
    }


@pytest.mark.covers("transfer.memory_node.rows")
def test_every_row_is_kept_and_the_database_is_as_it_was(
    box: Any, mover: Any, node_database: Any, counts_of: Any
) -> None:
    _fill(node_database)
    before = _prints(node_database.path.parent)
    app = box.at("team/app")
    moved = mover(node_database.path, into=app)
    assert moved.kind.value == "memory-node"
    assert (counts_of(moved).new, counts_of(moved).links) == (3, 1)
    assert moved.parts[0].audit_rows == 1
    held = app.held()
    first = held.entries["e1"]
    assert first.content == "Tokens expire\r\ninclusively."
    assert (first.title, first.summary, first.source_ref) == ("Expiry", "short", "mantis:1")
    assert (first.source_path, first.source_uri) == ("src/auth.php", "https://example.org/1")
    assert (first.confidence, first.importance, first.created_by) == (0.8, 5, "codex")
    assert (first.metadata, first.tags, first.created_at) == ({"ticket": 7}, ("auth",), _T)
    assert held.entries["e2"].status is Status.SUPERSEDED
    third = held.entries["e3"]
    assert (third.status, third.invalidated_at) == (Status.INVALIDATED, _T)
    assert third.invalidation_reason == "moved"
    assert held.tags["auth"].description == "log-in"
    assert (held.links["l1"].label, held.links["l1"].relation.value) == ("new", "supersedes")
    row = app.audit()[0]
    assert (row.id, row.timestamp, row.operation) == ("a1", _T, "memory_add_entry")
    assert row.params["content"] == {"bytes": 3}
    assert "kept too openly" not in str(row.params)
    with box.memory.store.read_memory("team/app") as reader:
        project = reader.find_project()
    assert project.metadata == {"language": "php"}
    assert _prints(node_database.path.parent) == before


@pytest.mark.covers("transfer.memory_node.again")
def test_the_same_database_again_changes_nothing_and_undo_takes_it_back(
    box: Any, mover: Any, node_database: Any, counts_of: Any
) -> None:
    _fill(node_database)
    app = box.at("team/app")
    first = mover(node_database.path, into=app)
    again = mover(node_database.path, into=app)
    assert (counts_of(again).unchanged, again.has_changes) == (3, False)
    app.undo(first.parts[0].seq)
    assert app.held().entries == {}


@pytest.mark.covers("transfer.memory_node.projects")
def test_each_project_keeps_its_own_or_one_is_chosen(
    box: Any, mover: Any, node_database: Any
) -> None:
    _fill(node_database)
    node_database.project("git:https://github.com/Team/Other.git")
    node_database.entry("o1", "Another", project_id="git:https://github.com/Team/Other.git")
    dry = mover(node_database.path, dry_run=True, into_one=False)
    assert [part.project_id for part in dry.parts] == ["git:github.com/team/other", "team/app"]
    with pytest.raises(InvalidParamError, match="several projects") as caught:
        mover(node_database.path)
    assert "team/app" in caught.value.suggestions[0]
    moved = mover(node_database.path, source_project="team/app", into=box)
    assert [part.project_id for part in moved.parts] == ["p"]
    assert box.entry("e1").metadata["imported_from"] == {"project_id": "team/app"}
    with pytest.raises(InvalidParamError):
        mover(node_database.path, source_project="team/ap")
    assert mover(node_database.path, into_one=False).is_written
    assert len(box.at("git:github.com/team/other").held().entries) == 1


@pytest.mark.covers("transfer.memory_node.tolerant")
def test_what_does_not_fit_is_brought_to_what_does_with_the_original_kept(
    box: Any, mover: Any, node_database: Any
) -> None:
    node_database.project("team/app")
    node_database.run("ALTER TABLE memory_entries ADD COLUMN reviewer TEXT; CREATE TABLE extra(x)")
    node_database.entry(
        "odd one!",
        "Odd\x07 text",
        source_type="random",
        status="draft",
        importance=9,
        confidence=80,
        scope=" ",
        created_at="2026-05-11 10:00:00",
        updated_at=1_778_493_600_000,
        content_sha256="x",
        metadata_json="[1]",
        reviewer="Ann",
    )
    link = {"id": "l", "project_id": "team/app", "created_at": _T, "relation": "cites"}
    node_database.entry("e2", "Second")
    node_database.insert("memory_links", **link, source_entry_id="e2", target_entry_id="odd one!")
    node_database.insert(
        "memory_links", **{**link, "id": "m"}, source_entry_id="e2", target_entry_id="no"
    )
    moved = mover(node_database.path)
    (odd,) = [entry for entry in box.held().entries.values() if entry.content != "Second"]
    assert (odd.content, odd.scope, odd.importance) == ("Odd text", "general", 5)
    assert (odd.source_type.value, odd.status.value, odd.confidence) == (
        "agent_note",
        "archived",
        None,
    )
    assert (odd.created_at, odd.updated_at) == (_T, _T)
    assert odd.metadata == {
        "metadata_json": "[1]",
        "import": {
            "kind": "memory-node",
            "id": "odd one!",
            "source_type": "random",
            "status": "draft",
            "importance": 9,
            "confidence": 80,
            "scope": " ",
            "content_sha256": "x",
            "columns": {"reviewer": "Ann"},
        },
        "imported_from": {"project_id": "team/app"},
    }
    assert [link.label for link in box.held().links.values()] == ["cites"]
    assert [str(each.place) for each in moved.refused] == ["team/app link m"]
    assert "table 'extra', not known: its rows are not taken" in moved.notes
    assert not mover(node_database.path).has_changes


@pytest.mark.covers("transfer.memory_node.tolerant")
def test_a_row_that_says_nothing_or_too_much_does_not_keep_the_others_out(
    box: Any, mover: Any, node_database: Any
) -> None:
    node_database.project("team/app")
    node_database.entry("e0", " \x07\n")
    node_database.entry(
        "e1",
        "Real text",
        status="invalidated",
        invalidated_at=_T,
        invalidation_reason="r" * 1_001,
        created_by="c" * 501,
    )
    node_database.entry("e2", "Second")
    node_database.insert("memory_tags", project_id="team/app", name=" ", created_at=_T)
    node_database.insert(
        "memory_tags", project_id="team/app", name="auth", description="d" * 1_001, created_at=_T
    )
    link = {"id": "l", "project_id": "team/app", "created_at": _T, "relation": "blocks"}
    node_database.insert(
        "memory_links", **link, source_entry_id="e1", target_entry_id="e2", label="l" * 900
    )
    moved = mover(node_database.path)
    assert [(str(each.place), each.what) for each in moved.refused] == [
        ("team/app entry e0", "has no text")
    ]
    entry = box.entry("e1")
    assert (entry.invalidation_reason, entry.created_by) == ("r" * 1_000, "c" * 500)
    assert entry.metadata["import"]["invalidation_reason"] == "r" * 1_001
    assert entry.metadata["import"]["created_by"] == "c" * 501
    (kept,) = box.held().links.values()
    assert kept.metadata["import"]["label"] == "l" * 900
    assert moved.notes["tags without a name, not taken"] == 1
    assert not mover(node_database.path).has_changes


@pytest.mark.covers("transfer.memory_node.tolerant")
def test_entries_that_supersede_each_other_are_refused_before_anything_is_stored(
    box: Any, mover: Any, node_database: Any
) -> None:
    node_database.project("team/app")
    for name in ("e1", "e2"):
        node_database.entry(name, f"Text of {name}")
    link = {"project_id": "team/app", "created_at": _T, "relation": "supersedes"}
    node_database.insert(
        "memory_links", id="l1", source_entry_id="e1", target_entry_id="e2", **link
    )
    node_database.insert(
        "memory_links", id="l2", source_entry_id="e2", target_entry_id="e1", **link
    )
    with pytest.raises(InvalidParamError, match="supersedes itself"):
        mover(node_database.path)
    assert not box.held().entries


@pytest.mark.covers("transfer.memory_node.log")
def test_what_is_only_in_the_log_is_taken_too(box: Any, mover: Any, node_database: Any) -> None:
    _fill(node_database)
    script = (
        "import os, sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1])\n"
        "db.execute('PRAGMA journal_mode=WAL')\n"
        "db.execute(\"UPDATE memory_entries SET title = 'From the log' WHERE id = 'e1'\")\n"
        "db.commit()\n"
        "os._exit(0)\n"
    )
    run([sys.executable, "-c", script, str(node_database.path)], check=True)
    assert Path(f"{node_database.path}-wal").stat().st_size > 0
    before = _prints(node_database.path.parent)
    mover(node_database.path)
    assert box.entry("e1").title == "From the log"
    assert _prints(node_database.path.parent) == before


@pytest.mark.covers("transfer.memory_node.secrets")
def test_credentials_refuse_it_or_stay_behind(mover: Any, node_database: Any) -> None:
    _fill(node_database)
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"
    node_database.entry("e9", f"key {token}")
    with pytest.raises(SecretDetectedError) as caught:
        mover(node_database.path)
    assert "entry e9" in caught.value.message
    assert token not in str(caught.value.problems)
    moved = mover(node_database.path, skip_secrets=True)
    assert (moved.parts[0].counts.new, moved.parts[0].counts.secrets) == (3, 1)


@pytest.mark.covers("transfer.memory_node.damaged")
def test_a_damaged_or_foreign_database_is_refused(
    box: Any, mover: Any, node_database: Any, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    for kind in (None, "memory-node"):
        with pytest.raises(InvalidParamError):
            mover(other, kind)
    node_database.project("team/app")
    for number in range(300):
        node_database.entry(f"e{number}", json.dumps({"n": number}) * 50)
    data = bytearray(node_database.path.read_bytes())
    data[40_960:200_000] = b"\xff" * (200_000 - 40_960)
    node_database.path.write_bytes(data)
    with pytest.raises(StoreCorruptError):
        mover(node_database.path, "memory-node")
    assert box.held().entries == {}
