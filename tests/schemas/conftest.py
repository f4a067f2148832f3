"""Small schemas and folders that the tests of this room start from."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from schemory.model.jsonvalue import Json
from schemory.model.node import Node, NodeRecord, TypedValue
from schemory.model.schema import NodeSchema
from schemory.schemas.parse import parse_schema

FIXTURES = Path(__file__).parent.parent / "fixtures" / "schemas"


def _document(node_type: str, **properties: Json) -> dict[str, Json]:
    return {
        "name": f"add_{node_type}",
        "description": f"A {node_type}",
        "properties": {"name": {"type": "string", "description": "Its name"}, **properties},
    }


def _schema(node_type: str = "npc", *, additional: bool = True, **properties: Json) -> NodeSchema:
    data = {**_document(node_type, **properties), "additionalProperties": additional}
    parsed = parse_schema(data)
    assert parsed.schema is not None, parsed.faults
    return parsed.schema


def _record(
    node_type: str, name: str, *lines: str, typed: tuple[TypedValue, ...] = ()
) -> NodeRecord:
    return NodeRecord(
        id=1,
        node=Node(name, node_type, lines),
        typed=typed,
        extra={},
        created_at="2026-03-08T09:05:07.000Z",
        updated_at="2026-03-08T09:05:07.000Z",
        revision=1,
        author="tests",
    )


def _text(description: str, **facets: Json) -> dict[str, Json]:
    return {"type": "string", "description": description, **facets}


@pytest.fixture(scope="session")
def document() -> Callable[..., dict[str, Json]]:
    """Makes a schema document of a type from further properties."""
    return _document


@pytest.fixture(scope="session")
def make_schema() -> Callable[..., NodeSchema]:
    """Makes a parsed schema of a type from further properties."""
    return _schema


@pytest.fixture(scope="session")
def make_record() -> Callable[..., NodeRecord]:
    """Makes a stored node from its type, name and lines."""
    return _record


@pytest.fixture(scope="session")
def folders() -> Path:
    """The folder with real users' schema folders."""
    return FIXTURES


@pytest.fixture(scope="session")
def npc() -> NodeSchema:
    """A character with an enum, a relationship, an array and a relationship that is an array."""
    return _schema(
        "npc",
        role=_text("Job", required=True, enum=["Warrior", "Wizard"]),
        status=_text("State", required=True, enum=["Active", "Missing"]),
        currentLocation=_text(
            "Where", relationship={"edgeType": "located_in", "nodeType": "location"}
        ),
        description=_text("Looks"),
        traits={"type": "array", "description": "Qualities"},
        friends={
            "type": "array",
            "description": "Who they like",
            "relationship": {"edgeType": "likes", "nodeType": "npc"},
        },
    )


@pytest.fixture
def write_schema() -> Callable[[Path, str, Json], Path]:
    """Writes a document into a folder under a file name."""

    def write(folder: Path, file_name: str, data: Json) -> Path:
        path = folder / file_name
        path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
        return path

    return write
