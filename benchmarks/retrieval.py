"""Measures how well search finds things, on public question sets or on a folder of your own.

    python benchmarks/retrieval.py --data FOLDER [--json]

`FOLDER` holds either the sets this project is tuned against (`devnotes.json`,
`SQuAD_it-test.json.gz`, `xquad.en.json`, each where it is there), or one set in this format:

* `docs.jsonl`, a document a line: `{"id", "text", "group"?, "topic"?, "order"?, "title"?}`.
  A group is a project of its own: queries search their group only. `topic` is the entry's subject
  (scope and topic), `order` a number or text that sorts the documents of a topic in time.
* `queries.jsonl`, a question a line:
  `{"id", "text", "group"?, "gold": [ids], "gold_topics"?: [topics]}`.

Reported for each method: recall at 1, 5 and 10 (mean share of the gold documents found), MRR@10 and
nDCG@10; where `gold_topics` is given also for topics, a topic standing where its first document
stands. Methods: every word required (`and`), any word on the raw text (`or`), and the product's
search without and with context.
"""

import argparse
import gzip
import json
import math
import random
import re
import statistics
import sys
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw

from schemory.retrieval.query import SearchQuery, holds_literal, holds_phrases, parse_query
from schemory.retrieval.ranking import Candidate, Held, common_terms, rank
from schemory.retrieval.tokens import index_terms
from schemory.retrieval.words import find_runs

DEPTH = 200
CUTS = (1, 5, 10)
LAST = 10
WEIGHTS = "4.0, 1.0"  # title, content


@dataclass(frozen=True, slots=True)
class Document:
    """One entry of a set."""

    id: str
    text: str
    group: str = ""
    topic: str = ""
    order: tuple[int, float | str] = (0, 0)
    title: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One query with what it should find."""

    text: str
    gold: frozenset[str]
    group: str = ""
    gold_topics: frozenset[str] = frozenset()


@dataclass(slots=True)
class Dataset:
    """Documents and questions under a name."""

    name: str
    documents: list[Document]
    questions: list[Question]


# Loading


def load(folder: Path, *, more: bool) -> list[Dataset]:
    """Return the sets in `folder`; with `more` also what shows where context helps and harms."""
    if (folder / "docs.jsonl").is_file():
        return [_load_folder(folder)]
    sets: list[Dataset] = []
    notes, squad = folder / "devnotes.json", folder / "SQuAD_it-test.json.gz"
    english = folder / "xquad.en.json"
    if notes.is_file():
        sets.append(_load_notes(notes))
    if squad.is_file():
        paragraphs = _load_squad(squad)
        sets.append(paragraphs)
        if more:
            sets += [_shuffled(paragraphs), _load_sentences(squad)]
        if english.is_file():
            sets.append(_load_cross(squad, english))
    return sets


def _load_folder(folder: Path) -> Dataset:
    documents = [
        Document(
            str(row["id"]),
            row["text"],
            str(row.get("group", "")),
            str(row.get("topic", "")),
            _order(row.get("order", number)),
            row.get("title") or "",
        )
        for number, row in enumerate(_lines(folder / "docs.jsonl"))
    ]
    questions = [
        Question(
            row["text"],
            frozenset(map(str, row["gold"])),
            str(row.get("group", "")),
            frozenset(map(str, row.get("gold_topics", ()))),
        )
        for row in _lines(folder / "queries.jsonl")
    ]
    return Dataset(folder.name, documents, questions)


def _order(value: object) -> tuple[int, float | str]:
    return (0, float(value)) if isinstance(value, int | float) else (1, str(value))


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _load_notes(path: Path) -> Dataset:
    data = json.loads(path.read_text(encoding="utf-8"))
    documents = [
        Document(e["id"], e["content"], title=e["title"], order=(0, n))
        for n, e in enumerate(data["entries"])
    ]
    questions = [Question(q["q"], frozenset(q["gold"])) for q in data["queries"]]
    return Dataset("devnotes", documents, questions)


def _paragraphs(path: Path) -> Iterable[tuple[Document, list[dict[str, Any]]]]:
    """Yield each paragraph as a document of its article's topic, with its questions."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    for number, article in enumerate(articles):
        for position, paragraph in enumerate(article["paragraphs"]):
            document = Document(
                f"{number}-{position}",
                paragraph["context"],
                topic=str(number),
                order=(0, position),
                title=article.get("title", "").replace("_", " "),
            )
            yield document, paragraph["qas"]


