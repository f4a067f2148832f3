"""Finds entries that say nearly the same: candidates by rare words, judged by runs of words.

Source: retrieval.md, last paragraph.
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from schemory.errors import UnsupportedError
from schemory.memory.faults import invalid, refuse
from schemory.memory.filters import statuses_of
from schemory.memory.find import get_entry
from schemory.memory.inputs import ProjectRef, SimilarRequest
from schemory.memory.limiting import limited
from schemory.memory.meaning import make_missing, unavailable_warning
from schemory.memory.results import SimilarEntry, SimilarFound
from schemory.memory.work import Reading, Work
from schemory.model.entry import Entry, Status
from schemory.model.frozen import replace
from schemory.retrieval.folding import fold_word
from schemory.retrieval.query import SearchQuery
from schemory.retrieval.snippets import make_snippet
from schemory.retrieval.tokens import spaceless_terms
from schemory.retrieval.words import find_runs, has_spaceless
from schemory.storage.memory_protocols import EntryFilter, MemoryReader, TermGroup

NEAR_DUPLICATE = 0.4
"""From this similarity on a new entry is told its twin.

Of the fixture of the tests reworded twins have 0.5 and more, other notes on one subject 0.29 and
less; of 1,500 paragraphs of an encyclopedia only those that are there twice have more than 0.25.
"""

_LEAST_SIMILAR = 0.05
_CANDIDATES_AT_WRITE = 5
_CANDIDATES = 50
_TERMS_AT_WRITE = 8
_LEAST_SHARED_AT_WRITE = 0.25  # of the weight of those terms that are rare ones
_RARE_AT_WRITE = 100  # a term in more entries than that tells a write nothing
_RARE_TERMS = 12
_LOOKED_UP = 2  # for each term that is wanted
_FEWEST_TERMS = 3
_MOST_READ = 500  # entries that the terms stand in, counted for each
_MAX_WORDS = 5_000
_ROOM = 0.5


def find_similar(work: Work, ref: ProjectRef, request: SimilarRequest) -> SimilarFound:
    """Return entries that say nearly the same as an entry or a text."""
    if (request.entry_id is None) == (request.text is None):
        raise refuse(invalid("entry_id", "or text must be given, one of the two"))
    make_missing(work, ref)
    with work.reading(ref) as reading:
        limit = limited(request.limit, reading)
        text, own = request.text or "", ""
        if request.entry_id is not None:
            entry = get_entry(reading.reader, request.entry_id)
            text, own = entry.content, entry.id
        found = _most_similar(
            reading.reader,
            text,
            statuses := statuses_of(request.status),
            terms=_RARE_TERMS,
            candidates=max(_CANDIDATES, limit),
            at_least=_LEAST_SIMILAR,
        )
        shown = _shown(one for one in found if one[1].id != own)
        if work.vectors is not None:
            near = _near(work, reading, text, EntryFilter(statuses=statuses), limit + 1)
            near.pop(own, None)
            shown = _joined(reading.reader, shown, near)
        return SimilarFound(
            project=reading.place.project, warnings=reading.told(), results=shown[:limit]
        )


def _near(
    work: Work, reading: Reading, text: str, wanted: EntryFilter, limit: int
) -> dict[str, float]:
    """Return entries that mean nearly the same, by id; why not goes to the warnings."""
    if work.vectors is None:
        return {}
    try:
        hits = work.vectors.search(reading.reader, text, wanted, limit)
    except UnsupportedError as error:
        reading.warnings.append(unavailable_warning(error.message))
        return {}
    return {hit.entry_id: min(1.0, max(0.0, hit.similarity)) for hit in hits}


def _joined(
    reader: MemoryReader, by_words: Sequence[SimilarEntry], near: Mapping[str, float]
) -> tuple[SimilarEntry, ...]:
    """Return entries by whichever says they are more alike, most alike first."""
    found = {
        one.entry.id: replace(
            one,
            similarity=max(one.similarity, round(near.get(one.entry.id, 0.0), 3)),
            match="hybrid" if one.entry.id in near else "fts",
        )
        for one in by_words
    }
    others = reader.find_entries(entry_id for entry_id in near if entry_id not in found)
    alike = ((round(near[entry.id], 3), entry) for entry in others.values())
    found |= {one.entry.id: replace(one, match="vector") for one in _shown(alike)}
    return tuple(sorted(found.values(), key=lambda one: (-one.similarity, one.entry.id)))


def near_duplicates(
    reader: MemoryReader, content: str, *, without: str = ""
) -> tuple[SimilarEntry, ...]:
    """Return active entries whose content is nearly `content`, most alike first."""
    shared = reader.find_sharing(
        _longest(content, _TERMS_AT_WRITE),
        statuses=(Status.ACTIVE,),
        most_common=_RARE_AT_WRITE,
        least_share=_LEAST_SHARED_AT_WRITE,
        limit=_CANDIDATES_AT_WRITE,
    )
    if shared.rare < _FEWEST_TERMS and shared.common:
        found = _most_similar(
            reader,
            content,
            (Status.ACTIVE,),
            terms=_FEWEST_TERMS,
            candidates=_CANDIDATES_AT_WRITE,
            at_least=NEAR_DUPLICATE,
        )
    else:
        found = _judged(content, shared.entries, NEAR_DUPLICATE)
    return _shown(one for one in found if one[1].id != without)


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
    return _share(_runs(first), _runs(second))


def words_of(text: str) -> list[str]:
    """Return the folded words of a text in order; scripts without spaces give pairs.

    Identifiers are cut at every sign, so that `a.b` and `a b` are the same words.
    """
    if not has_spaceless(text):
        return _plain_words().findall(fold_word(text))[:_MAX_WORDS]
    words: list[str] = []
    for run in find_runs(text):
        if run.is_spaceless:
            pairs = spaceless_terms(run.text)
            words += pairs[:-1] or pairs
        else:
            words += _plain_words().findall(fold_word(run.text))
        if len(words) >= _MAX_WORDS:
            break
    return words[:_MAX_WORDS]


@cache
def _plain_words() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


def _most_similar(
    reader: MemoryReader,
    text: str,
    statuses: tuple[Status, ...],
    *,
    terms: int,
    candidates: int,
    at_least: float,
) -> list[tuple[float, Entry]]:
    """Return entries with their similarity to `text`, most alike first."""
    groups = [TermGroup(whole=(term,)) for term in _rarest(reader, text, terms)]
    if not groups:
        return []
    matches = reader.match(groups, EntryFilter(statuses=statuses), limit=candidates).matches
    found = reader.find_entries(match.id for match in matches)
    return _judged(text, found.values(), at_least)


def _judged(text: str, entries: Iterable[Entry], at_least: float) -> list[tuple[float, Entry]]:
    """Return those entries that are at least so similar to `text`, most alike first."""
    words = words_of(text)
    runs = _runs(words)
    judged: list[tuple[float, Entry]] = []
    for entry in entries:
        if not _may_be_alike(len(text), len(entry.content), at_least):
            continue
        others = words_of(entry.content)
        if _most_alike(words, len(runs), others) >= at_least:
            judged.append((round(_share(runs, _runs(others)), 3), entry))
    alike = [one for one in judged if one[0] >= at_least]
    return sorted(alike, key=lambda one: (-one[0], one[1].id))


def _most_alike(words: Sequence[str], runs: int, others: Sequence[str]) -> float:
    """Return what the similarity can be at most, told from the words alone.

    A shared run holds shared words only, so there are at most as many of each length as words of
    the one text that the other has; and the runs of both are no fewer than those of one.
    """
    known = frozenset(others)
    shared = sum(word in known for word in words)
    return 3 * shared / runs if runs else 0.0


def _may_be_alike(chars: int, others: int, at_least: float) -> bool:
    """Return whether lengths allow that similarity, with room for words of unlike length."""
    return min(chars, others) >= max(chars, others) * at_least * _ROOM


def _shown(found: Iterable[tuple[float, Entry]]) -> tuple[SimilarEntry, ...]:
    return tuple(
        SimilarEntry(
            entry=entry,
            similarity=share,
            snippet=make_snippet(entry.content, SearchQuery("")),
        )
        for share, entry in found
    )


def _rarest(reader: MemoryReader, text: str, most: int) -> list[str]:
    """Return the words that stand in the fewest entries, of those that stand in any.

    Long ones are looked up, since those are rare more often; where even those are common, fewer
    have to do, so that the work stays bounded.
    """
    asked = _longest(text, _LOOKED_UP * most)
    frequencies = reader.document_frequencies(asked)
    known = [word for word in asked if frequencies.get(word, 0) > 0]
    chosen: list[str] = []
    read = 0
    for word in sorted(known, key=lambda word: (frequencies[word], -len(word), word))[:most]:
        read += frequencies[word]
        if len(chosen) >= _FEWEST_TERMS and read > _MOST_READ:
            break
        chosen.append(word)
    return chosen


def _longest(text: str, most: int) -> list[str]:
    """Return the longest words of a text, which are rare more often than others.

    Every word is a term of the index as it is, so that no stem needs making.
    """
    return sorted(sorted(set(words_of(text))), key=len, reverse=True)[:most]


def _share(runs: set[Hashable], others: set[Hashable]) -> float:
    shared = len(runs & others)
    return shared / (len(runs) + len(others) - shared) if shared else 0.0


def _runs(words: Sequence[str]) -> set[Hashable]:
    """Return all runs of one, two and three words, each once."""
    return {*words, *pairwise(words), *zip(words, words[1:], words[2:], strict=False)}
