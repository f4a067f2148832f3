"""The one short transaction of an import: what was settled before is only written."""

from collections.abc import Callable
from typing import Final

from schemory.model.entry import Entry
from schemory.model.frozen import replace
from schemory.model.moment import IdMaker
from schemory.storage.memory_protocols import IndexText, MemoryStore, MemoryTransaction
from schemory.storage.scratch.database import Scratch
from schemory.storage.scratch.entries import EntryFate, HeldEntry
from schemory.storage.scratch.tables import Fate
from schemory.transfer.memory.compare import foreign_origin
from schemory.transfer.memory.merge import with_origin
from schemory.transfer.memory.walk import batches

_FEW: Final = 500


def derive_terms(
    scratch: Scratch, store: MemoryStore, project_id: str, advance: Callable[[float], None]
) -> None:
    """Work out what new entries are indexed by, while nobody waits for a lock."""
    total = max(1, scratch.entries.count(Fate.INSERT))
    done = 0
    for page in scratch.entries.pages(Fate.INSERT):
        known = scratch.terms.find([held.n for held in page])
        pairs = zip(page, known, strict=True)
        new = [(held.n, store.index_text(held.entry(project_id))) for held, k in pairs if k is None]
        scratch.terms.keep(new)
        done += len(page)
        advance(done / total)


class Loading:
    """Writes what the scratch says into an open transaction.

    Args:
        tx: The transaction.
        scratch: With every fate settled.
        project_id: The project.
        origin: The project the file says it is from.
        ids: Makes new ids.
        index_text: Derives what was not derived before.
        advance: Told which share is written; may raise to stop.
        clears_tags: The file tells all: what it does not say of a tag is forgotten.

    Attributes:
        renamed: Entries that got a new id.
    """

    def __init__(
        self,
        tx: MemoryTransaction,
        scratch: Scratch,
        project_id: str,
        *,
        origin: str | None,
        ids: IdMaker,
        index_text: Callable[[Entry], IndexText],
        advance: Callable[[float], None],
        clears_tags: bool = False,
    ) -> None:
        self._tx = tx
        self._scratch = scratch
        self._project_id = project_id
        self._origin = origin
        self._ids = ids
        self._index_text = index_text
        self._advance = advance
        self._clears_tags = clears_tags
        self._done = 0
        self._total = 0
        self.seq = tx.seq
        self.renamed = 0

    def find_new_ids(self) -> None:
        """Give entries whose id another project of the store holds a new one."""
        for page in self._scratch.entries.pages(Fate.INSERT):
            taken = self._tx.find_taken_ids([held.id for held in page])
            changed = [EntryFate(h.n, Fate.INSERT, self._ids()) for h in page if h.id in taken]
            self._scratch.entries.set_fates(changed)
            self.renamed += len(changed)

    def write(self) -> None:
        """Write entries, tags and links, and remove what is to go."""
        tx, scratch = self._tx, self._scratch
        self._total = self._count()
        for links in batches(scratch.links.gone(), _FEW):
            tx.delete_links(links)
            self._check()
        tags = list(scratch.tags())
        if self._clears_tags:
            said = {tag.name for tag in tags if tag.description is not None}
            undescribed = [tag.name for tag in tx.list_tags() if tag.name not in said]
            tx.forget_descriptions(undescribed)
        tx.put_tags(tags)
        self._insert()
        for entries in scratch.entries.updates(self._project_id):
            tx.update_entries([self._dated(entry) for entry in entries])
            self._step(len(entries))
        for ids in batches(scratch.gone(), _FEW):
            tx.remove_entries(ids)
            self._step(len(ids))
        if scratch.count_gone():
            tx.put_tags(tags)  # a tag that only removed entries had went with them
        for page in scratch.links.inserts():
            tx.insert_links(page)
            self._step(len(page))

    def _count(self) -> int:
        entries, links = self._scratch.entries, self._scratch.links
        return sum(
            (
                entries.count(Fate.INSERT),
                entries.count(Fate.UPDATE),
                links.count(Fate.INSERT),
                self._scratch.count_gone(),
            )
        )

    def _step(self, things: int) -> None:
        self._done += things
        self._check()

    def _check(self) -> None:
        """Tell how far it is; raises when it shall end."""
        self._advance(self._done / max(1, self._total))

    def _insert(self) -> None:
        for page in self._scratch.entries.pages(Fate.INSERT):
            targets = self._scratch.entries.targets([held.n for held in page])
            entries = [self._entry(h, target) for h, target in zip(page, targets, strict=True)]
            known = self._scratch.terms.find([held.n for held in page])
            pairs = zip(entries, known, strict=True)
            texts = [self._index_text(entry) if k is None else k for entry, k in pairs]
            self._tx.insert_entries(entries, texts=texts)
            self._step(len(page))

    def _entry(self, held: HeldEntry, target: str) -> Entry:
        entry = held.entry(self._project_id, target)
        origin = foreign_origin(held, self._origin, self._project_id)
        return with_origin(entry, origin, None if target == held.id else held.id)

    def _dated(self, entry: Entry) -> Entry:
        return entry if entry.updated_at else replace(entry, updated_at=self._tx.now)
