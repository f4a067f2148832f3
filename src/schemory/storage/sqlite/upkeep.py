"""Looking after a database: is it sound, make its indexes anew, give back what was deleted."""

from typing import TYPE_CHECKING

import apsw

from schemory.errors import StoreBusyError
from schemory.storage.sqlite import index, memory_index, memory_vectors, soundness

if TYPE_CHECKING:
    from schemory.storage.memory_protocols import IndexTerms


def find_faults(db: apsw.Connection, terms: "IndexTerms | None") -> tuple[str, ...]:
    """Return what is wrong with the database, () when it is sound; reads all of it.

    Pages and table indexes, references between tables, and the search indexes of each project;
    memory's are compared with the entries where `terms` says how they are made.
    """
    found = soundness.check_tables(db)
    try:
        for number, space in soundness.graph_spaces(db):
            found += soundness.check_graph_index(db, number, space)
        for number, project in soundness.memory_projects(db):
            found += soundness.check_memory_index(db, number, project, terms)
            found += soundness.check_vectors(db, number, project)
    except apsw.CorruptError:
        found.append(soundness.damage("the file is damaged: its tables cannot be read"))
    return tuple(dict.fromkeys(finding.what for finding in found))


def rebuild_indexes(db: apsw.Connection, terms: "IndexTerms | None") -> int:
    """Make every search index anew, in one transaction; returns how much they hold.

    Memory's stay as they are without `terms`.
    """
    indexed = 0
    with db:
        for number in _numbers(soundness.graph_spaces(db)):
            indexed += index.rebuild_index(db, number)
        if terms is not None:
            for number in _numbers(soundness.memory_projects(db)):
                indexed += memory_index.rebuild_index(db, number, terms)
    return indexed


def mend_vectors(db: apsw.Connection) -> int:
    """Remove vectors that belong to no entry or are malformed; returns how many."""
    removed = 0
    with db:
        for number in _numbers(soundness.memory_projects(db)):
            removed += memory_vectors.mend_vectors(db, number)
    return removed


def _numbers(projects: list[tuple[int, str]]) -> list[int]:
    return [number for number, _ in projects]


def vacuum(db: apsw.Connection, location: str) -> None:
    """Rewrite the file without free pages and empty its log, so that deleted text is nowhere.

    Raises:
        StoreBusyError: A reader kept the log from being emptied.
    """
    for number in _numbers(soundness.graph_spaces(db)):
        index.optimize(db, number)
    for number in _numbers(soundness.memory_projects(db)):
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
