"""A desk to call memory tools at: a real store, real folders, every answer checked."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from schemory.graph.service import KnowledgeGraph
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import MemorySettings
from schemory.model.jsonvalue import compact
from schemory.model.project import ProjectIdentity, ResolvedBy
from schemory.retrieval.tokens import TOKENS_VERSION, index_terms
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.memory_protocols import IndexTerms
from schemory.storage.sqlite.store import SqliteStore
from schemory.tools.memory import memory_tools
from schemory.tools.memory_bench import MemoryBench
from schemory.tools.registry import Caller, Reply
from schemory.tools.resources import Resources
from schemory.tools.toolbox import Toolbox, ToolSettings, build_toolbox

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)
TERMS = IndexTerms(version=TOKENS_VERSION, terms=index_terms)
TESTER = Caller(author="tester/1", client="test")


class MemoryDesk:
    """Calls tools as a client would and holds every answer against what all answers must be.

    Attributes:
        project: Arguments that name the project of calls that name none.
        folder: Where tests of files work.
    """

    def __init__(
        self,
        store: SqliteStore,
        toolbox: Toolbox,
        memory: ProjectMemory,
        resources: Resources,
        budget: int,
    ) -> None:
        self.store = store
        self.toolbox = toolbox
        self.memory = memory
        self.resources = resources
        self.caller = TESTER
        self.project: dict[str, Any] = {"project_id": "p"}
        self.failures: list[Exception] = []
        self.folder = Path()
        self._budget = budget
        self._schemas = {str(tool["name"]): tool for tool in toolbox.list_tools()}
        toolbox.on_internal_error = lambda _, fault: self.failures.append(fault)

    def call(self, tool: str, arguments: object = None) -> Reply:
        """Return the answer to exactly these arguments, after checking it."""
        reply = self.toolbox.call(tool, arguments, self.caller)
        if self.failures:
            raise self.failures[0]
        schema = self._schemas[tool]["outputSchema"]
        jsonschema.Draft202012Validator(schema).validate(reply.structured)
        assert reply.structured["ok"] is not reply.is_error
        assert reply.is_error == ("error_code" in reply.structured)
        for text in (reply.text, compact(reply.structured)):
            assert len(text.encode()) <= (8_000 if reply.is_error else self._budget)
        assert reply.text.strip()
        if not reply.is_error:
            assert isinstance(reply.structured["warnings"], list)
        return reply

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured content of a success; the project is filled in."""
        reply = self.call(f"memory_{tool}", self._with_project(arguments))
        assert not reply.is_error, reply.text
        return dict(reply.structured)

    def text(self, tool: str, **arguments: Any) -> str:
        """Return the text of a success; the project is filled in."""
        reply = self.call(f"memory_{tool}", self._with_project(arguments))
        assert not reply.is_error, reply.text
        return reply.text

    def fails(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return an error; the project is filled in."""
        reply = self.call(f"memory_{tool}", self._with_project(arguments))
        assert reply.is_error, reply.text
        return dict(reply.structured)

    def add(self, content: str = "A note.", **fields: Any) -> str:
        """Add an entry to backend / auth and return its id."""
        facts = {"scope": "backend", "topic": "auth", "source_type": "agent_note"}
        return str(self.ok("add_entry", content=content, **{**facts, **fields})["entry_id"])

    def found(self, query: str = "", **how: Any) -> list[str]:
        """Return the ids of hits, best first."""
        return [str(hit["id"]) for hit in self.ok("search", query=query, **how)["results"]]

    def seq(self, project_id: str) -> int:
        """Return the number of the project's newest transaction, to see whether one was made."""
        with self.store.read_memory(project_id) as reader:
            return reader.last_seq()

    def listed(self, tool: str) -> dict[str, Any]:
        """Return one tool as it is listed."""
        return self._schemas[f"memory_{tool}"]

    def _with_project(self, arguments: dict[str, Any]) -> dict[str, Any]:
        is_said = arguments.get("mode") == "cross_project" or {
            "project_id",
            "project_path",
        } & set(arguments)
        given = arguments if is_said else {**self.project, **arguments}
        return {key: value for key, value in given.items() if value is not ...}


DeskMaker: TypeAlias = Callable[..., MemoryDesk]


class Ticking:
    """A clock that goes on by a second at each look, so that nothing happens at the same time."""

    def __init__(self) -> None:
        self._seconds = itertools.count()

    def __call__(self) -> datetime:
        return NOON + timedelta(seconds=next(self._seconds))


@pytest.fixture(scope="session")
def open_desk() -> Iterator[DeskMaker]:
    """Make desks: `budget`, `path` of the store, `server` project, settings of the memory."""
    number = itertools.count()
    with ExitStack() as stack:

        def make(
            *,
            budget: int = 60_000,
            path: str | Path = ":memory:",
            terms: IndexTerms | None = TERMS,
            busy_timeout_seconds: float = 15.0,
            server: str | None = None,
            clock: Callable[[], datetime] | None = None,
            **settings: Any,
        ) -> MemoryDesk:
            counter, group = itertools.count(1), next(number)
            now = clock or Ticking()

            def ids() -> str:
                return f"{group:08}-0000-7000-8000-{next(counter):012}"

            store = SqliteStore.open(
                path, now=now, ids=ids, terms=terms, busy_timeout_seconds=busy_timeout_seconds
            )
            stack.callback(store.close)
            if server is not None:
                settings["server_project"] = ProjectIdentity(
                    id=server, resolved_by=ResolvedBy.ARGUMENT, display_name=server
                )
            memory = ProjectMemory(store, settings=MemorySettings(**settings), now=now, ids=ids)
            catalog = SchemaCatalog([])
            graph = KnowledgeGraph(store, space=server or "default", catalog=catalog)
            bench = MemoryBench(open_memory=lambda: memory, budget=budget)
            toolbox = build_toolbox(
                graph,
                catalog,
                ToolSettings(toolsets=("graph", "memory"), response_budget=budget),
                now,
                extra_tools=memory_tools(bench),
            )
            free = MemoryBench(open_memory=lambda: memory, budget=0)
            resources = Resources(
                toolbox=toolbox,
                memory_tools={tool.name: tool for tool in memory_tools(free)},
                open_memory=lambda: memory,
                node_types=catalog.types,
                signing_key=store.cursor_key,
            )
            return MemoryDesk(store, toolbox, memory, resources, budget)

        yield make


@pytest.fixture
def desk(open_desk: DeskMaker) -> MemoryDesk:
    """Both halves' tools over a store in memory, on a server without a project of its own."""
    return open_desk()
