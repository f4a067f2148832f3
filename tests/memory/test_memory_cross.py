"""Searching and reading across projects (memory.md §2 and §6)."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from schemory.errors import NotFoundError
from schemory.model.entry import Entry
from schemory.storage.protocols import WriteContext
from schemory.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from tests.memory.conftest import Notes


@pytest.mark.covers("memory.cross.said")
def test_only_a_call_that_says_so_goes_across_projects(notes: "Notes") -> None:
    mine = notes.entry("My narwhal note.")
    theirs = notes.at("other").entry("Their narwhal note.")
    assert notes.found("narwhal") == [mine.content]
    page = notes.at().search("narwhal", mode="cross_project")
    assert {hit.entry.id for hit in page.hits} == {mine.id, theirs.id}
    assert {hit.entry.project_id for hit in page.hits} == {"p", "other"}
    assert (page.project, page.projects_searched) == (None, 2)
    with pytest.raises(NotFoundError):
        notes.read(theirs.id)
    read = notes.read(theirs.id, mode="cross_project")
    assert (read.entry, read.project) == (theirs, None)
    assert notes.at().read(theirs.id, mode="cross_project").entry == theirs
    with pytest.raises(NotFoundError):
        notes.read("no-such", mode="cross_project")


@pytest.mark.covers("memory.cross.order")
def test_hits_are_merged_by_all_words_then_weight_held_then_rank(notes: "Notes") -> None:
    # `common` stands in every entry, `rare` in two: an entry with `rare` alone holds more weight.
    notes.at("a").entry("common words", topic="a1")
    notes.at("a").entry("common words once more", topic="a2")
    notes.at("b").entry("a rare thing", topic="b1")
    notes.at("c").entry("a common thing that is rare", topic="c1")
    hits = notes.search("common rare", mode="cross_project", explain=True).hits
    assert [hit.entry.topic for hit in hits] == ["c1", "b1", "a1", "a2"]
    assert [hit.parts.held for hit in hits if hit.parts] == ["exact", "some", "some", "some"]
    # Weights by hand: four entries, `common` in three of them, `rare` in two.
    common, rare = math.log(1 + 1.5 / 3.5), math.log(1 + 2.5 / 2.5)
    share = rare / (common + rare)
    assert hits[1].score == pytest.approx(0.999 * share, abs=1e-4)
    assert hits[2].score == pytest.approx(0.999 * (1 - share), abs=1e-4)


@pytest.mark.covers("memory.cross.order")
def test_the_score_never_rises_across_projects(notes: "Notes") -> None:
    for number in range(12):
        here = notes.at(f"project {number % 4}")
        here.entry(f"saola {'antelope ' * (number % 3)}number {number}", topic=str(number))
    scores = [
        hit.score for hit in notes.search("saola antelope 7", mode="cross_project", limit=20).hits
    ]
    assert len(scores) == 12
    assert scores == sorted(scores, reverse=True)


@pytest.mark.covers("memory.cross.blank")
def test_a_blank_query_lists_all_projects_newest_first(
    notes: "Notes", advance: Callable[[float], None]
) -> None:
    for number in range(6):
        notes.at("ab"[number % 2]).entry(f"note {number}")
        advance(1)
    first = notes.search("", mode="cross_project", limit=4)
    assert [hit.entry.content for hit in first.hits] == ["note 5", "note 4", "note 3", "note 2"]
    second = notes.search("", mode="cross_project", limit=4, after=first.more)
    assert [hit.entry.content for hit in second.hits] == ["note 1", "note 0"]
    assert second.more is None


@pytest.mark.covers("memory.cross.pages")
def test_pages_across_projects_have_no_gap_and_no_repetition(notes: "Notes") -> None:
    for number in range(17):
        notes.at(f"p{number % 5}").entry(f"vicuna {number} {'vicuna ' * (number % 3)}")
    whole = notes.found("vicuna", mode="cross_project", limit=50)
    seen: list[str] = []
    after = None
    for _ in range(5):
        page = notes.search("vicuna", mode="cross_project", limit=4, after=after)
        seen += [hit.entry.content for hit in page.hits]
        after = page.more
    assert after is None
    assert seen == whole
    assert len(whole) == 17


@pytest.mark.covers("memory.cross.projects")
def test_at_most_200_projects_are_searched_a_call_and_a_cursor_goes_on(
    notes: "Notes", memory_store: SqliteStore, new_entry: Callable[..., Entry]
) -> None:
    for number in range(203):
        project = f"project-{number:03}"
        with memory_store.memory_transaction(project, WriteContext(operation="test")) as tx:
            text = "the numbat" if number in {3, 201} else "nothing"
            tx.insert_entries([new_entry(text, project_id=project)])
    first = notes.search("numbat", mode="cross_project")
    assert [hit.entry.project_id for hit in first.hits] == ["project-003"]
    assert first.projects_searched == 200
    assert any("more" in warning for warning in first.warnings)
    second = notes.search("numbat", mode="cross_project", after=first.more)
    assert [hit.entry.project_id for hit in second.hits] == ["project-201"]
    assert (second.projects_searched, second.more) == (3, None)


@pytest.mark.covers("memory.cross.no-hit")
def test_no_hit_anywhere_says_so(notes: "Notes") -> None:
    notes.entry("Something.")
    page = notes.search("unheard", mode="cross_project")
    assert (page.hits, page.scopes, page.topics) == ((), (), ())
    assert page.hint
    assert "Nothing stored matches;" in page.hint
    assert "Only active entries were looked at; status=any" in page.hint
    page = notes.search("unheard", mode="cross_project", status=None, tags=("t",))
    assert "Nothing stored matches with these filters" in (page.hint or "")
    assert "looked at" not in (page.hint or "")
    page = notes.search("?!", mode="cross_project")
    assert page.hint
    assert "no letter or digit" in page.hint
