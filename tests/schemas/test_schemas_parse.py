from collections.abc import Callable

import pytest

from schemory.model.jsonvalue import Json
from schemory.model.schema import Direction, OnMissing, PropertyType
from schemory.schemas.parse import parse_schema
from schemory.schemas.report import ParsedSchema

Document = Callable[..., dict[str, Json]]


def paths(parsed: ParsedSchema) -> list[str]:
    return [problem.path for problem in parsed.faults]


def text(**facets: Json) -> dict[str, Json]:
    return {"type": "string", "description": "d", **facets}


@pytest.mark.covers("schemas.parse.valid")
def test_a_valid_document_becomes_a_type_with_its_properties_and_relationships() -> None:
    parsed = parse_schema(
        {
            "name": "add_npc",
            "description": "Somebody",
            "properties": {
                "name": text(required=True),
                "role": text(required=True, enum=["Wizard", "Thief"]),
                "home": text(
                    relationship={
                        "edgeType": "lives_in",
                        "nodeType": "location",
                        "direction": "in",
                        "onMissing": "create",
                        "enforce": True,
                        "weight": 0.5,
                    }
                ),
                "traits": {"type": "array", "description": "d", "items": {"type": "string"}},
            },
            "additionalProperties": False,
        },
        "npc.schema.json",
    )
    assert parsed.faults == parsed.warnings == parsed.notes == ()
    schema = parsed.schema
    assert schema is not None
    assert (schema.node_type, schema.description) == ("npc", "Somebody")
    assert (schema.allows_additional, schema.origin) == (False, "npc.schema.json")
    assert list(schema.properties) == ["name", "role", "home", "traits"]
    assert schema.properties["role"].enum == ("Wizard", "Thief")
    assert [p.name for p in schema.properties.values() if p.is_required] == ["name", "role"]
    assert schema.properties["traits"].type is PropertyType.ARRAY
    home = schema.properties["home"].relationship
    assert home is not None
    assert (home.edge_type, home.node_type, home.weight) == ("lives_in", "location", 0.5)
    assert (home.direction, home.on_missing) == (Direction.IN, OnMissing.CREATE)
    assert home.enforce


@pytest.mark.covers("schemas.parse.implicit-name")
def test_a_name_is_added_and_required_when_the_document_has_none() -> None:
    schema = parse_schema(
        {"name": "add_moment", "description": "d", "properties": {"day": text()}}
    ).schema
    assert schema is not None
    assert list(schema.properties) == ["name", "day"]
    assert schema.properties["name"].is_required


@pytest.mark.covers("schemas.parse.implicit-name")
def test_a_name_that_is_not_flagged_is_required_all_the_same(document: Document) -> None:
    schema = parse_schema(document("npc")).schema
    assert schema is not None
    assert schema.properties["name"].is_required


def test_a_name_flagged_as_optional_is_warned_of(document: Document) -> None:
    parsed = parse_schema(document("npc", name=text(required=False)))
    assert [problem.path for problem in parsed.warnings] == ["/properties/name/required"]


@pytest.mark.covers("schemas.parse.name")
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("npc", "add_npc"),
        ("AddNpc", "add_npc"),
        ("update_npc", "add_npc"),
        ("add_NPC", "add_npc"),
        ("add_player character", "add_player_character"),
        ("add_1st", None),
        ("add_", None),
        ("add_größe", "add_grosse"),
    ],
)
def test_a_name_that_cannot_become_a_type_is_refused_with_one_that_can(
    document: Document, name: str, nearest: str | None
) -> None:
    parsed = parse_schema({**document("npc"), "name": name})
    assert parsed.schema is None
    assert paths(parsed) == ["/name"]
    if nearest is not None:
        assert parsed.faults[0].nearest == (nearest,)


@pytest.mark.covers("schemas.parse.tool-name-length")
def test_the_longest_tool_name_may_have_48_characters(document: Document) -> None:
    fits, too_long = "a" * 41, "a" * 42
    assert len(f"delete_{fits}") == 48
    assert parse_schema(document(fits)).schema is not None
    assert paths(parse_schema(document(too_long))) == ["/name"]


@pytest.mark.covers("schemas.parse.reserved")
@pytest.mark.parametrize("node_type", ["node", "nodes", "edges", "metadata"])
def test_types_whose_tools_exist_already_are_refused(document: Document, node_type: str) -> None:
    assert paths(parse_schema(document(node_type))) == ["/name"]


@pytest.mark.covers("schemas.parse.required-members")
def test_a_document_without_name_and_properties_is_told_both() -> None:
    parsed = parse_schema({"description": "d"}, "folder/npc.schema.json")
    assert paths(parsed) == ["/name", "/properties"]
    assert parsed.faults[0].suggestion == 'add "name": "add_npc"'


