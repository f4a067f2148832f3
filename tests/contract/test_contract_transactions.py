"""What every store promises about transactions, spaces and snapshots."""

import threading
from collections.abc import Callable

import pytest

from schemory.errors import StoreError
from schemory.model.edge import Edge, NewEdge
from schemory.model.node import NewNode, Node, NodeChange
from schemory.model.text import fold
from schemory.storage.protocols import (
    Capability,
    GraphReader,
    GraphStore,
    SearchQuery,
    WriteContext,
)

WRITE = WriteContext(operation="add_nodes", author="tester", client="stdio")


class Refusal(Exception):  # noqa: N818 (a test's own)
    pass


def new(*names: str) -> list[NewNode]:
    return [NewNode(node=Node(name, "thing")) for name in names]


def add(store: GraphStore, *names: str, space: str = "default") -> None:
    with store.transaction(space, WRITE) as tx:
        tx.insert_nodes(new(*names))


def names_in(reader: GraphReader) -> list[str]:
    return [record.name for record in reader.list_nodes(limit=99)]


def names(store: GraphStore, space: str = "default") -> list[str]:
    with store.read(space) as reader:
        return names_in(reader)


def found(reader: GraphReader, text: str) -> list[str]:
    page = reader.search(SearchQuery(terms=(fold(text),)), after=None, limit=99)
    return [hit.record.name for hit in page.hits]


@pytest.mark.covers("storage.transaction.rollback")
def test_a_failed_transaction_leaves_nothing_behind(store: GraphStore) -> None:
    add(store, "A")
    with pytest.raises(Refusal), store.transaction("default", WRITE) as tx:
        tx.insert_nodes(new("B"))
        tx.insert_edges([NewEdge(edge=Edge("A", "B", "to"))])
        tx.update_nodes([NodeChange(id=tx.find_nodes(["A"])["A"].id, name="changed")])
        raise Refusal
    with store.read("default") as reader:
        assert names_in(reader) == ["A"]
        assert reader.list_edges(limit=9) == ()
        assert (found(reader, "changed"), found(reader, "A")) == ([], ["A"])
        assert reader.last_seq() == 1


@pytest.mark.covers("storage.transaction.rollback")
def test_a_failed_first_transaction_makes_no_space(store: GraphStore) -> None:
    with pytest.raises(Refusal), store.transaction("default", WRITE) as tx:
        tx.insert_nodes(new("A"))
        raise Refusal
    assert store.spaces() == ()
    add(store, "B")
    assert names(store) == ["B"]


@pytest.mark.covers("storage.transaction.own_writes")
def test_a_transaction_reads_and_searches_its_own_writes(store: GraphStore) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes(new("Gandalf the Grey", "Frodo"))
        assert found(tx, "gandalf") == ["Gandalf the Grey"]
        tx.update_nodes([NodeChange(id=tx.find_nodes(["Frodo"])["Frodo"].id, name="Bilbo")])
        assert (found(tx, "frodo"), found(tx, "bilbo")) == ([], ["Bilbo"])
        tx.delete_nodes([tx.find_nodes(["Bilbo"])["Bilbo"].id])
        assert found(tx, "bilbo") == []
        tx.insert_nodes(new("Bilbo"))
    with store.read("default") as reader:
        assert found(reader, "b") == ["Bilbo"]


@pytest.mark.covers("storage.transaction.savepoint")
def test_a_savepoint_undoes_only_its_own_writes(store: GraphStore) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes(new("A"))
        with pytest.raises(Refusal), tx.savepoint():
            tx.insert_nodes([NewNode(node=Node("B", "only here"))])
            tx.insert_edges([NewEdge(edge=Edge("A", "B", "only here"))])
            assert found(tx, "b") == ["B"]
            raise Refusal
        assert (names_in(tx), found(tx, "b")) == (["A"], [])
        with tx.savepoint():
            tx.insert_nodes([NewNode(node=Node("C", "only here"))])
            with pytest.raises(Refusal), tx.savepoint():
                tx.update_nodes([NodeChange(id=tx.find_nodes(["A"])["A"].id, name="Z")])
                tx.delete_nodes([tx.find_nodes(["C"])["C"].id])
                raise Refusal
        tx.insert_edges([NewEdge(edge=Edge("A", "C", "only here"))])
    with store.read("default") as reader:
        assert names_in(reader) == ["A", "C"]
        assert [found(reader, text) for text in ("a", "b", "c", "z")] == [["A"], [], ["C"], []]
        assert reader.commits(limit=9)[0].items == {"nodes_inserted": 2, "edges_inserted": 1}


@pytest.mark.covers("storage.transaction.compensation")
def test_compensations_run_in_reverse_when_the_outermost_fails(store: GraphStore) -> None:
    calls: list[str] = []
    with pytest.raises(Refusal), store.transaction("default", WRITE) as tx:
        tx.on_rollback(lambda: calls.append("first"))
        with tx.savepoint():
            tx.on_rollback(lambda: calls.append("second"))
        raise Refusal
    assert calls == ["second", "first"]


