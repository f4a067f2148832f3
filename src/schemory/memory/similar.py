"""Finds entries that say nearly the same: candidates by rare words, judged by runs of words.

Source: retrieval.md, last paragraph.
"""

from collections.abc import Iterable, Sequence

from schemory.memory.faults import invalid, refuse
from schemory.memory.find import get_entry
from schemory.memory.inputs import ProjectRef, SimilarRequest
from schemory.memory.limiting import limited
from schemory.memory.results import SimilarEntry, SimilarFound
from schemory.memory.work import Work
from schemory.model.entry import Entry, Status
from schemory.retrieval.query import SearchQuery
from schemory.retrieval.snippets import make_snippet
from schemory.retrieval.tokens import iter_terms
from schemory.storage.memory_protocols import EntryFilter, MemoryReader, TermGroup

NEAR_DUPLICATE = 0.4
"""From this similarity on a new entry is told its twin.

Of the fixture of the tests reworded twins have 0.45 and more, other notes on one subject 0.29 and
less; of 1,500 paragraphs of an encyclopedia only those that are there twice have more than 0.25.
"""

_LEAST_SIMILAR = 0.05
_CANDIDATES_AT_WRITE = 10
_CANDIDATES = 50
_RARE_TERMS_AT_WRITE = 8
_RARE_TERMS = 16
_LOOKED_UP = 64
_MAX_WORDS = 5_000
_RUN_LENGTHS = (1, 2, 3)


def find_similar(work: Work, ref: ProjectRef, request: SimilarRequest) -> SimilarFound:
    """Return entries that say nearly the same as an entry or a text."""
    if (request.entry_id is None) == (request.text is None):
        raise refuse(invalid("entry_id", "or text must be given, one of the two"))
    with work.reading(ref) as reading:
        limit = limited(request.limit, reading)
        text, own = request.text or "", ""
        if request.entry_id is not None:
            entry = get_entry(reading.reader, request.entry_id)
            text, own = entry.content, entry.id
        statuses = () if request.status is None else (request.status,)
        found = _most_similar(
            reading.reader, text, statuses, terms=_RARE_TERMS, candidates=max(_CANDIDATES, limit)
        )
        results = [s for s in found if s.entry.id != own and s.similarity >= _LEAST_SIMILAR]
        return SimilarFound(
            project=reading.place.project,
            warnings=reading.told(),
            results=tuple(results[:limit]),
        )


def near_duplicates(
    reader: MemoryReader, content: str, *, without: str = ""
) -> tuple[SimilarEntry, ...]:
    """Return active entries whose content is nearly `content`, most alike first."""
    found = _most_similar(
        reader,
        content,
        (Status.ACTIVE,),
        terms=_RARE_TERMS_AT_WRITE,
        candidates=_CANDIDATES_AT_WRITE,
    )
    return tuple(s for s in found if s.similarity >= NEAR_DUPLICATE and s.entry.id != without)


def twin_warning(twin: SimilarEntry) -> str:
    """Return what to say of an entry that says nearly the same."""
    share = round(100 * twin.similarity)
    return (
        f"The active entry {twin.entry.id} says nearly the same ({share} % alike); "
        "update or supersede it rather than keeping both."
    )


def similarity(first: Sequence[str], second: Sequence[str]) -> float:
    """Return how alike two texts are by their words and runs of words, 0 to 1.

    The shared share of all runs of one, two and three words; each run counts once.

    >>> similarity(["a", "b", "c"], ["a", "b", "c"]), similarity(["a"], ["b"])
    (1.0, 0.0)
    """
    runs, others = _runs(first), _runs(second)
    if not runs or not others:
        return 0.0
    shared = len(runs & others)
    return shared / (len(runs) + len(others) - shared)


def words_of(text: str) -> list[str]:
    """Return the folded words of a text in order; scripts without spaces give pairs."""
    words: list[str] = []
    for terms in iter_terms(text):
        # Of a word the first term is the word itself; a spaceless run is all pairs but the last.
        words += terms[:1] if terms[0].isascii() or len(terms) == 1 else _pairs_or_word(terms)
        if len(words) >= _MAX_WORDS:
            break
    return words[:_MAX_WORDS]


def _pairs_or_word(terms: tuple[str, ...]) -> tuple[str, ...]:
    return terms[:1] if len(terms[-1]) > 1 else terms[:-1]


def _most_similar(
    reader: MemoryReader,
    text: str,
    statuses: tuple[Status, ...],
    *,
    terms: int,
    candidates: int,
) -> list[SimilarEntry]:
    words = words_of(text)
    rare = _rarest(reader, words, terms)
    groups = [TermGroup(whole=(term,)) for term in rare]
    if not groups:
        return []
    matches = reader.match(groups, EntryFilter(statuses=statuses), limit=candidates).matches
    entries = reader.find_entries(match.id for match in matches)
    return _judged(words, entries.values())


def _rarest(reader: MemoryReader, words: Sequence[str], count: int) -> list[str]:
    """Return the words that stand in the fewest entries, of those that stand in any.

    Long words are looked up first, since those are rare more often.
    """
    asked = sorted(dict.fromkeys(words), key=lambda word: (-len(word), word))[:_LOOKED_UP]
    frequencies = reader.document_frequencies(asked)
    known = [word for word in asked if frequencies.get(word, 0) > 0]
    return sorted(known, key=lambda word: (frequencies[word], -len(word), word))[:count]


def _judged(words: Sequence[str], entries: Iterable[Entry]) -> list[SimilarEntry]:
    judged = [
        SimilarEntry(
            entry=entry,
            similarity=round(similarity(words, words_of(entry.content)), 3),
            snippet=make_snippet(entry.content, SearchQuery("")),
        )
        for entry in entries
    ]
    return sorted(judged, key=lambda s: (-s.similarity, s.entry.id))


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {
        tuple(words[at : at + length])
        for length in _RUN_LENGTHS
        for at in range(len(words) - length + 1)
    }
