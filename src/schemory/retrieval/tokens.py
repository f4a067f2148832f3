"""Turns text into the terms that the full-text index holds, and words into the terms to ask for.

A term holds letters, digits and private-use characters only, so that the engine's stock tokenizer
keeps each in one piece; the separators of an identifier and the vowel signs of Indic scripts are
carried as private-use characters. Whoever changes what a text is turned into changes
`TOKENS_VERSION`, by which stores know that an index is of another make. Source: retrieval.md.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain

from schemory.hints import TYPE_CHECKING, cast
from schemory.retrieval.folding import fold_word
from schemory.retrieval.words import (
    find_runs,
    is_index_letter,
    pattern_for,
    split_identifier,
)

if TYPE_CHECKING:
    from typing import Protocol

    class _Stemmer(Protocol):
        def stemWord(self, word: str) -> str:  # noqa: N802 (the library's name)
            """Return the stem of a lower-case word."""
            ...


STEMMER_VERSION = "3.1.1"
"""The pinned snowballstemmer; another one may give other stems."""

TOKENS_VERSION = f"2 snowball-{STEMMER_VERSION} unicode-{unicodedata.unidata_version}"
"""Names the rules that made an index: ours, the stemmer's, Unicode's."""

JOINER = "\ue000"
"""Stands in a term where an identifier has a separator."""

_CARRIED = 0xF0000  # where vowel signs and the like are moved to
_SHORTEST_STEMMED = 3
_LONGEST_TERM = 64
_CACHED_RUNS = 65_536


def index_terms(text: str) -> str:
    """Return the terms of `text`, separated by blanks, in order: what the index is given.

    Deterministic. Not for people.

    >>> index_terms("Connessioni già chiuse")
    'connessioni connession gia chiuse chius'
    """
    return " ".join(chain.from_iterable(iter_terms(text)))


def iter_terms(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the terms of each run of `text`."""
    if text.isascii():
        for found in pattern_for(text).findall(text):
            yield run_terms(found)
        return
    for run in find_runs(text):
        yield spaceless_terms(run.text) if run.is_spaceless else run_terms(run.text)


@lru_cache(maxsize=_CACHED_RUNS)
def run_terms(run: str) -> tuple[str, ...]:
    """Return the terms of one word or identifier: whole, parts, stems; each once."""
    if run.isalpha() and (run.islower() or run.istitle()):
        return word_terms(run)
    terms: list[str] = []
    for piece in split_identifier(run):
        if piece.isalnum():
            terms += word_terms(piece)
        else:
            terms += whole_terms(piece)
    return tuple(dict.fromkeys(terms))


def whole_terms(piece: str) -> tuple[str, ...]:
    """Return the terms of an identifier as a whole; a version also without its `v`.

    >>> [term.replace(JOINER, "_") for term in whole_terms("v2.3.1")]
    ['v2_3_1', '2_3_1']
    """
    whole = _kept(fold_word(piece))
    if whole[:1] == "v" and whole[1:2].isdigit() and JOINER in whole:
        return whole, whole[1:]
    return (whole,)


@lru_cache(maxsize=_CACHED_RUNS)
def word_terms(word: str) -> tuple[str, ...]:
    """Return the folded word and its stems, English and Italian, each once."""
    composed = word if word.isascii() else unicodedata.normalize("NFC", word)
    raw = _kept(fold_word(composed))
    if len(raw) < _SHORTEST_STEMMED or not composed.isalpha():
        return (raw,)
    lowered = composed.lower()
    stems = (_kept(fold_word(stemmer.stemWord(lowered))) for stemmer in _stemmers())
    return tuple(dict.fromkeys((raw, *(stem for stem in stems if stem))))


def spaceless_terms(run: str) -> tuple[str, ...]:
    """Return the pairs of neighbouring characters, and the last character alone.

    A query of one character asks for every term that begins with it, and so finds them all.

    >>> spaceless_terms("连接池")
    ('连接', '接池', '池')
    """
    folded = fold_word(run)
    pairs = (folded[at : at + 2] for at in range(len(folded) - 1))
    return tuple(_kept(term) for term in (*pairs, folded[-1:]))


def _kept(text: str) -> str:
    """Return `text` as one term: separators joined, other characters carried, length bounded."""
    if text.isalnum() and text.isascii():
        return text[:_LONGEST_TERM]
    kept: list[str] = []
    for char in text:
        if is_index_letter(char):
            kept.append(char)
        elif unicodedata.category(char)[0] == "M":
            kept.append(chr(_CARRIED + (ord(char) & 0xFFFF)))
        elif char.isprintable() and (text[-1] in "+#" or kept[-1:] != [JOINER]):
            kept.append(JOINER)
    return "".join(kept[:_LONGEST_TERM])


@cache
def _stemmers() -> tuple[_Stemmer, ...]:
    # By name, because the package's own `stemmer()` may give another build; late, because it takes
    # 17 ms; through importlib, because it has no types.
    english = import_module("snowballstemmer.english_stemmer").EnglishStemmer()
    italian = import_module("snowballstemmer.italian_stemmer").ItalianStemmer()
    return cast("_Stemmer", english), cast("_Stemmer", italian)
