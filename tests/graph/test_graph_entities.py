"""The verbs that schemas generate: graph.md §4, expected values worked out by hand."""

import pytest

from schemory.errors import (
    ConflictError,
    InvalidParamError,
    NodeExistsError,
    NodeNotFoundError,
    NothingToChangeError,
    SchemoryError,
    SecretDetectedError,
    UnknownTypeError,
    WrongTypeError,
)
from schemory.graph.inputs import EdgeInput, EdgeUpdate, NodeInput
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import IMPORTED, Edge, NewEdge
from schemory.model.jsonvalue import Json
from schemory.model.node import NewNode, Node
from schemory.schemas.catalog import FixedSource, SchemaCatalog
from schemory.storage.protocols import WriteContext

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # the shape of one, made up here


@pytest.fixture
def shire(graph: KnowledgeGraph) -> KnowledgeGraph:
    """Three places and the hero Sam, who is at home in Bree."""
    graph.add_nodes([NodeInput(name, "place") for name in ("Bree", "Shire", "Moria")])
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "home": "Bree"})
    return graph


def lines(graph: KnowledgeGraph, name: str) -> tuple[str, ...]:
    return graph.open_nodes([name]).nodes[0].node.metadata


def edges(graph: KnowledgeGraph) -> dict[tuple[str, str, str], str | None]:
    return {(*r.key,): r.property_name for r in graph.read_graph().edges}


def weights(graph: KnowledgeGraph) -> dict[tuple[str, str, str], float]:
    return {(*r.key,): r.edge.weight for r in graph.read_graph().edges}


def told(error: SchemoryError) -> list[tuple[str, str]]:
    return [(problem.code, problem.path) for problem in error.problems]


def put(graph: KnowledgeGraph, *lines_of_sam: str, to: tuple[tuple[str, str], ...]) -> None:
    """Store Sam as an import does: lines as they are, edges that do not say what made them."""
    with graph.store.transaction("default", WriteContext(operation="import-graph")) as tx:
        tx.insert_nodes([NewNode(node=Node("Sam", "hero", ("Role: Thief", *lines_of_sam)))])
        for target, edge_type in to:
            if not tx.find_nodes([target]):
                tx.insert_nodes([NewNode(node=Node(target, "place"))])
            edge = Edge("Sam", target, edge_type, 0.3)
            tx.insert_edges([NewEdge(edge=edge, property_name=IMPORTED)])


@pytest.mark.covers("graph.entity.add")
def test_an_entity_is_its_lines_in_schema_order_its_extras_and_its_edges(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("Bree", "place")])
    result = graph.add_entity(
        "hero",
        {"petName": "Bill", "level": 3, "currentLocation": "Bree", "role": "Thief", "name": "Sam"},
    )
    node = result.nodes[0].node
    assert node.metadata == ("Role: Thief", "Current Location: Bree", "Level: 3", "Pet Name: Bill")
    assert [r.edge for r in result.edges] == [Edge("Sam", "Bree", "located_in", 1.0)]
    assert (node.name, node.node_type, result.removed_edges) == ("Sam", "hero", ())


@pytest.mark.covers("graph.entity.add.list")
def test_a_list_of_targets_is_one_line_and_one_edge_for_each_distinct_item(
    graph: KnowledgeGraph,
) -> None:
    for name in ("Merry", "Pippin"):
        graph.add_entity("hero", {"name": name, "role": "Thief"})
    graph.add_entity(
        "hero", {"name": "Sam", "role": "Thief", "friends": ["Merry", "Pippin", "Merry"]}
    )
    assert lines(graph, "Sam") == ("Role: Thief", "Friends: Merry, Pippin, Merry")
    assert edges(graph) == {
        ("Sam", "Merry", "friend_of"): "friends",
        ("Sam", "Pippin", "friend_of"): "friends",
    }


