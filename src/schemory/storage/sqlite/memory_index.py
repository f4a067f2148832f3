"""The full-text index of one project's memory: its tables, its rows, and whether it is sound.

One FTS5 table per project, so that a search costs and ranks by its own project alone. External
content over a view of the entries, which calls the injected function `terms` where FTS5 itself
reads the texts: in `check` and `rebuild`, and only there, so a stock sqlite3 shell never needs it.
Removing a row needs the exact terms it was made from; they are derived anew from the old values,
which is why the rules that made a table stand in `projects.index_rules`. Source: storage.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import apsw

from schemory.errors import StoreCorruptError
from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from schemory.storage.memory_protocols import IndexTerms, IndexText
    from schemory.storage.sqlite.space import Space

TextRow: TypeAlias = "tuple[int, IndexText]"
"""A row of the index: an entry's row id and what it is indexed by."""

_REPAIR: Final = (
    "Call memory_rebuild_index (or run `schemory doctor --fix`) to build the search index again; "
    "no entry is lost."
)
_TABLES_SQL: Final = """
CREATE VIEW memory_text_{n} (row_id, title, content, summary, place) AS
  SELECT e.row_id, terms(e.title), terms(e.content), terms(e.summary),
    terms(e.scope || ' ' || e.topic || ifnull(' ' || (
      SELECT group_concat(name, ' ') FROM (
        SELECT t.name FROM memory_entry_tags AS u CROSS JOIN memory_tags AS t
        WHERE u.project = {n} AND u.entry_row = e.row_id AND t.project = {n} AND t.id = u.tag_id
        ORDER BY t.name)), ''))
  FROM memory_entries AS e INDEXED BY memory_entries_by_project WHERE e.project = {n};
CREATE VIRTUAL TABLE memory_index_{n} USING fts5(
  title, content, summary, place, content = 'memory_text_{n}', content_rowid = 'row_id',
  tokenize = 'unicode61 remove_diacritics 2'
);
"""
# What FTS5 keeps beside its table; made again where missing, since it cannot even be dropped then.
_SHADOWS_SQL: Final = """
CREATE TABLE IF NOT EXISTS memory_index_{n}_data (id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE IF NOT EXISTS memory_index_{n}_idx (segid, term, pgno, PRIMARY KEY (segid, term))
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memory_index_{n}_docsize (id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE IF NOT EXISTS memory_index_{n}_config (k PRIMARY KEY, v) WITHOUT ROWID;
DELETE FROM memory_index_{n}_config;
INSERT INTO memory_index_{n}_config VALUES ('version', 4);
"""
_DROP_SQL: Final = "DROP TABLE IF EXISTS memory_index_{n}; DROP VIEW IF EXISTS memory_text_{n};"
_DROP_SHADOWS: Final = """
DROP TABLE memory_index_{n}_data; DROP TABLE memory_index_{n}_idx;
DROP TABLE memory_index_{n}_docsize; DROP TABLE memory_index_{n}_config;
DROP VIEW IF EXISTS memory_text_{n};
"""
_INSERT: Final = """
INSERT INTO memory_index_{n} (rowid, title, content, summary, place) VALUES (?, ?, ?, ?, ?)
"""
_DELETE: Final = """
INSERT INTO memory_index_{n} (memory_index_{n}, rowid, title, content, summary, place)
VALUES ('delete', ?, ?, ?, ?, ?)
"""
_COMMAND: Final = "INSERT INTO memory_index_{n} (memory_index_{n}) VALUES (?)"
_CHECK: Final = (
    "INSERT INTO memory_index_{n} (memory_index_{n}, rank) VALUES ('integrity-check', 1)"
)
_FAULT: Final = re.compile(r"memory_(?:index|text)_\d+|invalid fts5 file format")


@lru_cache(maxsize=1024)
def for_project(sql: str, number: int) -> str:
    """Return `sql` with `{n}` replaced by a project's number, the only thing names are made of."""
    return sql.replace("{n}", str(int(number)))


def is_index_fault(error: apsw.Error) -> bool:
    """Return whether an error of a statement on an index says that it is damaged or missing.

    Garbage in FTS5's own tables also shows as a constraint that cannot fail, or as a demand for
    more memory than there is.
    """
    if isinstance(error, apsw.CorruptError | apsw.ConstraintError | apsw.NoMemError):
        return True
    return isinstance(error, apsw.SQLError) and _FAULT.search(str(error)) is not None


def damaged() -> StoreCorruptError:
    """Return the error of a write that the index cannot take."""
    return StoreCorruptError(
        "The search index of this project is damaged; nothing was written", suggestions=(_REPAIR,)
    )


