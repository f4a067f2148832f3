"""The file's links in the temporary database, beside those of the store."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from schemory.model.entry import Entry, Link, Relation
from schemory.model.jsonvalue import Json, compact
from schemory.model.moment import IdMaker
from schemory.storage.scratch.entries import entry_of_fields
from schemory.storage.scratch.tables import PAGE, Fate, few, one


class Dangling(NamedTuple):
    """A link of the file with an end that is not in it."""

    place: str
    field: str
    entry_id: str


class Superseded(NamedTuple):
    """An entry of the store that a new link supersedes; `new` = its state, where it changes."""

    n: int
    target: str
    new: Entry | None


class HeldLinks:
    """The file's links, and the store's."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, fields: Mapping[str, Json], place: str) -> bool:
        """Keep a link; False when its id, or one that says the same, is there already."""
        sql = """
            INSERT INTO link (id, place, source, target, relation, state)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """
        ends = (fields["source_entry_id"], fields["target_entry_id"], str(fields["relation"]))
        rest = _state(fields["label"], fields["created_at"], fields["metadata"])
        return self._db.execute(sql, (fields["id"], place, *ends, rest)).rowcount == 1

    def dangling(self) -> Iterator[Dangling]:
        """Yield links with an end that is not in the file."""
        sql = """
            SELECT l.n, l.place, 'source_entry_id', l.source FROM link AS l
            WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = l.source)
            UNION ALL SELECT l.n, l.place, 'target_entry_id', l.target FROM link AS l
            WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = l.target) ORDER BY 1
        """
        return (Dangling(*row[1:]) for row in self._db.execute(sql))

    def supersede(self) -> None:
        """Make entries superseded that are active and that a link of the file supersedes."""
        self._db.execute("""
            UPDATE entry SET status = 'superseded' WHERE status = 'active' AND EXISTS (
              SELECT 1 FROM link WHERE link.target = entry.id AND link.relation = 'supersedes')
        """)

    def take_stored(self, links: Sequence[Link]) -> None:
        """Put links of the store beside the file's."""
        sql = """
            INSERT INTO stored_link (id, source, target, relation, state) VALUES (?, ?, ?, ?, ?)
        """
        rows = (
            (
                link.id,
                link.source_entry_id,
                link.target_entry_id,
                link.relation.value,
                _state(link.label, link.created_at, link.metadata),
            )
            for link in links
        )
        self._db.executemany(sql, rows)

    def insert_all(self) -> None:
        """Settle that every link is inserted."""
        self._db.execute("UPDATE link SET fate = 'insert'")

    def settle_merge(self, ids: IdMaker) -> None:
        """Links that say what one of the store says stay; the others need ids of their own."""
        self.insert_all()
        self._db.execute("""
            UPDATE link SET fate = 'same' WHERE EXISTS (
              SELECT 1 FROM entry AS s, entry AS t, stored_link AS k
              WHERE s.id = link.source AND t.id = link.target AND k.source = s.target
                AND k.target = t.target AND k.relation = link.relation)
        """)
        sql = """
            SELECT l.n FROM link AS l JOIN stored_link AS k ON k.id = l.id WHERE l.fate = 'insert'
        """
        taken = [row[0] for row in self._db.execute(sql)]
        renew = "UPDATE link SET new_id = ? WHERE n = ?"
        self._db.executemany(renew, ((ids(), n) for n in taken))

    def settle_replace(self) -> None:
        """Links that are the same in the store stay; all others of the store are to go."""
        self.insert_all()
        self._db.executescript("""
            UPDATE link SET fate = 'same' WHERE EXISTS (
              SELECT 1 FROM stored_link AS k
              WHERE k.id = link.id AND k.source = link.source AND k.target = link.target
                AND k.relation = link.relation AND k.state = link.state);
            UPDATE stored_link SET is_gone = NOT EXISTS (
              SELECT 1 FROM link AS l WHERE l.id = stored_link.id AND l.fate = 'same');
        """)

    def is_superseded(self, entry_id: str) -> bool:
        """Whether a link of the store supersedes an entry."""
        sql = "SELECT 1 FROM stored_link WHERE target = ? AND relation = 'supersedes'"
        return one(self._db, sql, entry_id) is not None

    def newly_superseded(self, project_id: str) -> Iterator[Superseded]:
        """Yield entries that are in the store already and that a new link supersedes."""
        sql = """
            SELECT DISTINCT t.n, t.target FROM link AS l JOIN entry AS t ON t.id = l.target
            WHERE l.relation = 'supersedes' AND l.fate = 'insert' AND t.fate <> 'insert'
        """
        state = "SELECT state FROM merged WHERE n = ?"
        for n, target in self._db.execute(sql).fetchall():
            text = one(self._db, state, n)
            new = None if text is None else entry_of_fields(json.loads(text), project_id, target)
            yield Superseded(n, target, new)

    def gone(self) -> Iterator[str]:
        """Yield ids of the store's links that are to be removed."""
        return (row[0] for row in self._db.execute("SELECT id FROM stored_link WHERE is_gone"))

    def count(self, fate: Fate) -> int:
        """Return how many links have this fate."""
        return int(one(self._db, "SELECT count(*) FROM link WHERE fate = ?", fate.value))

    def inserts(self) -> Iterator[list[Link]]:
        """Yield links that are to be inserted, with their ends as the store knows them."""
        sql = """
            SELECT l.n, ifnull(l.new_id, l.id), s.target, t.target, l.relation, l.state
            FROM link AS l JOIN entry AS s ON s.id = l.source JOIN entry AS t ON t.id = l.target
            WHERE l.fate = 'insert' AND l.n > :after ORDER BY l.n LIMIT :size
        """
        bound: dict[str, object] = {"after": 0, "size": PAGE}
        while rows := few(self._db, sql, bound):
            bound["after"] = rows[-1][0]
            yield [_link(row) for row in rows]


def _link(row: tuple[Any, ...]) -> Link:
    _, link_id, source, target, relation, state = row
    return Link(
        id=link_id,
        source_entry_id=source,
        target_entry_id=target,
        relation=Relation(relation),
        **json.loads(state),
    )


def _state(label: Json, created_at: Json, metadata: Json) -> str:
    """Return what a link says beside its id and ends."""
    return compact({"label": label, "created_at": created_at, "metadata": metadata})
