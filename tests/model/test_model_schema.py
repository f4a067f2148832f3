import pytest

from schemory.model.hidden import find_hidden
from schemory.model.jsonvalue import child_path, compact, is_finite_number, json_kind, plain_number
from schemory.model.schema import NodeSchema, Property
from schemory.model.weight import weight_fault


def schema(*properties: Property) -> NodeSchema:
    return NodeSchema(
        node_type="npc", description="d", properties={prop.name: prop for prop in properties}
    )


def test_a_property_is_found_by_any_spelling_of_its_key_or_label() -> None:
    home = Property(name="homeTown", label="Herkunft")
    dotted = Property(name="a.b")
    npc = schema(Property(name="name"), home, dotted)
    for key in ("homeTown", "home_town", "HOME TOWN", "herkunft"):
        assert npc.find_property(key) is home
    assert npc.find_property("a.b") is dotted
    assert npc.find_property("A B") is dotted
    assert npc.find_property("town") is None
    assert npc.find_property("") is None


def test_the_display_name_is_the_label_or_the_key_in_words() -> None:
    assert Property(name="homeTown").display == "Home Town"
    assert Property(name="homeTown", label="Herkunft").display == "Herkunft"


def test_schemas_are_equal_by_what_they_say() -> None:
    assert schema(Property(name="name")) == schema(Property(name="name"))
    assert schema(Property(name="name")) != schema(Property(name="title"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("plain, ünïcode, 日本語\tand\nlines\r\n", None),
        ("می‌خواهم", None),
        ("👨‍👩‍👧 ❤️‍🔥 1️⃣", None),
        ("a\u200bb", "U+200B ZERO WIDTH SPACE"),
        ("a\u202eb", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("a\u2067b", "U+2067 RIGHT-TO-LEFT ISOLATE"),
        ("a\U000e0061b", "U+E0061 TAG LATIN SMALL LETTER A"),
        ("a\u200db", "U+200D ZERO WIDTH JOINER"),
        ("\ufeffab", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("a\x1b[0m", "U+001B"),
        ("a\ud800", "U+D800"),
        ("a\ufe0f\ufe01", "U+FE01 VARIATION SELECTOR-2"),
    ],
)
def test_hidden_characters_are_named_and_ordinary_writing_passes(
    text: str, name: str | None
) -> None:
    found = find_hidden(text)
    assert (found and found[1]) == name


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("role", "$.role"),
        (3, "$[3]"),
        ("a b", '$["a b"]'),
        ('"', '$["\\""]'),
        ("\ud800", '$["?"]'),
        ("x" * 200, f'$["{"x" * 100}…"]'),
    ],
)
def test_a_json_path_can_be_read_and_sent(key: str | int, path: str) -> None:
    assert child_path("$", key) == path


def test_numbers_are_told_apart_from_what_json_has_not() -> None:
    assert [is_finite_number(value) for value in (0, -1.5, 2**1000)] == [True] * 3
    bad = (True, "1", None, float("nan"), float("inf"), 2**2000)
    assert [is_finite_number(value) for value in bad] == [False] * 6
    assert [plain_number(value) for value in (1.0, 1.5, 2)] == [1, 1.5, 2]
    assert compact({"b": [1], "a": "ü"}) == '{"b":[1],"a":"ü"}'
    assert json_kind({}) == "an object"


@pytest.mark.parametrize("weight", [float("nan"), -0.1, 1.1, 10**400, True, "1", None])
def test_what_is_no_weight_is_refused(weight: object) -> None:
    assert weight_fault(weight)


@pytest.mark.parametrize("weight", [0, 1, 0.5, 1.0])
def test_a_real_number_from_0_to_1_is_a_weight(weight: float) -> None:
    assert weight_fault(weight) is None
