from collections.abc import Callable
from pathlib import Path

import pytest

from schemory.errors import InvalidParamError, SchemoryError
from schemory.model.jsonvalue import Json
from schemory.model.node import TypedValue
from schemory.model.schema import NodeSchema
from schemory.schemas.load import load_schema
from schemory.schemas.plan import AddPlan, plan_add

MakeSchema = Callable[..., NodeSchema]
BILBO: dict[str, Json] = {"name": "Bilbo", "role": "Wizard", "status": "Active"}


def text(**facets: Json) -> dict[str, Json]:
    return {"type": "string", "description": "d", **facets}


def of_type(kind: str, **facets: Json) -> dict[str, Json]:
    return {"type": kind, "description": "d", **facets}


def lines(plan: AddPlan) -> list[str]:
    return list(plan.node.metadata)


def refusal(schema: NodeSchema, arguments: dict[str, Json], path: str = "$.npc") -> SchemoryError:
    with pytest.raises(SchemoryError) as raised:
        plan_add(schema, arguments, path=path)
    return raised.value


def places(error: SchemoryError) -> list[str]:
    return [problem.path for problem in error.problems]


@pytest.mark.covers("schemas.plan.add.lines")
def test_an_add_gives_one_line_a_property_in_schema_order(npc: NodeSchema) -> None:
    plan = plan_add(
        npc,
        {"status": "Active", "traits": ["brave", "wise"], "role": "Wizard", "name": "Gandalf"},
        path="$.npc",
    )
    assert (plan.node.name, plan.node.node_type) == ("Gandalf", "npc")
    assert lines(plan) == ["Role: Wizard", "Status: Active", "Traits: brave, wise"]
    assert (plan.relations, plan.unique, plan.warnings) == ((), (), ())


@pytest.mark.covers("schemas.plan.add.lines")
def test_the_name_is_never_a_line(npc: NodeSchema) -> None:
    assert lines(plan_add(npc, BILBO, path="$.npc")) == ["Role: Wizard", "Status: Active"]


@pytest.mark.covers("schemas.plan.add.extras")
def test_extras_follow_as_given_with_their_display_names(npc: NodeSchema) -> None:
    plan = plan_add(
        npc,
        {**BILBO, "favouriteFood": "cheese", "höhe_cm": 107, "isOld": True, "tags": ["a", "b"]},
        path="$.npc",
    )
    assert lines(plan)[2:] == [
        "Favourite Food: cheese",
        "Höhe Cm: 107",
        "Is Old: true",
        "Tags: a, b",
    ]


@pytest.mark.covers("schemas.plan.add.relations")
def test_a_relationship_makes_a_line_and_an_edge(npc: NodeSchema) -> None:
    plan = plan_add(npc, {**BILBO, "currentLocation": "Rivendell"}, path="$.npc")
    assert "Current Location: Rivendell" in lines(plan)
    [relation] = plan.relations
    assert relation.property_name == "currentLocation"
    assert relation.relationship.edge_type == "located_in"
    assert relation.targets == ("Rivendell",)
    assert relation.path == "$.npc.currentLocation"


@pytest.mark.covers("schemas.plan.add.relations")
def test_an_array_of_names_makes_one_line_and_one_edge_per_distinct_name(npc: NodeSchema) -> None:
    composed, decomposed = "Zo\u00eb", "Zoe\u0308"
    plan = plan_add(npc, {**BILBO, "friends": ["Sam", composed, "Sam", decomposed]}, path="$.npc")
    assert lines(plan)[-1] == f"Friends: Sam, {composed}, Sam, {composed}"
    assert plan.relations[0].targets == ("Sam", composed)


@pytest.mark.covers("schemas.plan.add.relation-shapes")
def test_a_relationship_takes_one_name_for_an_array_and_a_list_of_one_for_a_string(
    npc: NodeSchema,
) -> None:
    plan = plan_add(npc, {**BILBO, "friends": "Sam", "currentLocation": ["Bree"]}, path="$.npc")
    assert {r.property_name: r.targets for r in plan.relations} == {
        "friends": ("Sam",),
        "currentLocation": ("Bree",),
    }
    assert places(refusal(npc, {**BILBO, "currentLocation": ["Bree", "Shire"]})) == [
        "$.npc.currentLocation"
    ]


