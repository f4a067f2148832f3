"""The substring index of one space: its tables, its rows, and whether it is sound.

One FTS5 table per space, external content over a view of the node table, so that the file holds
the folded text nowhere but as grams (storing it made the index 2.2 times and a whole file 1.2 times
as large), and FTS5 itself can compare and rebuild. The price: removing a row needs the exact text
it was made from, so callers hand in the old values; and the view calls two functions of ours, which
a connection is given only when FTS5 reads the view, in `check_index` and `rebuild_index`. Nothing
else calls them, also not a stock sqlite3 shell that opens, searches or vacuums the file.

A node has up to two documents: its name under its own id, its metadata under the id plus
`LINES_FROM`. A search for names thus reads one stretch of the postings and meets no metadata.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import apsw

from schemory.errors import StoreCorruptError
from schemory.hints import TYPE_CHECKING
from schemory.model.text import fold
from schemory.storage.sqlite.index_text import (
    ENTRY_MARK,
    grams_of,
    lines_text,
    match_all,
    name_text,
    parse_lines,
)

if TYPE_CHECKING:
    from typing import Any, Final, TypeAlias

IndexRow: TypeAlias = tuple[int, str, str, Sequence[str]]
"""What the index needs of a node: id, name, node type (searched by its own table) and metadata."""

LINES_FROM: Final = 1 << 40
"""Added to a node's id, the row id of its metadata document."""

_RULES: Final = f"fold 1, Unicode {unicodedata.unidata_version}"
_REPAIR: Final = "Run `schemory doctor --fix` to build the search index again; no data is lost."
_TABLES_SQL: Final = """
CREATE VIEW node_text_{n} (row_id, text) AS  -- rules: {rules}
  SELECT id, schemory_name_text(name) FROM node WHERE project = {n}
  UNION ALL
  SELECT id + 1099511627776, schemory_lines_text(metadata) FROM node WHERE project = {n};
CREATE VIRTUAL TABLE node_index_{n} USING fts5(
  text, content = 'node_text_{n}', content_rowid = 'row_id',
  tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0
);
"""
# What FTS5 keeps beside its table; made again where missing, since it cannot even be dropped then.
_SHADOWS_SQL: Final = """
CREATE TABLE IF NOT EXISTS node_index_{n}_data (id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE IF NOT EXISTS node_index_{n}_idx (segid, term, pgno, PRIMARY KEY (segid, term))
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS node_index_{n}_config (k PRIMARY KEY, v) WITHOUT ROWID;
DELETE FROM node_index_{n}_config;
INSERT INTO node_index_{n}_config VALUES ('version', 4);
"""
_DROP_SQL: Final = "DROP TABLE IF EXISTS node_index_{n}; DROP VIEW IF EXISTS node_text_{n};"
_INSERT: Final = "INSERT INTO node_index_{n} (rowid, text) VALUES (?, ?)"
_DELETE: Final = "INSERT INTO node_index_{n} (node_index_{n}, rowid, text) VALUES ('delete', ?, ?)"
_COMMAND: Final = "INSERT INTO node_index_{n} (node_index_{n}) VALUES (?)"
_CHECK: Final = "INSERT INTO node_index_{n} (node_index_{n}, rank) VALUES ('integrity-check', 1)"


@lru_cache(maxsize=1024)
def for_space(sql: str, number: int) -> str:
    """Return `sql` with `{n}` replaced by a space's number, the only thing names are made from."""
    return sql.replace("{n}", str(int(number))).replace("{rules}", _RULES)


def index_tables_sql(number: int) -> str:
    """Return the CREATE statements of one space's index."""
    return for_space(_TABLES_SQL, number)


def add_rows(db: apsw.Connection, number: int, rows: Iterable[IndexRow]) -> None:
    """Index new nodes (or the new state of changed ones), inside the caller's transaction.

    Raises:
        StoreCorruptError: The index is damaged or missing.
    """
    _write(db, number, _INSERT, rows)


def remove_rows(db: apsw.Connection, number: int, rows: Iterable[IndexRow]) -> None:
    """Take nodes out of the index, given exactly as they were when they were added.

    Raises:
        StoreCorruptError: The index is damaged or missing.
    """
    _write(db, number, _DELETE, rows)


def _write(db: apsw.Connection, number: int, sql: str, rows: Iterable[IndexRow]) -> None:
    try:
        db.executemany(for_space(sql, number), _documents(rows))
    except apsw.Error as error:
        if is_index_fault(error):
            raise damaged() from error
        raise


def _documents(rows: Iterable[IndexRow]) -> Iterator[tuple[int, str]]:
    # Ascending, because FTS5 writes out all it has gathered whenever an id is below the last.
    nodes = sorted(rows, key=lambda row: row[0])
    for node_id, name, _, _ in nodes:
        yield node_id, name_text(name)
    for node_id, _, _, lines in nodes:
        if lines:
            yield node_id + LINES_FROM, lines_text(lines)


