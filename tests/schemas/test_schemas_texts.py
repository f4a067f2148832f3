import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.schemas.texts import advertised, cut_at_word, find_markup


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("plain", None),
        ("3 < 4 and 5 > 4", None),
        ("a [bracket] (aside)", None),
        ("<word>", "<word>"),
        ("</b> end", "</b>"),
        ("<!-- note -->", "<!-- note -->"),
        ("see [it](http://x)", "]("),
    ],
)
def test_markup_is_what_strict_hosts_refuse(text: str, markup: str | None) -> None:
    assert find_markup(text) == markup


def test_a_short_text_is_advertised_as_it_is() -> None:
    assert advertised('3 < 4, [a] (b), ünï, "quoted"') == '3 < 4, [a] (b), ünï, "quoted"'


def test_a_text_without_spaces_is_cut_between_characters() -> None:
    assert cut_at_word("あいうえお", 12) == "あいう…"


def test_a_text_is_cut_before_the_word_that_does_not_fit() -> None:
    assert cut_at_word("one two three", 12) == "one two…"
    assert cut_at_word("one two three", 13) == "one two three"


@given(st.text(), st.integers(min_value=3, max_value=60))
def test_what_is_advertised_is_never_too_long_and_holds_no_markup(text: str, limit: int) -> None:
    shown = advertised(text, limit)
    assert len(shown.encode("utf-8", "replace")) <= max(limit, 3)
    assert find_markup(shown) is None


@given(st.lists(st.sampled_from(["<", ">", "b", "/", "](", "[", "(", " "]), max_size=30))
def test_nested_markup_is_removed_too(parts: list[str]) -> None:
    assert find_markup(advertised("".join(parts))) is None
