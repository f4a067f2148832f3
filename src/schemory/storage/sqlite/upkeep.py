"""Looking after a database: is it sound, make its indexes anew, give back what was deleted."""

from functools import partial
from typing import TYPE_CHECKING

import apsw

from schemory.errors import StoreBusyError
from schemory.storage.sqlite import index, memory_index

if TYPE_CHECKING:
    from schemory.storage.memory_protocols import IndexTerms

_MOST_FAULTS = 20


def find_faults(db: apsw.Connection, terms: "IndexTerms | None") -> tuple[str, ...]:
    """Return what is wrong with the database, () when it is sound; reads all of it.

    Pages and table indexes, references between tables, and the search indexes of each project;
    memory's are compared with the entries where `terms` says how they are made.
    """
    faults: list[str] = []
    memory_faults = partial(_memory_faults, terms=terms)
    looks = (_page_faults, _lost_references, _graph_faults, memory_faults)
    for look in looks:
        try:
            faults += look(db)
        except apsw.CorruptError:
            faults.append("the file is damaged: its pages cannot be read")
    return tuple(dict.fromkeys(faults))


def _page_faults(db: apsw.Connection) -> list[str]:
    messages = [row[0] for row in db.execute(f"PRAGMA quick_check({_MOST_FAULTS})")]
    # SQLite asks search indexes too; what is wrong with those is told by space below.
    own = [each for each in messages if each != "ok" and "_index_" not in each]
    return [f"the file is damaged: {message}" for message in own]


def _lost_references(db: apsw.Connection) -> list[str]:
    lost: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in db.execute("PRAGMA foreign_key_check"):
        lost[table, parent] = lost.get((table, parent), 0) + 1
    return [f"{count} rows of {table} name no {parent}" for (table, parent), count in lost.items()]


def _graph_faults(db: apsw.Connection) -> list[str]:
    spaces = list(db.execute("SELECT number, id FROM projects WHERE has_graph ORDER BY number"))
    return [
        f"space {space}: {fault}"
        for number, space in spaces
        for fault in index.check_index(db, number)
    ]


def _memory_faults(db: apsw.Connection, *, terms: "IndexTerms | None") -> list[str]:
    projects = list(db.execute("SELECT number, id FROM projects ORDER BY number"))
    return [
        f"project {project}: {fault}"
        for number, project in projects
        for fault in memory_index.check_index(db, number, terms)
    ]


def rebuild_indexes(db: apsw.Connection, terms: "IndexTerms | None") -> int:
    """Make every search index anew, in one transaction; returns how much they hold.

    Memory's stay as they are without `terms`.
    """
    indexed = 0
    with db:
        for number in _numbers(db, "SELECT number FROM projects WHERE has_graph"):
            indexed += index.rebuild_index(db, number)
        if terms is not None:
            for number in _numbers(db, _WITH_MEMORY):
                indexed += memory_index.rebuild_index(db, number, terms)
    return indexed


def _numbers(db: apsw.Connection, sql: str) -> list[int]:
    return [row[0] for row in db.execute(sql)]


_WITH_MEMORY = "SELECT number FROM projects WHERE index_rules IS NOT NULL"


def vacuum(db: apsw.Connection, location: str) -> None:
    """Rewrite the file without free pages and empty its log, so that deleted text is nowhere.

    Raises:
        StoreBusyError: A reader kept the log from being emptied.
    """
    for number in _numbers(db, "SELECT number FROM projects WHERE has_graph"):
        index.optimize(db, number)
    for number in _numbers(db, _WITH_MEMORY):
        memory_index.optimize(db, number)
    # The new copy of the file is built on disk: it may be larger than memory.
    db.execute("PRAGMA temp_store = FILE")
    try:
        db.execute("VACUUM")
    finally:
        db.execute("PRAGMA temp_store = MEMORY")
    is_busy, *_ = next(iter(db.execute("PRAGMA wal_checkpoint(TRUNCATE)")))
    if is_busy:
        raise StoreBusyError(
            f"Someone is reading the store; its log could not be emptied: {location}",
            suggestions=["Run `schemory vacuum` again when nobody uses the store."],
        )
