"""Opening from programs: stores by their names, schemas of every kind, clock and ids."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

import schemory
from schemory.api import open_store
from schemory.app import make_ids
from schemory.errors import InvalidParamError, SchemaFaultError, UnsupportedError
from schemory.graph.inputs import NodeInput
from schemory.model.schema import NodeSchema, Property

NOON = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
BOOK = {
    "name": "add_book",
    "description": "A book",
    "properties": {"name": {"type": "string", "description": "Title", "required": True}},
}


@pytest.mark.covers("api.open_store")
@pytest.mark.parametrize("name", ["memory.sqlite", "deep/er/memory.db", "memory.jsonl"])
def test_a_store_keeps_what_was_written(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    with schemory.open_store(place) as memory:
        memory.graph.add_nodes([NodeInput("A", "t", ("k: v",))])
    with open_store(str(place)) as memory:
        (node,) = memory.graph.read_graph().nodes
    assert (node.name, node.node.metadata) == ("A", ("k: v",))
    assert place.is_file()


@pytest.mark.covers("api.open_store")
def test_a_store_in_memory_is_gone_when_closed() -> None:
    with open_store(":memory:") as memory:
        memory.graph.add_nodes([NodeInput("A", "t")])
    with open_store(":memory:") as memory:
        assert memory.graph.read_graph().nodes == ()


@pytest.mark.covers("api.open_store")
def test_spaces_are_apart(tmp_path: Path) -> None:
    place = tmp_path / "memory.sqlite"
    with open_store(place, space="acme") as memory:
        memory.graph.add_nodes([NodeInput("A", "t")])
    with open_store(place) as memory:
        assert memory.graph.read_graph().nodes == ()
        assert len(memory.graph.for_space("acme").read_graph().nodes) == 1


@pytest.mark.covers("api.open_store")
def test_schemas_come_from_folders_files_packs_and_code(tmp_path: Path) -> None:
    file = tmp_path / "book.schema.json"
    file.write_text(json.dumps(BOOK), encoding="utf-8")
    built = NodeSchema(
        node_type="film",
        description="A film",
        properties={"name": Property(name="name", is_required=True)},
    )
    with open_store(":memory:", schemas=[tmp_path, "pack:rpg", built]) as memory:
        assert {"book", "npc", "film"} <= set(memory.catalog.types())
        written = memory.graph.add_entity("film", {"name": "Alien"})
        assert written.nodes[0].node.node_type == "film"
    with open_store(":memory:", schemas=file) as memory:
        assert memory.catalog.types() == ("book",)


@pytest.mark.covers("api.open_store")
def test_what_cannot_be_opened_is_refused_with_the_reason(tmp_path: Path) -> None:
    broken = tmp_path / "bad.schema.json"
    broken.write_text("{}", encoding="utf-8")
    with pytest.raises(SchemaFaultError, match=r"bad\.schema\.json"):
        open_store(":memory:", schemas=broken)
    with pytest.raises(InvalidParamError, match="pack"):
        open_store(":memory:", schemas="pack:rgp")
    with pytest.raises(UnsupportedError, match="SQLite"):
        open_store("postgresql://host/db")


@pytest.mark.covers("api.clock_and_ids")
def test_every_write_has_the_time_of_the_given_clock() -> None:
    with open_store(":memory:", clock=lambda: NOON) as memory:
        (node,) = memory.graph.add_nodes([NodeInput("A", "t")]).nodes
    assert node.created_at == "2026-03-08T12:00:00.000Z"


@pytest.mark.covers("api.clock_and_ids")
def test_ids_are_uuids_of_version_7_that_sort_by_their_making() -> None:
    make = make_ids(lambda: NOON)
    made = [make() for _ in range(10_000)]
    assert made == sorted(set(made))
    first = UUID(made[0])
    assert (first.version, first.variant) == (7, "specified in RFC 4122")
    assert first.int >> 80 == int(NOON.timestamp() * 1000)


def test_a_clock_that_goes_back_does_not_upset_the_order() -> None:
    moments = iter([NOON, datetime(2026, 3, 8, 11, 0, tzinfo=UTC)])
    make = make_ids(lambda: next(moments))
    assert make() < make()


@pytest.mark.covers("api.light_import")
def test_the_package_and_the_app_import_no_heavy_library() -> None:
    code = (
        "import sys, schemory, schemory.app;"
        "print(sorted({'asyncio', 'pydantic', 'mcp', 'rich', 'watchfiles'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_attribute_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        schemory.nonsense  # noqa: B018 (looked up, not used)
