"""What the graph's verbs answer: frozen values that tools, command line and web only render."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from schemory.errors import Problem
from schemory.model.author import NOBODY as NOBODY  # noqa: PLC0414 (its users find it here)
from schemory.model.author import Author as Author  # noqa: PLC0414 (as above)
from schemory.model.edge import EdgeKey, EdgeRecord
from schemory.model.frozen import dataclass
from schemory.model.node import NodeRecord
from schemory.storage.protocols import GraphCounts, LineHit, NodeVersion, Position

MatchMode: TypeAlias = Literal["substring", "words", "all", "names"]
"""How `matched` was found: the query as one text, all its words, everything, or by exact names."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much one page may hold.

    Attributes:
        max_bytes: The sum over the page's items must not pass this; 0 = no bound. The first item
            always goes in, so that paging moves on.
        size_of: The wire size of one item in bytes.
    """

    max_bytes: int
    size_of: Callable[[NodeRecord | EdgeRecord], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """How a reading verb's answer is bounded.

    Attributes:
        limit: Most matches on the page (`search_nodes`, `open_nodes`) or nodes (`read_graph`).
        neighbor_limit: Most neighbours on the page; the rest come with `after`.
        node_types: Only matches of these types; neighbours are of any type.
        names_only: For whoever renders: nodes are shown as name and type (`Room` measures so).
        with_neighbors: False = only matches and the edges between them.
        after: `GraphPage.more` of the page before, with otherwise the same arguments.
        room: The size bound; None = none.
    """

    limit: int | None = None
    neighbor_limit: int | None = None
    node_types: tuple[str, ...] = ()
    names_only: bool = False
    with_neighbors: bool = True
    after: Position | None = None
    room: Room | None = None


EVERYTHING = PageOptions()
"""No bound at all: the complete answer on one page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One item that was left out of a partial success, and why."""

    index: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesWritten:
    """Nodes as they stand now, in the order of the input.

    Attributes:
        failures: Only with `continue_on_error`: what was not stored.
        stale_lines: Lines elsewhere that still say what is no longer so; bounded.
    """

    nodes: tuple[NodeRecord, ...]
    failures: tuple[Failure, ...] = ()
    warnings: tuple[str, ...] = ()
    stale_lines: tuple[LineHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesDeleted:
    """What went, and which of the asked-for names were not there.

    Attributes:
        edges_removed: How many edges went with the nodes.
        stale_lines: Lines of other nodes that still name a deleted one; bounded.
    """

    deleted: tuple[str, ...]
    not_found: tuple[str, ...]
    edges_removed: int
    warnings: tuple[str, ...] = ()
    stale_lines: tuple[LineHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgesWritten:
    """Edges as they stand now, in the order of the input."""

    edges: tuple[EdgeRecord, ...]
    failures: tuple[Failure, ...] = ()
    warnings: tuple[str, ...] = ()
    stale_lines: tuple[LineHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgesDeleted:
    """What went, and which of the asked-for triples were not there."""

    deleted: tuple[EdgeKey, ...]
    not_found: tuple[EdgeKey, ...]
    warnings: tuple[str, ...] = ()
    stale_lines: tuple[LineHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataAdded:
    """One node after lines were appended: which were new, which stood there already."""

    node: NodeRecord
    added: tuple[str, ...]
    already_there: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataRemoved:
    """One node after lines were removed: which went, which were not there."""

    node: NodeRecord
    removed: tuple[str, ...]
    not_there: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityWritten:
    """What a schema-driven add or update did.

    Attributes:
        nodes: The entity first, then stubs that were made for missing targets.
        edges: On add those that were made; on update all edges its given properties stand for.
        removed_edges: Edges that went, as they were.
    """

    nodes: tuple[NodeRecord, ...]
    edges: tuple[EdgeRecord, ...]
    removed_edges: tuple[EdgeRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    stale_lines: tuple[LineHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPage:
    """A page of the graph: matches first, then their neighbours, and edges between them.

    An edge is here when both its ends are, on this page or an earlier one of the same listing.

    Attributes:
        matched: Names of the nodes that match by themselves, in order; `read_graph` names none.
        not_found: Asked-for names that do not exist (`open_nodes`, told on the first page).
        more: Where the next page starts; None = this was the last. A page may be empty and yet
            not the last (a bounded scan that found nothing so far).
        order: `rank` or `creation`, see `SearchPage.order`; `names` = as asked for.
        total_matches: How many match in all, where known without counting everything.
        total_neighbors: How many neighbours there are in all, where known likewise.
    """

    nodes: tuple[NodeRecord, ...]
    edges: tuple[EdgeRecord, ...]
    matched: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    more: Position | None = None
    match_mode: MatchMode = "all"
    order: str = "creation"
    total_matches: int | None = None
    total_neighbors: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFault:
    """A node that does not fit its schema (any more), each problem with a fix."""

    node_name: str
    node_type: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationPage:
    """What does not hold in the graph.

    Attributes:
        faults: Nodes that break their schema, or have none where types are strict.
        stubs: Nodes that were made only because something names them.
        stale_lines: Lines of relationship properties whose edge or target is missing.
        checked: How many nodes this page looked at.
        more: Where the next page starts; None = all nodes were checked.
    """

    faults: tuple[NodeFault, ...]
    stubs: tuple[str, ...]
    stale_lines: tuple[LineHit, ...]
    checked: int
    more: Position | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFound:
    """A shortest path, or none.

    Attributes:
        nodes: From the first to the last; empty = no path within the bounds.
        edges: One between each two neighbours on it, in their own directions.
        cost: Hops, or the sum of `1 - weight` when weighted; None without a path.
        explored: How many nodes were looked at.
        is_truncated: The search stopped at its bound, so that a path may exist all the same.
    """

    nodes: tuple[NodeRecord, ...]
    edges: tuple[EdgeRecord, ...]
    cost: float | None
    explored: int
    is_truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """Everything within some steps of one node, nearest first.

    Attributes:
        nodes: The start first, then by distance and creation.
        distances: Steps from the start, by name.
        edges: Those that were walked, by creation; both ends are in `nodes`.
        is_truncated: There is more than the limit shows.
    """

    nodes: tuple[NodeRecord, ...]
    distances: Mapping[str, int]
    edges: tuple[EdgeRecord, ...]
    is_truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesQueried:
    """A page of nodes that fulfil all filters; an empty page may still have `more`."""

    nodes: tuple[NodeRecord, ...]
    more: Position | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStats:
    """How much a space holds and how it stands to its schemas.

    Attributes:
        unused_types: Schemas without a node.
        unknown_types: Types of nodes that no schema defines.
        last_seq: Number of the newest committed transaction.
    """

    counts: GraphCounts
    unused_types: tuple[str, ...]
    unknown_types: tuple[str, ...]
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHistory:
    """A node's past, newest first; also of a name that was renamed or deleted."""

    name: str
    versions: tuple[NodeVersion, ...]
    is_truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesMerged:
    """One node after another was merged into it.

    Attributes:
        moved_edges: Edges that touch `node` now instead of the merged-away one.
        merged_edges: Edges that `node` had already; the stronger weight was kept.
        dropped_edges: Edges between the two nodes, which would have become self edges.
        changed_nodes: Other nodes whose relationship lines follow.
    """

    node: NodeRecord
    moved_edges: int
    merged_edges: int
    dropped_edges: int
    changed_nodes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    stale_lines: tuple[LineHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRenamed:
    """A node under its new name; its id, history and edges are the same.

    Attributes:
        changed_nodes: Other nodes whose relationship lines follow.
    """

    node: NodeRecord
    changed_nodes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    stale_lines: tuple[LineHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateGroup:
    """Nodes that may be one thing.

    Attributes:
        kind: `twin` (names differ only by case, white space or Unicode form) or `similar`.
        similarity: 1.0 for twins, else how alike the names are, in (0, 1).
    """

    names: tuple[str, ...]
    kind: Literal["twin", "similar"]
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatesPage:
    """Suspected duplicates among the nodes this page looked at."""

    groups: tuple[DuplicateGroup, ...]
    checked: int
    more: Position | None = None
