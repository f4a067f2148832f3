"""The temporary database of one import.

A file of any size is checked in bounded memory, and the store's write lock is taken only when all
is known. Everything it holds is gone when it is closed.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Self

from schemory.model.entry import Tag
from schemory.model.jsonvalue import Json
from schemory.storage.scratch.cycles import find_cycle
from schemory.storage.scratch.entries import HeldEntries, HeldTerms
from schemory.storage.scratch.links import HeldLinks
from schemory.storage.scratch.tables import one, open_database


class Scratch:
    """What a file holds, and what becomes of it; open inside its `with` block.

    Attributes:
        entries: The file's entries.
        terms: What they are indexed by.
        links: The file's links, and the store's beside them.
    """

    def __init__(self) -> None:
        self._db = open_database()
        self.entries = HeldEntries(self._db)
        self.terms = HeldTerms(self._db)
        self.links = HeldLinks(self._db)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    def add_tag(self, fields: Mapping[str, Json]) -> bool:
        """Keep a tag; False when its name is there already."""
        sql = "INSERT INTO tag VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        values = (fields["name"], fields["description"], fields["created_at"])
        return self._db.execute(sql, values).rowcount == 1

    def tags(self) -> Iterator[Tag]:
        """Yield the file's tags by name."""
        for name, description, created_at in self._db.execute("SELECT * FROM tag ORDER BY name"):
            yield Tag(name=name, description=description, created_at=created_at or "")

    def forget_fates(self) -> None:
        """Begin the comparison with the store anew."""
        self._db.executescript("""
            UPDATE entry SET fate = NULL, target = NULL WHERE fate IS NOT NULL;
            UPDATE link SET fate = NULL, new_id = NULL WHERE fate IS NOT NULL;
            DELETE FROM merged; DELETE FROM stored_link; DELETE FROM gone;
        """)

    def keep_only_file(self, stored_ids: Iterable[str]) -> None:
        """Settle that those of the store's entries go that the file does not hold."""
        sql = """
            INSERT INTO gone SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM entry WHERE id = ?1)
        """
        self._db.executemany(sql, ((entry_id,) for entry_id in stored_ids))

    def gone(self) -> Iterator[str]:
        """Yield ids of the store's entries that are to be removed."""
        return (row[0] for row in self._db.execute("SELECT id FROM gone ORDER BY id"))

    def count_gone(self) -> int:
        """Return how many of the store's entries are to be removed."""
        return int(one(self._db, "SELECT count(*) FROM gone"))

    def find_cycle(self, *, with_stored: bool) -> str | None:
        """Return the id of an entry that supersedes itself over others, or None.

        Args:
            with_stored: Also go over the links of the store.
        """
        return find_cycle(self._db, with_stored=with_stored)