@pytest.mark.covers("graph.entity.direction", "graph.entity.weight")
def test_an_inward_relationship_leads_to_the_entity_with_the_schemas_weight(
    graph: KnowledgeGraph,
) -> None:
    graph.add_entity("hero", {"name": "Gandalf", "role": "Wizard"})
    graph.add_entity("hero", {"name": "Frodo", "role": "Thief", "mentor": "Gandalf"})
    assert weights(graph) == {("Gandalf", "Frodo", "taught_by"): 0.5}
    graph.add_entity("hero", {"name": "Bilbo", "role": "Thief"})
    result = graph.update_entity("hero", {"name": "Frodo", "mentor": "Bilbo"})
    assert [tuple(r.key) for r in result.removed_edges] == [("Gandalf", "Frodo", "taught_by")]
    assert weights(graph) == {("Bilbo", "Frodo", "taught_by"): 0.5}


@pytest.mark.covers("graph.entity.self")
def test_an_entity_may_relate_to_itself(graph: KnowledgeGraph) -> None:
    graph.add_entity("hero", {"name": "Gollum", "role": "Thief", "friends": ["Gollum"]})
    assert edges(graph) == {("Gollum", "Gollum", "friend_of"): "friends"}


@pytest.mark.covers("graph.entity.add.taken")
def test_a_taken_name_is_refused_with_the_call_that_changes_the_node(shire: KnowledgeGraph) -> None:
    with pytest.raises(NodeExistsError) as caught:
        shire.add_entity("hero", {"name": "Sam", "role": "Thief"})
    assert told(caught.value) == [("NODE_EXISTS", "$.hero.name")]
    assert caught.value.suggestions == ('update_hero {"hero":{"name":"Sam", …}} changes it',)
    with pytest.raises(NodeExistsError):
        shire.add_entity("hero", {"name": "Bree", "role": "Thief"})


@pytest.mark.covers("graph.entity.problems")
def test_problems_of_values_name_and_targets_are_told_at_once(shire: KnowledgeGraph) -> None:
    with pytest.raises(InvalidParamError) as caught:
        shire.add_entity(
            "hero", {"name": "Sam", "role": "Dragon", "home": "Bre", "level": "many"}, path="$.x"
        )
    assert sorted(told(caught.value)) == [
        ("INVALID_PARAM", "$.x.level"),
        ("INVALID_PARAM", "$.x.role"),
        ("NODE_EXISTS", "$.x.name"),
        ("NODE_NOT_FOUND", "$.x.home"),
    ]


@pytest.mark.covers("graph.entity.missing-target")
def test_a_missing_target_stores_nothing_and_tells_the_call_that_creates_it(
    shire: KnowledgeGraph,
) -> None:
    with pytest.raises(NodeNotFoundError) as caught:
        shire.add_entity("hero", {"name": "Rose", "role": "Thief", "home": "Shiree"})
    (problem,) = caught.value.problems
    assert problem.path == "$.hero.home"
    assert '"Shiree"' in problem.message
    assert problem.nearest == ("Shire",)
    assert problem.suggestion == (
        'add_place {"place":{"name":"Shiree"}} or '
        'add_nodes {"nodes":[{"name":"Shiree","nodeType":"place"}]} creates it; then call again'
    )
    assert shire.open_nodes(["Rose"]).not_found == ("Rose",)
    shire.add_entity("place", {"name": "Shiree"})
    shire.add_entity("hero", {"name": "Rose", "role": "Thief", "home": "Shiree"})
    assert ("Rose", "Shiree", "lives_in") in edges(shire)


@pytest.mark.covers("graph.entity.on-missing")
def test_on_missing_create_makes_a_stub_that_validate_lists_until_more_is_told(
    graph: KnowledgeGraph,
) -> None:
    result = graph.add_entity("hero", {"name": "Sam", "role": "Thief", "guild": "Gardeners"})
    assert [r.node for r in result.nodes[1:]] == [Node("Gardeners", "guild")]
    assert edges(graph) == {("Sam", "Gardeners", "member_of"): "guild"}
    assert any("Gardeners" in text for text in result.warnings)
    assert graph.validate().stubs == ("Gardeners",)
    graph.update_entity("guild", {"name": "Gardeners", "motto": "Dig"})
    assert graph.validate().stubs == ()


