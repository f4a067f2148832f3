"""A temporary database that holds a file's things while they are checked and compared.

It has no name on the disk: SQLite makes its file when it outgrows the cache and leaves nothing
behind, also when the process is killed. So a file of any size is checked in bounded memory, and
the store's write lock is taken only when all is known.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, Self

from schemory.model.entry import Entry, Link, Relation, SourceType, Status, Tag
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, compact
from schemory.storage.memory_protocols import IndexText

_CACHE_KIB: Final = 16 * 1024
_PAGE: Final = 500
_PAGE_CHARS: Final = 1024 * 1024
_GONE_LINKS: Final = """
  FROM stored_link AS k WHERE (SELECT is_replacing FROM mode) AND NOT EXISTS (
    SELECT 1 FROM link AS l WHERE l.id = k.id AND l.fate = 'same')
"""
_TABLES: Final = """
  CREATE TABLE mode (is_replacing INTEGER NOT NULL);
  INSERT INTO mode VALUES (0);
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
  CREATE TABLE tag (name TEXT PRIMARY KEY, description TEXT, created_at TEXT) WITHOUT ROWID;
  CREATE TABLE link (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, place TEXT NOT NULL, source TEXT NOT NULL,
    target TEXT NOT NULL, relation TEXT NOT NULL, state TEXT NOT NULL, fate TEXT, new_id TEXT,
    UNIQUE (source, target, relation));
  CREATE INDEX link_by_target ON link (target, relation);
  CREATE INDEX link_by_fate ON link (fate, n);
  CREATE TABLE stored_link (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, relation TEXT NOT NULL,
    state TEXT NOT NULL) WITHOUT ROWID;
  CREATE UNIQUE INDEX stored_link_by_ends ON stored_link (source, target, relation);
  CREATE INDEX stored_link_by_target ON stored_link (target, relation);
  CREATE TABLE gone (id TEXT PRIMARY KEY) WITHOUT ROWID;
"""


class Fate(StrEnum):
    """What becomes of a thing of the file."""

    INSERT = "insert"
    UPDATE = "update"  # of what is there
    SAME = "same"  # is there already, by id
    SKIP = "skip"  # is there already, under another id


@dataclass(frozen=True, slots=True)
class Held:
    """An entry of the file; `n` counts from 1 in the file's order, `origin` is its project."""

    n: int
    id: str
    place: str
    sha: str
    status: Status
    origin: str | None
    state: str

    def entry(self, project_id: str, entry_id: str | None = None) -> Entry:
        """Return it as an entry of a project."""
        fields = json.loads(self.state)
        fields["status"] = self.status
        return entry_of_state(fields, project_id, entry_id or self.id)


