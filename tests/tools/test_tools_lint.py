import copy
from collections.abc import Callable
from typing import Any

import pytest

from schemory.tools.lint import lint_tool, lint_tools

GOOD: dict[str, Any] = {
    "name": "add_npc",
    "title": "Add npc",
    "description": "Add a character; see describe_schema.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "npc": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Its name"},
                    "role": {"type": "string", "enum": ["Wizard"]},
                    "traits": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                },
                "required": ["name"],
                "additionalProperties": True,
            }
        },
        "required": ["npc"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    },
    "annotations": {
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": False,
        "openWorldHint": False,
    },
}


def npc(tool: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = tool["inputSchema"]["properties"]["npc"]
    return inner


def nest(tool: dict[str, Any]) -> None:
    schema = npc(tool)
    for _ in range(4):
        inner: dict[str, Any] = {"type": "object", "properties": {}}
        schema["properties"]["deeper"] = inner
        schema = inner


@pytest.mark.covers("tools.lint")
def test_a_good_tool_has_no_problem() -> None:
    assert lint_tool(GOOD) == ()


FAULTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "name too long": lambda t: t.update(name="a" * 49),
    "name with a dash": lambda t: t.update(name="add-npc"),
    "name with a digit first": lambda t: t.update(name="1add"),
    "no title": lambda t: t.pop("title"),
    "no description": lambda t: t.update(description=""),
    "description too long in bytes": lambda t: t.update(description="日" * 342),
    "hidden character": lambda t: t.update(description="safe\u202etxt"),
    "tag character in a property": lambda t: npc(t)["properties"]["name"].update(
        description="x\U000e0041"
    ),
    "markup": lambda t: t.update(description="see <b>this</b>"),
    "link": lambda t: t.update(description="see [this](x)"),
    "a hint missing": lambda t: t["annotations"].pop("openWorldHint"),
    "root is no object": lambda t: t["inputSchema"].update(type="array"),
    "root without properties": lambda t: t["inputSchema"].pop("properties"),
    "root without required": lambda t: t["inputSchema"].pop("required"),
    "root open": lambda t: t["inputSchema"].update(additionalProperties=True),
    "output root open": lambda t: t["outputSchema"].pop("additionalProperties"),
    "unknown keyword": lambda t: npc(t)["properties"]["name"].update(pattern="x"),
    "anyOf": lambda t: npc(t).update(anyOf=[]),
    "ref": lambda t: npc(t).update({"$ref": "#/x"}),
    "list of types": lambda t: npc(t)["properties"]["name"].update(type=["string", "null"]),
    "null type": lambda t: npc(t)["properties"]["name"].update(type="null"),
    "no type": lambda t: npc(t)["properties"]["name"].pop("type"),
    "array without items": lambda t: npc(t)["properties"]["traits"].pop("items"),
    "untyped items": lambda t: npc(t)["properties"]["traits"].update(items={}),
    "enum on a number": lambda t: npc(t)["properties"]["role"].update(type="number"),
    "empty enum": lambda t: npc(t)["properties"]["role"].update(enum=[]),
    "key with a space": lambda t: npc(t)["properties"].update({"a b": {"type": "string"}}),
    "key too long": lambda t: npc(t)["properties"].update({"k" * 65: {"type": "string"}}),
    "required unknown": lambda t: npc(t).update(required=["nobody"]),
    "too deep": nest,
    "schema that is none": lambda t: npc(t)["properties"].update(x=5),
    "properties that are none": lambda t: npc(t).update(properties=[]),
    "description that is no text": lambda t: npc(t).update(description=5),
}


@pytest.mark.covers("tools.lint")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_thing_that_strict_hosts_refuse_is_found(fault: str) -> None:
    tool = copy.deepcopy(GOOD)
    FAULTS[fault](tool)
    assert lint_tool(tool)


@pytest.mark.covers("tools.lint")
def test_a_list_must_be_sorted_and_its_names_differ_by_more_than_case() -> None:
    other = {**GOOD, "name": "Add_npc"}
    assert lint_tools([GOOD, {**GOOD, "name": "b"}]) == ()
    assert [p.message for p in lint_tools([GOOD, other])] == [
        "the list must be sorted by name",
        "two tools share this name, ignoring case",
    ]
