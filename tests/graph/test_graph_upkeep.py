"""Renaming and merging nodes (graph.md §8)."""

import pytest

from schemory.errors import (
    InvalidParamError,
    NodeExistsError,
    NodeNotFoundError,
    NothingToChangeError,
    SecretDetectedError,
    VetoedError,
)
from schemory.graph.inputs import EdgeInput, NodeInput
from schemory.graph.service import KnowledgeGraph
from schemory.model.events import BeforeDeleteNodes, BeforeUpdateNodes
from schemory.storage.protocols import Capability

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # the shape of one, made up here


def lines(graph: KnowledgeGraph, name: str) -> tuple[str, ...]:
    return graph.open_nodes([name]).nodes[0].node.metadata


def weights(graph: KnowledgeGraph) -> dict[tuple[str, ...], float]:
    return {tuple(r.key): r.edge.weight for r in graph.read_graph().edges}


@pytest.fixture
def shire(graph: KnowledgeGraph) -> KnowledgeGraph:
    """Sam lives in Bree, Rose likes it by hand, and lines of all kinds name it."""
    graph.add_nodes([NodeInput("Bree", "place"), NodeInput("Shire", "place")])
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "home": "Bree"})
    graph.add_entity("hero", {"name": "Rose", "role": "Thief", "friends": ["Sam", "Rose"]})
    graph.add_nodes([NodeInput("Map", "thing", ("Shows: Bree, Shire",))])
    graph.add_edges([EdgeInput("Map", "Bree", "shows"), EdgeInput("Rose", "Bree", "likes", 0.5)])
    return graph


@pytest.mark.covers("graph.query.rename")
def test_a_rename_keeps_id_and_edges_and_relationship_lines_follow(shire: KnowledgeGraph) -> None:
    before = shire.open_nodes(["Bree"]).nodes[0]
    result = shire.rename_node("Bree", "Bree-hill")
    assert (result.node.id, result.node.name, result.node.revision) == (before.id, "Bree-hill", 2)
    assert ("Sam", "Bree-hill", "lives_in") in weights(shire)
    assert ("Rose", "Bree-hill", "likes") in weights(shire)
    assert lines(shire, "Sam") == ("Role: Thief", "Home: Bree-hill")
    assert result.changed_nodes == ("Sam",)
    # A line that no relationship property made is left alone and told.
    assert lines(shire, "Map") == ("Shows: Bree, Shire",)
    assert [(hit.node_name, hit.line) for hit in result.stale_lines] == [
        ("Map", "Shows: Bree, Shire")
    ]
    assert shire.validate().stale_lines == ()


@pytest.mark.covers("graph.query.rename")
def test_names_in_a_list_follow_in_line_and_typed_value(shire: KnowledgeGraph) -> None:
    shire.rename_node("Sam", "Samwise, the Brave")
    rose = shire.open_nodes(["Rose"]).nodes[0]
    assert rose.node.metadata == ("Role: Thief", "Friends: Samwise, the Brave, Rose")
    assert [value.value for value in rose.typed] == [["Samwise, the Brave", "Rose"]]
    shire.update_entity("hero", {"name": "Rose", "friends": ["Samwise, the Brave"]})
    assert ("Rose", "Samwise, the Brave", "friend_of") in weights(shire)


@pytest.mark.covers("graph.query.rename")
def test_a_node_that_names_itself_follows_itself(shire: KnowledgeGraph) -> None:
    result = shire.rename_node("Rose", "Rosie")
    assert result.node.node.metadata == ("Role: Thief", "Friends: Sam, Rosie")
    assert weights(shire)[("Rosie", "Rosie", "friend_of")] == 1.0
    assert result.stale_lines == ()


@pytest.mark.covers("graph.query.rename.errors")
def test_a_rename_to_a_bad_taken_or_equal_name_is_refused(shire: KnowledgeGraph) -> None:
    with pytest.raises(NodeExistsError) as caught:
        shire.rename_node("Bree", "Shire")
    assert "merge_nodes" in caught.value.suggestions[0]
    with pytest.raises(NothingToChangeError):
        shire.rename_node("Bree", "Bree")
    with pytest.raises(InvalidParamError) as both:
        shire.rename_node("Nobody", " ")
    assert [p.path for p in both.value.problems] == ["$.name", "$.newName"]
    with pytest.raises(SecretDetectedError):
        shire.rename_node("Bree", TOKEN)
    shire.events.subscribe(BeforeUpdateNodes, lambda _: 1 / 0)
    with pytest.raises(VetoedError):
        shire.rename_node("Bree", "Bri")
    assert shire.open_nodes(["Bree"]).matched == ("Bree",)


@pytest.mark.covers("graph.query.rename")
def test_a_change_of_case_alone_is_a_rename_and_other_twins_are_warned_of(
    shire: KnowledgeGraph,
) -> None:
    assert shire.rename_node("Bree", "bree").warnings == ()
    assert len(shire.rename_node("Map", "shire").warnings) == 1
    (warning,) = shire.rename_node("shire", "SHIRE").warnings
    assert '"Shire"' in warning