@pytest.mark.covers("storage.transaction.compensation")
def test_no_compensation_runs_after_a_commit(store: GraphStore) -> None:
    calls: list[str] = []
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes(new("A"))
        tx.on_rollback(lambda: calls.append("never"))
        with pytest.raises(Refusal), tx.savepoint():
            tx.on_rollback(lambda: calls.append("never, the outermost commits"))
            raise Refusal
    assert calls == []


@pytest.mark.covers("storage.transaction.compensation")
def test_a_failing_compensation_stops_none_and_all_failures_are_told(store: GraphStore) -> None:
    calls: list[str] = []

    def fail() -> None:
        calls.append("failing")
        raise OSError("the file is gone")

    with pytest.raises(ExceptionGroup) as caught, store.transaction("default", WRITE) as tx:
        tx.insert_nodes(new("A"))
        tx.on_rollback(lambda: calls.append("first"))
        tx.on_rollback(fail)
        tx.on_rollback(fail)
        raise Refusal
    assert calls == ["failing", "failing", "first"]
    assert [type(each) for each in caught.value.exceptions] == [Refusal, OSError, OSError]
    assert names(store) == []


@pytest.mark.covers("storage.ledger.one_row")
def test_each_commit_is_one_numbered_row_without_gaps(
    store: GraphStore, advance: Callable[[float], None]
) -> None:
    add(store, "A")
    with pytest.raises(Refusal), store.transaction("default", WRITE) as tx:
        tx.insert_nodes(new("B"))
        raise Refusal
    with store.transaction("default", WRITE) as tx:
        assert tx.find_nodes(["A"])
    advance(1)
    with store.transaction("default", WRITE) as tx:
        assert (tx.seq, tx.now) == (2, "2026-03-08T09:05:08.000Z")
        tx.insert_nodes(new("B", "C"))
        tx.insert_edges([NewEdge(edge=Edge("B", "C", "to"))])
        tx.delete_nodes([tx.find_nodes(["A"])["A"].id])
    with store.read("default") as reader:
        first, second = reader.commits(limit=9)
        assert reader.commits(after_seq=1, limit=9) == (second,)
        assert reader.commits(limit=1) == (first,)
        assert reader.last_seq() == 2
    assert (first.seq, first.recorded_at) == (1, "2026-03-08T09:05:07.000Z")
    assert (first.operation, first.author, first.client) == ("add_nodes", "tester", "stdio")
    assert (second.seq, second.recorded_at) == (2, "2026-03-08T09:05:08.000Z")
    assert second.items == {"nodes_inserted": 2, "nodes_deleted": 1, "edges_inserted": 1}


@pytest.mark.covers("storage.ledger.no_write")
def test_a_transaction_that_changed_nothing_leaves_no_row(store: GraphStore) -> None:
    add(store, "A")
    with store.transaction("default", WRITE) as tx:
        made = tx.insert_nodes(new("B", "C"))
        tx.insert_edges([NewEdge(edge=Edge("B", "C", "to"))])
        tx.delete_nodes([record.id for record in made])
    with store.read("default") as reader:
        assert (names_in(reader), reader.last_seq()) == (["A"], 1)


@pytest.mark.covers("storage.ledger.clock")
def test_recorded_time_never_goes_back(store: GraphStore, advance: Callable[[float], None]) -> None:
    advance(60)
    add(store, "A")
    advance(-3600)
    add(store, "B")
    with store.read("default") as reader:
        assert {commit.recorded_at for commit in reader.commits(limit=9)} == {
            "2026-03-08T09:06:07.000Z"
        }


@pytest.mark.covers("storage.spaces")
def test_spaces_do_not_see_each_other(store: GraphStore) -> None:
    if Capability.SPACES not in store.capabilities:
        pytest.skip("this backend has one space")
    add(store, "A", "B", space="one")
    add(store, "A", space="two")
    with store.transaction("one", WRITE) as tx:
        tx.insert_edges([NewEdge(edge=Edge("A", "B", "to"))])
    with store.read("two") as reader:
        assert reader.space == "two"
        (mine,) = reader.find_nodes(["A", "B"]).values()
        assert reader.list_edges(limit=9) == ()
        assert (reader.last_seq(), found(reader, "b")) == (1, [])
    with store.read("one") as reader:
        theirs = [record.id for record in reader.list_nodes(limit=9)]
        assert reader.find_nodes_by_id([mine.id]) == {}
        assert reader.last_seq() == 2
    with store.transaction("two", WRITE) as tx:
        assert tx.find_nodes_by_id(theirs) == {}
        assert tx.delete_nodes(theirs) == 0
    assert names(store, "one") == ["A", "B"]
    assert store.spaces() == ("one", "two")


