"""Moving in exports of mem0, OpenMemory and MemPalace."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.transfer.damage import damaged_zips

from schemory.errors import InvalidParamError, SchemoryError

_MEMORIES = [
    {
        "id": "a1",
        "memory": "Prefers morning meetings",
        "user_id": "ann",
        "hash": "x",
        "metadata": {"type": "habit"},
        "categories": ["user_preferences"],
        "created_at": "2025-06-01T10:00:00-07:00",
        "updated_at": None,
        "score": 0.3,
    },
    {"id": "a2", "memory": "Works at night", "user_id": "ann", "created_at": "not a time"},
    {"id": "a3", "strange": 1},
]


def _json(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.covers("transfer.mem0.forms")
@pytest.mark.parametrize("form", ["results", "memories", "list", "lines", "gzip"])
def test_memories_are_read_in_every_form(
    mover: Any, entries: Any, counts_of: Any, tmp_path: Path, form: str
) -> None:
    lines = "".join(json.dumps(each) + "\n" for each in _MEMORIES)
    path = tmp_path / "m.jsonl.gz"
    if form == "gzip":
        path.write_bytes(gzip.compress(lines.encode()))
    elif form == "lines":
        path = tmp_path / "m.jsonl"
        path.write_text(lines, encoding="utf-8")
    else:
        holder = _MEMORIES if form == "list" else {"count": 3, form: _MEMORIES, "relations": [{}]}
        path = _json(tmp_path, "m.json", holder)
    moved = mover(path)
    assert (moved.kind.value, counts_of(moved).new, moved.refused_count) == ("mem0", 2, 1)
    assert "strange" in moved.refused[0].what
    first, second = sorted(entries(), key=lambda entry: str(entry.source_ref))
    assert (first.content, first.source_ref) == ("Prefers morning meetings", "mem0:a1")
    assert (first.source_type.value, first.tags) == ("user_preference", ("user_preferences",))
    assert first.created_at == "2025-06-01T17:00:00.000Z"
    assert first.metadata["type"] == "habit"
    assert first.metadata["import"]["user_id"] == "ann"
    assert second.created_at == "2026-03-08T09:05:07.000Z"
    assert not mover(path).has_changes


@pytest.mark.covers("transfer.mem0.backup")
def test_a_backup_of_openmemory_gives_states_and_categories(
    mover: Any, entries: Any, tmp_path: Path
) -> None:
    envelope = {
        "user": {"id": "u"},
        "categories": [{"id": "c1", "name": "work"}],
        "memories": [
            {"id": "m1", "content": "On", "state": "active", "category_ids": ["c1"]},
            {"id": "m2", "content": "Away", "state": "archived", "category_ids": []},
            {"id": "m3", "content": "Gone", "state": "deleted", "category_ids": []},
        ],
        "export_meta": {"version": "1"},
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("memories.json", json.dumps(envelope))
        archive.writestr("memories.jsonl.gz", gzip.compress(b"{}"))
    path = tmp_path / "memories_export_ann.zip"
    path.write_bytes(data.getvalue())
    moved = mover(path)
    assert {entry.content: (entry.status.value, entry.tags) for entry in entries()} == {
        "On": ("active", ("work",)),
        "Away": ("archived", ()),
    }
    assert moved.skipped == {"memories that were deleted there": 1}


@pytest.mark.covers("transfer.mem0.forms")
def test_a_changed_memory_is_brought_up_to_date(
    mover: Any, entries: Any, counts_of: Any, tmp_path: Path
) -> None:
    path = _json(tmp_path, "m.json", {"results": [{"id": "a", "memory": "First", "user_id": "u"}]})
    mover(path)
    _json(tmp_path, "m.json", {"results": [{"id": "a", "memory": "Second", "user_id": "u"}]})
    assert counts_of(mover(path)).changed == 1
    assert [entry.content for entry in entries()] == ["Second"]


_ROOM = """# wing_app / auth

## drawer_1

> Tokens expire after 15 minutes.
>
> | Field | Value |
> |-------|-------|

| Field | Value |
|-------|-------|
| Source | src/auth.py |
| Filed | 2026-01-02T10:00:00 |
| Added by | claude |

---

## drawer_2

> Never retry.

| Field | Value |
|-------|-------|
| Source | unknown |
| Filed | unknown |
| Added by | unknown |

---

## drawer_3

