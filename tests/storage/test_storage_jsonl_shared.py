"""A graph file that several programs use at once, and disks that say no."""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemory.errors import StoreBusyError, StoreCorruptError, StoreError
from schemory.model.edge import EdgeKey
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node, NodeChange
from schemory.storage.jsonl import JsonlStore
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
WORKER = Path(__file__).with_name("jsonl_worker.py")
A = '{"type":"node","name":"A","nodeType":"t","metadata":["k: v"]}\n'
B = '{"type":"node","name":"B","nodeType":"t","metadata":[]}\n'
AB = '{"type":"edge","from":"A","to":"B","edgeType":"knows","weight":1}\n'

Opener = Callable[..., JsonlStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.json"


@pytest.fixture
def open_file(path: Path, clock: Clock, ids: IdMaker) -> Iterator[Opener]:
    """Opens the graph file, each time as another server would."""
    opened: list[JsonlStore] = []

    def open_it(*lines: str, timeout: float = 15.0) -> JsonlStore:
        if lines:
            path.write_text("".join(lines), encoding="utf-8")
        inner = SqliteStore.open(":memory:", now=clock, ids=ids)
        store = JsonlStore.open(path, inner=inner, now=clock, busy_timeout_seconds=timeout)
        opened.append(store)
        return store

    yield open_it
    for store in opened:
        store.close()


def start(*arguments: str | Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, WORKER, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def add(store: JsonlStore, *names: str) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node(name, "t")) for name in names])


def retype(store: JsonlStore, name: str, node_type: str) -> None:
    with store.transaction("default", WRITE) as tx:
        tx.update_nodes([NodeChange(id=tx.find_nodes([name])[name].id, node_type=node_type)])


def names(store: JsonlStore) -> list[str]:
    with store.read("default") as reader:
        return [record.name for record in reader.list_nodes(limit=999)]


def warnings(store: JsonlStore) -> str:
    return json.dumps(store.status()["warnings"])


@pytest.mark.covers("graph.graph-file.servers")
def test_two_servers_see_each_others_writes_at_once(open_file: Opener) -> None:
    first, second = open_file(A, B, AB), open_file()
    add(first, "C")
    assert names(second) == ["A", "B", "C"]
    add(second, "D")
    retype(first, "A", "u")
    with second.read("default") as reader:
        assert reader.find_nodes(["A"])["A"].node.node_type == "u"
        assert set(reader.find_nodes(["C", "D"])) == {"C", "D"}


@pytest.mark.covers("graph.graph-file.servers")
def test_what_others_change_keeps_its_number_and_gets_a_new_revision(open_file: Opener) -> None:
    first, second = open_file(A, B, AB), open_file()
    with second.read("default") as reader:
        before = reader.find_nodes(["A", "B"])
        edge = reader.find_edges([EdgeKey("A", "B", "knows")])
    retype(first, "A", "u")
    with second.read("default") as reader:
        after = reader.find_nodes(["A", "B"])
        assert reader.find_edges([EdgeKey("A", "B", "knows")]) == edge
        assert [commit.operation for commit in reader.commits(limit=9)][1:] == ["reload"]
    assert after["B"] == before["B"]
    assert (after["A"].id, after["A"].revision) == (before["A"].id, before["A"].revision + 1)


FULL = '{"type":"node","name":"%s","nodeType":"%s","metadata":["%s"]}\n'
LINES = st.sampled_from(
    [FULL % (name, kind, entry) for name in "AB" for kind in "tu" for entry in "xy"]
    + [AB, AB.replace("1", "0.5"), AB.replace("B", "C"), A.strip() + B, "torn {\n", "\n"]
    + ['{"type":"n","v":1}\n', '{"type":"n","v":2}\n']
    + ['{"name":"C","entityType":"t","relations":[{"relationType":"r","to":"A"}]}\n']
)


@pytest.mark.covers("graph.graph-file.servers")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(LINES, max_size=7), min_size=2, max_size=4))
def test_following_any_change_gives_what_a_fresh_start_gives(
    path: Path, open_file: Opener, versions: list[list[str]]
) -> None:
    path.unlink(missing_ok=True)
    store = open_file()
    for version in versions:
        path.write_text(A.replace("A", "Z") + "".join(version), encoding="utf-8")
        fresh = open_file()
        assert graph_of(store) == graph_of(fresh)
        assert warnings(store) == warnings(fresh)
        fresh.close()


