from collections.abc import Callable

import pytest

from schemory.model.jsonvalue import Json
from schemory.model.schema import PropertyType
from schemory.schemas.parse import parse_schema

Document = Callable[..., dict[str, Json]]
TYPES = ["string", "array", "number", "integer", "boolean", "date", "datetime"]


@pytest.fixture
def faults_of(document: Document) -> Callable[[dict[str, Json]], list[str]]:
    """Places of the faults in one property, below that property."""

    def faults(prop: dict[str, Json]) -> list[str]:
        parsed = parse_schema(document("npc", thing={"description": "d", **prop}))
        return [problem.path.removeprefix("/properties/thing") for problem in parsed.faults]

    return faults


FaultsOf = Callable[[dict[str, Json]], list[str]]


@pytest.mark.covers("schemas.facets.types")
@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_taken(document: Document, kind: str) -> None:
    schema = parse_schema(document("npc", thing={"type": kind, "description": "d"})).schema
    assert schema is not None
    assert schema.properties["thing"].type is PropertyType(kind)


@pytest.mark.covers("schemas.facets.types")
@pytest.mark.parametrize(
    ("kind", "nearest"),
    [
        ("text", "string"),
        ("int", "integer"),
        ("float", "number"),
        ("bool", "boolean"),
        ("list", "array"),
        ("date-time", "datetime"),
        ("Strng", "string"),
    ],
)
def test_another_type_is_refused_with_the_nearest(
    document: Document, kind: str, nearest: str
) -> None:
    parsed = parse_schema(document("npc", thing={"type": kind, "description": "d"}))
    assert [p.path for p in parsed.faults] == ["/properties/thing/type"]
    assert parsed.faults[0].nearest == (nearest,)


@pytest.mark.parametrize("kind", [None, 3, ["string", "null"], {}, "object"])
def test_a_type_that_is_no_word_or_an_object_is_refused(kind: Json, faults_of: FaultsOf) -> None:
    assert faults_of({"type": kind}) == ["/type"]


def test_a_property_without_a_type_is_refused(faults_of: FaultsOf) -> None:
    assert faults_of({}) == ["/type"]


@pytest.mark.parametrize("prop", ["string", None, 3, [], True])
def test_a_property_that_is_no_object_is_refused(document: Document, prop: Json) -> None:
    parsed = parse_schema(document("npc", thing=prop))
    assert [p.path for p in parsed.faults] == ["/properties/thing"]


FITTING = {
    "enum": ({"string", "array"}, ["a"]),
    "minimum": ({"number", "integer"}, 1),
    "maximum": ({"number", "integer"}, 1),
    "minLength": ({"string"}, 1),
    "maxLength": ({"string"}, 1),
    "items": ({"array"}, {"type": "string"}),
    "minItems": ({"array"}, 1),
    "maxItems": ({"array"}, 1),
    "unique": ({"string", "number", "integer", "boolean", "date", "datetime"}, True),
    "relationship": ({"string", "array"}, {"edgeType": "is"}),
}


@pytest.mark.covers("schemas.facets.fit")
@pytest.mark.parametrize("facet", FITTING)
@pytest.mark.parametrize("kind", TYPES)
def test_a_facet_is_taken_where_it_fits_the_type_and_refused_elsewhere(
    faults_of: FaultsOf, facet: str, kind: str
) -> None:
    kinds, value = FITTING[facet]
    prop: dict[str, Json] = {"type": kind, facet: value}  # type: ignore[dict-item]  # mixed on purpose
    assert faults_of(prop) == ([] if kind in kinds else [f"/{facet}"])


@pytest.mark.covers("schemas.facets.values")
@pytest.mark.parametrize(
    ("prop", "places"),
    [
        ({"type": "integer", "minimum": 3, "maximum": 2}, ["/minimum"]),
        ({"type": "integer", "minimum": 2, "maximum": 2}, []),
        ({"type": "number", "minimum": "3"}, ["/minimum"]),
        ({"type": "number", "minimum": True}, ["/minimum"]),
        ({"type": "number", "maximum": 10**400}, ["/maximum"]),
        ({"type": "string", "minLength": -1}, ["/minLength"]),
        ({"type": "string", "minLength": 1.5}, ["/minLength"]),
        ({"type": "string", "minLength": 2.0}, []),
        ({"type": "string", "minLength": 3, "maxLength": 2}, ["/minLength"]),
        ({"type": "array", "minItems": 3, "maxItems": 2}, ["/minItems"]),
        ({"type": "string", "required": "yes"}, ["/required"]),
        ({"type": "string", "required": ["a"]}, ["/required"]),
        ({"type": "string", "unique": 1}, ["/unique"]),
        ({"type": "string", "description": ["d"]}, ["/description"]),
    ],
)
def test_values_of_facets_are_checked(
    faults_of: FaultsOf, prop: dict[str, Json], places: list[str]
) -> None:
    assert faults_of(prop) == places


