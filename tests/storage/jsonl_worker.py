"""A process of its own that writes into a graph file; started by tests.

jsonl_worker.py write PATH NAME COUNT   writes COUNT transactions (0 = without end), says each
jsonl_worker.py hold PATH               takes the write lock, says `held`, waits for its stdin
jsonl_worker.py full PATH               writes with no room left on the disk, says what came
jsonl_worker.py readonly PATH           as another user: reads, tries to write, says what came
"""

import os
import resource
import signal
import sys
from datetime import UTC, datetime
from itertools import count

from schemory.errors import StoreError
from schemory.model.edge import Edge, NewEdge
from schemory.model.node import NewNode, Node, NodeChange
from schemory.storage.jsonl import JsonlStore
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="work", author="worker")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def clock() -> datetime:
    return datetime.now(UTC)


def open_store(path: str) -> JsonlStore:
    inner = SqliteStore.open(":memory:", now=clock, ids=lambda: "id")
    return JsonlStore.open(path, inner=inner, now=clock)


def write(path: str, name: str, turns: int) -> None:
    """Each transaction adds two nodes and their edge, and counts itself in a common node."""
    store = open_store(path)
    for turn in range(turns) if turns else count():
        with store.transaction("default", WRITE) as tx:
            first, second = f"{name}-{turn}-a", f"{name}-{turn}-b"
            tx.insert_nodes([NewNode(node=Node(n, "item")) for n in (first, second)])
            tx.insert_edges([NewEdge(edge=Edge(first, second, "to"))])
            counter = tx.find_nodes(["counter"])
            if not counter:
                tx.insert_nodes([NewNode(node=Node("counter", "count", ("1",)))])
            else:
                record = counter["counter"]
                total = int(record.node.metadata[0]) + 1
                tx.update_nodes([NodeChange(id=record.id, metadata=(str(total),))])
        with store.read("default") as reader:
            if first not in reader.find_nodes([first]):
                say(f"lost {first}")
        say(f"{name}-{turn}")
    store.close()


def hold(path: str) -> None:
    with open_store(path).transaction("default", WRITE):
        say("held")
        sys.stdin.read()


def try_to_write(path: str) -> None:
    store = open_store(path)
    try:
        with store.transaction("default", WRITE) as tx:
            tx.insert_nodes([NewNode(node=Node("N", "t", ("x" * 5000,)))])
    except StoreError as error:
        say(error.code)
    with store.read("default") as reader:
        say(",".join(record.name for record in reader.list_nodes(limit=9)))


def main() -> None:
    match sys.argv[1:]:
        case ["write", path, name, turns]:
            write(path, name, int(turns))
        case ["hold", path]:
            hold(path)
        case ["full", path]:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            try_to_write(path)
        case ["readonly", path]:
            # What works with a store is imported at its first use; where Python lies in root's own
            # folder, the other user could not read it.
            rehearsal = SqliteStore.open(":memory:", now=clock, ids=lambda: "id")
            with rehearsal.transaction("default", WRITE), rehearsal.read("default"):
                pass
            rehearsal.close()
            if os.getuid() == 0:
                os.setuid(65534)
            try_to_write(path)
        case other:
            raise SystemExit(f"unknown work: {other}")


if __name__ == "__main__":
    main()
