r"""What of a node goes into its space's substring index, and the 3-character grams to ask for.

The index is an FTS5 `trigram` table, which knows nothing but which document holds which three
characters. Three tricks make that enough (storage.md, "Substring search"):

* A document is wrapped in and joined by `\x1f`, a character no stored text can hold, so that a
  gram never spans two metadata entries and `\x1fal` finds the entries that start with `al`.
* Ideographs (and other characters that are words by themselves) are written once more with `\x1e`
  between them: `\x1e中\x1e国\x1e`. Its windows of three are exactly one gram per character
  (`\x1e中\x1e`) and one per pair (`中\x1e国`), so 1- and 2-character queries are indexed as well.
* Grams only ever narrow the candidates; the match itself is decided on the folded text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache

from schemory.hints import TYPE_CHECKING
from schemory.model.text import fold, text_fault

if TYPE_CHECKING:
    from typing import Final

ENTRY_MARK: Final = "\x1f"
"""Stands before, between and after the entries of an indexed document."""

_PAIR_MARK: Final = "\x1e"
_GRAM: Final = 3
_MAX_GRAMS: Final = 6
_WORD_CHARACTERS: Final = (
    "\u1100-\u11ff"  # Hangul jamo
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # radicals, marks
    "\u3040-\u30ff\u3100-\u318f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo, jamo
    "\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf"  # ideographs, Yi
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"  # Hangul, compatibility, half-width
    "\U0001aff0-\U0001b16f\U0001f000-\U0001faff\U00020000-\U0003ffff"  # kana, pictures, rare
)


@cache  # compiling takes as long as importing several modules, and reading needs none
def _word_run() -> re.Pattern[str]:
    return re.compile(f"[{_WORD_CHARACTERS}]+")


@cache
def _word_character() -> re.Pattern[str]:
    return re.compile(f"[{_WORD_CHARACTERS}]")


def name_text(name: str) -> str:
    """Return the indexed document of a node's name."""
    return _document(fold(name))


def lines_text(lines: Sequence[str]) -> str:
    """Return the indexed document of a node's metadata; empty without entries."""
    return _document(fold_lines(lines)) if lines else ""


def fold_lines(lines: Iterable[str]) -> str:
    """Return all entries folded, with a mark between them that no query can hold."""
    return fold(ENTRY_MARK.join(lines))


def parse_lines(stored: str) -> tuple[str, ...]:
    """Return the metadata entries of the node table's JSON array."""
    if "\\" not in stored:
        # No quotation mark stands inside a line, so what is between them is the lines themselves.
        plain = stored[2:-2].split('","')
        if stored.count('"') == 2 * len(plain):
            return tuple(plain)
    lines: list[str] = json.loads(stored)
    return tuple(lines)


def is_findable(term: str) -> bool:
    """Return whether any stored text can hold `term`: none holds NUL, a mark or a surrogate."""
    return text_fault(term) is None


def grams_of(term: str) -> tuple[str, ...]:
    r"""Return grams that every document holding the folded `term` has; () = only a scan can tell.

    At most 6, spread over a long term: more would cost more than they narrow.

    >>> grams_of("hobbit")
    ('hob', 'obb', 'bbi', 'bit')
    >>> grams_of("the shire folk")
    ('the', 'e s', 'shi', 're ', ' fo', 'olk')
    >>> grams_of("国"), grams_of("中国"), grams_of("ab")
    (('\x1e国\x1e',), ('中\x1e国',), ())
    """
    if len(term) < _GRAM:
        return _short_grams(term)
    grams = tuple(dict.fromkeys(term[i : i + _GRAM] for i in range(len(term) - _GRAM + 1)))
    if len(grams) <= _MAX_GRAMS:
        return grams
    step = (len(grams) - 1) / (_MAX_GRAMS - 1)
    return tuple(grams[round(i * step)] for i in range(_MAX_GRAMS))


def _short_grams(term: str) -> tuple[str, ...]:
    words = _word_character().findall(term)
    if len(words) == _GRAM - 1:
        return (_PAIR_MARK.join(words),)
    return tuple(f"{_PAIR_MARK}{word}{_PAIR_MARK}" for word in words)


def match_all(grams: Iterable[str]) -> str:
    """Return the FTS5 expression for documents that have all of these grams.

    >>> match_all(['a"b', "and"])
    '("a""b" AND "and")'
    """
    return "(" + " AND ".join(map(_quoted, grams)) + ")"


def match_any(grams: Iterable[str]) -> str:
    """Return the FTS5 expression for documents that have at least one of these grams."""
    return "(" + " OR ".join(map(_quoted, grams)) + ")"


def match_value(name: str) -> str:
    """Return the FTS5 expression for metadata that may have `name` as a value or list member.

    A value stands after a space or at the start of an entry, and before a comma or at its end.
    """
    folded = fold(name)
    if len(folded) < _GRAM - 1:
        return match_any(b + folded + a for b in (" ", ENTRY_MARK) for a in (",", ENTRY_MARK))
    starts = match_any((" " + folded[:2], ENTRY_MARK + folded[:2]))
    ends = match_any((folded[-2:] + ",", folded[-2:] + ENTRY_MARK))
    inner = grams_of(folded)
    return " AND ".join([*([match_all(inner)] if inner else []), starts, ends])


def _quoted(gram: str) -> str:
    return '"' + gram.replace('"', '""') + '"'


def _document(folded: str) -> str:
    if folded.isascii():  # as most is, and then no run stands in it
        return f"{ENTRY_MARK}{folded}{ENTRY_MARK}"
    words = "".join(_spelled(run) for run in _word_run().findall(folded))
    return f"{ENTRY_MARK}{folded}{ENTRY_MARK}{words}"


def _spelled(run: str) -> str:
    return _PAIR_MARK + _PAIR_MARK.join(run) + _PAIR_MARK
