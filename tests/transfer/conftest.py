"""Memories, each with a project folder, for what is exported and imported."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from schemory.memory.entries import content_sha256
from schemory.memory.inputs import ProjectRef, SearchRequest
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import MemorySettings
from schemory.model.author import Author
from schemory.model.entry import AuditRow, Entry, Link, Relation, SourceType, Status, Tag
from schemory.model.moment import Clock, IdMaker
from schemory.storage.memory_protocols import EntryFilter, IndexTerms
from schemory.storage.protocols import Commit, WriteContext
from schemory.storage.sqlite.store import SqliteStore
from schemory.transfer.memory.export import export_project
from schemory.transfer.memory.importer import import_project
from schemory.transfer.memory.options import (
    ExportFormat,
    ExportOptions,
    ExportReport,
    ImportOptions,
    ImportReport,
    OnConflict,
)

EARLY = "2026-01-01T00:00:00.000Z"
LATE = "2026-02-01T00:00:00.000Z"
PROBE = Author("probe/1.0", "stdio")
WRITE = WriteContext(operation="test")


def make_entry(entry_id: str, content: str = "A note.", **fields: Any) -> Entry:
    """Return an entry of the project `p`, all of it chosen by the test."""
    facts: dict[str, Any] = {
        "project_id": "p",
        "scope": "backend",
        "topic": "auth",
        "source_type": SourceType.DECISION,
        "created_at": EARLY,
        "updated_at": EARLY,
    }
    own = {**facts, **fields}
    return Entry(id=entry_id, content=content, content_sha256=content_sha256(content), **own)


def make_link(link_id: str, source: str, relation: str, target: str, **fields: Any) -> Link:
    """Return a link."""
    return Link(
        id=link_id,
        source_entry_id=source,
        target_entry_id=target,
        relation=Relation(relation),
        created_at=fields.pop("created_at", EARLY),
        **fields,
    )


@dataclass(frozen=True, slots=True)
class Held:
    """Everything a project holds."""

    entries: dict[str, Entry]
    tags: dict[str, Tag]
    links: dict[str, Link]


@dataclass(frozen=True, slots=True)
class Box:
    """A memory, one project of it, and the folder its files lie in."""

    memory: ProjectMemory
    ref: ProjectRef
    folder: Path
    by: Author = PROBE

    @staticmethod
    def make(entry_id: str, content: str = "A note.", **fields: Any) -> Entry:
        """Return an entry of the project `p`, all of it chosen by the test."""
        return make_entry(entry_id, content, **fields)

    @staticmethod
    def make_link(link_id: str, source: str, relation: str, target: str, **fields: Any) -> Link:
        """Return a link."""
        return make_link(link_id, source, relation, target, **fields)

    def write(self, name: str, data: str | bytes) -> Path:
        """Write a file of the folder."""
        path = self.folder / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def at(self, project_id: str) -> "Box":
        """Return another project of the same memory, with the same folder."""
        return Box(
            self.memory,
            ProjectRef(project_path=str(self.folder), project_id=project_id),
            self.folder,
        )

    @property
    def project_id(self) -> str:
        return self.ref.project_id or ""

    def put(self, *things: Entry | Link | Tag) -> None:
        """Store things as they are."""
        with self.memory.store.memory_transaction(self.project_id, WRITE) as tx:
            tx.put_tags([t for t in things if isinstance(t, Tag)])
            tx.insert_entries([t for t in things if isinstance(t, Entry)])
            tx.insert_links([t for t in things if isinstance(t, Link)])

    def held(self) -> Held:
        """Return everything the project holds."""
        with self.memory.store.read_memory(self.project_id) as reader:
            page = reader.list_entries(EntryFilter(), order="id", limit=10_000)
            return Held(
                {hit.entry.id: hit.entry for hit in page.hits},
                {tag.name: tag for tag in reader.list_tags()},
                {link.id: link for link in reader.list_links(limit=10_000)},
            )

    def entry(self, entry_id: str) -> Entry:
        return self.held().entries[entry_id]

    def statuses(self) -> dict[str, Status]:
        return {i: entry.status for i, entry in self.held().entries.items()}

    def export(self, name: str = "out.json", **options: Any) -> ExportReport:
        """Export everything, unless told otherwise, in the form the name says."""
        everything = {
            "format": options.get("format") or ExportFormat(name.rpartition(".")[2]),
            "include_archived": True,
            "include_invalidated": True,
            "include_superseded": True,
        }
        chosen = ExportOptions(**{**everything, **options})
        return export_project(self.memory, self.ref, name, chosen, by=self.by)

    def take(self, name: str = "out.json", mode: str = "fail", **options: Any) -> ImportReport:
        """Import a file of the folder; `replace` is confirmed."""
        chosen = {"on_conflict": OnConflict(mode), "confirm_replace": True, **options}
        how = ImportOptions(**chosen)
        return import_project(self.memory, self.ref, name, how, by=self.by)

    def undo(self, seq: int) -> Commit:
        with self.memory.store.memory_transaction(self.project_id, WRITE) as tx:
            return tx.undo(seq)

    def last_seq(self) -> int:
        with self.memory.store.read_memory(self.project_id) as reader:
            return reader.last_seq()

    def found(self, query: str) -> list[str]:
        """Return ids of what a search finds."""
        page = self.memory.search(self.ref, SearchRequest(query=query, limit=50))
        return [hit.entry.id for hit in page.hits]

    def audit(self) -> tuple[AuditRow, ...]:
        return self.memory.list_audit(self.ref, limit=1_000).rows


BoxMaker: TypeAlias = Callable[..., Box]


@pytest.fixture
def open_box(
    tmp_path: Path, clock: Clock, ids: IdMaker, index_rules: IndexTerms
) -> Iterator[BoxMaker]:
    """Opens a memory in memory, or in a file of the test's folder when it has a name."""
    stores: list[SqliteStore] = []
    folder = tmp_path / "project"
    folder.mkdir()

    def make(name: str = "", **settings: Any) -> Box:
        place = tmp_path / name if name else ":memory:"
        stores.append(SqliteStore.open(place, now=clock, ids=ids, terms=index_rules))
        memory = ProjectMemory(stores[-1], settings=MemorySettings(**settings), now=clock, ids=ids)
        return Box(memory, ProjectRef(project_path=str(folder), project_id="p"), folder)

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def box(open_box: BoxMaker) -> Box:
    """An empty memory in the file `memory.db`."""
    return open_box("memory.db")


@pytest.fixture
def other(open_box: BoxMaker) -> Box:
    """Another empty memory, with the same project folder."""
    return open_box("other.db")
