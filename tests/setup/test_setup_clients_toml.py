"""TOML: edits leave every other character as it was, whatever the layout around them."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.setup.clients.toml_edit import TomlError, read_toml, remove_table, set_table

PATH = ("mcp_servers", "schemory")
VALUE: dict[str, Any] = {
    "command": "C:\\Users\\Ann Lee\\py.exe",
    "args": ["-m", "it's"],
    "env": {"A": "b"},
}

# Blocks that stand for themselves, so that any of them may follow any other.
ROOT = st.lists(
    st.sampled_from(
        [
            'model = "x"  # the big one\n',
            "# mcp_servers.schemory = 1\n",
            "a.b = 1\n",
            'text = """\n[mcp_servers.schemory]\n"""\n',
            "lines = '''\n# no comment\n[x]\n'''\n",
            "list = [\n  1, # one\n  2,\n]\n",
            "\n",
            "when = 2026-11-30T18:00:00Z\n",
        ]
    ),
    max_size=4,
    unique=True,
).map("".join)
TABLES = st.lists(
    st.sampled_from(
        [
            "[other]\nx = 1\n",
            '[mcp_servers.fetch]\ncommand = "uvx"\nargs = [ "a", # why\n "b" ]\n',
            "[mcp_servers.fetch.env]\nK = 'v'\n",
            '[mcp_servers."with space"]\ncommand = "c" \n',
            "[ mcp_servers . third ]\n# inside\ncommand = '#'\n",
            "[[many]]\ny = 1\n\n[[many]]\ny = 2\n",
            "# on its own\n",
            "\n",
            "[mcp_servers]\n",
            "[tools.schemory]\nz = { a = '}' }\n",
        ]
    ),
    max_size=6,
    unique=True,
).map("".join)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str]:
    """A text that is TOML, and its line end."""
    text = draw(ROOT) + draw(TABLES)
    cut: bool = draw(st.booleans())
    line_end: str = draw(st.sampled_from(["\n", "\r\n"]))
    return (text.rstrip("\n") if cut else text).replace("\n", line_end), line_end


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@pytest.mark.covers("setup.clients.toml")
@given(file=files())
def test_a_new_table_goes_to_the_end_and_the_rest_stays(file: tuple[str, str]) -> None:
    text, line_end = file
    if not _is_toml(text):  # a table in two places
        return
    expected: dict[str, Any] = tomllib.loads(text)
    after = set_table(text, PATH, VALUE, line_end=line_end)
    expected.setdefault("mcp_servers", {})["schemory"] = VALUE
    assert tomllib.loads(after) == expected
    assert after.startswith(text)
    assert after.endswith(line_end) == (text.endswith(line_end) or not text)
    if line_end == "\r\n":
        assert after.count("\n") == after.count("\r\n")


@pytest.mark.covers("setup.clients.toml")
@given(file=files())
def test_removing_the_new_table_gives_the_text_back(file: tuple[str, str]) -> None:
    text, line_end = file
    if not _is_toml(text):
        return
    after = remove_table(set_table(text, PATH, VALUE, line_end=line_end), PATH)
    if text.endswith(line_end * 2) or not text.strip():
        assert after.strip() == text.strip()
    else:
        assert after == text


@pytest.mark.covers("setup.clients.toml")
@given(file=files())
def test_removing_any_table_leaves_the_others_as_they_were(file: tuple[str, str]) -> None:
    text, _ = file
    if not _is_toml(text):
        return
    data: dict[str, Any] = tomllib.loads(text)
    for name in list(data.get("mcp_servers", {})):
        after = remove_table(text, ("mcp_servers", name))
        left: dict[str, Any] = tomllib.loads(after)
        rest = {key: each for key, each in data["mcp_servers"].items() if key != name}
        assert left.pop("mcp_servers", {}) == rest
        assert left == {key: each for key, each in data.items() if key != "mcp_servers"}
        missing = [line for line in after.splitlines() if line not in text.splitlines()]
        assert missing == []


@pytest.mark.covers("setup.clients.toml")
def test_members_are_set_in_place_and_what_stands_beside_them_stays() -> None:
    before = (
        "[mcp_servers.schemory] # ours\n"
        'command = "/old/python" # the old one\n'
        "enabled = true\n"
        "[mcp_servers.schemory.tools.memory_search]\n"
        'approval_mode = "approve"\n'
        "[z]\n"
    )
    after = set_table(before, PATH, {"command": "/new/python", "args": ["-P"]}, line_end="\n")
    assert after == (
        "[mcp_servers.schemory] # ours\n"
        'args = ["-P"]\n'
        'command = "/new/python" # the old one\n'
        "enabled = true\n"
        "[mcp_servers.schemory.tools.memory_search]\n"
        'approval_mode = "approve"\n'
        "[z]\n"
    )
    assert remove_table(after, PATH) == "[z]\n"


@pytest.mark.covers("setup.clients.toml")
@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a = 1\nb = \n", 2, 5), ("[a\n", 1, 3), ("a = 'x", 1, 7), ("a = 1\na = 2\n", 2, 6)],
)
def test_a_fault_is_told_with_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(TomlError) as fault:
        read_toml(text)
    assert (fault.value.line, fault.value.column) == (line, column)


@pytest.mark.covers("setup.clients.toml")
@given(word=st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_text_can_be_an_argument(word: str) -> None:
    after = set_table("", PATH, {"args": [word]}, line_end="\n")
    assert tomllib.loads(after)["mcp_servers"]["schemory"]["args"] == [word]
