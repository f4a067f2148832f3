"""Bring the inner store to what the file says."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from schemory.model.edge import EdgeChange, EdgeKey, EdgeRecord, NewEdge
from schemory.model.frozen import dataclass
from schemory.model.lines.merge import merge_nodes
from schemory.model.lines.records import EdgeLine, NodeLine
from schemory.model.node import NewNode, NodeChange, NodeRecord
from schemory.storage.jsonl.reading import Contents, Scope
from schemory.storage.protocols import GraphReader, GraphTransaction, KeptLine

_PAGE = 5_000


class _Numbered(Protocol):
    @property
    def id(self) -> int: ...


_R = TypeVar("_R", bound=_Numbered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The graph that a file describes.

    Attributes:
        nodes: One per name, its records merged.
        edges: Those whose ends exist.
        dangling: Those with an end that no node is; their lines wait in the file.
    """

    nodes: Mapping[str, NodeLine]
    edges: Mapping[EdgeKey, EdgeLine]
    dangling: Sequence[EdgeLine]
    kept: Sequence[str]


def wanted(contents: Contents, names: Container[str]) -> Wanted:
    """Return the graph that a file's contents describe; `names` are all nodes of the file."""
    nodes = {name: merge_nodes(records).node for name, records in contents.nodes.items()}
    edges: dict[EdgeKey, EdgeLine] = {}
    dangling: list[EdgeLine] = []
    for key, line in contents.edges.items():
        if key.from_name in names and key.to_name in names:
            edges[key] = line
        else:
            dangling.append(line)
    return Wanted(nodes=nodes, edges=edges, dangling=dangling, kept=contents.kept)


def follow_file(
    tx: GraphTransaction, target: Wanted, *, scope: Scope | None, undated: str | None
) -> None:
    """Change the store to what the file says; what is the same already is not touched.

    Args:
        tx: Of the inner store.
        target: What the file says.
        scope: What of the graph `target` speaks of; None = all of it.
        undated: The time of nodes and edges that claim none; None = the transaction's.
    """
    if scope is None:
        nodes = {record.name: record for record in all_nodes(tx)}
        edges = {record.key: record for record in all_edges(tx)}
    else:
        nodes, edges = tx.find_nodes(scope.names), tx.find_edges(scope.keys)
    tx.delete_edges([record.id for key, record in edges.items() if key not in target.edges])
    tx.delete_nodes([record.id for name, record in nodes.items() if name not in target.nodes])
    changed_nodes = (_node_change(nodes[k], n) for k, n in target.nodes.items() if k in nodes)
    tx.update_nodes([change for change in changed_nodes if change])
    tx.insert_nodes([_new_node(n, undated) for k, n in target.nodes.items() if k not in nodes])
    changed_edges = (_edge_change(edges[k], e) for k, e in target.edges.items() if k in edges)
    tx.update_edges([change for change in changed_edges if change])
    tx.insert_edges([_new_edge(e, undated) for k, e in target.edges.items() if k not in edges])
    tx.insert_kept([KeptLine(text=text) for text in target.kept])


def all_nodes(reader: GraphReader) -> Iterator[NodeRecord]:
    """Yield every node in creation order."""
    return _paged(lambda after: reader.list_nodes(after_id=after, limit=_PAGE))


def all_edges(reader: GraphReader) -> Iterator[EdgeRecord]:
    """Yield every edge in creation order."""
    return _paged(lambda after: reader.list_edges(after_id=after, limit=_PAGE))


def all_kept(reader: GraphReader) -> Iterator[KeptLine]:
    """Yield every kept line in order."""
    after = 0
    while page := reader.list_kept(after=after, limit=_PAGE):
        yield from (line for _, line in page)
        after = page[-1][0]


def _paged(read: Callable[[int], Sequence[_R]]) -> Iterator[_R]:
    after = 0
    while page := read(after):
        yield from page
        after = page[-1].id


def _new_node(line: NodeLine, undated: str | None) -> NewNode:
    created = line.claims.created or line.claims.updated or undated
    return NewNode(
        node=line.node,
        typed=line.typed,
        extra=line.extra,
        created_at=created,
        updated_at=line.claims.updated or created,
    )


def _new_edge(line: EdgeLine, undated: str | None) -> NewEdge:
    created = line.claims.created or line.claims.updated or undated
    return NewEdge(
        edge=line.edge,
        property_name=line.property_name,
        extra=line.extra,
        created_at=created,
        updated_at=line.claims.updated or created,
    )


def _is_same_node(record: NodeRecord, line: NodeLine) -> bool:
    """Whether a line says what is stored; a time that it does not claim says nothing."""
    claims = line.claims
    return (
        record.node == line.node
        and record.typed == line.typed
        and record.extra == line.extra
        and (claims.created is None or claims.created == record.created_at)
        and (claims.updated is None or claims.updated == record.updated_at)
    )


def _is_same_edge(record: EdgeRecord, line: EdgeLine) -> bool:
    return (
        record.edge == line.edge
        and record.property_name == line.property_name
        and record.extra == line.extra
    )


def _node_change(record: NodeRecord, line: NodeLine) -> NodeChange | None:
    if _is_same_node(record, line):
        return None
    return NodeChange(
        id=record.id,
        node_type=line.node.node_type,
        metadata=line.node.metadata,
        typed=line.typed,
        extra=line.extra,
        created_at=line.claims.created,
        updated_at=line.claims.updated,
    )


def _edge_change(record: EdgeRecord, line: EdgeLine) -> EdgeChange | None:
    if _is_same_edge(record, line):
        return None
    return EdgeChange(
        id=record.id,
        weight=line.edge.weight,
        property_name=line.property_name or "",
        extra=line.extra,
    )
