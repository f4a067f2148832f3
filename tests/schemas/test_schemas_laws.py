"""What holds for any document, any call and any node: searched for by hypothesis."""

import json
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import Problem, SchemoryError
from schemory.model.jsonvalue import Json
from schemory.model.metadata import normal_key, parse_line
from schemory.model.node import Node, NodeRecord, TypedValue
from schemory.model.schema import NodeSchema
from schemory.schemas.fit import node_faults, property_value
from schemory.schemas.input_schema import entity_schema
from schemory.schemas.jsonfile import parse_json
from schemory.schemas.parse import parse_schema
from schemory.schemas.plan import plan_add, plan_update
from schemory.tools.parts import VERBS

KEYS = [
    "type", "description", "required", "enum", "default", "minimum", "maximum", "minLength",
    "maxLength", "items", "minItems", "maxItems", "unique", "label", "relationship", "max",
    "edgeType", "nodeType", "direction", "onMissing", "enforce", "weight", "name", "properties",
]  # fmt: skip
WORDS = ["string", "array", "integer", "add_npc", "add_", "out", "create", "object", "a", ""]
nasty = st.text(alphabet=st.characters(), max_size=8)  # lone surrogates and controls too
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | nasty
    | st.sampled_from(WORDS)
    | st.just(10**400)
)
json_values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | nasty, inner, max_size=6)
    ),
    max_leaves=20,
)
properties = st.dictionaries(
    st.text(alphabet="abcXYZ_-. ", max_size=4) | st.just("name"),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["string", "array", "integer", "date"]),
            "description": st.just("d"),
        },
        optional=dict.fromkeys(KEYS[2:15], json_values),
    )
    | json_values,
    max_size=4,
)
documents = json_values | st.fixed_dictionaries(
    {"name": st.just("add_npc"), "description": st.just("d"), "properties": properties},
    optional={"required": json_values, "additionalProperties": json_values},
)


@pytest.mark.covers("schemas.parse.never-raises")
@given(documents)
def test_parsing_never_raises_and_tells_where_things_are_wrong(data: Json) -> None:
    parsed = parse_schema(data)
    assert (parsed.schema is None) == bool(parsed.faults)
    for problem in (*parsed.faults, *parsed.warnings, *parsed.notes):
        assert problem.path == "" or problem.path.startswith("/")
        f"{problem.path}{problem.message}{problem.suggestion}{problem.nearest}".encode()
    if parsed.schema is not None:
        for verb in VERBS:
            json.dumps(entity_schema(parsed.schema, verb), allow_nan=False)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_reading_any_bytes_never_raises(raw: bytes) -> None:
    read = parse_json(raw)
    assert (read.value is None) or read.faults == ()


PEOPLE: dict[str, dict[str, Json]] = {
    "role": {"type": "string", "required": True, "enum": ["Warrior", "Wizard"]},
    "home": {"type": "string", "relationship": {"edgeType": "lives_in"}},
    "friends": {"type": "array", "relationship": {"edgeType": "likes"}},
    "traits": {"type": "array"},
    "rolls": {"type": "array", "items": {"type": "integer"}},
    "age": {"type": "integer"},
    "height": {"type": "number"},
    "alive": {"type": "boolean"},
    "note": {"type": "string", "label": "Side Note"},
}


def person_schema() -> NodeSchema:
    described: dict[str, Json] = {k: {"description": "d", **prop} for k, prop in PEOPLE.items()}
    parsed = parse_schema({"name": "add_npc", "description": "d", "properties": described})
    assert parsed.schema is not None
    return parsed.schema