@pytest.mark.covers("schemas.parse.ordinary-json-schema")
@pytest.mark.parametrize(
    "data",
    [
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
        {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["b"]},
        {"$id": "x", "properties": {}},
    ],
)
def test_an_ordinary_json_schema_gets_one_clear_message(data: Json) -> None:
    parsed = parse_schema(data)
    assert paths(parsed) == [""]
    assert "ordinary JSON Schema" in parsed.faults[0].message
    assert parsed.faults[0].suggestion is not None


@pytest.mark.parametrize("data", [None, True, 3, "text", [], [{}]])
def test_a_document_that_is_no_object_is_refused(data: Json) -> None:
    assert paths(parse_schema(data)) == [""]


@pytest.mark.covers("schemas.parse.all-at-once")
def test_everything_wrong_is_told_at_once_with_place_nearest_and_next_step() -> None:
    parsed = parse_schema(
        {
            "name": "npc",
            "description": 3,
            "properties": {
                "role": {"type": "strin", "description": "d"},
                "age": {"type": "integer", "description": "d", "minimum": 9, "maximum": 1},
                "mood": text(enum=["good", 4, "good"], requried=True),
                "home": text(relationship={"nodeType": "location"}),
            },
            "additionalProperties": "no",
            "required": ["rolle"],
        }
    )
    assert sorted(paths(parsed)) == [
        "/additionalProperties",
        "/description",
        "/name",
        "/properties/age/minimum",
        "/properties/home/relationship/edgeType",
        "/properties/mood/enum/1",
        "/properties/mood/enum/2",
        "/properties/mood/requried",
        "/properties/role/type",
        "/required/0",
    ]
    by_path = {problem.path: problem for problem in parsed.faults}
    assert by_path["/properties/role/type"].nearest == ("string",)
    assert by_path["/properties/mood/requried"].nearest == ("required",)
    assert by_path["/required/0"].nearest == ("role",)


@pytest.mark.covers("schemas.parse.unknown-keys")
@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("enmu", "enum"),
        ("Required", "required"),
        ("descripton", "description"),
        ("min", "minimum"),
        ("minlength", "minLength"),
        ("relationshp", "relationship"),
    ],
)
def test_an_unknown_key_within_two_edits_of_a_known_one_is_a_typo(
    document: Document, key: str, meant: str
) -> None:
    parsed = parse_schema(document("npc", role=text(**{key: 1})))
    assert paths(parsed) == [f"/properties/role/{key}"]
    assert parsed.faults[0].nearest[0] == meant


@pytest.mark.covers("schemas.parse.unknown-keys")
def test_any_other_unknown_key_is_ignored_with_a_warning(document: Document) -> None:
    data = document("npc", role=text(format="word", examples=["x"]))
    parsed = parse_schema({**data, "version": 3})
    assert parsed.schema is not None
    assert [problem.path for problem in parsed.warnings] == [
        "/properties/role/format",
        "/properties/role/examples",
        "/version",
    ]


def test_a_misspelt_key_at_the_root_or_in_a_relationship_is_a_typo(document: Document) -> None:
    data = document("npc", home=text(relationship={"edgeTyp": "in", "edgeType": "in"}))
    parsed = parse_schema({**data, "aditionalProperties": False})
    assert paths(parsed) == ["/properties/home/relationship/edgeTyp", "/aditionalProperties"]


@pytest.mark.covers("schemas.parse.reserved-facets")
@pytest.mark.parametrize("facet", ["max", "per", "dated"])
def test_reserved_facets_are_accepted_and_said(document: Document, facet: str) -> None:
    parsed = parse_schema(document("npc", home=text(**{facet: 1})))
    assert parsed.schema is not None
    assert parsed.warnings == ()
    assert [problem.path for problem in parsed.notes] == [f"/properties/home/{facet}"]


@pytest.mark.covers("schemas.parse.root-required")
def test_a_root_list_of_required_keys_stands_beside_the_flags(document: Document) -> None:
    data = document("npc", role=text(), home=text(required=True), mood=text())
    parsed = parse_schema({**data, "required": ["role"]})
    assert parsed.schema is not None
    required = [p.name for p in parsed.schema.properties.values() if p.is_required]
    assert required == ["name", "role", "home"]
    assert [problem.path for problem in parsed.notes] == ["/required"]
    assert parsed.warnings == ()


def test_a_root_list_that_contradicts_a_flag_wins_with_a_warning(document: Document) -> None:
    data = document("npc", role=text(required=False))
    parsed = parse_schema({**data, "required": ["role"]})
    assert parsed.schema is not None
    assert parsed.schema.properties["role"].is_required
    assert [problem.path for problem in parsed.warnings] == ["/required/0"]


