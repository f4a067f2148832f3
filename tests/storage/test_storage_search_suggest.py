"""Names that were meant, and lines that name a node."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import count

import pytest

from schemory.model.node import NewNode, Node
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
NAMES = (
    "Alice",
    "Hobbiton",
    "Bob",
    "X",
    "中国",
    "北京市",
    "東京タワー",
    "Gandalf",
    "Gandalf the Grey",
    "Bilbo Baggins",
    "Straße",
    "Éowyn",
    "api-gateway",
    "payment_service",
    "L" + "o" * 300 + "ng name",
    'quo"ted *name*',
)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    numbers = count(1)
    opened = SqliteStore.open(
        ":memory:", now=lambda: datetime(2026, 1, 1, tzinfo=UTC), ids=lambda: f"i{next(numbers)}"
    )
    with closing(opened):
        yield opened


def add(store: SqliteStore, *nodes: Node) -> None:
    with store.transaction("s", WRITE) as tx:
        tx.insert_nodes([NewNode(node=node) for node in nodes])


# Suggestions


@pytest.mark.covers("storage.suggest.near")
@pytest.mark.parametrize("is_crowded", [False, True], ids=["alone", "in a crowd"])
@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Alcie", "Alice"),
        ("Alxce", "Alice"),
        ("lice", "Alice"),
        ("hobbiton", "Hobbiton"),
        ("Hobiton", "Hobbiton"),
        ("Bbo", "Bob"),
        ("Bobb", "Bob"),
        ("国中", "中国"),
        ("北京", "北京市"),
        ("東京タワ", "東京タワー"),
        ("gandalf", "Gandalf"),
        ("Gandlaf", "Gandalf"),
        ("Gandalf the Gray", "Gandalf the Grey"),
        ("Baggins", "Bilbo Baggins"),
        ("STRASSE", "Straße"),
        ("Eowyn", "Éowyn"),
        ("apigateway", "api-gateway"),
        ("payment service", "payment_service"),
        ("L" + "o" * 299 + "ng name", "L" + "o" * 300 + "ng name"),
        ('quo"ted name', 'quo"ted *name*'),
    ],
)
def test_a_mistaken_name_is_answered_with_the_one_that_was_meant(
    store: SqliteStore, asked: str, meant: str, *, is_crowded: bool
) -> None:
    if is_crowded:
        crowd = [f"{start}{i:04}" for i in range(400) for start in ("Al", "node ", "Ho", "中")]
        add(store, *(Node(name, "npc") for name in crowd))
    add(store, *(Node(name, "npc") for name in NAMES))
    with store.read("s") as reader:
        assert meant in reader.suggest_names(asked, 3)


@pytest.mark.covers("storage.suggest.nothing_far_fetched")
@pytest.mark.parametrize("asked", ["Sauron", "Y", "上海", "Morgoth", "", " ", "\0", "\ud800", "zz"])
def test_nothing_far_fetched_is_suggested(store: SqliteStore, asked: str) -> None:
    add(store, *(Node(name, "npc") for name in NAMES))
    with store.read("s") as reader:
        assert reader.suggest_names(asked) == ()


@pytest.mark.covers("storage.suggest.near")
def test_the_most_alike_come_first_and_never_the_name_itself(store: SqliteStore) -> None:
    add(store, *(Node(name, "npc") for name in ("Frodo", "frodo", "Frodo Baggins", "Frod")))
    with store.read("s") as reader:
        assert reader.suggest_names("Frodo", 9)[0] == "frodo"
        assert "Frodo" not in reader.suggest_names("Frodo", 9)
        assert len(reader.suggest_names("Frodoo", 2)) == 2


# Lines


@pytest.mark.covers("storage.lines_naming")
def test_lines_whose_value_is_a_name_or_lists_it_are_found_in_order(store: SqliteStore) -> None:
    add(
        store,
        Node("a", "npc", ("Friend: Al", "Friends: Bo, Al", "Friends: Al, Bo", "Foe: al")),
        Node("b", "npc", ("Al", "Bo, Al, Cy", "Note: Alice", "Note: met Al", "X: Y: Al")),
        Node("c", "npc", ("Note:Al", "Note: Al,Bo", "Friend: Bo")),
    )
    with store.read("s") as reader:
        hits = reader.lines_naming("Al", limit=99)
        assert [(hit.node_name, hit.line) for hit in hits] == [
            ("a", "Friend: Al"),
            ("a", "Friends: Bo, Al"),
            ("a", "Friends: Al, Bo"),
            ("b", "Al"),
            ("b", "Bo, Al, Cy"),
        ]
        assert reader.lines_naming("Al", limit=2) == hits[:2]


@pytest.mark.covers("storage.lines_naming")
@pytest.mark.parametrize(
    "name", ["X", "国", "中国", "Él", "Straße", 'say "hi"', "a, b", "N: x", "n" * 500, "👩\u200d🚀"]
)
def test_any_name_is_found_as_value(store: SqliteStore, name: str) -> None:
    add(
        store,
        Node("a", "npc", (f"Friend: {name}", "Friend: ?")),
        Node("b", "npc", (f"K: {name}x",)),
    )
    with store.read("s") as reader:
        hits = reader.lines_naming(name, limit=9)
        assert [(hit.node_name, hit.line) for hit in hits] == [("a", f"Friend: {name}")]


@pytest.mark.covers("storage.lines_naming")
@pytest.mark.parametrize("name", ["", "\0", "\ud800", "\x1f"])
def test_no_line_names_what_is_no_name(store: SqliteStore, name: str) -> None:
    add(store, Node("a", "npc", ("Key:", "", "Key: ")))
    with store.read("s") as reader:
        assert reader.lines_naming(name, limit=9) == ()
