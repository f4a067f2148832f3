"""`ProjectMemory`: the memory's verbs, one per tool, each write in a transaction of its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from schemory.hints import TYPE_CHECKING
from schemory.memory.inputs import (
    CROSS_PROJECT,
    EntryUpdate,
    HandoffRequest,
    LinkRequest,
    NamesRequest,
    NewEntry,
    ProjectRef,
    ReadRequest,
    Refused,
    SearchRequest,
    SimilarRequest,
    UnlinkRequest,
)
from schemory.memory.work import Work
from schemory.model.author import NOBODY, Author
from schemory.model.frozen import replace
from schemory.model.late import LateModule

if TYPE_CHECKING:
    from schemory.memory import (
        audit,
        cross,
        handoff,
        lifecycle,
        links,
        listing,
        reading,
        search,
        similar,
        writing,
    )
    from schemory.memory.handoff_results import Handoff
    from schemory.memory.place import Place
    from schemory.memory.record import Record
    from schemory.memory.results import (
        AuditListed,
        AuditPruned,
        EntryAdded,
        EntryDeleted,
        EntryRead,
        EntryUpdated,
        IndexRebuilt,
        LinkRemoved,
        LinksListed,
        LinkWritten,
        MemoryStatus,
        NamesListed,
        ProjectsListed,
        SearchPage,
        SimilarFound,
        StatusChanged,
    )
    from schemory.memory.settings import MemorySettings
    from schemory.memory.vector_backend import VectorBackend
    from schemory.model.jsonvalue import Json
    from schemory.model.moment import Clock, IdMaker
    from schemory.storage.memory_protocols import MemoryStore
    from schemory.storage.protocols import Position
else:  # most runs use one or two of the verbs
    audit = LateModule("schemory.memory.audit")
    cross = LateModule("schemory.memory.cross")
    handoff = LateModule("schemory.memory.handoff")
    lifecycle = LateModule("schemory.memory.lifecycle")
    links = LateModule("schemory.memory.links")
    listing = LateModule("schemory.memory.listing")
    reading = LateModule("schemory.memory.reading")
    search = LateModule("schemory.memory.search")
    similar = LateModule("schemory.memory.similar")
    writing = LateModule("schemory.memory.writing")


class ProjectMemory:
    """The memory of every project in one store.

    Every verb takes the project as a `ProjectRef` and answers with frozen values. A writing verb
    checks all of its input first and raises one error with every problem; what it writes, its
    audit row included, is one transaction. Errors carry `project_id` in their context once the
    project is known. Reads never create anything.

    Raises, from every verb:
        InvalidParamError, LimitExceededError, PathNotAllowedError: No usable project or argument.
        NotFoundError: No such entry or link in that project.
        StoreError: The store cannot do it.
    """

    def __init__(
        self,
        store: MemoryStore,
        *,
        settings: MemorySettings,
        now: Clock,
        ids: IdMaker,
        vectors: VectorBackend | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.vectors = vectors
        self.work = Work(store=store, settings=settings, now=now, ids=ids, vectors=vectors)

    # What other rooms build on

    def with_named_file(self, file: str) -> ProjectMemory:
        """Return the same memory for a person who names `file`, to be read or written anywhere."""
        return ProjectMemory(
            self.store,
            settings=replace(self.settings, named_file=file),
            now=self.work.now,
            ids=self.work.ids,
            vectors=self.vectors,
        )

    def place(self, ref: ProjectRef) -> Place:
        """Return the project that `ref` means with the rules that hold there."""
        return self.work.place(ref)

    def recording(
        self, operation: str, ref: ProjectRef, arguments: Mapping[str, Json], by: Author
    ) -> AbstractContextManager[Record]:
        """Open one write: resolves the project, and audits how the block ends.

        A SchemoryError that leaves the block is recorded as a refusal, in a transaction of its
        own; the block itself writes through `Record.transaction()` and tells `Record.succeed`.
        """
        return self.work.recording(operation, ref, arguments, by)

    def record_refusal(self, ref: ProjectRef, refused: Refused, *, by: Author = NOBODY) -> None:
        """Audit a write whose arguments broke its schema, before any verb was called."""
        self.work.record_refusal(ref, refused, by)

    # Reading

    def status(self, ref: ProjectRef) -> MemoryStatus:
        """Return what the project's memory holds and how the store stands."""
        return reading.status(self.work, ref)

    def search(self, ref: ProjectRef, request: SearchRequest) -> SearchPage:
        """Return a page of the entries that match, best first."""
        if request.mode == CROSS_PROJECT:
            return cross.search_everywhere(self.work, ref, request)
        return search.search_project(self.work, ref, request)

    def read_entry(self, ref: ProjectRef, request: ReadRequest) -> EntryRead:
        """Return one entry, or a stretch of its content, with what speaks against trusting it."""
        return reading.read_entry(self.work, ref, request)

    def list_names(self, ref: ProjectRef, request: NamesRequest) -> NamesListed:
        """Return the project's scopes, topics or tags with their counts."""
        return listing.list_names(self.work, ref, request)

    def list_entry_links(
        self, ref: ProjectRef, entry_id: str, *, direction: str = "both", limit: int | None = None
    ) -> LinksListed:
        """Return the links that come `in` to an entry, go `out` of it, or `both`."""
        return links.list_entry_links(self.work, ref, entry_id, direction, limit)

    def handoff_summary(self, ref: ProjectRef, request: HandoffRequest) -> Handoff:
        """Return what came up since a moment, in the entries' own words."""
        return handoff.handoff_summary(self.work, ref, request)

    def find_similar(self, ref: ProjectRef, request: SimilarRequest) -> SimilarFound:
        """Return entries that say nearly the same as an entry or a text."""
        return similar.find_similar(self.work, ref, request)

    def list_projects(
        self, ref: ProjectRef, *, after: str = "", limit: int = 100
    ) -> ProjectsListed:
        """Return the projects that hold entries, as far as the caller may see them."""
        return listing.list_projects(self.work, ref, after, limit)

    def list_audit(
        self, ref: ProjectRef, *, after: Position | None = None, limit: int = 100
    ) -> AuditListed:
        """Return the project's audit rows, oldest first."""
        return audit.list_audit(self.work, ref, after, limit)

    # Writing

    def add_entry(self, ref: ProjectRef, new: NewEntry, *, by: Author = NOBODY) -> EntryAdded:
        """Store an entry, or return the active one that has exactly its content.

        Raises:
            SecretDetectedError: A text seems to hold a credential.
        """
        return writing.add_entry(self.work, ref, new, by)

    def update_entry(
        self, ref: ProjectRef, update: EntryUpdate, *, by: Author = NOBODY
    ) -> EntryUpdated:
        """Change fields of an entry; its earlier text stays in its history.

        Raises:
            ConflictError: It has another revision than expected.
            SecretDetectedError: A text seems to hold a credential.
        """
        return writing.update_entry(self.work, ref, update, by)

    def invalidate_entry(
        self,
        ref: ProjectRef,
        entry_id: str,
        *,
        reason: str | None = None,
        allow_secret: bool = False,
        by: Author = NOBODY,
    ) -> StatusChanged:
        """Mark an entry as no longer true; again = no change."""
        return lifecycle.invalidate_entry(
            self.work, ref, entry_id, reason, by, allow_secret=allow_secret
        )

    def archive_entry(
        self, ref: ProjectRef, entry_id: str, *, by: Author = NOBODY
    ) -> StatusChanged:
        """Put an entry away; again = no change."""
        return lifecycle.archive_entry(self.work, ref, entry_id, by)

    def restore_entry(
        self, ref: ProjectRef, entry_id: str, *, by: Author = NOBODY
    ) -> StatusChanged:
        """Make an entry active again.

        Raises:
            ConflictError: Another entry supersedes it.
        """
        return lifecycle.restore_entry(self.work, ref, entry_id, by)

    def delete_entry(
        self, ref: ProjectRef, entry_id: str, *, confirm: bool = False, by: Author = NOBODY
    ) -> EntryDeleted:
        """Remove an entry with everything that was stored of it, its history too.

        Raises:
            ConfirmRequiredError: `confirm` is not true.
        """
        return lifecycle.delete_entry(self.work, ref, entry_id, confirm=confirm, by=by)

    def link_entries(
        self, ref: ProjectRef, request: LinkRequest, *, by: Author = NOBODY
    ) -> LinkWritten:
        """Link two entries; `supersedes` also sets the target superseded.

        Raises:
            ConflictError: The target supersedes the source already, directly or not.
        """
        return links.link_entries(self.work, ref, request, by)

    def unlink_entries(
        self, ref: ProjectRef, request: UnlinkRequest, *, by: Author = NOBODY
    ) -> LinkRemoved:
        """Remove a link; what `supersedes` had retired has its status back."""
        return links.unlink_entries(self.work, ref, request, by)

    def rebuild_index(self, ref: ProjectRef, *, by: Author = NOBODY) -> IndexRebuilt:
        """Build the project's search index anew."""
        return writing.rebuild_index(self.work, ref, by)

    def prune_audit(self, ref: ProjectRef | None, before: str) -> AuditPruned:
        """Delete audit rows older than `before`; without a project those of all projects."""
        return audit.prune_audit(self.work, ref, before)
