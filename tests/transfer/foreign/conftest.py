"""Moving in during a test, and the things that other tools leave behind."""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from schemory.model.author import Author
from schemory.model.entry import Entry
from schemory.storage.memory_protocols import EntryFilter
from schemory.transfer.foreign.importer import move_in
from schemory.transfer.foreign.kinds import Kind
from schemory.transfer.foreign.options import Counts, Moved, MoveOptions

BY = Author("mover/1.0", "cli")
TIME = "2026-05-11T10:00:00.000Z"
NOTES = Path(__file__).parents[2] / "fixtures" / "notes"

_SCHEMA = """
CREATE TABLE projects (id TEXT PRIMARY KEY, canonical_path TEXT, display_name TEXT,
  git_remote TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, metadata_json TEXT);
CREATE TABLE memory_entries (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, scope TEXT NOT NULL,
  topic TEXT NOT NULL, title TEXT, content TEXT NOT NULL, summary TEXT, source_type TEXT NOT NULL,
  source_ref TEXT, source_path TEXT, source_uri TEXT, content_sha256 TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active', confidence REAL, importance INTEGER DEFAULT 3,
  created_by TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, invalidated_at TEXT,
  invalidation_reason TEXT, metadata_json TEXT);
CREATE VIRTUAL TABLE memory_entries_fts USING fts5(entry_id UNINDEXED, title, content);
CREATE TABLE memory_tags (id INTEGER PRIMARY KEY AUTOINCREMENT, project_id TEXT NOT NULL,
  name TEXT NOT NULL, description TEXT, created_at TEXT NOT NULL, UNIQUE(project_id, name));
CREATE TABLE memory_entry_tags (entry_id TEXT NOT NULL, tag_id INTEGER NOT NULL,
  PRIMARY KEY(entry_id, tag_id));
CREATE TABLE memory_links (id TEXT PRIMARY KEY, project_id TEXT NOT NULL,
  source_entry_id TEXT NOT NULL, target_entry_id TEXT NOT NULL, relation TEXT NOT NULL, label TEXT,
  created_at TEXT NOT NULL, metadata_json TEXT);
CREATE TABLE audit_log (id TEXT PRIMARY KEY, timestamp TEXT NOT NULL, project_id TEXT,
  operation TEXT NOT NULL, entry_id TEXT, actor TEXT, params_redacted_json TEXT, result_json TEXT);
CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT, applied_at TEXT);
"""

Mover: TypeAlias = Callable[..., Moved]


def _held(box: Any) -> list[Entry]:
    with box.memory.store.read_memory(box.project_id) as reader:
        page = reader.list_entries(EntryFilter(), order="id", limit=10_000)
    return [hit.entry for hit in page.hits]


@pytest.fixture
def mover(box: Any) -> Mover:
    """Moves something into the box's project; the plan that is shown must be what is done."""

    def move(
        path: Path, kind: str | None = None, *, says: bool = True, into: Any = None, **more: Any
    ) -> Moved:
        plans: list[Moved] = []

        def confirm(plan: Moved) -> bool:
            plans.append(plan)
            return says

        target = into or box
        options = MoveOptions(kind=Kind(kind) if kind else None, **{"into_one": True, **more})
        moved = move_in(target.memory, target.ref, path, options, confirm=confirm, by=BY)
        for plan in plans:
            assert [part.counts for part in plan.parts] == [part.counts for part in moved.parts]
            assert not plan.is_written
        assert moved.is_written == (bool(plans) and says)
        return moved

    return move


@pytest.fixture
def counts_of() -> Callable[[Moved], Counts]:
    """Returns the counts of the one project that something was moved into."""

    def counts(moved: Moved) -> Counts:
        (part,) = moved.parts
        return part.counts

    return counts


@pytest.fixture
def entries(box: Any) -> Callable[[], list[Entry]]:
    """Returns all entries of the box's project."""
    return lambda: _held(box)


@pytest.fixture
def notes_folder(box: Any) -> Path:
    """A folder of notes in the project."""
    folder: Path = box.folder / "notes"
    folder.mkdir()
    for file in NOTES.iterdir():
        if file.name != "README.md":
            (folder / file.name).write_bytes(file.read_bytes())
    return folder


class NodeDatabase:
    """A database as the TypeScript server lays it out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run(_SCHEMA)

    def run(self, script: str) -> None:
        with closing(sqlite3.connect(self.path)) as db:
            db.executescript(script)

    def insert(self, table: str, **row: Any) -> None:
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        with closing(sqlite3.connect(self.path)) as db, db:
            db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))  # noqa: S608 (ours)

    def project(self, own_id: str, **more: Any) -> None:
        self.insert("projects", id=own_id, created_at=TIME, updated_at=TIME, **more)

    def entry(self, own_id: str, content: str, **more: Any) -> None:
        row = {
            "id": own_id,
            "project_id": "team/app",
            "scope": "backend",
            "topic": "auth",
            "content": content,
            "source_type": "decision",
            "content_sha256": hashlib.sha256(content.encode()).hexdigest(),
            "created_at": TIME,
            "updated_at": TIME,
        }
        self.insert("memory_entries", **{**row, **more})


@pytest.fixture
def node_database(tmp_path: Path) -> NodeDatabase:
    """An empty database of that server, outside the project."""
    folder = tmp_path / "node"
    folder.mkdir()
    return NodeDatabase(folder / "memory.sqlite")
