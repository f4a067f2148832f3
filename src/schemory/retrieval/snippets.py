"""Cuts the telling passage out of a text and marks in it what was found (memory.md §6)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from schemory.retrieval.tokens import run_terms, spaceless_terms, whole_terms, word_terms
from schemory.retrieval.words import Run, pattern_for, split_identifier

if TYPE_CHECKING:
    from schemory.retrieval.query import SearchQuery

MARK_START = ">>>"
MARK_END = "<<<"
SNIPPET_CHARS = 240
_CUT = "…"
_LOOKED_PAST_FIRST_HIT = 20_000  # characters; a better passage is rarely farther away
_ROOM_BEFORE = 40


class Hit(NamedTuple):
    """Where a text holds something the query asks for.

    Attributes:
        start: Its first code point.
        end: Behind its last.
        term: The query's term that it stands for.
    """

    start: int
    end: int
    term: str


def find_hits(text: str, query: SearchQuery) -> Iterator[Hit]:
    """Yield what `text` holds of the query's words, in order, without overlaps."""
    terms = frozenset(query.terms)
    prefixes = tuple(term for word in query.words if word.is_prefix for term in word.whole)
    # Most words are no hit: they are told by one look, before anything is built for them.
    for found in pattern_for(text).finditer(text):
        if found.lastgroup == "spaceless":
            run = Run(*found.span(), found.group(), is_spaceless=True)
            yield from _spaceless_hits(run, terms, prefixes)
        elif not terms.isdisjoint(run_terms(found.group())):
            yield from _run_hits(Run(*found.span(), found.group(), is_spaceless=False), terms)


def make_snippet(text: str, query: SearchQuery, max_chars: int = SNIPPET_CHARS) -> str:
    """Return at most `max_chars` characters of `text` (marks not counted) around the best hits.

    A text that fits is returned whole. Cut ends show `…`; line breaks inside a cut passage become
    blanks.

    >>> from schemory.retrieval.query import parse_query
    >>> make_snippet("Retry the webhook twice.", parse_query("webhooks"))
    'Retry the >>>webhook<<< twice.'
    """
    hits = _near_first(find_hits(text, query))
    if len(text) <= max_chars:
        return _marked(text, 0, len(text), hits)
    start, end = _best_window(text, hits, max_chars)
    passage = re.sub(r"\s+", " ", _marked(text, start, end, hits)).strip()
    return f"{_CUT if start else ''}{passage}{_CUT if end < len(text) else ''}"


def _near_first(hits: Iterator[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    for hit in hits:
        if kept and hit.start > kept[0].start + _LOOKED_PAST_FIRST_HIT:
            break
        kept.append(hit)
    return kept


def _run_hits(run: Run, terms: Collection[str]) -> Iterator[Hit]:
    found = next((term for term in run_terms(run.text) if term in terms), None)
    if found is None:
        return
    at = 0
    for piece in split_identifier(run.text):
        own = word_terms(piece) if piece.isalnum() else whole_terms(piece)
        term = next((term for term in own if term in terms), None)
        if term is None:
            continue
        start = run.text.find(piece, at)
        if start >= 0:
            at = start + len(piece)
            yield Hit(run.start + start, run.start + at, term)


def _spaceless_hits(run: Run, terms: Collection[str], prefixes: tuple[str, ...]) -> Iterator[Hit]:
    pairs = spaceless_terms(run.text)
    if len(pairs) != len(run.text):  # folding changed its length, so places inside are not known
        found = next((t for t in pairs if t in terms or t.startswith(prefixes)), None)
        if found is not None:
            yield Hit(run.start, run.end, found)
        return
    open_start: int | None = None
    open_end, open_term = 0, ""
    for at, pair in enumerate(pairs):
        if pair in terms and len(pair) > 1:
            start, end = at, at + 2
        elif prefixes and pair.startswith(prefixes):
            start, end = at, at + 1
        else:
            continue
        if open_start is not None and start <= open_end:
            open_end = end
            continue
        if open_start is not None:
            yield Hit(run.start + open_start, run.start + open_end, open_term)
        open_start, open_end, open_term = start, end, pair
    if open_start is not None:
        yield Hit(run.start + open_start, run.start + open_end, open_term)


def _best_window(text: str, hits: list[Hit], max_chars: int) -> tuple[int, int]:
    """Return the passage with most different terms, the earliest of equals, cut at blanks."""
    best, most = 0, 0
    last = 0
    for first, hit in enumerate(hits):
        last = max(last, first)
        while last < len(hits) and hits[last].end - hit.start <= max_chars - _ROOM_BEFORE:
            last += 1
        different = len({other.term for other in hits[first:last]})
        if different > most:
            best, most = hit.start, different
    start = max(0, min(best - _ROOM_BEFORE, len(text) - max_chars))
    return _at_blanks(text, start, start + max_chars, best)


def _at_blanks(text: str, start: int, end: int, keep: int) -> tuple[int, int]:
    """Move the cuts inwards to blanks where some are near, but never into the best hit."""
    if start:
        blank = re.compile(r"\s").search(text, start, min(keep, start + _ROOM_BEFORE))
        start = blank.end() if blank else start
    if end < len(text):
        blank_at = max(text.rfind(" ", keep, end), text.rfind("\n", keep, end))
        end = blank_at if blank_at > max(keep, end - _ROOM_BEFORE) else end
    return start, end


def _marked(text: str, start: int, end: int, hits: list[Hit]) -> str:
    pieces: list[str] = []
    at = start
    for hit in hits:
        if hit.start < at or hit.end > end:
            continue
        pieces += [text[at : hit.start], MARK_START, text[hit.start : hit.end], MARK_END]
        at = hit.end
    return "".join([*pieces, text[at:end]])
