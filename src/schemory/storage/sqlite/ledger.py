"""The ledger: one row per committed transaction, and what it needs to tell the past (storage.md).

Updates and deletes keep the state *before* them, once per item and transaction; the state after
is the next image, or the present row. Items that are new keep one row per range of ids: their ids
are all above the highest one that was ever given out before the transaction.
"""

import json
from collections.abc import Iterable, Mapping

from schemory.model.jsonvalue import compact
from schemory.storage.protocols import Commit, WriteContext
from schemory.storage.sqlite.images import Kind, image_text
from schemory.storage.sqlite.rows import Row
from schemory.storage.sqlite.space import Space

_NAMES = {
    Kind.NODE: "nodes",
    Kind.EDGE: "edges",
    Kind.KEPT: "kept",
    Kind.ENTRY: "entries",
    Kind.TAG: "tags",
    Kind.LINK: "links",
}
# Of each kind the table, its integer key, and the index over (project, that key).
_TABLES = {
    Kind.NODE: ("node", "id", "node_by_project"),
    Kind.EDGE: ("edge", "id", "edge_by_project"),
    Kind.KEPT: ("kept", "id", "kept_by_project"),
    Kind.ENTRY: ("memory_entries", "row_id", "memory_entries_by_project"),
    Kind.TAG: ("memory_tags", "id", "memory_tags_by_project"),
    Kind.LINK: ("memory_links", "number", "memory_links_by_project"),
}


def _for_each_kind(sql: str) -> dict[Kind, str]:
    statements: dict[Kind, str] = {}
    for kind, (table, key, index) in _TABLES.items():
        statement = sql.replace("{table}", table).replace("{key}", key).replace("{index}", index)
        statements[kind] = statement.replace("{kind}", kind.value)
    return statements


_NEW_SPAN = _for_each_kind(
    """SELECT count(*), min({key}), max({key}) FROM {table} INDEXED BY {index}
    WHERE project = ?1 AND {key} > ?2"""
)
_NEW_IDS = _for_each_kind(
    """SELECT {key} FROM {table} INDEXED BY {index}
    WHERE project = ?1 AND {key} > ?2 ORDER BY {key}"""
)
# Of the items with an image: whether each was there before, and whether it is there now.
_FATES = _for_each_kind(
    """SELECT c.image IS NOT NULL, EXISTS (
      SELECT 1 FROM {table} AS i INDEXED BY {index} WHERE i.project = ?1 AND i.{key} = c.item_id
    ), count(*)
    FROM change AS c WHERE c.project = ?1 AND c.seq = ?2 AND c.kind = '{kind}' GROUP BY 1, 2"""
)


