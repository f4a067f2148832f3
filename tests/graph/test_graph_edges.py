"""Adding, weighing, moving and deleting edges: graph.md §1 and §2."""

import itertools

import pytest

from schemory.errors import (
    ConflictError,
    DuplicateInCallError,
    EdgeExistsError,
    EdgeNotFoundError,
    InvalidParamError,
    NodeNotFoundError,
    NothingToChangeError,
    SchemoryError,
)
from schemory.graph.inputs import EdgeInput, EdgeUpdate, NodeInput, WeightMode
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import EdgeKey


def with_nodes(graph: KnowledgeGraph, names: str = "ABCD") -> KnowledgeGraph:
    graph.add_nodes([NodeInput(name, "x") for name in names])
    return graph


def edges(graph: KnowledgeGraph) -> dict[tuple[str, str, str], float]:
    found = graph.read_graph().edges
    return {(*r.key,): r.edge.weight for r in found}


def told(error: SchemoryError) -> list[tuple[str, str]]:
    return [(problem.code, problem.path) for problem in error.problems]


@pytest.mark.covers("graph.edges.add")
def test_edges_are_directed_typed_and_may_lead_to_their_own_node(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_edges(
        [
            EdgeInput("A", "B", "knows"),
            EdgeInput("B", "A", "knows"),
            EdgeInput("A", "B", "owns", 0.25),
            EdgeInput("A", "A", "knows", 0),
        ]
    )
    assert edges(graph) == {
        ("A", "B", "knows"): 1.0,
        ("B", "A", "knows"): 1.0,
        ("A", "B", "owns"): 0.25,
        ("A", "A", "knows"): 0.0,
    }


@pytest.mark.covers("graph.edges.add.ends", "graph.problems.all")
def test_both_ends_must_exist_and_all_problems_are_told_at_once(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_nodes([NodeInput("Gandalf", "x")])
    graph.add_edges([EdgeInput("A", "B", "e")])
    with pytest.raises(InvalidParamError) as caught:
        graph.add_edges(
            [
                EdgeInput("Gandolf", "Nobody here", "e"),
                EdgeInput("A", "C", "e"),
                EdgeInput("A", "B", "e", 2),
                EdgeInput("A", "B", " "),
                EdgeInput("", "B", "e"),
            ]
        )
    assert told(caught.value) == [
        ("NODE_NOT_FOUND", "$.edges[0].from"),
        ("NODE_NOT_FOUND", "$.edges[0].to"),
        ("INVALID_PARAM", "$.edges[2].weight"),
        ("EDGE_EXISTS", "$.edges[2]"),
        ("INVALID_PARAM", "$.edges[3].edgeType"),
        ("INVALID_PARAM", "$.edges[4].from"),
    ]
    assert caught.value.problems[0].nearest == ("Gandalf",)
    assert edges(graph) == {("A", "B", "e"): 1.0}


@pytest.mark.covers("graph.edges.add.taken", "graph.duplicate")
def test_a_triple_exists_once(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_edges([EdgeInput("A", "B", "e")])
    with pytest.raises(EdgeExistsError):
        graph.add_edges([EdgeInput("A", "B", "e", 0.5)])
    with pytest.raises(DuplicateInCallError) as caught:
        graph.add_edges([EdgeInput("A", "C", "e"), EdgeInput("A", "C", "e", 0.5)])
    assert told(caught.value) == [("DUPLICATE_IN_CALL", "$.edges[1]")]


@pytest.mark.covers("graph.weight")
@pytest.mark.parametrize("weight", [-0.01, 1.01, float("nan"), float("inf"), True, "0.5"])
def test_a_weight_is_a_real_number_from_0_to_1(graph: KnowledgeGraph, weight: float) -> None:
    with_nodes(graph)
    with pytest.raises(InvalidParamError) as caught:
        graph.add_edges([EdgeInput("A", "B", "e", weight)])
    assert told(caught.value) == [("INVALID_PARAM", "$.edges[0].weight")]
    graph.add_edges([EdgeInput("A", "B", "e")])
    with pytest.raises(InvalidParamError):
        graph.update_edges([EdgeUpdate(from_name="A", to_name="B", edge_type="e", weight=weight)])


@pytest.mark.covers("graph.edges.add.partial")
def test_with_continue_on_error_the_other_edges_are_stored(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    result = graph.add_edges(
        [EdgeInput("A", "B", "e"), EdgeInput("A", "Z", "e"), EdgeInput("A", "C", "e", 7)],
        continue_on_error=True,
    )
    assert [tuple(r.key) for r in result.edges] == [("A", "B", "e")]
    assert [(f.index, f.problems[0].path) for f in result.failures] == [
        (1, "$.edges[1].to"),
        (2, "$.edges[2].weight"),
    ]


@pytest.mark.covers("graph.edges.update.blend")
@pytest.mark.parametrize(
    ("current", "given", "mode", "result"),
    [
        (0.8, 0.6, "blend", 0.7),
        (1.0, 0.6, "blend", 0.8),
        (0.6, 1.0, "blend", 0.8),
        (0.1, 0.2, "blend", 0.15),
        (1.0, 0.0, "blend", 0.5),
        (0.8, 0.6, "set", 0.6),
        (0.8, 0, "set", 0.0),
    ],
)
def test_given_weight_is_blended_with_the_current_one_or_set(
    graph: KnowledgeGraph, current: float, given: float, mode: WeightMode, result: float
) -> None:
    with_nodes(graph)
    graph.add_edges([EdgeInput("A", "B", "e", current)])
    update = EdgeUpdate(from_name="A", to_name="B", edge_type="e", weight=given, weight_mode=mode)
    (record,) = graph.update_edges([update]).edges
    assert record.edge.weight == result
    assert edges(graph) == {("A", "B", "e"): result}


@pytest.mark.covers("graph.edges.update.errors")
def test_a_missing_edge_or_nothing_to_change_is_an_error(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_edges([EdgeInput("A", "B", "knows")])
    with pytest.raises(EdgeNotFoundError) as caught:
        graph.update_edges([EdgeUpdate(from_name="B", to_name="A", edge_type="knows", weight=0.5)])
    assert caught.value.problems[0].nearest == ('"A" -[knows]-> "B"',)
    with pytest.raises(EdgeNotFoundError, match="no node"):
        graph.update_edges([EdgeUpdate(from_name="A", to_name="Z", edge_type="e", weight=0.5)])
    for update in (
        EdgeUpdate(from_name="A", to_name="B", edge_type="knows"),
        EdgeUpdate(from_name="A", to_name="B", edge_type="knows", new_to="B"),
    ):
        with pytest.raises(NothingToChangeError):
            graph.update_edges([update])


@pytest.mark.covers("graph.edges.update.mode")
def test_an_unknown_weight_mode_is_a_problem(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_edges([EdgeInput("A", "B", "e")])
    mode: WeightMode = "add"  # type: ignore[assignment]  # what an untyped caller may send
    with pytest.raises(InvalidParamError) as caught:
        graph.update_edges(
            [EdgeUpdate(from_name="A", to_name="B", edge_type="e", weight=0.1, weight_mode=mode)]
        )
    assert told(caught.value) == [("INVALID_PARAM", "$.edges[0].weightMode")]


@pytest.mark.covers("graph.edges.move")
def test_an_edge_moves_to_other_ends_and_another_type_and_keeps_its_id(
    graph: KnowledgeGraph,
) -> None:
    with_nodes(graph)
    (before,) = graph.add_edges([EdgeInput("A", "B", "e", 0.5)]).edges
    (moved,) = graph.update_edges(
        [
            EdgeUpdate(
                from_name="A",
                to_name="B",
                edge_type="e",
                new_from="C",
                new_to="D",
                new_edge_type="f",
                weight=0.7,
            )
        ]
    ).edges
    assert edges(graph) == {("C", "D", "f"): 0.6}
    assert (moved.id, moved.revision) == (before.id, 2)


@pytest.mark.covers("graph.edges.move.checked")
def test_a_move_needs_ends_that_exist_and_a_free_goal(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_edges([EdgeInput("A", "B", "e"), EdgeInput("A", "C", "e"), EdgeInput("A", "D", "e")])
    with pytest.raises(InvalidParamError) as caught:
        graph.update_edges(
            [
                EdgeUpdate(from_name="A", to_name="B", edge_type="e", new_to="Z"),
                EdgeUpdate(from_name="A", to_name="C", edge_type="e", new_to="D"),
                EdgeUpdate(from_name="A", to_name="D", edge_type="e", new_edge_type=" "),
            ]
        )
    assert told(caught.value) == [
        ("NODE_NOT_FOUND", "$.edges[0].newTo"),
        ("INVALID_PARAM", "$.edges[2].newEdgeType"),
    ]
    with pytest.raises(EdgeExistsError):
        graph.update_edges([EdgeUpdate(from_name="A", to_name="C", edge_type="e", new_to="D")])


@pytest.mark.covers("graph.edges.move.checked")
def test_moves_of_one_call_are_checked_against_each_other(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_edges([EdgeInput("A", "B", "e", 0.1), EdgeInput("A", "C", "e", 0.2)])

    def move(to_name: str, new_to: str) -> EdgeUpdate:
        return EdgeUpdate(from_name="A", to_name=to_name, edge_type="e", new_to=new_to)

    with pytest.raises(DuplicateInCallError) as caught:
        graph.update_edges([move("B", "D"), move("C", "D")])
    assert told(caught.value) == [("DUPLICATE_IN_CALL", "$.edges[1]")]
    # A goal that another item of the call leaves is free.
    graph.update_edges([move("B", "C"), move("C", "D")])
    assert edges(graph) == {("A", "C", "e"): 0.1, ("A", "D", "e"): 0.2}


@pytest.mark.covers("graph.edges.move.checked")
def test_a_chain_of_moves_may_be_given_in_any_order(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    steps = [("A", "B"), ("B", "C"), ("C", "D")]
    for order in itertools.permutations(steps):
        graph.add_edges([EdgeInput("A", start, "e", 0.5) for start, _ in steps])
        updates = [
            EdgeUpdate(from_name="A", to_name=start, edge_type="e", new_to=end)
            for start, end in order
        ]
        moved = graph.update_edges(updates).edges
        assert [record.edge.to_name for record in moved] == [end for _, end in order]
        assert sorted(key[1] for key in edges(graph)) == ["B", "C", "D"]
        graph.delete_edges([EdgeKey("A", end, "e") for _, end in steps])


@pytest.mark.covers("graph.edges.move.checked")
def test_edges_may_swap_places_in_one_call_and_be_swapped_back(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    first = {("A", "B", "e"): 0.1, ("A", "C", "e"): 0.2, ("A", "D", "e"): 0.3}
    graph.add_edges([EdgeInput(*key, weight) for key, weight in first.items()])

    def turn(*steps: str) -> None:
        graph.update_edges(
            [
                EdgeUpdate(from_name="A", to_name=step[0], edge_type="e", new_to=step[1])
                for step in steps
            ]
        )

    turn("BC", "CB")
    assert edges(graph) == {("A", "C", "e"): 0.1, ("A", "B", "e"): 0.2, ("A", "D", "e"): 0.3}
    turn("BC", "CD", "DB")
    assert edges(graph) == {("A", "D", "e"): 0.1, ("A", "C", "e"): 0.2, ("A", "B", "e"): 0.3}
    turn("DB", "BD")
    assert edges(graph) == {("A", "B", "e"): 0.1, ("A", "C", "e"): 0.2, ("A", "D", "e"): 0.3}


@pytest.mark.covers("graph.revision")
def test_an_edge_with_another_revision_is_a_conflict(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_edges([EdgeInput("A", "B", "e")])

    def weigh(revision: int) -> EdgeUpdate:
        return EdgeUpdate(
            from_name="A", to_name="B", edge_type="e", weight=0.5, expected_revision=revision
        )

    graph.update_edges([weigh(1)])
    with pytest.raises(ConflictError):
        graph.update_edges([weigh(1)])
    assert edges(graph) == {("A", "B", "e"): 0.75}


@pytest.mark.covers("graph.edges.delete")
def test_deleting_takes_exact_triples_and_lists_the_rest(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    graph.add_edges([EdgeInput("A", "B", "e"), EdgeInput("A", "B", "f")])
    result = graph.delete_edges([EdgeKey("A", "B", "e"), EdgeKey("B", "A", "e")])
    assert result.deleted == (EdgeKey("A", "B", "e"),)
    assert result.not_found == (EdgeKey("B", "A", "e"),)
    assert edges(graph) == {("A", "B", "f"): 1.0}
    with pytest.raises(EdgeNotFoundError):
        graph.delete_edges([EdgeKey("A", "B", "e"), EdgeKey("Z", "B", "\ud800")])
    with pytest.raises(DuplicateInCallError):
        graph.delete_edges([EdgeKey("A", "B", "f"), EdgeKey("A", "B", "f")])


@pytest.mark.covers("graph.stale.edges")
def test_a_gone_edge_leaves_a_stale_line_when_nothing_joins_the_two_any_more(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("A", "x", ("Friend: B",)), NodeInput("B", "x")])
    graph.add_edges([EdgeInput("A", "B", "likes"), EdgeInput("B", "A", "knows")])
    assert graph.delete_edges([EdgeKey("A", "B", "likes")]).stale_lines == ()
    (hit,) = graph.delete_edges([EdgeKey("B", "A", "knows")]).stale_lines
    assert (hit.node_name, hit.line) == ("A", "Friend: B")


@pytest.mark.covers("graph.stale.edges")
def test_a_relationship_line_is_stale_as_soon_as_its_own_edge_is_gone_or_moved(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("Bree", "place"), NodeInput("Shire", "place")])
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "home": "Bree"})
    graph.add_edges([EdgeInput("Sam", "Bree", "likes")])
    result = graph.update_edges(
        [EdgeUpdate(from_name="Sam", to_name="Bree", edge_type="lives_in", new_to="Shire")]
    )
    assert [(hit.node_name, hit.line) for hit in result.stale_lines] == [("Sam", "Home: Bree")]
    # Deleting an edge that the line does not stand for leaves nothing stale.
    assert graph.delete_edges([EdgeKey("Sam", "Bree", "likes")]).stale_lines == ()


@pytest.mark.covers("graph.edges.missing-end")
def test_an_end_that_cannot_exist_is_just_not_found(graph: KnowledgeGraph) -> None:
    with_nodes(graph)
    with pytest.raises(NodeNotFoundError):
        graph.add_edges([EdgeInput("A", "B\x00", "e"), EdgeInput("\ud800", "B", "e")])