@pytest.mark.covers("schemas.facets.enum")
@pytest.mark.parametrize(
    ("enum", "places"),
    [
        (["a", "b"], []),
        ([], ["/enum"]),
        ("a", ["/enum"]),
        ({"a": 1}, ["/enum"]),
        (["a", 1], ["/enum/1"]),
        (["a", None], ["/enum/1"]),
        (["a", " "], ["/enum/1"]),
        (["a", "b", "a"], ["/enum/2"]),
        (["caf\u00e9", "cafe\u0301"], ["/enum/1"]),
    ],
)
def test_an_enum_is_a_list_of_distinct_strings(
    faults_of: FaultsOf, enum: Json, places: list[str]
) -> None:
    assert faults_of({"type": "string", "enum": enum}) == places


def test_an_enum_value_must_keep_the_length_facets(faults_of: FaultsOf) -> None:
    assert faults_of({"type": "string", "enum": ["a", "abc"], "maxLength": 2}) == ["/enum/1"]


@pytest.mark.covers("schemas.facets.default")
@pytest.mark.parametrize(
    ("prop", "places"),
    [
        ({"type": "string", "default": "x"}, []),
        ({"type": "string", "default": None}, []),
        ({"type": "string", "default": 3}, ["/default"]),
        ({"type": "string", "default": " "}, ["/default"]),
        ({"type": "string", "default": "c", "enum": ["a", "b"]}, ["/default"]),
        ({"type": "string", "default": "abc", "maxLength": 2}, ["/default"]),
        ({"type": "integer", "default": 3}, []),
        ({"type": "integer", "default": 3.0}, []),
        ({"type": "integer", "default": 3.5}, ["/default"]),
        ({"type": "integer", "default": "3"}, ["/default"]),
        ({"type": "integer", "default": 3, "minimum": 4}, ["/default"]),
        ({"type": "boolean", "default": False}, []),
        ({"type": "boolean", "default": "false"}, ["/default"]),
        ({"type": "date", "default": "2026-03-08"}, []),
        ({"type": "date", "default": "2026-13-08"}, ["/default"]),
        ({"type": "array", "default": ["a"]}, []),
        ({"type": "array", "default": []}, ["/default"]),
        ({"type": "array", "default": "a"}, ["/default"]),
        ({"type": "array", "default": ["c"], "items": {"enum": ["a"]}}, ["/default"]),
        ({"type": "array", "default": [1]}, ["/default"]),
    ],
)  # fmt: skip
def test_a_default_must_be_a_value_of_the_property(
    faults_of: FaultsOf, prop: dict[str, Json], places: list[str]
) -> None:
    assert faults_of(prop) == places


@pytest.mark.covers("schemas.facets.items")
def test_an_array_without_items_is_one_of_strings(document: Document) -> None:
    variants: list[dict[str, Json]] = [{}, {"items": {}}, {"items": {"type": "string"}}]
    for prop in variants:
        schema = parse_schema(
            document("npc", thing={"type": "array", "description": "d", **prop})
        ).schema
        assert schema is not None
        assert schema.properties["thing"].item_type is PropertyType.STRING


@pytest.mark.covers("schemas.facets.items")
def test_items_carry_their_own_facets(document: Document) -> None:
    items: Json = {"type": "integer", "minimum": 1, "maximum": 6}
    schema = parse_schema(
        document("npc", rolls={"type": "array", "description": "d", "items": items})
    ).schema
    assert schema is not None
    rolls = schema.properties["rolls"]
    assert (rolls.item_type, rolls.minimum, rolls.maximum) == (PropertyType.INTEGER, 1, 6)


@pytest.mark.covers("schemas.facets.items-objects")
def test_items_that_are_objects_are_refused_with_the_reason_and_a_way_out(
    document: Document,
) -> None:
    items: Json = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    parsed = parse_schema(
        document("npc", scenes={"type": "array", "description": "d", "items": items})
    )
    assert [p.path for p in parsed.faults] == ["/properties/scenes/items/type"]
    assert "object" in parsed.faults[0].message
    assert "relationship" in (parsed.faults[0].suggestion or "")


