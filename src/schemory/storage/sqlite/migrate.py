"""Bring a database file to this version's schema; recognise what is not ours and leave it alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import closing

import apsw

from schemory.errors import StoreCorruptError, StoreError
from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass
from schemory.model.moment import Clock, moment_text

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION_ID = 0x5363686D  # "Schm"
_FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_DESTRUCTIVE = "-- destructive"
LATEST = 3
"""The schema version of this code; a test compares it with the migration files."""


TABLES = (
    "audit_log",
    "change",
    "change_touch",
    "edge",
    "edge_type",
    "insert_run",
    "kept",
    "ledger",
    "memory_entries",
    "memory_entry_past",
    "memory_entry_tags",
    "memory_link_touch",
    "memory_links",
    "memory_tags",
    "memory_vectors",
    "name_past",
    "node",
    "node_type",
    "projects",
    "schema_migrations",
    "store_facts",
)
"""What every file of that version has; a test compares them as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered step of the schema.

    Attributes:
        is_destructive: It removes something, so the file is copied before it runs; marked by a
            first line `-- destructive`.
    """

    version: int
    name: str
    sql: str
    is_destructive: bool


def load_migrations(folder: Path | None = None) -> tuple[Migration, ...]:
    """Return the migrations of a folder in order; None = those of this version.

    Raises:
        ValueError: Their numbers are not 1, 2, 3, … (a programming error).
    """
    from pathlib import Path  # noqa: PLC0415 (a start mostly has nothing to migrate)

    folder = folder or Path(__file__).parent / "migrations"
    found: list[Migration] = []
    for file in sorted(folder.glob("*.sql")):
        match = _FILE_NAME.fullmatch(file.name)
        if match is None:
            raise ValueError(f"not a migration's file name: {file.name}")
        sql = file.read_text(encoding="utf-8")
        found.append(
            Migration(
                version=int(match[1]),
                name=match[2],
                sql=sql,
                is_destructive=sql.startswith(_DESTRUCTIVE),
            )
        )
    if [step.version for step in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations must be numbered 0001, 0002, … without gaps")
    return tuple(found)


def is_current(db: apsw.Connection, location: str, *, latest: int = LATEST) -> bool:
    """Whether the schema is this version's; two pragmas.

    Raises:
        StoreCorruptError: The file has a newer schema.
    """
    version = db.pragma("user_version")
    if version > latest:
        raise newer_error(location, version, latest)
    return bool(version == latest)


def migrate(
    db: apsw.Connection,
    location: str,
    *,
    now: Clock,
    steps: Sequence[Migration] | None = None,
    finish: Callable[[apsw.Connection], object] | None = None,
) -> tuple[int, ...]:
    """Apply every missing step, all in one transaction, and log them; returns their versions.

    The caller holds the write queue; the version is read again under SQLite's own lock, so that
    of two programs that start together only one works.

    Args:
        db: The connection that writes.
        location: What to call the file.
        now: The clock of the log.
        steps: Instead of the product's own.
        finish: Writes, in the same transaction, what a store of this version cannot be without.
    """
    every = load_migrations() if steps is None else steps
    version = db.pragma("user_version")
    if version > 0 and any(step.is_destructive for step in every if step.version > version):
        _copy_before(db, location, version)
    db.execute("BEGIN IMMEDIATE")
    try:
        is_current(db, location, latest=len(every))
        version = db.pragma("user_version")
        missing = [step for step in every if step.version > version]
        for step in missing:
            db.execute(step.sql)
            db.execute(
                "INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)",
                (step.version, step.name, moment_text(now())),
            )
            db.pragma("user_version", step.version)
        if finish is not None:
            finish(db)
        db.execute("COMMIT")
    except BaseException:
        if not db.get_autocommit():
            db.execute("ROLLBACK")
        raise
    return tuple(step.version for step in missing)


def _copy_before(db: apsw.Connection, location: str, version: int) -> None:
    """Keep the file as it is beside itself, because the next step cannot be taken back."""
    if location == ":memory:":
        return
    copy = f"{location}.before-v{version + 1}"
    if os.path.lexists(copy):
        os.unlink(copy)
    db.execute("VACUUM INTO ?", (copy,))
    os.chmod(copy, 0o600)


def schema_parts() -> tuple[tuple[str, str, str], ...]:
    """Return (kind, name, its table's name) of every part that this version's schema has."""
    with closing(apsw.Connection(":memory:")) as db:
        for step in load_migrations():
            db.execute(step.sql)
        return tuple(db.execute("SELECT type, name, tbl_name FROM sqlite_schema"))


def refuse_incomplete_file(db: apsw.Connection, location: str) -> None:
    """Refuse a file of this version that lacks a table.

    Raises:
        StoreCorruptError: It does; every use of that table would fail.
    """
    # What SQLite has read of the schema costs nothing to ask, but another process may have made
    # the tables since then: only a query looks at the file again.
    if all(db.table_exists("main", name) for name in TABLES):
        return
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    missing = [name for name in TABLES if name not in there]
    if missing:
        raise incomplete_error(location, missing)


def incomplete_error(location: str, missing: Sequence[str]) -> StoreCorruptError:
    """Return the error for a file that lacks something which every store has."""
    return StoreCorruptError(
        f"The store's file is damaged, it lacks {', '.join(missing)}: {location}",
        context={"missing": list(missing)},
        suggestions=[
            "Restore a backup with `schemory restore FILE`.",
            "Without one, choose another file with --db; `schemory doctor` tells more.",
        ],
    )


def newer_error(location: str, version: int, latest: int) -> StoreCorruptError:
    """Return the error for a file that a newer release has written."""
    return StoreCorruptError(
        f"The store has schema version {version}, this program knows versions up to {latest}; "
        f"the file was left untouched: {location}",
        context={"schemaVersion": version, "knownVersion": latest},
        suggestions=["Update schemory, or choose another file with --db."],
    )


def refuse_foreign_file(path: str) -> None:
    """Refuse a file that is not a store of ours, without opening it for writing.

    Raises:
        StoreCorruptError: It is another program's; says which and what to do, where known.
        StoreError: It is a folder, a pipe or a device.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe would wait for a writer
        raise StoreError(
            f"The store cannot be opened (no regular file): {path}",
            suggestions=["Name a file with --db or MEMORY_DB_PATH."],
        )
    with open(path, "rb") as file:
        header = file.read(100)
    if not header:
        return
    if not header.startswith(b"SQLite format 3\0"):
        raise StoreCorruptError(
            f"This file is not a SQLite database; it was left untouched: {path}",
            suggestions=[
                "Open a JSONL memory file with --graph-file.",
                "Or import it: `schemory import-graph FILE`.",
                "Choose another file with --db.",
            ],
        )
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise _foreign_error(path)


def _foreign_error(path: str) -> StoreCorruptError:
    if {"projects", "memory_entries", "schema_migrations"} <= _tables(path):
        import shlex  # noqa: PLC0415 (only for this refusal)

        beside = shlex.quote(os.path.join(os.path.dirname(path), "schemory.sqlite"))
        return StoreCorruptError(
            f"This is a database of the TypeScript memory-node server; it was left untouched: "
            f"{path}",
            suggestions=[
                (
                    f"Move in, to a store beside it: `schemory import --db {beside} "
                    f"--from memory-node {shlex.quote(path)}`."
                ),
                f"Then name that store: --db {beside}, or MEMORY_DB_PATH={beside}.",
            ],
        )
    return StoreCorruptError(
        f"This SQLite database belongs to another program; it was left untouched: {path}",
        suggestions=["Choose another file with --db or MEMORY_DB_PATH."],
    )


def _tables(path: str) -> set[str]:
    # Immutable: no lock, no -shm or -wal file is made beside a file that is not ours.
    from pathlib import Path  # noqa: PLC0415 (only for this refusal)

    uri = f"{Path(path).resolve().as_uri()}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        db = apsw.Connection(uri, flags=flags)
        try:
            return {str(row[0]) for row in db.execute("SELECT name FROM sqlite_schema")}
        finally:
            db.close()
    except apsw.Error:
        return set()