@pytest.mark.covers("schemas.plan.arrays")
def test_an_array_may_come_as_json_text_but_not_as_a_plain_text(npc: NodeSchema) -> None:
    plan = plan_add(npc, {**BILBO, "traits": '["brave", "wise"]'}, path="$.npc")
    assert "Traits: brave, wise" in lines(plan)
    error = refusal(npc, {**BILBO, "traits": "brave, wise"})
    assert places(error) == ["$.npc.traits"]
    assert "array" in error.message
    assert '"traits": ["…"]' in error.suggestions[0]


def test_a_name_in_brackets_that_is_no_json_is_a_name(npc: NodeSchema) -> None:
    plan = plan_add(npc, {**BILBO, "friends": "[Redacted]"}, path="$.npc")
    assert plan.relations[0].targets == ("[Redacted]",)


@pytest.mark.covers("schemas.plan.typed")
def test_typed_values_are_kept_where_the_line_says_less(make_schema: MakeSchema) -> None:
    schema = make_schema(
        role=text(),
        born=of_type("date"),
        age=of_type("integer"),
        weight=of_type("number"),
        alive=of_type("boolean"),
        traits=of_type("array"),
    )
    plan = plan_add(
        schema,
        {
            "name": "A",
            "role": "x",
            "born": "2026-03-08",
            "age": "42",
            "weight": 3.0,
            "alive": False,
            "traits": ["a, b", "c"],
            "rank": 7,
        },
        path="$.npc",
    )
    assert lines(plan) == [
        "Role: x",
        "Born: 2026-03-08",
        "Age: 42",
        "Weight: 3",
        "Alive: false",
        "Traits: a, b, c",
        "Rank: 7",
    ]
    assert plan.typed == (
        TypedValue(property_name="age", line="Age: 42", value=42),
        TypedValue(property_name="weight", line="Weight: 3", value=3),
        TypedValue(property_name="alive", line="Alive: false", value=False),
        TypedValue(property_name="traits", line="Traits: a, b, c", value=["a, b", "c"]),
        TypedValue(property_name="rank", line="Rank: 7", value=7),
    )


COERCIONS: list[tuple[dict[str, Json], Json, str | None]] = [
    (text(), 3, "3"),
    (text(), 3.0, "3"),
    (text(), 1e300, "1e+300"),
    (of_type("number"), 1e300, "1e+300"),
    (of_type("integer"), 1e22, "10000000000000000000000"),
    (text(), 2.5, "2.5"),
    (text(), -0.0, "0"),
    (text(), True, "true"),
    (text(), {"a": 1}, None),
    (text(), ["a"], None),
    (text(), float("nan"), None),
    (text(), float("inf"), None),
    (text(), "a\x00b", None),
    (text(), "a\ud800b", None),
    (text(), "tab\tand\nline", "tab\tand\nline"),
    (of_type("number"), "3.50", "3.5"),
    (of_type("number"), " 4 ", "4"),
    (of_type("number"), "-1e3", "-1000"),
    (of_type("number"), "1,5", None),
    (of_type("number"), "1e999", None),
    (of_type("number"), "0x10", None),
    (of_type("number"), "\u0663", None),
    (of_type("number"), "NaN", None),
    (of_type("number"), True, None),
    (of_type("number"), 10**400, None),
    (of_type("number"), {}, None),
    (of_type("integer"), 3.0, "3"),
    (of_type("integer"), "3", "3"),
    (of_type("integer"), "3.0", "3"),
    (of_type("integer"), 3.5, None),
    (of_type("integer"), "three", None),
    (of_type("integer"), False, None),
    (of_type("boolean"), True, "true"),
    (of_type("boolean"), "true", None),
    (of_type("boolean"), 1, None),
    (of_type("date"), "2026-03-08", "2026-03-08"),
    (of_type("date"), "2026-02-30", None),
    (of_type("date"), "20260308", None),
    (of_type("date"), "2026-W10-7", None),
    (of_type("date"), "2026-03-08T00:00:00Z", None),
    (of_type("date"), 20260308, None),
    (of_type("datetime"), "2026-03-08T09:05:07Z", "2026-03-08T09:05:07Z"),
    (of_type("datetime"), "2026-03-08T09:05", "2026-03-08T09:05"),
    (of_type("datetime"), "2026-03-08 09:05:07.25+02:00", "2026-03-08 09:05:07.25+02:00"),
    (of_type("datetime"), "2026-03-08", None),
    (of_type("datetime"), "2026-03-08T25:00:00Z", None),
    (of_type("array"), ["a", 3, True], "a, 3, true"),
    (of_type("array"), ["a", {"b": 1}], None),
    (of_type("array"), ["a", ["b"]], None),
    (of_type("array"), ["a", None], None),
    (of_type("array"), ["a", " "], None),
    (of_type("array"), {"0": "a"}, None),
    (of_type("array", items={"type": "integer"}), ["1", 2], "1, 2"),
    (of_type("array", items={"type": "integer"}), ["x"], None),
]


