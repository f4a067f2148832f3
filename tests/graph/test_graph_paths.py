"""Shortest paths and neighbourhoods (graph.md §8), distances worked out by hand."""

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import InvalidParamError, NodeNotFoundError
from schemory.graph.inputs import EdgeInput, NodeInput
from schemory.graph.results import PathFound
from schemory.graph.service import KnowledgeGraph
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.sqlite.store import SqliteStore

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)


@pytest.fixture
def town(graph: KnowledgeGraph) -> KnowledgeGraph:
    """A short weak way A-B-D and a long strong way A-C-E-D; F stands alone."""
    graph.add_nodes([NodeInput(name, "x") for name in "ABCDEF"])
    graph.add_edges(
        [
            EdgeInput("A", "B", "road", 0.2),
            EdgeInput("B", "D", "road", 0.2),
            EdgeInput("A", "C", "road", 0.9),
            EdgeInput("E", "C", "path", 0.9),
            EdgeInput("E", "D", "road", 0.9),
        ]
    )
    return graph


def way(found: PathFound) -> str:
    return "".join(record.name for record in found.nodes)


@pytest.mark.covers("graph.query.path")
def test_the_path_with_the_fewest_hops_is_found(town: KnowledgeGraph) -> None:
    found = town.find_path("A", "D")
    assert (way(found), found.cost, found.is_truncated) == ("ABD", 2.0, False)
    assert [tuple(r.key) for r in found.edges] == [("A", "B", "road"), ("B", "D", "road")]


@pytest.mark.covers("graph.query.path.weighted")
def test_weighted_the_path_with_the_least_sum_of_one_minus_weight_is_found(
    town: KnowledgeGraph,
) -> None:
    # A-B-D costs 0.8 + 0.8; A-C-E-D costs 0.1 + 0.1 + 0.1.
    found = town.find_path("A", "D", weighted=True)
    assert (way(found), found.cost) == ("ACED", 0.3)
    # With two hops at most only the weak way is left.
    found = town.find_path("A", "D", weighted=True, max_hops=2)
    assert (way(found), found.cost) == ("ABD", 1.6)


@pytest.mark.covers("graph.query.path.bounds")
def test_a_path_respects_hops_direction_and_edge_types(town: KnowledgeGraph) -> None:
    assert way(town.find_path("A", "D", max_hops=1)) == ""
    assert way(town.find_path("C", "D", direction="out")) == ""
    assert way(town.find_path("C", "D", direction="both")) == "CED"
    assert way(town.find_path("D", "A", direction="in")) == "DBA"
    assert way(town.find_path("C", "D", edge_types=("road",))) == "CABD"
    none = town.find_path("A", "F")
    assert (none.nodes, none.edges, none.cost, none.is_truncated) == ((), (), None, False)
    # F has no edge at all, so the search ends with what lies around A.
    assert none.explored == 4


@pytest.mark.covers("graph.query.path")
def test_a_node_reaches_itself_at_no_cost(town: KnowledgeGraph) -> None:
    for weighted in (False, True):
        found = town.find_path("A", "A", weighted=weighted)
        assert (way(found), found.edges, found.cost) == ("A", (), 0.0)


@pytest.mark.covers("graph.query.path.errors")
def test_both_unknown_ends_and_bad_bounds_are_told(town: KnowledgeGraph) -> None:
    with pytest.raises(NodeNotFoundError) as missing:
        town.find_path("Q", "Z")
    assert [p.path for p in missing.value.problems] == ["$.from", "$.to"]
    with pytest.raises(InvalidParamError) as caught:
        town.find_path("A", "B", max_hops=0, direction="up")
    assert [p.path for p in caught.value.problems] == ["$.maxHops", "$.direction"]


