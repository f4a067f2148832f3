"""Questions by property, counts, history and suspected duplicates (graph.md §8)."""

import itertools

import pytest

from schemory.errors import (
    InvalidCursorError,
    InvalidParamError,
    LimitExceededError,
    NodeNotFoundError,
    UnsupportedError,
)
from schemory.graph.inputs import EdgeInput, Filter, FilterOp, NodeInput, NodeUpdate, Sort
from schemory.graph.results import NodesQueried
from schemory.graph.service import KnowledgeGraph
from schemory.model.jsonvalue import Json
from schemory.storage.protocols import Capability


@pytest.fixture
def heroes(graph: KnowledgeGraph) -> KnowledgeGraph:
    """Four heroes and a place."""
    graph.add_entity(
        "hero", {"name": "Sam", "role": "Thief", "level": 9, "traits": ["loyal", "kind"]}
    )
    graph.add_entity(
        "hero", {"name": "Gandalf", "role": "Wizard", "level": 100, "born": "1000-01-01"}
    )
    graph.add_entity("hero", {"name": "Rose", "role": "Thief", "born": "1200-05-01T10:00:00Z"})
    graph.add_nodes([NodeInput("Old", "hero", ("Role: Thief", "level: 10", "Born: 1100-01-01"))])
    graph.add_nodes([NodeInput("Bree", "place", ("Level: 9",))])
    return graph


def found(page: NodesQueried) -> list[str]:
    return [record.name for record in page.nodes]


@pytest.mark.covers("graph.query.filters")
@pytest.mark.parametrize(
    ("name", "op", "value", "expected"),
    [
        ("role", "eq", "Thief", ["Sam", "Rose", "Old"]),
        ("role", "eq", "thief", []),
        ("role", "ne", "Thief", ["Gandalf"]),
        ("role", "contains", "wiz", ["Gandalf"]),
        ("role", "in", ["Wizard", "King"], ["Gandalf"]),
        ("level", "eq", 9, ["Sam"]),
        ("level", "eq", "9", ["Sam"]),
        ("level", "eq", 9.0, ["Sam"]),
        ("Level", "gt", 9, ["Gandalf", "Old"]),
        ("level", "ge", "10", ["Gandalf", "Old"]),
        ("level", "lt", 10, ["Sam"]),
        ("level", "le", 10, ["Sam", "Old"]),
        ("level", "exists", True, ["Sam", "Gandalf", "Old"]),
        ("level", "exists", False, ["Rose"]),
        ("level", "ne", 9, ["Gandalf", "Rose", "Old"]),
        ("traits", "eq", "kind", ["Sam"]),
        ("traits", "in", ["kind", "brave"], ["Sam"]),
        ("traits", "contains", "oya", ["Sam"]),
        ("born", "lt", "1100-01-02", ["Gandalf", "Old"]),
        ("BORN", "ge", "1200-05-01T09:00:00Z", ["Rose"]),
        ("born", "gt", "1200-05-01T12:30:00+02:00", []),
        ("name", "contains", "AM", ["Sam"]),
        ("nodeType", "eq", "hero", ["Sam", "Gandalf", "Rose", "Old"]),
        ("nothing", "exists", None, []),
    ],
)
def test_filters_compare_texts_numbers_and_dates_as_what_they_are(
    heroes: KnowledgeGraph, name: str, op: FilterOp, value: Json, expected: list[str]
) -> None:
    assert found(heroes.query_nodes("hero", filters=[Filter(name, op, value)])) == expected


@pytest.mark.covers("graph.query.filters")
def test_all_filters_must_hold_and_without_a_type_every_node_is_asked(
    heroes: KnowledgeGraph,
) -> None:
    both = [Filter("role", "eq", "Thief"), Filter("level", "ge", 9)]
    assert found(heroes.query_nodes("hero", filters=both)) == ["Sam", "Old"]
    assert found(heroes.query_nodes(filters=[Filter("level", "eq", 9)])) == ["Sam", "Bree"]


@pytest.mark.covers("graph.query.sort")
@pytest.mark.parametrize("limit", [1, 2, 10])
@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        (Sort("level"), ["Sam", "Old", "Gandalf", "Rose"]),
        (Sort("level", descending=True), ["Gandalf", "Old", "Sam", "Rose"]),
        (Sort("name"), ["Gandalf", "Old", "Rose", "Sam"]),
        (Sort("role"), ["Sam", "Rose", "Old", "Gandalf"]),
        (Sort("born"), ["Gandalf", "Old", "Rose", "Sam"]),
        (None, ["Sam", "Gandalf", "Rose", "Old"]),
    ],
)
def test_pages_follow_the_sorting_and_nodes_without_a_value_come_last(
    heroes: KnowledgeGraph, sort: Sort | None, expected: list[str], limit: int
) -> None:
    page = heroes.query_nodes("hero", sort=sort, limit=limit)
    names = found(page)
    while page.more is not None:
        page = heroes.query_nodes("hero", sort=sort, limit=limit, after=page.more)
        names += found(page)
    assert names == expected