def graph_of(store: JsonlStore) -> object:
    with store.read("default") as reader:
        nodes = {r.name: (r.node, r.typed, r.extra) for r in reader.list_nodes(limit=99)}
        edges = {r.key: (r.edge, r.property_name, r.extra) for r in reader.list_edges(limit=99)}
    return nodes, edges


@pytest.mark.covers("graph.graph-file.servers")
def test_real_processes_on_one_file_lose_nothing(path: Path, open_file: Opener) -> None:
    workers = [start("write", path, f"w{i}", "10") for i in range(4)]
    outcomes = [worker.communicate() for worker in workers]
    assert [errors for _, errors in outcomes] == [""] * 4
    assert not any("lost" in said for said, _ in outcomes)
    store = open_file()
    with store.read("default") as reader:
        assert reader.find_nodes(["counter"])["counter"].node.metadata == ("40",)
        assert (reader.count().nodes, reader.count().edges) == (81, 40)
    assert store.status()["warnings"] == []


@pytest.mark.covers("graph.graph-file.kills")
def test_killed_writers_leave_a_whole_file_with_all_they_said(
    path: Path, open_file: Opener
) -> None:
    chance = random.Random(3)
    said: set[str] = set()
    for turn in range(12):
        worker = start("write", path, f"k{turn}", "0")
        assert worker.stdout is not None
        first = worker.stdout.readline()
        time.sleep(chance.random() * 0.1)
        worker.kill()
        output = first + worker.communicate()[0]
        # The last line may be cut off by the kill: then it was not acknowledged.
        said.update(output[: output.rfind("\n") + 1].split())
        for line in path.read_bytes().splitlines():
            json.loads(line)
    store = open_file()
    assert len(said) > 12
    expected = {f"{name}-{end}" for name in said for end in "ab"}
    assert expected <= set(names(store) if len(expected) < 900 else _all_names(store))
    add(store, "last")
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name, path.name + ".lock"]


def _all_names(store: JsonlStore) -> list[str]:
    with store.read("default") as reader:
        return [record.name for record in reader.list_nodes(limit=100_000)]


