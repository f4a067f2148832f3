import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from schemory.model.schema import NodeSchema
from schemory.schemas.load import load_pack, pack_files, pack_names, parse_file
from schemory.schemas.texts import MAX_TEXT_BYTES

SEED = {
    "npc": ("role status description traits", "currentLocation", "located_in"),
    "location": ("atmosphere region", "parentLocation", "contained_in"),
    "artifact": ("rarity properties", "owner", "owned_by"),
    "quest": ("status objectives rewards", "location", "takes_place_in"),
    "faction": ("alignment goals", "headquarters", "based_in"),
    "player_character": ("class level stats", "currentLocation", "located_in"),
    "inventory": ("contents capacity", "owner", "belongs_to"),
    "skills": ("type level effects", None, None),
    "currency": ("denomination value", None, None),
    "transportation": ("type speed", "owner", "owned_by"),
    "temporal": ("timestamp event", "location", "occurred_at"),
}
SOFTWARE = {
    "service", "component", "api", "decision", "incident",
    "runbook", "person", "team", "environment", "dependency",
}  # fmt: skip


def schemas_of(pack: str) -> Mapping[str, NodeSchema]:
    return {schema.node_type: schema for schema in load_pack(pack).schemas}


@pytest.mark.covers("schemas.packs.strict")
@pytest.mark.parametrize("pack", pack_names())
def test_a_pack_has_neither_faults_nor_warnings(pack: str) -> None:
    for file in pack_files(pack):
        parsed = parse_file(file)
        assert (parsed.faults, parsed.warnings, parsed.notes) == ((), (), ()), file.name
        assert parsed.schema is not None
        assert file.name == f"{parsed.schema.node_type}.schema.json"


@pytest.mark.covers("schemas.packs.rpg")
def test_the_rpg_pack_has_the_eleven_types_with_their_properties_and_relationships() -> None:
    schemas = schemas_of("rpg")
    assert set(schemas) == set(SEED)
    for node_type, (keys, relating, edge_type) in SEED.items():
        properties = schemas[node_type].properties
        assert {"name", *keys.split()} <= set(properties), node_type
        related = {p.name: p.relationship.edge_type for p in properties.values() if p.relationship}
        assert related == ({relating: edge_type} if relating else {}), node_type


@pytest.mark.covers("schemas.packs.rpg")
def test_an_npc_is_the_specified_example() -> None:
    npc = schemas_of("rpg")["npc"]
    assert list(npc.properties) == [
        "name", "role", "status", "currentLocation", "description", "traits",
    ]  # fmt: skip
    assert npc.properties["role"].enum == (
        "Warrior", "Wizard", "Merchant", "Noble", "Peasant", "Thief",
    )  # fmt: skip
    assert npc.properties["status"].enum == ("Active", "Inactive", "Deceased", "Missing")
    assert npc.properties["currentLocation"].relationship is not None
    assert npc.properties["currentLocation"].relationship.node_type == "location"
    assert npc.allows_additional


@pytest.mark.covers("schemas.packs.rpg")
def test_apart_from_role_and_status_of_an_npc_only_names_are_required() -> None:
    required = {
        (schema.node_type, prop.name)
        for schema in schemas_of("rpg").values()
        for prop in schema.properties.values()
        if prop.is_required and prop.name != "name"
    }
    assert required == {("npc", "role"), ("npc", "status")}


@pytest.mark.covers("schemas.packs.software")
def test_the_software_pack_has_its_ten_types_and_relates_only_to_types_it_has() -> None:
    schemas = schemas_of("software")
    assert set(schemas) == SOFTWARE
    targets = {
        prop.relationship.node_type
        for schema in schemas.values()
        for prop in schema.properties.values()
        if prop.relationship and prop.relationship.node_type
    }
    assert targets <= SOFTWARE


@pytest.mark.parametrize("pack", pack_names())
def test_no_text_of_a_pack_is_cut_or_mended(pack: str) -> None:
    def texts(value: object) -> list[str]:
        if isinstance(value, dict):
            return [text for member in value.values() for text in texts(member)]
        if isinstance(value, list):
            return [text for member in value for text in texts(member)]
        return [value] if isinstance(value, str) else []

    for file in pack_files(pack):
        for text in texts(json.loads(Path(file).read_text(encoding="utf-8"))):
            assert len(text.encode()) < MAX_TEXT_BYTES
            assert not set(text) & set("<>\n")
