"""The file's entries in the temporary database: their states, their fates, their index texts."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from schemory.model.entry import Entry, SourceType, Status
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, compact
from schemory.storage.memory_protocols import IndexText
from schemory.storage.scratch.tables import PAGE, Fate, few, one


@dataclass(frozen=True, slots=True)
class HeldEntry:
    """An entry of the file; `n` counts from 1 in the file's order, `origin` is its project."""

    n: int
    id: str
    place: str
    sha: str
    status: Status
    origin: str | None
    state: str

    def entry(self, project_id: str, entry_id: str | None = None) -> Entry:
        """Return it as an entry of a project, under its own id or another."""
        fields = {**json.loads(self.state), "status": self.status}
        return entry_of_fields(fields, project_id, entry_id or self.id)


@dataclass(frozen=True, slots=True)
class EntryFate:
    """What becomes of an entry: `target` is its id in the store, `new` its state there."""

    n: int
    fate: Fate
    target: str
    new: Entry | None = None


class HeldEntries:
    """The file's entries."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, fields: Mapping[str, Json], place: str) -> bool:
        """Keep an entry; False when its id is there already."""
        own = {**fields}
        entry_id, status, origin = own.pop("id"), own.pop("status"), own.pop("project_id")
        sql = """
            INSERT INTO entry (id, place, sha, status, origin) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        facts = (entry_id, place, own["content_sha256"], str(status), origin)
        added = self._db.execute(sql, facts)
        if added.rowcount != 1:
            return False
        self._db.execute("INSERT INTO body VALUES (?, ?)", (added.lastrowid, compact(own)))
        return True

    def count(self, fate: Fate | None = None) -> int:
        """Return how many there are, of this fate or at all."""
        if fate is None:
            return int(one(self._db, "SELECT count(*) FROM entry"))
        return int(one(self._db, "SELECT count(*) FROM entry WHERE fate = ?", fate.value))

    def has(self, entry_id: str) -> bool:
        """Whether an entry of the file has this id."""
        return one(self._db, "SELECT 1 FROM entry WHERE id = ?", entry_id) is not None

    def place_of(self, entry_id: str) -> str:
        """Return where in the file an entry stands."""
        return str(one(self._db, "SELECT place FROM entry WHERE id = ?", entry_id))

    def ids_near(self, entry_id: str, limit: int) -> tuple[str, ...]:
        """Return ids that begin alike."""
        sql = "SELECT id FROM entry WHERE id > ? ORDER BY id LIMIT ?"
        return tuple(row[0] for row in self._db.execute(sql, (entry_id[:8], limit)))

    def pages(self, fate: Fate | None = None, *, size: int = PAGE) -> Iterator[list[HeldEntry]]:
        """Yield entries in the file's order, in lists of bounded size."""
        chosen = "" if fate is None else "fate = :fate AND "
        sql = f"""
            SELECT e.n, id, place, sha, status, origin, state FROM entry AS e CROSS JOIN body AS b
            WHERE {chosen}e.n > :after AND b.n = e.n ORDER BY e.n LIMIT :size
        """  # noqa: S608 (a condition of ours)
        bound: dict[str, object] = {"fate": fate, "after": 0, "size": size}
        while page := [_held(row) for row in few(self._db, sql, bound)]:
            bound["after"] = page[-1].n
            yield page

    def set_fates(self, fates: Iterable[EntryFate]) -> None:
        """Settle what becomes of entries."""
        sql = "UPDATE entry SET fate = ?2, target = ?3 WHERE n = ?1"
        keep = "INSERT OR REPLACE INTO merged VALUES (?, ?)"
        for each in fates:
            self._db.execute(sql, (each.n, each.fate.value, each.target))
            if each.new is not None:
                self._db.execute(keep, (each.n, _state(each.new)))

    def insert_all(self) -> None:
        """Settle that every entry is inserted under its own id."""
        self._db.execute("UPDATE entry SET fate = 'insert', target = id")

    def is_met(self, entry_id: str) -> bool:
        """Whether an entry of the store is that of some entry of the file."""
        sql = "SELECT 1 FROM entry WHERE target = ?1 OR id = ?1"
        return one(self._db, sql, entry_id) is not None

    def targets(self, numbers: Sequence[int]) -> list[str]:
        """Return the ids that entries have in the store."""
        return [str(one(self._db, "SELECT target FROM entry WHERE n = ?", n)) for n in numbers]

    def updates(self, project_id: str) -> Iterator[list[Entry]]:
        """Yield the new states of entries that are there already."""
        sql = """
            SELECT e.n, target, state FROM entry AS e CROSS JOIN merged AS m
            WHERE fate = 'update' AND e.n > :after AND m.n = e.n ORDER BY e.n LIMIT :size
        """
        bound: dict[str, object] = {"after": 0, "size": PAGE}
        while rows := few(self._db, sql, bound):
            bound["after"] = rows[-1][0]
            yield [entry_of_fields(json.loads(row[2]), project_id, row[1]) for row in rows]


class HeldTerms:
    """What the file's entries are indexed by."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def keep(self, terms: Iterable[tuple[int, IndexText]]) -> None:
        """Keep what entries are indexed by."""
        self._db.executemany(
            "INSERT INTO terms VALUES (?, ?, ?, ?, ?)", ((n, *text) for n, text in terms)
        )

    def find(self, numbers: Sequence[int]) -> list[IndexText | None]:
        """Return what entries are indexed by, None where it is not known yet."""
        sql = "SELECT title, content, summary, place FROM terms WHERE n = ?"
        rows = [self._db.execute(sql, (n,)).fetchone() for n in numbers]
        return [None if row is None else IndexText(*row) for row in rows]


def entry_of_fields(fields: Mapping[str, Any], project_id: str, entry_id: str) -> Entry:
    """Return the entry of kept fields."""
    own = {**fields}
    own["source_type"] = SourceType(own["source_type"])
    own["status"] = Status(own["status"])
    own["tags"] = tuple(own["tags"])
    return Entry(id=entry_id, project_id=project_id, **own)


def _held(row: tuple[Any, ...]) -> HeldEntry:
    n, entry_id, place, sha, status, origin, state = row
    return HeldEntry(n, entry_id, place, sha, Status(status), origin, state)


def _state(entry: Entry) -> str:
    names = (name for name in entry.__slots__ if name not in {"id", "project_id"})
    return compact({name: getattr(entry, name) for name in names})
