import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import InvalidParamError, NodeExistsError, Problem, error_for
from schemory.tools.fitting import fitted
from schemory.tools.replies import (
    MAX_ERROR_BYTES,
    Replies,
    error_reply,
    internal_reply,
    wire_bytes,
)

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)


@pytest.mark.covers("tools.answers.success")
def test_a_success_is_data_action_and_time_and_its_text_is_the_same_object() -> None:
    reply = Replies(lambda: NOON).success({"nodes": []}, "Added 0 nodes")
    assert reply.structured == {
        "data": {"nodes": []},
        "actionTaken": "Added 0 nodes",
        "timestamp": "2026-03-08T12:00:00.000Z",
    }
    assert json.loads(reply.text) == reply.structured
    assert ": " not in reply.text
    assert not reply.is_error


@pytest.mark.covers("tools.answers.error")
def test_an_error_has_message_code_context_and_suggestions() -> None:
    problem = Problem(
        code="NODE_EXISTS",
        path="$.nodes[0].name",
        message="node A exists",
        nearest=("B",),
        suggestion="open it",
    )
    reply = error_reply(error_for([problem]))
    assert reply.is_error
    assert reply.structured == {
        "error": "node A exists",
        "error_code": "NODE_EXISTS",
        "context": {
            "problems": [
                {
                    "path": "$.nodes[0].name",
                    "error_code": "NODE_EXISTS",
                    "problem": "node A exists",
                    "nearest": ["B"],
                    "suggestion": "open it",
                }
            ],
            "problemCount": 1,
        },
        "suggestions": ["open it"],
    }
    assert json.loads(reply.text) == reply.structured


@pytest.mark.covers("tools.answers.error-bounds")
def test_twenty_problems_are_told_and_all_are_counted() -> None:
    many = [Problem(code="INVALID_PARAM", path=f"$[{i}]", message="no") for i in range(500)]
    context = error_reply(error_for(many)).structured["context"]
    assert isinstance(context, dict)
    assert len(context["problems"]) == 20
    assert context["problemCount"] == 500


@pytest.mark.covers("tools.answers.error-bounds")
@given(
    st.lists(
        st.builds(
            Problem,
            code=st.just("INVALID_PARAM"),
            path=st.text(max_size=2000),
            message=st.text(max_size=20).map(lambda t: t * 200),
            nearest=st.lists(st.text().map(lambda t: t * 300), max_size=4).map(tuple),
            suggestion=st.none() | st.text().map(lambda t: t * 500),
        ),
        min_size=1,
        max_size=40,
    ),
    st.dictionaries(st.text(), st.text().map(lambda t: t * 100) | st.lists(st.integers())),
)
def test_no_error_is_longer_than_eight_kilobytes(
    problems: list[Problem], facts: dict[str, object]
) -> None:
    error = InvalidParamError("x" * 9000, problems=problems, context=facts)
    reply = error_reply(error)
    assert len(reply.text.encode()) <= MAX_ERROR_BYTES
    context = reply.structured["context"]
    assert isinstance(context, dict)
    assert context["problemCount"] == len(problems)


def test_facts_of_the_context_are_kept_as_json() -> None:
    facts = {"count": 3, "names": ("a", "b"), "deep": {"x": {"y": {"z": {"w": 1}}}}, "odd": {1, 2}}
    context = error_reply(NodeExistsError("taken", context=facts)).structured["context"]
    assert isinstance(context, dict)
    assert context["count"] == 3
    assert context["names"] == ["a", "b"]


@pytest.mark.covers("tools.answers.error")
def test_lone_surrogates_in_a_message_do_not_break_the_answer() -> None:
    reply = error_reply(InvalidParamError("bad \ud800 name", context={"\udfff": ["\ud800"]}))
    reply.text.encode()
    assert json.loads(reply.text) == reply.structured


@pytest.mark.covers("tools.answers.internal")
def test_an_internal_failure_shows_an_id_and_nothing_else() -> None:
    structured = internal_reply("abc123").structured
    assert structured["error_code"] == "INTERNAL"
    assert structured["context"] == {"errorId": "abc123"}
    assert "abc123" in str(structured["suggestions"])


@pytest.mark.covers("tools.budget.writes")
def test_a_write_that_answers_too_much_counts_what_it_leaves_out() -> None:
    nodes = [{"name": f"node {i:04}", "nodeType": "t", "metadata": []} for i in range(500)]
    data = fitted({"nodes": nodes, "warnings": ["w"]}, 5_000)
    shown = data["nodes"]
    assert isinstance(shown, list)
    assert shown == nodes[: len(shown)]
    assert data["truncated"] is True
    assert data["omitted"] == {"nodes": 500 - len(shown)}
    assert 4_000 < wire_bytes(data) <= 5_000


@pytest.mark.covers("tools.budget.writes")
def test_what_fits_is_left_alone_and_no_budget_fits_everything() -> None:
    nodes = [{"name": "x" * 100}] * 100
    assert fitted({"nodes": nodes}, 50_000) == {"nodes": nodes}
    assert fitted({"nodes": nodes}, 0) == {"nodes": nodes}


@pytest.mark.covers("tools.budget.single")
def test_a_single_item_that_must_stay_goes_out_whole() -> None:
    nodes = [{"name": "x" * 10_000}, {"name": "y"}]
    assert fitted({"nodes": nodes}, 1_000)["nodes"] == nodes[:1]


@pytest.mark.covers("tools.budget.writes")
def test_of_a_write_even_the_first_item_is_left_out_where_it_does_not_fit() -> None:
    data = {"nodes": [{"name": "x" * 10_000}], "edges": [{"from": "x"}]}
    assert fitted(data, 1_000, least=0) == {
        "nodes": [],
        "edges": [{"from": "x"}],
        "truncated": True,
        "omitted": {"nodes": 1},
    }
