"""Several verbs in one transaction: graph.md §6."""

import threading

import pytest

from schemory.errors import ConflictError, NodeNotFoundError, SchemoryError
from schemory.graph.inputs import EdgeInput, NodeInput, NodeUpdate
from schemory.graph.results import Author
from schemory.graph.service import KnowledgeGraph
from schemory.storage.protocols import GraphStore


def names(graph: KnowledgeGraph) -> list[str]:
    return [record.name for record in graph.read_graph().nodes]


@pytest.mark.covers("graph.transaction")
def test_verbs_inside_share_one_transaction_and_one_line_of_the_ledger(
    graph: KnowledgeGraph,
) -> None:
    with graph.transaction(Author("ann", "test"), "plant"):
        graph.add_nodes([NodeInput("A", "x"), NodeInput("B", "x")], by=Author("somebody else"))
        graph.add_edges([EdgeInput("A", "B", "e")])
        assert graph.is_in_transaction()
        assert names(graph) == ["A", "B"]
    assert not graph.is_in_transaction()
    with graph.reading() as reader:
        (commit,) = reader.commits(limit=10)
    assert (commit.operation, commit.author, commit.client) == ("plant", "ann", "test")


@pytest.mark.covers("graph.transaction")
def test_an_exception_undoes_all_of_it(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Old", "x")])
    with pytest.raises(NodeNotFoundError), graph.transaction():
        graph.add_nodes([NodeInput("A", "x")])
        graph.update_nodes([NodeUpdate(name="Old", node_type="y")])
        graph.add_edges([EdgeInput("A", "nobody", "e")])
    assert names(graph) == ["Old"]
    assert graph.read_graph().nodes[0].node.node_type == "x"


@pytest.mark.covers("graph.transaction.nested")
def test_a_nested_transaction_is_a_savepoint(graph: KnowledgeGraph) -> None:
    with graph.transaction():
        graph.add_nodes([NodeInput("A", "x")])
        with pytest.raises(KeyError), graph.transaction():
            graph.add_nodes([NodeInput("B", "x")])
            with graph.transaction():
                graph.add_nodes([NodeInput("C", "x")])
            raise KeyError
        with graph.transaction():
            graph.add_nodes([NodeInput("D", "x")])
        assert names(graph) == ["A", "D"]
    assert names(graph) == ["A", "D"]


@pytest.mark.covers("graph.transaction.nested")
def test_a_verb_that_fails_inside_undoes_only_itself(graph: KnowledgeGraph) -> None:
    with graph.transaction():
        graph.add_nodes([NodeInput("A", "x")])
        with pytest.raises(NodeNotFoundError):
            graph.add_edges([EdgeInput("A", "nobody", "e")])
        graph.add_nodes([NodeInput("B", "x")])
    assert names(graph) == ["A", "B"]


@pytest.mark.covers("graph.transaction.one-space")
def test_one_transaction_touches_one_space(graph: KnowledgeGraph) -> None:
    other = graph.for_space("other")
    with graph.transaction():
        graph.add_nodes([NodeInput("A", "x")])
        with pytest.raises(ConflictError, match="one space"):
            other.add_nodes([NodeInput("A", "x")])
        with pytest.raises(ConflictError):
            other.read_graph()
    assert (names(graph), names(other)) == (["A"], [])


@pytest.mark.covers("graph.transaction.thread")
def test_a_transaction_belongs_to_its_thread(graph: KnowledgeGraph) -> None:
    done = threading.Event()

    def write() -> None:
        graph.add_nodes([NodeInput("from another thread", "x")])
        done.set()

    other = threading.Thread(target=write)
    with graph.transaction():
        graph.add_nodes([NodeInput("A", "x")])
        other.start()
        # It waits for this transaction rather than slipping into it.
        assert not done.wait(0.05)
        graph.add_nodes([NodeInput("B", "x")])
    other.join(timeout=10)
    assert names(graph) == ["A", "B", "from another thread"]
    with graph.reading() as reader:
        assert [commit.operation for commit in reader.commits(limit=9)] == [
            "transaction",
            "add_nodes",
        ]


@pytest.mark.covers("graph.transaction.compensate")
def test_compensations_run_in_reverse_when_it_does_not_commit(graph: KnowledgeGraph) -> None:
    undone: list[str] = []
    with graph.transaction():
        graph.on_rollback(lambda: undone.append("never"))
    assert undone == []
    with pytest.raises(KeyError), graph.transaction():
        graph.on_rollback(lambda: undone.append("first"))
        graph.on_rollback(lambda: undone.append("second"))
        raise KeyError
    assert undone == ["second", "first"]
    with pytest.raises(ConflictError, match="no transaction"):
        graph.on_rollback(lambda: None)


@pytest.mark.covers("graph.transaction.compensate")
def test_a_failing_compensation_does_not_stop_the_rest(graph: KnowledgeGraph) -> None:
    undone: list[str] = []

    def fail() -> None:
        raise OSError("disk")

    with pytest.RaisesGroup(ValueError, OSError), graph.transaction():
        graph.on_rollback(lambda: undone.append("first"))
        graph.on_rollback(fail)
        graph.on_rollback(lambda: undone.append("third"))
        raise ValueError
    assert undone == ["third", "first"]


@pytest.mark.covers("graph.transaction.reading")
def test_reads_share_one_snapshot(graph: KnowledgeGraph, store: GraphStore) -> None:
    graph.add_nodes([NodeInput("A", "x")])
    with store.read("default") as reader:
        before = reader.list_nodes(limit=9)
        assert [record.name for record in before] == ["A"]
    with graph.transaction(), graph.reading() as reader:
        graph.add_nodes([NodeInput("B", "x")])
        assert [record.name for record in reader.list_nodes(limit=9)] == ["A", "B"]


@pytest.mark.covers("graph.transaction.serialised")
def test_writers_in_many_threads_lose_nothing_and_never_fail(graph: KnowledgeGraph) -> None:
    graph.add_nodes([NodeInput("Count", "x", ("0",))])
    failures: list[Exception] = []

    def write(writer: int) -> None:
        try:
            for step in range(10):
                graph.add_nodes([NodeInput(f"{writer}-{step}", "x")])
                with graph.transaction():
                    # Read, compute and write in one transaction: no other writer comes between.
                    (line,) = graph.open_nodes(["Count"]).nodes[0].node.metadata
                    graph.update_nodes([NodeUpdate(name="Count", metadata=(str(int(line) + 1),))])
        except SchemoryError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    assert len(names(graph)) == 41
    assert graph.open_nodes(["Count"]).nodes[0].node.metadata == ("40",)
