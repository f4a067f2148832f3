"""Project memory against the raw engine: `python -m benchmarks.memory [--entries N] [--json]`."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from itertools import count, cycle, islice
from pathlib import Path

import apsw
from benchmarks import notes, raw
from benchmarks.comparing import (
    WRITES,
    Parts,
    against_raw,
    common_arguments,
    growing,
    measured,
    report,
    say,
    take,
)
from benchmarks.measure import Figure, by_turns, median_of, once, ratio

from schemory.memory.inputs import EntryUpdate, NewEntry, ProjectRef, SearchRequest
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import MemorySettings
from schemory.memory.similar import near_duplicates
from schemory.model.entry import Entry
from schemory.model.frozen import replace
from schemory.retrieval.query import parse_query
from schemory.safety.secrets import find_secrets
from schemory.storage.memory_protocols import EntryFilter, IndexTerms, TermGroup
from schemory.storage.sqlite.memory_index import for_project
from schemory.storage.sqlite.memory_terms import match_any
from schemory.storage.sqlite.store import SqliteStore

REF = ProjectRef(project_id=notes.PROJECT)
EVERYTHING = EntryFilter()
_QUESTIONS = 100
_ROUNDS = 40
_RAW_SEARCH = """
SELECT rowid, -bm25(memory_index_{n}, 4.0, 1.0, 2.0, 2.0) AS score FROM memory_index_{n}
WHERE memory_index_{n} MATCH ? ORDER BY score DESC, rowid LIMIT 200
"""


def memory_of(store: SqliteStore) -> ProjectMemory:
    """Return the service over a store."""
    numbers = count(1)
    return ProjectMemory(
        store,
        settings=MemorySettings(),
        now=lambda: datetime.now(UTC),
        ids=lambda: f"made-{time.time_ns()}-{next(numbers)}",
    )


def newcomers() -> Iterator[NewEntry]:
    """Yield entries that no store has yet, about 60 words each."""
    writer = notes.Writer(77)
    for number in count():
        yield NewEntry(
            scope="backend",
            topic=f"topic {number % 60}",
            title=writer.text(6),
            content=f"{writer.text(60)} NEW-{number}",
            source_type="decision",
            tags=("tag1", "tag2"),
        )


def groups_of(question: str) -> list[TermGroup]:
    """Return a question as the store is asked."""
    return [
        TermGroup(whole=word.whole, parts=word.parts, is_prefix=word.is_prefix)
        for word in parse_query(question).words
    ]


# One write


def writing(base: Path, folder: Path) -> Iterator[Figure]:
    """Measure one write per transaction against the same rows written bare.

    Both have their index texts ready-made; making them, and the search for credentials, are told
    apart. The look for near twins counts.
    """
    news = list(islice(newcomers(), WRITES + 2))
    yield from _parts_of_writing(base, news)
    terms = IndexTerms(notes.TERMS.version, notes.MadeTerms().__getitem__)
    scan = median_of(partial(take, map(_scan, news)), WRITES - 2)
    verbs: dict[str, Callable[[ProjectMemory, int], object]] = {
        "add one entry": lambda memory, i: memory.add_entry(REF, news[i]),
        "change one entry's content": lambda memory, i: memory.update_entry(
            REF, EntryUpdate(entry_id=_filled_id(i), changes={"content": news[i].content})
        ),
        "delete one entry": lambda memory, i: memory.delete_entry(REF, _filled_id(i), confirm=True),
    }
    for verb, call in verbs.items():
        for unit, clock in (("p50", time.perf_counter), ("p50, CPU", time.thread_time)):
            yield against_raw(
                f"{verb}, FULL, {unit}",
                partial(notes.open_store, terms=terms),
                partial(_each, call),
                base,
                folder,
                note="index text ready-made, the search for credentials apart",
                clock=clock,
                apart=0.0 if verb.startswith("delete") else scan,
            )


def _each(call: Callable[[ProjectMemory, int], object], store: SqliteStore) -> Iterator[None]:
    memory = memory_of(store)
    for number in range(WRITES + 2):
        call(memory, number)
        yield


def _filled_id(number: int) -> str:
    return f"{notes.PROJECT}-{number:09}"


def _scan(new: NewEntry) -> int:
    texts = (new.content, new.title or "", new.scope or "", new.topic or "", *new.tags)
    return sum(len(find_secrets(text, precise_only=False)) for text in texts)


def _parts_of_writing(base: Path, news: Sequence[NewEntry]) -> Iterator[Figure]:
    with closing(notes.open_store(base)) as store, store.read_memory(notes.PROJECT) as reader:
        parts: dict[str, Callable[[NewEntry], object]] = {
            "index text of an entry, most words met before": lambda new: notes.TERMS.terms(
                f"{new.title} {new.content}"
            ),
            "search for credentials in an entry": _scan,
            "look for near twins of an entry": lambda new: near_duplicates(reader, new.content),
        }
        for name, part in parts.items():
            spent = median_of(partial(take, map(part, news)), WRITES - 2)
            yield Figure(name=name, ours=spent, value=spent, value_unit="ms")


# Many writes


def loading(folder: Path, number: int) -> Iterator[Figure]:
    """Measure a bulk load with ready-made index texts against the same rows loaded bare."""
    told, ours, bare = (folder / f"load-{i}.db" for i in range(3))
    for path in (told, ours, bare):
        with closing(notes.open_store(path)) as store:
            notes.fill(store, 1)
    arriving = list(notes.entries(number, seed=6))
    with closing(notes.open_store(":memory:")) as store:
        derive = once(lambda: [store.index_text(entry) for entry in arriving])
        texts = [store.index_text(entry) for entry in arriving]

    def load(store: SqliteStore) -> None:
        with store.memory_transaction(notes.PROJECT, notes.WRITE) as tx:
            for at in range(0, number, 1000):
                chunk: Sequence[Entry] = arriving[at : at + 1000]
                tx.insert_entries(_renamed(chunk), texts=texts[at : at + 1000])

    with raw.recording() as recorder, closing(notes.open_store(told)) as store:
        recorder.transactions.clear()
        load(store)
    with closing(notes.open_store(ours)) as store:
        took = once(lambda: load(store))
    with closing(raw.connect(bare)) as db:
        plain = once(raw.load(db, recorder.transactions))
    name = f"load {number:,} entries, index text ready"
    yield ratio(name, took, plain, 2.0)
    each = derive / number
    yield Figure(name="… before it: index text an entry", ours=each, value=each, value_unit="ms")


def _renamed(entries: Sequence[Entry]) -> list[Entry]:
    return [replace(entry, id=f"new-{entry.id}") for entry in entries]


# Searching


def searching(path: Path, entries: int) -> Iterator[Figure]:
    """Measure what a search costs over the bare full-text query."""
    writer = notes.Writer(3)
    questions = [writer.question() for _ in range(_QUESTIONS)]
    with closing(notes.open_store(path)) as store, closing(raw.connect(path)) as db:
        memory = memory_of(store)
        asked = [groups_of(question) for question in questions]
        ours: list[float] = []
        candidates: list[float] = []
        for question, groups in zip(questions, asked, strict=True):
            bare = partial(_ask_raw, db, match_any(groups))
            whole, plain = by_turns(
                partial(memory.search, REF, SearchRequest(query=question)),
                bare,
                3,
                time.thread_time,
            )
            ours.append(whole - plain)
            found, plain = by_turns(partial(_candidates, store, groups), bare, 3, time.thread_time)
            candidates.append(found - plain)
    goal = 5.0 if entries <= 10_000 else None  # noqa: PLR2004 (what the goal speaks of)
    for name, over in (("search", ours), ("… of it: candidates", candidates)):
        middle = sorted(over)[len(over) // 2]
        late = sorted(over)[int(len(over) * 0.95)]
        yield Figure(
            name=f"{name}, {entries:,} entries, p50 over the raw query",
            ours=middle,
            value=middle,
            value_unit="ms",
            goal=goal if name == "search" else None,
            note=f"CPU; p95 {late:.3g} ms over it",
        )


def _ask_raw(db: apsw.Connection, expression: str) -> list[object]:
    return list(db.execute(for_project(_RAW_SEARCH, 1), (expression,)))


def _candidates(store: SqliteStore, groups: Sequence[TermGroup]) -> int:
    with store.read_memory(notes.PROJECT) as reader:
        return len(reader.match(groups, EVERYTHING, limit=200).matches)


def beside_others(folder: Path, number: int, foreign: int) -> Iterator[Figure]:
    """Measure a project's search alone and beside many entries of other projects."""
    alone, crowded = folder / "alone.db", folder / "crowded.db"
    for path in (alone, crowded):
        with closing(notes.open_store(path)) as store:
            notes.fill(store, number)
    with closing(notes.open_store(crowded)) as store:
        for i in range(0, foreign, 100_000):
            notes.fill(store, min(100_000, foreign - i), project=f"foreign-{i}", seed=100 + i)
    writer = notes.Writer(4)
    questions = [writer.question() for _ in range(30)]
    with closing(notes.open_store(crowded)) as beside, closing(notes.open_store(alone)) as own:
        searches = by_turns(_asking(beside, questions), _asking(own, questions), 300)
        name = f"search of {number:,} entries beside {foreign:,} foreign ones"
        yield ratio(name, *searches, 1.2, "raw column = the same project alone")
        with beside.read_memory(notes.PROJECT) as one, own.read_memory(notes.PROJECT) as other:
            listed = by_turns(
                lambda: one.list_entries(EVERYTHING, limit=50),
                lambda: other.list_entries(EVERYTHING, limit=50),
                _ROUNDS,
            )
        yield ratio("… its listing", *listed, 1.2, "as above")


