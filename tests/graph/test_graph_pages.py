"""Whatever the graph, the limits and the room: the pages together are the whole answer."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.graph.inputs import EdgeInput, NodeInput
from schemory.graph.results import GraphPage, PageOptions, Room
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import EdgeRecord
from schemory.model.node import NodeRecord
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.sqlite.store import SqliteStore

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)
TYPES = ("npc", "place")
# Small words, so that searches meet names, types and lines of many nodes.
WORDS = ("oak", "Oak", "elm", "ash oak", "äsh", "中国", "n")

Nodes: TypeAlias = list[tuple[str, str, tuple[str, ...]]]
Edges: TypeAlias = list[tuple[str, str, str]]


@dataclass(frozen=True)
class Wood:
    """A random graph as plain data."""

    nodes: Nodes
    edges: Edges


@st.composite
def woods(draw: st.DrawFn) -> Wood:
    count = draw(st.integers(0, 14))
    nodes: Nodes = []
    for number in range(count):
        word = draw(st.sampled_from(WORDS))
        lines = tuple(draw(st.lists(st.sampled_from(WORDS), max_size=2)))
        nodes.append((f"{word} {number}", draw(st.sampled_from(TYPES)), lines))
    names = [name for name, _, _ in nodes]
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names), st.sampled_from(["a", "b"]))
    edges = draw(st.lists(pairs, unique=True, max_size=40)) if names else []
    return Wood(nodes, edges)


def planted(wood: Wood) -> KnowledgeGraph:
    numbers = itertools.count()
    store = SqliteStore.open(":memory:", now=lambda: NOON, ids=lambda: f"id-{next(numbers)}")
    graph = KnowledgeGraph(store, space="default", catalog=SchemaCatalog())
    # Nodes and edges are made in turns, so that neither kind's ids say anything of the other's.
    half = len(wood.nodes) // 2
    for part in (wood.nodes[:half], wood.nodes[half:]):
        if part:
            graph.add_nodes([NodeInput(*each) for each in part])
    if wood.edges:
        graph.add_edges([EdgeInput(*each) for each in wood.edges])
    return graph


def len_of(record: NodeRecord | EdgeRecord) -> int:
    if isinstance(record, NodeRecord):
        return 20 + len(record.name)
    return 30


@contextmanager
def small_steps() -> Iterator[None]:
    """Everything that is done in steps is done in tiny ones, so that small graphs take many."""
    with pytest.MonkeyPatch.context() as patch:
        for place, value in {
            "graph.pages.CHUNK": 2,
            "graph.pages._GROUP": 2,
            "graph.search.CHUNK": 2,
            "graph.search._MANY": 2,
            "graph.search.MAX_WALKED": 3,
            "graph.listings.MAX_RANKED": 2,
            "storage.sqlite.search.MAX_RANKED": 2,
            "storage.sqlite.search.MAX_CANDIDATES": 3,
        }.items():
            patch.setattr(f"schemory.{place}", value)
        yield


OPTIONS = st.builds(
    PageOptions,
    limit=st.none() | st.integers(1, 6),
    neighbor_limit=st.none() | st.integers(1, 4),
    node_types=st.sampled_from([(), ("npc",), ("place",), ("npc", "place"), ("nothing",)]),
    with_neighbors=st.booleans(),
    room=st.none() | st.builds(Room, st.sampled_from([1, 60, 200, 900]), st.just(len_of)),
)


def all_pages(read: Callable[[PageOptions], GraphPage], options: PageOptions) -> list[GraphPage]:
    pages = [read(options)]
    while pages[-1].more is not None:
        assert len(pages) < 500
        pages.append(read(replace(options, after=pages[-1].more)))
    return pages


def check_bounds(pages: Sequence[GraphPage], options: PageOptions) -> None:
    for page in pages:
        neighbours = len(page.nodes) - len(page.matched)
        if options.limit is not None:
            assert len(page.matched) <= options.limit
        if options.neighbor_limit is not None:
            assert neighbours <= options.neighbor_limit
        room = options.room
        items: list[NodeRecord | EdgeRecord] = [*page.nodes, *page.edges]
        if room is not None and len(items) > 1:
            assert sum(room.size_of(item) for item in items) <= room.max_bytes


def check_ends_come_first(pages: Iterable[GraphPage]) -> None:
    seen: set[str] = set()
    for page in pages:
        seen |= {record.name for record in page.nodes}
        for record in page.edges:
            assert {record.edge.from_name, record.edge.to_name} <= seen


def flat(pages: Sequence[GraphPage]) -> tuple[list[str], list[str], list[tuple[str, str, str]]]:
    matched = [name for page in pages for name in page.matched]
    shown = [record.name for page in pages for record in page.nodes]
    edges = [
        (key.from_name, key.to_name, key.edge_type)
        for page in pages
        for key in (record.key for record in page.edges)
    ]
    return matched, shown, edges


def expected(
    wood: Wood, matches: Iterable[str], options: PageOptions
) -> tuple[set[str], set[str], set[tuple[str, str, str]]]:
    """The whole answer by definition: matches, neighbours, edges that touch a match."""
    types = {name: node_type for name, node_type, _ in wood.nodes}
    found = {
        name for name in matches if not options.node_types or types[name] in options.node_types
    }
    touching = {edge for edge in wood.edges if edge[0] in found or edge[1] in found}
    if not options.with_neighbors:
        touching = {edge for edge in touching if edge[0] in found and edge[1] in found}
    ends = {name for edge in touching for name in edge[:2]}
    return found, (found | ends), touching


QUERIES = st.sampled_from([*WORDS, "", "oak ash", "pl", "zz", "ash 1"])


@pytest.mark.covers("graph.read.complete", "graph.pages.union", "graph.pages.ends-first")
@given(wood=woods(), options=OPTIONS)
def test_the_pages_of_a_read_are_the_graph_in_creation_order(
    wood: Wood, options: PageOptions
) -> None:
    graph = planted(wood)
    pages = all_pages(graph.read_graph, options)
    types = set(options.node_types or TYPES)
    kept = [name for name, node_type, _ in wood.nodes if node_type in types]
    edges = [edge for edge in wood.edges if set(edge[:2]) <= set(kept)]
    _, shown, shown_edges = flat(pages)
    assert shown == kept
    assert sorted(shown_edges) == sorted(edges)
    check_ends_come_first(pages)
    if len(pages) == 1:
        assert shown_edges == edges
    for page in pages:
        assert options.limit is None or len(page.nodes) <= options.limit
    graph.store.close()


@pytest.mark.covers("graph.search.pages", "graph.pages.union", "graph.pages.ends-first")
@given(wood=woods(), options=OPTIONS, query=QUERIES)
def test_the_pages_of_a_search_are_all_matches_neighbours_and_edges(
    wood: Wood, options: PageOptions, query: str
) -> None:
    check_search(wood, options, query)


@pytest.mark.covers("graph.search.pages", "graph.pages.union")
@given(wood=woods(), options=OPTIONS, query=QUERIES)
def test_neither_steps_nor_the_order_of_many_matches_change_what_the_pages_hold(
    wood: Wood, options: PageOptions, query: str
) -> None:
    with small_steps():
        check_search(wood, options, query)


def check_search(wood: Wood, options: PageOptions, query: str) -> None:
    graph = planted(wood)
    pages = all_pages(lambda options: graph.search_nodes(query, options), options)
    matches = by_text(wood, [query.casefold()], options) or by_text(
        wood, query.casefold().split(), options
    )
    found, all_shown, edges = expected(wood, matches, options)
    matched, shown, shown_edges = flat(pages)
    assert sorted(matched) == sorted(found)
    assert sorted(shown) == sorted(all_shown)
    assert sorted(shown_edges) == sorted(edges)
    check_ends_come_first(pages)
    check_bounds(pages, options)
    graph.store.close()


def by_text(wood: Wood, terms: Sequence[str], options: PageOptions) -> list[str]:
    def holds(node: tuple[str, str, tuple[str, ...]]) -> bool:
        name, node_type, lines = node
        if options.node_types and node_type not in options.node_types:
            return False
        texts = [text.casefold() for text in (name, node_type, *lines)]
        return all(any(term in text for text in texts) for term in terms)

    return [node[0] for node in wood.nodes if holds(node)]


@pytest.mark.covers("graph.open.pages", "graph.pages.union", "graph.pages.ends-first")
@given(wood=woods(), options=OPTIONS, data=st.data())
def test_the_pages_of_an_open_are_the_named_nodes_neighbours_and_edges(
    wood: Wood, options: PageOptions, data: st.DataObject
) -> None:
    graph = planted(wood)
    names = [name for name, _, _ in wood.nodes]
    asked = data.draw(st.lists(st.sampled_from([*names, "nobody"]), max_size=8))
    pages = all_pages(lambda options: graph.open_nodes(asked, options), options)
    found, all_shown, edges = expected(wood, set(asked) & set(names), options)
    matched, shown, shown_edges = flat(pages)
    assert matched == [name for name in dict.fromkeys(asked) if name in found]
    assert sorted(shown) == sorted(all_shown)
    assert sorted(shown_edges) == sorted(edges)
    assert pages[0].not_found == (("nobody",) if "nobody" in asked else ())
    assert all(page.not_found == () for page in pages[1:])
    check_ends_come_first(pages)
    check_bounds(pages, options)
    graph.store.close()
