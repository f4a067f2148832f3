"""The ledger: one row per committed transaction, and what it needs to tell the past (storage.md).

Updates and deletes keep the state *before* them, once per item and transaction; the state after
is the next image, or the present row. Items that are new keep one row per range of ids: their ids
are all above the highest one that was ever given out before the transaction.
"""

import json
from collections.abc import Iterable, Sequence

import apsw

from schemory.model.jsonvalue import compact
from schemory.storage.protocols import Commit, WriteContext
from schemory.storage.sqlite.images import Kind, image_text
from schemory.storage.sqlite.rows import Row

_NAMES = {Kind.NODE: "nodes", Kind.EDGE: "edges", Kind.KEPT: "kept"}
_NEW_SPAN = {
    Kind.NODE: """SELECT count(*), min(id), max(id) FROM node INDEXED BY node_by_project
        WHERE project = ? AND id > ?""",
    Kind.EDGE: """SELECT count(*), min(id), max(id) FROM edge INDEXED BY edge_by_project
        WHERE project = ? AND id > ?""",
    Kind.KEPT: """SELECT count(*), min(id), max(id) FROM kept INDEXED BY kept_by_project
        WHERE project = ? AND id > ?""",
}
_NEW_IDS = {
    Kind.NODE: """SELECT id FROM node INDEXED BY node_by_project
        WHERE project = ? AND id > ? ORDER BY id""",
    Kind.EDGE: """SELECT id FROM edge INDEXED BY edge_by_project
        WHERE project = ? AND id > ? ORDER BY id""",
    Kind.KEPT: """SELECT id FROM kept INDEXED BY kept_by_project
        WHERE project = ? AND id > ? ORDER BY id""",
}
# Of the items with an image: whether each was there before, and whether it is there now.
_FATES = {
    Kind.NODE: """SELECT c.image IS NOT NULL, i.id IS NOT NULL, count(*)
        FROM change AS c LEFT JOIN node AS i ON i.id = c.item_id
        WHERE c.project = ? AND c.seq = ? AND c.kind = 'node' GROUP BY 1, 2""",
    Kind.EDGE: """SELECT c.image IS NOT NULL, i.id IS NOT NULL, count(*)
        FROM change AS c LEFT JOIN edge AS i ON i.id = c.item_id
        WHERE c.project = ? AND c.seq = ? AND c.kind = 'edge' GROUP BY 1, 2""",
    Kind.KEPT: """SELECT c.image IS NOT NULL, i.id IS NOT NULL, count(*)
        FROM change AS c LEFT JOIN kept AS i ON i.id = c.item_id
        WHERE c.project = ? AND c.seq = ? AND c.kind = 'kept' GROUP BY 1, 2""",
}


