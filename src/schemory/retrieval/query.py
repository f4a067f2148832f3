"""From what a person types to what the index is asked: plain words, never its syntax.

Every character means itself, except that a pair of double quotes asks for a phrase. Source:
retrieval.md items 1 to 3, memory.md §6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache

from schemory.model.frozen import dataclass, replace
from schemory.retrieval.folding import fold_word
from schemory.retrieval.stopwords import STOP_WORDS, guess_language
from schemory.retrieval.tokens import JOINER, run_terms, spaceless_terms, whole_terms, word_terms
from schemory.retrieval.words import Run, find_runs, has_spaceless, split_identifier

MAX_TERMS = 64
"""As many terms a query asks for at most; an OR of 200,000 took 79 seconds."""

_PROSE_SIGNS = "'\u2019\"\u201c\u201d\u201e,;?!"

_PRODUCT_ENDINGS = ("js", "io", "net")
_SHORTEST_NAME = 3

Alternatives = tuple[str, ...]
"""Terms of which any stands for the same thing."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word, identifier or piece of a spaceless script that is searched for.

    Attributes:
        text: As it was typed.
        whole: Terms that are the word itself, its stems included; empty for spaceless pieces.
        parts: What an identifier or spaceless piece consists of, with each part's alternatives.
        is_prefix: One spaceless character, which stands for every term that begins with it.
    """

    text: str
    whole: Alternatives
    parts: tuple[Alternatives, ...] = ()
    is_prefix: bool = False

    @property
    def terms(self) -> Alternatives:
        """Every term by which the word can be found, the word itself first."""
        return tuple(dict.fromkeys((*self.whole, *(term for part in self.parts for term in part))))


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed query.

    Attributes:
        text: As it was typed.
        words: What is searched for, in order, each once; those of the phrases too.
        phrases: What must stand in a hit word for word, as `phrase_key` gives it.
        phrase_words: The words of the phrases, all of which a hit holds.
        dropped: Function words that were left out.
        literal: The typed text, folded, when its signs say more than its words (`<<REQUIRED>>`,
            `init.go:511`); else empty.
    """

    text: str
    words: tuple[QueryWord, ...] = ()
    phrases: tuple[str, ...] = ()
    phrase_words: tuple[QueryWord, ...] = ()
    dropped: tuple[str, ...] = ()
    literal: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search for: blank, or punctuation only."""
        return not self.words

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term that is asked for, each once."""
        return tuple(dict.fromkeys(term for word in self.words for term in word.terms))


def parse_query(
    text: str,
    *,
    max_terms: int = MAX_TERMS,
    frequency: Callable[[str], int] | None = None,
) -> SearchQuery:
    """Return what `text` asks for; any text is a query.

    Args:
        text: What was typed; no character of it is syntax but paired double quotes.
        max_terms: The rarest words that are there within this many terms are kept.
        frequency: In how many entries a term stands; without it long words count as rare.
    """
    loose, quoted = _without_phrases(text)
    words, dropped = _meaningful(_query_words(loose))
    phrases = tuple(key for phrase in quoted if (key := phrase_key(phrase)).strip())
    phrase_words = tuple(_unique(word for phrase in quoted for word in _query_words(phrase)))
    query = SearchQuery(
        text=text,
        words=tuple(_unique((*phrase_words, *words))),
        phrases=phrases,
        phrase_words=phrase_words,
        dropped=tuple(dropped),
        literal=_literal(text),
    )
    return _limited(query, max_terms, frequency)


def phrase_key(text: str) -> str:
    """Return the folded words of `text` with single blanks around each; punctuation is left out.

    A phrase stands in a text when its key stands in the text's key.

    >>> phrase_key("The Dead-Letter table"), phrase_key("重启")
    (' the dead letter table ', ' 重 启 ')
    """
    return f" {' '.join(_phrase_words(text))} "


def holds_phrases(query: SearchQuery, *texts: str) -> bool:
    """Return whether every phrase of the query stands in one of the original `texts`."""
    if not query.phrases:
        return True
    keys = [phrase_key(text) for text in texts]
    return all(any(phrase in key for key in keys) for phrase in query.phrases)


def holds_literal(query: SearchQuery, *texts: str) -> bool:
    """Return whether one of the original `texts` holds the query sign for sign, case aside.

    Worth asking of hits that hold every word; False for a query of plain words.
    """
    return bool(query.literal) and any(_stands_in(query.literal, _plain(text)) for text in texts)


def _stands_in(literal: str, text: str) -> bool:
    """Return whether `literal` stands in `text` and is no mere piece of longer words there.

    >>> _stands_in("job_1", "see job_12"), _stands_in("job_1", "job_12, (job_1)")
    (False, True)
    """
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        if not (
            _goes_on(text[max(0, at - 1) : at], literal[0])
            or _goes_on(literal[-1], text[end : end + 1])
        ):
            return True
        at = text.find(literal, at + 1)
    return False


def _goes_on(before: str, behind: str) -> bool:
    """Return whether a word runs over the border; scripts without spaces have no such borders."""
    is_one = before.isalnum() and behind.isalnum()
    return is_one and not has_spaceless(before + behind)


