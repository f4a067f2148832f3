"""Vectors of projects kept in memory between searches, and which of them are nearest to a query.

Up to 25,000 the float vectors themselves are kept and compared. Beyond that one bit of each number
is: the bits choose 2,000 candidates, whose stored vectors are then compared. Either way what a
search is told comes from the table as its snapshot sees it, so a shelf that is somewhat old costs
a miss at worst, never a wrong hit. numpy is imported by the first search by vectors.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

from schemory.hints import TYPE_CHECKING
from schemory.storage.sqlite.memory_vectors import blobs_of, vector_version

if TYPE_CHECKING:
    from typing import Any, Final

    import numpy as np
    from numpy.typing import NDArray

    from schemory.storage.sqlite.space import Space

    Floats = NDArray[np.float32]
    Bits = NDArray[np.uint64]
    Rows = NDArray[np.int64]

EXACT_UP_TO: Final = 25_000
BIT_CANDIDATES: Final = 2_000
_MOST_BYTES: Final = 192 << 20
_NEW_SINCE: Final = """
  SELECT entry_row, vector_blob FROM memory_vectors INDEXED BY memory_vectors_by_version
  WHERE project = ?1 AND model = ?2 AND version > ?3
"""
_CHUNK: Final = 4_096


class Shelf:
    """One project's vectors of one model, as of a version.

    Attributes:
        rows: Row ids of the entries, ascending.
        floats: `(n, dimensions)`, unit length; None where only bits are kept.
        bits: `(n, words)`: whether each number is above 0.
    """

    def __init__(self, dimensions: int) -> None:
        import numpy as np  # noqa: PLC0415 (only who searches by vectors pays for it)

        self.version = -1
        self.dimensions = dimensions
        self.rows: Rows = np.empty(0, np.int64)
        self.floats: Floats | None = np.empty((0, dimensions), np.float32)
        self.bits: Bits = np.empty((0, _words(dimensions)), np.uint64)

    @property
    def size(self) -> int:
        """How many vectors there are."""
        return len(self.rows)

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        floats = 0 if self.floats is None else self.floats.nbytes
        return self.rows.nbytes + self.bits.nbytes + floats

    def refreshed(self, space: Space, model: str) -> Shelf:
        """Return the shelf as the snapshot has it: this one, or a new one with what came since."""
        version = vector_version(space)
        if version <= self.version:
            return self
        import numpy as np  # noqa: PLC0415 (only who searches by vectors pays for it)

        shelf = Shelf(self.dimensions)
        shelf.version = version
        came: dict[int, None] = {}
        floats: list[Floats] = []
        bits: list[Bits] = []
        for rows, vectors in _read(space, model, self.version, self.dimensions):
            came.update(dict.fromkeys(rows))
            bits.append(pack_bits(vectors))
            floats.append(vectors)
            if len(came) > EXACT_UP_TO:
                floats = []  # they will not be kept, so they need no room now
        if not came:
            shelf.rows, shelf.floats, shelf.bits = self.rows, self.floats, self.bits
            return shelf
        new = np.fromiter(came, np.int64, len(came))
        stays = ~np.isin(self.rows, new)
        rows = np.concatenate([self.rows[stays], new])
        order = np.argsort(rows)
        shelf.rows = rows[order]
        shelf.bits = np.concatenate([self.bits[stays], *bits])[order]
        shelf.floats = None
        if self.floats is not None and len(rows) <= EXACT_UP_TO:
            shelf.floats = np.concatenate([self.floats[stays], *floats])[order]
        return shelf

    def nearest(self, query: Floats, count: int, among: Collection[int] | None) -> list[int]:
        """Return row ids of about the nearest `count` vectors (more by bits), nearest first.

        Args:
            query: `(dimensions,)`, unit length.
            count: How many are wanted.
            among: The only entries that are meant; None = all.
        """
        import numpy as np  # noqa: PLC0415 (only who searches by vectors pays for it)

        closeness: Any
        if self.floats is not None:
            closeness = self.floats @ query
        else:
            differing = np.bitwise_count(self.bits ^ pack_bits(query[None, :])[0])
            closeness = -differing.sum(axis=1, dtype=np.int32)
            count = max(count, BIT_CANDIDATES)
        rows = self.rows
        if among is not None:
            is_meant = np.isin(rows, np.fromiter(among, np.int64, len(among)))
            rows, closeness = rows[is_meant], closeness[is_meant]
        if len(rows) > count:
            best = np.argpartition(-closeness, count - 1)[:count]
            rows, closeness = rows[best], closeness[best]
        order = np.lexsort((rows, -closeness))
        return [int(row) for row in rows[order]]


class Shelves:
    """The shelves of one store, of projects that were searched last; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelves: dict[tuple[int, str], Shelf] = {}

    def of(self, space: Space, model: str, dimensions: int) -> Shelf:
        """Return a project's shelf as the snapshot has it."""
        key = (space.number, model)
        with self._lock:
            known = self._shelves.pop(key, None)
        shelf = (known or Shelf(dimensions)).refreshed(space, model)
        with self._lock:
            self._shelves[key] = shelf
            while len(self._shelves) > 1 and self._bytes() > _MOST_BYTES:
                self._shelves.pop(next(iter(self._shelves)))
        return shelf

    def _bytes(self) -> int:
        return sum(shelf.bytes for shelf in self._shelves.values())


def similarities(space: Space, model: str, query: Floats, rows: Sequence[int]) -> dict[int, float]:
    """Return how near the stored vectors of these entries are (-1 to 1); without vector absent."""
    import numpy as np  # noqa: PLC0415 (only who searches by vectors pays for it)

    blobs = blobs_of(space, model, rows)
    sound = {row: blob for row, blob in blobs.items() if len(blob) == 2 * len(query)}
    if not sound:
        return {}
    vectors = _floats(b"".join(sound.values()), len(query))
    near = np.clip(vectors @ query, -1.0, 1.0)
    return dict(zip(sound, (round(float(each), 6) for each in near), strict=True))


def query_floats(vector: bytes) -> Floats:
    """Return a query's vector as numbers."""
    import numpy as np  # noqa: PLC0415 (only who searches by vectors pays for it)

    return np.frombuffer(vector, "<f2").astype(np.float32)


def pack_bits(vectors: Floats) -> Bits:
    """Return `(n, words)` for `(n, dimensions)`: a bit for each number above 0, then zeros."""
    import numpy as np  # noqa: PLC0415 (only who searches by vectors pays for it)

    packed = np.packbits(vectors > 0, axis=1)
    missing = 8 * _words(vectors.shape[1]) - packed.shape[1]
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, missing)))).view(np.uint64)


def _words(dimensions: int) -> int:
    return -(-dimensions // 64)


def _read(space: Space, model: str, after: int, dimensions: int) -> Any:
    """Yield (row ids, vectors) of what came after a version, in chunks; malformed ones left out."""
    cursor = space.db.execute(_NEW_SINCE, (space.number, model, after))
    while True:
        rows: list[int] = []
        blobs: list[bytes] = []
        for row, blob in cursor:
            if len(blob) == 2 * dimensions:
                rows.append(row)
                blobs.append(blob)
            if len(rows) == _CHUNK:
                break
        if not rows:
            return
        yield rows, _floats(b"".join(blobs), dimensions)


def _floats(data: bytes, dimensions: int) -> Floats:
    import numpy as np  # noqa: PLC0415 (only who searches by vectors pays for it)

    return np.frombuffer(data, "<f2").reshape(-1, dimensions).astype(np.float32)