@pytest.mark.covers("graph.graph-file.busy")
def test_a_lock_that_does_not_come_free_names_its_holder(path: Path, open_file: Opener) -> None:
    store = open_file(A, timeout=0.2)
    with start("hold", path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert names(store) == ["A"]
        with pytest.raises(StoreBusyError) as caught:
            add(store, "N")
        assert caught.value.context["holderPid"] == holder.pid
        holder.kill()
    add(store, "N")
    assert names(store) == ["A", "N"]


def test_a_thread_that_nests_transactions_is_told(open_file: Opener) -> None:
    store = open_file(A)
    with store.transaction("default", WRITE), pytest.raises(RuntimeError, match="savepoint"):
        add(store, "N")


@pytest.mark.covers("graph.graph-file.foreign")
def test_a_program_that_ignores_the_lock_is_noticed_and_its_lines_are_kept(
    path: Path, open_file: Opener
) -> None:
    store = open_file(A, B, AB)
    with store.transaction("default", WRITE) as tx:
        tx.update_nodes([NodeChange(id=tx.find_nodes(["A"])["A"].id, node_type="ours")])
        tx.insert_nodes([NewNode(node=Node("N", "t"))])
        # What a running old server does: its own idea of the whole file, in place.
        path.write_text(A + B + B.replace('"B"', '"theirs"'), encoding="utf-8")
    assert names(store) == ["A", "B", "N", "theirs"]
    with store.read("default") as reader:
        assert reader.find_nodes(["A"])["A"].node.node_type == "ours"
        assert reader.list_edges(limit=9) == ()
    assert "Another program changed the graph file" in warnings(store)
    kept = [json.loads(line)["name"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert kept == ["A", "B", "theirs", "N"]


@pytest.mark.covers("graph.graph-file.foreign")
def test_a_change_between_two_calls_is_taken_over(path: Path, open_file: Opener) -> None:
    store = open_file(A, B, AB)
    path.write_text(B + A.replace('"A"', '"Z"'), encoding="utf-8")
    assert names(store) == ["B", "Z"]
    path.write_text("", encoding="utf-8")
    assert names(store) == []
    add(store, "N")
    assert names(store) == ["N"]


@pytest.mark.covers("graph.graph-file.vanished")
def test_a_file_that_is_gone_is_an_error_until_it_is_back(path: Path, open_file: Opener) -> None:
    store = open_file(A, B, AB)
    text = path.read_bytes()
    path.unlink()
    with pytest.raises(StoreError, match=r"graph file is gone.*memory\.json"):
        names(store)
    with pytest.raises(StoreError, match="graph file is gone"):
        add(store, "N")
    assert not path.exists()
    path.write_bytes(text)
    assert names(store) == ["A", "B"]
    path.unlink()
    with pytest.raises(StoreError, match="graph file is gone"):
        names(store)
    path.touch()
    assert names(store) == []
    add(store, "N")
    assert names(store) == ["N"]


def test_a_change_of_equal_size_within_the_clocks_grain_is_noticed(
    path: Path, open_file: Opener
) -> None:
    store = open_file(A)
    for name in "XYZ":
        path.write_text(A.replace('"A"', f'"{name}"'), encoding="utf-8")
        assert names(store) == [name]


def test_a_half_written_file_is_looked_at_again(path: Path, open_file: Opener) -> None:
    store = open_file(A, B, AB)

    def write_slowly() -> None:
        with path.open("w", encoding="utf-8") as file:
            file.write(A + B[:10])
            file.flush()
            time.sleep(0.08)
            file.write(B[10:] + AB)

    writer = threading.Thread(target=write_slowly)
    writer.start()
    while path.stat().st_size > len(A + B):
        time.sleep(0.001)
    seen = names(store)
    writer.join()
    assert seen == ["A", "B"]


def test_a_file_turned_into_something_else_is_an_error_until_it_is_mended(
    path: Path, open_file: Opener
) -> None:
    store = open_file(A)
    path.write_text("[\n" + A + "]\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(StoreCorruptError):
            names(store)
    with pytest.raises(StoreCorruptError):
        add(store, "N")
    path.write_text(A + B, encoding="utf-8")
    assert names(store) == ["A", "B"]


def let_others_in(folder: Path) -> None:
    """Open `folder` and those above it to the user that the process becomes; not the shared one."""
    shared = Path(tempfile.gettempdir())
    while folder != shared and shared in folder.parents:
        folder.chmod(0o755)
        folder = folder.parent


@pytest.mark.covers("graph.graph-file.disk")
@pytest.mark.parametrize(("case", "code"), [("full", "STORE_FULL"), ("readonly", "STORE_READONLY")])
def test_a_disk_that_says_no_leaves_everything_as_it_was(
    tmp_path: Path, path: Path, case: str, code: str
) -> None:
    path.write_text(A + B, encoding="utf-8")
    path.chmod(0o644)
    let_others_in(tmp_path)
    output, errors = start(case, path).communicate()
    assert (output.split(), errors) == ([code, "A,B"], "")
    assert path.read_text(encoding="utf-8") == A + B
    assert [each for each in tmp_path.iterdir() if each.name.endswith(".tmp")] == []


def test_a_failed_save_is_forgotten_and_the_next_one_works(path: Path, open_file: Opener) -> None:
    store = open_file(A)
    with pytest.raises(IsADirectoryError), store.transaction("default", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node("lost", "t"))])
        raise IsADirectoryError
    add(store, "N")
    assert names(store) == ["A", "N"]
    assert "lost" not in path.read_text(encoding="utf-8")


def test_threads_read_while_one_writes(open_file: Opener) -> None:
    store = open_file(A)
    seen: list[int] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append(len(names(store)))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(20):
        add(store, f"N{turn}")
    stop.set()
    for reader in readers:
        reader.join()
    assert max(seen) <= 21
    assert len(names(store)) == 21
    assert os.path.exists(store.location)  # noqa: PTH110 (a text)