@pytest.mark.covers("graph.query.bounds")
def test_the_work_of_a_page_is_bounded(heroes: KnowledgeGraph) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("schemory.graph.query.MAX_SCANNED", 3)
        patch.setattr("schemory.graph.query.MAX_SORTED", 3)
        page = heroes.query_nodes(filters=[Filter("name", "eq", "Bree")])
        assert (found(page), page.more is None) == ([], False)
        page = heroes.query_nodes(filters=[Filter("name", "eq", "Bree")], after=page.more)
        assert (found(page), page.more) == (["Bree"], None)
        with pytest.raises(LimitExceededError):
            heroes.query_nodes(sort=Sort("name"))


@pytest.mark.covers("graph.query.errors")
def test_every_faulty_filter_is_told(heroes: KnowledgeGraph) -> None:
    like: FilterOp = "like"  # type: ignore[assignment]  # what an untyped caller may send
    with pytest.raises(InvalidParamError) as caught:
        heroes.query_nodes(
            filters=[
                Filter("level", like, 1),
                Filter(" ", "eq", 1),
                Filter("level", "in", "1"),
                Filter("level", "gt", value=True),
                Filter("level", "eq", None),
                Filter("level", "exists", "yes"),
            ],
            limit=0,
        )
    assert [p.path for p in caught.value.problems] == [
        "$.filters[0].op",
        "$.filters[1].property",
        "$.filters[2].value",
        "$.filters[3].value",
        "$.filters[4].value",
        "$.filters[5].value",
        "$.limit",
    ]
    for after in (("s", "[]", 1), ("q", "x"), ("z",)):
        with pytest.raises(InvalidCursorError):
            heroes.query_nodes(sort=Sort("level"), after=after)
    with pytest.raises(InvalidCursorError):
        heroes.query_nodes(after=("s", "null", 1))


@pytest.mark.covers("graph.query.stats")
def test_stats_count_by_type_and_compare_with_the_schemas(heroes: KnowledgeGraph) -> None:
    heroes.add_nodes([NodeInput("X", "thing")])
    heroes.add_edges([EdgeInput("X", "Sam", "e"), EdgeInput("X", "Bree", "e")])
    stats = heroes.graph_stats()
    assert (stats.counts.nodes, stats.counts.edges) == (6, 2)
    assert stats.counts.node_types == {"hero": 4, "place": 1, "thing": 1}
    assert stats.counts.edge_types == {"e": 2}
    assert (stats.unused_types, stats.unknown_types) == (("guild",), ("thing",))
    assert stats.last_seq == 7


@pytest.mark.covers("graph.query.history")
def test_a_nodes_history_is_newest_first_also_when_it_is_gone(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("A", "x", ("one",)), NodeInput("B", "x")])
    if Capability.HISTORY not in graph.store.capabilities:
        with pytest.raises(UnsupportedError):
            graph.node_history("A")
        return
    graph.update_nodes([NodeUpdate(name="A", metadata=("two",))])
    graph.add_edges([EdgeInput("A", "B", "e")])
    graph.delete_nodes(["A"])
    history = graph.node_history("A")
    states = [
        version.record.node.metadata if version.record else None for version in history.versions
    ]
    assert states[0] is None
    assert [state for state, _ in itertools.groupby(states)] == [None, ("two",), ("one",)]
    assert [version.operation for version in history.versions] == [
        "delete_nodes",
        "add_edges",
        "update_nodes",
        "add_nodes",
    ]
    assert not history.is_truncated
    assert graph.node_history("A", limit=2).is_truncated
    for name in ("Z", "a\x00"):
        with pytest.raises(NodeNotFoundError):
            graph.node_history(name)
    with pytest.raises(InvalidParamError):
        graph.node_history("A", limit=0)


@pytest.mark.covers("graph.query.duplicates")
def test_twins_and_similar_names_are_told_once_at_their_oldest_node(graph: KnowledgeGraph) -> None:
    graph.add_nodes(
        [
            NodeInput(name, "x")
            for name in (
                "Data Service",
                "Gandalf the Grey",
                "Bree",
                "dataservice",
                "Gandalf the Gray",
            )
        ]
    )
    page = graph.find_duplicates()
    assert [(group.names, group.kind) for group in page.groups] == [
        (("Data Service", "dataservice"), "twin"),
        (("Gandalf the Grey", "Gandalf the Gray"), "similar"),
    ]
    # 15 of 16 characters agree: 2 * 15 / 32.
    assert [group.similarity for group in page.groups] == [1.0, 0.938]
    assert (page.checked, page.more) == (5, None)
    first = graph.find_duplicates(limit=1)
    assert len(first.groups) == 1
    assert first.more is not None
    assert graph.find_duplicates(after=first.more).groups == page.groups[1:]
    assert graph.find_duplicates(node_type="y").groups == ()
    with pytest.raises(InvalidParamError):
        graph.find_duplicates(limit=0)
    with pytest.raises(InvalidCursorError):
        graph.find_duplicates(after=("q", 1))
