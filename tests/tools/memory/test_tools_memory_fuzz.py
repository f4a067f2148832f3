"""Whatever a client sends to a memory tool: an answer that fits, and no trace of a refused call."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemory.model.entry import Relation, SourceType
from schemory.tools.memory import MEMORY_SPECS
from schemory.tools.validate import extended

if TYPE_CHECKING:
    from tests.tools.memory.conftest import DeskMaker, MemoryDesk

NASTY = [
    *("", " ", "a\0b", "\ud800", "é", "İ", "x" * 250, "null", "[]", "{}", '["A"]'),
    *("[" * 3_000, "NaN", "1e999", "-1", "true", "\u202eabc", "«/entry x»", "../../etc", "C:\\a"),
    *('"quoted"', "*", "NEAR/2", "password = 'hunter2hunter2'", "7d", "2026-03-08", "\x7f"),
]
NUMBERS = st.one_of(st.integers(-2, 6), st.sampled_from([10**18, 2**63, 10**400]), st.floats())
WORDS = st.one_of(
    st.sampled_from(["backend", "auth", "token", "note", "p", "q"]),
    st.sampled_from(["backend", "auth", "token", "note", "p", "q"]),
    st.sampled_from(NASTY),
    st.text(max_size=12),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def rarely(odd: st.SearchStrategy[Any], usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 11).flatmap(lambda number: odd if number == 11 else usual)


def fitting(key: str, schema: Mapping[str, Any], ids: list[str]) -> st.SearchStrategy[Any]:
    """Values that mostly fit an argument."""
    kind = schema["type"]
    if key.endswith("_id") and "project" not in key:
        return st.sampled_from([*ids, "nope"])
    if kind == "array":
        items = st.lists(WORDS, max_size=3)
        return rarely(items.map(json.dumps), items)
    if kind == "string":
        return st.sampled_from(schema["enum"]) if "enum" in schema else WORDS
    if kind == "boolean":
        return st.booleans()
    low = schema.get("minimum", 0)
    high = schema.get("maximum", low + 5)
    return st.integers(low, high) if kind == "integer" else st.floats(low, high)


def calls(accepted: Mapping[str, Any], ids: list[str], paths: list[str]) -> st.SearchStrategy[Any]:
    """Arguments of a tool that mostly fit."""
    properties = accepted["properties"]
    known = {
        key: rarely(ANYTHING, fitting(key, part, ids))
        for key, part in properties.items()
        if not key.endswith("_path")
    }
    known |= {key: st.sampled_from(paths) | WORDS for key in properties if key.endswith("_path")}
    known["project_id"] = rarely(WORDS, st.just("p"))
    required = {key: known[key] for key in accepted["required"]}
    optional = {key: value for key, value in known.items() if key not in required}
    return rarely(ANYTHING, st.fixed_dictionaries(required, optional=optional))


@pytest.fixture(scope="module")
def worn(open_desk: "DeskMaker", tmp_path_factory: pytest.TempPathFactory) -> "MemoryDesk":
    folder = tmp_path_factory.mktemp("fuzz")
    desk = open_desk(budget=3_000, allowed_roots=(str(folder),), server="p")
    desk.folder = folder
    return desk


def seeded(desk: "MemoryDesk") -> list[str]:
    ids = [desk.add(f"note {n} of token", topic=f"topic {n % 2}", tags=["x"]) for n in range(3)]
    ends = {"source_entry_id": ids[0], "target_entry_id": ids[1]}
    desk.call("memory_link_entries", {"project_id": "p", **ends, "relation": "explains"})
    return ids


@pytest.mark.covers("tools.memory.robust")
@pytest.mark.parametrize("spec", MEMORY_SPECS, ids=lambda spec: spec.name)
def test_every_tool_answers_whatever_it_is_asked(worn: "MemoryDesk", spec: Any) -> None:
    tool = worn.toolbox.registry[spec.name]
    accepted: Any = extended(tool.input_schema, tool.unadvertised)
    ids = seeded(worn)
    folder: Path = worn.folder
    paths = [str(folder), str(folder / "out.json"), str(folder / "gone"), "out.json", "/etc"]

    @settings(max_examples=40)
    @given(calls(accepted, ids, paths))
    def ask(arguments: object) -> None:
        before = worn.seq("p")
        reply = worn.call(spec.name, arguments)
        assert reply.structured.get("error_code") != "INTERNAL"
        if reply.is_error or tool.effect.hints["readOnlyHint"]:
            assert worn.seq("p") == before

    ask()


@pytest.mark.covers("tools.memory.robust")
def test_every_source_type_and_relation_is_accepted(desk: "MemoryDesk") -> None:
    ids = [desk.add(f"about {kind}", source_type=kind) for kind in SourceType]
    for relation in Relation:
        ends = {"source_entry_id": ids[0], "target_entry_id": ids[1], "relation": relation}
        assert desk.ok("link_entries", **ends)["relation"] == relation
