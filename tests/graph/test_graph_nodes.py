"""Adding, updating and deleting nodes: all rules of graph.md §1 and §2 about them."""

from collections.abc import Callable

import pytest

from schemory.errors import (
    ConflictError,
    DuplicateInCallError,
    InvalidParamError,
    NodeExistsError,
    NodeNotFoundError,
    NothingToChangeError,
    SchemoryError,
    SecretDetectedError,
    UnknownTypeError,
)
from schemory.graph.inputs import EdgeInput, MetadataItem, NodeInput, NodeUpdate
from schemory.graph.results import Author
from schemory.graph.service import KnowledgeGraph
from schemory.model.node import NewNode, Node
from schemory.storage.protocols import Capability, WriteContext

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # the shape of one, made up here


def stored(graph: KnowledgeGraph) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {r.name: (r.node.node_type, r.node.metadata) for r in graph.read_graph().nodes}


def told(error: SchemoryError) -> list[tuple[str, str]]:
    return [(problem.code, problem.path) for problem in error.problems]


@pytest.mark.covers("graph.nodes.add")
def test_added_nodes_are_stored_in_order_with_their_lines(graph: KnowledgeGraph) -> None:
    lines = ("Role: Wizard: grey", "free text", "Traits:", "free text")
    result = graph.add_nodes([NodeInput("B", "x", lines), NodeInput("A", "y")])
    assert [r.node for r in result.nodes] == [Node("B", "x", lines), Node("A", "y", ())]
    assert list(stored(graph)) == ["B", "A"]
    assert result.warnings == ()


@pytest.mark.covers("graph.beside")
def test_times_revision_and_author_stand_beside_the_node(graph: KnowledgeGraph) -> None:
    (added,) = graph.add_nodes([NodeInput("A", "x", ("k: v",))], by=Author("ann/1", "stdio")).nodes
    (changed,) = graph.update_nodes([NodeUpdate(name="A", node_type="y")], by=Author("bob")).nodes
    assert (added.revision, added.author, added.created_at) == (
        1,
        "ann/1",
        "2026-03-08T09:05:07.000Z",
    )
    assert (changed.revision, changed.author) == (2, "bob")
    assert changed.id == added.id
    assert changed.node == Node("A", "y", ("k: v",))


@pytest.mark.covers("graph.nodes.add.taken")
def test_a_taken_name_is_refused_whatever_the_type(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Gandalf", "npc")])
    with pytest.raises(NodeExistsError) as caught:
        graph.add_nodes([NodeInput("New", "npc"), NodeInput("Gandalf", "place")])
    assert told(caught.value) == [("NODE_EXISTS", "$.nodes[1].name")]
    assert list(stored(graph)) == ["Gandalf"]


@pytest.mark.covers("graph.problems.all")
def test_every_problem_of_a_call_is_told_at_once_and_nothing_is_stored(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("Taken", "x")])
    with pytest.raises(InvalidParamError) as caught:
        graph.add_nodes(
            [
                NodeInput(" pad", "x"),
                NodeInput("Fine", "x"),
                NodeInput("Taken", ""),
                NodeInput("Line", "x", ("good", "bad \x00")),
            ]
        )
    assert told(caught.value) == [
        ("INVALID_PARAM", "$.nodes[0].name"),
        ("INVALID_PARAM", "$.nodes[2].nodeType"),
        ("NODE_EXISTS", "$.nodes[2].name"),
        ("INVALID_PARAM", "$.nodes[3].metadata[1]"),
    ]
    assert list(stored(graph)) == ["Taken"]


@pytest.mark.covers("graph.names.rules")
@pytest.mark.parametrize(
    "name",
    ["", " ", "\t", " a", "a ", "a\n", "a\x00b", "a\x07", "a\x1f", "a\ud800", "x" * 501],
)
def test_a_name_that_breaks_the_rules_is_refused(graph: KnowledgeGraph, name: str) -> None:
    with pytest.raises(InvalidParamError):
        graph.add_nodes([NodeInput(name, "x")])
    with pytest.raises(InvalidParamError):
        graph.add_nodes([NodeInput("n", name)])
    assert stored(graph) == {}


@pytest.mark.covers("graph.names.rules")
@pytest.mark.parametrize(
    "name", ["x" * 500, "a\tb", "a\nb\r", "__proto__", "👩‍👩‍👧", "עברית", "a'b\"c", "%", "\u200b"]
)
def test_any_other_name_is_stored_and_found(graph: KnowledgeGraph, name: str) -> None:
    clean = name.strip()
    graph.add_nodes([NodeInput(clean, "x")])
    assert list(stored(graph)) == [clean]
    assert graph.open_nodes([clean]).not_found == ()