class LedgerEntry:
    """The open entry of one write transaction; Python keeps little more than where it began.

    So a savepoint that rolls back takes its images with it, without any bookkeeping here.

    Attributes:
        highest: The highest ids ever given out before it; what is above is new.

    Args:
        space: Inside the open transaction.
        seq: The number it will have.
        now: The transaction's time, as stored text, never earlier than the entry before.
    """

    def __init__(self, space: Space, *, seq: int, now: str, context: WriteContext) -> None:
        self._space = space
        self.seq = seq
        self.now = now
        self.context = context
        self.highest = highest_ids(space)
        self._imaged: set[Kind] = set()  # a hint where to look; a rollback may have emptied it

    def is_new(self, kind: Kind, item_id: int) -> bool:
        """Whether this transaction made the item, under an id that never was before."""
        return item_id > self.highest[kind]

    def keep(self, kind: Kind, rows: Iterable[Row]) -> None:
        """Keep the present state of items that are about to change or go.

        Of an item that is new in this transaction, or kept already, nothing is kept.

        Args:
            kind: What they are.
            rows: Of the kind's view or table.
        """
        old = (row for row in rows if not self.is_new(kind, row[0]))
        self._keep_images(kind, ((row[0], image_text(kind, row)) for row in old))

    def keep_absence(self, kind: Kind, ids: Iterable[int]) -> None:
        """Note that items were not there which are about to come back under their old ids."""
        self._keep_images(kind, ((item_id, None) for item_id in ids))

    def _keep_images(self, kind: Kind, images: Iterable[tuple[int, str | None]]) -> None:
        sql = """
            INSERT INTO change (project, kind, item_id, seq, image) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        rows = ((kind.value, item_id, self.seq, text) for item_id, text in images)
        if self._space.write(sql, rows):
            self._imaged.add(kind)

    def touch(self, ends: Iterable[tuple[int, int]]) -> None:
        """Note (node, edge) pairs, so that the node's past finds the edge."""
        sql = """
            INSERT INTO change_touch (project, node, seq, edge) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        old = ((node, edge) for node, edge in ends if not self.is_new(Kind.EDGE, edge))
        self._space.write(sql, ((node, self.seq, edge) for node, edge in old))

    def keep_names(self, names: Iterable[tuple[str, int]]) -> None:
        """Note (name, node) pairs that end here, so that the node can still be asked for."""
        sql = """
            INSERT INTO name_past (project, name, node, seq) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        old = ((name, node) for name, node in names if not self.is_new(Kind.NODE, node))
        self._space.write(sql, ((name, node, self.seq) for name, node in old))

    def close(self, *, torn: Mapping[str, int]) -> bool:
        """Write the entry; returns False, with nothing written, when nothing changed.

        Args:
            torn: How many items left no image, on purpose, by what to call that in the entry.
        """
        items = {name: count for name, count in torn.items() if count}
        is_torn = bool(items)
        highest = highest_ids(self._space)
        for kind in Kind:
            inserted = 0
            if highest[kind] > self.highest[kind]:
                inserted += self._write_runs(kind)
            if kind in self._imaged:
                inserted += self._count_fates(kind, items)
            if inserted:
                items[f"{_NAMES[kind]}_inserted"] = inserted
        if not items:
            return False
        self._write_entry(items, is_torn=is_torn)
        return True

    def _write_entry(self, items: dict[str, int], *, is_torn: bool) -> None:
        sql = """
            INSERT INTO ledger
              (project, seq, recorded_at, operation, author, client, items, purged)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
        who = self.context
        facts = (who.operation, who.author, who.client, compact(items), int(is_torn))
        self._space.write(sql, [(self.seq, self.now, *facts)])
        sql = """
            UPDATE projects SET last_seq = ?2, last_recorded_at = ?3, updated_at = ?3
            WHERE number = ?1
        """
        self._space.write(sql, [(self.seq, self.now)])

    def _write_runs(self, kind: Kind) -> int:
        """Write the new ids as ranges; returns how many there are."""
        count, first, last = self._space.rows(_NEW_SPAN[kind], self.highest[kind])[0]
        if not count:
            return 0
        runs = [(first, last)]
        if count != last - first + 1:  # some were deleted again
            runs = ranges(self._space.ints(_NEW_IDS[kind], self.highest[kind]))
        sql = """
            INSERT INTO insert_run (project, kind, first_id, last_id, seq) VALUES (?, ?, ?, ?, ?)
        """
        self._space.write(sql, ((kind.value, *run, self.seq) for run in runs))
        return int(count)

    def _count_fates(self, kind: Kind, items: dict[str, int]) -> int:
        """Count updated and deleted items into `items`; returns how many came back."""
        back = 0
        for was_there, is_there, count in self._space.rows(_FATES[kind], self.seq):
            if was_there:
                fate = "updated" if is_there else "deleted"
                items[f"{_NAMES[kind]}_{fate}"] = count
            elif is_there:
                back = int(count)
        return back


def highest_ids(space: Space) -> dict[Kind, int]:
    """Return the highest id ever given out, per kind, over all spaces."""
    given: dict[str, int] = dict(space.db.execute("SELECT name, seq FROM sqlite_sequence"))
    return {kind: given.get(table, 0) for kind, (table, _, _) in _TABLES.items()}


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


def last_seq(space: Space) -> int:
    """Return the number of the space's newest transaction; 0 = none."""
    row = space.row("SELECT last_seq FROM projects WHERE number = ?")
    return 0 if row is None else int(row[0])


def commits(space: Space, after_seq: int, limit: int) -> tuple[Commit, ...]:
    """Return transactions in order after `after_seq`."""
    sql = """
        SELECT seq, recorded_at, operation, author, client, items FROM ledger
        WHERE project = ? AND seq > ? ORDER BY seq LIMIT ?
    """
    return tuple(map(_commit, space.rows(sql, after_seq, limit)))


def find_commit(space: Space, seq: int) -> Commit | None:
    """Return one transaction, or None."""
    found = commits(space, seq - 1, 1)
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


def insertion_seq(space: Space, kind: Kind, item_id: int) -> int | None:
    """Return the transaction that made an item, or None when history does not reach back."""
    sql = """
        SELECT last_id, seq FROM insert_run
        WHERE project = ? AND kind = ? AND first_id <= ? ORDER BY first_id DESC LIMIT 1
    """
    row = space.row(sql, kind.value, item_id)
    return int(row[1]) if row is not None and row[0] >= item_id else None
