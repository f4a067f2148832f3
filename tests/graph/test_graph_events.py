"""Events: names, payloads, vetoes and their moment (G§8, graph.md §6)."""

import logging
from pathlib import Path

import pytest

from schemory.errors import VetoedError
from schemory.graph.events import EventBus
from schemory.graph.inputs import EdgeInput, EdgeUpdate, MetadataItem, NodeInput, NodeUpdate
from schemory.graph.service import KnowledgeGraph
from schemory.model import events
from schemory.model.edge import Edge, EdgeKey
from schemory.model.events import (
    AfterAddNodes,
    AfterCommit,
    AfterDeleteNodes,
    BeforeAddNodes,
    Event,
)
from schemory.model.graph import Graph
from schemory.model.jsonvalue import Json
from schemory.model.node import Node
from schemory.schemas.catalog import FolderSource, SchemaCatalog
from schemory.storage.protocols import GraphStore

A, B = Node("A", "x", ("a",)), Node("B", "x")
AB = Edge("A", "B", "e", 1.0)


def every_event() -> list[type[Event]]:
    kinds = [each for each in vars(events).values() if isinstance(each, type)]
    return [each for each in kinds if issubclass(each, Event) and each.name]


@pytest.fixture
def told(graph: KnowledgeGraph) -> list[tuple[str, dict[str, object]]]:
    """Everything the bus tells, as (name, payload)."""
    found: list[tuple[str, dict[str, object]]] = []
    for kind in every_event():
        graph.events.subscribe(kind, lambda event: found.append((event.name, event.payload())))
    return found


def own(told: list[tuple[str, dict[str, object]]]) -> list[tuple[str, dict[str, object]]]:
    """Return what was told beside the transaction's own events, and forget it."""
    frame = {"beforeBeginTransaction", "afterCommit"}
    found = [item for item in told if item[0] not in frame]
    told.clear()
    return found


@pytest.mark.covers("graph.events.names")
def test_there_are_the_specified_events_and_pairs_for_every_other_change() -> None:
    specified = {
        "beforeAddNodes",
        "afterAddNodes",
        "beforeDeleteNodes",
        "afterDeleteNodes",
        "beforeAddEdges",
        "afterAddEdges",
        "beforeSearch",
        "afterSearch",
        "beforeBeginTransaction",
        "afterCommit",
        "beforeRollback",
        "afterRollback",
    }
    own = {
        f"{when}{what}"
        for when in ("before", "after")
        for what in (
            "UpdateNodes",
            "UpdateEdges",
            "DeleteEdges",
            "AddMetadata",
            "DeleteMetadata",
            "SchemaChange",
        )
    }
    assert sorted(kind.name for kind in every_event()) == sorted(specified | own)


@pytest.mark.covers("graph.events.payloads")
def test_each_verb_tells_before_and_after_with_what_it_does(
    graph: KnowledgeGraph, told: list[tuple[str, dict[str, object]]]
) -> None:
    graph.add_nodes([NodeInput("A", "x", ("a",)), NodeInput("B", "x")])
    assert own(told) == [
        ("beforeAddNodes", {"nodes": (A, B)}),
        ("afterAddNodes", {"nodes": (A, B)}),
    ]
    graph.add_edges([EdgeInput("A", "B", "e")])
    assert own(told) == [("beforeAddEdges", {"edges": (AB,)}), ("afterAddEdges", {"edges": (AB,)})]
    graph.update_nodes([NodeUpdate(name="B", node_type="y")])
    change: dict[str, object] = {"names": ("B",), "nodes": (Node("B", "y"),)}
    assert own(told) == [("beforeUpdateNodes", change), ("afterUpdateNodes", change)]
    graph.update_edges([EdgeUpdate(from_name="A", to_name="B", edge_type="e", weight=0.5)])
    keys = (EdgeKey("A", "B", "e"),)
    change = {"keys": keys, "edges": (Edge("A", "B", "e", 0.75),)}
    assert own(told) == [("beforeUpdateEdges", change), ("afterUpdateEdges", change)]
    graph.add_metadata([MetadataItem("A", ("a", "b"))])
    assert own(told) == [
        ("beforeAddMetadata", {"nodeName": "A", "metadata": ("a", "b")}),
        ("afterAddMetadata", {"nodeName": "A", "metadata": ("b",)}),
    ]
    graph.delete_metadata([MetadataItem("A", ("b", "z"))])
    assert own(told) == [
        ("beforeDeleteMetadata", {"nodeName": "A", "metadata": ("b", "z")}),
        ("afterDeleteMetadata", {"nodeName": "A", "metadata": ("b",)}),
    ]
    graph.delete_edges(keys)
    assert own(told) == [
        ("beforeDeleteEdges", {"edges": keys}),
        ("afterDeleteEdges", {"edges": keys, "deletedCount": 1}),
    ]
    graph.delete_nodes(["A", "Z"])
    assert own(told) == [
        ("beforeDeleteNodes", {"names": ("A",)}),
        ("afterDeleteNodes", {"names": ("A",), "deletedCount": 1}),
    ]