@pytest.mark.covers("schemas.plan.coercions")
@pytest.mark.parametrize(("prop", "given", "written"), COERCIONS)
def test_values_are_coerced_by_the_listed_rules_and_else_refused(
    make_schema: MakeSchema, prop: dict[str, Json], given: Json, written: str | None
) -> None:
    schema = make_schema(thing=prop)
    arguments: dict[str, Json] = {"name": "A", "thing": given}
    if written is not None:
        assert lines(plan_add(schema, arguments, path="$.npc")) == [f"Thing: {written}"]
        return
    error = refusal(schema, arguments)
    assert isinstance(error, InvalidParamError)
    assert all(place.startswith("$.npc.thing") for place in places(error))
    f"{error.message}{error.suggestions}".encode()


def test_the_place_of_a_bad_item_has_its_index(npc: NodeSchema) -> None:
    error = refusal(npc, {**BILBO, "traits": ["ok", {}, "ok", None]})
    assert places(error) == ["$.npc.traits[1]", "$.npc.traits[3]"]


@pytest.mark.covers("schemas.plan.facets")
@pytest.mark.parametrize(
    ("prop", "good", "bad"),
    [
        (of_type("integer", minimum=1, maximum=6), [1, 6, "3"], [0, 7, "9"]),
        (text(minLength=2, maxLength=3), ["ab", "äöü", 12], ["a", "abcd", 1]),
        (of_type("array", minItems=2, maxItems=3), [["a", "b"]], [["a"], ["a", "b", "c", "d"]]),
        (of_type("array", items={"maxLength": 1}), [["a"]], [["ab"]]),
        (of_type("array", items={"type": "number", "minimum": 0}), [[0, "1"]], [[-1]]),
        (text(enum=["A", "B"]), ["A"], ["a", "C", 3]),
        (of_type("array", items={"enum": ["A", "B"]}), [["A", "B"]], [["A", "a"]]),
    ],
)
def test_facets_are_enforced_after_coercion(
    make_schema: MakeSchema, prop: dict[str, Json], good: list[Json], bad: list[Json]
) -> None:
    schema = make_schema(thing=prop)
    for value in good:
        assert len(lines(plan_add(schema, {"name": "A", "thing": value}, path="$.npc"))) == 1
    for value in bad:
        assert len(refusal(schema, {"name": "A", "thing": value}).problems) == 1


@pytest.mark.covers("schemas.plan.enum")
def test_a_value_outside_the_enum_is_told_all_values_and_the_near_miss(npc: NodeSchema) -> None:
    error = refusal(npc, {**BILBO, "role": "wizzard"})
    [problem] = error.problems
    assert problem.path == "$.npc.role"
    assert "Warrior, Wizard" in problem.message
    assert "wizzard" not in problem.message
    assert problem.nearest == ("Wizard",)
    assert problem.suggestion == 'use "Wizard"'


def test_an_enum_value_in_another_unicode_form_is_the_same_text(make_schema: MakeSchema) -> None:
    schema = make_schema(mood=text(enum=["caf\u00e9"]))
    plan = plan_add(schema, {"name": "A", "mood": "cafe\u0301"}, path="$.npc")
    assert lines(plan) == ["Mood: caf\u00e9"]


@pytest.mark.covers("schemas.plan.add.empty")
@pytest.mark.parametrize("empty", [None, "", "  \n", []])
def test_null_blank_and_an_empty_list_are_not_provided(npc: NodeSchema, empty: Json) -> None:
    arguments = {**BILBO, "description": empty, "traits": empty, "friends": empty, "extra": empty}
    plan = plan_add(npc, arguments, path="$.npc")
    assert lines(plan) == ["Role: Wizard", "Status: Active"]
    assert plan.relations == ()
    assert places(refusal(npc, {**BILBO, "role": empty})) == ["$.npc.role"]