PERSON = person_schema()
sayable = st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), max_size=12)
words = sayable.filter(lambda text: bool(text.strip()))
names = words.map(str.strip)
persons = st.fixed_dictionaries(
    {"name": names, "role": st.sampled_from(["Warrior", "Wizard"])},
    optional={
        "home": words,
        "friends": st.lists(words, min_size=1, max_size=3),
        "traits": st.lists(words, min_size=1, max_size=3),
        "rolls": st.lists(st.integers(-9, 9), min_size=1, max_size=3),
        "age": st.integers(),
        "height": st.floats(allow_nan=False, allow_infinity=False),
        "alive": st.booleans(),
        "note": words,
    },
)


def stored(node: Node, typed: tuple[TypedValue, ...]) -> NodeRecord:
    return NodeRecord(
        id=1,
        node=node,
        typed=typed,
        extra={},
        created_at="",
        updated_at="",
        revision=1,
        author="",
    )


@pytest.mark.covers("schemas.plan.round-trip")
@given(persons)
def test_what_was_added_reads_back_fits_and_updates_to_itself(person: Mapping[str, Json]) -> None:
    plan = plan_add(PERSON, person, path="$.npc")
    record = stored(plan.node, plan.typed)
    assert node_faults(PERSON, record) == ()
    for key, value in person.items():
        if key not in {"name", "home", "friends"}:
            assert property_value(PERSON.properties[key], record) == value
    again = plan_update(PERSON, {**person, "name": plan.node.name}, record, path="$.npc")
    assert again.metadata == plan.node.metadata
    assert again.typed == plan.typed
    for key in person:
        part = plan_update(PERSON, {"name": "A", key: person[key]}, record, path="$.npc")
        assert (part.metadata, part.typed) == (plan.node.metadata, plan.typed)
    assert again.relations == plan.relations


@pytest.mark.covers("schemas.plan.update.free-text")
@given(st.lists(st.text(max_size=20), max_size=6), persons)
def test_lines_of_no_named_property_survive_every_update_byte_for_byte(
    lines: list[str], person: Mapping[str, Json]
) -> None:
    record = stored(Node("A", "npc", tuple(lines)), ())
    plan = plan_update(PERSON, {**person, "name": "A"}, record, path="$.npc")
    named = {s for key in person for s in PERSON.properties[key].spellings}

    def others(metadata: tuple[str, ...]) -> list[str]:
        parsed = ((line, parse_line(line).key) for line in metadata)
        return [line for line, key in parsed if not key or normal_key(key) not in named]

    assert others(plan.metadata) == others(tuple(lines))


@given(persons, persons)
def test_an_update_leaves_what_an_add_of_both_would_hold(
    first: Mapping[str, Json], second: Mapping[str, Json]
) -> None:
    plan = plan_add(PERSON, first, path="$.npc")
    record = stored(plan.node, plan.typed)
    updated = plan_update(PERSON, {**second, "name": "A"}, record, path="$.npc")
    both = plan_add(PERSON, {**first, **second}, path="$.npc")
    assert sorted(updated.metadata) == sorted(both.node.metadata)
    assert sorted(map(repr, updated.typed)) == sorted(map(repr, both.typed))


@given(st.dictionaries(st.sampled_from([*PEOPLE, "name", "Role", "x: y"]) | nasty, json_values))
def test_planning_any_arguments_gives_a_plan_or_told_problems(arguments: dict[str, Json]) -> None:
    record = stored(Node("A", "npc", ("Role: Wizard", "note")), ())
    for plan in (
        lambda: plan_add(PERSON, arguments, path="$.npc").node.metadata,
        lambda: plan_update(PERSON, arguments, record, path="$.npc").metadata,
    ):
        for text in texts_of(plan):
            text.encode()


def texts_of(plan: Callable[[], Sequence[str]]) -> Sequence[str]:
    """The lines planned, or what is told about each problem."""
    try:
        return plan()
    except SchemoryError as error:
        problems = error.problems
    return [f"{p.path}{p.message}{p.suggestion}" for p in problems if is_told(p)]


def is_told(problem: Problem) -> bool:
    assert problem.path.startswith("$.npc")
    assert problem.code == "INVALID_PARAM"
    return True