@pytest.mark.covers("graph.events.payloads")
def test_a_search_tells_its_query_and_its_results(
    graph: KnowledgeGraph, told: list[tuple[str, dict[str, object]]]
) -> None:
    graph.add_nodes([NodeInput("A", "x", ("a",)), NodeInput("B", "x")])
    graph.add_edges([EdgeInput("A", "B", "e")])
    told.clear()
    graph.search_nodes("a")
    assert told == [
        ("beforeSearch", {"query": "a"}),
        ("afterSearch", {"results": Graph((A, B), (AB,))}),
    ]


@pytest.mark.covers("graph.events.payloads")
def test_an_entitys_verbs_tell_each_change_they_make(
    graph: KnowledgeGraph, told: list[tuple[str, dict[str, object]]]
) -> None:
    graph.add_nodes([NodeInput("Bree", "place"), NodeInput("Shire", "place")])
    told.clear()
    graph.add_entity("hero", {"name": "Sam", "role": "Thief", "home": "Bree"})
    assert [name for name, _ in own(told)] == [
        "beforeAddNodes",
        "beforeAddEdges",
        "afterAddNodes",
        "afterAddEdges",
    ]
    graph.update_entity("hero", {"name": "Sam", "home": "Shire"})
    assert [name for name, _ in own(told)] == [
        "beforeUpdateNodes",
        "beforeDeleteEdges",
        "beforeAddEdges",
        "afterUpdateNodes",
        "afterDeleteEdges",
        "afterAddEdges",
    ]
    graph.delete_entity("hero", "Sam")
    assert [name for name, _ in own(told)] == ["beforeDeleteNodes", "afterDeleteNodes"]


@pytest.mark.covers("graph.events.veto")
def test_a_before_listener_that_raises_vetoes_and_the_caller_gets_its_message(
    graph: KnowledgeGraph,
) -> None:
    def guard(event: BeforeAddNodes) -> None:
        if any(node.name == "Sauron" for node in event.nodes):
            raise ValueError("not in this house")

    graph.events.subscribe(BeforeAddNodes, guard)
    with pytest.raises(VetoedError, match=r"^not in this house$"):
        graph.add_nodes([NodeInput("Sam", "x"), NodeInput("Sauron", "x")])
    assert graph.read_graph().nodes == ()
    graph.add_nodes([NodeInput("Sam", "x")])
    graph.events.subscribe("beforeSearch", refuse)
    with pytest.raises(VetoedError, match="beforeSearch"):
        graph.search_nodes("Sam")


def refuse(_: Event) -> None:
    raise RuntimeError


@pytest.mark.covers("graph.events.veto")
def test_a_veto_undoes_what_the_listener_itself_had_written(graph: KnowledgeGraph) -> None:
    def write_and_refuse(_: BeforeAddNodes) -> None:
        graph.update_nodes([NodeUpdate(name="Log", metadata=("seen",))])
        raise RuntimeError("no")

    graph.add_nodes([NodeInput("Log", "x")])
    graph.events.subscribe(BeforeAddNodes, write_and_refuse)
    with pytest.raises(VetoedError):
        graph.add_nodes([NodeInput("A", "x")])
    assert graph.open_nodes(["Log"]).nodes[0].node.metadata == ()


@pytest.mark.covers("graph.events.replan")
def test_what_a_before_listener_writes_is_seen_by_the_checks(graph: KnowledgeGraph) -> None:
    def add_first(event: BeforeAddNodes) -> None:
        if event.nodes[0].name != "Mine":
            graph.events.off(BeforeAddNodes, add_first)
            graph.add_nodes([NodeInput(event.nodes[0].name, "taken by a listener")])

    graph.events.subscribe(BeforeAddNodes, add_first)
    with pytest.raises(Exception, match="already exists"):
        graph.add_nodes([NodeInput("A", "x")])
    assert graph.read_graph().nodes == ()


@pytest.mark.covers("graph.events.after-commit")
def test_an_after_listener_is_told_when_everything_can_be_read(
    graph: KnowledgeGraph, store: GraphStore
) -> None:
    seen: list[tuple[str, int]] = []

    def look(event: Event) -> None:
        with store.read("default") as reader:
            seen.append((event.name, len(reader.list_nodes(limit=10))))

    graph.events.subscribe(AfterAddNodes, look)
    graph.events.subscribe(AfterCommit, look)
    with graph.transaction():
        graph.add_nodes([NodeInput("A", "x")])
        assert seen == []
        graph.add_nodes([NodeInput("B", "x")])
    assert seen == [("afterAddNodes", 2), ("afterAddNodes", 2), ("afterCommit", 2)]


