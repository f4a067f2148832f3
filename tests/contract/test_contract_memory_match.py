"""What every store of project memory promises about finding entries by their words."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemory.model.entry import Entry, SourceType, Status
from schemory.retrieval.query import parse_query
from schemory.storage.memory_protocols import (
    ColumnWeights,
    EntryFilter,
    Holds,
    IndexState,
    IndexTerms,
    Match,
    MemoryStore,
    TermGroup,
)
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite import memory_match
from schemory.storage.sqlite.memory_scan import has_terms
from schemory.storage.sqlite.memory_terms import holds_of
from schemory.storage.sqlite.store import SqliteStore

WRITE = WriteContext(operation="test")
EVERYTHING = EntryFilter()
EntryMaker = Callable[..., Entry]


def groups_of(query: str) -> list[TermGroup]:
    parsed = parse_query(query)
    return [
        TermGroup(
            whole=word.whole,
            parts=word.parts,
            is_prefix=word.is_prefix,
            is_required=word in parsed.phrase_words,
        )
        for word in parsed.words
    ]


def insert(store: MemoryStore, *entries: Entry, project: str = "p") -> None:
    with store.memory_transaction(project, WRITE) as tx:
        tx.insert_entries(entries)


def found(
    store: MemoryStore, query: str, wanted: EntryFilter = EVERYTHING, **how: Any
) -> list[Match]:
    with store.read_memory("p") as reader:
        return list(reader.match(groups_of(query), wanted, **{"limit": 50, **how}).matches)


def ids(matches: Sequence[Match]) -> list[str]:
    return [match.id for match in matches]


@pytest.mark.covers("memory.store.match.or")
def test_entries_that_hold_any_word_are_found_best_first(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(
        memory_store,
        new_entry("the worker restarts slowly", id="one"),
        new_entry("restart the webhook worker", id="both"),
        new_entry("nothing of that", id="none"),
    )
    matches = found(memory_store, "webhooks restarting")
    assert ids(matches) == ["both", "one"]
    assert matches[0].score > matches[1].score > 0
    assert [m.holds for m in matches] == [Holds.EXACT, Holds.SOME]


@pytest.mark.covers("memory.store.match.facts")
def test_a_candidate_tells_what_ranking_needs(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    entry = new_entry(
        "wébhook", scope="Back END", topic="Été", importance=5, confidence=0.5, created_at="1",
        updated_at="2", status=Status.SUPERSEDED,
    )  # fmt: skip
    insert(memory_store, entry)
    (match,) = found(memory_store, "webhook")
    assert match._replace(score=0) == Match(
        id=entry.id,
        row_id=1,
        score=0,
        holds=Holds.EXACT,
        place=("back end", "été"),
        status=Status.SUPERSEDED,
        importance=5,
        confidence=0.5,
        created_at="1",
        updated_at="2",
        content_bytes=8,
    )


@pytest.mark.covers("memory.store.match.columns")
@pytest.mark.parametrize("column", ["title", "content", "summary", "scope", "topic", "tags"])
def test_every_field_is_searched_with_its_weight(
    memory_store: MemoryStore, new_entry: EntryMaker, column: str
) -> None:
    value: object = ("webhook",) if column == "tags" else "webhook"
    other = ("alpha",) if column == "tags" else "alpha"
    fields = {"title": "beta", "summary": "gamma", "tags": ("delta",), column: value}
    content = str(fields.pop("content", "epsilon"))
    filler = {"title": "beta", "summary": "gamma", "tags": ("delta",), column: other}
    filling = str(filler.pop("content", "epsilon"))
    insert(
        memory_store, new_entry(content, **fields), *(new_entry(filling, **filler) for _ in "ab")
    )
    at = {"title": 0, "content": 1, "summary": 2}.get(column, 3)
    heavy = ColumnWeights(*(9.0 if i == at else 0.001 for i in range(4)))
    light = ColumnWeights(*(0.001 if i == at else 9.0 for i in range(4)))
    strong = found(memory_store, "webhook", weights=heavy)
    weak = found(memory_store, "webhook", weights=light)
    assert ids(strong) == ids(weak) == ["e001"]
    assert strong[0].score > 10 * weak[0].score


@pytest.mark.covers("memory.store.match.all-first")
def test_an_entry_with_all_words_is_never_lost_behind_many_with_some(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    crowd = [new_entry(f"{word} {word}") for word in ("webhook", "deployment") * 15]
    long = "filler " * 400
    insert(memory_store, *crowd, new_entry(f"webhook {long} deployment {long}", id="all"))
    matches = found(memory_store, "webhook deployment", limit=5)
    assert [m.id for m in matches if m.holds is Holds.EXACT] == ["all"]
    assert len(matches) == 6


@pytest.mark.covers("memory.store.match.exact")
def test_an_identifier_is_held_as_a_whole_or_by_its_parts(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(
        memory_store,
        new_entry("see src/auth/token.py there", id="whole"),
        new_entry("auth of the src: token, py", id="parts"),
        new_entry("a token", id="some"),
    )
    levels = {m.id: m.holds for m in found(memory_store, "src/auth/token.py token")}
    assert levels == {"whole": Holds.EXACT, "parts": Holds.ALL, "some": Holds.SOME}
    levels = {m.id: m.holds for m in found(memory_store, "src/auth/token.py")}
    assert (levels["whole"], levels["parts"]) == (Holds.EXACT, Holds.ALL)


@pytest.mark.covers("memory.store.match.cjk")
def test_one_ideograph_and_a_pair_are_found(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(memory_store, new_entry("数据库连接池已满", id="a"), new_entry("连续", id="b"))
    assert ids(found(memory_store, "连接")) == ["a"]
    assert sorted(ids(found(memory_store, "连"))) == ["a", "b"]
    assert ids(found(memory_store, "满")) == ["a"]


@pytest.mark.covers("memory.store.match.required")
def test_words_of_a_phrase_must_all_be_there(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(
        memory_store,
        new_entry("dead letter queue", id="yes"),
        new_entry("letter to a dead queue of mails", id="scattered"),
        new_entry("dead queue", id="half"),
    )
    assert sorted(ids(found(memory_store, '"dead letter" queue'))) == ["scattered", "yes"]
    assert sorted(ids(found(memory_store, '"dead letter"'))) == ["scattered", "yes"]


@pytest.mark.covers("memory.store.match.verify")
def test_a_candidate_is_verified_on_its_original_texts(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    told: list[tuple[str, ...]] = []

    def verify(texts: Sequence[str]) -> bool:
        told.append(tuple(texts))
        return "dead letter" in texts[1]

    rest = [new_entry("letter dead", title="T") for _ in range(60)]
    full = new_entry("a dead letter", title="T", summary="S", tags=("x", "y"))
    insert(memory_store, *rest, full)
    assert ids(found(memory_store, '"dead letter"', verify=verify, limit=1)) == [full.id]
    assert ("T", "a dead letter", "S", "backend", "auth", "x", "y") in told


@pytest.mark.covers("memory.store.match.verify")
def test_verifying_is_bounded_and_says_so(
    memory_store: MemoryStore, new_entry: EntryMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_match, "MOST_VERIFIED", 10)
    insert(memory_store, *(new_entry("same words") for _ in range(20)))
    with memory_store.read_memory("p") as reader:
        how: dict[str, Any] = {"limit": 3, "verify": lambda _texts: False}
        matches = reader.match(groups_of("words"), EVERYTHING, **how)
        assert (matches.matches, matches.is_partial) == ((), True)
        how["verify"] = lambda _texts: True
        matches = reader.match(groups_of("words"), EVERYTHING, **how)
        assert (len(matches.matches), matches.is_partial) == (3, False)


@pytest.mark.covers("memory.store.match.filter")
def test_a_filter_that_lets_few_pass_still_fills_the_page(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    crowd = [new_entry("webhook webhook") for _ in range(40)]
    rare = [new_entry(f"one webhook {'and more words ' * 9}", tags=("x",)) for _ in range(4)]
    insert(memory_store, *crowd, *rare)
    wanted = EntryFilter(tags=("x",), statuses=(Status.ACTIVE,), scope="BACKEND")
    assert ids(found(memory_store, "webhook", wanted, limit=3)) == [e.id for e in rare[:3]]
    assert found(memory_store, "webhook", EntryFilter(tags=("nowhere",))) == []
    assert found(memory_store, "webhook", EntryFilter(scope="\ud800")) == []
    assert found(memory_store, "webhook", limit=0) == []


@pytest.mark.covers("memory.store.match.beside")
def test_candidates_know_who_stands_beside_them(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    def at(moment: str, content: str = "webhook", **fields: Any) -> Entry:
        return new_entry(
            content, created_at=moment, id=f"{moment}{fields.get('topic', '')}", **fields
        )

    insert(
        memory_store, at("3"), at("1"), at("2", status=Status.ARCHIVED), at("4", "else"), at("5"),
        at("2", topic="other"),
    )  # fmt: skip
    active = EntryFilter(statuses=(Status.ACTIVE,))
    beside = {m.id: (m.previous_id, m.next_id) for m in found(memory_store, "webhook", active)}
    assert beside == {
        "1": (None, "3"),  # the archived one between does not count
        "3": ("1", None),  # an active entry that does not match stands between 3 and 5
        "5": (None, None),
        "2other": (None, None),
    }
    beside = {m.id: (m.previous_id, m.next_id) for m in found(memory_store, "webhook")}
    assert beside["1"] == (None, "2")
    assert beside["2"] == ("1", "3")


@pytest.mark.covers("memory.store.match.frequency")
def test_a_search_tells_how_common_its_words_are(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(
        memory_store, *(new_entry(text) for text in ("alpha beta", "alpha", "gamma", "x_y", "x"))
    )
    with memory_store.read_memory("p") as reader:
        matches = reader.match(groups_of("alpha beta nowhere x_y"), EVERYTHING, limit=1)
        assert matches.entries == 5
        assert matches.document_frequency == (2, 1, 0, 1)
        assert reader.document_frequencies(["alpha", "nowhere"]) == {"alpha": 2, "nowhere": 0}


@pytest.mark.covers("memory.store.match.common", "retrieval.ranking.common")
def test_in_a_large_project_common_words_do_not_choose_while_others_remain(
    memory_store: MemoryStore, new_entry: EntryMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_match, "COMMON_FROM_ENTRIES", 10)
    insert(memory_store, *(new_entry("common") for _ in range(9)), new_entry("rare thing", id="r"))
    with memory_store.read_memory("p") as reader:
        matches = reader.match(groups_of("common rare"), EVERYTHING, limit=9)
        assert ids(matches.matches) == ["r"]
        assert matches.unselective == {0}
        matches = reader.match(groups_of("common nowhere"), EVERYTHING, limit=20)
        assert len(matches.matches) == 9
        assert matches.unselective == frozenset()
    insert(memory_store, new_entry("common rare things", id="both"))
    levels = {m.id: m.holds for m in found(memory_store, "common rare")}
    assert levels == {"r": Holds.SOME, "both": Holds.EXACT}


@pytest.mark.covers("memory.store.match.held")
def test_the_groups_that_an_entry_holds_are_told(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(
        memory_store,
        new_entry("alpha in src/token.py", id="a"),
        new_entry("连接", title="beta", id="b"),
        new_entry("token src", id="c"),
        new_entry("none", id="d"),
    )
    groups = [*groups_of("alpha beta src/token.py"), TermGroup(whole=("连",), is_prefix=True)]
    with memory_store.read_memory("p") as reader:
        assert reader.held_groups(groups, ["a", "b", "c", "d", "nowhere"]) == {
            "a": {0, 2},
            "b": {1, 3},
            "c": frozenset(),
            "d": frozenset(),
        }
        assert reader.held_groups([], ["a"]) == {"a": frozenset()}
        assert reader.held_groups(groups, []) == {}


@pytest.mark.covers("memory.store.match.empty")
@pytest.mark.parametrize("groups", [[], [TermGroup()], [TermGroup(whole=("nowhere",))]])
def test_a_search_for_nothing_finds_nothing(
    memory_store: MemoryStore, new_entry: EntryMaker, groups: list[TermGroup]
) -> None:
    insert(memory_store, new_entry("x"))
    with memory_store.read_memory("p") as reader:
        matches = reader.match(groups, EVERYTHING, limit=5)
        assert (matches.matches, matches.entries) == ((), 1)
        assert matches.index is IndexState.SOUND
        assert reader.index_state() is IndexState.SOUND


@pytest.mark.covers("memory.store.match.empty")
def test_a_group_that_asks_for_nothing_counts_for_nothing(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(memory_store, new_entry("alpha"), new_entry("beta"))
    with memory_store.read_memory("p") as reader:
        alone = reader.match(groups_of("alpha"), EVERYTHING, limit=5)
        padded = reader.match([TermGroup(), *groups_of("alpha")], EVERYTHING, limit=5)
    assert padded.matches == alone.matches
    assert padded.document_frequency == (0, 1)


@pytest.mark.covers("memory.store.match.frequency")
def test_a_frequency_follows_when_a_word_first_comes_in(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    insert(memory_store, *(new_entry("alpha") for _ in range(200)))
    with memory_store.read_memory("p") as reader:
        assert reader.document_frequencies(["beta"]) == {"beta": 0}
    insert(memory_store, new_entry("alpha beta", id="both"))
    matches = found(memory_store, "alpha beta", limit=3)
    assert [m.id for m in matches if m.holds is Holds.EXACT] == ["both"]


@pytest.mark.covers("memory.store.match.follows")
def test_a_search_follows_every_change_also_inside_the_transaction(
    memory_store: MemoryStore, new_entry: EntryMaker
) -> None:
    def words(reader: Any) -> list[str]:
        looked = ("alpha", "beta", "gamma")
        return [w for w in looked if reader.match(groups_of(w), EVERYTHING, limit=5).matches]

    entry = new_entry("alpha")
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.insert_entries([entry])
        assert words(tx) == ["alpha"]
    changed = new_entry("beta", id=entry.id, tags=("gamma",), revision=2)
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.update_entries([changed])
        assert words(tx) == ["beta", "gamma"]
    with memory_store.read_memory("p") as reader:
        assert words(reader) == ["beta", "gamma"]
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.delete_entries([entry.id])
        assert words(tx) == []


@pytest.mark.covers("memory.store.match.ready-made")
def test_ready_made_index_texts_are_as_good_as_the_stores_own(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    entries = [new_entry("webhooks retried", title="Été", summary="s", tags=("b", "a"))]
    texts = [memory_store.index_text(entry) for entry in entries]
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.insert_entries(entries, texts=texts)
    assert ids(found(memory_store, "webhook ete")) == ["e001"]
    assert memory_store.find_faults() == ()


_WORDS = ["alpha", "beta", "src/auth.py", "getUserById", "user_id", "连接池", "gamma's", "v2.3.1"]
_TEXTS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join)


@pytest.mark.covers("memory.store.match.or", "memory.store.match.all-first")
@given(contents=st.lists(_TEXTS, max_size=10), query=_TEXTS, quoted=st.booleans())
def test_what_is_found_holds_a_word_and_what_is_not_holds_none(
    index_rules: IndexTerms,
    contents: list[str],
    query: str,
    quoted: bool,  # noqa: FBT001 (drawn)
) -> None:
    """The index and a plain look at each text agree about who holds what."""
    store = SqliteStore.open(":memory:", now=_noon, ids=lambda: "id", terms=index_rules)
    entries = [_entry(f"e{i}", text) for i, text in enumerate(contents)]
    insert(store, *entries)
    groups = groups_of(f'"{query}"' if quoted else query)
    expected = {e.id: holds_of(groups, has_terms(e, index_rules)) for e in entries}
    with store.read_memory("p") as reader:
        got = {m.id: m.holds for m in reader.match(groups, EVERYTHING, limit=50).matches}
        held = reader.held_groups(groups, got)
    store.close()
    assert got == {entry_id: holds for entry_id, holds in expected.items() if holds is not None}
    for entry_id, indexes in held.items():
        assert (len(indexes) == len(groups)) == (got[entry_id] is not Holds.SOME)


def _noon() -> datetime:
    return datetime(2026, 3, 8, 12, tzinfo=UTC)


def _entry(entry_id: str, content: str) -> Entry:
    return Entry(
        id=entry_id, project_id="p", scope="s", topic="t", content=content,
        content_sha256=content, source_type=SourceType.AGENT_NOTE, created_at="1", updated_at="1",
    )  # fmt: skip