class MemoryIndex:
    """The index of one project inside the writer's open transaction.

    Made at the first row, and built anew there when other rules had made it.
    """

    def __init__(self, space: Space, terms: IndexTerms) -> None:
        self._db = space.db
        self._number = space.number
        self._terms = terms
        self._is_ready = False

    def add(self, rows: Iterable[TextRow]) -> None:
        """Index new entries (or the new state of changed ones).

        Raises:
            StoreCorruptError: The index is damaged or missing.
        """
        self._write(_INSERT, rows)

    def remove(self, rows: Iterable[TextRow]) -> None:
        """Take entries out, given as they were added; before their table rows change.

        Raises:
            StoreCorruptError: The index is damaged or missing.
        """
        self._write(_DELETE, rows)

    def _write(self, sql: str, rows: Iterable[TextRow]) -> None:
        try:
            self._db.executemany(
                for_project(sql, self._number), ((row_id, *text) for row_id, text in rows)
            )
        except apsw.Error as error:
            if is_index_fault(error):
                raise damaged() from error
            raise

    def rebuild(self) -> int:
        """Make it anew, whatever state it is in; returns how many entries it holds."""
        self._is_ready = True
        return rebuild_index(self._db, self._number, self._terms)

    def get_ready(self) -> None:
        """Make the index where there is none, rebuild it where its rules are others.

        To be called before any row of the entries changes.
        """
        if self._is_ready:
            return
        sql = "SELECT index_rules FROM projects WHERE number = ?"
        rules = self._db.execute(sql, (self._number,)).get
        if rules is None:
            self._db.execute(for_project(_TABLES_SQL, self._number))
            _note_rules(self._db, self._number, self._terms)
        elif rules != self._terms.version:
            rebuild_index(self._db, self._number, self._terms)
        self._is_ready = True


def _note_rules(db: apsw.Connection, number: int, terms: IndexTerms) -> None:
    db.execute("UPDATE projects SET index_rules = ? WHERE number = ?", (terms.version, number))


def rebuild_index(db: apsw.Connection, number: int, terms: IndexTerms) -> int:
    """Make a project's index anew from its entries, whatever state it is in.

    Runs inside the caller's transaction, or as one of its own.

    Returns:
        How many entries were indexed.
    """
    _give_function(db, terms)
    with db:
        db.execute(for_project(_SHADOWS_SQL, number))
        db.execute(for_project(_DROP_SQL if _is_listed(db, number) else _DROP_SHADOWS, number))
        db.execute(for_project(_TABLES_SQL, number))
        db.execute(for_project(_COMMAND, number), ("rebuild",))
        _note_rules(db, number, terms)
    return count_entries(db, number)


def count_entries(db: apsw.Connection, number: int) -> int:
    """Return how many entries a project has."""
    sql = """
        SELECT count(*) FROM memory_entries INDEXED BY memory_entries_by_project WHERE project = ?
    """
    return int(db.execute(sql, (number,)).get)


def _is_listed(db: apsw.Connection, number: int) -> bool:
    sql = "SELECT count(*) FROM sqlite_schema WHERE name = ?"
    return bool(db.execute(sql, (f"memory_index_{number}",)).get)


def _give_function(db: apsw.Connection, terms: IndexTerms) -> None:
    def of_text(*values: object) -> str:
        return terms.terms(str(values[0])) if values[0] else ""

    # Innocuous: a view may call it also where the schema is not trusted.
    db.create_scalar_function("terms", of_text, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def check_index(db: apsw.Connection, number: int, terms: IndexTerms | None) -> tuple[str, ...]:
    """Return what is wrong with a project's index, () when it is sound; reads all of it.

    On a connection that may write, and with the rules that made it, the index is compared with
    every entry; else only its own structure is checked.
    """
    rules = db.execute("SELECT index_rules FROM projects WHERE number = ?", (number,)).get
    if rules is None:
        return ()
    sql = "SELECT count(*) FROM sqlite_schema WHERE name IN (?, ?)"
    if db.execute(sql, (f"memory_index_{number}", f"memory_text_{number}")).get < 2:  # noqa: PLR2004 (table and view)
        return ("the memory's search index is missing",)
    faults: list[str] = []
    is_comparable = terms is not None and rules == terms.version
    if terms is not None and not is_comparable:
        faults.append("the memory's search index was made by other rules")
    if not _is_sound(db, number, terms if is_comparable else None):
        faults.append("the memory's search index is damaged or does not agree with the entries")
    return tuple(faults)


def _is_sound(db: apsw.Connection, number: int, terms: IndexTerms | None) -> bool:
    try:
        if db.readonly("main") or terms is None:
            rows = db.execute(for_project("PRAGMA integrity_check('memory_index_{n}')", number))
            return all(message == "ok" for (message,) in rows)
        _give_function(db, terms)
        db.execute(for_project(_CHECK, number))
    except apsw.Error as error:
        if is_index_fault(error):
            return False
        raise
    return True


def optimize(db: apsw.Connection, number: int) -> None:
    """Merge a project's postings into one segment, so that removed text is nowhere in them.

    Raises:
        StoreCorruptError: The index is damaged or missing.
    """
    try:
        db.execute(for_project(_COMMAND, number), ("optimize",))
    except apsw.Error as error:
        if is_index_fault(error):
            raise damaged() from error
        raise
