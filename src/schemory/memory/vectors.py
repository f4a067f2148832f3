"""Search by meaning: a model makes vectors of entries, the store keeps them and finds the nearest.

The model is loaded by the first search, or by the first round of making vectors. Where it cannot
be, that is told and words alone are searched.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from schemory.errors import UnsupportedError
from schemory.memory.vector_backend import Embedded, VectorHealth, VectorHit
from schemory.memory.vector_worker import VectorWorker
from schemory.retrieval.embedding.choice import ModelChoice
from schemory.retrieval.embedding.model import EmbeddingModel
from schemory.storage.memory_protocols import EntryFilter, MemoryReader, MemoryStore
from schemory.storage.protocols import WriteContext
from schemory.storage.vector_protocols import (
    EntryVector,
    Nearest,
    TextWithoutVector,
    VectorCount,
    VectorModel,
)

TEXT_CHARS: Final = 2_000
"""As much of an entry is looked at: about what models of this size take in at once."""

BATCH_ENTRIES: Final = 32
_BATCH_CHARS: Final = 12_000
FEW_WORDS: Final = 0.6
"""Where no larger share of a query's words is known, nearness counts more than they."""

_QUERIES_KEPT: Final = 256


class Vectors:
    """A chosen model over a store; threads may share it.

    Args:
        store: Where entries and vectors are.
        choice: The model.
        lock_file: Held while vectors are made in the background, so that of several programs one
            does; None = a store in memory.
        in_background: Whether a thread makes vectors; else searches do, for a moment each.

    Attributes:
        worker: The thread, if there is one.
    """

    def __init__(
        self,
        store: MemoryStore,
        choice: ModelChoice,
        *,
        lock_file: Path | None,
        in_background: bool,
    ) -> None:
        self._store = store
        self._choice = choice
        self._loading = threading.Lock()
        self._model: EmbeddingModel | None = None
        self._broken: str | None = None
        self._query = lru_cache(maxsize=_QUERIES_KEPT)(self._embed_query)
        self.worker = VectorWorker(self, store, lock_file) if in_background else None

    @property
    def name(self) -> str:
        """Which backend it is."""
        return self._choice.backend

    def init(self) -> None:
        """Load the model, unless it is loaded.

        Raises:
            UnsupportedError: It cannot be; says why.
        """
        self._loaded()

    def _loaded(self) -> EmbeddingModel:
        with self._loading:
            if self._fault is not None:
                raise UnsupportedError(self._fault)
            if self._model is None:
                try:
                    self._model = self._choice.load()
                except UnsupportedError as error:
                    self._broken = error.message
                    raise
            return self._model

    @cached_property
    def _missing_package(self) -> str | None:
        return self._choice.fault()  # late: looking up what is installed takes some milliseconds

    @property
    def _fault(self) -> str | None:
        """Why no vectors can be made or compared, as far as is known."""
        return self._broken or self._missing_package

    def _vector_model(self) -> VectorModel:
        model = self._loaded()
        return VectorModel(model.backend, model.model, model.dimensions)

    # Making vectors

    def upsert(self, project_id: str, texts: Sequence[TextWithoutVector]) -> int:
        """Make and store the vectors of entries; the store is locked only while they go in."""
        made = self._loaded().embed_texts([embedded_text(text) for text in texts])
        vectors = [
            EntryVector(text.row_id, text.since_seq, vector)
            for text, vector in zip(texts, made, strict=True)
        ]
        with self._store.memory_transaction(project_id, _CONTEXT) as tx:
            return tx.put_vectors(self._vector_model(), vectors)

    def delete(self, project_id: str, entry_ids: Sequence[str] | None = None) -> int:
        """Remove the vectors of entries, or of the whole project, whichever model made them."""
        with self._store.memory_transaction(project_id, _CONTEXT) as tx:
            return tx.drop_vectors(entry_ids)

    def tidy(self, project_id: str) -> int:
        """Remove vectors that other models made; returns how many."""
        model = self._loaded().model
        with self._store.memory_transaction(project_id, _CONTEXT) as tx:
            return tx.drop_vectors(except_model=model)

    def catch_up(
        self,
        project_id: str,
        *,
        seconds: float,
        progress: Callable[[int], None] = lambda _: None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> Embedded:
        """Make vectors that are missing, newest entries first, for so long at most.

        Args:
            project_id: Whose.
            seconds: A batch that was begun is finished; loading the model does not count.
            progress: Told how many were made so far.
            is_stopped: Asked between batches.
        """
        self._loaded()
        deadline = time.monotonic() + seconds
        made = 0
        for batch in self._missing(project_id):
            if time.monotonic() >= deadline or is_stopped():
                return Embedded(made, left=True)
            made += self.upsert(project_id, batch)
            progress(made)
        return Embedded(made, left=False)

    def _missing(self, project_id: str) -> Iterator[tuple[TextWithoutVector, ...]]:
        """Yield entries without vector in batches, until a walk from the newest finds none."""
        model = self._loaded().model
        below: int | None = None
        while True:
            with self._store.read_memory(project_id) as reader:
                found = reader.list_without_vector(
                    model, below=below, limit=BATCH_ENTRIES, chars=TEXT_CHARS
                )
            if not found:
                return
            batch = _bounded(found)
            yield batch
            below = batch[-1].row_id

    # Searching

    def nearest(self, query: str) -> Nearest:
        """Return what a store compares vectors with.

        Raises:
            UnsupportedError: The model cannot be loaded; says why.
        """
        model = self._loaded()
        traits = model.traits
        vector = self._query(query)
        return Nearest(self._vector_model(), vector, traits.floor, traits.outstanding)

    def _embed_query(self, text: str) -> bytes:
        return self._loaded().embed_query(text[:TEXT_CHARS])

    def search(
        self, reader: MemoryReader, query: str, filters: EntryFilter, limit: int
    ) -> tuple[VectorHit, ...]:
        """Return the entries that are nearest to a text, nearest first."""
        found = reader.find_nearest(self.nearest(query), filters, limit=limit)
        return tuple(VectorHit(entry_id, near) for entry_id, near in found)

    def weight(self, known_share: float) -> float:
        """Return how much nearness counts beside words, of which this share is known here."""
        traits = self._loaded().traits
        return traits.weight_few_words if known_share <= FEW_WORDS else traits.weight

    # How it stands

    def health(self) -> VectorHealth:
        """Return how it stands; loads nothing."""
        backend, fault, model = self._choice.backend, self._fault, self._model
        if fault is not None:
            return VectorHealth(backend=backend, state="unavailable", detail=fault)
        trouble = self.worker.trouble if self.worker else None
        if model is None:
            told = self._choice.model
            return VectorHealth(backend=backend, state="not_loaded", model=told, detail=trouble)
        return VectorHealth(backend=backend, state="ready", model=model.model, detail=trouble)

    def count(self, reader: MemoryReader) -> VectorCount | None:
        """Return how many entries have a vector, or None where no model tells which."""
        model = self._model.model if self._model else self._choice.model
        return None if model is None else reader.count_vectors(model)

    def close(self) -> None:
        """End the thread; what it had not finished is made by the next run."""
        if self.worker is not None:
            self.worker.stop()


def embedded_text(text: TextWithoutVector) -> str:
    r"""Return what an entry's vector is made of: title, summary, and the beginning of its content.

    >>> embedded_text(TextWithoutVector(1, 1, "Cache", None, "It is cold."))
    'Cache\nIt is cold.'
    """
    parts = (text.title, text.summary, text.content)
    return "\n".join(part for part in parts if part)[:TEXT_CHARS]


def _bounded(texts: Sequence[TextWithoutVector]) -> tuple[TextWithoutVector, ...]:
    """Return the first of them that are no more text than one batch should be, one at least."""
    chars = 0
    for count, text in enumerate(texts):
        chars += len(text.content)
        if chars > _BATCH_CHARS and count:
            return tuple(texts[:count])
    return tuple(texts)


_CONTEXT: Final = WriteContext(operation="embed")
