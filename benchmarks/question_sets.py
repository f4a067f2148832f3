"""Question sets: documents and questions with what they should find, from files or made."""

import gzip
import json
import random
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any


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
            sentences = _load_sentences(squad)
            sets += [_shuffled(paragraphs), sentences, _shuffled(sentences)]
        if english.is_file():
            sets.append(_load_cross(squad, english))
    if english.is_file() and more:
        sets.append(_make_conversations(english))
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
    by_group: dict[str, list[Document]] = defaultdict(list)
    for document in dataset.documents:
        by_group[document.group].append(document)
    documents: list[Document] = []
    for members in by_group.values():
        dealt = [(d.topic, d.order) for d in members]
        random.Random(1).shuffle(dealt)
        documents += [
            replace(document, topic=topic, order=order)
            for document, (topic, order) in zip(members, dealt, strict=True)
        ]
    questions = [replace(question, gold_topics=frozenset()) for question in dataset.questions]
    return Dataset(f"{dataset.name} shuffled", documents, questions)


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
            found = own[at]
            gold, topics = frozenset({found.id}), frozenset({found.topic})
            questions.append(Question(qa["question"], gold, found.group, topics))
    return Dataset("squad-it sentences", documents, questions)


# Conversations ----------------------------------------------------------------------------------

_CHAT = (
    "Haha, really?",
    "That sounds great!",
    "By the way, how was your weekend?",
    "Pretty good, we stayed at home.",
    "I have to run in ten minutes.",
    "Let me check and tell you.",
    "Did you sleep well?",
    "My train was late again.",
    "We should meet more often.",
    "Oh wow, I did not know.",
)
_OPENINGS = ("I think it was", "It was", "As far as I know", "You mean")
_FRIENDS, _SESSIONS, _EXCHANGES = 10, 20, 5


def _make_conversations(path: Path) -> Dataset:
    """Return chats made of questions and answers: pairs of friends, sessions of some subjects each.

    One asks with most of a question's words, the other answers with few of them or in a whole
    sentence; small talk lies between. The turn with the answer is what the question should find.
    """
    chance = random.Random(3)
    asked = [(paragraph.text, qa) for paragraph, qas in _paragraphs(path) for qa in qas]
    documents: list[Document] = []
    questions: list[Question] = []
    for friends in range(_FRIENDS):
        pool = iter(chance.sample(asked, _SESSIONS * _EXCHANGES))
        for session in range(_SESSIONS):
            talk = _Talk(str(friends), f"{friends}.{session}", chance)
            talk.say(chance.choice(_CHAT))
            questions += [talk.exchange(*next(pool)) for _ in range(_EXCHANGES)]
            documents += talk.turns
    return Dataset("conversations", documents, questions)


class _Talk:
    """One session that is being made."""

    def __init__(self, group: str, topic: str, chance: random.Random) -> None:
        self._group, self._topic, self._chance = group, topic, chance
        self.turns: list[Document] = []

    def say(self, text: str) -> str:
        place = len(self.turns)
        turn = Document(f"{self._topic}.{place}", text, self._group, self._topic, (0, place))
        self.turns.append(turn)
        return turn.id

    def exchange(self, context: str, qa: dict[str, Any]) -> Question:
        chance = self._chance
        words = str(qa["question"]).rstrip("?").split()
        answer = qa["answers"][0]
        if chance.random() < 0.5:  # noqa: PLR2004 (half of them)
            kept = [word for word in words if chance.random() < 0.7] or words  # noqa: PLR2004 (most)
            self.say(f"Tell me, {' '.join(kept)}?")
            again = ", the " + chance.choice(words[1:] or words) if chance.random() < 0.75 else ""  # noqa: PLR2004 (most)
            gold = self.say(f"{chance.choice(_OPENINGS)} {answer['text']}{again}.")
        else:
            gold = self.say(_sentence_at(context, answer["answer_start"]))
        if chance.random() < 0.6:  # noqa: PLR2004 (more often than not)
            self.say(chance.choice(_CHAT))
        topics = frozenset({self._topic})
        return Question(qa["question"], frozenset({gold}), self._group, topics)


def _sentence_at(text: str, at: int) -> str:
    starts = [0, *(found.end() for found in re.finditer(r"[.!?]\s+", text)), len(text)]
    place = bisect_right(starts, at) - 1
    return text[starts[place] : starts[min(place + 1, len(starts) - 1)]].strip()[:280]
