"""A store of the first release, which had no memory, gains it without losing its graph."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from schemory.model.entry import Entry
from schemory.model.moment import Clock, IdMaker
from schemory.storage.memory_protocols import EntryFilter, IndexTerms, TermGroup
from schemory.storage.protocols import SearchQuery, WriteContext
from schemory.storage.sqlite.index import index_tables_sql
from schemory.storage.sqlite.migrate import APPLICATION_ID, load_migrations, migrate
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")


@pytest.fixture
def first_release(tmp_path: Path, clock: Clock) -> Path:
    """A file as the first schema had it, with one node."""
    path = tmp_path / "memory.db"
    db = apsw.Connection(str(path))
    db.pragma("application_id", APPLICATION_ID)
    db.pragma("journal_mode", "wal")
    migrate(db, str(path), now=clock, steps=load_migrations()[:1])
    db.execute(
        """
        INSERT INTO store_facts VALUES ('cursor_key', zeroblob(32));
        INSERT INTO projects (id, created_at, updated_at, last_seq) VALUES ('p', '1', '1', 1);
        INSERT INTO node_type VALUES (1, 1, 'npc');
        INSERT INTO node (project, name, type, metadata, created_at, updated_at, author, revision,
                          since_seq, twin)
        VALUES (1, 'Elrond', 1, '[]', '1', '1', '', 1, 1, 1);
        INSERT INTO ledger VALUES (1, 1, '1', 'add_nodes', '', '', '{"nodes_inserted":1}', 0);
        INSERT INTO insert_run VALUES (1, 'node', 1, 1, 1);
        """
    )
    db.execute(index_tables_sql(1))
    db.close()
    return path


@pytest.mark.covers("memory.store.upgrade")
def test_a_store_of_the_first_release_gains_a_memory(
    first_release: Path,
    clock: Clock,
    ids: IdMaker,
    index_rules: IndexTerms,
    new_entry: Callable[..., Entry],
) -> None:
    store = SqliteStore.open(first_release, now=clock, ids=ids, terms=index_rules)
    assert store.rebuild_indexes() == 1
    with store.memory_transaction("p", WRITE) as tx:
        assert tx.seq == 2
        tx.insert_entries([new_entry("ring")])
    with store.read("p") as graph:
        assert list(graph.find_nodes(["Elrond"])) == ["Elrond"]
        page = graph.search(SearchQuery(terms=("elr",)), after=None, limit=5)
        assert [hit.record.name for hit in page.hits] == ["Elrond"]
        assert [commit.seq for commit in graph.commits(limit=5)] == [1, 2]
    with store.read_memory("p") as reader:
        found = reader.match([TermGroup(whole=("ring",))], EntryFilter(), limit=5)
        assert [match.id for match in found.matches] == ["e001"]
    assert store.find_faults() == ()
    store.close()
