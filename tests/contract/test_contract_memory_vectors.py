"""Entries' vectors in a store: put, compared, gone with their text; the same for every backend."""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemory.model.entry import Entry, SourceType, Status
from schemory.storage.memory_protocols import EntryFilter, IndexTerms, Matches, TermGroup
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite import memory_shelf
from schemory.storage.sqlite.store import SqliteStore
from schemory.storage.vector_protocols import EntryVector, Nearest, VectorModel

EntryMaker = Callable[..., Entry]
WRITE = WriteContext(operation="test")
ANY = EntryFilter()
MODEL = VectorModel("test", "test 1", 3)
OTHER = VectorModel("test", "test 2", 3)
EAST, NORTH, NORTHEAST, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.8, 0.0), (0.0, 0.0, 1.0)


def packed(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}e", *vector)


def towards(
    vector: Sequence[float],
    *,
    floor: float = 0.1,
    outstanding: float | None = None,
    model: VectorModel = MODEL,
) -> Nearest:
    return Nearest(model, packed(vector), floor, outstanding)


def add(store: SqliteStore, *entries: Entry, project: str = "p") -> None:
    with store.memory_transaction(project, WRITE) as tx:
        tx.insert_entries(entries)


def embed(
    store: SqliteStore,
    vectors: Mapping[str, Sequence[float]],
    *,
    model: VectorModel = MODEL,
    project: str = "p",
) -> int:
    """Give the entries with these contents vectors, as far as they have none of that model."""
    with store.memory_transaction(project, WRITE) as tx:
        texts = tx.list_without_vector(model.model, limit=1000, chars=1000)
        put = [
            EntryVector(text.row_id, text.since_seq, packed(vectors[text.content]))
            for text in texts
            if text.content in vectors
        ]
        return tx.put_vectors(model, put)


def bent(angle: float, away: float = 0.0) -> tuple[float, float, float]:
    """Return the unit vector at an angle to EAST, turned away from NORTH about that axis."""
    side = math.sin(angle)
    return (math.cos(angle), side * math.cos(away), side * math.sin(away))


def nearest(store: SqliteStore, vector: Sequence[float], **how: Any) -> list[tuple[str, float]]:
    wanted = how.pop("wanted", ANY)
    with store.read_memory(how.pop("project", "p")) as reader:
        found = reader.find_nearest(towards(vector, **how), wanted, limit=10)
        names = reader.find_entries(entry_id for entry_id, _ in found)
    return [(names[entry_id].content, round(near, 2)) for entry_id, near in found]


def match(
    store: SqliteStore, words: Sequence[str], near: Nearest | None, **how: Any
) -> dict[str, tuple[float, float | None]]:
    groups = [TermGroup(whole=(word,), is_required=how.get("required", False)) for word in words]
    found = matches(store, groups, near, how.get("wanted", ANY))
    with store.read_memory("p") as reader:
        entries = reader.find_entries(one.id for one in found.matches)
    return {entries[one.id].content: (one.score, one.similarity) for one in found.matches}


def matches(
    store: SqliteStore, groups: list[TermGroup], near: Nearest | None, wanted: EntryFilter = ANY
) -> Matches:
    with store.read_memory("p") as reader:
        return reader.match(groups, wanted, limit=50, nearest=near)


def counts(store: SqliteStore, model: VectorModel = MODEL) -> tuple[int, int, int]:
    with store.read_memory("p") as reader:
        found = reader.count_vectors(model.model)
    return found.embedded, found.total, found.of_other_models


@pytest.fixture
def three(memory_store: SqliteStore, new_entry: EntryMaker) -> SqliteStore:
    """A store with entries `east`, `north` and `up`, each with its vector."""
    add(memory_store, *(new_entry(name) for name in ("east", "north", "up")))
    assert embed(memory_store, {"east": EAST, "north": NORTH, "up": UP}) == 3
    return memory_store


@pytest.mark.covers("memory.vectors.nearest")
def test_the_nearest_come_first_and_those_below_the_floor_not_at_all(three: SqliteStore) -> None:
    assert nearest(three, NORTHEAST) == [("north", 0.8), ("east", 0.6)]
    assert nearest(three, NORTHEAST, floor=0.7) == [("north", 0.8)]


