from collections.abc import Callable

import pytest

from schemory.model.jsonvalue import Json
from schemory.schemas.load import load_pack, pack_names
from schemory.schemas.parse import parse_schema
from schemory.tools.definition import definition

Document = Callable[..., dict[str, Json]]


@pytest.mark.covers("schemas.definition")
def test_a_described_schema_reads_back_as_the_same_schema(document: Document) -> None:
    def prop(kind: str, **facets: Json) -> dict[str, Json]:
        return {"type": kind, "description": "d", **facets}

    relationship: Json = {
        "edgeType": "in",
        "nodeType": "place",
        "description": "d",
        "direction": "in",
        "onMissing": "create",
        "enforce": True,
        "weight": 0.25,
    }
    parsed = parse_schema(
        document(
            "npc",
            role=prop("string", required=True, enum=["a", "b"], label="Rolle", default="a"),
            code=prop("string", minLength=1, maxLength=3, unique=True),
            age=prop("integer", minimum=0, maximum=9.5),
            born=prop("date"),
            moods=prop("array", items={"enum": ["x", "y"], "maxLength": 2}, minItems=1, maxItems=2),
            rolls=prop("array", items={"type": "integer", "minimum": 1}),
            home=prop("string", relationship=relationship),
            friends=prop("array", relationship={"edgeType": "likes"}),
        )
    )
    assert parsed.schema is not None
    again = parse_schema(definition(parsed.schema))
    assert again.faults == ()
    assert again.schema == parsed.schema


@pytest.mark.parametrize("pack", pack_names())
def test_every_schema_of_a_pack_reads_back(pack: str) -> None:
    for schema in load_pack(pack).schemas:
        again = parse_schema(definition(schema), schema.origin)
        assert again.faults == again.warnings == ()
        assert again.schema == schema
