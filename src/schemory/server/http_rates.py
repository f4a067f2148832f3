"""How often each principal may call: a bucket that fills steadily, with some in reserve."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_MAX_BUCKETS: Final = 10_000
_RESERVE_SECONDS: Final = 15.0
"""A bucket holds what comes in during this time, so that a burst of calls goes through."""


@dataclass(slots=True)
class _Bucket:
    filled: float
    seen_at: float


class Rates:
    """Counts requests by principal; used by one thread."""

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._size = max(1.0, self._per_second * _RESERVE_SECONDS)
        self._now = now
        self._buckets: dict[str, _Bucket] = {}

    def wait_seconds(self, principal: str) -> int:
        """Count a request; return 0 if it may go on, else how many seconds to wait."""
        if not self._per_second:
            return 0
        now = self._now()
        bucket = self._buckets.get(principal)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[principal] = _Bucket(self._size, now)
        grown = bucket.filled + (now - bucket.seen_at) * self._per_second
        bucket.filled, bucket.seen_at = min(self._size, grown), now
        if bucket.filled >= 1:
            bucket.filled -= 1
            return 0
        return math.ceil((1 - bucket.filled) / self._per_second)

    def _make_room(self, now: float) -> None:
        if len(self._buckets) < _MAX_BUCKETS:
            return
        # A full bucket says no more than none.
        self._buckets = {
            name: each
            for name, each in self._buckets.items()
            if each.filled + (now - each.seen_at) * self._per_second < self._size
        }
