"""Memories over each real store, and projects in folders of the test's."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from schemory.memory.inputs import (
    EntryUpdate,
    LinkRequest,
    NewEntry,
    ProjectRef,
    ReadRequest,
    SearchRequest,
)
from schemory.memory.results import EntryAdded, EntryRead, EntryUpdated, LinkWritten, SearchPage
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import MemorySettings
from schemory.memory.vectors import Vectors
from schemory.model.author import Author
from schemory.model.entry import AuditRow, Entry
from schemory.model.moment import Clock, IdMaker
from schemory.retrieval.embedding.choice import ModelChoice
from schemory.retrieval.embedding.model import EmbeddingModel
from schemory.retrieval.embedding.usem3 import Usem3
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.sqlite.store import SqliteStore


class Notes:
    """A memory, and short ways to use it for one project.

    Attributes:
        ref: The project of calls that name none.
    """

    by = Author("probe/1.0", "stdio")

    def __init__(self, memory: ProjectMemory, ref: ProjectRef) -> None:
        self.memory = memory
        self.ref = ref

    def at(self, project_id: str | None = None, path: Path | None = None, **more: Any) -> "Notes":
        """Return the notes of another project of the same memory."""
        text = None if path is None else str(path)
        return Notes(self.memory, ProjectRef(project_path=text, project_id=project_id, **more))

    def add(self, content: str = "A note.", **fields: Any) -> EntryAdded:
        """Add an entry in the scope `backend` and the topic `auth`, unless told otherwise."""
        facts = {"scope": "backend", "topic": "auth", "source_type": "agent_note"}
        new = NewEntry(content=content, **(facts | fields))
        return self.memory.add_entry(self.ref, new, by=self.by)

    def entry(self, content: str = "A note.", **fields: Any) -> Entry:
        """Add an entry and return it."""
        return self.add(content, **fields).entry

    def read(self, entry_id: str, **how: Any) -> EntryRead:
        """Read an entry."""
        return self.memory.read_entry(self.ref, ReadRequest(entry_id=entry_id, **how))

    def search(self, query: str = "", **how: Any) -> SearchPage:
        """Search the project."""
        return self.memory.search(self.ref, SearchRequest(query=query, **how))

    def found(self, query: str = "", **how: Any) -> list[str]:
        """Return the contents of the hits, best first."""
        return [hit.entry.content for hit in self.search(query, **how).hits]

    def update(self, entry_id: str, **changes: Any) -> EntryUpdated:
        """Change fields of an entry."""
        return self.memory.update_entry(
            self.ref, EntryUpdate(entry_id=entry_id, changes=changes), by=self.by
        )

    def link(self, source: Entry, relation: str, target: Entry, **more: Any) -> LinkWritten:
        """Link two entries."""
        request = LinkRequest(
            source_entry_id=source.id, target_entry_id=target.id, relation=relation, **more
        )
        return self.memory.link_entries(self.ref, request, by=self.by)

    def audit(self) -> tuple[AuditRow, ...]:
        """Return the project's audit rows, oldest first."""
        return self.memory.list_audit(self.ref, limit=1_000).rows


NotesMaker: TypeAlias = Callable[..., Notes]
"""Opens notes of the project `p` over the test's store, with these settings."""


@pytest.fixture
def open_notes(memory_store: SqliteStore, clock: Clock, ids: IdMaker) -> NotesMaker:
    """Opens memories over one store, each with settings of its own."""

    def make(**settings: Any) -> Notes:
        memory = ProjectMemory(
            memory_store, settings=MemorySettings(**settings), now=clock, ids=ids
        )
        return Notes(memory, ProjectRef(project_id="p"))

    return make


@pytest.fixture
def notes(open_notes: NotesMaker) -> Notes:
    """The notes of the project `p`, with the default settings."""
    return open_notes()


@pytest.fixture
def notes_on_disk(memory_on_disk: SqliteStore, clock: Clock, ids: IdMaker) -> Notes:
    """The same, in the file `memory.db` of the test's folder."""
    memory = ProjectMemory(memory_on_disk, settings=MemorySettings(), now=clock, ids=ids)
    return Notes(memory, ProjectRef(project_id="p"))


@pytest.fixture
def fresh_notes(
    clock: Clock, ids: IdMaker, index_rules: IndexTerms
) -> Iterator[Callable[[], Notes]]:
    """Opens notes of the project `p` over a new, empty store, at each call."""
    opened: list[SqliteStore] = []

    def make() -> Notes:
        for store in opened:
            store.close()
        opened[:] = [SqliteStore.open(":memory:", now=clock, ids=ids, terms=index_rules)]
        memory = ProjectMemory(opened[0], settings=MemorySettings(), now=clock, ids=ids)
        return Notes(memory, ProjectRef(project_id="p"))

    yield make
    for store in opened:
        store.close()


@pytest.fixture(scope="session")
def embedding_model() -> EmbeddingModel:
    """The default model of search by meaning, loaded once."""
    return Usem3()


MeaningMaker: TypeAlias = Callable[..., Notes]
"""Opens notes of the project `p` that are searched by meaning too."""


@pytest.fixture
def open_meaning(
    memory_store: SqliteStore, clock: Clock, ids: IdMaker, embedding_model: EmbeddingModel
) -> Iterator[MeaningMaker]:
    """Opens memories over the test's one store, with a model given or the default one."""
    opened: list[Vectors] = []
    default = ModelChoice(
        backend=embedding_model.backend,
        model=embedding_model.model,
        fault=lambda: None,
        load=lambda: embedding_model,
    )

    def make(choice: ModelChoice = default, *, in_background: bool = False) -> Notes:
        vectors = Vectors(memory_store, choice, lock_file=None, in_background=in_background)
        opened.append(vectors)
        memory = ProjectMemory(
            memory_store, settings=MemorySettings(), now=clock, ids=ids, vectors=vectors
        )
        return Notes(memory, ProjectRef(project_id="p"))

    yield make
    for vectors in opened:
        vectors.close()


RepositoryMaker: TypeAlias = Callable[..., Path]
"""Makes a git repository in a folder: its name, and the address of `origin`."""


@pytest.fixture
def repository(tmp_path: Path) -> RepositoryMaker:
    """Makes repositories as far as files tell: no git is run."""

    def make(name: str, remote: str | None = None) -> Path:
        folder = tmp_path / name
        git = folder / ".git"
        for part in ("objects", "refs"):
            (git / part).mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        config = f'[remote "origin"]\n\turl = {remote}\n' if remote else "[core]\n"
        (git / "config").write_text(config)
        return folder

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder that is no repository."""
    made = tmp_path / "plain"
    made.mkdir()
    return made