@pytest.mark.covers("graph.entity.on-missing")
def test_a_stub_is_held_to_the_rules_of_names_and_types(strict: KnowledgeGraph) -> None:
    with pytest.raises(InvalidParamError) as caught:
        strict.add_entity("hero", {"name": "Sam", "role": "Thief", "guild": "x" * 501})
    assert told(caught.value) == [("INVALID_PARAM", "$.hero.guild")]
    catalog = SchemaCatalog(
        [FixedSource(tuple(s for s in strict.catalog.schemas() if s.node_type != "guild"))]
    )
    without = KnowledgeGraph(strict.store, space="default", catalog=catalog, strict_types=True)
    with pytest.raises(UnknownTypeError):
        without.add_entity("hero", {"name": "Sam", "role": "Thief", "guild": "Gardeners"})


@pytest.mark.covers("graph.entity.missing-target")
def test_a_target_whose_type_needs_more_than_a_name_is_made_by_add_nodes(
    graph: KnowledgeGraph,
) -> None:
    long = "Frodo " * 30 + "!"
    with pytest.raises(NodeNotFoundError) as caught:
        graph.add_entity("hero", {"name": "Sam", "role": "Thief", "friends": [long]})
    # The call stands there whole, however long the name is.
    call = f'add_nodes {{"nodes":[{{"name":"{long}","nodeType":"hero"}}]}}'
    assert caught.value.suggestions == (f"{call} creates it; then call again",)


@pytest.mark.covers("graph.entity.target-type")
def test_a_target_of_another_type_is_a_warning_or_with_enforce_an_error(
    shire: KnowledgeGraph,
) -> None:
    result = shire.add_entity("hero", {"name": "Rose", "role": "Thief", "home": "Sam"})
    assert len(result.warnings) == 1
    assert "place" in result.warnings[0]
    assert ("Rose", "Sam", "lives_in") in edges(shire)
    with pytest.raises(WrongTypeError) as caught:
        shire.update_entity("hero", {"name": "Rose", "realm": "Sam"})
    assert told(caught.value) == [("WRONG_TYPE", "$.hero.realm")]
    shire.update_entity("hero", {"name": "Rose", "realm": "Moria"})


@pytest.mark.covers("graph.entity.unknown-type")
def test_a_type_without_schema_is_refused_with_the_nearest(graph: KnowledgeGraph) -> None:
    for call in (graph.add_entity, graph.update_entity):
        with pytest.raises(UnknownTypeError) as caught:
            call("heroo", {"name": "A"})
        assert caught.value.problems[0].nearest == ("hero",)
    with pytest.raises(UnknownTypeError):
        graph.delete_entity("heroo", "A")


@pytest.mark.covers("graph.entity.update.lines")
def test_an_update_changes_only_the_lines_of_given_properties_in_place(
    shire: KnowledgeGraph,
) -> None:
    shire.update_entity("hero", {"name": "Sam", "petName": "Bill", "level": 1})
    result = shire.update_entity("hero", {"name": "Sam", "level": 2, "role": "Wizard"})
    assert result.nodes[0].node.metadata == (
        "Role: Wizard",
        "Home: Bree",
        "Level: 2",
        "Pet Name: Bill",
    )
    assert edges(shire) == {("Sam", "Bree", "lives_in"): "home"}


@pytest.mark.covers("graph.entity.update.edge")
def test_a_changed_target_replaces_line_and_edge(shire: KnowledgeGraph) -> None:
    result = shire.update_entity("hero", {"name": "Sam", "home": "Shire"})
    assert lines(shire, "Sam") == ("Role: Thief", "Home: Shire")
    assert edges(shire) == {("Sam", "Shire", "lives_in"): "home"}
    assert [tuple(r.key) for r in result.edges] == [("Sam", "Shire", "lives_in")]
    assert [tuple(r.key) for r in result.removed_edges] == [("Sam", "Bree", "lives_in")]