@pytest.mark.covers("schemas.plan.add.required")
def test_all_that_is_missing_is_told_at_once(npc: NodeSchema) -> None:
    error = refusal(npc, {"rolle": "Wizard"})
    assert places(error) == ["$.npc.name", "$.npc.role", "$.npc.status"]
    role = error.problems[1]
    assert "Warrior, Wizard" in role.message
    assert role.suggestion == 'rename "rolle" to "role"'


@pytest.mark.covers("schemas.plan.add.default")
def test_a_default_fills_in_for_what_is_left_out(make_schema: MakeSchema) -> None:
    schema = make_schema(
        mood=text(default="calm", required=True),
        tags=of_type("array", default=["a", "b"]),
        age=of_type("integer", default=0),
        alive=of_type("boolean", default=False),
    )
    plan = plan_add(schema, {"name": "A", "mood": None}, path="$.npc")
    assert lines(plan) == ["Mood: calm", "Tags: a, b", "Age: 0", "Alive: false"]
    given = plan_add(schema, {"name": "A", "mood": "wild", "age": 3}, path="$.npc")
    assert lines(given) == ["Mood: wild", "Tags: a, b", "Age: 3", "Alive: false"]


@pytest.mark.covers("schemas.plan.spellings")
@pytest.mark.parametrize("key", ["Current Location", "current_location", "CURRENT-LOCATION"])
def test_an_extra_that_spells_a_property_is_that_property(npc: NodeSchema, key: str) -> None:
    plan = plan_add(npc, {**BILBO, key: "Bree"}, path="$.npc")
    assert "Current Location: Bree" in lines(plan)
    assert plan.relations[0].property_name == "currentLocation"
    error = refusal(npc, {**BILBO, key: "Bree", "currentLocation": "Bree"})
    assert len(error.problems) == 1
    assert "currentLocation" in error.message


def test_the_name_may_be_spelt_otherwise_too_but_only_once(npc: NodeSchema) -> None:
    plan = plan_add(npc, {"NAME": "A", "role": "Wizard", "status": "Active"}, path="$.npc")
    assert plan.node.name == "A"
    assert len(refusal(npc, {**BILBO, "Name": "B"}).problems) == 1


def test_two_extras_with_one_normal_form_are_refused(npc: NodeSchema) -> None:
    error = refusal(npc, {**BILBO, "hairColour": "grey", "hair_colour": "white"})
    assert places(error) == ["$.npc.hair_colour"]


@pytest.mark.covers("schemas.plan.metadata-refused")
@pytest.mark.parametrize("key", ["metadata", "Metadata"])
def test_metadata_inside_the_wrapper_is_refused_with_the_right_tools(
    npc: NodeSchema, key: str
) -> None:
    error = refusal(npc, {**BILBO, key: ["Role: Thief"]})
    assert places(error) == [f"$.npc.{key}"]
    assert "add_metadata" in error.suggestions[0]
    assert "update_nodes" in error.suggestions[0]


def test_metadata_is_an_ordinary_property_where_a_schema_declares_it(
    make_schema: MakeSchema,
) -> None:
    schema = make_schema(metadata=text())
    plan = plan_add(schema, {"name": "A", "metadata": "x"}, path="$.npc")
    assert lines(plan) == ["Metadata: x"]


@pytest.mark.covers("schemas.plan.additional")
def test_extras_are_refused_where_the_schema_allows_none(make_schema: MakeSchema) -> None:
    schema = make_schema(additional=False, role=text(), mood=text())
    error = refusal(schema, {"name": "A", "rol": "x", "zzz": "y"})
    assert places(error) == ["$.npc.rol", "$.npc.zzz"]
    assert error.problems[0].nearest == ("role",)
    assert error.problems[1].suggestion == "its properties are name, role, mood"


def test_an_extra_that_looks_like_a_misspelt_property_is_stored_with_a_warning(
    npc: NodeSchema,
) -> None:
    plan = plan_add(npc, {**BILBO, "desciption": "small"}, path="$.npc")
    assert lines(plan)[-1] == "Desciption: small"
    [warning] = plan.warnings
    assert '"description"' in warning


