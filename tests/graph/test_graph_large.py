"""What is done in steps inside is done whole: more of everything than one step takes."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from schemory.errors import InvalidParamError
from schemory.graph.inputs import EdgeInput, Filter, NodeInput, Sort
from schemory.graph.service import KnowledgeGraph
from schemory.model.edge import IMPORTED, Edge, NewEdge
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

COUNT = 1_100


@pytest.fixture
def crowd(catalog: SchemaCatalog) -> Iterator[KnowledgeGraph]:
    """1,100 heroes with badges, all at home in the World."""
    numbers = itertools.count()
    store = SqliteStore.open(
        ":memory:", now=lambda: datetime(2026, 3, 8, tzinfo=UTC), ids=lambda: f"id-{next(numbers)}"
    )
    graph = KnowledgeGraph(store, space="default", catalog=catalog)
    graph.add_nodes([NodeInput("World", "place")])
    graph.add_nodes(
        [
            NodeInput(f"h{i:04}", "hero", ("Role: Thief", "Home: World", f"Badge: 1{i:04}"))
            for i in range(COUNT)
        ]
    )
    graph.add_edges([EdgeInput(f"h{i:04}", "World", "lives_in") for i in range(COUNT)])
    yield graph
    store.close()


@pytest.mark.covers("graph.query.rename")
def test_all_lines_follow_a_renamed_hub(crowd: KnowledgeGraph) -> None:
    result = crowd.rename_node("World", "Arda")
    assert len(result.changed_nodes) == COUNT
    assert result.stale_lines == ()
    found = crowd.query_nodes("hero", filters=[Filter("home", "eq", "Arda")], limit=COUNT + 1)
    assert (len(found.nodes), found.more) == (COUNT, None)


@pytest.mark.covers("graph.query.merge")
def test_all_edges_of_a_merged_hub_move(crowd: KnowledgeGraph) -> None:
    crowd.add_nodes([NodeInput("Arda", "place")])
    result = crowd.merge_nodes("World", "Arda")
    assert (result.moved_edges, len(result.changed_nodes)) == (COUNT, COUNT)
    with crowd.reading() as reader:
        arda = reader.find_nodes(["Arda"])["Arda"]
        assert len(reader.edges_of(arda.id, limit=COUNT + 1)) == COUNT


@pytest.mark.covers("graph.entity.unique")
def test_a_unique_value_is_found_among_many_that_start_like_it(crowd: KnowledgeGraph) -> None:
    crowd.add_entity("hero", {"name": "Sam", "role": "Thief", "badge": "1"})
    with pytest.raises(InvalidParamError):
        crowd.add_entity("hero", {"name": "Rose", "role": "Thief", "badge": "1"})
    assert crowd.validate(limit=COUNT).faults == ()


@pytest.mark.covers("graph.validate.paged")
def test_validation_goes_through_all_nodes(crowd: KnowledgeGraph) -> None:
    page = crowd.validate("place")
    assert page.checked == 1
    with crowd.store.transaction("default", WriteContext(operation="test")) as tx:
        world = tx.find_nodes(["World"])["World"]
        edges = tx.edges_of(world.id, limit=COUNT)
        tx.delete_edges([edge.id for edge in edges])
    found, page = 0, crowd.validate(limit=300)
    while True:
        found += len(page.stale_lines)
        if page.more is None:
            break
        page = crowd.validate(limit=300, after=page.more)
    assert found == COUNT


@pytest.mark.covers("graph.entity.update.imported")
def test_all_imported_edges_of_a_property_go(crowd: KnowledgeGraph) -> None:
    crowd.add_entity("hero", {"name": "Sam", "role": "Thief"})
    with crowd.store.transaction("default", WriteContext(operation="import-graph")) as tx:
        tx.insert_edges(
            [
                NewEdge(edge=Edge("Sam", f"h{i:04}", "friend_of"), property_name=IMPORTED)
                for i in range(COUNT)
            ]
        )
    result = crowd.update_entity("hero", {"name": "Sam", "friends": ["h0001"]})
    assert len(result.removed_edges) == COUNT - 1
    assert [record.edge.to_name for record in result.edges] == ["h0001"]


@pytest.mark.covers("graph.query.sort")
def test_a_sorting_over_many_nodes_is_whole(crowd: KnowledgeGraph) -> None:
    sort = Sort("badge", descending=True)
    names: list[str] = []
    page = crowd.query_nodes("hero", sort=sort, limit=400)
    while True:
        names += [record.name for record in page.nodes]
        if page.more is None:
            break
        page = crowd.query_nodes("hero", sort=sort, limit=400, after=page.more)
    assert names == [f"h{i:04}" for i in reversed(range(COUNT))]
