"""Figures of the HTTP server in Prometheus text: never content, projects, people or tokens."""

import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Final

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
"""Upper ends of the latency histogram, in seconds."""

UNKNOWN_TOOL: Final = "unknown"
"""Stands for every name that is no tool: what clients make up must not become a label."""

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts what happens; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = time.time()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._refused: Counter[str] = Counter()
        self._slots: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}
        self._in_flight = 0

    @contextmanager
    def request(self) -> Generator[None]:
        """Count a request as in flight while it lasts."""
        with self._lock:
            self._in_flight += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1

    def note_call(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a call that has ended: `ok`, `error`, `refused`, `cancelled` or `failed`."""
        with self._lock:
            self._calls[tool, outcome] += 1
            slots = self._slots.setdefault(tool, [0] * (len(BUCKETS) + 1))
            at = next((n for n, end in enumerate(BUCKETS) if seconds <= end), len(BUCKETS))
            slots[at] += 1
            self._seconds[tool] = self._seconds.get(tool, 0.0) + seconds

    def note_refusal(self, reason: str) -> None:
        """Count a request that was refused before it came to a tool."""
        with self._lock:
            self._refused[reason] += 1

    def text(self, sessions: int) -> str:
        """Return all figures."""
        with self._lock:
            return "\n".join((*self._lines(sessions), ""))

    def _lines(self, sessions: int) -> Iterator[str]:
        yield from _head("schemory_calls_total", "counter", "Tool calls by outcome.")
        for (tool, outcome), count in sorted(self._calls.items()):
            yield f'schemory_calls_total{{tool="{tool}",outcome="{outcome}"}} {count}'
        yield from _head("schemory_call_seconds", "histogram", "How long tool calls took.")
        for tool, slots in sorted(self._slots.items()):
            yield from _histogram(tool, slots, self._seconds[tool])
        name = "schemory_requests_refused_total"
        yield from _head(name, "counter", "Requests refused before they came to a tool.")
        for reason, count in sorted(self._refused.items()):
            yield f'{name}{{reason="{reason}"}} {count}'
        yield from _head("schemory_requests_in_flight", "gauge", "Requests being answered.")
        yield f"schemory_requests_in_flight {self._in_flight}"
        yield from _head("schemory_sessions", "gauge", "Clients of the handshake eras.")
        yield f"schemory_sessions {sessions}"
        yield from _head("schemory_start_time_seconds", "gauge", "When the server started.")
        yield f"schemory_start_time_seconds {self._started:.3f}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"


def _histogram(tool: str, slots: list[int], seconds: float) -> Iterator[str]:
    total = 0
    for end, count in zip((*map(str, BUCKETS), "+Inf"), slots, strict=True):
        total += count
        yield f'schemory_call_seconds_bucket{{tool="{tool}",le="{end}"}} {total}'
    yield f'schemory_call_seconds_sum{{tool="{tool}"}} {seconds:.6f}'
    yield f'schemory_call_seconds_count{{tool="{tool}"}} {total}'
