"""Searches a question set as the product does: each group a project of a real store."""

import hashlib
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

import apsw
from benchmarks.question_sets import Document, Question

from schemory.app import make_ids, system_clock
from schemory.memory.ranked import (
    MAX_DEPTH,
    Meaning,
    Ranking,
    asks_for_names,
    parse,
    rank_project,
)
from schemory.memory.vectors import Vectors
from schemory.model.entry import Entry, SourceType
from schemory.model.moment import moment_text
from schemory.retrieval.embedding.choice import choose_model
from schemory.retrieval.ranking import rank
from schemory.retrieval.tokens import TOKENS_VERSION, index_terms
from schemory.storage.memory_protocols import EntryFilter, IndexTerms, MemoryReader
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

Search = Callable[[Question, int], list[Document]]

_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
_WEIGHTS = "4.0, 1.0"  # title, content
_BATCH = 500
_EVERYTHING = EntryFilter()


class Engine:
    """A store with the documents of a set, and beside it their raw text in plain tables.

    Closed at the end of its `with` block.

    Args:
        documents: The set's.
        keep: A folder where the store is kept with its vectors, and found again by the same
            documents; None = it goes when it is closed.
    """

    def __init__(self, documents: Sequence[Document], keep: Path | None = None) -> None:
        self._stack = ExitStack()
        temporary = tempfile.TemporaryDirectory(prefix="retrieval-")
        path = Path(self._stack.enter_context(temporary)) / "memory.sqlite"
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            path = keep / f"{_digest(documents)}.sqlite"
        filled = path.with_suffix(".filled")  # a store without it was left half-way
        is_filled = filled.exists()
        if not is_filled:
            for left in path.parent.glob(f"{path.name}*"):
                left.unlink()
        self._by_id = {document.id: document for document in documents}
        self._groups: dict[str, list[Document]] = defaultdict(list)
        for document in documents:
            self._groups[document.group].append(document)
        self._numbers = {group: number for number, group in enumerate(self._groups)}
        self.store = SqliteStore.open(
            path,
            now=system_clock,
            ids=make_ids(system_clock),
            terms=IndexTerms(version=TOKENS_VERSION, terms=index_terms),
            synchronous="NORMAL",
        )
        self._stack.callback(self.store.close)
        self._raw = apsw.Connection(":memory:")
        for group, members in self._groups.items():
            if not is_filled:
                self._fill(group, members)
            self._fill_raw(group, members)
        filled.touch()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _project(self, group: str) -> str:
        return f"group {self._numbers[group]}"

    def _fill(self, group: str, members: list[Document]) -> None:
        entries = list(_entries(self._project(group), members))
        context = WriteContext(operation="benchmark")
        for at in range(0, len(entries), _BATCH):
            with self.store.memory_transaction(self._project(group), context) as tx:
                tx.insert_entries(entries[at : at + _BATCH])

    def _fill_raw(self, group: str, members: list[Document]) -> None:
        number = self._numbers[group]
        self._raw.execute(
            f"CREATE VIRTUAL TABLE raw_{number} USING fts5(title, content, "
            "tokenize='unicode61 remove_diacritics 2')"
        )
        self._raw.executemany(
            f"INSERT INTO raw_{number}(rowid, title, content) VALUES (?, ?, ?)",  # noqa: S608 (our own name)
            [(at, document.title, document.text) for at, document in enumerate(members)],
        )

    def plain(self, operator: str) -> Search:
        """Return the search people write first: the query's words joined by `operator`."""

        def search(question: Question, limit: int) -> list[Document]:
            words = re.findall(r"\w+", question.text)
            if not words or question.group not in self._groups:
                return []
            number = self._numbers[question.group]
            rows = self._raw.execute(
                f"SELECT rowid FROM raw_{number} WHERE raw_{number} MATCH ? "  # noqa: S608 (our own name)
                f"ORDER BY bm25(raw_{number}, {_WEIGHTS}), rowid LIMIT ?",
                (f" {operator} ".join(f'"{word}"' for word in words), limit),
            )
            members = self._groups[question.group]
            return [members[int(str(rowid))] for (rowid,) in rows]

        return search

    def product(self, *, context: bool, vectors: Vectors | None = None) -> Search:
        """Return the product's own search, without or with context, without or with vectors."""

        def search(question: Question, limit: int) -> list[Document]:
            if question.group not in self._groups:
                return []
            with self.store.read_memory(self._project(question.group)) as reader:
                ranking = _ranking(reader, question.text, limit, vectors)
            if context:
                return [self._by_id[place.entry_id] for place in ranking.places[:limit]]
            bare = rank(
                [place.ranked.candidate for place in ranking.places],
                neighbour_weight=0.0,
                parent_weight=0.0,
            )
            return [self._by_id[one.candidate.id] for one in bare[:limit]]

        return search

    def by_vectors(self, vectors: Vectors) -> Search:
        """Return the search by nearness alone."""

        def search(question: Question, limit: int) -> list[Document]:
            if question.group not in self._groups:
                return []
            with self.store.read_memory(self._project(question.group)) as reader:
                nearest = vectors.nearest(question.text)._replace(floor=-2.0)
                found = reader.find_nearest(nearest, _EVERYTHING, limit=limit)
            return [self._by_id[entry_id] for entry_id, _ in found]

        return search

    def embed(self, backend: str, progress: Callable[[int], None]) -> Vectors:
        """Return a model with the vectors of all documents."""
        vectors = Vectors(self.store, choose_model(backend), lock_file=None, in_background=False)
        done = 0
        for group, members in self._groups.items():
            vectors.catch_up(self._project(group), seconds=float("inf"))
            done += len(members)
            progress(done)
        return vectors


def _ranking(reader: MemoryReader, text: str, limit: int, vectors: Vectors | None) -> Ranking:
    query = parse(reader, text)
    meaning = None
    if vectors is not None and not query.is_empty and not asks_for_names(query):
        meaning = Meaning(vectors.nearest(text), vectors.weight)
    return rank_project(reader, query, _EVERYTHING, depth=min(limit, MAX_DEPTH), meaning=meaning)


def _entries(project_id: str, members: list[Document]) -> Iterable[Entry]:
    """Yield the documents as entries; a document without a topic has one of its own."""
    by_topic: dict[str, list[Document]] = defaultdict(list)
    for number, document in enumerate(members):
        by_topic[document.topic or _own_topic(number)].append(document)
    for topic, siblings in by_topic.items():
        ordered = sorted(siblings, key=lambda document: document.order)
        for at, document in enumerate(ordered):
            moment = moment_text(_BEGINNING + timedelta(seconds=at))
            yield Entry(
                id=document.id,
                project_id=project_id,
                scope="set",
                topic=topic,
                title=document.title or None,
                content=document.text,
                content_sha256=hashlib.sha256(document.text.encode()).hexdigest(),
                source_type=SourceType.AGENT_NOTE,
                created_at=moment,
                updated_at=moment,
            )


def _digest(documents: Iterable[Document]) -> str:
    """Return what tells one set from another, in its texts or its order."""
    told = hashlib.sha256(TOKENS_VERSION.encode())
    for document in documents:
        told.update(repr(document).encode())
    return told.hexdigest()[:16]


def _own_topic(number: int) -> str:
    """Return a topic that no word of a question is like."""
    letters = str(number).translate(str.maketrans("0123456789", "qxzwvkjyph"))
    return f"qz{letters}"