@pytest.mark.covers("graph.events.after-failure")
def test_a_failing_after_listener_is_logged_without_content_and_undoes_nothing(
    graph: KnowledgeGraph, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []

    def fail(event: AfterAddNodes) -> None:
        raise ValueError(f"cannot bear {event.nodes[0].name}")

    graph.events.subscribe(AfterAddNodes, fail)
    graph.events.subscribe(AfterAddNodes, lambda event: heard.append(event.name))
    with caplog.at_level(logging.WARNING):
        graph.add_nodes([NodeInput("Sauron", "x")])
    assert [record.name for record in graph.read_graph().nodes] == ["Sauron"]
    assert heard == ["afterAddNodes"]
    assert "afterAddNodes" in caplog.text
    assert "ValueError" in caplog.text
    assert "Sauron" not in caplog.text


@pytest.mark.covers("graph.events.after-commit")
def test_nothing_that_was_rolled_back_is_told(graph: KnowledgeGraph) -> None:
    heard: list[str] = []
    for kind in every_event():
        graph.events.subscribe(kind, lambda event: heard.append(event.name))
    with pytest.raises(KeyError), graph.transaction():
        graph.add_nodes([NodeInput("A", "x")])
        raise KeyError
    assert heard == [
        "beforeBeginTransaction",
        "beforeAddNodes",
        "beforeRollback",
        "afterRollback",
    ]


@pytest.mark.covers("graph.events.savepoint")
def test_what_a_nested_transaction_undid_is_not_told(graph: KnowledgeGraph) -> None:
    heard: list[tuple[str, ...]] = []
    graph.events.subscribe(
        AfterAddNodes, lambda event: heard.append(tuple(node.name for node in event.nodes))
    )
    with graph.transaction():
        graph.add_nodes([NodeInput("A", "x")])
        with pytest.raises(KeyError), graph.transaction():
            graph.add_nodes([NodeInput("B", "x")])
            raise KeyError
        graph.add_nodes([NodeInput("C", "x")])
    assert heard == [("A",), ("C",)]


@pytest.mark.covers("graph.events.bus")
def test_subscribing_returns_what_ends_exactly_that_subscription() -> None:
    bus, heard = EventBus(), list[str]()

    def listen(event: Event) -> None:
        heard.append(event.name)

    first, second = bus.subscribe(AfterCommit, listen), bus.subscribe("afterCommit", listen)
    assert bus.emit(AfterCommit())
    first()
    first()
    assert bus.emit(AfterCommit())
    second()
    assert not bus.emit(AfterCommit())
    assert len(heard) == 3


@pytest.mark.covers("graph.events.bus")
def test_once_hears_one_event_and_can_be_ended_before() -> None:
    bus, heard = EventBus(), list[str]()

    def listen(event: Event) -> None:
        heard.append(event.name)

    bus.once(AfterCommit, listen)
    ended = bus.once(AfterCommit, listen)
    ended()
    assert bus.emit(AfterCommit())
    assert not bus.emit(AfterCommit())
    bus.once(AfterCommit, listen)
    assert bus.off(AfterCommit, listen)
    assert not bus.off(AfterCommit, listen)
    assert not bus.emit(AfterCommit())
    assert heard == ["afterCommit"]


@pytest.mark.covers("graph.events.bus")
def test_all_listeners_of_one_or_of_every_event_can_be_removed() -> None:
    bus = EventBus()
    deleted = AfterDeleteNodes(names=("A",), deleted_count=1)
    for kind in (AfterCommit, AfterDeleteNodes):
        bus.subscribe(kind, lambda _: None)
    bus.remove_all(AfterCommit)
    assert (bus.emit(AfterCommit()), bus.emit(deleted)) == (False, True)
    bus.remove_all()
    assert not bus.emit(deleted)
    assert not bus.has_listeners(AfterDeleteNodes)


@pytest.mark.covers("graph.events.schema")
def test_schema_changes_are_told_and_can_be_vetoed(store: GraphStore, tmp_path: Path) -> None:
    catalog = SchemaCatalog([FolderSource(tmp_path)])
    graph = KnowledgeGraph(store, space="default", catalog=catalog)
    heard: list[tuple[str, dict[str, object]]] = []
    for kind in (events.BeforeSchemaChange, events.AfterSchemaChange):
        graph.events.subscribe(kind, lambda event: heard.append((event.name, event.payload())))
    name: Json = {"type": "string", "description": "Its name", "required": True}
    tree: dict[str, Json] = {
        "name": "add_ent",
        "description": "A tree that walks",
        "properties": {"name": name},
    }
    graph.define_schema(tree)
    graph.remove_schema("ent")
    assert heard == [
        (f"{when}SchemaChange", {"nodeType": "ent", "action": action})
        for action in ("define", "remove")
        for when in ("before", "after")
    ]
    graph.events.subscribe(events.BeforeSchemaChange, refuse)
    with pytest.raises(VetoedError):
        graph.define_schema(tree)
    assert catalog.types() == ()


@pytest.mark.covers("graph.events.frozen")
def test_events_cannot_be_changed_by_a_listener() -> None:
    event = AfterDeleteNodes(names=("A",), deleted_count=1)
    with pytest.raises(AttributeError):
        event.names = ()  # type: ignore[misc]  # what is tried here
    assert event.names == ("A",)