@pytest.mark.covers("graph.names.trim")
def test_white_space_around_a_name_is_refused_with_the_name_that_would_do(
    graph: KnowledgeGraph,
) -> None:
    with pytest.raises(InvalidParamError) as caught:
        graph.add_nodes([NodeInput(" Bree ", "x")])
    assert caught.value.problems[0].suggestion == 'use "Bree"'


@pytest.mark.covers("graph.names.case")
def test_names_differ_by_case(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("bree", "x"), NodeInput("Bree", "x")])
    assert list(stored(graph)) == ["bree", "Bree"]


@pytest.mark.covers("graph.names.nfc")
def test_names_meet_in_nfc_when_written_and_when_looked_up(graph: KnowledgeGraph) -> None:
    (added,) = graph.add_nodes([NodeInput("Jose\u0301", "x")]).nodes
    assert added.name == "Jos\u00e9"
    assert graph.open_nodes(["Jose\u0301", "Jos\u00e9"]).matched == ("Jos\u00e9",)
    with pytest.raises(NodeExistsError):
        graph.add_nodes([NodeInput("Jos\u00e9", "x")])
    graph.update_nodes([NodeUpdate(name="Jose\u0301", metadata=("a: b",))])
    assert graph.delete_nodes(["Jose\u0301"]).deleted == ("Jos\u00e9",)


@pytest.mark.covers("graph.names.odd")
def test_a_stored_name_of_odd_shape_can_be_addressed(graph: KnowledgeGraph) -> None:
    odd = [" padded ", "x" * 600, "   "]
    with graph.store.transaction("default", WriteContext(operation="import-graph")) as tx:
        tx.insert_nodes([NewNode(node=Node(name, "old type ")) for name in odd])
    assert graph.open_nodes(odd).matched == tuple(odd)
    graph.update_nodes([NodeUpdate(name=name, metadata=("k: v",)) for name in odd])
    graph.update_nodes([NodeUpdate(name=odd[0], node_type="old type ", metadata=("k: w",))])
    graph.add_edges([EdgeInput(odd[0], odd[1], "e"), EdgeInput(odd[1], odd[2], "e")])
    assert graph.delete_nodes(odd).deleted == tuple(odd)


@pytest.mark.covers("graph.names.twins")
@pytest.mark.parametrize(
    "name", ["data service", "DataService", "Data\u00a0Service", "\uff24ata Service"]
)
def test_a_name_that_only_looks_different_is_stored_with_a_warning(
    graph: KnowledgeGraph, name: str
) -> None:
    graph.add_nodes([NodeInput("Data Service", "x")])
    result = graph.add_nodes([NodeInput(name, "x")])
    assert len(result.warnings) == 1
    assert "Data Service" in result.warnings[0]
    assert len(stored(graph)) == 2


@pytest.mark.covers("graph.names.twins")
def test_twins_within_one_call_are_told_too(graph: KnowledgeGraph) -> None:
    result = graph.add_nodes(
        [NodeInput("Bree", "x"), NodeInput("bree", "x"), NodeInput("Shire", "x")]
    )
    assert [text[:6] for text in result.warnings] == ['"bree"']


@pytest.mark.covers("graph.duplicate")
def test_the_same_node_twice_in_one_call_is_a_problem(graph: KnowledgeGraph) -> None:
    with pytest.raises(DuplicateInCallError) as caught:
        graph.add_nodes([NodeInput("Jos\u00e9", "x"), NodeInput("Jose\u0301", "y")])
    assert told(caught.value) == [("DUPLICATE_IN_CALL", "$.nodes[1].name")]
    graph.add_nodes([NodeInput("A", "x")])
    with pytest.raises(DuplicateInCallError):
        graph.update_nodes([NodeUpdate(name="A", node_type="y"), NodeUpdate(name="A", metadata=())])
    with pytest.raises(DuplicateInCallError):
        graph.delete_nodes(["A", "B", "A"])
    assert stored(graph) == {"A": ("x", ())}


