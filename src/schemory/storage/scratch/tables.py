"""The tables of the temporary database, and what its things become."""

import sqlite3
from enum import StrEnum
from typing import Any, Final

PAGE: Final = 500
_PAGE_CHARS: Final = 1024 * 1024
_CACHE_KIB: Final = 16 * 1024

_TABLES: Final = """
  CREATE TABLE entry (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, place TEXT NOT NULL, sha TEXT NOT NULL,
    status TEXT NOT NULL, origin TEXT, fate TEXT, target TEXT UNIQUE);
  CREATE INDEX entry_by_fate ON entry (fate, n);
  -- Long texts stand apart, so that what changes is short.
  CREATE TABLE body (n INTEGER PRIMARY KEY, state TEXT NOT NULL);
  CREATE TABLE merged (n INTEGER PRIMARY KEY, state TEXT NOT NULL);
  CREATE TABLE terms (
    n INTEGER PRIMARY KEY, title TEXT NOT NULL, content TEXT NOT NULL, summary TEXT NOT NULL,
    place TEXT NOT NULL);
  CREATE TABLE gone (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE tag (name TEXT PRIMARY KEY, description TEXT, created_at TEXT) WITHOUT ROWID;
  CREATE TABLE link (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, place TEXT NOT NULL, source TEXT NOT NULL,
    target TEXT NOT NULL, relation TEXT NOT NULL, state TEXT NOT NULL, fate TEXT, new_id TEXT,
    UNIQUE (source, target, relation));
  CREATE INDEX link_by_target ON link (target, relation);
  CREATE INDEX link_by_fate ON link (fate, n);
  CREATE TABLE stored_link (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, relation TEXT NOT NULL,
    state TEXT NOT NULL, is_gone INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
  CREATE UNIQUE INDEX stored_link_by_ends ON stored_link (source, target, relation);
  CREATE INDEX stored_link_by_target ON stored_link (target, relation);
"""


class Fate(StrEnum):
    """What becomes of a thing of the file."""

    INSERT = "insert"
    UPDATE = "update"  # of what is there
    SAME = "same"  # is there already, by id
    SKIP = "skip"  # is there already, under another id


def open_database() -> sqlite3.Connection:
    """Return an empty database without a name.

    SQLite makes its file when it outgrows the cache, and nothing of it is left behind, also when
    the process is killed.
    """
    db = sqlite3.connect("", isolation_level=None)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA temp_store = FILE")
    db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    db.executescript(_TABLES)
    return db


def one(db: sqlite3.Connection, sql: str, *values: object) -> Any:
    """Return the first column of the first row, None without one."""
    row = db.execute(sql, values).fetchone()
    return None if row is None else row[0]


def few(db: sqlite3.Connection, sql: str, bound: dict[str, object]) -> list[tuple[Any, ...]]:
    """Return rows as long as their last columns altogether are no longer than a page may be."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in db.execute(sql, bound):
        rows.append(row)
        size += len(row[-1])
        if size > _PAGE_CHARS:
            break
    return rows
