"""A store for programs: `open_store`, which reads no environment and no config file."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from schemory.app import MEMORY, make_ids, make_memory, open_database, open_graph_file, system_clock
from schemory.config import DEFAULT_SPACE
from schemory.graph.service import KnowledgeGraph
from schemory.memory.service import ProjectMemory
from schemory.memory.settings import MemorySettings
from schemory.model.moment import Clock, IdMaker
from schemory.model.project import ProjectIdentity, ResolvedBy
from schemory.model.schema import NodeSchema
from schemory.schemas.catalog import FixedSource, FolderSource, PackSource, SchemaCatalog, Source
from schemory.schemas.load import PACK_ORIGIN, load_schema
from schemory.storage.protocols import GraphStore

_GRAPH_FILE_ENDINGS = (".json", ".jsonl")


class OpenStore:
    """A store opened from a program: graph and memory, closed at the end of the `with` block.

    Attributes:
        graph: The knowledge graph of the chosen space.
        catalog: The schemas in force.
    """

    def __init__(
        self, store: GraphStore, catalog: SchemaCatalog, space: str, *, now: Clock, ids: IdMaker
    ) -> None:
        self._stack = ExitStack()
        self._stack.callback(store.close)
        self._now = now
        self._ids = ids
        self.catalog = catalog
        self._store = store
        self._space = space

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """The knowledge graph of the chosen space."""
        return KnowledgeGraph(self._store, space=self._space, catalog=self.catalog)

    @cached_property
    def memory(self) -> ProjectMemory:
        """The memory of every project; calls that name none mean the project of the space.

        Raises:
            UnsupportedError: The store is a graph file, which holds no memory.
        """
        space = self._space
        own = ProjectIdentity(id=space, resolved_by=ResolvedBy.SERVER, display_name=space)
        settings = MemorySettings(server_project=None if space == DEFAULT_SPACE else own)
        return make_memory(self._store, settings, now=self._now, ids=self._ids)

    def close(self) -> None:
        """Release the store's files and locks; further calls do nothing."""
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


def open_store(
    path_or_url: str | Path,
    schemas: str | Path | NodeSchema | Sequence[str | Path | NodeSchema] = (),
    space: str = DEFAULT_SPACE,
    *,
    clock: Clock = system_clock,
    ids: IdMaker | None = None,
) -> OpenStore:
    """Open a store from a program; it reads no environment and no config file.

    Args:
        path_or_url: A SQLite file (made when missing), `:memory:`, or a graph file whose name ends
            in `.json` or `.jsonl`.
        schemas: Folders, schema files, packs as `pack:rpg`, or schemas built in code.
        space: The graph's space, a project's id.
        clock: Gives every write its time.
        ids: Makes new text ids.

    Raises:
        StoreError: The store cannot be used. UnsupportedError: Not by this version.
        SchemaFaultError: A schema file that is named by itself is at fault.
    """
    given = [schemas] if isinstance(schemas, str | Path | NodeSchema) else schemas
    catalog = SchemaCatalog([_source(each) for each in given])
    text = str(path_or_url)
    is_place = text == MEMORY or "://" in text
    is_file = text.lower().endswith(_GRAPH_FILE_ENDINGS)
    place = text if is_place else str(Path(text).expanduser().absolute())
    ids = ids or make_ids(clock)
    store = (
        open_graph_file(place, space=space, now=clock, ids=ids)
        if is_file and not is_place
        else open_database(place, now=clock, ids=ids)
    )
    return OpenStore(store, catalog, space, now=clock, ids=ids)


def _source(given: str | Path | NodeSchema) -> Source:
    if isinstance(given, NodeSchema):
        return FixedSource((given,))
    if isinstance(given, str) and given.startswith(PACK_ORIGIN):
        return PackSource(given.removeprefix(PACK_ORIGIN))
    path = Path(given).expanduser()
    return FixedSource((load_schema(path),)) if path.is_file() else FolderSource(path)
