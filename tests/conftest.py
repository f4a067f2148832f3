"""Fixtures for every room: a clock that stands, ids that count, and one store per real backend.

A new backend joins by one line in `BACKENDS`; every contract test then runs on it.
"""

import hashlib
import itertools
import os
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, settings

from schemory.model.entry import Entry, SourceType
from schemory.model.moment import Clock, IdMaker
from schemory.retrieval.tokens import TOKENS_VERSION, index_terms
from schemory.storage.jsonl import JsonlStore
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.protocols import GraphStore
from schemory.storage.sqlite.store import SqliteStore

settings.register_profile(
    "dev", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# CI judges a change, not its luck: the same code gets the same examples. New ones are met by every
# run with the other profile.
settings.register_profile(
    "ci",
    max_examples=200,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# A shell that runs the suite in the background has it ignore Ctrl-C, and with it the programs that
# tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

START = datetime(2026, 3, 8, 9, 5, 7, tzinfo=UTC)

StoreMaker: TypeAlias = Callable[[Path, Clock, IdMaker], GraphStore]
"""Opens the store of one backend in a folder; again = the same store, where it is on disk."""


def _sqlite_in_memory(_folder: Path, now: Clock, ids: IdMaker) -> GraphStore:
    return SqliteStore.open(":memory:", now=now, ids=ids)


def _sqlite_on_disk(folder: Path, now: Clock, ids: IdMaker) -> GraphStore:
    return SqliteStore.open(folder / "memory.db", now=now, ids=ids)


def _graph_file(folder: Path, now: Clock, ids: IdMaker) -> GraphStore:
    inner = SqliteStore.open(":memory:", now=now, ids=ids)
    return JsonlStore.open(folder / "graph.jsonl", inner=inner, now=now)


BACKENDS: dict[str, StoreMaker] = {
    "sqlite-memory": _sqlite_in_memory,
    "sqlite-disk": _sqlite_on_disk,
    "jsonl": _graph_file,
}
VOLATILE = frozenset({"sqlite-memory"})


INDEX_TERMS = IndexTerms(TOKENS_VERSION, index_terms)

MEMORY_BACKENDS: dict[str, Callable[[Path], str | Path]] = {
    "sqlite-memory": lambda _folder: ":memory:",
    "sqlite-disk": lambda folder: folder / "memory.db",
}
"""Stores that hold project memory: where each puts it in a folder."""


class StandingClock:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self._moment = START

    def __call__(self) -> datetime:
        return self._moment

    def advance(self, seconds: float) -> None:
        self._moment += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> StandingClock:
    """A clock that stands at 2026-03-08T09:05:07Z."""
    return StandingClock()


@pytest.fixture
def advance(clock: StandingClock) -> Callable[[float], None]:
    """Moves the clock by seconds, back with a negative number."""
    return clock.advance


@pytest.fixture
def ids() -> IdMaker:
    """Ids `id-1`, `id-2`, …"""
    counter = itertools.count(1)
    return lambda: f"id-{next(counter)}"


@pytest.fixture(params=list(BACKENDS))
def backend(request: pytest.FixtureRequest) -> StoreMaker:
    """Opens a store of each real backend in turn, in a folder of the caller's."""
    return BACKENDS[request.param]


@pytest.fixture
def store(backend: StoreMaker, tmp_path: Path, clock: Clock, ids: IdMaker) -> Iterator[GraphStore]:
    """An empty store of each real backend in turn."""
    opened = backend(tmp_path, clock, ids)
    yield opened
    opened.close()


@pytest.fixture(params=[name for name in BACKENDS if name not in VOLATILE])
def open_again(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock, ids: IdMaker
) -> Iterator[Callable[[], GraphStore]]:
    """Opens the store of each backend that outlives a process, each call the same place again."""
    opened: list[GraphStore] = []

    def open_one() -> GraphStore:
        opened.append(BACKENDS[request.param](tmp_path, clock, ids))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def index_rules() -> IndexTerms:
    """How the product indexes entries."""
    return INDEX_TERMS


@pytest.fixture(params=list(MEMORY_BACKENDS))
def memory_store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock, ids: IdMaker
) -> Iterator[SqliteStore]:
    """An empty store of each backend that holds project memory."""
    place = MEMORY_BACKENDS[request.param](tmp_path)
    opened = SqliteStore.open(place, now=clock, ids=ids, terms=INDEX_TERMS)
    yield opened
    opened.close()


@pytest.fixture
def memory_on_disk(tmp_path: Path, clock: Clock, ids: IdMaker) -> Iterator[SqliteStore]:
    """An empty store with project memory in the file `memory.db` of the test's folder."""
    opened = SqliteStore.open(tmp_path / "memory.db", now=clock, ids=ids, terms=INDEX_TERMS)
    yield opened
    opened.close()


EntryMaker: TypeAlias = Callable[..., Entry]
"""Makes an entry from its content and any other fields."""


@pytest.fixture
def new_entry() -> EntryMaker:
    """Makes entries of project `p`, ids `e001`, `e002`, …, one second apart."""
    counter = itertools.count(1)

    def make(content: str, **fields: Any) -> Entry:
        number = next(counter)
        moment = f"2026-03-08T09:{number // 60:02}:{number % 60:02}.000Z"
        facts: dict[str, Any] = {
            "id": f"e{number:03}",
            "project_id": "p",
            "scope": "backend",
            "topic": "auth",
            "source_type": SourceType.AGENT_NOTE,
            "created_at": moment,
            "updated_at": moment,
        }
        sha = hashlib.sha256(content.encode()).hexdigest()
        return Entry(content=content, content_sha256=sha, **(facts | fields))

    return make
