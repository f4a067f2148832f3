"""What every store of project memory promises about its ledger: history, undo, deletion."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemory.errors import InvalidParamError, UndoConflictError
from schemory.model.entry import Entry, Link, Relation, Status, Tag
from schemory.model.node import NewNode, Node
from schemory.storage.memory_protocols import EntryFilter, MemoryStore, MemoryTransaction
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test", author="tester", client="pytest")
EVERYTHING = EntryFilter()
EntryMaker = Callable[..., Entry]
Step = Callable[[MemoryTransaction], object]


def write(store: MemoryStore, *steps: Step, project: str = "p") -> int:
    with store.memory_transaction(project, WRITE) as tx:
        for step in steps:
            step(tx)
        return tx.seq


def insert(*entries: Entry) -> Step:
    return lambda tx: tx.insert_entries(entries)


def update(*entries: Entry) -> Step:
    return lambda tx: tx.update_entries(entries)


def delete(*ids: str) -> Step:
    return lambda tx: tx.delete_entries(ids)


def connect(*links: Link) -> Step:
    return lambda tx: tx.insert_links(links)


def undo(seq: int) -> Step:
    return lambda tx: tx.undo(seq)


def link(link_id: str, source: str, target: str, relation: Relation = Relation.EXPLAINS) -> Link:
    return Link(
        id=link_id, source_entry_id=source, target_entry_id=target, relation=relation,
        created_at="2026-03-08T09:00:00.000Z", label=f"label of {link_id}",
    )  # fmt: skip


def everything(store: MemoryStore) -> dict[str, Any]:
    """All that a project shows, but who changed it and when."""
    with store.read_memory("p") as reader:
        hits = reader.list_entries(EVERYTHING, order="id", limit=100).hits
        return {
            "entries": [replace(h.entry, revision=1, updated_at="") for h in hits],
            "links": reader.list_links(limit=100),
            "tags": [(n.name, n.count) for n in reader.list_names("tag", EVERYTHING, limit=100)],
            "descriptions": {t.name: t.description for t in reader.list_tags() if t.description},
        }


@pytest.mark.covers("memory.store.ledger.commits")
def test_every_transaction_is_one_row_of_the_projects_ledger(
    memory_store: MemoryStore, new_entry: EntryMaker, advance: Callable[[float], None]
) -> None:
    one, two = new_entry("one", tags=("t",)), new_entry("two")
    assert write(memory_store, insert(one, two), connect(link("l", one.id, two.id))) == 1
    advance(1)
    assert write(memory_store, update(replace(one, title="T", revision=2))) == 2
    assert write(memory_store, delete(two.id), insert(new_entry("three"))) == 3
    with memory_store.read_memory("p") as reader:
        commits = reader.commits(limit=9)
        assert reader.last_seq() == 3
        assert reader.commits(after_seq=2, limit=9) == commits[2:]
    assert [c.items for c in commits] == [
        {"entries_inserted": 2, "tags_inserted": 1, "links_inserted": 1},
        {"entries_updated": 1},
        {"entries_purged": 1, "entries_inserted": 1},
    ]
    assert [c.recorded_at[-7:-5] for c in commits] == ["07", "08", "08"]
    assert (commits[0].operation, commits[0].author, commits[0].client) == (
        "test",
        "tester",
        "pytest",
    )


@pytest.mark.covers("memory.store.ledger.shared")
def test_graph_and_memory_of_a_project_share_one_ledger(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    write(memory_store, insert(new_entry("x")))
    with memory_store.transaction("p", WRITE) as tx:
        tx.insert_nodes([NewNode(node=Node("A", "npc"))])
        assert tx.seq == 2
    write(memory_store, insert(new_entry("y")))
    with memory_store.read("p") as graph, memory_store.read_memory("p") as memory:
        assert graph.commits(limit=9) == memory.commits(limit=9)
        assert [sorted(c.items) for c in memory.commits(limit=9)] == [
            ["entries_inserted"],
            ["nodes_inserted"],
            ["entries_inserted"],
        ]
    with memory_store.transaction("p", WRITE) as tx:
        tx.undo(3)
        tx.undo(2)
    with memory_store.read_memory("p") as memory:
        assert [h.entry.id for h in memory.list_entries(EVERYTHING, limit=9).hits] == ["e001"]


def test_a_project_with_memory_alone_reads_as_an_empty_graph(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    write(memory_store, insert(new_entry("x")))
    with memory_store.read("p") as graph:
        assert graph.count().nodes == 0
        assert graph.find_nodes(["A"]) == {}
    assert memory_store.spaces() == ()
    with memory_store.transaction("p", WRITE) as tx:
        assert tx.find_nodes(["A"]) == {}
    assert memory_store.find_faults() == ()


@pytest.mark.covers("memory.store.earlier")
def test_an_entrys_earlier_texts_are_kept_newest_first(
    memory_store: MemoryStore, new_entry: EntryMaker, advance: Callable[[float], None]
) -> None:
    first = new_entry("first", tags=("a",), confidence=0.5, metadata={"k": 1})
    second = replace(first, content="second", tags=("b",), revision=2, title="T")
    third = replace(second, status=Status.ARCHIVED, revision=3)
    write(memory_store, insert(first))
    for state in (second, third):
        advance(60)
        write(memory_store, update(state))
    with memory_store.read_memory("p") as reader:
        earlier = reader.list_earlier_texts(first.id, limit=9)
        assert [e.entry for e in earlier] == [second, first]
        assert [e.revision for e in earlier] == [2, 1]
        assert [e.changed_at[14:16] for e in earlier] == ["07", "06"]
        assert reader.list_earlier_texts(first.id, limit=1) == earlier[:1]


@pytest.mark.covers("memory.store.earlier")
def test_two_changes_in_one_transaction_keep_one_earlier_text(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    entry = new_entry("first")
    write(memory_store, insert(entry))
    steps = (update(replace(entry, content=text)) for text in ("second", "third"))
    write(memory_store, *steps)
    fresh = new_entry("fresh")
    write(memory_store, insert(fresh), update(replace(fresh, content="fresher")))
    with memory_store.read_memory("p") as reader:
        assert [e.entry.content for e in reader.list_earlier_texts(entry.id, limit=9)] == ["first"]
        assert reader.list_earlier_texts(fresh.id, limit=9) == ()


# Undo -----------------------------------------------------------------------------------------


@pytest.fixture
def before(memory_store: MemoryStore, new_entry: EntryMaker) -> list[Entry]:
    """Three entries, two tags and a link that stand before what is undone."""
    entries = [
        new_entry("one", tags=("a", "b"), title="T"),
        new_entry("two", tags=("b",)),
        new_entry("three"),
    ]
    write(memory_store, insert(*entries), connect(link("l1", "e001", "e002")))
    write(memory_store, lambda tx: tx.put_tags([Tag(name="b", created_at="1", description="B")]))
    return entries


@pytest.mark.covers("memory.store.undo")
def test_an_import_is_undone_and_redone(
    memory_store: SqliteStore, new_entry: EntryMaker, before: list[Entry]
) -> None:
    state = everything(memory_store)
    seq = write(
        memory_store,
        insert(new_entry("new", tags=("b", "c"))),
        lambda tx: tx.put_tags([Tag(name="b", created_at="1", description="other")]),
        lambda tx: tx.put_tags([Tag(name="d", created_at="1", description="D")]),
        update(replace(before[0], tags=("c",), content="changed", revision=2)),
        update(replace(before[1], status=Status.SUPERSEDED, revision=2)),
        connect(link("l2", "e004", "e001"), link("l3", "e002", "e004")),
        lambda tx: tx.delete_links(["l1"]),
    )
    imported = everything(memory_store)
    assert imported != state
    back = write(memory_store, undo(seq))
    assert everything(memory_store) == state
    write(memory_store, undo(back))
    assert everything(memory_store) == imported
    assert memory_store.find_faults() == ()


@pytest.mark.covers("memory.store.undo")
def test_an_undone_entry_has_a_revision_it_never_had(
    memory_store: MemoryStore, before: list[Entry]
) -> None:
    seq = write(memory_store, update(replace(before[0], content="changed", revision=2)))
    write(memory_store, undo(seq))
    with memory_store.read_memory("p") as reader:
        entry = reader.find_entries(["e001"])["e001"]
        assert (entry.content, entry.revision) == ("one", 3)
        assert entry.updated_at == "2026-03-08T09:05:07.000Z"


@pytest.mark.covers("memory.store.undo")
def test_undo_leaves_a_tag_that_others_use_by_now(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    seq = write(memory_store, insert(new_entry("x", tags=("t",))))
    write(memory_store, insert(new_entry("y", tags=("t",))))
    write(memory_store, undo(seq))
    with memory_store.read_memory("p") as reader:
        assert [t.name for t in reader.list_tags()] == ["t"]
        assert [h.entry.id for h in reader.list_entries(EVERYTHING, limit=9).hits] == ["e002"]


def refused(store: MemoryStore, seq: int) -> list[str]:
    """Return why a transaction cannot be undone; nothing is changed by trying."""
    state = everything(store)
    with pytest.raises(UndoConflictError) as caught:
        write(store, undo(seq))
    assert everything(store) == state
    assert caught.value.context["problemCount"] == len(caught.value.problems)
    return [problem.message for problem in caught.value.problems]


@pytest.mark.covers("memory.store.undo.conflict")
def test_undo_is_refused_when_what_was_written_has_changed_since(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    new = new_entry("new")
    seq = write(memory_store, insert(new), lambda tx: tx.put_tags([Tag(name="n", created_at="1")]))
    write(
        memory_store,
        update(replace(new, content="later", revision=2)),
        lambda tx: tx.put_tags([Tag(name="n", created_at="1", description="N")]),
    )
    assert refused(memory_store, seq) == [
        f"entry {new.id} has changed since",
        "tag 'n' has changed since",
    ]


@pytest.mark.covers("memory.store.undo")
def test_what_was_changed_and_changed_back_can_be_undone(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    new = new_entry("new")
    seq = write(memory_store, insert(new))
    write(memory_store, update(replace(new, content="later", revision=2)))
    write(memory_store, update(replace(new, revision=3)))
    write(memory_store, undo(seq))
    assert everything(memory_store)["entries"] == []


@pytest.mark.covers("memory.store.undo.conflict")
def test_undo_is_refused_when_a_later_link_would_be_torn_off(
    memory_store: MemoryStore, new_entry: EntryMaker, before: list[Entry]
) -> None:
    new = new_entry("new")
    seq = write(memory_store, insert(new))
    write(memory_store, connect(link("l9", before[0].id, new.id)))
    assert refused(memory_store, seq) == ["link e001 -[explains]-> e004 was added since"]


@pytest.mark.covers("memory.store.undo.conflict")
def test_undo_is_refused_when_a_link_was_made_anew(
    memory_store: MemoryStore, before: list[Entry]
) -> None:
    seq = write(memory_store, lambda tx: tx.delete_links(["l1"]))
    write(memory_store, connect(link("l9", before[0].id, before[1].id)))
    assert refused(memory_store, seq) == ["link e001 -[explains]-> e002 was added anew since"]


@pytest.mark.covers("memory.store.undo.conflict")
def test_undo_is_refused_when_an_end_of_a_link_has_gone(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    one, two = new_entry("one"), new_entry("two")
    write(memory_store, insert(one))
    made = write(memory_store, insert(two))
    write(memory_store, connect(link("l1", one.id, two.id)))
    unlinked = write(memory_store, lambda tx: tx.delete_links(["l1"]))
    write(memory_store, undo(made))
    told = refused(memory_store, unlinked)
    assert told == ["an end of link e001 -[explains]-> e002 has gone since"]


@pytest.mark.covers("memory.store.undo.conflict")
def test_undo_is_refused_when_the_id_is_taken_again(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    entry = new_entry("one")
    back = write(memory_store, undo(write(memory_store, insert(entry))))
    write(memory_store, insert(replace(entry, content="another")))
    assert refused(memory_store, back) == ["entry e001 was added anew since"]


@pytest.mark.covers("memory.store.undo.unreachable")
@pytest.mark.parametrize("seq", [-1, 0, 99])
def test_there_is_nothing_to_undo_where_there_was_no_transaction(
    memory_store: MemoryStore, before: list[Entry], seq: int
) -> None:
    with pytest.raises(InvalidParamError, match="there is no transaction"):
        write(memory_store, undo(seq))
    assert len(before) == 3


# Deletion -------------------------------------------------------------------------------------


@pytest.mark.covers("memory.store.delete")
def test_deleting_an_entry_takes_tags_links_and_past_with_it(
    memory_on_disk: SqliteStore, new_entry: EntryMaker
) -> None:
    store = memory_on_disk
    entry, other = new_entry("one", tags=("mine", "ours")), new_entry("two", tags=("ours",))
    write(store, insert(entry, other), connect(link("l1", entry.id, other.id)))
    write(store, connect(link("l2", other.id, entry.id, Relation.BLOCKS)))
    write(store, lambda tx: tx.delete_links(["l1"]))
    write(store, update(replace(entry, content="one more", revision=2, tags=("last",))))
    with store.memory_transaction("p", WRITE) as tx:
        assert tx.delete_entries([entry.id, "nowhere"]) == 1
        assert tx.find_entries([entry.id]) == {}
    with store.read_memory("p") as reader:
        assert reader.list_links(limit=9) == ()
        assert [t.name for t in reader.list_tags()] == ["ours"]
        assert reader.find_entries([other.id]) == {other.id: other}
        assert reader.commits(after_seq=4, limit=9)[0].items == {"entries_purged": 1}
    for seq in (1, 2, 3, 4, 5):
        with pytest.raises(InvalidParamError, match="was purged"):
            write(store, undo(seq))
    assert store.find_faults() == ()


SECRETS = [
    "zq-title", "zq-content-now", "zq-content-before", "zq-summary", "zq-tag-now", "zq-tag-before",
    "zq-scope", "zq-topic", "zq-ref", "zq-reason", "zq-meta", "zq-label-now", "zq-label-gone",
    "zq-uri", "zq-id",
]  # fmt: skip


@pytest.mark.covers("memory.store.delete.bytes")
@pytest.mark.parametrize("way", ["present", "taken back by an undo"])
def test_after_a_vacuum_a_deleted_entrys_text_is_nowhere_in_the_file(
    memory_on_disk: SqliteStore, new_entry: EntryMaker, way: str
) -> None:
    store = memory_on_disk
    other = new_entry("stays", tags=("stays",))
    write(store, insert(other))
    entry = new_entry(
        "zq-content-before", id="zq-id", title="zq-title", summary="zq-summary", scope="zq-scope",
        topic="zq-topic", source_ref="zq-ref", source_uri="zq-uri", tags=("zq-tag-before",),
        invalidation_reason="zq-reason", metadata={"k": "zq-meta"},
    )  # fmt: skip
    made = write(store, insert(entry))
    if way == "present":
        changed = replace(entry, content="zq-content-now", tags=("zq-tag-now",), revision=2)
        write(store, update(changed))
        gone = replace(link("l1", entry.id, other.id), label="zq-label-gone")
        now = replace(link("l2", other.id, entry.id), label="zq-label-now")
        write(store, connect(gone, now))
        write(store, lambda tx: tx.delete_links(["l1"]))
    else:
        write(store, undo(made))
    write(store, delete(entry.id))
    store.vacuum()
    files = sorted(Path(store.location).parent.iterdir())
    held = b"".join(file.read_bytes() for file in files)
    # FTS5 keeps a term without what it shares with the one before it: also look for the ends.
    assert [text for text in SECRETS if text.encode() in held] == []
    assert [end for end in ("scope", "label", "summary") if f"zq{end}".encode() in held] == []
    assert b"stays" in held
    with store.read_memory("p") as reader:
        assert reader.find_entries([other.id]) == {other.id: other}
    assert store.find_faults() == ()