@pytest.mark.covers("graph.entity.update.kept")
def test_unchanged_targets_keep_their_edge_with_its_weight(graph: KnowledgeGraph) -> None:
    for name in ("Merry", "Pippin", "Frodo"):
        graph.add_entity("hero", {"name": name, "role": "Thief"})
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "friends": ["Merry", "Frodo"]})
    graph.update_edges(
        [EdgeUpdate(from_name="Sam", to_name="Frodo", edge_type="friend_of", weight=0.5)]
    )
    result = graph.update_entity("hero", {"name": "Sam", "friends": ["Frodo", "Pippin"]})
    assert weights(graph) == {
        ("Sam", "Frodo", "friend_of"): 0.75,
        ("Sam", "Pippin", "friend_of"): 1.0,
    }
    assert [r.edge.to_name for r in result.edges] == ["Frodo", "Pippin"]
    assert [r.edge.to_name for r in result.removed_edges] == ["Merry"]


@pytest.mark.covers("graph.entity.update.own-edges")
def test_an_update_never_removes_an_edge_that_add_edges_made(shire: KnowledgeGraph) -> None:
    shire.add_edges([EdgeInput("Sam", "Moria", "lives_in", 0.4)])
    shire.update_entity("hero", {"name": "Sam", "home": "Shire"})
    assert edges(shire) == {
        ("Sam", "Moria", "lives_in"): None,
        ("Sam", "Shire", "lives_in"): "home",
    }
    # It is simply kept when it already is the wanted one, and still no property's.
    result = shire.update_entity("hero", {"name": "Sam", "home": "Moria"})
    assert [r.edge.weight for r in result.edges] == [0.4]
    shire.update_entity("hero", {"name": "Sam", "home": None})
    assert edges(shire) == {("Sam", "Moria", "lives_in"): None}


@pytest.mark.covers("graph.entity.update.own-edges")
def test_two_properties_of_one_edge_type_do_not_take_each_others_edges(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput(name, "place") for name in ("Bree", "Shire", "Moria")])
    graph.add_entity(
        "hero", {"name": "Sam", "role": "Thief", "birthplace": "Shire", "currentLocation": "Bree"}
    )
    graph.update_entity("hero", {"name": "Sam", "currentLocation": "Moria"})
    assert edges(graph) == {
        ("Sam", "Shire", "located_in"): "birthplace",
        ("Sam", "Moria", "located_in"): "currentLocation",
    }


@pytest.mark.covers("graph.entity.update.shared-edge")
@pytest.mark.parametrize(
    "order", [("birthplace", "currentLocation"), ("currentLocation", "birthplace")]
)
def test_an_edge_that_two_properties_name_stays_until_both_let_go(
    graph: KnowledgeGraph, order: tuple[str, str]
) -> None:
    graph.add_nodes([NodeInput(name, "place") for name in ("Shire", "Moria")])
    graph.add_entity(
        "hero", {"name": "Sam", "role": "Thief", "birthplace": "Shire", "currentLocation": "Shire"}
    )
    assert list(edges(graph)) == [("Sam", "Shire", "located_in")]
    graph.update_entity("hero", {"name": "Sam", order[0]: "Moria"})
    # Whichever property made it, the one that still names the Shire owns it now.
    assert edges(graph)[("Sam", "Shire", "located_in")] == order[1]
    graph.update_entity("hero", {"name": "Sam", order[1]: "Moria"})
    assert list(edges(graph)) == [("Sam", "Moria", "located_in")]


@pytest.mark.covers("graph.entity.update.imported")
def test_an_imported_edge_of_the_type_counts_as_the_propertys(graph: KnowledgeGraph) -> None:
    put(graph, "currentLocation: Bree", to=(("Bree", "located_in"), ("Bree", "likes")))
    graph.add_nodes([NodeInput("Shire", "place")])
    result = graph.update_entity("hero", {"name": "Sam", "currentLocation": "Shire"})
    assert lines(graph, "Sam") == ("Role: Thief", "Current Location: Shire")
    assert [tuple(r.key) for r in result.removed_edges] == [("Sam", "Bree", "located_in")]
    assert edges(graph) == {
        ("Sam", "Bree", "likes"): IMPORTED,
        ("Sam", "Shire", "located_in"): "currentLocation",
    }


