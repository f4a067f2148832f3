"""Question sets about identifiers: made entries, each about one of its own, among near misses.

The identifier as it is written must be the first hit, and so must its parts, written apart. Every
second entry also names the pieces of another entry's identifier in another order, and a longer one
that begins like it, so that neither common pieces nor a common beginning is enough.
"""

import random
from collections.abc import Callable
from itertools import product

from benchmarks.question_sets import Dataset, Document, Question

_NOUNS = [
    "account",
    "alert",
    "archive",
    "batch",
    "branch",
    "bucket",
    "budget",
    "cache",
    "channel",
    "client",
    "cluster",
    "column",
    "contract",
    "cookie",
    "counter",
    "customer",
    "device",
    "domain",
    "event",
    "export",
    "feature",
    "filter",
    "folder",
    "gateway",
    "header",
    "invoice",
    "job",
    "ledger",
    "limit",
    "login",
    "mail",
    "market",
    "message",
    "metric",
    "order",
    "package",
    "page",
    "payment",
    "pipeline",
    "policy",
    "price",
    "profile",
    "quota",
    "record",
    "refund",
    "region",
    "release",
    "report",
    "request",
    "role",
    "route",
    "schema",
    "session",
    "shipment",
    "signal",
    "snapshot",
    "stock",
    "stream",
    "table",
    "task",
    "template",
    "tenant",
    "thread",
    "ticket",
    "token",
    "trigger",
    "upload",
    "user",
    "vault",
    "volume",
    "webhook",
]
_VERBS = [
    "build",
    "check",
    "close",
    "count",
    "create",
    "delete",
    "fetch",
    "find",
    "load",
    "merge",
    "open",
    "parse",
    "read",
    "send",
    "sort",
]
_FILLING = [
    "after",
    "again",
    "because",
    "before",
    "between",
    "deploys",
    "every",
    "fails",
    "first",
    "has",
    "last",
    "lost",
    "morning",
    "needs",
    "new",
    "night",
    "noted",
    "old",
    "once",
    "retried",
    "seen",
    "slow",
    "so",
    "stays",
    "still",
    "the",
    "then",
    "today",
    "twice",
    "under",
    "until",
    "waits",
    "was",
    "when",
    "with",
]
_SHORTEST, _LONGEST = 12, 60
_ASKED = 500

Names = tuple[str, str, str]
"""A verb and two nouns, which no other entry's identifier has in this order."""

_WRITTEN: tuple[Callable[[Names, int], str], ...] = (
    lambda names, number: f"{names[1][:3].upper()}-{10_000 + number}",
    lambda _, number: f"#{10_000 + number}",
    lambda names, _: names[0] + names[1].title() + names[2].title(),
    lambda names, _: "_".join(names),
    lambda names, number: f"ERR_{names[1].upper()}_{10_000 + number}",
    lambda _, number: f"v{number // 400}.{number // 20 % 20}.{number % 20}",
    lambda names, _: f"src/{names[1]}/{names[0]}_{names[2]}.py",
)
_IN_WORDS = (2, 3)  # which of these have parts that are words of their own


def make_identifiers(entries: int) -> list[Dataset]:
    """Return two sets over the same entries: identifiers as they are written, and their parts."""
    chance = random.Random(11)
    combinations = [names for names in product(_VERBS, _NOUNS, _NOUNS) if names[1] != names[2]]
    names = chance.sample(combinations, entries)
    written = [_WRITTEN[at % len(_WRITTEN)](own, at) for at, own in enumerate(names)]
    missed = chance.sample(range(entries), entries // 2)
    near = dict(zip(chance.sample(range(entries), entries // 2), missed, strict=True))
    documents = [
        Document(f"i{at}", _text(chance, own, written, names, near.get(at)), topic=f"t{at % 40}")
        for at, own in enumerate(written)
    ]
    parts = [at for at in range(entries) if at % len(_WRITTEN) in _IN_WORDS]
    apart = sorted(set(parts) - set(missed))
    return [
        Dataset("identifiers", documents, _questions(chance, range(entries), written)),
        Dataset(
            "identifiers by parts",
            documents,
            _questions(chance, apart, [" ".join(own) for own in names]),
        ),
    ]


def _text(
    chance: random.Random, own: str, written: list[str], names: list[Names], near: int | None
) -> str:
    words = [chance.choice(_FILLING) for _ in range(chance.randint(_SHORTEST, _LONGEST))]
    words.insert(chance.randrange(len(words)), own)
    if near is not None:
        words[1:1] = [f"{written[near]}7", *reversed(names[near])]
    return " ".join(words)


def _questions(
    chance: random.Random, among: "range | list[int]", texts: list[str]
) -> list[Question]:
    asked = chance.sample(among, min(_ASKED, len(among)))
    return [Question(texts[at], frozenset({f"i{at}"})) for at in sorted(asked)]