def is_index_fault(error: apsw.Error) -> bool:
    """Return whether an error of a statement on an index says that it is damaged or missing.

    Garbage in FTS5's own tables also shows as a constraint that cannot fail, or as a demand for
    more memory than there is.
    """
    if isinstance(error, apsw.CorruptError | apsw.ConstraintError | apsw.NoMemError):
        return True
    return isinstance(error, apsw.SQLError) and _FAULT.search(str(error)) is not None


_FAULT: Final = re.compile(r"node_index_\d+|invalid fts5 file format")


def answers_for(db: apsw.Connection, number: int) -> bool:
    """Return whether the index knows the space's oldest and newest node.

    A cheap question after an empty answer: an index that was emptied finds nothing, faultlessly.
    """
    sql = for_space(_KNOWN, number)
    return all(
        db.execute(sql, (match_all(grams_of(ENTRY_MARK + fold(name) + ENTRY_MARK)), node_id)).get
        for node_id, name in db.execute(_ENDS, (number, number))
    )


_ENDS: Final = """
SELECT id, name FROM node WHERE id = (SELECT min(id) FROM node WHERE project = ?)
  OR id = (SELECT max(id) FROM node WHERE project = ?)
"""
_KNOWN: Final = """
SELECT count(*) FROM node_index_{n} WHERE node_index_{n} MATCH ? AND rowid = ?
"""


def damaged() -> StoreCorruptError:
    """Return the error of a write that the index cannot take."""
    return StoreCorruptError(
        "The search index of this space is damaged; nothing was written", suggestions=(_REPAIR,)
    )


def check_index(db: apsw.Connection, number: int) -> tuple[str, ...]:
    """Return what is wrong with a space's index, () when it is sound; reads all of it.

    On a connection that may write, the index is compared with every node; on a read-only one only
    its own structure is checked.
    """
    kinds = dict(
        db.execute(
            "SELECT name, sql FROM sqlite_schema WHERE name IN (?, ?)",
            (f"node_index_{number}", f"node_text_{number}"),
        )
    )
    if len(kinds) < 2:  # noqa: PLR2004 (the table and its view)
        return ("the search index is missing",)
    faults: list[str] = []
    if f"-- rules: {_RULES}\n" not in kinds[f"node_text_{number}"]:
        faults.append("the search index was built with other folding rules")
    if not _is_sound(db, number):
        faults.append("the search index is damaged or does not agree with the nodes")
    return tuple(faults)


def _is_sound(db: apsw.Connection, number: int) -> bool:
    try:
        if db.readonly("main"):
            rows = db.execute(for_space("PRAGMA integrity_check('node_index_{n}')", number))
            return all(message == "ok" for (message,) in rows)
        _give_functions(db)
        db.execute(for_space(_CHECK, number))
    except apsw.Error as error:
        if is_index_fault(error):
            return False
        raise
    return True


def rebuild_index(db: apsw.Connection, number: int) -> int:
    """Make a space's index anew from its nodes, whatever state it is in.

    Runs inside the caller's transaction, or as one of its own.

    Returns:
        How many nodes were indexed.
    """
    _give_functions(db)
    with db:
        db.execute(for_space(_SHADOWS_SQL, number))
        db.execute(for_space(_DROP_SQL if _is_listed(db, number) else _DROP_SHADOWS, number))
        db.execute(index_tables_sql(number))
        db.execute(for_space(_COMMAND, number), ("rebuild",))
    return int(db.execute("SELECT count(*) FROM node WHERE project = ?", (number,)).get)


_DROP_SHADOWS: Final = """
DROP TABLE node_index_{n}_data; DROP TABLE node_index_{n}_idx; DROP TABLE node_index_{n}_config;
DROP VIEW IF EXISTS node_text_{n};
"""


def _is_listed(db: apsw.Connection, number: int) -> bool:
    sql = "SELECT count(*) FROM sqlite_schema WHERE name = ?"
    return bool(db.execute(sql, (f"node_index_{number}",)).get)


def optimize(db: apsw.Connection, number: int) -> None:
    """Merge a space's postings into one segment, so that removed text is nowhere in them.

    Raises:
        StoreCorruptError: The index is damaged or missing.
    """
    try:
        db.execute(for_space(_COMMAND, number), ("optimize",))
    except apsw.Error as error:
        if is_index_fault(error):
            raise damaged() from error
        raise


def _give_functions(db: apsw.Connection) -> None:
    # Innocuous: a view may call them also where the schema is not trusted.
    for name, function in (("schemory_name_text", _of_name), ("schemory_lines_text", _of_lines)):
        db.create_scalar_function(
            name, function, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS
        )


def _of_name(*values: Any) -> str:
    return name_text(values[0])


def _of_lines(*values: Any) -> str:
    return lines_text(parse_lines(values[0]))
