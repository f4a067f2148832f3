"""Shortest paths and neighbourhoods (graph.md §8), distances worked out by hand."""

import pytest

from schemory.errors import InvalidParamError, NodeNotFoundError
from schemory.graph.inputs import EdgeInput, NodeInput
from schemory.graph.results import PathFound
from schemory.graph.service import KnowledgeGraph


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
    assert none.explored == 5


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
