"""Links between entries of one project: reading them, and writing them inside a transaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from schemory.model.entry import Link
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.ledger import LedgerEntry
from schemory.storage.sqlite.memory_columns import LINK_COLUMNS
from schemory.storage.sqlite.memory_rows import link_of_row, metadata_text
from schemory.storage.sqlite.rows import Row
from schemory.storage.sqlite.space import Space, text_list

_OUT: Final = """
  SELECT o.number FROM carray(?2) AS wanted
  CROSS JOIN memory_links AS o INDEXED BY memory_links_by_ends
  WHERE o.project = ?1 AND o.source_entry_id = wanted.value
"""
_IN: Final = """
  SELECT o.number FROM carray(?2) AS wanted
  CROSS JOIN memory_links AS o INDEXED BY memory_links_by_target
  WHERE o.project = ?1 AND o.target_entry_id = wanted.value
"""
_NUMBERS: Final = {"out": _OUT, "in": _IN, "both": f"{_OUT} UNION {_IN}"}
_INSERT: Final = """
  INSERT INTO memory_links (project, number, id, source_entry_id, target_entry_id, relation, label,
                            created_at, metadata_json, since_seq)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def list_links(
    space: Space, ids: Sequence[str] | None, direction: str, after_id: str, limit: int
) -> tuple[Link, ...]:
    """Return links by id: of the whole project, or those that touch any of the entries."""
    if ids is None:
        sql = f"""
            SELECT {LINK_COLUMNS} FROM memory_links AS l INDEXED BY memory_links_by_id
            WHERE l.project = ?1 AND l.id > ?2 ORDER BY l.id LIMIT ?3
        """  # noqa: S608 (column names of ours)
        return tuple(map(link_of_row, space.rows(sql, after_id, limit)))
    if not ids:
        return ()
    sql = f"""
        SELECT {LINK_COLUMNS} FROM memory_links AS l
        WHERE l.number IN ({_NUMBERS[direction]}) AND l.project = ?1 AND l.id > ?3
        ORDER BY l.id LIMIT ?4
    """  # noqa: S608 (statements of ours)
    return tuple(map(link_of_row, space.rows(sql, text_list(ids), after_id, limit)))


def find_link(space: Space, link_id: str) -> Link | None:
    """Return one link, or None."""
    rows = link_rows(space, [link_id])
    return link_of_row(rows[0]) if rows else None


def link_rows(space: Space, ids: Sequence[str]) -> list[Row]:
    """Return rows of LINK_COLUMNS by the links' text ids."""
    sql = f"""
        SELECT {LINK_COLUMNS} FROM carray(?2) AS wanted
        CROSS JOIN memory_links AS l INDEXED BY memory_links_by_id
        WHERE l.project = ?1 AND l.id = wanted.value
    """  # noqa: S608 (column names of ours)
    return space.rows(sql, text_list(ids)) if ids else []


class LinkWriter:
    """Writes links inside the open transaction."""

    def __init__(self, space: Space, entry: LedgerEntry) -> None:
        self._space = space
        self._entry = entry

    def insert(self, links: Iterable[Link]) -> None:
        """Insert links whose ends are there."""
        self._space.write(_INSERT, (self._values(None, link) for link in links))

    def restore(self, links: Mapping[int, Link]) -> None:
        """Insert links again under numbers they had before."""
        self._entry.keep_absence(Kind.LINK, links)
        self._space.write(_INSERT, (self._values(number, link) for number, link in links.items()))

    def _values(self, number: int | None, link: Link) -> Row:
        return (
            number,
            link.id,
            link.source_entry_id,
            link.target_entry_id,
            link.relation.value,
            link.label,
            link.created_at,
            metadata_text(link.metadata),
            self._entry.seq,
        )

    def delete(self, ids: Sequence[str]) -> None:
        """Delete links; their state is kept, and known to both ends."""
        self.delete_rows(link_rows(self._space, ids))

    def delete_numbers(self, numbers: Iterable[int]) -> None:
        """Delete links by their internal numbers, as `delete`."""
        sql = f"SELECT {LINK_COLUMNS} FROM memory_links AS l WHERE l.number = ?2 AND l.project = ?1"  # noqa: S608 (column names of ours)
        self.delete_rows([row for number in numbers for row in self._space.rows(sql, number)])

    def delete_rows(self, rows: Sequence[Row]) -> None:
        """Delete links given as rows of LINK_COLUMNS."""
        self._entry.keep(Kind.LINK, rows)
        touch = """
            INSERT INTO memory_link_touch (project, entry_id, link) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        old = [row for row in rows if not self._entry.is_new(Kind.LINK, row[0])]
        self._space.write(touch, ((end, row[0]) for row in old for end in (row[2], row[3])))
        sql = "DELETE FROM memory_links WHERE number = ?2 AND project = ?1"
        self._space.write(sql, ((row[0],) for row in rows))
