"""`KnowledgeGraph`: the graph's verbs over one space, each in a transaction of its own (G§4.1)."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from schemory.errors import Problem, SchemoryError
from schemory.graph import (
    duplicates,
    entities,
    merge,
    moves,
    paths,
    query,
    rename,
    search,
    validation,
)
from schemory.graph import edges as edge_rules
from schemory.graph import metadata as metadata_rules
from schemory.graph import nodes as node_rules
from schemory.graph.events import EventBus
from schemory.graph.inputs import (
    EdgeInput,
    EdgeUpdate,
    Filter,
    MetadataItem,
    NodeInput,
    NodeUpdate,
    Sort,
)
from schemory.graph.results import (
    EVERYTHING,
    NOBODY,
    Author,
    DuplicatesPage,
    EdgesDeleted,
    EdgesWritten,
    EntityWritten,
    GraphPage,
    GraphStats,
    MetadataAdded,
    MetadataRemoved,
    Neighbourhood,
    NodeHistory,
    NodeRenamed,
    NodesDeleted,
    NodesMerged,
    NodesQueried,
    NodesWritten,
    PageOptions,
    PathFound,
    ValidationPage,
)
from schemory.graph.unit import Session, Units
from schemory.graph.work import RehearsedError, Work
from schemory.model.edge import EdgeKey
from schemory.model.events import AfterSchemaChange, AfterSearch, BeforeSchemaChange, BeforeSearch
from schemory.model.graph import Graph
from schemory.model.jsonvalue import Json
from schemory.model.schema import NodeSchema
from schemory.schemas.catalog import SchemaCatalog
from schemory.schemas.parse import parse_schema
from schemory.storage.protocols import GraphReader, GraphStore, Position


class KnowledgeGraph:
    """One space of a store under the rules of its schemas.

    Every writing verb checks all of its input first, raises one error with every problem, and
    else does everything in one transaction. Values handed in and out are frozen.
    """

    def __init__(
        self,
        store: GraphStore,
        *,
        space: str,
        catalog: SchemaCatalog,
        events: EventBus | None = None,
        strict_types: bool = False,
    ) -> None:
        self.store = store
        self.space = space
        self.catalog = catalog
        self.events = EventBus() if events is None else events
        self.strict_types = strict_types
        self._session = Session()
        self._units = Units(store, space, self.events, self._session)
        self._is_rehearsal = False

    def for_space(self, space: str) -> "KnowledgeGraph":
        """Return the graph of another space of the same store, with the same rules and events."""
        if space == self.space:
            return self
        other = KnowledgeGraph(
            self.store,
            space=space,
            catalog=self.catalog,
            events=self.events,
            strict_types=self.strict_types,
        )
        other._session = self._session
        other._units = Units(self.store, space, self.events, self._session)
        return other

    def rehearse(self, write: Callable[["KnowledgeGraph"], object]) -> tuple[Problem, ...]:
        """Return what speaks against `write`, a call of one writing verb; nothing is written.

        No listener is asked, and no lock is taken.
        """
        twin = KnowledgeGraph(
            self.store, space=self.space, catalog=self.catalog, strict_types=self.strict_types
        )
        twin._is_rehearsal = True
        try:
            write(twin)
        except RehearsedError:
            return ()
        except SchemoryError as error:
            return error.problems
        return ()

    # Transactions

    @contextmanager
    def transaction(self, by: Author = NOBODY, operation: str = "transaction") -> Generator[None]:
        """Make the verbs inside one transaction; nested, it is a savepoint.

        It belongs to the thread that opened it. `after` events wait for the outermost commit.
        """
        with self._units.open(by, operation):
            yield

    def is_in_transaction(self) -> bool:
        """Whether this thread has an open transaction on this space."""
        return self._units.current() is not None

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Call `undo` should the open transaction not commit; see `GraphTransaction.on_rollback`.

        Raises:
            ConflictError: No transaction is open in this thread.
        """
        self._units.require().tx.on_rollback(undo)

    @contextmanager
    def _work(self, by: Author, operation: str) -> Generator[Work]:
        units = self._units
        with units.pretend() if self._is_rehearsal else units.open(by, operation) as unit:
            yield Work(
                unit,
                self.catalog,
                self.events,
                strict_types=self.strict_types,
                is_rehearsal=self._is_rehearsal,
            )

    @contextmanager
    def reading(self) -> Generator[GraphReader]:
        """Open one snapshot for several reads; inside a transaction it sees the own writes."""
        with self._units.read() as reader:
            yield reader

    # Nodes

    def add_nodes(
        self,
        nodes: Sequence[NodeInput],
        *,
        continue_on_error: bool = False,
        allow_secret: bool = False,
        by: Author = NOBODY,
    ) -> NodesWritten:
        """Add all nodes or none; with `continue_on_error` all that can be added.

        Raises:
            NodeExistsError: A name is taken. InvalidParamError: An item breaks the rules.
            DuplicateInCallError: A name comes twice. UnknownTypeError: Types are strict.
            SecretDetectedError: A text holds a credential and `allow_secret` is not given.
        """
        with self._work(by, "add_nodes") as work:
            return node_rules.add_nodes(
                work, nodes, continue_on_error=continue_on_error, allow_secret=allow_secret
            )

    def update_nodes(
        self, updates: Sequence[NodeUpdate], *, allow_secret: bool = False, by: Author = NOBODY
    ) -> NodesWritten:
        """Replace metadata and types of existing nodes, all or none.

        Raises:
            NodeNotFoundError: A name does not exist. NothingToChangeError: An item changes nothing.
            ConflictError: A node has another revision than expected.
        """
        with self._work(by, "update_nodes") as work:
            return node_rules.update_nodes(work, updates, allow_secret=allow_secret)

    def delete_nodes(self, names: Sequence[str], *, by: Author = NOBODY) -> NodesDeleted:
        """Delete those of `names` that exist, and every edge that touches them.

        Raises:
            NodeNotFoundError: None of them exists.
        """
        with self._work(by, "delete_nodes") as work:
            return node_rules.delete_nodes(work, names)

    # Edges

    def add_edges(
        self,
        edges: Sequence[EdgeInput],
        *,
        continue_on_error: bool = False,
        allow_secret: bool = False,
        by: Author = NOBODY,
    ) -> EdgesWritten:
        """Add all edges or none; with `continue_on_error` all that can be added.

        Raises:
            NodeNotFoundError: An end does not exist. EdgeExistsError: A triple is taken.
            InvalidParamError: A type or weight breaks the rules.
        """
        with self._work(by, "add_edges") as work:
            return edge_rules.add_edges(
                work, edges, continue_on_error=continue_on_error, allow_secret=allow_secret
            )

    def update_edges(
        self, updates: Sequence[EdgeUpdate], *, allow_secret: bool = False, by: Author = NOBODY
    ) -> EdgesWritten:
        """Change weights and move edges, all or none.

        Raises:
            EdgeNotFoundError: A triple does not exist. EdgeExistsError: A move's goal is taken.
            NothingToChangeError: An item changes nothing. ConflictError: Another revision.
        """
        with self._work(by, "update_edges") as work:
            return moves.update_edges(work, updates, allow_secret=allow_secret)

    def delete_edges(self, keys: Sequence[EdgeKey], *, by: Author = NOBODY) -> EdgesDeleted:
        """Delete those of the triples that exist.

        Raises:
            EdgeNotFoundError: None of them exists.
        """
        with self._work(by, "delete_edges") as work:
            return edge_rules.delete_edges(work, keys)

    # Metadata lines

    def add_metadata(
        self, items: Sequence[MetadataItem], *, allow_secret: bool = False, by: Author = NOBODY
    ) -> tuple[MetadataAdded, ...]:
        """Append lines that are not there yet (by exact text), in order; one result per item."""
        with self._work(by, "add_metadata") as work:
            return metadata_rules.add_metadata(work, items, allow_secret=allow_secret)

    def delete_metadata(
        self, items: Sequence[MetadataItem], *, by: Author = NOBODY
    ) -> tuple[MetadataRemoved, ...]:
        """Remove lines by exact text; one result per item."""
        with self._work(by, "delete_metadata") as work:
            return metadata_rules.delete_metadata(work, items)

    # Schema-driven verbs

    def add_entity(
        self,
        node_type: str,
        properties: Mapping[str, Json],
        *,
        path: str | None = None,
        allow_secret: bool = False,
        by: Author = NOBODY,
    ) -> EntityWritten:
        """Add a node of a schema's type with the edges its relationship properties make.

        `path` is where `properties` stand in the caller's input, `$.<node_type>` by default.

        Raises:
            UnknownTypeError: No schema defines `node_type`.
            SchemoryError: With every problem of the properties; nothing is stored.
        """
        where = path or f"$.{node_type}"
        with self._work(by, f"add_{node_type}") as work:
            return entities.add_entity(
                work, node_type, properties, path=where, allow_secret=allow_secret
            )

    def update_entity(
        self,
        node_type: str,
        properties: Mapping[str, Json],
        *,
        path: str | None = None,
        expected_revision: int | None = None,
        allow_secret: bool = False,
        by: Author = NOBODY,
    ) -> EntityWritten:
        """Change the given properties of a node of that type, their lines and their edges.

        Raises:
            NodeNotFoundError, WrongTypeError: No such node of that type.
            NothingToChangeError: Only the name is given.
            ConflictError: The node has another revision than expected.
        """
        where = path or f"$.{node_type}"
        with self._work(by, f"update_{node_type}") as work:
            return entities.update_entity(
                work,
                node_type,
                properties,
                path=where,
                expected_revision=expected_revision,
                allow_secret=allow_secret,
            )

    def delete_entity(
        self, node_type: str, name: str, *, path: str | None = None, by: Author = NOBODY
    ) -> NodesDeleted:
        """Delete the node of that name and type, and every edge that touches it.

        Raises:
            NodeNotFoundError, WrongTypeError: No such node of that type.
        """
        where = path or f"$.{node_type}"
        with self._work(by, f"delete_{node_type}") as work:
            return entities.delete_entity(work, node_type, name, path=where)

    # Reading

    def read_graph(self, options: PageOptions = EVERYTHING) -> GraphPage:
        """Return nodes and edges in the order in which they were made."""
        with self.reading() as reader:
            return search.read_graph(reader, options)

    def search_nodes(self, query_text: str, options: PageOptions = EVERYTHING) -> GraphPage:
        """Return nodes whose name, type or a metadata line holds the text, with neighbours.

        If nothing holds the entire text: those that hold all its words. Source: graph.md §2.

        Raises:
            VetoedError: A `beforeSearch` listener refused.
        """
        self.events.emit(BeforeSearch(query=query_text))
        with self.reading() as reader:
            page = search.search_nodes(reader, query_text, options)
        if self.events.has_listeners(AfterSearch):
            found = Graph(
                tuple(record.node for record in page.nodes),
                tuple(record.edge for record in page.edges),
            )
            self.events.emit(AfterSearch(results=found))
        return page

    def open_nodes(self, names: Sequence[str], options: PageOptions = EVERYTHING) -> GraphPage:
        """Return the nodes of exactly these names, with neighbours and touching edges."""
        with self.reading() as reader:
            return search.open_nodes(reader, names, options)

    def validate(
        self, node_type: str | None = None, *, limit: int = 100, after: Position | None = None
    ) -> ValidationPage:
        """Return what does not hold: misfits with fixes, stubs, lines whose edge is missing.

        `limit` bounds the findings on the page; the work of a page is bounded too.

        Raises:
            UnknownTypeError: Neither a schema nor a node has that type.
        """
        with self.reading() as reader:
            return validation.validate(
                reader,
                self.catalog,
                node_type=node_type,
                limit=limit,
                after=after,
                strict_types=self.strict_types,
            )

    # Questions (toolset `graph_query`)

    def find_path(
        self,
        from_name: str,
        to_name: str,
        *,
        max_hops: int = 6,
        weighted: bool = False,
        direction: str = "both",
        edge_types: Sequence[str] = (),
    ) -> PathFound:
        """Return a shortest path: fewest hops, or least sum of `1 - weight` when weighted."""
        with self.reading() as reader:
            return paths.find_path(
                reader,
                from_name,
                to_name,
                max_hops=max_hops,
                weighted=weighted,
                direction=direction,
                edge_types=edge_types,
            )

    def get_neighbors(
        self,
        name: str,
        *,
        depth: int = 1,
        edge_types: Sequence[str] = (),
        direction: str = "both",
        limit: int = 100,
    ) -> Neighbourhood:
        """Return what lies within `depth` steps of a node, nearest first, at most `limit` nodes."""
        with self.reading() as reader:
            return paths.get_neighbors(
                reader, name, depth=depth, edge_types=edge_types, direction=direction, limit=limit
            )

    def query_nodes(
        self,
        node_type: str | None = None,
        *,
        filters: Sequence[Filter] = (),
        sort: Sort | None = None,
        limit: int = 50,
        after: Position | None = None,
    ) -> NodesQueried:
        """Return nodes that fulfil all `filters`, sorted by a property or in creation order."""
        with self.reading() as reader:
            return query.query_nodes(
                reader,
                self.catalog,
                node_type=node_type,
                filters=filters,
                sort=sort,
                limit=limit,
                after=after,
            )

    def graph_stats(self) -> GraphStats:
        """Return counts by type and how they stand to the schemas."""
        with self.reading() as reader:
            return query.graph_stats(reader, self.catalog)

    def node_history(self, name: str, *, limit: int = 50) -> NodeHistory:
        """Return a node's past, newest first, also of a renamed or deleted name.

        Raises:
            UnsupportedError: The store keeps no history. NodeNotFoundError: Never heard of it.
        """
        with self.reading() as reader:
            return query.node_history(self.store.capabilities, reader, name, limit=limit)

    def find_duplicates(
        self, *, node_type: str | None = None, limit: int = 50, after: Position | None = None
    ) -> DuplicatesPage:
        """Return nodes that may be one thing: twins and similar names; bounded and paged."""
        with self.reading() as reader:
            return duplicates.find_duplicates(reader, node_type=node_type, limit=limit, after=after)

    def merge_nodes(self, from_name: str, into_name: str, *, by: Author = NOBODY) -> NodesMerged:
        """Make two nodes one: lines are united, edges and relationship lines follow."""
        with self._work(by, "merge_nodes") as work:
            return merge.merge_nodes(work, from_name, into_name)

    def rename_node(
        self, name: str, new_name: str, *, allow_secret: bool = False, by: Author = NOBODY
    ) -> NodeRenamed:
        """Give a node another name; its edges and the relationship lines that name it follow."""
        with self._work(by, "rename_node") as work:
            return rename.rename_node(work, name, new_name, allow_secret=allow_secret)

    # Schemas

    def define_schema(self, data: Mapping[str, Json]) -> NodeSchema:
        """Add or replace a schema in the catalog; listeners may veto. Nodes are not touched.

        Raises:
            SchemaFaultError: It cannot be used, or has a warning.
        """
        parsed = parse_schema(data).schema
        if parsed is None:
            return self.catalog.define(data)
        node_type = parsed.node_type
        self.events.emit(BeforeSchemaChange(node_type=node_type, action="define"))
        defined = self.catalog.define(data)
        self.events.emit(AfterSchemaChange(node_type=node_type, action="define"))
        return defined

    def remove_schema(self, node_type: str) -> NodeSchema:
        """Remove a schema from the catalog; listeners may veto. Nodes are not touched.

        Raises:
            UnknownTypeError: There is no such schema.
        """
        self.events.emit(BeforeSchemaChange(node_type=node_type, action="remove"))
        removed = self.catalog.remove(node_type)
        self.events.emit(AfterSchemaChange(node_type=node_type, action="remove"))
        return removed
