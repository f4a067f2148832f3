"""The order of hits: words held, relevance, context, ties."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.retrieval.ranking import Candidate, Held, rank, tone_of


def order(*candidates: Candidate) -> list[str]:
    return [ranked.candidate.id for ranked in rank(candidates)]


@pytest.mark.covers("retrieval.ranking.held")
def test_holding_all_words_stands_above_any_relevance() -> None:
    some = Candidate(id="some", relevance=90.0)
    every = Candidate(id="every", relevance=1.0, held=Held.ALL)
    exact = Candidate(id="exact", relevance=0.5, held=Held.EXACT)
    assert order(some, every, exact) == ["exact", "every", "some"]


@pytest.mark.covers("retrieval.ranking.context")
def test_a_weak_hit_beside_a_strong_one_is_lifted() -> None:
    strong = Candidate(id="strong", relevance=10.0, chars=100, group="t", following="weak")
    weak = Candidate(id="weak", relevance=2.0, chars=100, group="t", previous="strong")
    alone = Candidate(id="alone", relevance=5.0, chars=100, group="u")
    assert order(alone, weak, strong) == ["strong", "weak", "alone"]
    flat = rank([alone, weak, strong], neighbour_weight=0, parent_weight=0)
    assert [r.candidate.id for r in flat] == ["strong", "alone", "weak"]


@pytest.mark.covers("retrieval.ranking.context")
def test_nothing_is_overtaken_by_what_it_lifts() -> None:
    best = Candidate(id="b", relevance=10.0, chars=100, group="t", previous="a", following="c")
    before = Candidate(id="a", relevance=9.9, chars=100, group="t", following="b")
    behind = Candidate(id="c", relevance=9.9, chars=100, group="t", previous="b")
    assert order(before, best, behind)[0] == "b"


@pytest.mark.covers("retrieval.ranking.context")
def test_a_long_entry_leans_less_on_its_context() -> None:
    lead = Candidate(id="lead", relevance=10.0, chars=900, group="t", following="x")
    alone = Candidate(id="alone", relevance=5.5, chars=100)
    short = Candidate(id="x", relevance=1.0, chars=100, group="t", previous="lead")
    long = Candidate(id="x", relevance=1.0, chars=900, group="t", previous="lead")
    assert order(lead, alone, short) == ["lead", "x", "alone"]
    assert order(lead, alone, long) == ["lead", "alone", "x"]


def test_entries_that_do_not_match_are_never_added() -> None:
    only = Candidate(id="only", relevance=1.0, group="t", previous="p", following="f")
    assert order(only) == ["only"]
    assert rank([]) == []


@pytest.mark.covers("retrieval.ranking.ties")
def test_ties_fall_to_importance_confidence_the_newer_and_the_id() -> None:
    ordered = [
        Candidate(id="a", relevance=1, importance=5),
        Candidate(id="b", relevance=1, confidence=0.9),
        Candidate(id="c", relevance=1, confidence=0.1),
        Candidate(id="d", relevance=1, updated_at="2026-02-02"),
        Candidate(id="e", relevance=1, updated_at="2026-01-01"),
        Candidate(id="f", relevance=1),
        Candidate(id="g", relevance=1),
    ]
    shuffled = random.Random(2).sample(ordered, len(ordered))
    assert order(*shuffled) == list("abcdefg")


CANDIDATES = st.lists(
    st.builds(
        Candidate,
        id=st.uuids().map(str),
        relevance=st.floats(0, 50),
        held=st.sampled_from(Held),
        chars=st.integers(0, 2000),
        group=st.sampled_from([None, "a", "b"]),
        importance=st.integers(1, 5),
    ),
    unique_by=lambda candidate: candidate.id,
    max_size=30,
)


@given(CANDIDATES, st.randoms())
@pytest.mark.covers("retrieval.ranking.stable")
def test_the_order_is_total_and_scores_never_rise(
    candidates: list[Candidate], chance: random.Random
) -> None:
    ranked = rank(candidates)
    assert sorted(r.candidate.id for r in ranked) == sorted(c.id for c in candidates)
    scores = [r.score for r in ranked]
    assert scores == sorted(scores, reverse=True)
    held = [r.candidate.held for r in ranked]
    assert held == sorted(held, reverse=True)
    again = rank(chance.sample(candidates, len(candidates)))
    assert [r.candidate.id for r in again] == [r.candidate.id for r in ranked]


# What kind of texts were found ------------------------------------------------------------------


def subject(name: str, *relevances: float, chars: int = 100, asks: bool = False) -> list[Candidate]:
    """Return the hits of one subject, side by side, with these relevances."""
    ids = [f"{name}{place}" for place in range(len(relevances))]
    return [
        Candidate(
            id=ids[place],
            relevance=relevance,
            chars=chars,
            asks=asks,
            group=name,
            previous=ids[place - 1] if place else None,
            following=ids[place + 1] if place + 1 < len(ids) else None,
        )
        for place, relevance in enumerate(relevances)
    ]


@pytest.mark.covers("retrieval.ranking.tone")
def test_of_short_texts_a_subject_with_several_hits_stands_above_one_with_a_single_hit() -> None:
    several, single = subject("a", 8.0, 7.0), subject("b", 9.0)
    assert order(*several, *single)[0] == "a0"
    several, single = subject("a", 8.0, 7.0, chars=900), subject("b", 9.0, chars=900)
    assert order(*several, *single)[0] == "b0"


@pytest.mark.covers("retrieval.ranking.tone")
def test_turns_of_a_conversation_give_their_neighbours_twice_as_much_as_short_notes() -> None:
    notes = rank(subject("a", 8.0, 4.0))
    talk = rank(subject("a", 8.0, 4.0, asks=True))
    # 0.25 and 0.5 of the neighbour's 8.0, and as much of the subject's best hit
    assert [r.score for r in notes] == [8.0 + 1.0 + 1.0, 4.0 + 2.0 + 2.0]
    assert [r.score for r in talk] == [8.0 + 2.0 + 2.0, 4.0 + 4.0 + 4.0]
    assert (talk[1].from_neighbour, talk[1].from_parent) == (4.0, 4.0)


@pytest.mark.covers("retrieval.ranking.tone")
def test_one_rule_holds_for_all_hits_of_a_search() -> None:
    long = [Candidate(id=f"l{place}", relevance=3.0, chars=900) for place in range(6)]
    assert tone_of([*long, *subject("a", 8.0, 7.0, asks=True)]) == (0.0, 1.0)
    assert order(*long, *subject("a", 8.0, 7.0), *subject("b", 9.0))[0] == "b0"
    assert tone_of([]) == (0.0, 0.0)


# Whether context means anything ----------------------------------------------------------------


def strangers(number: int, relevance: float, *, asks: bool = False) -> list[Candidate]:
    """Return hits that stand beside no other hit."""
    found = [subject(f"s{n}", relevance, asks=asks) for n in range(number)]
    return [hit for (hit,) in found]


@pytest.mark.covers("retrieval.ranking.agreement")
@pytest.mark.parametrize("chars", [100, 900])
def test_context_does_not_count_where_neighbours_agree_as_chance_would_have_it(chars: int) -> None:
    pair = subject("a", 3.0, 2.0, chars=chars)
    found = [*strangers(38, 2.0), *pair]
    # 40 hits of 400 entries: by chance 8 times a hit has one beside it, here it has twice
    by_subject = {ranked.candidate.id: ranked for ranked in rank(found, entries=400)}
    assert by_subject["a1"].score == 2.0
    # 40 of 4000: by chance less than once
    by_subject = {ranked.candidate.id: ranked for ranked in rank(found, entries=4000)}
    assert by_subject["a1"].score > 2.0


@pytest.mark.covers("retrieval.ranking.agreement")
def test_context_counts_where_neighbours_agree_and_where_few_hits_tell_nothing() -> None:
    pairs = [hit for n in range(20) for hit in subject(f"p{n}", 3.0, 2.0)]
    assert rank(pairs, entries=400) == rank(pairs)
    few = [*strangers(3, 2.0), *subject("a", 3.0, 2.0)]
    assert rank(few, entries=400) == rank(few)
    everything = [*strangers(8, 2.0), *subject("a", 3.0, 2.0)]
    assert rank(everything, entries=10) == rank(everything)


@pytest.mark.covers("retrieval.ranking.agreement")
def test_in_conversations_context_always_counts() -> None:
    found = [*strangers(38, 2.0, asks=True), *subject("a", 3.0, 2.0, asks=True)]
    assert rank(found, entries=400) == rank(found)


LONG = st.lists(st.floats(0.1, 50), min_size=1, max_size=8)


@pytest.mark.covers("retrieval.ranking.tone")
@given(LONG, LONG)
def test_of_long_texts_the_first_place_is_always_the_best_by_itself(
    first: list[float], second: list[float]
) -> None:
    found = [*subject("a", *first, chars=900), *subject("b", *second, chars=900)]
    best = max(candidate.relevance for candidate in found)
    assert rank(found)[0].candidate.relevance == best
