"""A desk to call tools at: a real store in memory, real schemas, every answer checked."""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from schemory.graph.service import KnowledgeGraph
from schemory.schemas.catalog import FolderSource, PackSource, SchemaCatalog, Source
from schemory.storage.sqlite.store import SqliteStore
from schemory.tools.profiles import Profile
from schemory.tools.registry import Caller, Reply
from schemory.tools.toolbox import Toolbox, ToolSettings, build_toolbox

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)
FIXTURES = Path(__file__).parent.parent / "fixtures"
GOLDEN = Path(__file__).parent.parent / "golden"


class Desk:
    """Calls tools as a client would and holds every answer against the tool's output schema."""

    def __init__(self, toolbox: Toolbox, graph: KnowledgeGraph) -> None:
        self.toolbox = toolbox
        self.graph = graph
        self.failures: list[Exception] = []
        toolbox.on_internal_error = lambda _, fault: self.failures.append(fault)

    def call(self, tool: str, arguments: object = None) -> Reply:
        """Return the answer after checking what every answer must be."""
        reply = self.toolbox.call(tool, arguments, Caller(author="tester/1", client="test"))
        if self.failures:
            raise self.failures[0]
        assert json.loads(reply.text) == reply.structured
        jsonschema.Draft202012Validator(self.listed(tool)["outputSchema"]).validate(
            reply.structured
        )
        assert reply.is_error == ("error_code" in reply.structured)
        if reply.is_error:
            assert len(reply.text.encode()) <= 8_000
        return reply

    def ok(self, tool: str, arguments: object = None) -> dict[str, Any]:
        """Return the data of a success."""
        reply = self.call(tool, arguments)
        assert not reply.is_error, reply.text
        return dict(reply.structured["data"])  # type: ignore[arg-type]  # checked by the schema

    def fails(self, tool: str, arguments: object = None) -> dict[str, Any]:
        """Return an error."""
        reply = self.call(tool, arguments)
        assert reply.is_error, reply.text
        return dict(reply.structured)

    def listed(self, tool: str) -> dict[str, Any]:
        """Return one tool as it is listed."""
        return next(t for t in self.toolbox.list_tools() if t["name"] == tool)

    def names(self) -> list[str]:
        """Return the names of all listed tools."""
        return [str(tool["name"]) for tool in self.toolbox.list_tools()]

    def everything(self) -> tuple[Any, ...]:
        """Return all that is stored, to see whether a call changed anything."""
        page = self.graph.read_graph()
        return page.nodes, page.edges


DeskMaker: TypeAlias = Callable[..., Desk]


def _catalog(packs: tuple[str, ...], folders: tuple[str | Path, ...]) -> SchemaCatalog:
    if any(isinstance(folder, Path) for folder in folders):  # its files may change
        return _read_catalog.__wrapped__(packs, folders)
    return _read_catalog(packs, folders)


@cache
def _read_catalog(packs: tuple[str, ...], folders: tuple[str | Path, ...]) -> SchemaCatalog:
    sources: list[Source] = [FolderSource(FIXTURES / "schemas" / folder) for folder in folders]
    return SchemaCatalog([*sources, *(PackSource(name) for name in packs)])


@pytest.fixture(scope="session")
def open_desk() -> Iterator[DeskMaker]:
    """Make desks: `packs`, schema `folders` (of tests/fixtures/schemas or paths), settings."""
    with ExitStack() as stack:

        def make(
            *packs: str,
            folders: tuple[str | Path, ...] = (),
            strict_types: bool = False,
            beside: Desk | None = None,
            **settings: Any,
        ) -> Desk:
            counter = itertools.count(1)
            catalog = _catalog(packs, folders)
            if beside is None:
                store = SqliteStore.open(
                    ":memory:", now=lambda: NOON, ids=lambda: f"id-{next(counter)}"
                )
                stack.callback(store.close)
                graph = KnowledgeGraph(
                    store, space="tests", catalog=catalog, strict_types=strict_types
                )
            else:
                graph, catalog = beside.graph, beside.graph.catalog
            toolbox = build_toolbox(graph, catalog, ToolSettings(**settings), lambda: NOON)
            return Desk(toolbox, graph)

        yield make


@pytest.fixture
def desk(open_desk: DeskMaker) -> Desk:
    """The graph tools with the pack `rpg`."""
    return open_desk("rpg")


@pytest.fixture
def compact_desk(open_desk: DeskMaker) -> Desk:
    """The same with generic tools."""
    return open_desk("rpg", profile=Profile.COMPACT)


@pytest.fixture
def middle_earth(desk: Desk) -> Desk:
    """Two places, two characters and an edge that a person added."""
    desk.ok("add_location", {"location": {"name": "Rivendell"}})
    desk.ok("add_location", {"location": {"name": "Mordor"}})
    gandalf = {"name": "Gandalf", "role": "Wizard", "status": "Active"}
    desk.ok("add_npc", {"npc": {**gandalf, "currentLocation": "Rivendell"}})
    desk.ok("add_nodes", {"nodes": [{"name": "Shadowfax", "nodeType": "horse"}]})
    edge = {"from": "Gandalf", "to": "Shadowfax", "edgeType": "rides", "weight": 0.8}
    desk.ok("add_edges", {"edges": [edge]})
    return desk


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


HoldToGolden: TypeAlias = Callable[[str, Callable[[dict[str, Any]], dict[str, Any]]], None]


@pytest.fixture
def hold_to_golden(update_golden: bool) -> HoldToGolden:  # noqa: FBT001 (a fixture)
    """Hold what a replayed conversation gives against its file, or write the file anew."""

    def hold(name: str, replay: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        file = GOLDEN / f"{name}.json"
        talk = json.loads(file.read_text(encoding="utf-8"))
        now = replay(talk)
        if update_golden:
            file.write_text(json.dumps(now, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
            return
        for was, answered in zip(talk["steps"], now["steps"], strict=True):
            assert was == answered

    return hold
