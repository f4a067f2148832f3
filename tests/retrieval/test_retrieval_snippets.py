"""Snippets show the telling passage and mark what was found in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.retrieval.query import parse_query
from schemory.retrieval.snippets import MARK_END, MARK_START, SNIPPET_CHARS, make_snippet

FILLER = "Nothing to see in this sentence at all. " * 30


def snippet(text: str, query: str, max_chars: int = SNIPPET_CHARS) -> str:
    return make_snippet(text, parse_query(query), max_chars)


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Retry the webhook.", "webhooks", "Retry the >>>webhook<<<."),
        ("see src/auth/token.py", "token", "see src/auth/>>>token<<<.py"),
        ("see src/auth/token.py", "token.py", "see src/auth/>>>token.py<<<"),
        ("see src/auth/token.py", "src/auth/token.py", "see >>>src/auth/token.py<<<"),
        ("call getUserById", "user", "call get>>>User<<<ById"),
        ("数据库连接池耗尽", "连接池", "数据库>>>连接池<<<耗尽"),
        ("低语森林", "林", "低语森>>>林<<<"),
        ("Perché già?", "gia'", "Perché >>>già<<<?"),
        ("le connessioni chiuse", "connessione", "le >>>connessioni<<< chiuse"),
        ("nothing here", "absent", "nothing here"),
        ("", "x", ""),
    ],
)
@pytest.mark.covers("retrieval.snippets")
def test_what_was_found_is_marked_as_it_stands(text: str, query: str, expected: str) -> None:
    assert snippet(text, query) == expected


@pytest.mark.covers("retrieval.snippets")
def test_a_long_text_shows_the_passage_with_most_of_the_query() -> None:
    text = f"{FILLER}One webhook here. {FILLER}The webhook is\nretried after a timeout. {FILLER}"
    found = snippet(text, "webhook retry timeout")
    assert ">>>webhook<<< is >>>retried<<< after a >>>timeout<<<" in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert len(found) <= SNIPPET_CHARS + 3 * len(MARK_START + MARK_END) + 2


def test_without_a_hit_the_beginning_is_shown() -> None:
    assert snippet(FILLER, "absent").startswith("Nothing to see")


def test_a_hit_far_inside_a_long_text_is_found() -> None:
    assert ">>>needle<<<" in snippet("word " * 30_000 + "needle", "needle")


@given(st.text(), st.text("ab 林漢é/_", max_size=12), st.integers(20, 300))
def test_a_snippet_is_bounded_and_marks_only_what_is_there(
    text: str, query: str, max_chars: int
) -> None:
    found = snippet(text, query, max_chars)
    marks = found.count(MARK_START)
    assert len(found) <= max_chars + marks * len(MARK_START + MARK_END) + 2
    if len(text) <= max_chars and MARK_START not in text and MARK_END not in text:
        assert found.replace(MARK_START, "").replace(MARK_END, "") == text
