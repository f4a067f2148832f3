"""Compares a file with what the project holds, and settles what becomes of each thing in it."""

from collections.abc import Callable, Iterator
from typing import Final

from schemory.errors import ConflictError
from schemory.memory.faults import over_limit
from schemory.memory.settings import Limits
from schemory.model.entry import Entry, Status
from schemory.model.moment import IdMaker
from schemory.storage.memory_protocols import EntryFilter, MemoryReader
from schemory.storage.protocols import Position
from schemory.storage.scratch.database import Scratch
from schemory.storage.scratch.entries import EntryFate, HeldEntry
from schemory.storage.scratch.tables import Fate
from schemory.transfer.memory.faults import FileFaults
from schemory.transfer.memory.merge import merged, replaced, with_origin
from schemory.transfer.memory.options import OnConflict
from schemory.transfer.memory.stored_links import supersede_stored, take_stored_links

_FEW: Final = 100


class Comparison:
    """One look at the store; everything it finds out is in the scratch.

    Args:
        reader: A snapshot, or the transaction that will write.
        scratch: Holds the file.
        project_id: The project that imports.
        origin: The project the file says it is from.
        limits: The project's.
        ids: Makes ids for links whose own is taken.
        advance: Told which share of the entries is done; may raise to stop.

    Attributes:
        other_contents: Entries whose content in the file is not that of the store.
    """

    def __init__(
        self,
        reader: MemoryReader,
        scratch: Scratch,
        *,
        project_id: str,
        origin: str | None,
        limits: Limits,
        ids: IdMaker,
        advance: Callable[[float], None],
    ) -> None:
        self._reader = reader
        self._scratch = scratch
        self._project_id = project_id
        self._origin = origin
        self._limits = limits
        self._ids = ids
        self._advance = advance
        self._faults = FileFaults(allow_secret=False)
        self.other_contents = 0

    def settle(self, mode: OnConflict) -> None:
        """Give every entry and link of the file its fate.

        Raises:
            ConflictError: With `fail`: something is there already.
            SchemoryError: With `merge`: something cannot be brought together.
        """
        self._scratch.forget_fates()
        if not self._reader.count_statuses():
            self._insert_all()
            return
        if mode is OnConflict.FAIL:
            self._refuse_known()
            self._insert_all()
            return
        take_stored_links(self._reader, self._scratch)
        if mode is OnConflict.MERGE:
            self._merge()
        else:
            self._replace()

    def has_tag_changes(self, mode: OnConflict) -> bool:
        """Whether the file's tags say anything that is not known, or with `replace` less."""
        known = {tag.name: tag.description for tag in self._reader.list_tags()}
        told = {tag.name: tag.description for tag in self._scratch.tags()}
        if mode is OnConflict.REPLACE and any(
            description is not None and told.get(name) is None
            for name, description in known.items()
        ):
            return True
        return any(
            name not in known or (description is not None and description != known[name])
            for name, description in told.items()
        )

    def _insert_all(self) -> None:
        self._scratch.entries.insert_all()
        self._scratch.links.insert_all()

    def _pages(self) -> Iterator[tuple[list[HeldEntry], dict[str, Entry]]]:
        """Yield the file's entries with those of the store that have their ids."""
        total = max(1, self._scratch.entries.count())
        for page in self._scratch.entries.pages(size=_FEW):
            yield page, self._reader.find_entries([held.id for held in page])
            self._advance(page[-1].n / total)

    def _refuse_known(self) -> None:
        for page, found in self._pages():
            for held in page:
                if held.id in found:
                    raise _known(held, held.id, "id")
                same = self._reader.find_by_sha(held.sha)
                if same:
                    raise _known(held, same[0].id, "content")

    # Merging

    def _merge(self) -> None:
        for page, found in self._pages():
            # One at a time: two equal texts of the file meet two of the store, not one.
            for held in page:
                stored = found.get(held.id) or self._same_content(held)
                self._scratch.entries.set_fates([self._merged(held, stored)])
        self._scratch.links.settle_merge(self._ids)
        supersede_stored(self._reader, self._scratch, self._project_id)
        self._faults.raise_any()
        cycle = self._scratch.find_cycle(with_stored=True)
        if cycle is not None:
            raise _circle(cycle)

    def _merged(self, held: HeldEntry, stored: Entry | None) -> EntryFate:
        if stored is None:
            return EntryFate(held.n, Fate.INSERT, held.id)
        if stored.content_sha256 != held.sha:
            self.other_contents += 1
        given = held.entry(self._project_id)
        united = merged(stored, given, is_held_superseded=self._is_held(stored))
        if len(united.tags) > self._limits.max_tags:
            count, most = len(united.tags), self._limits.max_tags
            fault = over_limit("tags", count, most, "tags with those stored", "MEMORY_MAX_TAGS")
            self._faults.add(held.place, fault)
        if united is stored:
            fate = Fate.SAME if stored.id == held.id else Fate.SKIP
            return EntryFate(held.n, fate, stored.id)
        return EntryFate(held.n, Fate.UPDATE, stored.id, united)

    def _same_content(self, held: HeldEntry) -> Entry | None:
        """Return an entry of the store with this content and status that nothing else has met."""
        for entry in self._reader.find_by_sha(held.sha, statuses=(held.status,)):
            if not self._scratch.entries.is_met(entry.id):
                return entry
        return None

    def _is_held(self, stored: Entry) -> bool:
        """Whether a link of the store keeps an entry superseded."""
        links = self._scratch.links
        return stored.status is Status.SUPERSEDED and links.is_superseded(stored.id)

    # Replacing

    def _replace(self) -> None:
        for page, found in self._pages():
            self._scratch.entries.set_fates(
                [self._replaced(held, found.get(held.id)) for held in page]
            )
        self._scratch.links.settle_replace()
        after: Position | None = None
        while True:
            stored = self._reader.list_entries(EntryFilter(), order="id", after=after, limit=_FEW)
            self._scratch.keep_only_file(hit.entry.id for hit in stored.hits)
            after = stored.more
            self._advance(1.0)
            if after is None:
                return

    def _replaced(self, held: HeldEntry, stored: Entry | None) -> EntryFate:
        if stored is None:
            return EntryFate(held.n, Fate.INSERT, held.id)
        origin = foreign_origin(held, self._origin, self._project_id)
        given = with_origin(held.entry(self._project_id), origin, None)
        new = replaced(stored, given)
        if new is stored:
            return EntryFate(held.n, Fate.SAME, stored.id)
        return EntryFate(held.n, Fate.UPDATE, stored.id, new)


def foreign_origin(held: HeldEntry, origin: str | None, project_id: str) -> str | None:
    """Return the project an entry of the file comes from, None when it is the importing one."""
    told = held.origin or origin
    return None if told == project_id else told


def _known(held: HeldEntry, entry_id: str, by: str) -> ConflictError:
    message = f"{held.place}: the project holds an entry with this {by} already, {entry_id}"
    hint = "Pass on_conflict=merge to add what is new, or replace (with confirm_replace=true)."
    return ConflictError.at(
        "$.on_conflict",
        message,
        headline=f"{message}; nothing was stored",
        suggestion=hint,
        context={"existing_entry_id": entry_id},
    )


def _circle(entry_id: str) -> ConflictError:
    message = f"with the file's links the entry {entry_id} would supersede itself over others"
    hint = "Remove one of the supersedes links, here or where the file comes from."
    return ConflictError.at(
        "$.import_path", message, headline=f"{message}; nothing was stored", suggestion=hint
    )
