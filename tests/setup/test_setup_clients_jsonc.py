"""JSON with comments: what is read, and that edits leave every other character as it was."""

import json
import re
from typing import Any, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemory.setup.clients.jsonc import JsoncError, read_jsonc
from schemory.setup.clients.jsonc_edit import remove_member, set_member

PATH = ("mcpServers", "schemory")
VALUE = {"command": "C:\\py.exe", "args": ["-m", "schemory"]}

# A text as it is written, with what it means: made together, so that no parser is its own witness.
Written: TypeAlias = tuple[str, Any]

BLANKS = st.sampled_from(
    ["", "", " ", "\n  ", "\t", "\r\n", "// }{,\n", ' /* "a": 1, */ ', "\n/**/\n", " // x\r\n\t"]
)
BOOLEANS: st.SearchStrategy[bool] = st.booleans()
SCALARS: st.SearchStrategy[Written] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
).map(lambda value: (json.dumps(value), value))
STRINGS: st.SearchStrategy[Written] = st.text(
    st.characters(exclude_categories=["Cs"]), max_size=8
).map(lambda value: (json.dumps(value, ensure_ascii=len(value) % 2 == 0), value))
KEYS = st.sampled_from(["a", "b", "key", "é", 'q"\\', "", "schemory", "mcpServers", "//"])


@st.composite
def arrays(draw: st.DrawFn, items: st.SearchStrategy[Written]) -> Written:
    members = draw(st.lists(items, max_size=3))
    parts = [f"{draw(BLANKS)}{text}{draw(BLANKS)}" for text, _ in members]
    trailing = f",{draw(BLANKS)}" if len(parts) > 0 and draw(BOOLEANS) else draw(BLANKS)
    return f"[{','.join(parts)}{trailing}]", [value for _, value in members]


@st.composite
def objects(
    draw: st.DrawFn, values: st.SearchStrategy[Written], keys: st.SearchStrategy[str] = KEYS
) -> Written:
    names = draw(st.lists(keys, max_size=3, unique=True))
    parts: list[str] = []
    data: dict[str, Any] = {}
    for name in names:
        text, value = draw(values)
        data[name] = value
        around = [draw(BLANKS) for _ in range(4)]
        parts.append(f"{around[0]}{json.dumps(name)}{around[1]}:{around[2]}{text}{around[3]}")
    trailing = f",{draw(BLANKS)}" if len(parts) > 0 and draw(BOOLEANS) else draw(BLANKS)
    return "{" + ",".join(parts) + trailing + "}", data


VALUES: st.SearchStrategy[Written] = st.recursive(
    st.one_of(SCALARS, STRINGS),
    lambda inner: st.one_of(arrays(inner), objects(inner)),
    max_leaves=4,
)


@st.composite
def files(draw: st.DrawFn) -> Written:
    """A file whose `mcpServers`, if it has some, is an object."""
    others = KEYS.filter(lambda key: key != "mcpServers")
    body, data = draw(objects(VALUES, others))
    if draw(st.booleans()):
        servers, names = draw(objects(VALUES))
        member = f'{draw(BLANKS)}"mcpServers":{draw(BLANKS)}{servers}{draw(BLANKS)}'
        body = "{" + member + ("," + body[1:] if data else draw(BLANKS) + "}")
        data = {"mcpServers": names, **data}
    return f"{draw(BLANKS)}{body}{draw(BLANKS)}", data


@pytest.mark.covers("setup.clients.jsonc")
@given(written=files())
def test_what_is_read_is_what_was_written(written: Written) -> None:
    text, data = written
    assert read_jsonc(text, PATH).data == data


@pytest.mark.covers("setup.clients.jsonc")
@given(written=files(), line_end=st.sampled_from(["\n", "\r\n"]))
@example(written=('{"mcpServers":{ /* ours */ }}', {"mcpServers": {}}), line_end="\n")
def test_setting_a_member_changes_that_member_alone(written: Written, line_end: str) -> None:
    text, data = written
    after = set_member(text, PATH, VALUE, line_end=line_end)
    was_there = "schemory" in data.get("mcpServers", {})
    data.setdefault("mcpServers", {})["schemory"] = VALUE
    assert read_jsonc(after, PATH).data == data
    if was_there:
        return
    start = _common(text, after)
    end = _common(text[start:][::-1], after[start:][::-1])
    left = text[start : len(text) - end]
    assert not left.strip() or left in after[start : len(after) - end]