@pytest.mark.covers("storage.spaces")
def test_reading_an_unknown_space_finds_nothing_and_makes_nothing(store: GraphStore) -> None:
    with store.read("nowhere") as reader:
        assert names_in(reader) == []
        assert (reader.list_edges(limit=9), reader.list_kept(limit=9)) == ((), ())
        assert (reader.neighbours([1], limit=9), reader.edges_of(1, limit=9)) == ((), ())
        assert reader.search(SearchQuery(terms=("a",)), after=None, limit=9).hits == ()
        assert (reader.suggest_names("a"), reader.lines_naming("a", limit=9)) == ((), ())
        assert (reader.count().nodes, reader.last_seq(), reader.commits(limit=9)) == (0, 0, ())
    assert store.spaces() == ()


@pytest.mark.covers("storage.spaces")
def test_an_emptied_space_is_not_listed(store: GraphStore) -> None:
    add(store, "A")
    with store.transaction("default", WRITE) as tx:
        tx.delete_nodes([tx.find_nodes(["A"])["A"].id])
    assert store.spaces() == ()


@pytest.mark.covers("storage.transaction.serial")
def test_threads_write_one_after_the_other_and_lose_nothing(store: GraphStore) -> None:
    def work(me: int) -> None:
        for step in range(10):
            add(store, f"{me}-{step}")
            assert f"{me}-{step}" in names(store)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names(store)) == sorted(f"{me}-{step}" for me in range(6) for step in range(10))
    with store.read("default") as reader:
        assert [commit.seq for commit in reader.commits(limit=99)] == list(range(1, 61))


@pytest.mark.covers("storage.transaction.serial")
def test_a_second_transaction_in_the_same_thread_is_refused_at_once(store: GraphStore) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes(new("A"))
        with (
            pytest.raises(RuntimeError, match="savepoint"),
            store.transaction("default", WRITE),
        ):
            pytest.fail("two transactions at once")
    assert names(store) == ["A"]


@pytest.mark.covers("storage.snapshot")
def test_a_snapshot_does_not_move_while_another_thread_writes(store: GraphStore) -> None:
    add(store, "A")
    writer = threading.Thread(target=add, args=(store, "B"))
    with store.read("default") as before:
        writer.start()
        writer.join(0.2)  # in memory it waits for the end of the snapshot
        assert (names_in(before), found(before, "b"), before.last_seq()) == (["A"], [], 1)
    writer.join()
    assert names(store) == ["A", "B"]


@pytest.mark.covers("storage.snapshot")
def test_a_snapshot_does_not_move_with_the_own_threads_writes(
    open_again: Callable[[], GraphStore],
) -> None:
    store = open_again()
    if Capability.HISTORY not in store.capabilities:
        pytest.skip("a graph file is read in memory, where a thread sees its own writes at once")
    add(store, "A")
    with store.read("default") as before:
        add(store, "B")
        with store.transaction("default", WRITE) as tx:
            tx.insert_nodes(new("C"))
            assert names_in(before) == ["A"]
        assert (names_in(before), found(before, "b"), before.last_seq()) == (["A"], [], 1)
        with store.read("default") as after:
            assert names_in(after) == ["A", "B", "C"]


@pytest.mark.covers("storage.reopen")
def test_what_was_committed_is_there_after_reopening(
    open_again: Callable[[], GraphStore],
) -> None:
    store = open_again()
    add(store, "A", "B")
    key, location = store.cursor_key, store.location
    store.close()
    again = open_again()
    assert names(again) == ["A", "B"]
    assert again.location == location
    # A cursor holds item numbers, so its key lives as long as they do.
    assert (again.cursor_key == key) == (Capability.HISTORY in again.capabilities)
    assert len(key) >= 16


def test_a_closed_store_says_so(store: GraphStore) -> None:
    store.close()
    with pytest.raises(StoreError, match="closed"), store.read("default"):
        pytest.fail("read from a closed store")
    with pytest.raises(StoreError, match="closed"), store.transaction("default", WRITE):
        pytest.fail("wrote to a closed store")


@pytest.mark.covers("storage.status")
def test_status_tells_where_and_how_much(store: GraphStore) -> None:
    add(store, "A", space="default")
    status = store.status()
    assert status["location"] == store.location
    assert status["spaces"] == ["default"]
    assert status["warnings"] == []


def test_vacuum_loses_nothing(store: GraphStore) -> None:
    add(store, *(f"node {i}" for i in range(50)))
    with store.transaction("default", WRITE) as tx:
        tx.delete_nodes([record.id for record in tx.list_nodes(limit=25)])
    store.vacuum()
    assert names(store) == [f"node {i}" for i in range(25, 50)]
    with store.read("default") as reader:
        assert found(reader, "node 49") == ["node 49"]
