"""Made-up graphs of any size, the same each time."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import Edge, NewEdge
from schemory.model.node import NewNode, Node
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

SPACE = "default"
COMMON = "lantern"
"""A word in the name of one node in a hundred, and in the metadata of more."""

_SYLLABLES = [first + second for first in "bdgklmnrst" for second in "aeo"]
_TYPES = ("npc", "location", "artifact", "faction", "quest", "event", "species", "lore")
_EDGES_PER_NODE = 3


def words() -> list[str]:
    """Return a vocabulary of 3,000 words."""
    chance = random.Random(11)
    return ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(3000)]


def nodes(number: int) -> Iterator[Node]:
    """Yield nodes with three metadata lines each, about 250 characters of text."""
    chance = random.Random(number)
    vocabulary = words()
    for i in range(number):
        pick = chance.choices(vocabulary, k=20)
        if chance.random() < 0.01:  # noqa: PLR2004 (one in a hundred)
            pick[0] = COMMON
        if chance.random() < 0.03:  # noqa: PLR2004 (three in a hundred)
            pick[9] = COMMON
        yield Node(
            f"{pick[0].title()} {pick[1]} {i}",
            chance.choice(_TYPES),
            (f"Role: {pick[2]}", f"Status: {pick[3]}", f"Description: {' '.join(pick[4:])}."),
        )


def edges(made: list[Node], hub: str | None, hub_edges: int) -> Iterator[Edge]:
    """Yield three edges a node between chance ends, and `hub_edges` more from one hub."""
    chance = random.Random(len(made))
    seen: set[tuple[int, int]] = set()
    for i in range(len(made)):
        for _ in range(_EDGES_PER_NODE):
            other = chance.randrange(len(made))
            if (i, other) not in seen:
                seen.add((i, other))
                yield Edge(made[i].name, made[other].name, "knows")
    if hub is not None:
        for node in made[:hub_edges]:
            yield Edge(hub, node.name, "holds")


def open_store(path: Path | str) -> SqliteStore:
    """Open a store as the product does: commits reach the disk."""
    numbers = count(1)
    return SqliteStore.open(path, now=lambda: datetime.now(UTC), ids=lambda: f"id{next(numbers)}")


def graph_of(store: SqliteStore) -> KnowledgeGraph:
    """Return the service over a store's space, without schemas."""
    return KnowledgeGraph(store, space=SPACE, catalog=SchemaCatalog(()))


def fill(store: SqliteStore, number: int, *, hub: str | None = None, hub_edges: int = 0) -> None:
    """Load `number` nodes with their edges, and a hub, in one transaction."""
    made = list(nodes(number))
    hubs = [Node(hub, "hub", ("Role: hub",))] if hub is not None else []
    load(store, [*made, *hubs], list(edges(made, hub, hub_edges)))


def load(store: SqliteStore, some: Sequence[Node], joined: Sequence[Edge]) -> None:
    """Write nodes and edges that are ready in one transaction."""
    with store.transaction(SPACE, WriteContext(operation="import-graph")) as tx:
        tx.insert_nodes([NewNode(node=node) for node in some])
        tx.insert_edges([NewEdge(edge=edge) for edge in joined])
