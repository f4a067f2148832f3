"""Is a database sound: its pages, references between its tables, and its search indexes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import apsw

from schemory.storage.keeping import Finding, Severity
from schemory.storage.sqlite import index, memory_index, memory_vectors, migrate

if TYPE_CHECKING:
    from schemory.storage.memory_protocols import IndexTerms

_MOST_FAULTS: Final = 20
_RESTORE: Final = "Restore a backup: `schemory restore FILE`. Make a copy of the file first."
_REBUILD: Final = "`schemory doctor --fix` builds the search index again; no data is lost."
_UNREADABLE: Final = "the file is damaged: its pages cannot be read"


def check_tables(db: apsw.Connection) -> list[Finding]:
    """Return what is wrong with pages, table indexes and references; reads all of the file."""
    found: list[Finding] = []
    for look in (_page_faults, _lost_references):
        try:
            found += look(db)
        except apsw.CorruptError:
            found.append(damage(_UNREADABLE))
    return list(dict.fromkeys(found))


def _page_faults(db: apsw.Connection) -> Iterator[Finding]:
    for message in _check_pages(db):
        # SQLite asks search indexes too; what is wrong with those is told project by project.
        if message != "ok" and "_index_" not in message:
            yield damage(f"the file is damaged: {message}")


def _check_pages(db: apsw.Connection) -> list[str]:
    try:
        return [row[0] for row in db.execute(f"PRAGMA quick_check({_MOST_FAULTS})")]
    except apsw.SQLError as error:
        if not (index.is_index_fault(error) or memory_index.is_index_fault(error)):
            raise
    # A search index that cannot even be opened ends the check of all; so each table by itself.
    sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    tables = [row[0] for row in db.execute(sql)]
    return [
        row[0]
        for table in tables
        for row in db.execute("SELECT * FROM pragma_quick_check(?)", (table,))
    ]


def missing_parts(db: apsw.Connection) -> list[Finding]:
    """Return which tables and indexes of this version's schema a store of it does not have."""
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
    return [
        damage(f"the {kind} {name} is missing")
        for kind, name, table in migrate.schema_parts()
        if name not in there and (name == table or table in there)
    ]


def damage(what: str) -> Finding:
    """Return the finding of a file that has lost something."""
    return Finding(code="store.damaged", severity=Severity.FATAL, what=what, next_step=_RESTORE)


def _lost_references(db: apsw.Connection) -> Iterator[Finding]:
    lost: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in db.execute("PRAGMA foreign_key_check"):
        lost[table, parent] = lost.get((table, parent), 0) + 1
    for (table, parent), count in lost.items():
        yield Finding(
            code="store.orphans",
            severity=Severity.ERROR,
            what=f"{count} rows of {table} name no {parent}",
            next_step=_RESTORE,
        )


def graph_spaces(db: apsw.Connection) -> list[tuple[int, str]]:
    """Return (number, id) of every project that has a graph."""
    return list(db.execute("SELECT number, id FROM projects WHERE has_graph ORDER BY number"))


def memory_projects(db: apsw.Connection) -> list[tuple[int, str]]:
    """Return (number, id) of every project that has an index of entries."""
    return list(
        db.execute("SELECT number, id FROM projects WHERE index_rules IS NOT NULL ORDER BY number")
    )


def check_graph_index(db: apsw.Connection, number: int, space: str) -> list[Finding]:
    """Return what is wrong with the search index of a space."""
    return [
        _index_finding("index.graph", f"space {space}: {fault}")
        for fault in index.check_index(db, number)
    ]


def check_memory_index(
    db: apsw.Connection, number: int, project: str, terms: "IndexTerms | None"
) -> list[Finding]:
    """Return what is wrong with the search index of a project's entries."""
    found = [
        _index_finding("index.memory", f"project {project}: {fault}")
        for fault in memory_index.check_index(db, number, terms)
    ]
    return found or _uneven_rows(db, number, project)


def _uneven_rows(db: apsw.Connection, number: int, project: str) -> list[Finding]:
    entries = memory_index.count_entries(db, number)
    sql = memory_index.for_project("SELECT count(*) FROM memory_index_{n}_docsize", number)
    indexed = int(db.execute(sql).get)
    if indexed == entries:
        return []
    what = f"project {project}: {entries} entries, but {indexed} in their search index"
    return [_index_finding("index.rows", what)]


def check_vectors(db: apsw.Connection, number: int, project: str) -> list[Finding]:
    """Return what is wrong with the vectors of a project's entries."""
    return [
        Finding(
            code="vectors",
            severity=Severity.WARNING,
            what=f"project {project}: {fault}",
            next_step="`schemory doctor --fix` removes them; their entries get new ones.",
            can_fix=True,
        )
        for fault in memory_vectors.check_vectors(db, number)
    ]


def _index_finding(code: str, what: str) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, what=what, next_step=_REBUILD, can_fix=True)