@pytest.mark.covers("memory.vectors.outstanding")
def test_where_all_are_far_away_what_stands_out_among_them_is_near(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    far = {f"far {n}": bent(1.4 + 0.01 * (n % 10), away=n / 9) for n in range(59)}
    vectors = {**far, "outstanding": bent(1.0)}
    add(memory_store, *(new_entry(content) for content in vectors))
    embed(memory_store, vectors)
    # Their cosines are 0.08 to 0.17, one is 0.54: none comes up to 0.8.
    assert nearest(memory_store, EAST, floor=0.8) == []
    assert nearest(memory_store, EAST, floor=0.8, outstanding=3.0) == [("outstanding", 0.54)]
    # A floor that is lower anyway stays.
    assert len(nearest(memory_store, EAST, floor=0.0, outstanding=3.0)) == 10


@pytest.mark.covers("memory.vectors.outstanding")
def test_few_entries_do_not_tell_what_stands_out(three: SqliteStore) -> None:
    assert nearest(three, NORTHEAST, floor=0.9, outstanding=0.0) == []


@pytest.mark.covers("memory.vectors.candidates")
def test_candidates_are_told_how_near_they_are_and_the_nearest_join_them(
    three: SqliteStore, new_entry: EntryMaker
) -> None:
    add(three, new_entry("east without a vector"))
    found = match(three, ["east"], towards(NORTHEAST))
    assert {name: near for name, (_, near) in found.items()} == {
        "east": pytest.approx(0.6, abs=0.001),
        "east without a vector": None,
        "north": pytest.approx(0.8, abs=0.001),
    }
    assert found["north"][0] == 0
    assert min(found["east"][0], found["east without a vector"][0]) > 0
    plain = match(three, ["east"], None)
    assert plain == {name: (found[name][0], None) for name in ("east", "east without a vector")}


@pytest.mark.covers("memory.vectors.candidates")
def test_a_candidate_by_its_words_stays_one_however_far_its_vector_is(three: SqliteStore) -> None:
    assert list(match(three, ["up"], towards(EAST))) == ["up", "east"]


@pytest.mark.covers("memory.vectors.phrase")
def test_no_entry_without_a_required_word_comes_in_by_its_vector(three: SqliteStore) -> None:
    assert list(match(three, ["up"], towards(EAST), required=True)) == ["up"]


@pytest.mark.covers("memory.vectors.filter")
def test_a_filter_is_kept_also_where_most_of_the_nearest_fail_it(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    many = [new_entry(f"near {i}", scope="other") for i in range(120)]
    add(memory_store, *many, new_entry("wanted", scope="mine"))
    embed(memory_store, {entry.content: EAST for entry in many} | {"wanted": NORTHEAST})
    wanted = EntryFilter(scope="mine", statuses=(Status.ACTIVE,))
    assert nearest(memory_store, EAST, wanted=wanted) == [("wanted", 0.6)]
    assert list(match(memory_store, ["x"], towards(EAST), wanted=wanted)) == ["wanted"]
    assert not nearest(memory_store, EAST, wanted=EntryFilter(scope="nobody's"))
    assert not nearest(memory_store, EAST, wanted=EntryFilter(tags=("unknown",)))


@pytest.mark.covers("memory.vectors.isolation")
def test_other_projects_vectors_are_never_met(three: SqliteStore, new_entry: EntryMaker) -> None:
    add(three, new_entry("foreign"), project="q")
    embed(three, {"foreign": NORTHEAST}, project="q")
    assert nearest(three, NORTHEAST) == [("north", 0.8), ("east", 0.6)]
    assert nearest(three, NORTHEAST, project="q") == [("foreign", 1.0)]
    assert nearest(three, NORTHEAST, project="nobody's") == []


@pytest.mark.covers("memory.vectors.gone")
@pytest.mark.parametrize("change", [{"content": "EAST"}, {"title": "new"}, {"summary": "new"}])
def test_a_change_of_the_text_takes_the_vector_with_it(
    three: SqliteStore, change: dict[str, Any]
) -> None:
    assert nearest(three, EAST) == [("east", 1.0)]
    with three.memory_transaction("p", WRITE) as tx:
        (east,) = (e for e in tx.list_entries(ANY, limit=9).hits if e.entry.content == "east")
        tx.update_entries([replace(east.entry, revision=2, **change)])
    assert nearest(three, EAST) == []
    assert counts(three) == (2, 3, 0)


@pytest.mark.covers("memory.vectors.gone")
def test_a_change_of_other_things_leaves_it(three: SqliteStore) -> None:
    with three.memory_transaction("p", WRITE) as tx:
        for hit in tx.list_entries(ANY, limit=9).hits:
            tx.update_entries([replace(hit.entry, status=Status.ARCHIVED, tags=("x",))])
    assert counts(three) == (3, 3, 0)
    assert nearest(three, EAST, wanted=EntryFilter(statuses=(Status.ARCHIVED,))) == [("east", 1.0)]


@pytest.mark.covers("memory.vectors.gone")
@pytest.mark.parametrize("verb", ["delete_entries", "remove_entries"])
def test_a_removed_entry_has_no_vector_and_one_that_comes_back_gets_a_new_one(
    three: SqliteStore, verb: str
) -> None:
    with three.memory_transaction("p", WRITE) as tx:
        ids = {hit.entry.content: hit.entry.id for hit in tx.list_entries(ANY, limit=9).hits}
        assert getattr(tx, verb)([ids["east"]]) == 1
        seq = tx.seq
    assert counts(three) == (2, 2, 0)
    assert nearest(three, EAST) == []
    if verb == "remove_entries":
        with three.memory_transaction("p", WRITE) as tx:
            tx.undo(seq)
        assert counts(three) == (2, 3, 0)
        assert embed(three, {"east": EAST}) == 1
        assert nearest(three, EAST) == [("east", 1.0)]


@pytest.mark.covers("memory.vectors.late")
def test_a_vector_of_a_text_that_has_changed_meanwhile_is_not_stored(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    entry = new_entry("old")
    add(memory_store, entry)
    with memory_store.read_memory("p") as reader:
        (text,) = reader.list_without_vector(MODEL.model, limit=9, chars=2)
        assert text.content == "ol"
    with memory_store.memory_transaction("p", WRITE) as tx:
        tx.update_entries([replace(entry, content="new", revision=2)])
    late = [EntryVector(text.row_id, text.since_seq, packed(EAST))]
    with memory_store.memory_transaction("p", WRITE) as tx:
        assert tx.put_vectors(MODEL, late) == 0
    assert counts(memory_store) == (0, 1, 0)


@pytest.mark.covers("memory.vectors.models")
def test_models_keep_their_vectors_apart_until_they_are_dropped(three: SqliteStore) -> None:
    embed(three, {"east": UP}, model=OTHER)
    assert (counts(three), counts(three, OTHER)) == ((3, 3, 1), (1, 3, 3))
    assert nearest(three, UP) == [("up", 1.0)]
    assert nearest(three, UP, model=OTHER) == [("east", 1.0)]
    with three.memory_transaction("p", WRITE) as tx:
        assert tx.drop_vectors(except_model=OTHER.model) == 3
    assert (counts(three), counts(three, OTHER)) == ((0, 3, 1), (1, 3, 0))
    with three.memory_transaction("p", WRITE) as tx:
        (north,) = (e for e in tx.list_entries(ANY, limit=9).hits if e.entry.content == "east")
        assert (tx.drop_vectors([north.entry.id]), tx.drop_vectors()) == (1, 0)


@pytest.mark.covers("memory.vectors.ledger")
def test_vectors_are_no_change_of_the_project(three: SqliteStore) -> None:
    with three.read_memory("p") as reader:
        before = (reader.last_seq(), reader.commits(limit=9))
    with three.memory_transaction("p", WRITE) as tx:
        tx.drop_vectors()
    embed(three, {"east": EAST})
    with three.read_memory("p") as reader:
        assert (reader.last_seq(), reader.commits(limit=9)) == before
    with three.memory_transaction("nobody's", WRITE) as tx:
        assert (tx.put_vectors(MODEL, [EntryVector(1, 1, packed(EAST))]), tx.drop_vectors()) == (
            0,
            0,
        )
    with three.read_memory("nobody's") as reader:
        assert reader.find_project() is None


@pytest.mark.covers("memory.vectors.nearest")
def test_newest_entries_get_their_vectors_first_and_lists_go_on(
    memory_store: SqliteStore, new_entry: EntryMaker
) -> None:
    add(memory_store, *(new_entry(f"note {i}") for i in range(5)))
    with memory_store.read_memory("p") as reader:
        first = reader.list_without_vector(MODEL.model, limit=2, chars=99)
        then = reader.list_without_vector(MODEL.model, below=first[-1].row_id, limit=9, chars=99)
    assert [text.content for text in (*first, *then)] == [f"note {i}" for i in range(4, -1, -1)]


DIRECTION = st.tuples(*[st.integers(-8, 8)] * 3).filter(any)


def unit(vector: Sequence[float]) -> tuple[float, ...]:
    length = math.hypot(*vector)
    return tuple(x / length for x in vector)


@pytest.mark.covers("memory.vectors.nearest")
@given(
    vectors=st.lists(DIRECTION, min_size=1, max_size=12),
    query=DIRECTION,
    moved=st.lists(st.tuples(st.integers(0, 11), DIRECTION), max_size=4),
)
@settings(deadline=None)
def test_what_is_nearest_is_what_the_angles_say_after_any_changes(
    vectors: list[tuple[int, ...]],
    query: tuple[int, ...],
    moved: list[tuple[int, tuple[int, ...]]],
    index_rules: IndexTerms,
) -> None:
    store = store_of(index_rules)
    places = {f"n{i}": unit(vector) for i, vector in enumerate(vectors)}
    with store.memory_transaction("p", WRITE) as tx:
        tx.insert_entries([note(name) for name in places])
    embed(store, places)
    for at, vector in moved:
        nearest(store, unit(query))
        name = f"n{at % len(vectors)}"
        places[name] = unit(vector)
        with store.memory_transaction("p", WRITE) as tx:
            tx.drop_vectors([f"id-{name}"])
        embed(store, places)
    found = dict(nearest(store, unit(query), floor=-1.1))
    angles = {
        name: sum(a * b for a, b in zip(place, unit(query), strict=True))
        for name, place in places.items()
    }
    best = sorted(angles.values(), reverse=True)[:10]
    assert list(found.values()) == pytest.approx(best, abs=0.01)
    assert all(near == pytest.approx(angles[name], abs=0.01) for name, near in found.items())
    store.close()


def store_of(terms: IndexTerms) -> SqliteStore:
    then = datetime(2026, 1, 1, tzinfo=UTC)
    return SqliteStore.open(":memory:", now=lambda: then, ids=lambda: "id", terms=terms)


def note(name: str) -> Entry:
    when = "2026-01-01T00:00:00.000Z"
    return Entry(
        id=f"id-{name}",
        project_id="p",
        scope="s",
        topic="t",
        content=name,
        content_sha256=sha256(name.encode()).hexdigest(),
        source_type=SourceType.AGENT_NOTE,
        created_at=when,
        updated_at=when,
    )


@pytest.mark.covers("memory.vectors.bits")
def test_bits_choose_the_same_nearest_as_the_numbers_do() -> None:
    import numpy as np  # noqa: PLC0415 (only vectors need it)

    chance = np.random.default_rng(5)
    centres = chance.normal(size=(40, 128))
    vectors = centres[chance.integers(0, 40, 6000)] + 0.6 * chance.normal(size=(6000, 128))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    shelf = memory_shelf.Shelf(128)
    shelf.rows, shelf.floats = np.arange(6000), None
    shelf.bits = memory_shelf.pack_bits(vectors)
    for query in vectors[:20]:
        chosen = set(shelf.nearest(query, 10, None))
        assert len(chosen) == memory_shelf.BIT_CANDIDATES
        assert set(np.argsort(-(vectors @ query))[:10].tolist()) <= chosen
        few = shelf.nearest(query, 10, range(0, 6000, 1000))
        assert set(few) == set(range(0, 6000, 1000))