@pytest.mark.covers("setup.clients.jsonc")
@given(written=files(), line_end=st.sampled_from(["\n", "\r\n"]))
@example(written=('{"mcpServers":{ /* ours */ }}', {"mcpServers": {}}), line_end="\n")
def test_removing_what_was_set_gives_the_text_back(written: Written, line_end: str) -> None:
    text, data = written
    if "schemory" in data.get("mcpServers", {}):
        return
    after = remove_member(set_member(text, PATH, VALUE, line_end=line_end), PATH)
    if data.get("mcpServers"):
        assert _without_blanks(after) == _without_blanks(text)
        closing = read_jsonc(text, PATH).bodies["mcpServers",].end - 1
        if re.search(r"[\r\n][ \t]*\Z", text[:closing]):  # on a line of its own, as files have it
            assert after == text
    else:  # an empty object is left; blanks in it are not known any more
        data.setdefault("mcpServers", {})
        assert read_jsonc(after, PATH).data == data
        assert _without_blanks(text) in {
            _without_blanks(after),
            _without_blanks(remove_member(after, PATH[:1])),
        }


@pytest.mark.covers("setup.clients.jsonc")
@given(written=files())
def test_removing_any_server_leaves_the_others_as_they_were(written: Written) -> None:
    text, data = written
    for name in list(data.get("mcpServers", {})):
        after = remove_member(text, ("mcpServers", name))
        rest = {key: value for key, value in data["mcpServers"].items() if key != name}
        assert read_jsonc(after, PATH).data == {**data, "mcpServers": rest}


@pytest.mark.covers("setup.clients.jsonc")
@given(text=st.text(st.sampled_from(list('{}[]",:/*1a\\ \n-.eutrfalsn')), max_size=30))
def test_any_text_is_read_or_refused_and_plain_json_is_read_as_ever(text: str) -> None:
    try:
        data = json.loads(text, parse_constant=lambda _name: pytest.fail("no JSON"))
    except ValueError:
        try:
            read_jsonc(text, PATH)
        except JsoncError as fault:
            told = (fault.line, fault.column)
        else:
            told = (1, 1)
        assert min(told) >= 1
        return
    assert read_jsonc(text, ("nothing",)).data == data


@pytest.mark.covers("setup.clients.jsonc")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a":1}', '{"a":1,"s":{"x":1}}'),
        ('{"a": 1}', '{"a": 1, "s": {"x": 1}}'),
        ('{ "a": 1, }', '{ "a": 1, "s": {"x": 1}, }'),
        ("{}", '{\n  "s": {\n    "x": 1\n  }\n}'),
        ("{ }\n", '{\n  "s": {\n    "x": 1\n  }\n}\n'),
        ("{\n}\n", '{\n  "s": {\n    "x": 1\n  }\n}\n'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"s": {\n\t\t"x": 1\n\t}\n}'),
        ('{\n    "a": 1 // one\n}', '{\n    "a": 1, // one\n    "s": {\n        "x": 1\n    }\n}'),
        ('{"a": [\n1\n]}', '{"a": [\n1\n],\n  "s": {\n    "x": 1\n  }\n}'),
        ("", '{\n  "s": {\n    "x": 1\n  }\n}\n'),
        ("// later\n", '// later\n{\n  "s": {\n    "x": 1\n  }\n}\n'),
    ],
)
def test_a_new_member_looks_like_its_neighbours(before: str, after: str) -> None:
    assert set_member(before, ["s"], {"x": 1}, line_end="\n") == after


def _common(first: str, second: str) -> int:
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    return count


def _without_blanks(text: str) -> str:
    return re.sub(r"\s+", "", text)