@pytest.mark.parametrize(
    ("items", "places"),
    [
        ("string", ["/items"]),
        ([{"type": "string"}], ["/items"]),
        ({"type": "array"}, ["/items/type"]),
        ({"type": "strin"}, ["/items/type"]),
        ({"type": ["string"]}, ["/items/type"]),
        ({"type": "integer", "enum": ["a"]}, ["/items/enum"]),
        ({"type": "string", "minimum": 1}, ["/items/minimum"]),
        ({"type": "string", "enmu": ["a"]}, ["/items/enmu"]),
        ({"type": "string", "enum": ["a", "a"]}, ["/items/enum/1"]),
    ],
)
def test_faults_in_items_have_their_own_place(
    faults_of: FaultsOf, items: Json, places: list[str]
) -> None:
    assert faults_of({"type": "array", "items": items}) == places


def test_an_enum_of_an_array_may_stand_beside_or_inside_its_items(document: Document) -> None:
    beside: Json = {"type": "array", "description": "d", "enum": ["a", "b"]}
    inside: Json = {"type": "array", "description": "d", "items": {"enum": ["a", "b"]}}
    schema = parse_schema(document("npc", one=beside, two=inside)).schema
    assert schema is not None
    assert schema.properties["one"].enum == schema.properties["two"].enum == ("a", "b")


def test_two_different_enums_of_one_array_are_refused(faults_of: FaultsOf) -> None:
    both: dict[str, Json] = {"type": "array", "enum": ["a"], "items": {"enum": ["b"]}}
    assert faults_of(both) == ["/enum"]


@pytest.mark.covers("schemas.facets.label")
@pytest.mark.parametrize(
    "label", ["", " ", " x", "x ", "a: b", "a:", "two\nlines", 3, None, "x" * 101, "-"]
)
def test_a_label_that_could_not_be_read_back_from_a_line_is_refused(
    faults_of: FaultsOf, label: Json
) -> None:
    assert faults_of({"type": "string", "label": label}) == ["/label"]


@pytest.mark.covers("schemas.facets.label")
def test_a_label_is_the_display_name(document: Document) -> None:
    schema = parse_schema(
        document("npc", home={"type": "string", "description": "d", "label": "Wohnort"})
    ).schema
    assert schema is not None
    assert schema.properties["home"].display == "Wohnort"
    assert schema.find_property("wohnort") is schema.properties["home"]
    assert schema.find_property("Home") is schema.properties["home"]


@pytest.mark.covers("schemas.facets.relationship")
@pytest.mark.parametrize(
    ("relationship", "places"),
    [
        ({"edgeType": "in"}, []),
        ({"edgeType": "in", "description": "d", "weight": 0}, []),
        ("in", [""]),
        (None, [""]),
        ({}, ["/edgeType"]),
        ({"edgeType": 3}, ["/edgeType"]),
        ({"edgeType": " in"}, ["/edgeType"]),
        ({"edgeType": "in", "nodeType": ""}, ["/nodeType"]),
        ({"edgeType": "in", "direction": "both"}, ["/direction"]),
        ({"edgeType": "in", "onMissing": "skip"}, ["/onMissing"]),
        ({"edgeType": "in", "onMissing": "create"}, ["/onMissing"]),
        ({"edgeType": "in", "enforce": True}, ["/enforce"]),
        ({"edgeType": "in", "enforce": "yes"}, ["/enforce"]),
        ({"edgeType": "in", "weight": 1.5}, ["/weight"]),
        ({"edgeType": "in", "weight": True}, ["/weight"]),
        ({"edgeType": "in", "weight": 10**400}, ["/weight"]),
        ({"edgeType": "in", "description": 3}, ["/description"]),
    ],
)
def test_a_relationship_is_checked(
    faults_of: FaultsOf, relationship: Json, places: list[str]
) -> None:
    found = faults_of({"type": "string", "relationship": relationship})
    assert found == [f"/relationship{place}" for place in places]


def test_an_enum_beside_items_that_are_no_strings_is_refused(faults_of: FaultsOf) -> None:
    prop: dict[str, Json] = {"type": "array", "enum": ["a"], "items": {"type": "integer"}}
    assert faults_of(prop) == ["/enum"]


def test_the_description_of_items_serves_where_the_property_has_none(document: Document) -> None:
    items: Json = {"type": "string", "description": "One quality"}
    schema = parse_schema(document("npc", traits={"type": "array", "items": items})).schema
    assert schema is not None
    assert schema.properties["traits"].description == "One quality"


def test_a_relationship_of_numbers_is_refused(faults_of: FaultsOf) -> None:
    prop: dict[str, Json] = {
        "type": "array",
        "items": {"type": "integer"},
        "relationship": {"edgeType": "in"},
    }
    assert faults_of(prop) == ["/relationship"]