class Scratch:
    """The temporary database of one import; `db` is open inside its `with` block."""

    def __init__(self) -> None:
        self.db = sqlite3.connect("", isolation_level=None)
        self.db.execute("PRAGMA journal_mode = OFF")
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute("PRAGMA temp_store = FILE")
        self.db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self.db.executescript(_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.db.close()

    def add_entry(self, fields: Mapping[str, Json], place: str) -> bool:
        """Keep an entry; False when its id is there already."""
        own = {**fields}
        entry_id, sha = own.pop("id"), own["content_sha256"]
        status, origin = own.pop("status"), own.pop("project_id")
        sql = """
            INSERT INTO entry (id, place, sha, status, origin) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        added = self.db.execute(sql, (entry_id, place, sha, str(status), origin))
        if added.rowcount != 1:
            return False
        self.db.execute("INSERT INTO body VALUES (?, ?)", (added.lastrowid, compact(own)))
        return True

    def add_tag(self, fields: Mapping[str, Json]) -> bool:
        """Keep a tag; False when its name is there already."""
        sql = "INSERT INTO tag VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        values = (fields["name"], fields["description"], fields["created_at"])
        return self.db.execute(sql, values).rowcount == 1

    def add_link(self, fields: Mapping[str, Json], place: str) -> bool:
        """Keep a link; False when its id, or one that says the same, is there already."""
        sql = """
            INSERT INTO link (id, place, source, target, relation, state)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """
        ends = (fields["source_entry_id"], fields["target_entry_id"], fields["relation"])
        rest = {name: fields[name] for name in ("label", "created_at", "metadata")}
        values = (fields["id"], place, *map(str, ends), compact(rest))
        return self.db.execute(sql, values).rowcount == 1

    def count(self, table: str, fate: Fate | None = None) -> int:
        """Return how many things there are in `entry`, `link`, `tag` or `gone`."""
        where = "" if fate is None else " WHERE fate = ?"
        sql = f"SELECT count(*) FROM {table}{where}"  # noqa: S608 (a table of ours)
        found = self.db.execute(sql, () if fate is None else (fate.value,)).fetchone()
        return int(found[0])

    def one(self, sql: str, *values: object) -> Any:
        """Return the first column of the first row, None without one."""
        row = self.db.execute(sql, values).fetchone()
        return None if row is None else row[0]

    def entries(self, fate: Fate | None = None, *, size: int = _PAGE) -> Iterator[list[Held]]:
        """Yield the file's entries in its order, in lists of bounded size."""
        chosen = "" if fate is None else "fate = :fate AND "
        sql = f"""
            SELECT e.n, id, place, sha, status, origin, state FROM entry AS e CROSS JOIN body AS b
            WHERE {chosen}e.n > :after AND b.n = e.n ORDER BY e.n LIMIT :size
        """  # noqa: S608 (a condition of ours)
        bound: dict[str, object] = {"fate": fate, "after": 0, "size": size}
        while True:
            page = [_held(row) for row in self._few(sql, bound)]
            if not page:
                return
            bound["after"] = page[-1].n
            yield page

    def _few(self, sql: str, bound: dict[str, object]) -> list[tuple[Any, ...]]:
        """Return rows whose last column is no longer than a page may be altogether."""
        rows: list[tuple[Any, ...]] = []
        size = 0
        for row in self.db.execute(sql, bound):
            rows.append(row)
            size += len(row[-1])
            if size > _PAGE_CHARS:
                break
        return rows

    def set_fates(self, fates: Iterable[tuple[int, Fate, str | None, str | None]]) -> None:
        """Say of entries, by number: their fate, their id in the store, their merged state."""
        sql = "UPDATE entry SET fate = ?2, target = ?3 WHERE n = ?1"
        keep = "INSERT OR REPLACE INTO merged VALUES (?, ?)"
        for n, fate, target, text in fates:
            self.db.execute(sql, (n, fate.value, target))
            if text is not None:
                self.db.execute(keep, (n, text))

    def forget_fates(self, *, is_replacing: bool) -> None:
        """Begin the comparison with the store anew."""
        self.db.execute("UPDATE mode SET is_replacing = ?", (is_replacing,))
        self.db.executescript("""
            UPDATE entry SET fate = NULL, target = NULL WHERE fate IS NOT NULL;
            DELETE FROM merged;
            UPDATE link SET fate = NULL, new_id = NULL;
            DELETE FROM stored_link; DELETE FROM gone;
        """)

    def set_terms(self, terms: Iterable[tuple[int, IndexText]]) -> None:
        """Keep what entries are indexed by."""
        sql = "INSERT INTO terms VALUES (?, ?, ?, ?, ?)"
        self.db.executemany(sql, ((n, *text) for n, text in terms))

    def terms(self, numbers: Sequence[int]) -> list[IndexText | None]:
        """Return what entries are indexed by, None where it is not known yet."""
        sql = "SELECT title, content, summary, place FROM terms WHERE n = ?"
        rows = [self.db.execute(sql, (n,)).fetchone() for n in numbers]
        return [None if row is None else IndexText(*row) for row in rows]

    def merged(self, project_id: str) -> Iterator[list[Entry]]:
        """Yield the new states of entries that are there already."""
        sql = """
            SELECT e.n, target, state FROM entry AS e CROSS JOIN merged AS m
            WHERE fate = 'update' AND e.n > :after AND m.n = e.n ORDER BY e.n LIMIT :size
        """
        bound: dict[str, object] = {"after": 0, "size": _PAGE}
        while rows := self._few(sql, bound):
            bound["after"] = rows[-1][0]
            yield [entry_of_state(json.loads(row[2]), project_id, row[1]) for row in rows]

    def targets(self, numbers: Sequence[int]) -> list[str]:
        """Return the ids that entries have in the store."""
        return [str(self.one("SELECT target FROM entry WHERE n = ?", n)) for n in numbers]

    def gone(self) -> Iterator[str]:
        """Yield ids of the store's entries that are to be removed."""
        return (row[0] for row in self.db.execute("SELECT id FROM gone ORDER BY id"))

    def gone_links(self) -> Iterator[str]:
        """Yield ids of the store's links that are to be removed."""
        return (row[0] for row in self.db.execute(f"SELECT id {_GONE_LINKS}"))

    def count_gone_links(self) -> int:
        """Return how many of the store's links are to be removed."""
        return int(self.one(f"SELECT count(*) {_GONE_LINKS}"))

    def tags(self) -> Iterator[Tag]:
        """Yield the file's tags by name."""
        for name, description, created_at in self.db.execute("SELECT * FROM tag ORDER BY name"):
            yield Tag(name=name, description=description, created_at=created_at or "")

    def links(self, fate: Fate) -> Iterator[list[Link]]:
        """Yield the file's links with their ends as the store knows them."""
        sql = """
            SELECT l.n, ifnull(l.new_id, l.id), s.target, t.target, l.relation, l.state
            FROM link AS l JOIN entry AS s ON s.id = l.source JOIN entry AS t ON t.id = l.target
            WHERE l.fate = :fate AND l.n > :after ORDER BY l.n LIMIT :size
        """
        bound: dict[str, object] = {"fate": fate.value, "after": 0, "size": _PAGE}
        while rows := self._few(sql, bound):
            bound["after"] = rows[-1][0]
            yield [
                Link(
                    id=row[1],
                    source_entry_id=row[2],
                    target_entry_id=row[3],
                    relation=Relation(row[4]),
                    **json.loads(row[5]),
                )
                for row in rows
            ]


def _held(row: tuple[Any, ...]) -> Held:
    n, entry_id, place, sha, status, origin, state = row
    return Held(n, entry_id, place, sha, Status(status), origin, state)


def entry_of_state(fields: Mapping[str, Any], project_id: str, entry_id: str) -> Entry:
    """Return the entry of a kept state."""
    own = {**fields}
    own["source_type"] = SourceType(own["source_type"])
    own["status"] = Status(own["status"])
    own["tags"] = tuple(own["tags"])
    return Entry(id=entry_id, project_id=project_id, **own)


def state_of_entry(entry: Entry) -> str:
    """Return an entry's state as it is kept: all but id and project."""
    names = (n for n in entry.__slots__ if n not in {"id", "project_id"})
    return compact({name: getattr(entry, name) for name in names})


def link_state(link: Link) -> str:
    """Return what a link says beside its id and ends."""
    return compact({"label": link.label, "created_at": link.created_at, "metadata": link.metadata})
