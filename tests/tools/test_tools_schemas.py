"""`list_schemas`, `describe_schema`, `validate`, and the tools that change schemas."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.schemas.parse import parse_schema
from schemory.tools.definition import definition

if TYPE_CHECKING:
    from tests.tools.conftest import Desk, DeskMaker

SPELL: dict[str, Any] = {
    "name": "add_spell",
    "description": "A spell that someone may cast.",
    "properties": {
        "name": {"type": "string", "description": "Its name", "required": True},
        "school": {
            "type": "string",
            "description": "Where it is taught",
            "enum": ["Fire", "Ice"],
            "label": "School of Magic",
        },
        "level": {"type": "integer", "description": "1 to 9", "minimum": 1, "maximum": 9},
        "casters": {
            "type": "array",
            "description": "Who casts it",
            "items": {"type": "string"},
            "minItems": 1,
            "relationship": {
                "edgeType": "cast_by",
                "nodeType": "npc",
                "direction": "in",
                "onMissing": "create",
                "weight": 0.5,
            },
        },
        "motto": {"type": "string", "description": "Words", "unique": True, "maxLength": 40},
    },
    "additionalProperties": False,
}


@pytest.fixture
def managed(open_desk: "DeskMaker", tmp_path: Path) -> "Desk":
    """A desk whose schemas live in a folder and may change."""
    (tmp_path / "spell.schema.json").write_text(json.dumps(SPELL))
    return open_desk(folders=(tmp_path,), manage_schemas=True)


@pytest.mark.covers("tools.schemas.list")
def test_the_list_tells_each_type_and_what_it_requires(desk: "Desk") -> None:
    data = desk.ok("list_schemas")
    assert [s["nodeType"] for s in data["schemas"]] == sorted(
        s["nodeType"] for s in data["schemas"]
    )
    npc = next(s for s in data["schemas"] if s["nodeType"] == "npc")
    assert npc["required"] == ["name", "role", "status"]
    assert npc["optional"] == ["currentLocation", "description", "traits"]
    assert npc["relationships"] == {"currentLocation": "located_in"}
    assert "faults" not in data


@pytest.mark.covers("tools.schemas.faults")
def test_the_list_tells_which_files_are_left_out_and_why(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    (tmp_path / "bad.schema.json").write_text('{"name": "npc", "description": "d"}')
    (tmp_path / "good.schema.json").write_text(json.dumps(SPELL))
    data = open_desk(folders=(tmp_path,)).ok("list_schemas")
    assert [s["nodeType"] for s in data["schemas"]] == ["spell"]
    assert all(fault["file"].endswith("bad.schema.json") for fault in data["faults"])
    assert all(fault["problem"] for fault in data["faults"])


@pytest.mark.covers("tools.budget.schemas")
def test_a_long_list_of_schemas_comes_in_pages(open_desk: "DeskMaker", tmp_path: Path) -> None:
    for i in range(60):
        schema = {**SPELL, "name": f"add_spell{i:02}", "description": "x" * 200}
        (tmp_path / f"{i}.schema.json").write_text(json.dumps(schema))
    desk = open_desk(folders=(tmp_path,), response_budget=4_000)
    found: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(60):
        reply = desk.call("list_schemas", cursor)
        assert len(reply.text.encode()) <= 4_000
        data: Any = reply.structured["data"]
        found += [schema["nodeType"] for schema in data["schemas"]]
        if "nextCursor" not in data:
            break
        cursor = {"cursor": data["nextCursor"]}
    assert found == [f"spell{i:02}" for i in range(60)]


@pytest.mark.covers("tools.schemas.describe")
def test_a_description_is_a_document_that_defines_the_same_schema(managed: "Desk") -> None:
    data = managed.ok("describe_schema", {"nodeType": "spell"})
    again = parse_schema(data["schema"])
    assert again.faults == again.warnings == ()
    assert again.schema is not None
    assert definition(again.schema) == data["schema"]
    assert data["schema"]["properties"]["casters"]["relationship"] == {
        "edgeType": "cast_by",
        "nodeType": "npc",
        "direction": "in",
        "onMissing": "create",
        "weight": 0.5,
    }
    assert data["schema"]["properties"]["school"]["enum"] == ["Fire", "Ice"]


@pytest.mark.covers("tools.schemas.describe")
@pytest.mark.parametrize("pack", ["rpg", "software"])
def test_every_schema_of_the_packs_is_described_so_that_it_loads_again(
    open_desk: "DeskMaker", pack: str
) -> None:
    desk = open_desk(pack)
    for schema in desk.graph.catalog.schemas():
        shown = desk.ok("describe_schema", {"nodeType": schema.node_type})["schema"]
        again = parse_schema(shown).schema
        assert again is not None
        assert (again.description, again.properties, again.allows_additional) == (
            schema.description,
            schema.properties,
            schema.allows_additional,
        )


@pytest.mark.covers("tools.schemas.describe")
def test_an_unknown_type_is_told_the_nearest(desk: "Desk") -> None:
    error = desk.fails("describe_schema", {"nodeType": "ncp"})
    assert error["error_code"] == "UNKNOWN_TYPE"
    assert error["context"]["problems"][0]["nearest"] == ["npc"]


@pytest.mark.covers("tools.schemas.validate")
def test_validating_names_what_does_not_fit_with_a_fix(desk: "Desk") -> None:
    orc = {"name": "Orc", "nodeType": "npc", "metadata": ["Role: Warrior", "Status: Angry"]}
    desk.ok("add_nodes", {"nodes": [orc, {"name": "Free", "nodeType": "unknown"}]})
    data = desk.ok("validate", {"nodeType": "npc"})
    assert {problem["node"] for problem in data["problems"]} == {"Orc"}
    assert all(problem["suggestion"] for problem in data["problems"])
    assert desk.ok("validate")["checked"] == 2


@pytest.mark.covers("tools.budget.validate")
def test_many_findings_come_in_pages_within_the_budget(open_desk: "DeskMaker") -> None:
    desk = open_desk("rpg", response_budget=4_000)
    orcs = [{"name": f"Orc {i:03}", "nodeType": "npc"} for i in range(150)]
    desk.ok("add_nodes", {"nodes": orcs})
    found: list[str] = []
    call: dict[str, Any] = {}
    for _ in range(200):
        reply = desk.call("validate", call)
        assert len(reply.text.encode()) <= 4_000
        data: Any = reply.structured["data"]
        found += [problem["node"] for problem in data["problems"]]
        if "nextCursor" not in data:
            break
        call = {"cursor": data["nextCursor"]}
    assert sorted(set(found)) == [orc["name"] for orc in orcs]


@pytest.mark.covers("tools.admin.define")
def test_a_defined_schema_has_its_tools_at_once_and_clients_are_told(managed: "Desk") -> None:
    told: list[int] = []
    stop = managed.toolbox.subscribe(lambda: told.append(len(managed.names())))
    before = managed.names()
    rune = {**SPELL, "name": "add_rune"}
    data = managed.ok("define_schema", {"schema": rune})
    assert data == {"nodeType": "rune", "tools": ["add_rune", "update_rune", "delete_rune"]}
    assert set(managed.names()) - set(before) == set(data["tools"])
    managed.ok("add_rune", {"rune": {"name": "Fehu", "level": 3}})
    managed.ok("remove_schema", {"nodeType": "rune"})
    assert managed.names() == before
    assert told == [len(before) + 3, len(before)]
    stop()
    managed.ok("define_schema", {"schema": rune})
    assert len(told) == 2
    assert managed.ok("open_nodes", {"names": ["Fehu"]})["notFound"] == []


@pytest.mark.covers("tools.admin.define")
def test_a_redefinition_shows_in_the_list_and_in_the_checks(managed: "Desk") -> None:
    changed = {"type": "string", "description": "x"}
    properties = {**SPELL["properties"], "level": changed}
    reply = managed.call("define_schema", {"schema": {**SPELL, "properties": properties}})
    assert reply.structured["actionTaken"] == "Redefined spell"
    spell = managed.listed("add_spell")["inputSchema"]["properties"]["spell"]
    assert spell["properties"]["level"]["type"] == "string"


@pytest.mark.covers("tools.admin.strict")
@pytest.mark.parametrize(
    "change",
    [
        {"name": "spell"},
        {"name": "add_nodes"},
        {"description": ""},
        {"propertees": {}},
        {"description": "see <b>this</b>"},
        {"properties": 5},
    ],
)
def test_a_schema_with_a_fault_or_a_warning_is_refused(
    managed: "Desk", change: dict[str, Any]
) -> None:
    before = managed.toolbox.list_tools()
    error = managed.fails("define_schema", {"schema": {**SPELL, "name": "add_rune", **change}})
    assert error["context"]["problems"]
    assert managed.toolbox.list_tools() == before


@pytest.mark.covers("tools.admin.toolset")
def test_schemas_are_managed_only_where_it_is_asked_for(desk: "Desk", managed: "Desk") -> None:
    assert "define_schema" not in desk.names()
    assert {"define_schema", "remove_schema"} <= set(managed.names())


@pytest.mark.covers("tools.list.fresh")
def test_a_file_that_changes_is_listed_at_the_next_look(
    open_desk: "DeskMaker", tmp_path: Path
) -> None:
    file = tmp_path / "spell.schema.json"
    desk = open_desk(folders=(tmp_path,))
    assert "add_spell" not in desk.names()
    file.write_text(json.dumps(SPELL))
    started = time.perf_counter()
    desk.graph.catalog.reload()
    assert "add_spell" in desk.names()
    assert time.perf_counter() - started < 5