@pytest.mark.parametrize("value", [True, "role", {"role": True}])
def test_a_root_required_that_is_no_list_is_refused(document: Document, value: Json) -> None:
    assert paths(parse_schema({**document("npc", role=text()), "required": value})) == ["/required"]


@pytest.mark.covers("schemas.parse.property-keys")
@pytest.mark.parametrize(
    ("key", "better"),
    [
        ("current location", "current_location"),
        ("Größe", "grosse"),
        ("a/b", "a_b"),
        ("x" * 65, "x" * 64),
        ("氏名", "some_key"),
        ("", "some_key"),
        ("---", "some_key"),
    ],
)
def test_a_property_key_that_hosts_refuse_is_a_fault_with_a_better_one(
    document: Document, key: str, better: str
) -> None:
    parsed = parse_schema(document("npc", **{key: text()}))
    assert len(parsed.faults) == 1
    assert parsed.faults[0].nearest == (better,)


@pytest.mark.parametrize("key", ["a", "x" * 64, "a.b", "a-b", "A_9", "9", "__proto__"])
def test_ordinary_property_keys_are_taken(document: Document, key: str) -> None:
    assert parse_schema(document("npc", **{key: text()})).schema is not None


@pytest.mark.covers("schemas.parse.clashing-keys")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"homeTown": text()}, {"home_town": text()}),
        ({"homeTown": text()}, {"Home-Town": text()}),
        ({"home": text(label="Living Place")}, {"livingPlace": text()}),
        ({"a.b": text()}, {"ab": text()}),
    ],
)
def test_two_keys_with_one_normal_form_clash(
    document: Document, first: dict[str, Json], second: dict[str, Json]
) -> None:
    parsed = parse_schema(document("npc", **first, **second))
    assert paths(parsed) == [f"/properties/{next(iter(second))}"]


def test_a_property_cannot_stand_for_the_name(document: Document) -> None:
    assert paths(parse_schema(document("npc", Name=text()))) == ["/properties/Name"]
    assert paths(parse_schema(document("npc", title=text(label="Name")))) == ["/properties/title"]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ({"type": "integer", "description": "d"}, "/properties/name/type"),
        (text(default="x"), "/properties/name/default"),
        (text(relationship={"edgeType": "is"}), "/properties/name/relationship"),
    ],
)
def test_the_name_is_a_plain_string(document: Document, name: Json, path: str) -> None:
    assert paths(parse_schema(document("npc", name=name))) == [path]


@pytest.mark.covers("schemas.parse.hidden-characters")
@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u200b", "\u2066", "\U000e0041", "\ufeff", "\x07", "\xad", "a\u200d"]
)
def test_hidden_characters_are_faults_wherever_they_stand(document: Document, hidden: str) -> None:
    data = document("npc", role=text(enum=["ok", f"x{hidden}y"], label=f"Ro{hidden}le"))
    parsed = parse_schema({**data, "description": f"a{hidden}b", f"ke{hidden}y": 1})
    found = {problem.path for problem in parsed.faults}
    assert {"/description", "/properties/role/enum/1", "/properties/role/label"} <= found
    assert any(path.startswith("/ke") for path in found)


def test_joiners_inside_words_and_emoji_are_ordinary_writing(document: Document) -> None:
    parsed = parse_schema({**document("npc"), "description": "می‌خواهم and 👨‍👩‍👧 and ❤️‍🔥"})
    assert parsed.faults == ()


@pytest.mark.covers("schemas.parse.description-warnings")
def test_a_missing_long_or_marked_up_description_is_only_a_warning(document: Document) -> None:
    data = document(
        "npc",
        none={"type": "string"},
        blank={"type": "string", "description": " "},
        long=text(description="あ" * 342),
        fits=text(description="あ" * 341),
        tag=text(description="the <b>role</b>"),
        link=text(description="see [this](http://x)"),
        less=text(description="if 3 < 4 and 5 > 4"),
    )
    parsed = parse_schema(data)
    assert parsed.schema is not None
    assert [problem.path for problem in parsed.warnings] == [
        f"/properties/{key}/description" for key in ("none", "blank", "long", "tag", "link")
    ]


def test_a_key_with_a_slash_is_escaped_in_the_pointer(document: Document) -> None:
    parsed = parse_schema(document("npc", **{"a/b~c": text()}))
    assert paths(parsed) == ["/properties/a~1b~0c"]


def test_faults_with_lone_surrogates_can_be_encoded(document: Document) -> None:
    parsed = parse_schema(document("npc", **{"a\ud800": {"type": "x\ud800"}}))
    assert parsed.faults
    for problem in parsed.faults:
        f"{problem.path}{problem.message}{problem.suggestion}{problem.nearest}".encode()
