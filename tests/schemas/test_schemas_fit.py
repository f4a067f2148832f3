from collections.abc import Callable

import pytest

from schemory.model.jsonvalue import Json
from schemory.model.node import NodeRecord, TypedValue
from schemory.model.schema import NodeSchema
from schemory.schemas.fit import names_target, node_faults, property_lines, property_value

MakeSchema = Callable[..., NodeSchema]
MakeRecord = Callable[..., NodeRecord]


def of_type(kind: str, **facets: Json) -> dict[str, Json]:
    return {"type": kind, "description": "d", **facets}


def places(schema: NodeSchema, record: NodeRecord) -> list[str]:
    return [problem.path for problem in node_faults(schema, record)]


@pytest.mark.covers("schemas.fit.fits")
def test_a_node_that_fits_has_no_faults(npc: NodeSchema, make_record: MakeRecord) -> None:
    record = make_record("npc", "A", "note", "role: Wizard", "Status: Active", "Extra: x")
    assert places(npc, record) == []


@pytest.mark.covers("schemas.fit.required")
def test_a_required_property_without_a_value_is_told_with_the_call_that_mends_it(
    npc: NodeSchema, make_record: MakeRecord
) -> None:
    [missing, blank] = node_faults(npc, make_record("npc", 'The "A"', "Status: ", "Role"))
    assert (missing.path, blank.path) == ("$.npc.role", "$.npc.status")
    assert missing.suggestion == 'call update_npc {"npc": {"name": "The \\"A\\"", "role": "…"}}'


@pytest.mark.covers("schemas.fit.values")
def test_values_that_break_enum_type_or_facets_are_told(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(
        role=of_type("string", enum=["Warrior", "Wizard"]),
        age=of_type("integer", minimum=0),
        score=of_type("number"),
        alive=of_type("boolean"),
        born=of_type("date"),
        seen=of_type("datetime"),
        code=of_type("string", maxLength=3),
    )
    bad = make_record(
        "npc",
        "A",
        "Role: wizard",
        "Age: -3",
        "Score: many",
        "Alive: yes",
        "Born: yesterday",
        "Seen: 2026-03-08",
        "Code: abcd",
    )
    keys = ("role", "age", "score", "alive", "born", "seen", "code")
    assert places(schema, bad) == [f"$.npc.{key}" for key in keys]
    assert node_faults(schema, bad)[0].nearest == ("Wizard",)
    good = make_record(
        "npc",
        "A",
        "Role: Wizard",
        "age: 3",
        "Score: 2.5",
        "alive: false",
        "Born: 2026-03-08",
        "Seen: 2026-03-08T09:05:07Z",
        "Code: abc",
    )
    assert places(schema, good) == []


@pytest.mark.covers("schemas.fit.doubled")
def test_two_lines_for_a_single_value_are_told_but_not_for_an_array(
    npc: NodeSchema, make_record: MakeRecord
) -> None:
    record = make_record(
        "npc", "A", "Role: Wizard", "role: Warrior", "Status: Active", "Traits: a", "traits: b"
    )
    [fault] = node_faults(npc, record)
    assert fault.path == "$.npc.role"
    assert "2 lines" in fault.message


@pytest.mark.covers("schemas.fit.arrays")
def test_a_joined_array_is_judged_by_its_typed_value_and_else_leniently(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(traits=of_type("array", minItems=2))
    line = "Traits: a, b, c"
    one = TypedValue(property_name="traits", line=line, value=["a, b, c"])
    assert places(schema, make_record("npc", "A", line, typed=(one,))) == ["$.npc.traits"]
    assert places(schema, make_record("npc", "A", line)) == []
    stale = TypedValue(property_name="traits", line="Traits: a", value=["a"])
    assert places(schema, make_record("npc", "A", line, typed=(stale,))) == []


def test_an_untyped_array_must_be_readable_as_allowed_items(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(moods=of_type("array", items={"enum": ["calm", "calm, cold", "cold, b"]}))
    for text in ("calm", "calm, calm", "calm, cold", "calm, cold, b", "calm, cold, calm"):
        assert places(schema, make_record("npc", "A", f"Moods: {text}")) == []
    for text in ("cold", "calm, ", "calm,calm", "calm, cold, c", "b"):
        assert places(schema, make_record("npc", "A", f"Moods: {text}")) == ["$.npc.moods"]


@pytest.mark.covers("schemas.fit.additional")
def test_lines_of_no_property_are_told_where_the_schema_allows_none(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(additional=False, role=of_type("string"))
    record = make_record("npc", "A", "role: x", "free text", "Hair Colour: grey", "hair_colour: 2")
    [fault] = node_faults(schema, record)
    assert fault.path == '$.npc["Hair Colour"]'
    assert fault.suggestion == 'call update_npc {"npc": {"name": "A", "Hair Colour": null}}'


def test_a_long_text_before_a_colon_is_not_repeated(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(additional=False)
    [fault] = node_faults(schema, make_record("npc", "A", f"{'word ' * 900}: x"))
    assert len(fault.message) < 300
    assert fault.suggestion == "call delete_metadata"


def test_a_key_is_told_once_however_many_lines_have_it(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(additional=False)
    record = make_record("npc", "A", "Mood: a", "mood: b", "MOOD: c", "Height: 3")
    assert places(schema, record) == ["$.npc.Mood", "$.npc.Height"]


def test_facets_of_the_name_are_told(make_schema: MakeSchema, make_record: MakeRecord) -> None:
    schema = make_schema(name=of_type("string", maxLength=3))
    assert places(schema, make_record("npc", "Gandalf")) == ["$.npc.name"]


@pytest.mark.covers("schemas.fit.value")
def test_a_property_is_read_by_its_type(make_schema: MakeSchema, make_record: MakeRecord) -> None:
    schema = make_schema(
        role=of_type("string"),
        age=of_type("integer"),
        alive=of_type("boolean"),
        traits=of_type("array"),
        rolls=of_type("array", items={"type": "integer"}),
    )
    properties = schema.properties
    record = make_record(
        "npc",
        "A",
        "role: x: y",
        "Age: 42",
        "Alive: true",
        "Traits: a, b",
        "Rolls: 1, 2",
        typed=(TypedValue(property_name="rolls", line="Rolls: 1, 2", value=[1, 2]),),
    )
    assert {key: property_value(properties[key], record) for key in properties} == {
        "name": None,
        "role": "x: y",
        "age": 42,
        "alive": True,
        "traits": ["a", "b"],
        "rolls": [1, 2],
    }
    odd = make_record("npc", "A", "Age: old", "Alive: maybe", "Traits:")
    assert property_value(properties["age"], odd) == "old"
    assert property_value(properties["alive"], odd) == "maybe"
    assert property_value(properties["traits"], odd) == []
    assert property_value(properties["role"], odd) is None


@pytest.mark.covers("schemas.fit.names-target")
def test_a_line_names_a_target_alone_or_between_separators(
    npc: NodeSchema, make_record: MakeRecord
) -> None:
    friends = npc.properties["friends"]
    record = make_record("npc", "A", "friends: Sam, Rose, Pip")
    assert property_lines(friends, record) == ("friends: Sam, Rose, Pip",)
    for name, is_named in (("Sam", True), ("Rose, Pip", True), ("Pi", False), ("", False)):
        assert names_target(friends, record, name) is is_named
    line = "Friends: Sam, Rose"
    typed = TypedValue(property_name="friends", line=line, value=["Sam, Rose"])
    kept = make_record("npc", "A", line, typed=(typed,))
    assert names_target(friends, kept, "Sam, Rose")
    assert not names_target(friends, kept, "Sam")
