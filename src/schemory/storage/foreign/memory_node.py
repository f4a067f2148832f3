"""A database of the TypeScript memory-node server: recognised, and read without touching it.

Its tables are those of the specification (seed 003 §8). It is opened read-only and immutable, so
that no lock and no file appears beside it; where its log holds pages that are not in it yet, it is
read from a copy together with the log.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from schemory.errors import InvalidParamError, StoreCorruptError
from schemory.model.jsonvalue import Json

_TABLES: Final = frozenset({"projects", "memory_entries", "schema_migrations"})
_KNOWN: Final = frozenset(
    {
        *_TABLES,
        *("memory_tags", "memory_entry_tags", "memory_links", "audit_log"),
        *("sqlite_sequence", "sqlite_stat1", "sqlite_stat4"),
    }
)
_INDEX: Final = "memory_entries_fts"

Row = Mapping[str, Json]
"""A row by column names; a BLOB comes as its text."""


def is_memory_node(path: Path) -> bool:
    """Whether a SQLite file has that server's tables and is not a store of ours."""
    try:
        with closing(_open(path)) as db:
            return _tables(db) >= _TABLES and _application_id(db) == 0
    except sqlite3.Error:
        return False


class MemoryNode:
    """The rows of such a database; open inside the `with` block of `open_memory_node`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._names = _tables(db)

    def projects(self) -> Iterator[Row]:
        """Yield projects; one that only entries name comes with its id alone."""
        yield from self._rows("SELECT * FROM projects ORDER BY id")
        yield from self._rows("""
            SELECT DISTINCT project_id AS id FROM memory_entries AS e
            WHERE NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.id = e.project_id) ORDER BY 1
        """)

    def entries(self, project_id: str) -> Iterator[Row]:
        """Yield a project's entries, each with the names of its `tags`."""
        tags = "SELECT NULL AS name WHERE 0"
        if {"memory_tags", "memory_entry_tags"} <= self._names:
            tags = """
                SELECT t.name FROM memory_entry_tags AS u JOIN memory_tags AS t ON t.id = u.tag_id
                WHERE u.entry_id = ? ORDER BY t.name
            """
        sql = "SELECT * FROM memory_entries WHERE project_id = ? ORDER BY created_at, id"
        has_tags = "memory_entry_tags" in self._names
        for row in self._rows(sql, project_id):
            bound = (row["id"],) if has_tags else ()
            names = [_text(each[0]) for each in self._db.execute(tags, bound)]
            yield {**row, "tags": list[Json](names)}

    def tags(self, project_id: str) -> Iterator[Row]:
        """Yield a project's tags."""
        return self._of_project("memory_tags", project_id, "name")

    def links(self, project_id: str) -> Iterator[Row]:
        """Yield a project's links."""
        return self._of_project("memory_links", project_id, "created_at, id")

    def audit(self, project_id: str) -> Iterator[Row]:
        """Yield a project's audit rows, oldest first."""
        return self._of_project("audit_log", project_id, "timestamp, id")

    def count_audit_elsewhere(self, project_ids: tuple[str, ...]) -> int:
        """Return how many audit rows belong to none of these projects."""
        if "audit_log" not in self._names:
            return 0
        marks = ", ".join("?" * len(project_ids))
        sql = f"""
            SELECT count(*) FROM audit_log
            WHERE project_id IS NULL OR project_id NOT IN ({marks})
        """  # noqa: S608 (as many marks as ids)
        return int(self._db.execute(sql, project_ids).fetchone()[0])

    def other_tables(self) -> tuple[str, ...]:
        """Return tables that the specification does not have; their rows are not read."""
        names = self._names - _KNOWN
        return tuple(sorted(name for name in names if not name.startswith(_INDEX)))

    def _of_project(self, table: str, project_id: str, order: str) -> Iterator[Row]:
        if table not in self._names:
            return iter(())
        sql = f"SELECT * FROM {table} WHERE project_id = ? ORDER BY {order}"  # noqa: S608 (ours)
        return self._rows(sql, project_id)

    def _rows(self, sql: str, *values: object) -> Iterator[Row]:
        cursor = self._db.execute(sql, values)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            cells = (_text(cell) if isinstance(cell, bytes) else cell for cell in row)
            yield dict(zip(names, cells, strict=True))


@contextmanager
def open_memory_node(path: Path) -> Generator[MemoryNode]:
    """Open such a database; the file and its folder stay as they are.

    Raises:
        InvalidParamError: It is no such database.
        StoreCorruptError: It is damaged.
    """
    if not is_memory_node(path):
        message = f"{path} is no database of the memory-node server"
        raise InvalidParamError.at("PATH", message)
    try:
        with _whole(path) as whole, closing(_open(whole)) as db:
            yield MemoryNode(db)
    except sqlite3.DatabaseError as fault:
        raise StoreCorruptError(
            f"The database cannot be read to its end ({fault}); nothing was stored: {path}",
            suggestions=["Mend a copy first: `sqlite3 OLD .recover | sqlite3 NEW`."],
        ) from fault


@contextmanager
def _whole(path: Path) -> Generator[Path]:
    """Give the database with all that was committed to it: itself, or a copy with its log."""
    log = path.with_name(path.name + "-wal")
    try:
        has_log = log.stat().st_size > 0
    except OSError:
        has_log = False
    if not has_log:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="schemory-import-") as folder:
        copy = Path(folder) / "memory.sqlite"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
        with closing(sqlite3.connect(copy)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # takes the log in
        yield copy


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1&mode=ro", uri=True)
    db.text_factory = _text
    return db


def _text(cell: bytes | str) -> str:
    """Return stored text; bytes that are no UTF-8 become marks that show it."""
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell


def _tables(db: sqlite3.Connection) -> frozenset[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return frozenset(str(row[0]) for row in db.execute(sql))


def _application_id(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA application_id").fetchone()[0])