@pytest.mark.covers("graph.nodes.add.partial")
def test_with_continue_on_error_the_rest_is_stored_and_each_failure_has_its_reason(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("Taken", "x")])
    inputs = [
        NodeInput("A", "x"),
        NodeInput("Taken", "x"),
        NodeInput("A", "x"),
        NodeInput("B", " "),
    ]
    result = graph.add_nodes(inputs, continue_on_error=True)
    assert [r.name for r in result.nodes] == ["A"]
    assert [(f.index, f.problems[0].code) for f in result.failures] == [
        (1, "NODE_EXISTS"),
        (2, "DUPLICATE_IN_CALL"),
        (3, "INVALID_PARAM"),
    ]
    assert list(stored(graph)) == ["Taken", "A"]


@pytest.mark.covers("graph.nodes.add.partial")
def test_when_nothing_at_all_can_be_stored_it_is_an_error_all_the_same(
    graph: KnowledgeGraph,
) -> None:
    with pytest.raises(InvalidParamError) as caught:
        graph.add_nodes([NodeInput("", "x"), NodeInput(" ", "x")], continue_on_error=True)
    assert len(caught.value.problems) == 2


@pytest.mark.covers("graph.empty-call")
def test_a_call_that_lists_nothing_is_an_error(graph: KnowledgeGraph) -> None:
    calls: list[Callable[[], object]] = [
        lambda: graph.add_nodes([]),
        lambda: graph.update_nodes([]),
        lambda: graph.delete_nodes([]),
        lambda: graph.add_edges([]),
        lambda: graph.update_edges([]),
        lambda: graph.delete_edges([]),
        lambda: graph.add_metadata([]),
        lambda: graph.delete_metadata([MetadataItem("A", ())]),
    ]
    for call in calls:
        with pytest.raises(NothingToChangeError):
            call()


@pytest.mark.covers("graph.types.strict")
def test_strict_types_refuse_a_type_without_schema_and_name_the_nearest(
    strict: KnowledgeGraph,
) -> None:
    with pytest.raises(UnknownTypeError) as caught:
        strict.add_nodes([NodeInput("A", "plce")])
    assert caught.value.problems[0].nearest == ("place",)
    strict.add_nodes([NodeInput("A", "place")])
    with pytest.raises(UnknownTypeError):
        strict.update_nodes([NodeUpdate(name="A", node_type="thing")])
    assert stored(strict) == {"A": ("place", ())}


@pytest.mark.covers("graph.types.strict")
def test_without_strict_types_any_type_may_be_stored(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "anything at all")])
    assert stored(graph) == {"A": ("anything at all", ())}


@pytest.mark.covers("graph.schema.static-tools")
def test_static_verbs_are_not_bound_by_schema_rules(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "hero", ("Role: Dragon",))])
    faults = graph.validate().faults
    assert [fault.node_name for fault in faults] == ["A"]


@pytest.mark.covers("graph.nodes.update")
def test_an_update_replaces_all_lines_and_may_change_the_type(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "x", ("a", "b")), NodeInput("B", "x", ("c",))])
    result = graph.update_nodes(
        [NodeUpdate(name="B", node_type="y"), NodeUpdate(name="A", metadata=("d",))]
    )
    assert [r.node for r in result.nodes] == [Node("B", "y", ("c",)), Node("A", "x", ("d",))]
    assert stored(graph) == {"A": ("x", ("d",)), "B": ("y", ("c",))}


@pytest.mark.covers("graph.nodes.update.errors")
def test_an_unknown_name_or_nothing_to_change_is_an_error_and_nothing_changes(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("Gandalf", "x")])
    with pytest.raises(InvalidParamError) as caught:
        graph.update_nodes(
            [NodeUpdate(name="Gandalf"), NodeUpdate(name="Gandolf", metadata=("a",))]
        )
    assert told(caught.value) == [
        ("NOTHING_TO_CHANGE", "$.nodes[0]"),
        ("NODE_NOT_FOUND", "$.nodes[1].name"),
    ]
    assert caught.value.problems[1].nearest == ("Gandalf",)


@pytest.mark.covers("graph.update.same")
def test_an_update_to_what_is_there_already_succeeds_and_writes_nothing(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("A", "x", ("a",))])
    (record,) = graph.update_nodes([NodeUpdate(name="A", node_type="x", metadata=("a",))]).nodes
    assert record.revision == 1
    with graph.reading() as reader:
        assert reader.last_seq() == 1


@pytest.mark.covers("graph.revision")
def test_an_expected_revision_that_has_passed_is_a_conflict(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "x")])
    graph.update_nodes([NodeUpdate(name="A", node_type="y", expected_revision=1)])
    with pytest.raises(ConflictError) as caught:
        graph.update_nodes([NodeUpdate(name="A", node_type="z", expected_revision=1)])
    assert told(caught.value) == [("CONFLICT", "$.nodes[0].expectedRevision")]
    assert stored(graph) == {"A": ("y", ())}


