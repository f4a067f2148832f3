import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.model.likeness import edit_distance, nearest

short = st.text(alphabet="abc", max_size=6)


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [
        ("", "", 0),
        ("enum", "enum", 0),
        ("enmu", "enum", 1),
        ("requried", "required", 1),
        ("item", "items", 1),
        ("desription", "description", 1),
        ("min", "max", 2),
        ("type", "items", 3),
        ("", "abcd", 3),
    ],
)
def test_edits_are_counted_up_to_a_limit(first: str, second: str, edits: int) -> None:
    assert edit_distance(first, second) == edits


def reference(a: str, b: str) -> int:
    """Optimal string alignment, written out without any short cut."""
    table = [[i + j for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            ways = [
                table[i - 1][j] + 1,
                table[i][j - 1] + 1,
                table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
            ]
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                ways.append(table[i - 2][j - 2] + 1)
            table[i][j] = min(ways)
    return table[-1][-1]


@given(short, short, st.integers(0, 6))
def test_short_cuts_do_not_change_the_count(first: str, second: str, at_most: int) -> None:
    found = edit_distance(first, second, at_most=at_most)
    assert found == min(reference(first, second), at_most + 1)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("wizard", ("Wizard",)),
        ("wizzard", ("Wizard",)),
        ("Warior", ("Warrior",)),
        ("Thiefs", ("Thief",)),
        ("king", ()),
        ("", ()),
    ],
)
def test_the_nearest_are_those_that_may_be_meant(word: str, found: tuple[str, ...]) -> None:
    assert nearest(word, ["Warrior", "Wizard", "Thief"]) == found


def test_the_nearest_come_best_first_and_few() -> None:
    assert nearest("name", ["names", "name_", "game", "nam"], limit=2) == ("name_", "names")
    assert nearest("current location", ["location", "currentLocation"]) == ("currentLocation",)


def test_long_words_and_the_far_end_of_a_long_list_are_not_compared() -> None:
    assert nearest("x" * 100_000, ["y" * 100_000, "x" * 99_999]) == ("x" * 99_999,)
    assert nearest("wizzard", [*(f"other{n}" for n in range(100_000)), "wizard"]) == ()
