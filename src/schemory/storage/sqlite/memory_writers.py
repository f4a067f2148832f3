"""All that one transaction writes a project's memory with."""

from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.sqlite.ledger import LedgerEntry
from schemory.storage.sqlite.memory_links import LinkWriter
from schemory.storage.sqlite.memory_tags import TagWriter
from schemory.storage.sqlite.memory_writer import EntryWriter
from schemory.storage.sqlite.space import Space


class MemoryWriters:
    """The writers of one project's memory that share one ledger entry."""

    def __init__(
        self, space: Space, project_id: str, entry: LedgerEntry, terms: IndexTerms
    ) -> None:
        self.project_id = project_id
        self.tags = TagWriter(space, entry)
        self.entries = EntryWriter(space, project_id, entry, terms, self.tags)
        self.links = LinkWriter(space, entry)
