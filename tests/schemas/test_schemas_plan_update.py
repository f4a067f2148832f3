from collections.abc import Callable

import pytest

from schemory.errors import SchemoryError
from schemory.model.jsonvalue import Json
from schemory.model.node import NodeRecord, TypedValue
from schemory.model.schema import NodeSchema
from schemory.schemas.plan import UpdatePlan, entity_name, plan_update

MakeSchema = Callable[..., NodeSchema]
MakeRecord = Callable[..., NodeRecord]


def of_type(kind: str, **facets: Json) -> dict[str, Json]:
    return {"type": kind, "description": "d", **facets}


@pytest.fixture
def update(npc: NodeSchema, make_record: MakeRecord) -> Callable[..., UpdatePlan]:
    """Plans an update of a node that has the given lines."""

    def plan(*lines: str, typed: tuple[TypedValue, ...] = (), **arguments: Json) -> UpdatePlan:
        current = make_record("npc", "Gandalf", *lines, typed=typed)
        return plan_update(npc, {"name": "Gandalf", **arguments}, current, path="$.npc")

    return plan


Update = Callable[..., UpdatePlan]


@pytest.mark.covers("schemas.plan.update.in-place")
def test_only_the_lines_of_changed_properties_change_and_they_stay_in_place(
    update: Update,
) -> None:
    plan = update("A free note", "Role: Warrior", "Status: Active", "other: x", role="Wizard")
    assert plan.metadata == ("A free note", "Role: Wizard", "Status: Active", "other: x")
    assert plan.has_changes


@pytest.mark.covers("schemas.plan.update.tolerant")
@pytest.mark.parametrize(
    "old", ["currentLocation: Bree", "current_location: Bree", "CURRENT LOCATION: Bree"]
)
def test_an_imported_line_is_replaced_however_its_key_is_spelt(update: Update, old: str) -> None:
    plan = update("a", old, "b", currentLocation="Moria")
    assert plan.metadata == ("a", "Current Location: Moria", "b")


@pytest.mark.covers("schemas.plan.update.tolerant")
def test_one_line_remains_at_the_place_of_the_first(update: Update) -> None:
    plan = update("x", "role: Thief", "y", "Role: Noble", "ROLE: King", role="Wizard")
    assert plan.metadata == ("x", "Role: Wizard", "y")


def test_a_property_without_a_line_gets_one_at_the_end(update: Update) -> None:
    assert update("Role: Wizard", "note", status="Missing").metadata == (
        "Role: Wizard",
        "note",
        "Status: Missing",
    )


@pytest.mark.covers("schemas.plan.update.free-text")
def test_free_text_survives_byte_for_byte(update: Update) -> None:
    odd = (
        "  two  spaces ",
        "role",
        "Role",
        ": role",
        "",
        "tab\there\nand line",
        "a:b",
        "Zoe\u0308",
    )
    assert update(*odd, role="Wizard").metadata == (*odd, "Role: Wizard")


@pytest.mark.covers("schemas.plan.update.remove")
@pytest.mark.parametrize("empty", [None, [], "[]"])
def test_null_and_an_empty_list_remove_an_optional_property_with_its_edges(
    update: Update, empty: Json
) -> None:
    typed = TypedValue(property_name="friends", line="Friends: A, B", value=["A", "B"])
    plan = update("Role: Wizard", "Friends: A, B", "friends: C", typed=(typed,), friends=empty)
    assert plan.metadata == ("Role: Wizard",)
    assert plan.typed == ()
    [relation] = plan.relations
    assert (relation.property_name, relation.targets) == ("friends", ())
    assert plan.has_changes


@pytest.mark.covers("schemas.plan.update.remove-required")
@pytest.mark.parametrize("empty", [None, []])
def test_a_required_property_cannot_be_removed(update: Update, empty: Json) -> None:
    with pytest.raises(SchemoryError) as raised:
        update("Role: Wizard", role=empty, status=empty)
    assert [p.path for p in raised.value.problems] == ["$.npc.role", "$.npc.status"]
    assert "required" in raised.value.message


@pytest.mark.covers("schemas.plan.update.blank")
def test_a_blank_text_changes_nothing_and_says_so(update: Update) -> None:
    plan = update("Role: Wizard", "Description: old", description=" ", role="", mood="")
    assert plan.metadata == ("Role: Wizard", "Description: old")
    assert not plan.has_changes
    assert len(plan.warnings) == 3
    assert "null removes it" in next(w for w in plan.warnings if "description" in w)
    assert "null" not in next(w for w in plan.warnings if "role" in w)


