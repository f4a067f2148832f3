"""One space of the database: every statement that is run through it is bound to the space."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import apsw

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from typing import Any

    from schemory.storage.sqlite.rows import Row


@dataclass(frozen=True, slots=True)
class Space:
    """A connection and the internal number of the space it is used for.

    Attributes:
        number: The first parameter (`?1`) of each statement; 0 = no such space, nothing matches.
    """

    db: apsw.Connection
    number: int

    def rows(self, sql: str, *bound: Any) -> list[Row]:
        """Return all rows of a query."""
        return list(self.db.execute(sql, (self.number, *bound)))

    def row(self, sql: str, *bound: Any) -> Row | None:
        """Return the first row of a query, or None."""
        for row in self.db.execute(sql, (self.number, *bound)):
            return tuple(row)
        return None

    def ints(self, sql: str, *bound: Any) -> list[int]:
        """Return the first column of a query, which holds integers."""
        return [row[0] for row in self.db.execute(sql, (self.number, *bound))]

    def each(self, sql: str, bound: Iterable[tuple[Any, ...]]) -> Iterator[Row]:
        """Yield the rows of one query asked once per tuple of values, in the order of these."""
        yield from self.db.executemany(sql, ((self.number, *values) for values in bound))

    def write(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """Run a statement once per row; returns how many rows of tables it changed."""
        before = self.db.total_changes()
        self.db.executemany(sql, ((self.number, *row) for row in rows))
        return self.db.total_changes() - before


def id_list(ids: Iterable[int]) -> apsw.CArrayBinding:
    """Return ids as a value for `carray(?)`, which reads them as a table."""
    return apsw.carray(array("q", ids))


def text_list(texts: Iterable[str]) -> apsw.CArrayBinding:
    """Return texts as a value for `carray(?)`, which reads them as a table."""
    return apsw.carray(tuple(texts))