@pytest.mark.covers("schemas.plan.extra-keys")
@pytest.mark.parametrize(
    "key", ["", " ", "a: b", "a:", "two\nlines", "-", "a\x00", "x" * 501, "a "]
)
def test_an_extra_whose_key_could_not_be_read_back_is_refused(npc: NodeSchema, key: str) -> None:
    error = refusal(npc, {**BILBO, key: "v"})
    assert len(error.problems) == 1
    assert len(error.message) < 500


@pytest.mark.parametrize("value", [{"a": 1}, [{"a": 1}], [["a"]], float("nan"), "a\x00", [None]])
def test_an_extra_holds_texts_numbers_flags_and_lists_of_them_only(
    npc: NodeSchema, value: Json
) -> None:
    assert len(refusal(npc, {**BILBO, "thing": value}).problems) == 1


@pytest.mark.covers("schemas.plan.names")
@pytest.mark.parametrize(
    "name", [None, "", "  ", " A", "A ", "x" * 501, "a\x00b", "\ud800", {}, ["A"], float("nan")]
)
def test_a_name_that_no_node_may_have_is_refused(npc: NodeSchema, name: Json) -> None:
    assert places(refusal(npc, {**BILBO, "name": name})) == ["$.npc.name"]


def test_a_name_is_stored_composed_and_a_number_becomes_its_text(npc: NodeSchema) -> None:
    assert plan_add(npc, {**BILBO, "name": "Zoe\u0308"}, path="$.npc").node.name == "Zo\u00eb"
    assert plan_add(npc, {**BILBO, "name": 1984}, path="$.npc").node.name == "1984"
    assert plan_add(npc, {**BILBO, "name": "x" * 500}, path="$.npc").node.name == "x" * 500


def test_facets_of_the_name_hold(make_schema: MakeSchema) -> None:
    schema = make_schema(name=text(minLength=3))
    assert places(refusal(schema, {"name": "ab"})) == ["$.npc.name"]


@pytest.mark.covers("schemas.plan.unique")
def test_unique_values_are_handed_on_as_they_stand_in_their_lines(make_schema: MakeSchema) -> None:
    schema = make_schema(code=text(unique=True, label="Kürzel"), no=of_type("integer", unique=True))
    plan = plan_add(schema, {"name": "A", "code": "x1", "no": "7"}, path="$.npc")
    assert [(u.property_name, u.display, u.value, u.path) for u in plan.unique] == [
        ("code", "Kürzel", "x1", "$.npc.code"),
        ("no", "No", "7", "$.npc.no"),
    ]
    assert lines(plan) == ["Kürzel: x1", "No: 7"]


@pytest.mark.covers("schemas.plan.all-at-once")
def test_every_problem_of_a_call_is_told_with_its_place(npc: NodeSchema) -> None:
    error = refusal(
        npc,
        {"name": " ", "role": "King", "status": {}, "traits": "x", "metadata": [], "a b": {"c": 1}},
    )
    assert sorted(places(error)) == [
        "$.npc.metadata",
        "$.npc.name",
        "$.npc.role",
        "$.npc.status",
        "$.npc.traits",
        '$.npc["a b"]',
    ]
    assert error.code == "INVALID_PARAM"
    assert error.message.startswith("6 problems; the first: ")


@pytest.mark.covers("schemas.plan.real-example")
def test_a_japanese_character_is_planned_as_its_schema_says(folders: Path) -> None:
    schema = load_schema(folders / "japanese" / "npc.schema.json")
    arguments: dict[str, Json] = {
        "name": "健", "role": "侍", "status": "元気", "currentLocation": "東京",
        "description": "若い", "voice": ["だぜ", "だよ"],
    }  # fmt: skip
    plan = plan_add(schema, arguments, path="$.npc")
    assert "Voice: だぜ, だよ" in lines(plan)
    assert [r.targets for r in plan.relations] == [("東京",)]
    assert places(refusal(schema, {**arguments, "voice": []})) == ["$.npc.voice"]


def test_values_never_appear_in_messages(npc: NodeSchema) -> None:
    told_value = "moonlight-sonata"
    error = refusal(
        npc,
        {
            "name": f" {told_value}",
            "role": told_value,
            "status": [told_value],
            "traits": told_value,
            "x": {told_value: 1},
        },
    )
    told = "".join(f"{p.message}{p.suggestion}{p.nearest}{p.path}" for p in error.problems)
    assert told_value not in told + error.message