> cut off
"""


@pytest.mark.covers("transfer.mempalace.rooms")
def test_a_palace_in_markdown_gives_an_entry_a_drawer(
    mover: Any, entries: Any, counts_of: Any, tmp_path: Path
) -> None:
    (tmp_path / "palace" / "wing_app").mkdir(parents=True)
    room = tmp_path / "palace" / "wing_app" / "auth.md"
    room.write_text(_ROOM.replace("\n>\n", "\n> \n"), encoding="utf-8")
    (tmp_path / "palace" / "index.md").write_text("# Palace Export\n", encoding="utf-8")
    moved = mover(tmp_path / "palace")
    assert (moved.kind.value, counts_of(moved).new) == ("mempalace", 2)
    assert [str(each.place) for each in moved.refused] == ["wing_app/auth.md:30"]
    found = {entry.source_ref: entry for entry in entries()}
    first = found["mempalace:drawer_1"]
    assert first.content.startswith("Tokens expire after 15 minutes.\n\n| Field | Value |")
    assert (first.scope, first.topic, first.created_by) == ("wing_app", "auth", "claude")
    assert first.created_at == "2026-01-02T10:00:00.000Z"
    assert first.metadata["import"]["source_file"] == "src/auth.py"
    assert found["mempalace:drawer_2"].created_by == "mover/1.0"


@pytest.mark.covers("transfer.mempalace.json")
def test_a_palace_in_json_or_lines_gives_the_same(
    mover: Any, entries: Any, counts_of: Any, tmp_path: Path
) -> None:
    drawer = {
        "id": "d1",
        "document": "Never deploy on Friday.",
        "metadata": {"wing": "ops", "room": "deploy", "filed_at": "2026-01-02T03:04:05"},
    }
    whole = {"format": "mempalace_export", "version": 1, "drawers": [drawer, {"x": 1}]}
    moved = mover(_json(tmp_path, "p.json", {**whole, "kg_entities": [{"id": 1}]}))
    assert (counts_of(moved).new, moved.refused_count) == (1, 1)
    assert sum(moved.notes.values()) == 1
    (entry,) = entries()
    assert (entry.scope, entry.topic) == ("ops", "deploy")
    (tmp_path / "lines" / "ops").mkdir(parents=True)
    lines = json.dumps(drawer) + "\n"
    (tmp_path / "lines" / "ops" / "deploy.jsonl").write_text(lines, encoding="utf-8")
    again = mover(tmp_path / "lines")
    assert (again.kind.value, counts_of(again).unchanged) == ("mempalace", 1)


@pytest.mark.covers("transfer.journal.records")
@pytest.mark.parametrize("form", ["lines", "array", "loose"])
def test_a_journal_gives_an_entry_a_record_whatever_its_words(
    mover: Any, entries: Any, counts_of: Any, tmp_path: Path, form: str
) -> None:
    records = [
        {"ts": "2026-01-02T03:04:05Z", "kind": "DECISION", "title": "Store", "message": '"Use X."'},
        {
            "subject": "Layers",
            "fact": "No I/O in the model.",
            "reason": "Tests.",
            "category": "bug",
        },
        {"title": "Nothing"},
    ]
    texts = [json.dumps(each, indent=None if form == "lines" else 1) for each in records]
    whole = {"lines": "\n".join(texts), "array": f"[{','.join(texts)}]", "loose": ",\n".join(texts)}
    path = tmp_path / "journal.jsonl"
    path.write_text(whole[form], encoding="utf-8")
    moved = mover(path)
    assert (moved.kind.value, counts_of(moved).new) == ("journal", 2)
    assert [each.what for each in moved.refused] == ["has title, but no text"]
    found = {entry.title: entry for entry in entries()}
    assert (found["Store"].content, found["Store"].source_type.value) == ("Use X.", "decision")
    assert found["Store"].created_at == "2026-01-02T03:04:05.000Z"
    assert (found["Layers"].summary, found["Layers"].tags) == ("Tests.", ("bug",))
    assert found["Layers"].source_type.value == "bug_pattern"
    assert not mover(path).has_changes


@pytest.mark.covers("transfer.exports.damaged")
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cut.json", b'{"results": [{"id": "a", "memory": "x"'),
        ("cut.jsonl.gz", gzip.compress(b'{"id":"a","memory":"x"}\n' * 50, mtime=0)[:-20]),
        ("cut.zip", b"PK\x03\x04 no archive"),
        ("twice.json", b'{"id": "a", "memory": "x"} {"id": "b"}'),
    ],
    ids=["json", "gzip", "zip", "twice"],
)
def test_a_damaged_export_is_refused_and_nothing_is_stored(
    mover: Any, entries: Any, tmp_path: Path, name: str, data: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InvalidParamError):
        mover(path, "mem0")
    assert entries() == []


@pytest.mark.covers("transfer.exports.damaged")
@pytest.mark.parametrize("kind", ["mem0", None])
def test_a_damaged_backup_is_refused_however_it_is_damaged(
    mover: Any, entries: Any, tmp_path: Path, kind: str | None
) -> None:
    memories = [{"id": str(n), "memory": f"Note {n * n}", "user_id": "u"} for n in range(40)]
    sound = io.BytesIO()
    with zipfile.ZipFile(sound, "w", zipfile.ZIP_DEFLATED) as archive:
        # A name alone would bring the time of day into the bytes.
        archive.writestr(
            zipfile.ZipInfo("memories.json"), json.dumps(memories), zipfile.ZIP_DEFLATED
        )
    path = tmp_path / "backup.zip"
    for how, data in damaged_zips(sound.getvalue()):
        path.write_bytes(data)
        try:
            mover(path, kind)
        except SchemoryError:
            continue
        # What is read all the same was damaged where nothing of a memory stands.
        assert {entry.content for entry in entries()} == {m["memory"] for m in memories}, how
