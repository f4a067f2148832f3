"""Entries that say nearly the same (memory.md §5, retrieval.md)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemory.errors import InvalidParamError, NotFoundError
from schemory.memory.inputs import SimilarRequest
from schemory.memory.results import SimilarFound
from schemory.memory.similar import NEAR_DUPLICATE, similarity, words_of

if TYPE_CHECKING:
    from tests.memory.conftest import Notes

PAIRS = json.loads(
    (Path(__file__).parent.parent / "fixtures" / "memory" / "twins.json").read_text("utf-8")
)


def similar(notes: "Notes", **how: object) -> SimilarFound:
    return notes.memory.find_similar(notes.ref, SimilarRequest(**how))  # type: ignore[arg-type]  # a test's shorthand


@pytest.mark.covers("memory.near-duplicates")
@pytest.mark.parametrize(("first", "second"), PAIRS["twins"])
def test_reworded_twins_are_told(notes: "Notes", first: str, second: str) -> None:
    for other, _ in PAIRS["twins"]:
        if other != first:
            notes.entry(other)
    twin = notes.entry(first)
    assert [found.entry.id for found in notes.add(second).similar] == [twin.id]


@pytest.mark.covers("memory.near-duplicates")
@pytest.mark.parametrize(("first", "second"), PAIRS["others"])
def test_notes_on_one_subject_are_no_twins(notes: "Notes", first: str, second: str) -> None:
    notes.entry(first)
    assert notes.add(second).similar == ()
    assert similarity(words_of(first), words_of(second)) < NEAR_DUPLICATE


@pytest.mark.covers("memory.find-similar")
def test_similar_entries_are_found_by_entry_and_by_text(notes: "Notes") -> None:
    one = notes.entry("The cache key must contain the tenant id.")
    two = notes.entry("The cache key must contain the tenant id. ")
    three = notes.entry("The cache key must contain the tenant id and the locale of the user.")
    notes.entry("Releases are cut on Fridays.")
    by_entry = similar(notes, entry_id=one.id).results
    assert [found.entry.id for found in by_entry] == [two.id, three.id]
    assert by_entry[0].similarity == 1.0
    # Runs of one, two and three words, each once: 7 + 7 + 6 of eight words (`the` twice), and
    # 11 + 13 + 12 of fourteen (`the` four times), which hold all of the shorter text's.
    assert by_entry[1].similarity == pytest.approx(20 / 36, abs=0.001)
    assert by_entry[1].snippet.startswith("The cache key")
    by_text = similar(notes, text="cache key tenant").results
    assert {found.entry.id for found in by_text} == {one.id, two.id, three.id}
    assert len(similar(notes, text="cache key tenant", limit=1).results) == 1


@pytest.mark.covers("memory.find-similar")
def test_similar_entries_are_active_ones_unless_told_otherwise(notes: "Notes") -> None:
    one = notes.entry("The cache key must contain the tenant id.")
    two = notes.entry("The cache key must contain the tenant id. ")
    notes.memory.archive_entry(notes.ref, two.id)
    assert similar(notes, entry_id=one.id).results == ()
    assert [x.entry.id for x in similar(notes, entry_id=one.id, status=None).results] == [two.id]


@pytest.mark.covers("memory.find-similar")
def test_one_of_entry_and_text_must_be_given(notes: "Notes") -> None:
    entry = notes.entry()
    for how in ({}, {"entry_id": entry.id, "text": "x"}):
        with pytest.raises(InvalidParamError):
            similar(notes, **how)
    with pytest.raises(NotFoundError):
        similar(notes.at("other"), entry_id=entry.id)
    assert similar(notes, text="").results == ()
    assert similar(notes, text="?! …").results == ()


@pytest.mark.covers("memory.find-similar")
def test_words_are_folded_and_scripts_without_spaces_give_pairs() -> None:
    assert words_of("Città, già CHIUSA 连接池 я") == ["citta", "gia", "chiusa", "连接", "接池", "я"]
    assert similarity([], ["a"]) == 0.0
