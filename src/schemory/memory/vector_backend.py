"""What finds entries by meaning is to the memory (seed 003 §15.2), and how it stands."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from schemory.model.frozen import dataclass
from schemory.storage.memory_protocols import EntryFilter, MemoryReader
from schemory.storage.vector_protocols import Nearest, TextWithoutVector, VectorCount

State: TypeAlias = Literal["ready", "not_loaded", "unavailable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorHealth:
    """How search by meaning stands.

    Attributes:
        backend: Which was chosen.
        state: `not_loaded` until the first use; `unavailable`: words alone are searched.
        model: What its vectors are made by, where that is known.
        detail: Why it is unavailable, or what went wrong in the background last.
    """

    backend: str
    state: State
    model: str | None = None
    detail: str | None = None


class VectorHit(NamedTuple):
    """An entry and how near its vector is to a query's, -1 to 1."""

    entry_id: str
    similarity: float


class Embedded(NamedTuple):
    """What one round of making vectors did.

    Attributes:
        made: How many vectors were stored.
        left: Whether entries without a vector remain.
    """

    made: int
    left: bool


class Worker(Protocol):
    """Makes vectors in the background."""

    def start(self) -> None:
        """Begin with what an earlier run left; called whenever the memory is used."""
        ...

    def look_at(self, project_id: str) -> None:
        """Look for entries of a project that have no vector; called after each write."""
        ...


class VectorBackend(Protocol):
    """Makes vectors of entries, keeps them in the store, and finds the nearest to a query."""

    @property
    def worker(self) -> Worker | None:
        """What makes vectors without being asked; None = searches make what is missing."""
        ...

    @property
    def name(self) -> str:
        """Which one it is."""
        ...

    def init(self) -> None:
        """Load the model, unless it is loaded.

        Raises:
            ModelUnavailableError: It cannot be.
        """
        ...

    def upsert(self, project_id: str, texts: Sequence[TextWithoutVector]) -> int:
        """Make and store the vectors of entries; returns how many are stored."""
        ...

    def delete(self, project_id: str, entry_ids: Sequence[str] | None = None) -> int:
        """Remove the vectors of entries, or of the whole project; returns how many."""
        ...

    def search(
        self, reader: MemoryReader, query: str, filters: EntryFilter, limit: int
    ) -> tuple[VectorHit, ...]:
        """Return the entries that are nearest to a text, nearest first."""
        ...

    def health(self) -> VectorHealth:
        """Return how it stands; loads nothing."""
        ...

    def nearest(self, query: str) -> Nearest:
        """Return what a store compares vectors with, for a search that goes by words as well."""
        ...

    def weight(self, known_share: float) -> float:
        """Return how much nearness counts beside words, of which this share is known here."""
        ...

    def count(self, reader: MemoryReader) -> VectorCount | None:
        """Return how many entries have a vector; None where no model tells which."""
        ...

    def catch_up(self, project_id: str, *, seconds: float) -> Embedded:
        """Make vectors that are missing, for so long at most."""
        ...

    def close(self) -> None:
        """End what works in the background."""
        ...
