"""What the verbs share: the store, the rules, and how a read or a write begins and ends."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress

from schemory.errors import SchemoryError
from schemory.hints import TYPE_CHECKING
from schemory.memory.place import Place, find_place, moved_warning, project_rules
from schemory.model.frozen import dataclass, field

if TYPE_CHECKING:
    from schemory.memory.inputs import ProjectRef, Refused
    from schemory.memory.record import Record
    from schemory.memory.settings import MemorySettings
    from schemory.memory.vector_backend import VectorBackend
    from schemory.model.author import Author
    from schemory.model.jsonvalue import Json
    from schemory.model.moment import Clock, IdMaker
    from schemory.storage.memory_protocols import MemoryReader, MemoryStore


@dataclass(slots=True)
class Reading:
    """A snapshot of one project, and what the answer should tell.

    Attributes:
        warnings: Told once each.
    """

    place: Place
    reader: MemoryReader
    warnings: list[str] = field(default_factory=list[str])

    def told(self) -> tuple[str, ...]:
        """Return the warnings, each once."""
        return tuple(dict.fromkeys(self.warnings))


class Work:
    """The parts that every verb works with."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        settings: MemorySettings,
        now: Clock,
        ids: IdMaker,
        vectors: VectorBackend | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.now = now
        self.ids = ids
        self.vectors = vectors
        self._worker = vectors.worker if vectors else None
        self._rules = project_rules(settings)

    def place(self, ref: ProjectRef) -> Place:
        """Return the project that `ref` means with the rules that hold there."""
        return find_place(ref, self.settings, self._rules)

    @contextmanager
    def reading(self, ref: ProjectRef) -> Generator[Reading]:
        """Open a snapshot of the project that `ref` means; nothing is created."""
        place = self.place(ref)
        if self._worker is not None:
            self._worker.start()
        with naming(place), self.store.read_memory(place.id) as reader:
            moved = moved_warning(place, reader.find_project())
            yield Reading(place, reader, [*place.warnings, *moved])

    @contextmanager
    def recording(
        self, operation: str, ref: ProjectRef, arguments: Mapping[str, Json], by: Author
    ) -> Generator[Record]:
        """Open one write; how the block ends goes to the audit."""
        record = self._record(operation, arguments, by)
        try:
            record.place = self.place(ref)
            with naming(record.place):
                yield record
            if self._worker is not None:
                self._worker.look_at(record.place.id)
        except SchemoryError as error:
            record.refuse(error)
            raise

    def record_refusal(self, ref: ProjectRef, refused: Refused, by: Author) -> None:
        """Audit a write that was refused before any verb was called."""
        record = self._record(refused.operation, refused.arguments, by)
        with suppress(SchemoryError):
            record.place = self.place(ref)
        record.refuse_with(refused.error_code)

    def _record(self, operation: str, arguments: Mapping[str, Json], by: Author) -> Record:
        from schemory.memory.record import Record  # noqa: PLC0415 (reading needs none)

        return Record(
            self.store,
            self.settings,
            operation=operation,
            arguments=arguments,
            by=by,
            now=self.now,
            ids=self.ids,
        )


@contextmanager
def naming(place: Place) -> Generator[None]:
    """Put the project's id into the context of an error that leaves the block."""
    try:
        yield
    except SchemoryError as error:
        error.context = {"project_id": place.id, **error.context}
        raise