@pytest.mark.covers("schemas.plan.update.partial")
def test_what_is_not_named_is_neither_asked_for_nor_filled_in(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(
        role=of_type("string", required=True), mood=of_type("string", default="calm")
    )
    current = make_record("npc", "A", "note")
    plan = plan_update(schema, {"name": "A", "height": 3}, current, path="$.npc")
    assert plan.metadata == ("note", "Height: 3")
    assert not plan_update(schema, {"name": "A"}, current, path="$.npc").has_changes


@pytest.mark.covers("schemas.plan.update.relations")
def test_each_relationship_property_that_is_named_is_planned_even_when_equal(
    update: Update,
) -> None:
    plan = update("Current Location: Bree", currentLocation=["Bree"], friends=["Sam", "Sam", "Pip"])
    assert {r.property_name: r.targets for r in plan.relations} == {
        "currentLocation": ("Bree",),
        "friends": ("Sam", "Pip"),
    }
    assert update("Current Location: Bree", role="Wizard").relations == ()


@pytest.mark.covers("schemas.plan.update.typed")
def test_typed_values_follow_their_lines(update: Update) -> None:
    traits = TypedValue(property_name="traits", line="Traits: a, b", value=["a", "b"])
    stale = TypedValue(property_name="friends", line="Friends: gone", value=["gone"])
    kept = update("Traits: a, b", typed=(traits, stale), role="Wizard")
    assert kept.typed == (traits,)
    renewed = update("Traits: a, b", typed=(traits,), traits=["c, d"])
    assert renewed.metadata == ("Traits: c, d",)
    assert renewed.typed == (
        TypedValue(property_name="traits", line="Traits: c, d", value=["c, d"]),
    )


def test_an_extra_is_found_by_its_tolerant_key_and_removed_by_null(update: Update) -> None:
    plan = update("hair_colour: grey", "note", hairColour="white")
    assert plan.metadata == ("Hair Colour: white", "note")
    assert update("hair_colour: grey", "note", hairColour=None).metadata == ("note",)


def test_a_left_over_line_can_be_removed_where_no_extras_are_allowed(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(additional=False, role=of_type("string"))
    current = make_record("npc", "A", "Mood: bad", "Role: x")
    plan = plan_update(schema, {"name": "A", "mood": None}, current, path="$.npc")
    assert plan.metadata == ("Role: x",)
    with pytest.raises(SchemoryError):
        plan_update(schema, {"name": "A", "mood": "good"}, current, path="$.npc")


@pytest.mark.covers("schemas.plan.update.label")
def test_a_line_under_the_derived_name_becomes_one_under_the_label(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(currentLocation=of_type("string", label="Wohnort"))
    for old in ("Current Location: Bree", "currentLocation: Bree", "wohnort: Bree"):
        current = make_record("npc", "A", old)
        plan = plan_update(schema, {"name": "A", "Wohnort": "Moria"}, current, path="$.npc")
        assert plan.metadata == ("Wohnort: Moria",)


def test_unique_values_are_handed_on_only_when_named(
    make_schema: MakeSchema, make_record: MakeRecord
) -> None:
    schema = make_schema(code=of_type("string", unique=True), mood=of_type("string"))
    current = make_record("npc", "A", "Code: x1")
    named = plan_update(schema, {"name": "A", "code": "x2"}, current, path="$.npc")
    assert [(u.display, u.value) for u in named.unique] == [("Code", "x2")]
    assert plan_update(schema, {"name": "A", "mood": "x"}, current, path="$.npc").unique == ()


def test_all_problems_of_an_update_come_at_once(update: Update) -> None:
    with pytest.raises(SchemoryError) as raised:
        update("Role: Wizard", role="King", traits="x", metadata=["a"], status=None)
    assert sorted(p.path for p in raised.value.problems) == [
        "$.npc.metadata",
        "$.npc.role",
        "$.npc.status",
        "$.npc.traits",
    ]


@pytest.mark.covers("schemas.plan.entity-name")
def test_addressing_a_node_takes_any_name_that_may_exist_and_composes_it(npc: NodeSchema) -> None:
    assert entity_name(npc, {"name": "Zoe\u0308"}, path="$.npc") == "Zo\u00eb"
    assert entity_name(npc, {"Name": " odd "}, path="$.npc") == " odd "
    assert entity_name(npc, {"name": "x" * 900}, path="$.npc") == "x" * 900
    assert entity_name(npc, {"name": 1984}, path="$.npc") == "1984"
    nameless: list[Json] = [None, "", {}, []]
    for name in nameless:
        with pytest.raises(SchemoryError) as raised:
            entity_name(npc, {"name": name}, path="$.npc")
        assert [p.path for p in raised.value.problems] == ["$.npc.name"]
