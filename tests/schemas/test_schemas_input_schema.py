import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from schemory.model.jsonvalue import Json
from schemory.model.schema import NodeSchema
from schemory.schemas.input_schema import entity_schema
from schemory.schemas.load import load_folder, load_pack, pack_names
from schemory.schemas.parse import parse_schema
from schemory.tools.parts import VERBS

Document = Callable[..., dict[str, Json]]

ALLOWED = {
    "type", "properties", "required", "items", "enum", "description", "title",
    "additionalProperties", "default", "minimum", "maximum", "minLength", "maxLength",
    "minItems", "maxItems",
}  # fmt: skip


def host_complaints(schema: Json, depth: int = 2) -> Iterator[str]:
    """What a strict host would refuse in the entity's schema, which stands inside the tool's."""
    assert isinstance(schema, Mapping)
    yield from (f"keyword {key}" for key in schema if key not in ALLOWED)
    if depth > 5:
        yield "too deep"
    kind = schema.get("type")
    if kind not in {"object", "string", "array", "number", "integer", "boolean"}:
        yield f"type {kind}"
    if "enum" in schema and kind != "string":
        yield "enum on no string"
    description = schema.get("description", "")
    assert isinstance(description, str)
    if len(description.encode()) > 1024 or re.search(r"<\w|\]\(", description):
        yield "description"
    if kind == "object":
        properties = schema["properties"]
        assert isinstance(properties, Mapping)
        assert isinstance(schema["required"], list)
        for key, member in properties.items():
            if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", key):
                yield f"key {key}"
            yield from host_complaints(member, depth + 1)
    if kind == "array":
        yield from host_complaints(schema["items"], depth + 1)


@pytest.mark.covers("schemas.input.add")
def test_the_add_tool_of_the_specified_example_has_the_specified_schema() -> None:
    npc = next(s for s in load_pack("rpg").schemas if s.node_type == "npc")
    entity = json.loads(json.dumps(entity_schema(npc, "add")))
    for member in entity["properties"].values():
        assert member.pop("description")
    assert entity == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "role": {
                "type": "string",
                "enum": ["Warrior", "Wizard", "Merchant", "Noble", "Peasant", "Thief"],
            },
            "status": {
                "type": "string",
                "enum": ["Active", "Inactive", "Deceased", "Missing"],
            },
            "currentLocation": {"type": "string"},
            "description": {"type": "string"},
            "traits": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "role", "status"],
        "additionalProperties": True,
    }
    assert list(entity["properties"]) == [
        "name", "role", "status", "currentLocation", "description", "traits",
    ]  # fmt: skip


@pytest.mark.covers("schemas.input.update-delete")
def test_update_asks_for_the_name_only_and_delete_knows_nothing_else(npc: NodeSchema) -> None:
    add, update = entity_schema(npc, "add"), entity_schema(npc, "update")
    assert add["required"] == ["name", "role", "status"]
    assert update["required"] == ["name"]
    assert update["properties"] == add["properties"]
    delete = entity_schema(npc, "delete")
    assert isinstance(delete["properties"], dict)
    assert list(delete["properties"]) == ["name"]
    assert delete["required"] == ["name"]


@pytest.mark.covers("schemas.input.additional")
def test_the_entity_keeps_the_schemas_own_word_on_further_properties(
    make_schema: Callable[..., NodeSchema],
) -> None:
    for allowed in (True, False):
        schema = make_schema(additional=allowed)
        assert entity_schema(schema, "add")["additionalProperties"] is allowed


@pytest.mark.covers("schemas.input.facets")
def test_facets_are_advertised_in_the_words_that_hosts_know(document: Document) -> None:
    def prop(kind: str, **facets: Json) -> dict[str, Json]:
        return {"type": kind, "description": "d", **facets}

    schema = parse_schema(
        document(
            "npc",
            code=prop("string", minLength=2, maxLength=5, unique=True),
            age=prop("integer", minimum=0, maximum=900.0, default=30, required=True),
            born=prop("date", label="Birth Day"),
            seen=prop("datetime"),
            alive=prop("boolean"),
            moods=prop("array", items={"enum": ["good", "bad"]}, minItems=1, maxItems=3),
            rolls=prop("array", items={"type": "integer", "minimum": 1}),
        )
    ).schema
    assert schema is not None
    entity = entity_schema(schema, "add")
    assert entity["required"] == ["name"]  # a default answers for what is left out
    properties = entity["properties"]
    assert isinstance(properties, dict)
    assert properties["code"] == {
        "type": "string", "minLength": 2, "maxLength": 5, "description": "d",
    }  # fmt: skip
    assert properties["age"] == {
        "type": "integer", "minimum": 0, "maximum": 900, "description": "d", "default": 30,
    }  # fmt: skip
    assert properties["born"] == {
        "type": "string",
        "title": "Birth Day",
        "description": "d (as a date like 2026-03-08)",
    }
    assert "2026-03-08T09:05:07Z" in str(properties["seen"])
    assert properties["alive"] == {"type": "boolean", "description": "d"}
    assert properties["moods"] == {
        "type": "array",
        "items": {"type": "string", "enum": ["good", "bad"]},
        "minItems": 1,
        "maxItems": 3,
        "description": "d",
    }
    assert properties["rolls"] == {
        "type": "array",
        "items": {"type": "integer", "minimum": 1},
        "description": "d",
    }
    update = entity_schema(schema, "update")["properties"]
    assert isinstance(update, dict)
    assert "default" not in update["age"]


def test_a_date_without_a_description_still_tells_its_form(document: Document) -> None:
    schema = parse_schema(document("npc", born={"type": "date"}, note={"type": "string"})).schema
    assert schema is not None
    properties = entity_schema(schema, "add")["properties"]
    assert isinstance(properties, dict)
    assert properties["born"] == {"type": "string", "description": "as a date like 2026-03-08"}
    assert properties["note"] == {"type": "string"}


@pytest.mark.covers("schemas.input.texts")
def test_advertised_texts_lose_markup_and_are_cut_at_a_word(document: Document) -> None:
    long = "word " * 300
    schema = parse_schema(
        document(
            "npc",
            tag={"type": "string", "description": "the <b>role</b> of [it](x)"},
            long={"type": "string", "description": long},
            day={"type": "date", "description": "あ" * 600},
        )
    ).schema
    assert schema is not None
    assert schema.properties["long"].description == long
    properties = entity_schema(schema, "add")["properties"]
    assert isinstance(properties, dict)
    assert properties["tag"]["description"] == "the brole/b of [it] (x)"
    shown = properties["long"]["description"]
    assert shown.endswith("word…")
    assert 1000 < len(shown.encode()) <= 1024
    dated = properties["day"]["description"]
    assert dated.endswith("(as a date like 2026-03-08)")
    assert len(dated.encode()) <= 1024
    assert list(host_complaints(entity_schema(schema, "add"))) == []


@pytest.mark.covers("schemas.input.strict-hosts")
def test_every_generated_tool_of_packs_and_real_folders_passes_strict_hosts(folders: Path) -> None:
    reports = [load_folder(folders / name) for name in ("memorymesh", "japanese", "old-crlf")]
    reports += [load_pack(name) for name in pack_names()]
    schemas = [schema for report in reports for schema in report.schemas]
    assert len(schemas) == 54
    for schema in schemas:
        for verb in VERBS:
            assert list(host_complaints(entity_schema(schema, verb))) == []
            assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,47}", f"{verb}_{schema.node_type}")
