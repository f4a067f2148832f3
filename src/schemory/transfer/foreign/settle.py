"""Compares what a source says with what the project holds, and settles what becomes of each entry.

An entry is known again by its id, which is made of the project and of where it stands in the
source. What the source says otherwise by now becomes the entry's text, and the old text stays in
its history; but an entry that was changed here since is left alone, and one that was retired here
is not brought back: a new text gets a new entry beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from schemory.errors import ConflictError
from schemory.memory.similar import near_duplicates
from schemory.model.entry import Entry, Status
from schemory.model.jsonvalue import Json
from schemory.model.moment import IdMaker
from schemory.storage.memory_protocols import EntryFilter, MemoryReader
from schemory.storage.protocols import Position
from schemory.storage.scratch.database import Scratch
from schemory.storage.scratch.entries import EntryFate, HeldEntry
from schemory.storage.scratch.tables import Fate
from schemory.transfer.foreign.draft import MOST_TOLD, Place
from schemory.transfer.foreign.intake import entry_id
from schemory.transfer.foreign.options import Sample, Twin
from schemory.transfer.memory.stored_links import supersede_stored, take_stored_links

_FEW: Final = 100
_MOST_COMPARED: Final = 5_000
_SHOWN_CHARS: Final = 80
_SOURCE: Final = ("source_path", "source_sha256", "source_bytes", "source_blob")
_TOLD: Final = ("title", "summary", "source_type", "metadata")


class Settling:
    """One look at the store; every fate is in the scratch afterwards.

    Args:
        reader: A snapshot, or the transaction that will write.
        scratch: Holds the source.
        project_id: The project.
        ids: Makes ids for links whose own is taken.
        advance: Told which share is done; may raise to stop.

    Attributes:
        changed: Known entries with a new text; `refreshed`, `unchanged`, `edited` and `duplicate`
            likewise, see `options.Counts`.
        is_partly_compared: Not every new entry was compared with the store for near twins.
    """

    def __init__(
        self,
        reader: MemoryReader,
        scratch: Scratch,
        project_id: str,
        *,
        ids: IdMaker,
        advance: Callable[[float], None],
    ) -> None:
        self._reader = reader
        self._scratch = scratch
        self._project_id = project_id
        self._ids = ids
        self._advance = advance
        self._is_empty = not reader.count_statuses()
        self._compared = 0
        self.new = self.changed = self.refreshed = self.unchanged = 0
        self.edited_count = self.duplicate_count = 0
        self.duplicates: list[Twin] = []
        self.edited: list[Twin] = []
        self.near: list[Twin] = []
        self.samples: list[Sample] = []

    @property
    def is_partly_compared(self) -> bool:
        """Whether some new entries were not compared with the store for near twins."""
        return self._compared > _MOST_COMPARED

    def settle(self) -> None:
        """Give every entry and link of the source its fate.

        Raises:
            ConflictError: With the source's links an entry would supersede itself.
        """
        self._scratch.forget_fates()
        total = max(1, self._scratch.entries.count())
        for page in self._scratch.entries.pages(size=_FEW):
            found = self._reader.find_entries([held.id for held in page])
            for held in page:
                self._scratch.entries.set_fates([self._fate(held, found.get(held.id))])
            self._advance(page[-1].n / total)
        take_stored_links(self._reader, self._scratch)
        self._scratch.links.settle_merge(self._ids)
        supersede_stored(self._reader, self._scratch, self._project_id)
        cycle = self._scratch.find_cycle(with_stored=True)
        if cycle is not None:
            raise _circle(cycle)

    def find_gone(self, files: set[str]) -> list[Twin]:
        """Return entries of an earlier import of these files that they do not hold any more."""
        gone: list[Twin] = []
        after: Position | None = None
        only_active = EntryFilter(statuses=(Status.ACTIVE,))
        while not self._is_empty:
            page = self._reader.list_entries(only_active, order="id", after=after, limit=_FEW)
            for hit in page.hits:
                entry = hit.entry
                if origin_of(entry).get("file") in files and not self._scratch.entries.is_met(
                    entry.id
                ):
                    gone.append(Twin(_place(entry), entry.id))
            after = page.more
            if after is None or len(gone) >= MOST_TOLD:
                break
        return gone

    def _fate(self, held: HeldEntry, stored: Entry | None) -> EntryFate:
        if stored is None:
            return self._unknown(held, held.id)
        given = held.entry(self._project_id, stored.id)
        base = origin_of(stored).get("sha256")
        if held.sha in (stored.content_sha256, base):
            return self._known(held, stored, given)
        if base != stored.content_sha256:
            self.edited_count += 1
            self._tell(self.edited, Twin(_at(held), stored.id))
            return EntryFate(held.n, Fate.SKIP, stored.id)
        if stored.status in {Status.INVALIDATED, Status.ARCHIVED} and held.status is Status.ACTIVE:
            return self._beside(held)
        self.changed += 1
        return EntryFate(held.n, Fate.UPDATE, stored.id, _updated(stored, given, ""))

    def _known(self, held: HeldEntry, stored: Entry, given: Entry) -> EntryFate:
        """The source says what it said; where it says so may have moved."""
        has_moved = any(getattr(stored, name) != getattr(given, name) for name in _SOURCE)
        if not has_moved or stored.content_sha256 != held.sha:
            self.unchanged += 1
            return EntryFate(held.n, Fate.SAME, stored.id)
        self.refreshed += 1
        return EntryFate(held.n, Fate.UPDATE, stored.id, _updated(stored, given, stored.updated_at))

    def _unknown(self, held: HeldEntry, own_id: str) -> EntryFate:
        same = None if self._is_empty else self._same_content(held)
        if same is not None:
            self.duplicate_count += 1
            word = "" if same.status is Status.ACTIVE else f", {same.status.value} here"
            self._tell(self.duplicates, Twin(_at(held), same.id, where=f"the store{word}"))
            return EntryFate(held.n, Fate.SKIP, same.id)
        self.new += 1
        entry = held.entry(self._project_id, own_id)
        if len(self.samples) < MOST_TOLD:
            title = entry.title or entry.content.strip().partition("\n")[0][:_SHOWN_CHARS]
            place = _at(held)
            kind = entry.source_type.value
            self.samples.append(Sample(place, own_id, title, entry.scope, entry.topic, kind))
        self._find_near(held, entry)
        return EntryFate(held.n, Fate.INSERT, own_id)

    def _beside(self, held: HeldEntry) -> EntryFate:
        """The entry was retired here, and the source has another text: that one is new."""
        own_id = entry_id(self._project_id, f"{held.id}\0{held.sha}")
        if self._reader.find_entries([own_id]):
            self.unchanged += 1
            return EntryFate(held.n, Fate.SAME, own_id)
        return self._unknown(held, own_id)

    def _same_content(self, held: HeldEntry) -> Entry | None:
        found = self._reader.find_by_sha(held.sha)
        ordered = sorted(found, key=lambda entry: entry.status is not Status.ACTIVE)
        return next((e for e in ordered if not self._scratch.entries.is_met(e.id)), None)

    def _find_near(self, held: HeldEntry, entry: Entry) -> None:
        if self._is_empty:
            return
        self._compared += 1
        if self._compared > _MOST_COMPARED or len(self.near) >= MOST_TOLD:
            return
        for twin in near_duplicates(self._reader, entry.content)[:1]:
            self.near.append(Twin(_at(held), twin.entry.id, twin.similarity, "the store"))

    @staticmethod
    def _tell(places: list[Twin], twin: Twin) -> None:
        if len(places) < MOST_TOLD:
            places.append(twin)


def origin_of(entry: Entry) -> Mapping[str, Json]:
    """Return what an import noted of an entry's origin."""
    told = (entry.metadata or {}).get("import")
    return told if isinstance(told, Mapping) else {}


