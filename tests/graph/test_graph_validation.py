"""`validate`: misfits with a fix each, stubs, stale lines (graph.md §2, §4)."""

import pytest

from schemory.errors import InvalidCursorError, InvalidParamError, UnknownTypeError
from schemory.graph.inputs import EdgeInput, NodeInput
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import EdgeKey
from schemory.schemas.catalog import FixedSource, SchemaCatalog
from schemory.schemas.parse import parse_schema
from schemory.storage.protocols import GraphStore


@pytest.mark.covers("graph.validate.fits")
def test_a_graph_that_fits_has_no_findings(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Bree", "place"), NodeInput("Free", "no schema", ("x",))])
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "home": "Bree", "friends": ["Sam"]})
    page = graph.validate()
    assert (page.faults, page.stubs, page.stale_lines, page.more) == ((), (), (), None)
    assert page.checked == 3


@pytest.mark.covers("graph.validate.misfits")
def test_a_node_that_does_not_fit_is_told_with_a_fix_for_each_problem(
    graph: KnowledgeGraph,
) -> None:
    graph.add_nodes([NodeInput("Sam", "hero", ("Role: Dragon", "Level: many"))])
    (fault,) = graph.validate().faults
    assert (fault.node_name, fault.node_type) == ("Sam", "hero")
    assert [problem.path for problem in fault.problems] == ["$.hero.role", "$.hero.level"]
    assert all("update_hero" in (problem.suggestion or "") for problem in fault.problems)


@pytest.mark.covers("graph.validate.schema-change")
def test_changing_a_schema_touches_no_node_and_validate_tells_what_no_longer_fits(
    store: GraphStore, graph: KnowledgeGraph
) -> None:
    graph.add_entity("place", {"name": "Bree"})
    parsed = parse_schema(
        {
            "name": "add_place",
            "description": "A place",
            "properties": {
                "region": {"type": "string", "description": "where", "required": True},
            },
        }
    )
    assert parsed.schema is not None
    changed = KnowledgeGraph(
        store, space="default", catalog=SchemaCatalog([FixedSource((parsed.schema,))])
    )
    assert changed.open_nodes(["Bree"]).nodes[0].revision == 1
    (fault,) = changed.validate().faults
    assert [problem.path for problem in fault.problems] == ["$.place.region"]


@pytest.mark.covers("graph.validate.unique")
def test_a_shared_unique_value_is_told_for_both_nodes(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput(name, "hero", ("Role: Thief", "Badge: 7")) for name in ("A", "B")])
    faults = graph.validate().faults
    assert [(f.node_name, f.problems[0].nearest) for f in faults] == [("A", ("B",)), ("B", ("A",))]


@pytest.mark.covers("graph.validate.stale")
def test_lines_of_relationships_without_their_edge_are_stale(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Bree", "place"), NodeInput("Shire", "place")])
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "home": "Bree"})
    graph.add_entity("hero", {"name": "Rose", "role": "Thief", "friends": ["Sam", "Rose"]})
    graph.delete_edges([EdgeKey("Sam", "Bree", "lives_in")])
    graph.delete_edges([EdgeKey("Rose", "Sam", "friend_of")])
    graph.add_nodes([NodeInput("Bob", "hero", ("Role: Thief", "home: Nowhere", "Note: Bree"))])
    found = [(hit.node_name, hit.line) for hit in graph.validate().stale_lines]
    assert found == [
        ("Sam", "Home: Bree"),
        ("Rose", "Friends: Sam, Rose"),
        ("Bob", "home: Nowhere"),
    ]


@pytest.mark.covers("graph.validate.stale")
def test_a_joined_line_of_names_with_commas_is_read_in_any_way_that_fits(
    graph: KnowledgeGraph,
) -> None:
    names = ("Sam, the Brave", "Rose", "A, B, C")
    graph.add_nodes([NodeInput(name, "hero", ("Role: Thief",)) for name in names])
    line = "Friends: Rose, Sam, the Brave, A, B, C"
    graph.add_nodes([NodeInput("Bob", "hero", ("Role: Thief", line))])
    graph.add_edges([EdgeInput("Bob", name, "friend_of") for name in names])
    assert graph.validate().stale_lines == ()
    graph.delete_edges([EdgeKey("Bob", "A, B, C", "friend_of")])
    assert [hit.line for hit in graph.validate().stale_lines] == [line]


@pytest.mark.covers("graph.validate.strict")
def test_where_types_are_strict_nodes_of_unknown_type_are_told(strict: KnowledgeGraph) -> None:
    loose = KnowledgeGraph(strict.store, space="default", catalog=strict.catalog)
    loose.add_nodes([NodeInput("A", "plcae"), NodeInput("B", "place")])
    assert loose.validate().faults == ()
    (fault,) = strict.validate().faults
    (problem,) = fault.problems
    assert (fault.node_name, problem.code, problem.nearest) == ("A", "UNKNOWN_TYPE", ("place",))
    assert problem.suggestion == 'update_nodes {"nodes":[{"name":"A","nodeType":"place"}]}'


@pytest.mark.covers("graph.validate.paged")
def test_findings_come_in_pages_that_together_are_all_of_them(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput(f"h{i}", "hero") for i in range(7)])
    graph.add_nodes([NodeInput(f"p{i}", "place") for i in range(3)])
    found: list[str] = []
    page = graph.validate(limit=2)
    pages = 1
    while True:
        found += [fault.node_name for fault in page.faults]
        if page.more is None:
            break
        page = graph.validate(limit=2, after=page.more)
        pages += 1
    assert found == [f"h{i}" for i in range(7)]
    assert pages == 4


@pytest.mark.covers("graph.validate.type")
def test_one_type_can_be_validated_and_an_unknown_one_is_an_error(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "hero"), NodeInput("B", "guild"), NodeInput("C", "other")])
    assert [f.node_name for f in graph.validate("guild").faults] == ["B"]
    assert graph.validate("other").checked == 1
    with pytest.raises(UnknownTypeError) as caught:
        graph.validate("heroo")
    assert caught.value.problems[0].nearest == ("hero",)
    with pytest.raises(InvalidParamError):
        graph.validate(limit=0)
    with pytest.raises(InvalidCursorError):
        graph.validate(after=("q", 1))