@pytest.mark.covers("graph.entity.update.imported")
def test_an_imported_edge_stays_while_another_propertys_line_names_its_target(
    graph: KnowledgeGraph,
) -> None:
    targets = (("Bree", "located_in"), ("Shire", "located_in"))
    put(graph, "Current Location: Bree", "Birthplace: Shire", to=targets)
    graph.update_entity("hero", {"name": "Sam", "currentLocation": None})
    assert lines(graph, "Sam") == ("Role: Thief", "Birthplace: Shire")
    assert edges(graph) == {("Sam", "Shire", "located_in"): IMPORTED}


@pytest.mark.covers("graph.entity.update.imported")
def test_an_imported_edge_to_the_wanted_target_is_kept_with_its_weight(
    graph: KnowledgeGraph,
) -> None:
    put(graph, "Current Location: Bree", to=(("Bree", "located_in"),))
    result = graph.update_entity("hero", {"name": "Sam", "currentLocation": "Bree"})
    assert result.removed_edges == ()
    assert weights(graph) == {("Sam", "Bree", "located_in"): 0.3}


@pytest.mark.covers("graph.entity.update.moved")
def test_an_edge_moved_to_another_target_still_is_the_propertys(shire: KnowledgeGraph) -> None:
    shire.update_edges(
        [EdgeUpdate(from_name="Sam", to_name="Bree", edge_type="lives_in", new_to="Moria")]
    )
    assert edges(shire) == {("Sam", "Moria", "lives_in"): "home"}
    shire.update_entity("hero", {"name": "Sam", "home": "Shire"})
    assert edges(shire) == {("Sam", "Shire", "lives_in"): "home"}


@pytest.mark.covers("graph.entity.update.moved")
def test_an_edge_moved_to_another_owner_or_type_is_nobodys_property(shire: KnowledgeGraph) -> None:
    shire.add_entity("hero", {"name": "Rose", "role": "Thief"})
    shire.update_edges(
        [EdgeUpdate(from_name="Sam", to_name="Bree", edge_type="lives_in", new_from="Rose")]
    )
    assert edges(shire) == {("Rose", "Bree", "lives_in"): None}
    shire.update_entity("hero", {"name": "Rose", "home": "Shire"})
    shire.update_edges(
        [EdgeUpdate(from_name="Rose", to_name="Shire", edge_type="lives_in", new_edge_type="likes")]
    )
    assert edges(shire)[("Rose", "Shire", "likes")] is None


@pytest.mark.covers("graph.entity.update.remove")
@pytest.mark.parametrize("nothing", [None, []])
def test_null_or_an_empty_list_removes_an_optional_property_with_line_and_edges(
    shire: KnowledgeGraph, nothing: list[str] | None
) -> None:
    result = shire.update_entity("hero", {"name": "Sam", "home": nothing})
    assert lines(shire, "Sam") == ("Role: Thief",)
    assert edges(shire) == {}
    assert [tuple(r.key) for r in result.removed_edges] == [("Sam", "Bree", "lives_in")]
    with pytest.raises(InvalidParamError) as caught:
        shire.update_entity("hero", {"name": "Sam", "role": nothing})
    assert told(caught.value) == [("INVALID_PARAM", "$.hero.role")]


@pytest.mark.covers("graph.entity.update.addressed")
def test_an_update_finds_the_node_by_name_and_type(shire: KnowledgeGraph) -> None:
    with pytest.raises(NodeNotFoundError) as missing:
        shire.update_entity("hero", {"name": "Samm", "level": 1})
    assert missing.value.problems[0].nearest == ("Sam",)
    with pytest.raises(WrongTypeError) as caught:
        shire.update_entity("hero", {"name": "Bree", "level": 1})
    (problem,) = caught.value.problems
    assert (problem.path, problem.nearest) == ("$.hero.name", ("place",))
    assert '"place"' in problem.message