def _asking(store: SqliteStore, questions: Sequence[str]) -> Callable[[], object]:
    memory, asked = memory_of(store), cycle(questions)
    return lambda: memory.search(REF, SearchRequest(query=next(asked)))


# Growth


def _costs(store: SqliteStore, number: int) -> dict[str, float]:
    arriving = notes.entries(10_000, seed=8)

    def add() -> None:
        with store.memory_transaction(notes.PROJECT, notes.WRITE) as tx:
            tx.insert_entries(_renamed([next(arriving)]))

    def read(work: Callable[[SqliteStore], object]) -> Callable[[], object]:
        return lambda: work(store)

    rare = [TermGroup(whole=(str(number // 2),))]
    verbs: dict[str, Callable[[], object]] = {
        "add": add,
        "list, newest 50": read(_list_newest),
        "search of a rare word": read(lambda each: _candidates(each, rare)),
    }
    return {verb: median_of(work, _ROUNDS) for verb, work in verbs.items()}


def _list_newest(store: SqliteStore) -> int:
    with store.read_memory(notes.PROJECT) as reader:
        return len(reader.list_entries(EVERYTHING, limit=50).hits)


# Everything

PARTS = ("write", "import", "search", "isolation", "growth")


def figures(folder: Path, entries: int, foreign: int, chosen: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of some parts, as they are measured."""
    stores: dict[int, Path] = {}
    for size in sorted({1_000, 10_000, entries}):
        say(f"filling a project of {size:,} entries")
        stores[size] = folder / f"store-{size}.db"
        with closing(notes.open_store(stores[size])) as store:
            notes.fill(store, size)
    parts: Parts = {
        "write": lambda: writing(stores[entries], folder),
        "import": lambda: loading(folder, min(entries, 20_000)),
        "search": lambda: _searching_all(stores),
        "isolation": lambda: beside_others(folder, 10_000, foreign),
        "growth": lambda: growing(stores, folder, notes.open_store, _costs, "entries"),
    }
    yield from measured(parts, chosen)


def _searching_all(stores: dict[int, Path]) -> Iterator[Figure]:
    for size, path in stores.items():
        if size >= 10_000:  # noqa: PLR2004 (a smaller project costs nothing)
            yield from searching(path, size)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this benchmark alone understands."""
    parser.add_argument("--entries", type=int, default=50_000, help="of the largest project")
    parser.add_argument("--foreign", type=int, default=200_000, help="entries of other projects")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table; 1 = a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    add_arguments(parser)
    common_arguments(parser, PARTS)
    return report(
        parser.parse_args(arguments),
        lambda folder, given: figures(folder, given.entries, given.foreign, given.only or PARTS),
    )


if __name__ == "__main__":
    sys.exit(main())
