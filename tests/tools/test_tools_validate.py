import json
import time
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import InvalidParamError, error_for
from schemory.model.jsonvalue import Json
from schemory.tools.coerce import MAX_DEPTH, NO_JSON, as_kind, json_fault, parse_text
from schemory.tools.parts import ANYTHING, NO_TEXT
from schemory.tools.validate import examine_arguments, expected_form, extended

NODE: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "nodeType": {"type": "string"},
        "metadata": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "nodeType"],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "nodes": {"type": "array", "items": NODE, "minItems": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        "weight": {"type": "number", "minimum": 0, "maximum": 1},
        "deep": {"type": "boolean"},
        "mode": {"type": "string", "enum": ["blend", "set"], "default": "blend"},
        "title": {"type": "string", "minLength": 2, "maxLength": 4},
    },
    "required": ["nodes"],
    "additionalProperties": False,
}
A_NODE: Mapping[str, Json] = {"name": "A", "nodeType": "t"}


def check_arguments(schema: Mapping[str, Json], arguments: object) -> Mapping[str, Json]:
    """The arguments coerced; raises what a call of the tool would."""
    examined = examine_arguments(schema, arguments)
    if examined.problems:
        raise error_for(examined.problems)
    return examined.arguments


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["[]", "{}", '{"name":"A"}', "NaN", "1e999", "[" * 2000, "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def problems_of(arguments: object, schema: Mapping[str, Json] = SCHEMA) -> list[tuple[str, str]]:
    with pytest.raises(InvalidParamError) as caught:
        check_arguments(schema, arguments)
    return [(problem.path, problem.message) for problem in caught.value.problems]


@pytest.mark.covers("tools.arguments.all-problems")
def test_all_problems_come_at_once_each_with_its_path() -> None:
    bad = {"nodes": [A_NODE, {"nodeType": 5, "metadata": ["x", 7]}], "limit": 0, "weight": True}
    paths = [path for path, _ in problems_of(bad)]
    assert paths == [
        "$.nodes[1].nodeType",
        "$.nodes[1].metadata[1]",
        "$.nodes[1].name",
        "$.limit",
        "$.weight",
    ]


@pytest.mark.covers("tools.arguments.nearest")
def test_a_misspelt_argument_is_told_the_nearest_name() -> None:
    with pytest.raises(InvalidParamError) as caught:
        check_arguments(SCHEMA, {"nodes": [{**A_NODE, "metdata": []}]})
    (problem,) = caught.value.problems
    assert problem.path == "$.nodes[0].metdata"
    assert problem.nearest == ("metadata",)
    assert problem.suggestion == "Write metadata instead of metdata."


@pytest.mark.covers("tools.arguments.nearest")
def test_the_only_missing_argument_is_offered_for_an_unknown_one() -> None:
    with pytest.raises(InvalidParamError) as caught:
        check_arguments(SCHEMA, {"entities": []})
    unknown, missing = caught.value.problems
    assert unknown.nearest == ("nodes",)
    assert missing.path == "$.nodes"
    assert "an array of objects with name, nodeType, metadata" in missing.message


@pytest.mark.covers("tools.arguments.nearest")
def test_a_value_outside_an_enum_lists_the_values_and_the_near_miss() -> None:
    with pytest.raises(InvalidParamError) as caught:
        check_arguments(SCHEMA, {"nodes": [A_NODE], "mode": "Blend"})
    (problem,) = caught.value.problems
    assert problem.message == "mode must be one of: blend, set"
    assert problem.nearest == ("blend",)


@pytest.mark.covers("tools.arguments.json-text")
def test_json_text_is_parsed_where_anything_but_a_string_is_due_at_any_depth() -> None:
    nodes = [{"name": "A", "nodeType": "t", "metadata": json.dumps(["k: v"])}]
    given = {"nodes": json.dumps(nodes), "limit": "3", "weight": "0.5", "deep": "true"}
    assert check_arguments(SCHEMA, json.dumps(given)) == {
        "nodes": [{"name": "A", "nodeType": "t", "metadata": ["k: v"]}],
        "limit": 3,
        "weight": 0.5,
        "deep": True,
        "mode": "blend",
    }


@pytest.mark.covers("tools.arguments.json-text")
def test_text_that_is_no_json_where_an_array_is_due_names_the_argument_and_the_form() -> None:
    with pytest.raises(InvalidParamError) as caught:
        check_arguments(SCHEMA, {"nodes": [{**A_NODE, "metadata": "x"}]})
    (problem,) = caught.value.problems
    assert problem.path == "$.nodes[0].metadata"
    assert "must be an array of strings" in problem.message
    assert problem.suggestion == 'Write nodes[0].metadata as ["…"]'


@pytest.mark.covers("tools.arguments.json-text")
def test_text_for_a_string_is_never_parsed() -> None:
    named = {"nodes": [{"name": "5", "nodeType": '["t"]'}]}
    assert check_arguments(SCHEMA, named)["nodes"] == named["nodes"]


@pytest.mark.covers("tools.arguments.missing")
@pytest.mark.parametrize("arguments", [None, {}, "{}"])
def test_missing_null_and_empty_arguments_are_the_same(arguments: object) -> None:
    assert check_arguments({**SCHEMA, "required": []}, arguments) == {"mode": "blend"}


@pytest.mark.covers("tools.arguments.missing")
def test_null_for_an_optional_argument_is_not_given_and_for_a_required_one_is_missing() -> None:
    assert "limit" not in check_arguments(SCHEMA, {"nodes": [A_NODE], "limit": None})
    assert problems_of({"nodes": None})[0][0] == "$.nodes"


@pytest.mark.covers("tools.arguments.numbers")
def test_a_whole_number_may_be_written_with_a_fraction_of_zero() -> None:
    assert check_arguments(SCHEMA, {"nodes": [A_NODE], "limit": 3.0})["limit"] == 3


@pytest.mark.covers("tools.arguments.numbers")
@pytest.mark.parametrize("value", [True, 1.5, "x", "true", 51, 10**400, "1e400"])
def test_booleans_fractions_and_huge_numbers_are_no_integers(value: object) -> None:
    assert problems_of({"nodes": [A_NODE], "limit": value})


@pytest.mark.covers("tools.arguments.numbers")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_are_refused_wherever_they_stand(value: float) -> None:
    assert "infinite" in problems_of({"nodes": [A_NODE], "anything": [value]})[0][1]


@pytest.mark.covers("tools.arguments.numbers")
def test_a_number_marked_so_is_not_read_from_text() -> None:
    strict = extended(SCHEMA, {"weight": {NO_TEXT: True}})
    assert problems_of({"nodes": [A_NODE], "weight": "0.5"}, strict) == [
        ("$.weight", "weight must be a number from 0 to 1, but is a string")
    ]


def test_any_value_passes_where_anything_is_allowed() -> None:
    schema = extended(SCHEMA, {"value": {"type": ANYTHING}})
    for value in ("x", 5, [1], {"a": 1}):
        assert check_arguments(schema, {"nodes": [A_NODE], "value": value})["value"] == value


def test_an_overlay_leaves_the_advertised_schema_alone() -> None:
    before = json.dumps(SCHEMA)
    extended(SCHEMA, {"nodes": {"items": {"properties": {"extra": {"type": "string"}}}}})
    assert json.dumps(SCHEMA) == before


@pytest.mark.covers("tools.arguments.bombs")
@pytest.mark.parametrize("bomb", ["[" * 100_000, '{"a":' * 100_000, "[" * 60 + "]" * 60])
def test_deeply_nested_text_is_refused_or_read_but_never_crashes(bomb: str) -> None:
    assert problems_of({"nodes": bomb})


@pytest.mark.covers("tools.arguments.bombs")
def test_deeply_nested_values_are_refused() -> None:
    deep: object = "leaf"
    for _ in range(MAX_DEPTH * 50):
        deep = [deep]
    assert "nest" in problems_of({"nodes": deep})[0][1]


@pytest.mark.covers("tools.arguments.bombs")
def test_a_lone_surrogate_is_refused_in_values_and_in_keys() -> None:
    assert "surrogate" in problems_of({"nodes": [{**A_NODE, "name": "\ud800"}]})[0][1]
    assert "surrogate" in problems_of({"nodes": [A_NODE], "\udfff": 1})[0][1]


@pytest.mark.covers("tools.arguments.bombs")
def test_a_hundred_thousand_problems_are_counted_quickly() -> None:
    started = time.process_time()
    found = problems_of({"nodes": [{"nmae": "A"}] * 50_000})
    assert len(found) == 150_000
    assert time.process_time() - started < 10


def test_text_lengths_count_characters() -> None:
    assert check_arguments(SCHEMA, {"nodes": [A_NODE], "title": "日本語字"})
    assert problems_of({"nodes": [A_NODE], "title": "日"}) == [
        ("$.title", "title must have at least 2 characters, has 1")
    ]


def test_an_array_shorter_than_allowed_says_so() -> None:
    assert problems_of({"nodes": []}) == [("$.nodes", "nodes must have at least 1 item, has 0")]


def test_arguments_that_are_no_object_are_told_what_they_take() -> None:
    ((path, message),) = problems_of([1, 2])
    assert path == "$"
    assert message.startswith("the arguments must be an object with nodes")


@pytest.mark.covers("tools.arguments.project")
def test_a_project_where_none_is_taken_names_the_flag_that_allows_it() -> None:
    with pytest.raises(InvalidParamError) as caught:
        check_arguments(SCHEMA, {"nodes": [A_NODE], "project_id": "x"})
    assert "--allow-cross-project" in str(caught.value.suggestions)


def test_expected_forms_read_as_words() -> None:
    assert expected_form({"type": "integer", "minimum": 1}) == "an integer of at least 1"
    assert expected_form({"type": "number", "maximum": 9}) == "a number of at most 9"
    assert expected_form({"type": "array", "items": {"type": "boolean"}}) == "an array of booleans"
    assert expected_form({"type": "object"}) == "an object"


def test_values_that_are_no_json_are_refused() -> None:
    assert json_fault({"a": object()}) == "must be plain JSON"


def test_text_is_read_as_the_kind_that_is_due() -> None:
    assert as_kind("object", '{"a":1}') == {"a": 1}
    assert as_kind("array", '"[1]"') is NO_JSON
    assert as_kind("boolean", "false") is False
    assert parse_text("NaN") is NO_JSON


@pytest.mark.covers("tools.arguments.bombs")
@given(JSON_VALUES)
def test_no_value_crashes_the_check(value: object) -> None:
    with suppress(InvalidParamError):
        assert isinstance(check_arguments(SCHEMA, value)["nodes"], list)


def test_a_missing_argument_is_told_with_the_form_to_write() -> None:
    with pytest.raises(InvalidParamError) as caught:
        check_arguments(SCHEMA, {})
    assert [problem.suggestion for problem in caught.value.problems] == [
        'Write nodes as [{"name": "…", "nodeType": "…"}]'
    ]