@pytest.mark.covers("graph.entity.update.nothing", "graph.update.same")
def test_naming_nothing_to_change_is_an_error_but_telling_the_same_again_is_not(
    shire: KnowledgeGraph,
) -> None:
    with pytest.raises(NothingToChangeError):
        shire.update_entity("hero", {"name": "Sam"})
    result = shire.update_entity("hero", {"name": "Sam", "home": "Bree", "role": "Thief"})
    assert result.nodes[0].revision == 1
    assert [tuple(r.key) for r in result.edges] == [("Sam", "Bree", "lives_in")]
    told: dict[str, Json] = {"traits": ["kind"], "level": 3, "friends": ["Sam"]}
    assert shire.update_entity("hero", {"name": "Sam", **told}).nodes[0].revision == 2
    for key, value in told.items():
        result = shire.update_entity("hero", {"name": "Sam", key: value})
        assert result.nodes[0].revision == 2


@pytest.mark.covers("graph.revision")
def test_an_entity_with_another_revision_is_a_conflict(shire: KnowledgeGraph) -> None:
    shire.update_entity("hero", {"name": "Sam", "level": 1}, expected_revision=1)
    with pytest.raises(ConflictError) as caught:
        shire.update_entity("hero", {"name": "Sam", "level": 2}, expected_revision=1)
    assert told(caught.value) == [("CONFLICT", "$.hero.expectedRevision")]


@pytest.mark.covers("graph.entity.unique")
def test_a_unique_value_is_refused_in_another_node_of_the_type_only(graph: KnowledgeGraph) -> None:
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "badge": "No. 1"})
    graph.add_nodes([NodeInput("P", "place", ("Badge: No. 2",))])
    with pytest.raises(InvalidParamError) as caught:
        graph.add_entity("hero", {"name": "Rose", "role": "Thief", "badge": "No. 1"})
    (problem,) = caught.value.problems
    assert (problem.path, problem.nearest) == ("$.hero.badge", ("Sam",))
    assert "No. 1" not in problem.message
    for badge in ("No. 11", "no. 1", "No. 2"):
        graph.add_entity("hero", {"name": f"r{badge}", "role": "Thief", "badge": badge})
    graph.update_entity("hero", {"name": "Sam", "badge": "No. 1"})
    with pytest.raises(InvalidParamError):
        graph.update_entity("hero", {"name": "Sam", "badge": "No. 11"})


@pytest.mark.covers("graph.entity.unique")
def test_a_unique_value_is_found_in_an_imported_line_of_any_spelling(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Sam", "hero", ("Role: Thief", "BADGE: x"))])
    with pytest.raises(InvalidParamError):
        graph.add_entity("hero", {"name": "Rose", "role": "Thief", "badge": "x"})


@pytest.mark.covers("graph.secrets")
def test_a_credential_in_a_property_is_told_at_its_path(graph: KnowledgeGraph) -> None:
    properties = {"name": "Sam", "role": "Thief", "traits": ["kind", f"knows {TOKEN}"]}
    with pytest.raises(SecretDetectedError) as caught:
        graph.add_entity("hero", properties)
    assert told(caught.value) == [("SECRET_DETECTED", "$.hero.traits[1]")]
    assert len(graph.add_entity("hero", properties, allow_secret=True).warnings) == 1
    with pytest.raises(SecretDetectedError):
        graph.update_entity("hero", {"name": "Sam", "notes": TOKEN})


@pytest.mark.covers("graph.names.twins")
def test_an_entity_with_a_look_alike_name_is_stored_with_a_warning(shire: KnowledgeGraph) -> None:
    result = shire.add_entity("hero", {"name": "sam", "role": "Thief"})
    assert len(result.warnings) == 1


@pytest.mark.covers("graph.entity.delete")
def test_deleting_an_entity_needs_name_and_type_and_takes_its_edges(shire: KnowledgeGraph) -> None:
    with pytest.raises(WrongTypeError):
        shire.delete_entity("hero", "Bree")
    with pytest.raises(NodeNotFoundError):
        shire.delete_entity("hero", "Nobody")
    result = shire.delete_entity("place", "Bree")
    assert (result.deleted, result.not_found, result.edges_removed) == (("Bree",), (), 1)
    assert [(hit.node_name, hit.line) for hit in result.stale_lines] == [("Sam", "Home: Bree")]
    assert edges(shire) == {}
