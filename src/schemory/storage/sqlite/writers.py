"""All that one write transaction writes with: nodes with their edges, kept lines, memory."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from schemory.storage.protocols import KeptLine
from schemory.storage.sqlite.adjacent import touching_ids
from schemory.storage.sqlite.edge_writer import EdgeWriter
from schemory.storage.sqlite.failures import memory_unsupported
from schemory.storage.sqlite.images import Kind
from schemory.storage.sqlite.ledger import LedgerEntry
from schemory.storage.sqlite.node_ids import NodeIds
from schemory.storage.sqlite.node_writer import NodeWriter
from schemory.storage.sqlite.rows import text_digest
from schemory.storage.sqlite.space import Space

if TYPE_CHECKING:
    from schemory.storage.memory_protocols import IndexTerms
    from schemory.storage.sqlite.memory_writers import MemoryWriters


class Writers:
    """The writers of one space that share one ledger entry.

    Attributes:
        nodes: For nodes, except their deletion, which takes edges with it.
        edges: For edges.

    Args:
        project_id: The text id of the space.
        terms: How memory is indexed; None = the store was opened for the graph alone.
    """

    def __init__(
        self, space: Space, entry: LedgerEntry, *, project_id: str, terms: "IndexTerms | None"
    ) -> None:
        self.entry = entry
        self._project_id = project_id
        self._terms = terms
        self._node_ids = NodeIds(space)
        self.nodes = NodeWriter(space, entry, self._node_ids)
        self.edges = EdgeWriter(space, entry, self._node_ids)
        self._space = space

    @cached_property
    def memory(self) -> "MemoryWriters":
        """For entries, tags and links.

        Raises:
            UnsupportedError: The store was opened for the graph alone.
        """
        from schemory.storage.sqlite.memory_writers import (  # noqa: PLC0415 (the graph needs none)
            MemoryWriters,
        )

        if self._terms is None:
            raise memory_unsupported()
        return MemoryWriters(self._space, self._project_id, self.entry, self._terms)

    def forget(self, indexed_up_to: int) -> None:
        """Forget what a savepoint took back, which began at that mark."""
        self.nodes.forget(indexed_up_to)
        self.edges.forget()
        self._node_ids.forget()
        self.__dict__.pop("memory", None)

    def delete_nodes(self, ids: Sequence[int], *, keeps_past: bool = True) -> int:
        """Delete nodes and every edge that touches them; returns how many edges went."""
        edge_ids = {edge_id for node_id in ids for edge_id in touching_ids(self._space, node_id)}
        self.edges.delete(edge_ids, keeps_past=keeps_past)
        self.nodes.delete(ids, keeps_past=keeps_past)
        return len(edge_ids)

    def insert_kept(self, lines: Iterable[KeptLine]) -> int:
        """Append kept lines that are not there yet; returns how many were new."""
        sql = """
            INSERT INTO kept (project, text, digest, since_seq) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
        """
        seq = self.entry.seq
        return self._space.write(sql, ((line.text, text_digest(line.text), seq) for line in lines))

    def restore_kept(self, texts: Mapping[int, str]) -> None:
        """Insert kept lines again under ids they had before."""
        self.entry.keep_absence(Kind.KEPT, texts)
        sql = "INSERT INTO kept (project, id, text, digest, since_seq) VALUES (?, ?, ?, ?, ?)"
        seq = self.entry.seq
        rows = ((kept_id, text, text_digest(text), seq) for kept_id, text in texts.items())
        self._space.write(sql, rows)

    def delete_kept(self, ids: Iterable[int]) -> None:
        """Delete kept lines."""
        sql = "SELECT id, text, since_seq FROM kept WHERE id = ?2 AND project = ?1"
        rows = [row for kept_id in ids for row in self._space.rows(sql, kept_id)]
        self.entry.keep(Kind.KEPT, rows)
        sql = "DELETE FROM kept WHERE id = ?2 AND project = ?1"
        self._space.write(sql, ((row[0],) for row in rows))