class LedgerEntry:
    """The open entry of one write transaction; nothing is kept in Python but where it began.

    So a savepoint that rolls back takes its images with it, without any bookkeeping here.

    Args:
        now: The transaction's time, as stored text, never earlier than the entry before.
    """

    def __init__(
        self, db: apsw.Connection, number: int, *, seq: int, now: str, context: WriteContext
    ) -> None:
        self._db = db
        self._number = number
        self.seq = seq
        self.now = now
        self.context = context
        self._highest = highest_ids(db)

    def is_new(self, kind: Kind, item_id: int) -> bool:
        """Whether this transaction made the item, under an id that never was before."""
        return item_id > self._highest[kind]

    def keep(self, kind: Kind, rows: Iterable[Row]) -> None:
        """Keep the present state of items that are about to change or go.

        Args:
            rows: Of the kind's view; of an item that is new here, or kept already, nothing is
                kept.
        """
        self._keep_images(
            kind, ((row[0], image_text(kind, row)) for row in rows if not self.is_new(kind, row[0]))
        )

    def keep_absence(self, kind: Kind, ids: Iterable[int]) -> None:
        """Note that items were not there which are about to come back under their old ids."""
        self._keep_images(kind, ((item_id, None) for item_id in ids))

    def _keep_images(self, kind: Kind, images: Iterable[tuple[int, str | None]]) -> None:
        self._db.executemany(
            "INSERT INTO change (project, kind, item_id, seq, image) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            ((self._number, kind.value, item_id, self.seq, image) for item_id, image in images),
        )

    def touch(self, ends: Iterable[tuple[int, int]]) -> None:
        """Note (node, edge) pairs, so that the node's past finds the edge."""
        self._db.executemany(
            "INSERT INTO change_touch (project, node, seq, edge) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (
                (self._number, node_id, self.seq, edge_id)
                for node_id, edge_id in ends
                if not self.is_new(Kind.EDGE, edge_id)
            ),
        )

    def keep_names(self, names: Iterable[tuple[str, int]]) -> None:
        """Note (name, node) pairs that end here, so that the node can still be asked for."""
        self._db.executemany(
            "INSERT INTO name_past (project, name, node, seq) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (
                (self._number, name, node_id, self.seq)
                for name, node_id in names
                if not self.is_new(Kind.NODE, node_id)
            ),
        )

    def close(self, *, extra_items: dict[str, int]) -> bool:
        """Write the entry; returns False, with nothing written, when nothing changed.

        Args:
            extra_items: Counts of what left no image on purpose (purges).
        """
        items = dict(extra_items)
        for kind in Kind:
            inserted = self._write_runs(kind) + self._count_fates(kind, items)
            if inserted:
                items[f"{_NAMES[kind]}_inserted"] = inserted
        if not items:
            return False
        self._db.execute(
            "INSERT INTO ledger (project, seq, recorded_at, operation, author, client, items, "
            "purged) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._number,
                self.seq,
                self.now,
                self.context.operation,
                self.context.author,
                self.context.client,
                compact(items),
                int(bool(extra_items)),
            ),
        )
        self._db.execute(
            "UPDATE projects SET last_seq = ?, last_recorded_at = ?, updated_at = ? "
            "WHERE number = ?",
            (self.seq, self.now, self.now, self._number),
        )
        return True

    def _write_runs(self, kind: Kind) -> int:
        bound = (self._number, self._highest[kind])
        count, first, last = self._db.execute(_NEW_SPAN[kind], bound).fetchall()[0]
        if not count:
            return 0
        runs: Sequence[tuple[int, int]] = ((first, last),)
        if count != last - first + 1:  # some were deleted again, or rolled back
            runs = ranges(row[0] for row in self._db.execute(_NEW_IDS[kind], bound))
        self._db.executemany(
            "INSERT INTO insert_run (project, kind, first_id, last_id, seq) VALUES (?, ?, ?, ?, ?)",
            ((self._number, kind.value, *run, self.seq) for run in runs),
        )
        return int(count)

    def _count_fates(self, kind: Kind, items: dict[str, int]) -> int:
        """Count updated and deleted items into `items`; returns how many came back."""
        back = 0
        fates = self._db.execute(_FATES[kind], (self._number, self.seq)).fetchall()
        for was_there, is_there, count in fates:
            if was_there:
                fate = "updated" if is_there else "deleted"
                items[f"{_NAMES[kind]}_{fate}"] = count
            else:
                back += count if is_there else 0
        return back


def highest_ids(db: apsw.Connection) -> dict[Kind, int]:
    """Return the highest id ever given out, per kind, over all projects."""
    given = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    return {kind: int(given.get(kind.value, 0)) for kind in Kind}


def ranges(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Return ascending ids as (first, last) ranges.

    >>> ranges([1, 2, 3, 7, 9, 10])
    [(1, 3), (7, 7), (9, 10)]
    """
    found: list[tuple[int, int]] = []
    for item_id in ids:
        if found and found[-1][1] == item_id - 1:
            found[-1] = (found[-1][0], item_id)
        else:
            found.append((item_id, item_id))
    return found


def last_seq(db: apsw.Connection, number: int) -> int:
    """Return the number of the space's newest transaction; 0 = none."""
    row = db.execute("SELECT last_seq FROM projects WHERE number = ?", (number,)).fetchone()
    return 0 if row is None else int(row[0])


def commits(db: apsw.Connection, number: int, after_seq: int, limit: int) -> tuple[Commit, ...]:
    """Return transactions in order after `after_seq`."""
    sql = """
        SELECT seq, recorded_at, operation, author, client, items FROM ledger
        WHERE project = ? AND seq > ? ORDER BY seq LIMIT ?
    """
    return tuple(map(_commit, db.execute(sql, (number, after_seq, limit))))


def find_commit(db: apsw.Connection, number: int, seq: int) -> Commit | None:
    """Return one transaction, or None."""
    found = commits(db, number, seq - 1, 1)
    return found[0] if found and found[0].seq == seq else None


def _commit(row: Row) -> Commit:
    seq, recorded_at, operation, author, client, items = row
    return Commit(
        seq=seq,
        recorded_at=recorded_at,
        operation=operation,
        author=author,
        client=client,
        items=json.loads(items),
    )


def insertion_seq(db: apsw.Connection, number: int, kind: Kind, item_id: int) -> int | None:
    """Return the transaction that made an item, or None when history does not reach back."""
    sql = """
        SELECT last_id, seq FROM insert_run
        WHERE project = ? AND kind = ? AND first_id <= ? ORDER BY first_id DESC LIMIT 1
    """
    row = db.execute(sql, (number, kind.value, item_id)).fetchone()
    return int(row[1]) if row is not None and row[0] >= item_id else None
