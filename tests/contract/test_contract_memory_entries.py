"""What every store of project memory promises about entries, tags, links, names and audit rows."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.errors import UnsupportedError
from schemory.model.entry import (
    AuditRow,
    Entry,
    Link,
    Project,
    Relation,
    SourceType,
    Status,
    Tag,
)
from schemory.model.moment import Clock, IdMaker
from schemory.storage.memory_pages import EntryPage
from schemory.storage.memory_protocols import (
    EntryFilter,
    IndexTerms,
    MemoryReader,
    MemoryStore,
    NameCount,
)
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite import memory_filter
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test", author="tester", client="pytest")
EVERYTHING = EntryFilter()
EntryMaker = Callable[..., Entry]


def insert(store: MemoryStore, *entries: Entry, project: str = "p") -> None:
    with store.memory_transaction(project, WRITE) as tx:
        tx.insert_entries(entries)


def listed(store: MemoryStore, wanted: EntryFilter = EVERYTHING, **how: Any) -> list[str]:
    with store.read_memory("p") as reader:
        return [hit.entry.id for hit in reader.list_entries(wanted, limit=100, **how).hits]


@pytest.mark.covers("memory.store.entries.round-trip")
def test_an_entry_comes_back_field_by_field(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    full = new_entry(
        "  verbatim\n\tcontent: 连接池 ß \U0001f600  ",
        scope="Back End",
        title="Título",
        summary="Short.",
        source_type=SourceType.DECISION,
        source_ref="PR 7",
        source_path="src/a.py",
        source_uri="https://example.org/x?y=1",
        source_sha256="a" * 64,
        source_bytes=12,
        source_blob="b" * 40,
        status=Status.INVALIDATED,
        confidence=0.25,
        importance=5,
        created_by="client/1",
        invalidated_at="2026-03-09T00:00:00.000Z",
        invalidation_reason="was wrong",
        metadata={"a": [1, None, {"b": "ü"}]},
        tags=("ci", "zürich"),
        revision=7,
    )
    bare = new_entry("bare")
    insert(memory_store, full, bare)
    with memory_store.read_memory("p") as reader:
        assert reader.find_entries([full.id, bare.id, "nowhere"]) == {
            full.id: full,
            bare.id: bare,
        }


@pytest.mark.parametrize("odd", ["\ud800", "e001\0", "", "e00"])
def test_an_id_that_is_not_there_is_just_absent(
    memory_store: MemoryStore, new_entry: EntryMaker, odd: str
) -> None:
    insert(memory_store, new_entry("x"))
    with memory_store.read_memory("p") as reader:
        assert reader.find_entries([odd]) == {}
        assert reader.find_link(odd) is None
        assert reader.list_earlier_texts(odd, limit=5) == ()
        assert reader.list_links([odd], limit=5) == ()
    assert memory_store.find_entry_project(odd) is None
    with memory_store.memory_transaction("p", WRITE) as tx:
        assert tx.delete_entries([odd]) == 0


@pytest.mark.covers("memory.store.projects.read-only")
def test_reading_an_unknown_project_finds_nothing_and_makes_nothing(
    memory_store: MemoryStore,
) -> None:
    with memory_store.read_memory("never") as reader:
        assert reader.project_id == "never"
        assert reader.find_project() is None
        assert reader.list_entries(EVERYTHING, limit=5) == EntryPage(hits=(), more=None)
        assert reader.match([], EVERYTHING, limit=5).matches == ()
        assert reader.count_statuses() == {}
        assert reader.list_names("tag", EVERYTHING, limit=5) == ()
        assert reader.list_tags() == ()
        assert reader.list_links(limit=5) == ()
        assert reader.document_frequencies(["x"]) == {"x": 0}
        assert reader.last_seq() == 0
        assert reader.commits(limit=5) == ()
    with memory_store.memory_transaction("never", WRITE):
        pass
    with memory_store.read_memory("never") as reader:
        assert reader.find_project() is None
    assert memory_store.list_projects(limit=5) == ()


@pytest.mark.covers("memory.store.entries.sha")
def test_entries_are_found_by_the_hash_of_their_content(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    first, second = new_entry("same"), new_entry("same", status=Status.ARCHIVED)
    insert(memory_store, first, second, new_entry("other"))
    with memory_store.read_memory("p") as reader:
        assert reader.find_by_sha(first.content_sha256) == (first, second)
        assert reader.find_by_sha(first.content_sha256, statuses=[Status.ARCHIVED]) == (second,)
        assert reader.find_by_sha("0" * 64) == ()


@pytest.mark.covers("memory.store.update")
def test_an_update_replaces_the_entry_and_its_tags(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    entry = new_entry("before", tags=("a", "b"))
    insert(memory_store, entry)
    changed = replace(entry, content="after", tags=("b", "c"), title="T", revision=2)
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.update_entries([changed, new_entry("not there")])
        assert tx.find_entries([entry.id]) == {entry.id: changed}
    with memory_store.read_memory("p") as reader:
        assert reader.list_names("tag", EVERYTHING, limit=9) == (
            NameCount(name="b", count=1),
            NameCount(name="c", count=1),
        )
    assert listed(memory_store, EntryFilter(tags=("a",))) == []


@pytest.mark.covers("memory.store.update")
def test_an_update_that_changes_nothing_leaves_no_trace(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    entry = new_entry("x", tags=("a",))
    insert(memory_store, entry)
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.update_entries([entry])
    with memory_store.read_memory("p") as reader:
        assert reader.last_seq() == 1
        assert reader.list_earlier_texts(entry.id, limit=5) == ()


# Listings -------------------------------------------------------------------------------------


@pytest.mark.covers("memory.store.list.orders")
def test_a_listing_has_three_orders(memory_store: MemoryStore, new_entry: EntryMaker) -> None:
    insert(
        memory_store,
        new_entry("x", id="m", created_at="3", updated_at="1"),
        new_entry("x", id="a", created_at="2", updated_at="3"),
        new_entry("x", id="z", created_at="1", updated_at="3"),
    )
    assert listed(memory_store) == ["z", "a", "m"]
    assert listed(memory_store, order="created") == ["z", "a", "m"]
    assert listed(memory_store, order="id") == ["a", "m", "z"]


SCOPES, TOPICS, TAGS = ("Backend", "backend", "ÉTÉ", "été"), ("t", "T", "u"), ("a", "b", "c")
_ENTRIES = st.lists(
    st.fixed_dictionaries(
        {
            "scope": st.sampled_from(SCOPES),
            "topic": st.sampled_from(TOPICS),
            "tags": st.sets(st.sampled_from(TAGS)).map(lambda names: tuple(sorted(names))),
            "status": st.sampled_from(Status),
            "source_type": st.sampled_from(list(SourceType)[:3]),
            "created_at": st.sampled_from("1234"),
            "updated_at": st.sampled_from("1234"),
        }
    ),
    max_size=12,
)
_FILTERS = st.builds(
    EntryFilter,
    statuses=st.sets(st.sampled_from(Status), max_size=2).map(tuple),
    scope=st.none() | st.sampled_from((*SCOPES, "other")),
    topic=st.none() | st.sampled_from(TOPICS),
    tags=st.sets(st.sampled_from((*TAGS, "d")), max_size=2).map(tuple),
    match_all_tags=st.booleans(),
    source_types=st.sets(st.sampled_from(["agent_note", "decision"]), max_size=1).map(tuple),
    created_after=st.none() | st.just("2"),
    created_before=st.none() | st.just("4"),
    updated_after=st.none() | st.just("2"),
)


def passes(entry: Entry, wanted: EntryFilter) -> bool:
    tests = [
        not wanted.statuses or entry.status in wanted.statuses,
        wanted.scope is None or entry.scope.casefold() == wanted.scope.casefold(),
        wanted.topic is None or entry.topic.casefold() == wanted.topic.casefold(),
        not wanted.source_types or entry.source_type.value in wanted.source_types,
        wanted.created_after is None or entry.created_at >= wanted.created_after,
        wanted.created_before is None or entry.created_at < wanted.created_before,
        wanted.updated_after is None or entry.updated_at >= wanted.updated_after,
    ]
    if wanted.tags:
        has = [tag in entry.tags for tag in wanted.tags]
        tests.append(all(has) if wanted.match_all_tags else any(has))
    return all(tests)


@pytest.mark.covers(
    "memory.store.list.orders", "memory.store.list.filters", "memory.store.list.pages"
)
@pytest.mark.parametrize("few", [0, memory_filter.FEW], ids=["along an index", "gathered"])
@given(fields=_ENTRIES, wanted=_FILTERS, order=st.sampled_from(["updated", "created", "id"]))
def test_pages_of_a_listing_hold_what_passes_in_order(
    index_rules: IndexTerms,
    few: int,
    fields: list[dict[str, Any]],
    wanted: EntryFilter,
    order: str,
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(memory_filter, "FEW", few)
        check_pages(index_rules, fields, wanted, order)


def check_pages(
    index_rules: IndexTerms, fields: list[dict[str, Any]], wanted: EntryFilter, order: str
) -> None:
    store = SqliteStore.open(":memory:", now=_noon, ids=lambda: "id", terms=index_rules)
    entries = [_entry(f"e{i:02}", **each) for i, each in enumerate(fields)]
    insert(store, *entries)
    keys: dict[str, Callable[[Entry], Any]] = {
        "updated": lambda e: (e.updated_at, e.id),
        "created": lambda e: (e.created_at, e.id),
        "id": lambda e: e.id,
    }
    expected = sorted((e for e in entries if passes(e, wanted)), key=keys[order])
    if order == "updated":
        expected.reverse()
    found: list[Entry] = []
    with store.read_memory("p") as reader:
        page = reader.list_entries(wanted, order=order, limit=2)
        found += [hit.entry for hit in page.hits]
        while page.more is not None:
            assert page.more == page.hits[-1].position
            page = reader.list_entries(wanted, order=order, after=page.more, limit=2)
            found += [hit.entry for hit in page.hits]
        for kind in ("scope", "topic", "tag"):
            assert _names(reader, kind, wanted) == _expected_names(kind, expected)
    store.close()
    assert found == expected


def _names(reader: MemoryReader, kind: str, wanted: EntryFilter) -> dict[str, int]:
    counts = reader.list_names(kind, wanted, limit=100)
    assert [c.count for c in counts] == sorted((c.count for c in counts), reverse=True)
    return {c.name.casefold(): c.count for c in counts}


def _expected_names(kind: str, entries: list[Entry]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in entries:
        for name in entry.tags if kind == "tag" else [getattr(entry, kind).casefold()]:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _noon() -> datetime:
    return datetime(2026, 3, 8, 12, tzinfo=UTC)


def _entry(entry_id: str, **fields: Any) -> Entry:
    return Entry(id=entry_id, project_id="p", content=entry_id, content_sha256=entry_id, **fields)


@pytest.mark.covers("memory.store.names.first")
def test_of_two_spellings_the_first_written_is_shown(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(
        memory_store,
        new_entry("x", scope="BackEnd", created_at="9"),
        new_entry("x", scope="backend", created_at="1"),
        new_entry("x", scope="infra"),
    )
    with memory_store.read_memory("p") as reader:
        assert reader.list_names("scope", EVERYTHING, limit=2) == (
            NameCount(name="BackEnd", count=2),
            NameCount(name="infra", count=1),
        )
        assert reader.list_names("scope", EVERYTHING, limit=1) == (
            NameCount(name="BackEnd", count=2),
        )


@pytest.mark.covers("memory.store.statuses")
def test_statuses_are_counted(memory_store: MemoryStore, new_entry: EntryMaker) -> None:
    states = (Status.ACTIVE, Status.ACTIVE, Status.SUPERSEDED)
    insert(memory_store, *(new_entry("x", status=status) for status in states))
    with memory_store.read_memory("p") as reader:
        assert reader.count_statuses() == {Status.ACTIVE: 2, Status.SUPERSEDED: 1}


# Links ----------------------------------------------------------------------------------------


def link(link_id: str, source: str, target: str, **fields: Any) -> Link:
    facts = {"relation": Relation.EXPLAINS, "created_at": "2026-03-08T09:00:00.000Z"}
    return Link(id=link_id, source_entry_id=source, target_entry_id=target, **(facts | fields))


@pytest.mark.covers("memory.store.links")
def test_links_are_listed_by_direction_and_page(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    a, b, c = (new_entry(text).id for text in "abc")
    links = [
        link("l1", "e001", "e002", label="why", metadata={"x": 1}),
        link("l2", "e002", "e001", relation=Relation.SUPERSEDES),
        link("l3", "e003", "e003", relation=Relation.BLOCKS),
    ]
    insert(memory_store, *(new_entry(text, id=i) for text, i in zip("abc", (a, b, c), strict=True)))
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.insert_links(links)
    with memory_store.read_memory("p") as reader:
        assert reader.find_link("l1") == links[0]
        assert reader.list_links(limit=9) == tuple(links)
        assert reader.list_links(limit=1) == (links[0],)
        assert reader.list_links(after_id="l1", limit=1) == (links[1],)
        assert reader.list_links([a], limit=9) == tuple(links[:2])
        assert reader.list_links([a], direction="out", limit=9) == (links[0],)
        assert reader.list_links([a], direction="in", limit=9) == (links[1],)
        assert reader.list_links([a, b, c], after_id="l1", limit=9) == tuple(links[1:])
        assert reader.list_links([], limit=9) == ()
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.delete_links(["l2", "nowhere"])
        assert tx.list_links(limit=9) == (links[0], links[2])


# Tags, projects, audit ------------------------------------------------------------------------


@pytest.mark.covers("memory.store.tags")
def test_a_tags_description_is_kept(memory_store: MemoryStore, new_entry: EntryMaker) -> None:
    insert(memory_store, new_entry("x", tags=("ci",)))
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.put_tags([Tag(name="ci", created_at="1", description="builds")])
        tx.put_tags([Tag(name="new", created_at="2", description=None)])
        tx.put_tags([Tag(name="ci", created_at="9", description=None)])
    with memory_store.read_memory("p") as reader:
        assert reader.list_tags() == (
            Tag(name="ci", created_at="2026-03-08T09:05:07.000Z", description="builds"),
            Tag(name="new", created_at="2", description=None),
        )
        assert [c.name for c in reader.list_names("tag", EVERYTHING, limit=9)] == ["ci"]


@pytest.mark.covers("memory.store.projects.put")
def test_what_is_known_of_a_project_is_kept_unless_said_anew(
    memory_store: MemoryStore, advance: Callable[[float], None]
) -> None:
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.put_project(Project(id="p", display_name="One", git_remote="git:x/y"))
    advance(1)
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.put_project(Project(id="p", display_name="Two", metadata={"team": "a"}))
    with memory_store.read_memory("p") as reader:
        assert reader.find_project() == Project(
            id="p",
            display_name="Two",
            git_remote="git:x/y",
            created_at="2026-03-08T09:05:07.000Z",
            updated_at="2026-03-08T09:05:08.000Z",
            metadata={"team": "a"},
        )
        assert reader.last_seq() == 0
    assert memory_store.list_projects(limit=9) == ()  # it holds no entry


@pytest.mark.covers("memory.store.projects.list")
def test_projects_with_entries_are_listed_by_id(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    for name in ("b", "c", "a"):
        insert(memory_store, new_entry("x", project_id=name), project=name)
    assert [p.id for p in memory_store.list_projects(limit=2)] == ["a", "b"]
    assert [p.id for p in memory_store.list_projects(after="b", limit=2)] == ["c"]


@pytest.mark.covers("memory.store.isolation.ids")
def test_an_entry_is_another_projects_only_by_the_verb_that_says_so(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    mine, theirs = new_entry("mine"), new_entry("theirs", project_id="q")
    insert(memory_store, mine)
    insert(memory_store, theirs, project="q")
    assert memory_store.find_entry_project(theirs.id) == "q"
    with memory_store.memory_transaction("p", WRITE) as tx:
        assert tx.find_entries([theirs.id]) == {}
        assert tx.find_taken_ids([mine.id, theirs.id, "free"]) == {theirs.id}
        assert tx.delete_entries([theirs.id]) == 0
        tx.update_entries([replace(theirs, content="stolen")])
    with memory_store.read_memory("q") as reader:
        assert reader.find_entries([theirs.id]) == {theirs.id: theirs}


def audit(audit_id: str, project: str, moment: str = "2026-03-08T09:00:00.000Z") -> AuditRow:
    return AuditRow(
        id=audit_id,
        timestamp=moment,
        project_id=project,
        operation="memory_add_entry",
        entry_id=None,
        actor="tester",
        params={"content": {"sha256": "…", "bytes": 3, "chars": 3}},
        result={"outcome": "refused", "error_code": "INVALID_PARAM"},
    )


@pytest.mark.covers("memory.store.audit")
def test_audit_rows_are_paged_oldest_first(memory_store: MemoryStore) -> None:
    rows = [audit(f"a{i}", "p") for i in range(3)]
    with memory_store.memory_transaction("p", WRITE) as tx:
        for row in rows:
            tx.insert_audit(row)
    with memory_store.read_memory("p") as reader:
        first = reader.list_audit(limit=2)
        assert first.rows == tuple(rows[:2])
        assert first.more is not None
        rest = reader.list_audit(after=first.more, limit=2)
        assert (rest.rows, rest.more) == (tuple(rows[2:]), None)


@pytest.mark.covers("memory.store.audit")
def test_an_audit_row_alone_makes_no_project_and_takes_no_number(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    for project in ("", "refused", "p"):
        with memory_store.memory_transaction(project, WRITE) as tx:
            tx.insert_audit(audit("a", project))
    for project in ("", "refused", "p"):
        with memory_store.read_memory(project) as reader:
            assert reader.find_project() is None
            assert len(reader.list_audit(limit=5).rows) == 1
    insert(memory_store, new_entry("x"))
    with memory_store.read_memory("p") as reader:
        assert [commit.seq for commit in reader.commits(limit=5)] == [1]


@pytest.mark.covers("memory.store.audit.prune")
def test_audit_rows_are_pruned_by_age_and_project(memory_store: MemoryStore) -> None:
    for project, moment in (("p", "1"), ("p", "2"), ("q", "1")):
        with memory_store.memory_transaction(project, WRITE) as tx:
            tx.insert_audit(audit("a", project, moment))
    assert memory_store.prune_audit(before="2", project_id="p") == 1
    assert memory_store.prune_audit(before="2", project_id=None) == 1
    assert memory_store.prune_audit(before="2", project_id=None) == 0
    with memory_store.read_memory("p") as reader:
        assert [row.timestamp for row in reader.list_audit(limit=5).rows] == ["2"]


@pytest.mark.covers("memory.store.rollback")
def test_a_failed_transaction_leaves_nothing_behind(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    undone: list[str] = []
    with (
        pytest.raises(RuntimeError, match="stop"),
        memory_store.memory_transaction("p", WRITE) as tx,
    ):
        tx.insert_entries([new_entry("x", tags=("t",))])
        tx.insert_audit(audit("a", "p"))
        tx.on_rollback(lambda: undone.append("file"))
        raise RuntimeError("stop")
    assert undone == ["file"]
    with memory_store.read_memory("p") as reader:
        assert reader.find_project() is None
        assert reader.list_audit(limit=5).rows == ()
    assert memory_store.find_entry_project("e001") is None


@pytest.mark.covers("memory.store.unsupported")
def test_a_store_opened_for_the_graph_alone_says_so(clock: Clock, ids: IdMaker) -> None:
    store = SqliteStore.open(":memory:", now=clock, ids=ids)
    for use in (
        lambda: store.read_memory("p").__enter__(),
        lambda: store.memory_transaction("p", WRITE).__enter__(),
        lambda: store.list_projects(limit=1),
        lambda: store.find_entry_project("e"),
        lambda: store.prune_audit(before="", project_id=None),
    ):
        with pytest.raises(UnsupportedError, match="graph alone"):
            use()
    store.close()
