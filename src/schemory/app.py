"""The one place where parts are chosen and joined: store, schemas, graph, tools, clock and ids."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from types import TracebackType

from schemory.config import Settings, mask_url
from schemory.errors import UnsupportedError
from schemory.hints import TYPE_CHECKING
from schemory.model.jsonvalue import Json
from schemory.model.moment import Clock, IdMaker

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Self

    from schemory.graph.service import KnowledgeGraph
    from schemory.memory.service import ProjectMemory
    from schemory.memory.settings import MemorySettings
    from schemory.memory.vector_backend import VectorBackend
    from schemory.schemas.catalog import SchemaCatalog, Source
    from schemory.setup.doctor import Patient
    from schemory.storage.keeping import Finding, Keeper, Progress
    from schemory.storage.memory_protocols import IndexTerms, MemoryStore
    from schemory.storage.protocols import GraphStore
    from schemory.storage.sqlite.keeper import SqliteKeeper
    from schemory.storage.sqlite.open_file import OpenFile
    from schemory.storage.sqlite.store import SqliteStore
    from schemory.tools.registry import Call, Tool
    from schemory.tools.resources import Resources
    from schemory.tools.toolbox import Toolbox

    MakeVectors = Callable[[MemoryStore], VectorBackend | None]

MEMORY = ":memory:"
"""A database that lives as long as the process."""

_URL_SCHEMES = ("postgresql://", "postgres://")


def system_clock() -> datetime:
    """Return the current time, UTC."""
    from datetime import UTC, datetime  # noqa: PLC0415 (a start-up asks for no time)

    return datetime.now(UTC)


def make_ids(now: Clock) -> IdMaker:
    """Return a maker of UUIDv7 texts that sort in the order of their making, also within a ms.

    Layout: RFC 9562 §5.7 with the 12 bits after the version as a counter.
    """
    lock = threading.Lock()
    last = 0

    def make() -> str:
        nonlocal last
        with lock:
            stamp = int(now().timestamp() * 1000) << 12
            # Beyond 4096 ids in one ms the counter runs over into the time, which stays in order.
            last = max(stamp, last + 1)
            current = last
        chance = int.from_bytes(os.urandom(8)) >> 2
        milliseconds, counter = current >> 12, current & 0xFFF
        number = milliseconds << 80 | 7 << 76 | counter << 64 | 0b10 << 62 | chance
        text = f"{number:032x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    return make


class App:
    """The joined parts of one run; closes the store at the end of its `with` block.

    Attributes:
        makes_vectors: Set by what runs for long: a thread makes vectors as soon as the memory is
            used, where the settings ask for any.
        for_remote: Set by what serves agents on other machines, before its first call.
    """

    def __init__(
        self,
        settings: Settings,
        opened: GraphStore | OpenFile,
        catalog: SchemaCatalog,
        *,
        now: Clock,
        ids: IdMaker,
        on_internal_error: Callable[[str, Exception], None] | None = None,
    ) -> None:
        self._ids = ids
        self._stack = ExitStack()
        self._stack.callback(opened.close)
        self._opening = threading.RLock()  # several threads may ask for a part first
        self._opened = opened
        self._store: GraphStore | None = None
        self._graph: KnowledgeGraph | None = None
        self._memory: ProjectMemory | None = None
        self.settings = settings
        self.catalog = catalog
        self.now = now
        self.makes_vectors = False
        self.for_remote = False
        self._on_internal_error = on_internal_error

    @property
    def store(self) -> GraphStore:
        """The store; its file is open, what works with it is imported for the first who asks."""
        with self._opening:
            if self._store is None:
                self._store = _store_of(self._opened, now=self.now, ids=self._ids)
                self._stack.callback(self._store.close)
            return self._store

    @property
    def graph(self) -> KnowledgeGraph:
        """The knowledge graph of the settings' space."""
        from schemory.graph.service import KnowledgeGraph  # noqa: PLC0415 (memory alone needs none)

        with self._opening:
            if self._graph is None:
                self._graph = KnowledgeGraph(
                    self.store,
                    space=self.settings.space,
                    catalog=self.catalog,
                    strict_types=self.settings.strict_types,
                )
            return self._graph

    @cached_property
    def toolbox(self) -> Toolbox:
        """The tools that the settings ask for."""
        return self.toolbox_for(self.settings.tools)

    def toolbox_for(self, profile: str) -> Toolbox:
        """Return the tools in another profile: `full`, `compact` or `auto`."""
        from schemory.tools.profiles import Profile  # noqa: PLC0415 (most commands need no tools)
        from schemory.tools.toolbox import ToolSettings, build_toolbox  # noqa: PLC0415 (as above)

        settings = self.settings
        toolbox = build_toolbox(
            lambda: self.graph,
            self.catalog,
            ToolSettings(
                toolsets=settings.toolsets,
                profile=Profile(profile),
                response_budget=settings.response_budget,
                allow_cross_project=settings.allow_cross_project,
                manage_schemas=settings.manage_schemas,
                for_remote=self.for_remote,
            ),
            now=self.now,
            extra_tools=self._memory_tools() if "memory" in settings.toolsets else (),
        )
        toolbox.on_internal_error = self._on_internal_error
        return toolbox

    @property
    def memory(self) -> ProjectMemory:
        """The memory of every project; beside a graph file it lives in the database.

        Raises:
            StoreError: The database cannot be used. UnsupportedError: Not by this version.
        """
        with self._opening:
            if self._memory is None:
                self._memory = self._open_memory()
            return self._memory

    def _open_memory(self) -> ProjectMemory:
        from schemory.config.memory import memory_settings  # noqa: PLC0415 (graph alone needs none)

        store = self.store
        if self.settings.graph_file is not None:
            store = open_database(self.settings.database, now=self.now, ids=self._ids)
            self._stack.callback(store.close)
        memory = make_memory(
            store,
            memory_settings(self.settings),
            now=self.now,
            ids=self._ids,
            vectors=_vectors_of(self.settings, in_background=self.makes_vectors),
        )
        if memory.vectors is not None:
            self._stack.callback(memory.vectors.close)
        return memory

    @cached_property
    def resources(self) -> Resources:
        """What the server offers beside its tools; asked for by the one that serves."""
        from schemory.tools.resources import Resources  # noqa: PLC0415 (only servers have them)

        has_memory = "memory" in self.settings.toolsets
        tools = self._memory_tools(budget=0) if has_memory else ()
        return Resources(
            toolbox=self.toolbox,
            memory_tools={tool.name: tool for tool in tools},
            open_memory=lambda: self.memory,
            node_types=self.catalog.types,
            signing_key=self.store.cursor_key,
        )

    def _memory_tools(self, budget: int | None = None) -> tuple[Tool, ...]:
        from schemory.tools.memory import memory_tools  # noqa: PLC0415 (graph alone needs none)
        from schemory.tools.memory_spec import MemoryDesk  # noqa: PLC0415 (as above)

        settings = self.settings
        return memory_tools(
            MemoryDesk(
                open_memory=lambda: self.memory,
                budget=settings.response_budget if budget is None else budget,
                graph_facts=self._graph_facts if "graph" in settings.toolsets else None,
            )
        )

    def _graph_facts(self, call: Call) -> Mapping[str, Json]:
        """Return what the memory's status tells of the graph half; nothing of others' projects."""
        allowed = call.caller.projects
        if allowed is not None and self.graph.space not in allowed:
            return {}
        with self.graph.reading() as reader:
            counts = reader.count()
        return {
            "space": self.graph.space,
            "shared": self.settings.space_source == "default",
            "nodes": counts.nodes,
            "edges": counts.edges,
            "node_types": dict(counts.node_types),
        }

    def warnings(self) -> Iterator[str]:
        """Yield what a person should know: odd settings, faulty schema files, the store's words."""
        yield from self.settings.warnings
        for fault in self.catalog.faults():
            yield f"schema left out: {fault}"
        for fault in self.catalog.warnings():
            yield f"schema: {fault}"
        yield from _warnings_of(self._opened)

    def close(self) -> None:
        """Release the store's files and locks."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_app(
    settings: Settings,
    *,
    now: Clock = system_clock,
    ids: IdMaker | None = None,
    on_internal_error: Callable[[str, Exception], None] | None = None,
) -> App:
    """Open the store and the schemas that `settings` name.

    Raises:
        StoreError: The store cannot be used. UnsupportedError: Not by this version.
        InvalidParamError: No pack of that name.
    """
    # Schemas first: a misspelt pack must not leave a new, empty store behind.
    catalog = open_catalog(settings)
    ids = ids or make_ids(now)
    opened: GraphStore | OpenFile
    if settings.graph_file is not None:
        opened = open_graph_file(settings.graph_file, space=settings.space, now=now, ids=ids)
    else:
        opened = _open_file(settings.database, now=now)
    return App(settings, opened, catalog, now=now, ids=ids, on_internal_error=on_internal_error)


@contextmanager
def open_memory(settings: Settings, *, now: Clock = system_clock) -> Generator[ProjectMemory]:
    """Open the memory alone, for commands that need neither graph nor schemas.

    Raises:
        StoreError: The database cannot be used. UnsupportedError: Not by this version.
    """
    from schemory.config.memory import memory_settings  # noqa: PLC0415 (help needs none)

    ids = make_ids(now)
    with closing(open_database(settings.database, now=now, ids=ids)) as store:
        vectors = _vectors_of(settings, in_background=False)
        yield make_memory(store, memory_settings(settings), now=now, ids=ids, vectors=vectors)


def open_catalog(settings: Settings) -> SchemaCatalog:
    """Return the schemas that `settings` name; no store is opened.

    Raises:
        InvalidParamError: No pack of that name.
    """
    from schemory.schemas.catalog import (  # noqa: PLC0415 (memory alone needs none)
        FolderSource,
        PackSource,
        SchemaCatalog,
    )

    folders: list[Source] = [
        FolderSource(folder, is_optional=not settings.schemas_named)
        for folder in settings.schema_folders
    ]
    return SchemaCatalog([*folders, *(PackSource(name) for name in settings.packs)])


def open_graph_file(location: str, *, space: str, now: Clock, ids: IdMaker) -> GraphStore:
    """Open a graph file, which is the one space `space`.

    Raises:
        StoreError: It cannot be used.
    """
    from pathlib import Path  # noqa: PLC0415 (only for graph files)

    from schemory.storage.jsonl import JsonlStore  # noqa: PLC0415 (only for graph files)
    from schemory.storage.sqlite.store import SqliteStore  # noqa: PLC0415 (help needs none)

    inner = SqliteStore.open(MEMORY, now=now, ids=ids)
    return JsonlStore.open(Path(location), inner=inner, now=now, space=space)


def open_database(location: str, *, now: Clock, ids: IdMaker) -> SqliteStore:
    """Open a database, both halves of it.

    Raises:
        StoreError: It cannot be used. UnsupportedError: Not by this version.
    """
    return _store_around(_open_file(location, now=now), now=now, ids=ids)


def _open_file(location: str, *, now: Clock) -> OpenFile:
    from schemory.storage.sqlite.open_file import open_file  # noqa: PLC0415 (help needs no database)

    _refuse_url(location)
    return open_file(location, now=now)


def _store_around(file: OpenFile, *, now: Clock, ids: IdMaker) -> SqliteStore:
    from schemory.storage.sqlite.store import SqliteStore  # noqa: PLC0415 (listing tools needs none)

    return SqliteStore(file, now=now, ids=ids, terms=_index_terms())


def _store_of(opened: GraphStore | OpenFile, *, now: Clock, ids: IdMaker) -> GraphStore:
    from schemory.storage.sqlite.open_file import OpenFile  # noqa: PLC0415 (help needs no database)

    return _store_around(opened, now=now, ids=ids) if isinstance(opened, OpenFile) else opened


def _refuse_url(location: str) -> None:
    if location.startswith(_URL_SCHEMES):
        raise UnsupportedError(
            "This version stores in SQLite and JSONL files; PostgreSQL comes with a later one.",
            suggestions=["Give --db the path of a SQLite file."],
        )


def _warnings_of(opened: GraphStore | OpenFile) -> Iterator[str]:
    from schemory.storage.sqlite.open_file import OpenFile  # noqa: PLC0415 (help needs no database)

    told = opened.warnings() if isinstance(opened, OpenFile) else opened.status().get("warnings")
    if isinstance(told, Sequence) and not isinstance(told, str):
        yield from map(str, told)


def _index_terms() -> IndexTerms:
    """Return how entries are indexed."""
    from schemory.retrieval.tokens import (  # noqa: PLC0415 (help needs no database)
        TOKENS_VERSION,
        index_terms,
    )
    from schemory.storage.memory_protocols import IndexTerms  # noqa: PLC0415 (as above)

    return IndexTerms(version=TOKENS_VERSION, terms=index_terms)


def open_keeper(settings: Settings, *, now: Clock = system_clock) -> Keeper:
    """Return what looks after the store that `settings` name; the store itself is not opened.

    Raises:
        UnsupportedError: Not by this version, or a store in memory.
    """
    if settings.graph_file is None:
        return _database_keeper(settings, now=now)
    from pathlib import Path  # noqa: PLC0415 (only for graph files)

    from schemory.storage.jsonl.keeper import JsonlKeeper  # noqa: PLC0415 (only for graph files)

    return JsonlKeeper(Path(settings.graph_file), now=now)


def _database_keeper(settings: Settings, *, now: Clock) -> SqliteKeeper:
    from pathlib import Path  # noqa: PLC0415 (help needs none)

    from schemory.storage.sqlite.keeper import SqliteKeeper  # noqa: PLC0415 (help needs none)

    location = settings.database
    _refuse_url(location)
    if location == MEMORY:
        raise UnsupportedError(
            "A store in memory has no file to look after.",
            suggestions=["Name a file with --db or MEMORY_DB_PATH."],
        )
    return SqliteKeeper(
        Path(location),
        now=now,
        terms=_index_terms(),
        owns_folder=settings.store_source == "default",
    )


def find_patients(settings: Settings, *, now: Clock = system_clock) -> tuple[Patient, ...]:
    """Return every store that `settings` name, for the doctor: a graph file's memory is apart."""
    from schemory.setup.doctor import Patient  # noqa: PLC0415 (only the doctor needs it)
    from schemory.setup.exposed import find_in_graph, find_in_memory  # noqa: PLC0415 (as above)
    from schemory.setup.server_store import server_patients  # noqa: PLC0415 (as above)

    ids = make_ids(now)
    graph_file = settings.graph_file

    def read_database(progress: Progress) -> Iterator[Finding]:
        with closing(open_database(settings.database, now=now, ids=ids)) as store:
            yield from find_in_graph(store, progress)
            yield from find_in_memory(store, progress)

    servers = server_patients(settings.database, shown=mask_url(settings.database))
    if graph_file is None:
        return servers or (Patient(keeper=_database_keeper(settings, now=now), read=read_database),)

    def read_file(progress: Progress) -> Iterator[Finding]:
        with closing(open_graph_file(graph_file, space=settings.space, now=now, ids=ids)) as store:
            yield from find_in_graph(store, progress)

    file = Patient(keeper=open_keeper(settings, now=now), read=read_file)
    if settings.database == MEMORY or "memory" not in settings.toolsets:
        return (file,)
    if servers:
        return (file, *servers)
    database = _database_keeper(settings, now=now)
    return (file, Patient(keeper=database, read=read_database))


def _vectors_of(settings: Settings, *, in_background: bool) -> MakeVectors | None:
    """Return what makes vectors over a store, where the settings ask for any."""
    if not settings.memory.get("MEMORY_ENABLE_VECTOR"):
        return None
    from schemory.config.vectors import make_vectors  # noqa: PLC0415 (most runs have no model)

    return lambda store: make_vectors(settings, store, in_background=in_background)


def make_memory(
    store: GraphStore,
    settings: MemorySettings,
    *,
    now: Clock,
    ids: IdMaker,
    vectors: MakeVectors | None = None,
) -> ProjectMemory:
    """Return the memory over an open store.

    Raises:
        UnsupportedError: It is a graph file, which holds none.
    """
    from schemory.memory.service import ProjectMemory  # noqa: PLC0415 (graph alone needs none)
    from schemory.storage.sqlite.store import SqliteStore  # noqa: PLC0415 (help needs no database)

    if not isinstance(store, SqliteStore):
        raise UnsupportedError(
            "A graph file holds no project memory.",
            suggestions=["Open a SQLite file for the memory: `open_store('memory.sqlite')`."],
        )
    made = vectors(store) if vectors else None
    return ProjectMemory(store, settings=settings, now=now, ids=ids, vectors=made)
