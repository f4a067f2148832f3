import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.model.metadata import (
    display_name,
    filter_by_key,
    find_value,
    format_line,
    has_key,
    line_map,
    merge_lines,
    normal_key,
    parse_line,
    replace_lines,
)

anything = st.text(alphabet=st.characters())


@pytest.mark.covers("metadata.parse")
@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("Role: Wizard", "Role", "Wizard"),
        ("Quote: he said: go", "Quote", "he said: go"),
        ("Url:http://x: y", "Url:http://x", "y"),
        ("Traits:", "Traits", ""),
        ("Traits: ", "Traits", ""),
        ("free text", "", "free text"),
        ("12:30", "", "12:30"),
        ("", "", ""),
        (":", "", ""),
        (": x", "", "x"),
        ("two\nlines: x", "two\nlines", "x"),
    ],
)
def test_a_line_splits_at_the_first_colon_and_space_else_at_a_trailing_colon(
    line: str, key: str, value: str
) -> None:
    assert parse_line(line) == (key, value)


@given(anything)
def test_any_line_parses_and_none_of_its_text_is_invented(line: str) -> None:
    key, value = parse_line(line)
    assert line in {f"{key}: {value}", f"{key}:", value}


@pytest.mark.covers("metadata.format")
@given(anything, anything)
def test_a_formatted_line_parses_back_when_its_key_could_be_one(key: str, value: str) -> None:
    if ": " not in key and not key.endswith(":"):
        assert parse_line(format_line(key, value)) == (key, value)


@pytest.mark.covers("metadata.display-name")
@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("currentLocation", "Current Location"),
        ("role", "Role"),
        ("player_character", "Player Character"),
        ("relatedNPCs", "Related NPCs"),
        ("HTTPPort", "HTTP Port"),
        ("NPCs", "NPCs"),
        ("NPCsInTown", "NPCs In Town"),
        ("userIDs_list", "User IDs List"),
        ("hit-points.max", "Hit Points Max"),
        ("level2Name", "Level2 Name"),
        ("already Spaced Out", "Already Spaced Out"),
        ("größeÄnderung", "Größe Änderung"),
        ("ß", "ß"),
        ("性別", "性別"),
        ("__proto__", "Proto"),
        ("---", "---"),
        ("", ""),
    ],
)
def test_a_property_key_is_shown_as_words(key: str, shown: str) -> None:
    assert display_name(key) == shown


@given(anything)
def test_a_shown_key_is_one_line_without_spaces_at_its_ends_and_stays_as_it_is(key: str) -> None:
    shown = display_name(key)
    assert display_name(shown) == shown
    if shown != key:
        assert shown == shown.strip()


@pytest.mark.covers("metadata.normal-key")
def test_all_spellings_of_a_key_meet() -> None:
    spellings = ["currentLocation", "Current Location", "current_location", "CURRENT-LOCATION"]
    assert {normal_key(key) for key in spellings} == {"currentlocation"}
    assert normal_key("Gro\u0308\u00dfe") == normal_key("GR\u00d6SSE")
    assert normal_key("a.b") != normal_key("ab")


@given(st.text(alphabet="abzABZ019_- ", max_size=12))
def test_a_key_of_plain_characters_meets_the_name_it_is_shown_by(key: str) -> None:
    assert normal_key(display_name(key)) == normal_key(key)


@pytest.mark.covers("metadata.replace")
def test_replacing_leaves_one_line_at_the_place_of_the_first() -> None:
    lines = ["a", "role: x", "b", "ROLE: y", "c"]
    assert replace_lines(lines, {"role"}, "Role: z") == ("a", "Role: z", "b", "c")
    assert replace_lines(lines, {"role"}, None) == ("a", "b", "c")
    assert replace_lines(["a"], {"role"}, "Role: z") == ("a", "Role: z")


@given(st.lists(anything, max_size=6), st.sets(anything.map(normal_key), max_size=3))
def test_lines_of_other_keys_and_free_text_are_never_touched(
    lines: list[str], spellings: set[str]
) -> None:
    others = tuple(line for line in lines if not has_key(line, spellings))
    assert replace_lines(lines, spellings, None) == others


def test_free_text_has_no_key_at_all() -> None:
    assert not has_key("free text", {""})
    assert not has_key(": x", {""})


@pytest.mark.covers("metadata.utilities")
def test_lines_are_read_by_exact_key() -> None:
    lines = ["Role: Wizard", "role: Thief", "Role: Noble", "free"]
    assert find_value(lines, "Role") == "Wizard"
    assert find_value(lines, "Mood") is None
    assert filter_by_key(lines, "Role") == ("Role: Wizard", "Role: Noble")
    assert line_map(lines) == {"Role": "Noble", "role": "Thief", "": "free"}


@pytest.mark.covers("metadata.utilities")
def test_merging_keeps_each_line_once_in_order_of_first_appearance() -> None:
    assert merge_lines(["a", "b", "a"], ["b", "c"]) == ("a", "b", "c")
    assert merge_lines() == ()
