"""Whatever a client sends: an answer that fits the output schema, and no trace of a failed call."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.tools.validate import extended

if TYPE_CHECKING:
    from tests.tools.conftest import Desk, DeskMaker

TOOLSETS = ("graph", "graph_query", "admin")
NASTY = [
    *("", " ", "A", "B", "hub", "npc", "located_in", "a\0b", "\ud800", "é", "é", "ß", "İ"),
    *("__proto__", "constructor", "x" * 501, "null", "[]", "{}", '["A"]', "[" * 5000, "NaN"),
    *("A: B", ":", ": ", "1e999", "-1", "0.5", "true", "👩‍👩‍👧", "\u202eabc", "A\n", "DROP TABLE"),
]
PLAIN = ["A", "B", "hub", "new", "other", "npc", "location", "located_in", "Wizard", "Active"]
WORDS = st.one_of(
    *[st.sampled_from(PLAIN)] * 6, *[st.sampled_from(NASTY)] * 2, st.text(max_size=12)
)
NUMBERS = st.one_of(
    st.integers(-2, 3),
    st.sampled_from([10**18, 2**63, 10**400, -(10**30)]),
    st.floats(),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)


def rarely(odd: st.SearchStrategy[Any], usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 11).flatmap(lambda number: odd if number == 11 else usual)


def fitting(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that mostly fit the schema, of names and words that often exist."""
    kind = schema["type"]
    if kind == "object":
        return fitting_object(schema)
    if kind == "array":
        items = st.lists(fitting(schema["items"]), min_size=schema.get("minItems", 0), max_size=3)
        return rarely(items.map(json.dumps), items)
    if kind == "string":
        return st.sampled_from(schema["enum"]) if "enum" in schema else WORDS
    if kind == "boolean":
        return st.booleans()
    if kind == "any":
        return ANYTHING
    low, high = schema.get("minimum", 0), schema.get("maximum", 5)
    return st.integers(low, high) if kind == "integer" else st.floats(low, high)


def fitting_object(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    parts = schema.get("properties", {}).items()
    known = {key: rarely(ANYTHING, fitting(part)) for key, part in parts}
    required = {key: known[key] for key in schema.get("required", ())}
    optional = {key: value for key, value in known.items() if key not in required}
    mostly = st.fixed_dictionaries(required, optional=optional)
    extras = st.dictionaries(WORDS, ANYTHING, max_size=2)
    return rarely(st.builds(lambda own, more: {**more, **own}, mostly, extras), mostly)


@pytest.fixture(scope="module")
def worn(open_desk: "DeskMaker") -> "Desk":
    """A desk with some nodes and edges, which the calls of all tests change."""
    desk = open_desk("rpg", toolsets=TOOLSETS, allow_cross_project=True, response_budget=3_000)
    seed(desk)
    return desk


@pytest.fixture(scope="module")
def worn_compact(open_desk: "DeskMaker", worn: "Desk") -> "Desk":
    return open_desk(beside=worn, profile="compact", response_budget=3_000)


def seed(desk: "Desk") -> None:
    nodes = [{"name": name, "nodeType": "npc", "metadata": ["A: B"]} for name in ("A", "B", "hub")]
    desk.call("add_nodes", {"nodes": nodes, "continueOnError": True})
    edges = [{"from": "A", "to": name, "edgeType": "located_in"} for name in ("A", "B")]
    desk.call("add_edges", {"edges": edges, "continueOnError": True})


def try_call(desk: "Desk", tool: str, arguments: object) -> bool:
    """Return whether the call may have changed something."""
    before = desk.everything()
    reply = desk.call(tool, arguments)
    assert reply.structured.get("error_code") != "INTERNAL"
    assert len(reply.text.encode()) <= 8_000
    may_change = not (reply.is_error or desk.listed(tool)["annotations"]["readOnlyHint"])
    if not may_change:
        assert desk.everything() == before
    return may_change


def accepted(desk: "Desk", tool: str) -> st.SearchStrategy[Any]:
    """Arguments that mostly fit a tool."""
    found = desk.toolbox.registry[tool]
    return fitting(extended(found.input_schema, found.unadvertised))


@pytest.fixture(scope="module")
def by_tool(worn: "Desk") -> Mapping[str, st.SearchStrategy[Any]]:
    """What to call each tool with; made once, since that takes as long as the calls."""
    others = tuple(t for t in worn.graph.catalog.types() if t != "npc")
    # The tools of one type stand for those of all.
    return {name: accepted(worn, name) for name in worn.names() if not name.endswith(others)}


@pytest.mark.covers("tools.robust")
@given(data=st.data())
def test_calls_that_nearly_fit_get_an_answer(
    worn: "Desk", by_tool: Mapping[str, st.SearchStrategy[Any]], data: st.DataObject
) -> None:
    is_changed = True
    for name, arguments in by_tool.items():
        if is_changed:
            seed(worn)
        is_changed = try_call(worn, name, data.draw(arguments))


@pytest.mark.covers("tools.robust")
@given(data=st.data())
def test_calls_of_the_generic_tools_get_an_answer(
    worn_compact: "Desk", data: st.DataObject
) -> None:
    for name in ("add_node", "update_node", "delete_node"):
        seed(worn_compact)
        types = st.sampled_from(["npc", "location", "quest", "nothing"])
        properties = data.draw(accepted(worn_compact, name))
        try_call(worn_compact, name, {**properties, "nodeType": data.draw(types)})


@pytest.mark.covers("tools.robust")
@given(arguments=ANYTHING, data=st.data())
def test_calls_of_raw_json_get_an_answer(
    worn: "Desk", arguments: object, data: st.DataObject
) -> None:
    try_call(worn, data.draw(st.sampled_from(worn.names())), arguments)


@pytest.mark.covers("tools.robust")
@given(data=st.data())
def test_old_dialects_with_anything_inside_get_an_answer(worn: "Desk", data: st.DataObject) -> None:
    items = data.draw(st.lists(st.dictionaries(WORDS, ANYTHING, max_size=3) | ANYTHING, max_size=3))
    try_call(worn, "add_metadata", {"metadata": items})
    try_call(worn, "delete_metadata", {"deletions": items})
    for verb in ("add", "update", "delete"):
        keys = ["npc", f"{verb}_npc"]
        given_keys = data.draw(st.lists(st.sampled_from(keys), max_size=2, unique=True))
        try_call(worn, f"{verb}_npc", {key: data.draw(ANYTHING) for key in given_keys})
