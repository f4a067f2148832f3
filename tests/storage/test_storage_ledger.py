"""What stands in the ledger's tables, seen with another program's eyes."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from schemory.model.edge import Edge, EdgeChange, NewEdge
from schemory.model.moment import Clock, IdMaker
from schemory.model.node import NewNode, Node, NodeChange, TypedValue
from schemory.storage.protocols import GraphTransaction, WriteContext
from schemory.storage.sqlite.migrate import LATEST
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test", author="tester")
ROLE = TypedValue(property_name="role", line="Role: Wizard", value="Wizard")
AGE = TypedValue(property_name="age", line="Age: 3", value=3)


class Book:
    """A store on disk and a plain connection beside it that looks into its tables."""

    def __init__(self, path: Path, now: Clock, ids: IdMaker) -> None:
        self.store = SqliteStore.open(path, now=now, ids=ids)
        self._eye = apsw.Connection(str(path))

    def write(self, step: Callable[[GraphTransaction], object], space: str = "s") -> None:
        with self.store.transaction(space, WRITE) as tx:
            step(tx)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return list(self._eye.execute(sql))

    def changes(self) -> list[tuple[str, int, int]]:
        return self.rows("SELECT kind, item_id, seq FROM change ORDER BY seq, kind, item_id")

    def image(self, kind: str, item_id: int, seq: int) -> Any:
        sql = "SELECT image FROM change WHERE kind = ? AND item_id = ? AND seq = ?"
        text = next(iter(self._eye.execute(sql, (kind, item_id, seq))))[0]
        return None if text is None else json.loads(text)

    def close(self) -> None:
        self._eye.close()
        self.store.close()


@pytest.fixture
def book(tmp_path: Path, clock: Clock, ids: IdMaker) -> Iterator[Book]:
    opened = Book(tmp_path / "memory.db", clock, ids)
    yield opened
    opened.close()


def add(*names: str) -> Callable[[GraphTransaction], object]:
    return lambda tx: tx.insert_nodes([NewNode(node=Node(name, "npc")) for name in names])


def link(*pairs: str) -> Callable[[GraphTransaction], object]:
    return lambda tx: tx.insert_edges(
        [NewEdge(edge=Edge(a, b, "to")) for a, b in map(tuple, pairs)]
    )


@pytest.mark.covers("storage.ledger.runs")
def test_a_bulk_load_is_one_row_per_kind(book: Book) -> None:
    book.write(add(*(f"n{i}" for i in range(2000))))
    assert book.rows("SELECT kind, first_id, last_id, seq FROM insert_run") == [
        ("node", 1, 2000, 1)
    ]
    assert book.changes() == []
    assert book.rows("SELECT count(*) FROM change_touch") == [(0,)]


@pytest.mark.covers("storage.ledger.runs")
def test_what_was_new_and_gone_again_is_in_no_range(book: Book) -> None:
    def step(tx: GraphTransaction) -> None:
        add("A", "B", "C", "D", "E")(tx)
        tx.delete_nodes([2, 5])
        tx.update_nodes([NodeChange(id=1, metadata=("x",))])

    book.write(step)
    assert book.rows("SELECT first_id, last_id FROM insert_run") == [(1, 1), (3, 4)]
    assert book.changes() == []
    assert book.rows("SELECT * FROM name_past") == []


@pytest.mark.covers("storage.ledger.images")
def test_the_state_before_is_kept_once_and_complete(book: Book) -> None:
    made = NewNode(
        node=Node("A", "npc", ("Role: Wizard", "ß", "Role: Wizard")),
        typed=(ROLE,),
        extra={"k": [1, 1.0, True]},
        created_at="1999-01-01T00:00:00.000Z",
    )
    book.write(lambda tx: tx.insert_nodes([made]))

    def twice(tx: GraphTransaction) -> None:
        tx.update_nodes([NodeChange(id=1, metadata=("once",), typed=())])
        tx.update_nodes([NodeChange(id=1, metadata=("twice",), extra={})])

    book.write(twice)
    assert book.changes() == [("node", 1, 2)]
    assert book.image("node", 1, 2) == {
        "name": "A",
        "type": "npc",
        "metadata": ["Role: Wizard", "ß", "Role: Wizard"],
        "typed": [{"property": "role", "line": "Role: Wizard", "value": "Wizard", "since": 1}],
        "extra": {"k": [1, 1.0, True]},
        "created_at": "1999-01-01T00:00:00.000Z",
        "updated_at": "1999-01-01T00:00:00.000Z",
        "revision": 1,
        "author": "tester",
        "since": 1,
    }


@pytest.mark.covers("storage.ledger.images")
def test_each_cascaded_edge_has_its_image_and_is_found_from_both_ends(book: Book) -> None:
    book.write(add("A", "B"))
    book.write(
        lambda tx: tx.insert_edges(
            [NewEdge(edge=Edge("A", "B", "to", 0.1 + 0.2), property_name="p", extra={"x": 1})]
        )
    )
    book.write(link("AA"))
    book.write(lambda tx: tx.delete_nodes([1]))
    assert book.changes() == [("edge", 1, 4), ("edge", 2, 4), ("node", 1, 4)]
    image = book.image("edge", 1, 4)
    assert (image["from"], image["to"], image["type"]) == (1, 2, "to")
    assert (image["weight"], image["property"], image["extra"]) == (0.1 + 0.2, "p", {"x": 1})
    assert book.rows("SELECT node, seq, edge FROM change_touch") == [
        (1, 4, 1),
        (1, 4, 2),
        (2, 4, 1),
    ]
    assert book.rows("SELECT name, node, seq FROM name_past") == [("A", 1, 4)]


@pytest.mark.covers("storage.ledger.images")
def test_an_edge_that_moves_touches_old_and_new_ends(book: Book) -> None:
    book.write(add("A", "B", "C"))
    book.write(link("AB"))
    book.write(lambda tx: tx.update_edges([EdgeChange(id=1, key=link_key("CB"))]))
    assert book.rows("SELECT node, edge FROM change_touch ORDER BY node") == [
        (1, 1),
        (2, 1),
        (3, 1),
    ]


def link_key(pair: str) -> Any:
    return Edge(pair[0], pair[1], "to").key


@pytest.mark.covers("storage.ledger.images")
def test_what_comes_back_is_noted_as_having_been_absent(book: Book) -> None:
    book.write(add("A"))
    book.write(lambda tx: tx.delete_nodes([1]))
    book.write(lambda tx: tx.undo(2))
    assert book.changes() == [("node", 1, 2), ("node", 1, 3)]
    assert book.image("node", 1, 3) is None
    assert book.rows("SELECT first_id, last_id, seq FROM insert_run") == [(1, 1, 1)]


@pytest.mark.covers("storage.ledger.no_names")
def test_images_of_edges_hold_no_text_of_their_nodes(book: Book) -> None:
    book.write(add("Xanthippe", "Yggdrasil"))
    book.write(lambda tx: tx.insert_edges([NewEdge(edge=Edge("Xanthippe", "Yggdrasil", "to"))]))
    book.write(lambda tx: tx.update_edges([EdgeChange(id=1, weight=0.5)]))
    texts = [text for (text,) in book.rows("SELECT image FROM change")]
    assert len(texts) == 1
    assert "Xanthippe" not in texts[0]
    assert "Yggdrasil" not in texts[0]


@pytest.mark.covers("storage.ledger.since")
def test_each_row_and_typed_value_knows_since_when_it_stands(book: Book) -> None:
    book.write(lambda tx: tx.insert_nodes([NewNode(node=Node("A", "npc"), typed=(ROLE,))]))
    book.write(add("B"))
    book.write(link("AB"))
    book.write(lambda tx: tx.update_nodes([NodeChange(id=1, typed=(AGE, ROLE))]))
    assert book.rows("SELECT id, since_seq FROM node") == [(1, 4), (2, 2)]
    assert book.rows("SELECT since_seq FROM edge") == [(3,)]
    ((typed,),) = book.rows("SELECT typed FROM node WHERE id = 1")
    assert [(item["property"], item["since"]) for item in json.loads(typed)] == [
        ("age", 4),
        ("role", 1),
    ]


@pytest.mark.covers("storage.ledger.savepoint")
def test_a_savepoint_takes_its_images_back(book: Book) -> None:
    book.write(add("A", "B"))

    def step(tx: GraphTransaction) -> None:
        with pytest.raises(ZeroDivisionError), tx.savepoint():
            tx.update_nodes([NodeChange(id=1, name="Z")])
            raise ZeroDivisionError
        tx.update_nodes([NodeChange(id=2, metadata=("x",))])

    book.write(step)
    assert book.changes() == [("node", 2, 2)]
    assert book.rows("SELECT * FROM name_past") == []


@pytest.mark.covers("storage.tables.readable")
def test_a_person_at_the_shell_finds_what_the_documents_say(book: Book) -> None:
    book.write(lambda tx: tx.insert_nodes([NewNode(node=Node("Ä", "npc", ("Role: x",)))]))
    book.write(lambda tx: tx.insert_edges([NewEdge(edge=Edge("Ä", "Ä", "is", 0.5))]))
    assert book.rows("SELECT name, type, metadata, author FROM graph_nodes") == [
        ("Ä", "npc", '["Role: x"]', "tester")
    ]
    assert book.rows("SELECT from_name, to_name, type, weight FROM graph_edges") == [
        ("Ä", "Ä", "is", 0.5)
    ]
    columns = [row[1] for row in book.rows("PRAGMA table_info(projects)")]
    assert {
        "id", "canonical_path", "display_name", "git_remote", "created_at", "updated_at",
        "metadata_json", "number",
    } <= set(columns)  # fmt: skip
    assert book.rows("SELECT version, name FROM schema_migrations") == [
        (1, "initial"),
        (2, "memory"),
        (3, "memory_vectors"),
    ]


@pytest.mark.covers("storage.tables.shardable")
def test_every_unique_key_and_reference_holds_the_project(book: Book) -> None:
    tables = [
        name
        for (name,) in book.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith(("sqlite_", "node_index_"))
        and name not in ("projects", "schema_migrations", "store_facts")
    ]
    assert {"node", "edge", "ledger", "change"} <= set(tables)
    for table in tables:
        unique = [row[1] for row in book.rows(f"PRAGMA index_list({table})") if row[2]]
        assert unique, table
        for index in unique:
            columns = [row[2] for row in book.rows(f"PRAGMA index_info({index})")]
            assert columns[0] in ("project", "project_id"), index
        references: dict[int, list[str]] = {}
        for row in book.rows(f"PRAGMA foreign_key_list({table})"):
            references.setdefault(row[0], []).append(row[3])
            assert (row[5], row[6]) == ("NO ACTION", "NO ACTION")
        assert references or table in ("node_type", "audit_log")
        assert all("project" in columns for columns in references.values()), table
    assert book.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'") == []


@pytest.mark.covers("storage.file.private")
def test_the_file_and_its_new_folder_are_for_this_user_alone(
    tmp_path: Path, clock: Clock, ids: IdMaker
) -> None:
    path = tmp_path / "new" / "deeper" / "memory.db"
    store = SqliteStore.open(path, now=clock, ids=ids)
    with store.transaction("s", WRITE) as tx:
        add("A")(tx)
    modes = {
        each.name: each.stat().st_mode & 0o777 for each in (path.parent, path.parent.parent, path)
    }
    assert modes == {"deeper": 0o700, "new": 0o700, "memory.db": 0o600}
    assert {file.stat().st_mode & 0o077 for file in path.parent.iterdir()} == {0}
    path.chmod(0o644)
    assert store.status()["warnings"] == [
        f"other users can access the store (mode 644); `chmod 600 {path}` closes it"
    ]
    store.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["memory.db", "memory.db-lock"]


def test_the_file_says_what_it_is(book: Book) -> None:
    assert book.rows("PRAGMA application_id") == [(0x5363686D,)]
    assert book.rows("PRAGMA journal_mode") == [("wal",)]
    assert book.rows("PRAGMA user_version") == [(LATEST,)]