def _load_squad(path: Path) -> Dataset:
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    for document, asked in _paragraphs(path):
        first = documents.setdefault(document.text, document)
        questions += [Question(qa["question"], frozenset({first.id})) for qa in asked]
    return Dataset("squad-it", list(documents.values()), questions)


def _load_cross(italian: Path, english: Path) -> Dataset:
    asked = {qa["id"]: qa["question"] for _, qas in _paragraphs(italian) for qa in qas}
    documents: list[Document] = []
    questions: list[Question] = []
    for document, qas in _paragraphs(english):
        documents.append(document)
        questions += [
            Question(asked[qa["id"]], frozenset({document.id})) for qa in qas if qa["id"] in asked
        ]
    return Dataset("italian-to-english", documents, questions)


def _shuffled(dataset: Dataset) -> Dataset:
    """Return the set with topics and order dealt out by chance: no context means anything."""
    dealt = [(d.topic, d.order) for d in dataset.documents]
    random.Random(1).shuffle(dealt)
    documents = [
        replace(document, topic=topic, order=order)
        for document, (topic, order) in zip(dataset.documents, dealt, strict=True)
    ]
    return Dataset(f"{dataset.name} shuffled", documents, dataset.questions)


def _load_sentences(path: Path) -> Dataset:
    """Return sentences as entries: short, and often clear only beside the others of their topic.

    Twelve articles are a project, eight paragraphs a topic.
    """
    documents: list[Document] = []
    questions: list[Question] = []
    for whole, asked in _paragraphs(path):
        article, position = map(int, whole.id.split("-"))
        starts = [0, *(m.end() for m in re.finditer(r"[.!?]\s+(?=[A-ZÀ-Ü0-9\"])", whole.text))]
        own = [
            Document(
                f"{whole.id}-{n}",
                whole.text[start:end],
                group=str(article // 12),
                topic=f"{article}.{position // 8}",
                order=(0, position * 1000 + n),
            )
            for n, (start, end) in enumerate(pairwise([*starts, len(whole.text)]))
        ]
        documents += own
        for qa in asked:
            at = bisect_right(starts, qa["answers"][0]["answer_start"]) - 1
            questions.append(Question(qa["question"], frozenset({own[at].id}), own[at].group))
    return Dataset("squad-it sentences", documents, questions)


# Searching


class Engine:
    """Two full-text tables a group: the raw text, and the product's terms."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._connection = apsw.Connection(":memory:")
        self._groups: dict[str, int] = {}
        self._documents: dict[int, dict[int, Document]] = {}
        self._beside: dict[str, tuple[str | None, str | None]] = {}
        by_group: dict[str, list[Document]] = defaultdict(list)
        for document in documents:
            by_group[document.group].append(document)
        self._by_id = {document.id: document for document in documents}
        for group, members in by_group.items():
            self._add_group(group, members)

    def _add_group(self, group: str, members: list[Document]) -> None:
        number = self._groups.setdefault(group, len(self._groups))
        self._documents[number] = dict(enumerate(members))
        for table in ("raw", "terms"):
            self._connection.execute(
                f"CREATE VIRTUAL TABLE {table}_{number} USING fts5(title, content, "
                "tokenize='unicode61 remove_diacritics 2')"
            )
        raw = [(n, d.title, d.text) for n, d in enumerate(members)]
        terms = [(n, index_terms(d.title), index_terms(d.text)) for n, d in enumerate(members)]
        for table, rows in (("raw", raw), ("terms", terms)):
            self._connection.executemany(
                f"INSERT INTO {table}_{number}(rowid, title, content) VALUES (?, ?, ?)",  # noqa: S608 (our own names)
                rows,
            )
        self._connection.execute(
            f"CREATE VIRTUAL TABLE vocab_{number} USING fts5vocab(terms_{number}, 'row')"
        )
        by_topic: dict[str, list[Document]] = defaultdict(list)
        for document in members:
            if document.topic:
                by_topic[document.topic].append(document)
        for siblings in by_topic.values():
            ordered = sorted(siblings, key=lambda d: (d.order, d.id))
            for at, document in enumerate(ordered):
                before = ordered[at - 1].id if at else None
                behind = ordered[at + 1].id if at + 1 < len(ordered) else None
                self._beside[document.id] = before, behind

    def _match(
        self, table: str, group: str, expression: str, limit: int
    ) -> list[tuple[Document, float]]:
        if not expression or group not in self._groups:
            return []
        number = self._groups[group]
        rows = self._connection.execute(
            f"SELECT rowid, -bm25({table}_{number}, {WEIGHTS}) AS score FROM {table}_{number} "  # noqa: S608 (our own names)
            f"WHERE {table}_{number} MATCH ? ORDER BY score DESC, rowid LIMIT ?",
            (expression, limit),
        )
        return [(self._documents[number][int(rowid)], float(score)) for rowid, score in rows]

    def plain(self, operator: str) -> Callable[[Question, int], list[Document]]:
        """Return the search people write first: the query's words joined by `operator`."""

        def search(question: Question, limit: int) -> list[Document]:
            words = [run.text.replace('"', "") for run in find_runs(question.text)]
            expression = f" {operator} ".join(f'"{word}"' for word in words)
            return [d for d, _ in self._match("raw", question.group, expression, limit)]

        return search

    def product(self, *, context: bool) -> Callable[[Question, int], list[Document]]:
        """Return the product's own search."""

        def search(question: Question, limit: int) -> list[Document]:
            weight = 0.5 if context else 0.0
            found = self._candidates(question, limit)
            ranked = rank(list(found.values()), neighbour_weight=weight, parent_weight=weight)
            return [self._by_id[r.candidate.id] for r in ranked]

        return search

    def _frequency(self, number: int, term: str) -> int:
        row = self._connection.execute(
            f"SELECT doc FROM vocab_{number} WHERE term = ?",  # noqa: S608 (our own name)
            (term,),
        ).fetchone()
        return int(row[0]) if row else 0

    def _candidates(self, question: Question, limit: int) -> dict[str, Candidate]:
        number = self._groups.get(question.group)
        if number is None:
            return {}
        query = parse_query(question.text, frequency=lambda term: self._frequency(number, term))
        frequencies = {term: self._frequency(number, term) for term in query.terms}
        without = common_terms(frequencies, len(self._documents[number]))
        matches = [(Held.SOME, query.match_any(without)), (Held.ALL, query.match_all())]
        if query.has_identifier:
            matches.append((Held.EXACT, query.match_exact()))
        found: dict[str, Candidate] = {}
        for held, expression in matches:
            for document, score in self._match(
                "terms", question.group, expression, max(DEPTH, limit)
            ):
                if holds_phrases(query, document.title, document.text):
                    first = found.get(document.id)
                    relevance = first.relevance if first else score
                    found[document.id] = self._candidate(
                        document, relevance, _with_literal(query, document, held)
                    )
        return found

    def _candidate(self, document: Document, relevance: float, held: Held) -> Candidate:
        before, behind = self._beside.get(document.id, (None, None))
        return Candidate(
            id=document.id,
            relevance=relevance,
            held=held,
            chars=len(document.text),
            group=document.topic or None,
            previous=before,
            following=behind,
        )


def _with_literal(query: SearchQuery, document: Document, held: Held) -> Held:
    is_literal = held > Held.SOME and holds_literal(query, document.title, document.text)
    return Held.LITERAL if is_literal else held


# Scoring


@dataclass(slots=True)
class Scores:
    """Sums over questions; `means` gives what is reported."""

    recall: dict[int, list[float]] = field(default_factory=lambda: {cut: [] for cut in CUTS})
    reciprocal: list[float] = field(default_factory=list[float])
    gain: list[float] = field(default_factory=list[float])

    def add(self, ranked: Sequence[str], gold: frozenset[str]) -> None:
        """Count one question's answer."""
        for cut in CUTS:
            self.recall[cut].append(len(gold.intersection(ranked[:cut])) / len(gold))
        places = [place for place, name in enumerate(ranked[:LAST]) if name in gold]
        self.reciprocal.append(1 / (places[0] + 1) if places else 0.0)
        ideal = sum(1 / math.log2(place + 2) for place in range(min(len(gold), LAST)))
        self.gain.append(sum(1 / math.log2(place + 2) for place in places) / ideal)

    def means(self) -> dict[str, float]:
        """Return the figures, rounded to three digits."""
        figures = {f"recall@{cut}": statistics.fmean(values) for cut, values in self.recall.items()}
        figures["mrr@10"] = statistics.fmean(self.reciprocal)
        figures["ndcg@10"] = statistics.fmean(self.gain)
        return {name: round(value, 4) for name, value in figures.items()}


def evaluate(dataset: Dataset, search: Callable[[Question, int], list[Document]]) -> dict[str, Any]:
    """Return the figures of one method on one set."""
    documents, topics = Scores(), Scores()
    seconds: list[float] = []
    for question in dataset.questions:
        begin = time.perf_counter()
        found = search(question, LAST)
        seconds.append(time.perf_counter() - begin)
        if question.gold:
            documents.add([document.id for document in found], question.gold)
        if question.gold_topics:
            deep = found if len({d.topic for d in found}) >= LAST else search(question, 10 * DEPTH)
            topics.add(list(dict.fromkeys(d.topic for d in deep)), question.gold_topics)
    result: dict[str, Any] = {"median_ms": round(statistics.median(seconds) * 1000, 3)}
    if documents.gain:
        result["documents"] = documents.means()
    if topics.gain:
        result["topics"] = topics.means()
    return result


def run(dataset: Dataset) -> dict[str, Any]:
    """Return every method's figures on one set."""
    begin = time.perf_counter()
    engine = Engine(dataset.documents)
    indexed = time.perf_counter() - begin
    methods = {
        "and": engine.plain("AND"),
        "or": engine.plain("OR"),
        "without context": engine.product(context=False),
        "schemory": engine.product(context=True),
    }
    return {
        "set": dataset.name,
        "documents": len(dataset.documents),
        "questions": len(dataset.questions),
        "index_ms_per_document": round(1000 * indexed / max(1, len(dataset.documents)), 3),
        "methods": {name: evaluate(dataset, search) for name, search in methods.items()},
    }


def show(result: dict[str, Any]) -> None:
    """Print one set's figures as a table."""
    print(f"{result['set']}: {result['documents']} documents, {result['questions']} questions")
    for kind in ("documents", "topics"):
        rows = {n: m[kind] for n, m in result["methods"].items() if kind in m}
        if not rows:
            continue
        names = list(next(iter(rows.values())))
        print(f"  {kind:<16}" + "".join(f"{name:>11}" for name in names) + f"{'ms':>9}")
        for method, figures in rows.items():
            cells = "".join(f"{figures[name]:>11.3f}" for name in names)
            print(f"  {method:<16}{cells}{result['methods'][method]['median_ms']:>9.2f}")


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets, or one set")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--more", action="store_true", help="also measure shuffled context and short entries"
    )
    parser.add_argument("--sample", type=int, default=0, help="ask only so many questions of a set")
    arguments = parser.parse_args()
    datasets = load(arguments.data, more=arguments.more)
    if not datasets:
        sys.stderr.write(f"{arguments.data} holds no question set\n")
        return 2
    if arguments.sample:
        for dataset in datasets:
            count = min(arguments.sample, len(dataset.questions))
            dataset.questions = random.Random(1).sample(dataset.questions, count)
    results = [run(dataset) for dataset in datasets]
    if arguments.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
    else:
        for result in results:
            show(result)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
