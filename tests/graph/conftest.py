"""A graph on each real backend, under small schemas of its own."""

import pytest

from schemory.graph.service import KnowledgeGraph
from schemory.model.jsonvalue import Json
from schemory.model.schema import NodeSchema
from schemory.schemas.catalog import FixedSource, SchemaCatalog
from schemory.schemas.parse import parse_schema
from schemory.storage.protocols import GraphStore


def text(required: bool = False, **facets: Json) -> dict[str, Json]:  # noqa: FBT001, FBT002 (a test's shorthand)
    return {"type": "string", "description": "a text", "required": required, **facets}


def relation(edge_type: str, kind: str = "string", **facets: Json) -> dict[str, Json]:
    node_type = facets.pop("nodeType", "place")
    return {
        "type": kind,
        "description": "a relation",
        "relationship": {"edgeType": edge_type, "nodeType": node_type, **facets},
    }


def schema(node_type: str, **properties: Json) -> NodeSchema:
    parsed = parse_schema(
        {
            "name": f"add_{node_type}",
            "description": f"A {node_type}",
            "properties": {"name": text(required=True), **properties},
        }
    )
    assert parsed.schema is not None, parsed.faults
    return parsed.schema


HERO = schema(
    "hero",
    role=text(required=True, enum=["Wizard", "Thief"]),
    home=relation("lives_in"),
    currentLocation=relation("located_in"),
    birthplace=relation("located_in"),
    friends=relation("friend_of", "array", nodeType="hero"),
    level={"type": "integer", "description": "a number"},
    traits={"type": "array", "description": "texts"},
    badge=text(unique=True),
    mentor=relation("taught_by", nodeType="hero", direction="in", weight=0.5),
    guild=relation("member_of", nodeType="guild", onMissing="create"),
    realm=relation("rules", nodeType="place", enforce=True),
)
PLACE = schema("place", region=text())
GUILD = schema("guild", motto=text(required=True))


@pytest.fixture
def catalog() -> SchemaCatalog:
    """The types `hero`, `place` and `guild`."""
    return SchemaCatalog([FixedSource((HERO, PLACE, GUILD))])


@pytest.fixture
def graph(store: GraphStore, catalog: SchemaCatalog) -> KnowledgeGraph:
    """An empty graph in the space `default`."""
    return KnowledgeGraph(store, space="default", catalog=catalog)


@pytest.fixture
def strict(store: GraphStore, catalog: SchemaCatalog) -> KnowledgeGraph:
    """The same, where every type needs a schema."""
    return KnowledgeGraph(store, space="default", catalog=catalog, strict_types=True)