@pytest.mark.covers("graph.nodes.delete")
def test_deleting_takes_the_edges_along_and_lists_what_was_not_there(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput(name, "x") for name in "ABC"])
    graph.add_edges([EdgeInput("A", "B", "e"), EdgeInput("C", "A", "e"), EdgeInput("A", "A", "e")])
    graph.add_edges([EdgeInput("B", "C", "e")])
    result = graph.delete_nodes(["A", "Z"])
    assert (result.deleted, result.not_found, result.edges_removed) == (("A",), ("Z",), 3)
    page = graph.read_graph()
    assert [r.name for r in page.nodes] == ["B", "C"]
    assert [tuple(r.key) for r in page.edges] == [("B", "C", "e")]


@pytest.mark.covers("graph.nodes.delete.nothing")
def test_deleting_nothing_at_all_is_an_error_with_the_nearest_names(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Rivendell", "x")])
    with pytest.raises(NodeNotFoundError) as caught:
        graph.delete_nodes(["Rivendel", "\ud800", "a\x00"])
    assert [p.path for p in caught.value.problems] == [f"$.nodeNames[{i}]" for i in range(3)]
    assert caught.value.problems[0].nearest == ("Rivendell",)


@pytest.mark.covers("graph.stale.delete")
def test_a_delete_says_which_lines_still_name_the_node_and_leaves_them_alone(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes(
        [
            NodeInput("Bree", "x"),
            NodeInput("A", "x", ("Home: Bree", "Role: Bree-lander", "Seen: Shire, Bree, Moria")),
            NodeInput("B", "x", ("Home: bree",)),
        ]
    )
    result = graph.delete_nodes(["Bree"])
    assert [(hit.node_name, hit.line) for hit in result.stale_lines] == [
        ("A", "Home: Bree"),
        ("A", "Seen: Shire, Bree, Moria"),
    ]
    assert stored(graph)["A"][1][0] == "Home: Bree"


@pytest.mark.covers("graph.stale.bounded")
def test_stale_lines_are_bounded_and_the_answer_says_so(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Bree", "x")])
    graph.add_nodes([NodeInput(f"n{i}", "x", ("Home: Bree",)) for i in range(30)])
    result = graph.delete_nodes(["Bree"])
    assert len(result.stale_lines) == 20
    assert "validate" in result.warnings[0]


@pytest.mark.covers("graph.secrets")
def test_a_credential_is_refused_with_rule_and_place_and_never_its_value(
    graph: KnowledgeGraph,
) -> None:
    with pytest.raises(SecretDetectedError) as caught:
        graph.add_nodes([NodeInput("A", "x", ("fine", f"Token: {TOKEN}"))])
    (problem,) = caught.value.problems
    assert problem.path == "$.nodes[0].metadata[1]"
    assert "characters 8 to 47" in problem.message
    assert TOKEN not in str(caught.value) + repr(caught.value.problems)
    assert stored(graph) == {}
    graph.add_nodes([NodeInput("A", "x")])
    with pytest.raises(SecretDetectedError):
        graph.update_nodes([NodeUpdate(name="A", metadata=(TOKEN,))])


@pytest.mark.covers("graph.secrets.allow")
def test_allow_secret_stores_it_with_a_warning(graph: KnowledgeGraph) -> None:
    result = graph.add_nodes([NodeInput("A", "x", (TOKEN,))], allow_secret=True)
    assert len(result.warnings) == 1
    assert TOKEN not in result.warnings[0]
    assert stored(graph)["A"][1] == (TOKEN,)


@pytest.mark.covers("graph.secrets.story")
def test_a_story_may_have_a_password(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Moria", "x", ("Password: moonlight",))])
    assert stored(graph)["Moria"][1] == ("Password: moonlight",)


@pytest.mark.covers("graph.spaces")
def test_each_space_has_a_graph_of_its_own(graph: KnowledgeGraph) -> None:
    other = graph.for_space("other")
    graph.add_nodes([NodeInput("A", "x")])
    assert stored(other) == {}
    if Capability.SPACES not in graph.store.capabilities:
        pytest.skip("this store has one space")
    other.add_nodes([NodeInput("A", "y")])
    assert stored(graph) == {"A": ("x", ())}
    assert stored(other) == {"A": ("y", ())}
    assert graph.for_space("default") is graph
