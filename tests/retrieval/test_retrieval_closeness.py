"""How close together a text holds a query's words."""

from math import isclose, log

import pytest

from schemory.retrieval.closeness import PASSAGE_RUNS, Closeness
from schemory.retrieval.query import parse_query

FAR = " and" * PASSAGE_RUNS


def closeness(query: str, *texts: str) -> float:
    words = parse_query(query).words
    return Closeness(words, [1] * len(words), 100).of(texts)


@pytest.mark.covers("retrieval.ranking.together")
@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("webhook retries", "a webhook that retries", 1.0),
        ("webhook retries", "retrying webhooks", 1.0),
        ("webhook retries", f"webhook{FAR} retries", 0.5),
        ("webhook retries", f"webhook{FAR} retries the webhook", 1.0),
        ("webhook retries", "nothing of the kind", 0.0),
        ("fetch invoice limit", "see fetchInvoiceLimit", 1.0),
        ("citta gia", "la città, già", 1.0),
        ("连接 重启", "重启后连接", 1.0),
        ("连接 重启", f"重启{FAR} 连接", 0.5),
        ("池 重启", "连接池要重启", 1.0),
    ],
)
def test_the_best_passage_counts(query: str, text: str, share: float) -> None:
    assert isclose(closeness(query, text), share)


@pytest.mark.covers("retrieval.ranking.together")
def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    words = parse_query("webhook note").words
    close = Closeness(words, [0, 99], 100)
    rare, common = log(101), log(2)
    assert isclose(close.of(["webhook"]), rare / (rare + common))
    assert isclose(close.of(["note"]), common / (rare + common))


@pytest.mark.covers("retrieval.ranking.together")
def test_title_and_content_are_passages_of_their_own() -> None:
    assert isclose(closeness("webhook retries", "webhook", "retries"), 0.5)


def test_one_word_alone_tells_nothing() -> None:
    assert not Closeness(parse_query("webhook").words, [1], 100).tells
    assert not Closeness((), [], 0).tells