@pytest.mark.covers("graph.query.rename")
def test_history_follows_a_rename(shire: KnowledgeGraph) -> None:
    shire.rename_node("Bree", "Bri")
    if Capability.HISTORY not in shire.store.capabilities:
        pytest.skip("this store keeps no history")
    for name in ("Bree", "Bri"):
        names = [v.record.name for v in shire.node_history(name).versions if v.record is not None]
        assert (names[0], names[-1]) == ("Bri", "Bree")


@pytest.mark.covers("graph.query.merge")
def test_a_merge_re_points_edges_unites_lines_and_follows_relationship_lines(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes(
        [
            NodeInput("Bree", "place", ("Region: West", "Old: yes")),
            NodeInput("bree", "place", ("Region: West", "New: yes")),
        ]
    )
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "home": "bree"})
    graph.add_nodes([NodeInput("Map", "thing", ("Shows: bree",))])
    graph.add_edges(
        [
            EdgeInput("Map", "Bree", "shows", 0.4),
            EdgeInput("Map", "bree", "shows", 0.6),
            EdgeInput("bree", "bree", "self"),
            EdgeInput("bree", "Bree", "same_as"),
        ]
    )
    kept = graph.open_nodes(["Bree"]).nodes[0].id
    result = graph.merge_nodes("bree", "Bree")
    assert (result.node.id, result.node.node.metadata) == (
        kept,
        ("Region: West", "Old: yes", "New: yes"),
    )
    assert weights(graph) == {
        ("Sam", "Bree", "lives_in"): 1.0,
        ("Map", "Bree", "shows"): 0.6,
        ("Bree", "Bree", "self"): 1.0,
    }
    assert (result.moved_edges, result.merged_edges, result.dropped_edges) == (2, 1, 1)
    assert lines(graph, "Sam") == ("Role: Thief", "Home: Bree")
    assert result.changed_nodes == ("Sam",)
    assert [(hit.node_name, hit.line) for hit in result.stale_lines] == [("Map", "Shows: bree")]
    assert graph.open_nodes(["bree"]).not_found == ("bree",)


@pytest.mark.covers("graph.query.merge")
def test_of_two_stubs_one_is_left_and_with_a_known_node_none(graph: KnowledgeGraph) -> None:
    for hero, guild in (("Sam", "Gardeners"), ("Rose", "Gardner"), ("Pip", "Gardenrs")):
        graph.add_entity("hero", {"name": hero, "role": "Thief", "guild": guild})
    graph.merge_nodes("Gardner", "Gardeners")
    assert graph.validate().stubs == ("Gardeners", "Gardenrs")
    graph.add_nodes([NodeInput("The Gardeners", "guild")])  # somebody's own, if without a line
    graph.merge_nodes("Gardenrs", "The Gardeners")
    assert graph.validate().stubs == ("Gardeners",)
    graph.merge_nodes("The Gardeners", "Gardeners")
    assert graph.validate().stubs == ()


@pytest.mark.covers("graph.query.merge")
def test_in_a_list_that_names_both_the_merged_name_stands_once(graph: KnowledgeGraph) -> None:
    for name in ("Sam", "Samwise"):
        graph.add_entity("hero", {"name": name, "role": "Thief"})
    graph.add_entity("hero", {"name": "Rose", "role": "Thief", "friends": ["Sam", "Samwise"]})
    graph.merge_nodes("Sam", "Samwise")
    assert lines(graph, "Rose") == ("Role: Thief", "Friends: Samwise")
    assert list(weights(graph)) == [("Rose", "Samwise", "friend_of")]
    assert graph.validate().stale_lines == ()


@pytest.mark.covers("graph.query.merge")
def test_lines_of_the_two_about_each_other_are_told(graph: KnowledgeGraph) -> None:
    graph.add_entity("hero", {"name": "Sam", "role": "Thief"})
    graph.add_entity("hero", {"name": "Samwise", "role": "Wizard", "friends": ["Sam"]})
    result = graph.merge_nodes("Samwise", "Sam")
    assert weights(graph) == {}
    assert [(hit.node_name, hit.line) for hit in result.stale_lines] == [("Sam", "Friends: Sam")]


@pytest.mark.covers("graph.query.merge.errors")
def test_a_merge_needs_two_nodes_that_exist(shire: KnowledgeGraph) -> None:
    with pytest.raises(NodeNotFoundError) as caught:
        shire.merge_nodes("Q", "Z")
    assert [p.path for p in caught.value.problems] == ["$.from", "$.into"]
    with pytest.raises(NothingToChangeError):
        shire.merge_nodes("Bree", "Bree")
    shire.events.subscribe(BeforeDeleteNodes, lambda _: 1 / 0)
    with pytest.raises(VetoedError):
        shire.merge_nodes("Bree", "Shire")
    assert lines(shire, "Sam") == ("Role: Thief", "Home: Bree")


@pytest.mark.covers("graph.query.merge")
def test_a_merge_of_two_types_keeps_the_survivors_and_says_so(shire: KnowledgeGraph) -> None:
    result = shire.merge_nodes("Map", "Bree")
    assert result.node.node.node_type == "place"
    assert len(result.warnings) == 1
