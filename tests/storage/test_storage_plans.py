"""Every statement of the graph's verbs walks an index, whatever the statistics say."""

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from schemory.model.edge import Edge, EdgeChange, EdgeKey, NewEdge
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node, NodeChange
from schemory.storage.protocols import (
    GraphReader,
    GraphTransaction,
    KeptLine,
    WriteContext,
)
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
_READS_OR_WRITES = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE)", re.IGNORECASE)
# Scans of what is small or bounded: arrays of ours, one row per table or project.
_BOUNDED = re.compile(
    r"SCAN (carray|other|wanted|sqlite_sequence|sqlite_schema|p|projects|\d+-?ROW.*|CONSTANT ROW"
    r"|json_each|.* VIRTUAL TABLE INDEX .*)\b"
)


@pytest.fixture
def statements() -> Iterator[dict[str, Any]]:
    """Every statement that any connection runs, with its last bindings."""
    seen: dict[str, Any] = {}

    def note(_cursor: apsw.Cursor, sql: str, bound: Any) -> bool:
        seen[sql] = bound
        return True

    def watch(db: apsw.Connection) -> None:
        db.exec_trace = note

    apsw.connection_hooks.append(watch)
    yield seen
    apsw.connection_hooks.remove(watch)


def scans(db: apsw.Connection, sql: str, bound: Any) -> list[str]:
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]
    return [line for line in plan if line.startswith("SCAN") and not _BOUNDED.match(line)]


def read_everything(reader: GraphReader) -> None:
    key = EdgeKey("n1", "n2", "to")
    reader.find_nodes(["n1"])
    reader.find_nodes_by_id([1, 2])
    reader.find_edges([key])
    reader.find_twins(["N1"])
    reader.suggest_edges(EdgeKey("n1", "n2", "two"))
    reader.list_nodes(after_id=1, limit=5)
    reader.list_nodes(after_id=1, limit=5, node_types=["npc"])
    reader.list_edges(after_id=1, limit=5)
    reader.edges_closing(1, 5, after_id=1, limit=5)
    reader.list_kept(after=1, limit=5)
    reader.neighbours([1, 2], after_id=1, limit=5)
    reader.edges_between([1], [2, 3], after_id=1, limit=5)
    reader.edges_between([1], [2], limit=5)
    for direction in ("in", "out", "both"):
        reader.edges_of(1, direction=direction, after_id=1, limit=5)
        reader.edges_of(1, direction=direction, edge_types=["to"], limit=5)
    reader.count()
    reader.last_seq()
    reader.commits(after_seq=1, limit=5)
    for name in ("n1", "gone", "renamed"):
        reader.history(name, limit=5)


def write_everything(store: SqliteStore) -> None:
    def step(work: Callable[[GraphTransaction], object]) -> None:
        with store.transaction("s", WRITE) as tx:
            work(tx)

    names = [f"n{i}" for i in range(40)]
    step(lambda tx: tx.insert_nodes([NewNode(node=Node(n, "npc", ("x: y",))) for n in names]))
    step(
        lambda tx: (
            tx.insert_edges([NewEdge(edge=Edge("n1", n, "to")) for n in names])
            and tx.insert_edges([NewEdge(edge=Edge(n, "n1", "from")) for n in names])
        )
    )
    step(lambda tx: tx.insert_kept([KeptLine(text="a"), KeptLine(text="b")]))
    step(
        lambda tx: tx.update_nodes([NodeChange(id=5, name="renamed"), NodeChange(id=6, name="six")])
    )
    step(lambda tx: tx.update_edges([EdgeChange(id=i, weight=0.5) for i in range(1, 5)]))
    step(lambda tx: tx.update_edges([EdgeChange(id=7, key=EdgeKey("n2", "n3", "to"))]))
    step(lambda tx: tx.delete_edges([9]))
    step(lambda tx: tx.delete_nodes([tx.find_nodes(["n20"])["n20"].id]))
    for seq in (8, 7, 6, 5, 4, 3):
        step(lambda tx, seq=seq: tx.undo(seq))  # type: ignore[misc]  # bound per turn
    step(lambda tx: tx.purge_node("n30"))


@pytest.mark.covers("storage.plans")
@pytest.mark.parametrize("analysed", [False, True], ids=["no statistics", "with statistics"])
def test_no_verb_scans_a_table(
    tmp_path: Path, clock: Clock, ids: IdMaker, statements: dict[str, Any], *, analysed: bool
) -> None:
    store = SqliteStore.open(tmp_path / "memory.db", now=clock, ids=ids)
    statements.clear()
    write_everything(store)
    with store.read("s") as reader:
        read_everything(reader)
    ours = {
        sql: bound
        for sql, bound in statements.items()
        if _READS_OR_WRITES.match(sql) and "node_index_" not in sql
    }
    assert len(ours) > 50
    db = apsw.Connection(str(tmp_path / "memory.db"))
    if analysed:
        db.execute("ANALYZE")
    found = {sql: lines for sql, bound in ours.items() if (lines := scans(db, sql, bound))}
    db.close()
    store.close()
    assert found == {}


@pytest.mark.covers("storage.plans")
def test_history_and_undo_of_one_node_read_no_more_beside_many_changes(
    tmp_path: Path, clock: Clock, ids: IdMaker
) -> None:
    """The number of steps of SQLite's machine is what must not grow."""

    def steps_beside(changes: int) -> int:
        store = SqliteStore.open(tmp_path / f"{changes}.db", now=clock, ids=ids)
        with store.transaction("s", WRITE) as tx:
            tx.insert_nodes([NewNode(node=Node(f"n{i}", "npc")) for i in range(40)])
            tx.insert_edges([NewEdge(edge=Edge("n0", "n1", "to"))])
        for turn in range(changes):
            with store.transaction("s", WRITE) as tx:
                tx.update_nodes([NodeChange(id=i, metadata=(str(turn),)) for i in range(3, 40)])
        with store.transaction("s", WRITE) as tx:
            tx.delete_nodes([1])
        with store.transaction("s", WRITE) as tx:
            db = tx._space.db  # noqa: SLF001 (to count its steps)
            ticks = itertools.count()
            db.set_progress_handler(lambda: next(ticks) < 0, 10)
            tx.history("n0")
            tx.undo(changes + 2)
            total = next(ticks)
            db.set_progress_handler(None)
        store.close()
        return total

    assert steps_beside(60) <= steps_beside(3) * 1.5


@pytest.mark.covers("storage.plans")
def test_a_snapshot_plans_its_statements_whatever_is_bound_to_them(
    tmp_path: Path, clock: Clock, ids: IdMaker
) -> None:
    store = SqliteStore.open(tmp_path / "memory.db", now=clock, ids=ids)
    names = [f"n{i}" for i in range(20)]
    with store.transaction("s", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node(name, "npc")) for name in names])
    opened: list[apsw.Connection] = []
    hook = opened.append
    apsw.connection_hooks.append(hook)
    with store.read("s") as reader:
        reader.find_nodes(names)
    apsw.connection_hooks.remove(hook)
    (db,) = opened
    is_stable = db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1)
    store.close()
    assert is_stable == 1