def is_held(word: QueryWord, terms: Collection[str]) -> bool:
    """Return whether a text with these index terms holds the word, by itself or by its parts."""
    if word.is_prefix:
        return any(term.startswith(word.whole) for term in terms)
    if any(term in terms for term in word.whole):
        return True
    return bool(word.parts) and all(any(term in terms for term in part) for part in word.parts)


@cache
def _quotes() -> re.Pattern[str]:
    return re.compile(
        '["\u201c\u201d\u201e\u201f]([^"\u201c\u201d\u201e\u201f]*)["\u201c\u201d\u201e\u201f]|\u00ab([^\u00ab\u00bb]*)\u00bb'
    )


def _without_phrases(text: str) -> tuple[str, list[str]]:
    quoted = [first or second for first, second in _quotes().findall(text)]
    return (_quotes().sub(" ", text), quoted) if quoted else (text, [])


def _literal(text: str) -> str:
    plain = _plain(text).rstrip("?!.,;:").lstrip("\u00bf\u00a1")
    has_signs = any(not (c.isalnum() or c.isspace() or c in _PROSE_SIGNS) for c in plain)
    return plain if has_signs else ""


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _query_words(text: str) -> Iterator[QueryWord]:
    for run in find_runs(text):
        yield _query_word(run)


def _query_word(run: Run) -> QueryWord:
    if run.is_spaceless:
        terms = spaceless_terms(run.text)
        if len(terms) == 1:
            return QueryWord(run.text, terms, is_prefix=True)
        return QueryWord(run.text, (), tuple((term,) for term in terms[:-1]))
    pieces = tuple(split_identifier(run.text))
    spelt = _other_spelling(run.text)
    if len(pieces) == 1:
        return QueryWord(run.text, (*run_terms(run.text), *spelt))
    own = word_terms(run.text) if run.text.isalnum() else whole_terms(run.text)
    whole = (*own, *spelt)
    leaves = [piece for piece in pieces[1:] if _is_leaf(piece)]
    return QueryWord(run.text, whole, tuple(dict.fromkeys(_parts(run.text, leaves))))


def _parts(word: str, leaves: Sequence[str]) -> Iterator[Alternatives]:
    """Yield each part's terms; the `i` of `iOS` is no word of its own, so `OS` or `ios` will do."""
    for before, leaf, behind in zip(["", *leaves], leaves, [*leaves[1:], ""], strict=False):
        if not _is_initial(leaf, behind, word):
            joined = word_terms(before + leaf) if _is_initial(before, leaf, word) else ()
            yield (*word_terms(leaf), *joined)


def _is_initial(letter: str, behind: str, word: str) -> bool:
    is_small = len(letter) == 1 and letter.islower()
    return is_small and behind[:1].isupper() and letter + behind in word


def _other_spelling(word: str) -> Alternatives:
    """Return the term of a product's other spelling: people write both `node.js` and `nodejs`.

    >>> _other_spelling("Node.js"), _other_spelling("token.py")
    (('nodejs',), ())
    """
    folded = fold_word(word)
    for ending in _PRODUCT_ENDINGS:
        name = folded.removesuffix(ending).removesuffix(".")
        if folded.endswith(ending) and len(name) >= _SHORTEST_NAME and name.isalpha():
            return whole_terms(name + ending if "." in folded else f"{name}.{ending}")
    return ()


def _is_leaf(piece: str) -> bool:
    return len(tuple(split_identifier(piece))) == 1


def _unique(words: Iterable[QueryWord]) -> Iterable[QueryWord]:
    """Return each word once, where it first stood; without those that hold nothing to ask for."""
    first: dict[Alternatives, QueryWord] = {}
    for word in words:
        if any(word.terms):
            first.setdefault(word.terms, word)
    return first.values()


def _meaningful(words: Iterable[QueryWord]) -> tuple[list[QueryWord], list[str]]:
    """Leave the function words of the query's language out, unless nothing else is there."""
    given = list(words)
    folded = [fold_word(word.text) for word in given]
    language = guess_language(folded)
    if language is None:
        return given, []
    stop_words = STOP_WORDS[language]
    kept = [word for word, fold in zip(given, folded, strict=True) if fold not in stop_words]
    if not kept:
        return given, []
    return kept, [word.text for word in given if word not in kept]


def _limited(
    query: SearchQuery, max_terms: int, frequency: Callable[[str], int] | None
) -> SearchQuery:
    if len(query.terms) <= max_terms:
        return query

    def rarity(word: QueryWord) -> tuple[bool, int, int]:
        counts = (frequency(term) if frequency else 0 for term in word.terms)
        count = next((count for count in counts if count), 0)
        # A word that stands nowhere finds nothing: it takes no other's room.
        return (count == 0, count, -len(word.terms[0]))

    kept: list[QueryWord] = []
    room = max_terms
    for word in sorted(query.words, key=rarity):
        if len(word.terms) <= room:
            kept.append(word)
            room -= len(word.terms)
    in_order = tuple(word for word in query.words if word in kept)
    required = tuple(word for word in query.phrase_words if word in kept)
    return replace(query, words=in_order, phrase_words=required)


def _phrase_words(text: str) -> Iterator[str]:
    for run in find_runs(text):
        if run.is_spaceless:
            yield from fold_word(run.text)
        else:
            for piece in split_identifier(run.text):
                if _is_leaf(piece):
                    yield fold_word(piece).replace(JOINER, "")