def _updated(stored: Entry, given: Entry, updated_at: str) -> Entry:
    """Return the stored entry with what the source says now; what people added stays."""
    own: dict[str, Any] = {name: getattr(given, name) for name in (*_SOURCE, *_TOLD)}
    kept = {**(stored.metadata or {}), **(given.metadata or {})}
    own |= {"metadata": kept, "content": given.content, "content_sha256": given.content_sha256}
    if given.status is not Status.ACTIVE and stored.status is Status.ACTIVE:
        own["status"] = given.status
    tags = tuple(sorted({*stored.tags, *given.tags}))
    return replace(stored, **own, tags=tags, updated_at=updated_at, revision=stored.revision + 1)


def _at(held: HeldEntry) -> Place:
    file, _, line = held.place.rpartition(":")
    return Place(file, int(line)) if file and line.isdecimal() else Place(held.place)


def _place(entry: Entry) -> Place:
    lines = origin_of(entry).get("lines")
    first = lines[0] if isinstance(lines, list) and lines and isinstance(lines[0], int) else 0
    return Place(str(origin_of(entry).get("file")), first)


def _circle(own_id: str) -> ConflictError:
    message = f"with the links of the source the entry {own_id} would supersede itself over others"
    hint = "Remove one of the supersedes relations, here or in the source."
    return ConflictError.at(
        "PATH", message, headline=f"{message}; nothing was stored", suggestion=hint
    )
