"""The store's links beside a file's: what a new link makes of entries that are there already."""

from typing import Final

from schemory.model.entry import Status
from schemory.model.frozen import replace
from schemory.storage.memory_protocols import MemoryReader
from schemory.storage.scratch.database import Scratch
from schemory.storage.scratch.entries import EntryFate
from schemory.storage.scratch.tables import Fate
from schemory.transfer.memory.merge import superseded

_PAGE: Final = 1_000


def take_stored_links(reader: MemoryReader, scratch: Scratch) -> None:
    """Put the store's links beside the file's."""
    after = ""
    while page := reader.list_links(after_id=after, limit=_PAGE):
        after = page[-1].id
        scratch.links.take_stored(page)


def supersede_stored(reader: MemoryReader, scratch: Scratch, project_id: str) -> None:
    """Settle that entries of the store which a new link supersedes are active no longer."""
    for n, target, new in scratch.links.newly_superseded(project_id):
        if new is None:
            stored = reader.find_entries([target])[target]
        else:
            stored = replace(new, revision=new.revision - 1)  # one change, one revision
        if stored.status is Status.ACTIVE:
            scratch.entries.set_fates([EntryFate(n, Fate.UPDATE, target, superseded(stored))])
