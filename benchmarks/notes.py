"""Made-up memory entries of any number, the same each time, in words as common as words are."""

import hashlib
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate, count, islice
from pathlib import Path

from benchmarks import made

from schemory.model.entry import Entry, SourceType
from schemory.retrieval.tokens import TOKENS_VERSION, index_terms
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

TERMS = IndexTerms(TOKENS_VERSION, index_terms)
WRITE = WriteContext(operation="benchmark")
PROJECT = "benchmark"
_SCOPES = ("backend", "frontend", "infrastructure", "documentation")
_CHUNK = 1000


class Writer:
    """Writes texts whose words follow Zipf's law, from a vocabulary of 30,000."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        small = made.words()
        self.words = [*small, *(first + last for last in small[:9] for first in small)]
        self.weights = list(accumulate(1 / (rank + 3) for rank in range(len(self.words))))

    def text(self, words: int) -> str:
        """Return a text of so many words."""
        return " ".join(self.chance.choices(self.words, cum_weights=self.weights, k=words))

    def question(self) -> str:
        """Return three to seven words, as people ask: seldom the most common ones."""
        return " ".join(
            self.words[min(int(self.chance.paretovariate(0.35)) + 20, 29_999)]
            for _ in range(self.chance.randint(3, 7))
        )


def entries(number: int, project: str = PROJECT, seed: int = 5) -> Iterator[Entry]:
    """Yield entries of 20 to 120 words."""
    writer = Writer(seed)
    chance = writer.chance
    kinds = list(SourceType)
    for i in range(number):
        content = f"{writer.text(chance.randint(20, 120))} TICKET-{i}"
        moment = f"2026-01-{1 + i % 28:02}T{i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}.000Z"
        yield Entry(
            id=f"{project}-{i:09}",
            project_id=project,
            scope=chance.choice(_SCOPES),
            topic=f"topic {chance.randrange(60)}",
            title=writer.text(6),
            content=content,
            content_sha256=hashlib.sha256(content.encode()).hexdigest(),
            source_type=chance.choice(kinds),
            created_at=moment,
            updated_at=moment,
            tags=tuple(sorted({f"tag{chance.randrange(40)}" for _ in range(2)})),
        )


def open_store(path: Path | str, *, terms: IndexTerms = TERMS) -> SqliteStore:
    """Open a store as the product does: commits reach the disk, entries are indexed."""
    numbers = count(1)
    return SqliteStore.open(
        path, now=lambda: datetime.now(UTC), ids=lambda: f"id-{next(numbers)}", terms=terms
    )


class MadeTerms(dict[str, str]):
    """Index terms by text, each made once: a second run of the same writes finds them ready."""

    def __missing__(self, text: str) -> str:
        """Make the terms of a text that is new."""
        terms = self[text] = TERMS.terms(text)
        return terms


def fill(store: SqliteStore, number: int, project: str = PROJECT, seed: int = 5) -> None:
    """Load `number` entries into a project, in transactions of a hundred thousand."""
    source = entries(number, project, seed)
    for done in range(0, number, 100_000):
        with store.memory_transaction(project, WRITE) as tx:
            for _ in range(done, min(number, done + 100_000), _CHUNK):
                tx.insert_entries(list(islice(source, _CHUNK)))
