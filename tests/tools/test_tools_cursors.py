import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import InvalidCursorError
from schemory.tools.cursors import Cursors, Position

CURSORS = Cursors(b"a secret of the store")


def seal(position: Position = (7, "name"), **changes: str) -> str:
    return CURSORS.seal(
        position, tool="search_nodes", space="s", arguments={"query": "x", **changes}
    )


@pytest.mark.covers("tools.cursors.bound")
@given(st.lists(st.integers() | st.text(st.characters(exclude_categories=["Cs"]))).map(tuple))
def test_a_cursor_gives_its_position_back(position: Position) -> None:
    arguments = {"query": "x", "cursor": "ignored"}
    opened = CURSORS.open(seal(position), tool="search_nodes", space="s", arguments=arguments)
    assert opened == position


@pytest.mark.covers("tools.cursors.bound")
@pytest.mark.parametrize(
    ("tool", "space", "query"),
    [("open_nodes", "s", "x"), ("search_nodes", "t", "x"), ("search_nodes", "s", "y")],
)
def test_another_tool_space_or_argument_is_refused_with_a_next_step(
    tool: str, space: str, query: str
) -> None:
    with pytest.raises(InvalidCursorError) as caught:
        CURSORS.open(seal(), tool=tool, space=space, arguments={"query": query})
    (problem,) = caught.value.problems
    assert problem.path == "$.cursor"
    assert "leave cursor out" in str(problem.suggestion)


@pytest.mark.covers("tools.cursors.bound")
def test_another_stores_cursor_is_refused() -> None:
    with pytest.raises(InvalidCursorError):
        Cursors(b"other").open(seal(), tool="search_nodes", space="s", arguments={"query": "x"})


@pytest.mark.covers("tools.cursors.tampered")
@given(st.text() | st.binary().map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_no_made_up_cursor_is_taken(text: str) -> None:
    with pytest.raises(InvalidCursorError):
        CURSORS.open(text, tool="search_nodes", space="s", arguments={"query": "x"})


@pytest.mark.covers("tools.cursors.tampered")
def test_no_change_of_one_character_is_taken() -> None:
    genuine = seal()
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+ \n"
    for index in range(len(genuine) + 1):
        for letter in letters:
            for changed in (
                genuine[:index] + letter + genuine[index + 1 :],
                genuine[:index] + letter + genuine[index:],
            ):
                if changed == genuine:
                    continue
                with pytest.raises(InvalidCursorError):
                    CURSORS.open(changed, tool="search_nodes", space="s", arguments={"query": "x"})