@pytest.mark.covers("graph.query.path.bounds")
def test_a_search_that_gives_up_says_so(graph: KnowledgeGraph) -> None:
    count = 600
    graph.add_nodes([NodeInput("hub", "x"), NodeInput("far", "x")])
    graph.add_nodes([NodeInput(f"n{i}", "x") for i in range(count)])
    graph.add_edges([EdgeInput("hub", f"n{i}", "e") for i in range(count)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("schemory.graph.paths.MAX_EDGES", 100)
        found = graph.find_path("hub", "far")
        assert (found.nodes, found.is_truncated) == ((), True)
    assert not graph.find_path("hub", "far").is_truncated


@pytest.mark.covers("graph.query.neighbours")
def test_neighbours_come_nearest_first_with_the_edges_that_were_walked(
    town: KnowledgeGraph,
) -> None:
    near = town.get_neighbors("A")
    assert [record.name for record in near.nodes] == ["A", "B", "C"]
    assert [tuple(r.key) for r in near.edges] == [("A", "B", "road"), ("A", "C", "road")]
    wide = town.get_neighbors("A", depth=2)
    assert wide.distances == {"A": 0, "B": 1, "C": 1, "D": 2, "E": 2}
    assert not wide.is_truncated
    # Both ends of the edge E-D lie at the rim, so it was not walked.
    assert ("E", "D", "road") not in [tuple(r.key) for r in wide.edges]


@pytest.mark.covers("graph.query.neighbours")
def test_direction_and_edge_types_narrow_the_neighbours(town: KnowledgeGraph) -> None:
    assert list(town.get_neighbors("C", depth=3, direction="out").distances) == ["C"]
    assert list(town.get_neighbors("C", direction="in").distances) == ["C", "A", "E"]
    assert list(town.get_neighbors("C", edge_types=("path",)).distances) == ["C", "E"]


@pytest.mark.covers("graph.query.neighbours.bounds")
def test_neighbours_are_bounded_and_say_when_there_are_more(town: KnowledgeGraph) -> None:
    near = town.get_neighbors("A", depth=3, limit=2)
    assert (list(near.distances), near.is_truncated) == (["A", "B", "C"], True)
    assert not town.get_neighbors("F", depth=3, limit=2).is_truncated
    with pytest.raises(InvalidParamError):
        town.get_neighbors("A", depth=0, limit=0)
    with pytest.raises(NodeNotFoundError):
        town.get_neighbors("Q")


STEPS = st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@pytest.mark.covers("graph.query.path", "graph.query.path.weighted")
@given(
    steps=st.lists(STEPS, max_size=14, unique_by=lambda step: step[:2]),
    max_hops=st.integers(1, 5),
    direction=st.sampled_from(["out", "in", "both"]),
    weighted=st.booleans(),
)
def test_no_walk_within_the_bounds_is_cheaper_than_the_path_found(
    steps: list[tuple[int, int, float]], max_hops: int, direction: str, *, weighted: bool
) -> None:
    numbers = itertools.count()
    store = SqliteStore.open(":memory:", now=lambda: NOON, ids=lambda: f"id-{next(numbers)}")
    graph = KnowledgeGraph(store, space="default", catalog=SchemaCatalog())
    graph.add_nodes([NodeInput(f"n{i}", "x") for i in range(7)])
    if steps:
        graph.add_edges([EdgeInput(f"n{a}", f"n{b}", "e", weight) for a, b, weight in steps])
    walks = [(a, b, w) for a, b, w in steps if direction != "in"]
    walks += [(b, a, w) for a, b, w in steps if direction != "out"]
    least = {0: 0.0}
    for _ in range(max_hops):
        longer = {(b, least[a] + (1 - w if weighted else 1)) for a, b, w in walks if a in least}
        for node, cost in longer:
            least[node] = min(cost, least.get(node, cost))
    for goal in range(7):
        found = graph.find_path(
            "n0", f"n{goal}", max_hops=max_hops, weighted=weighted, direction=direction
        )
        assert found.cost == least.get(goal)
        names = [record.name for record in found.nodes]
        assert len(found.edges) <= max_hops
        for (first, second), edge in zip(itertools.pairwise(names), found.edges, strict=True):
            ends = (edge.edge.from_name, edge.edge.to_name)
            assert ends in {"out": [(first, second)], "in": [(second, first)]}.get(
                direction, [(first, second), (second, first)]
            )
    store.close()
