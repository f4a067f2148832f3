"""From the settings to search by meaning: the model that was chosen, over the memory's store."""

from pathlib import Path

from schemory.config.settings import Settings
from schemory.memory.vector_backend import VectorBackend
from schemory.storage.memory_protocols import MemoryStore

LOCK_ENDING = "-vectors"
"""Of the file beside the store that says who makes vectors in the background."""


def make_vectors(
    settings: Settings, store: MemoryStore, *, in_background: bool
) -> VectorBackend | None:
    """Return what makes and compares vectors, or None where `MEMORY_ENABLE_VECTOR` is off.

    Args:
        settings: `MEMORY_VECTOR_BACKEND` names the model.
        store: Where entries are.
        in_background: For servers: a thread makes vectors. Else searches make what is missing.
    """
    if not settings.memory.get("MEMORY_ENABLE_VECTOR"):
        return None
    from schemory.memory.vectors import Vectors  # noqa: PLC0415 (most runs have no model)
    from schemory.retrieval.embedding.choice import choose_model  # noqa: PLC0415 (as above)

    choice = choose_model(str(settings.memory.get("MEMORY_VECTOR_BACKEND", "")))
    place = Path(store.location)
    lock_file = place.with_name(place.name + LOCK_ENDING) if place.is_file() else None
    return Vectors(store, choice, lock_file=lock_file, in_background=in_background)
