"""A process of its own that writes into a store; started by tests, told what to do by arguments.

worker.py write PATH NAME COUNT     writes COUNT transactions, prints each when acknowledged
worker.py hold PATH                 takes the write lock, prints `held`, waits for its stdin
worker.py hold-sqlite PATH          the same with SQLite's own lock only, as other programs do
worker.py readonly PATH             as another user: reads, tries to write, prints what came
"""

import os
import sys
from datetime import UTC, datetime
from itertools import count

import apsw

from schemory.errors import StoreError
from schemory.model.edge import Edge, NewEdge
from schemory.model.node import NewNode, Node, NodeChange
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="work", author="worker")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def open_store(path: str) -> SqliteStore:
    return SqliteStore.open(path, now=lambda: datetime.now(UTC), ids=lambda: "id")


def write(path: str, name: str, turns: int) -> None:
    """Each transaction adds two nodes and their edge, and counts itself in a common node."""
    store = open_store(path)
    for turn in range(turns) if turns else count():
        with store.transaction("default", WRITE) as tx:
            first, second = f"{name}-{turn}-a", f"{name}-{turn}-b"
            tx.insert_nodes(
                [NewNode(node=Node(n, "item", (f"by {name}",))) for n in (first, second)]
            )
            tx.insert_edges([NewEdge(edge=Edge(first, second, "to"))])
            counter = tx.find_nodes(["counter"])
            if not counter:
                tx.insert_nodes([NewNode(node=Node("counter", "count", ("1",)))])
            else:
                record = counter["counter"]
                total = int(record.node.metadata[0]) + 1
                tx.update_nodes([NodeChange(id=record.id, metadata=(str(total),))])
        say(str(turn))
    store.close()


def hold(path: str) -> None:
    store = open_store(path)
    with store.transaction("default", WRITE):
        say("held")
        sys.stdin.read()


def hold_sqlite(path: str) -> None:
    db = apsw.Connection(path)
    db.execute("BEGIN IMMEDIATE")
    say("held")
    sys.stdin.read()


def readonly(path: str) -> None:
    # What works with a store is imported at its first use; where Python lies in root's own folder,
    # the other user could not read it.
    rehearsal = open_store(":memory:")
    with rehearsal.transaction("default", WRITE), rehearsal.read("default"):
        pass
    rehearsal.close()
    if os.getuid() == 0:
        os.setuid(65534)
    try:
        store = open_store(path)
        with store.read("default") as reader:
            say(",".join(record.name for record in reader.list_nodes(limit=9)))
        say(str(store.status()["readOnly"]))
        with store.transaction("default", WRITE) as tx:
            tx.insert_nodes([NewNode(node=Node("B", "item"))])
    except StoreError as error:
        say(error.code)


def main() -> None:
    match sys.argv[1:]:
        case ["write", path, name, turns]:
            write(path, name, int(turns))
        case ["hold", path]:
            hold(path)
        case ["hold-sqlite", path]:
            hold_sqlite(path)
        case ["readonly", path]:
            readonly(path)
        case other:
            raise SystemExit(f"unknown work: {other}")


if __name__ == "__main__":
    main()
