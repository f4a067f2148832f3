"""The form in which words are compared for search: no case, no accents, one width."""

import unicodedata
from functools import cache

# Letters that Unicode does not take apart but people type without their stroke.
_STROKES = {
    **dict.fromkeys("đðɖ", "d"),
    **dict.fromkeys("øɵ", "o"),
    "ł": "l",
    "ħ": "h",
    "ŧ": "t",
    "\u0131": "i",  # dotless
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ŋ": "n",
}


def fold_word(word: str) -> str:
    """Return `word` in lower case, without diacritics, in compatibility form.

    Marks that carry meaning (Japanese voicing, Indic vowels) stay. Source: retrieval.md item 2.

    >>> fold_word("Città"), fold_word("Łódź"), fold_word("STRAẞE"), fold_word("ﾃﾞﾌﾟﾛｲ")
    ('citta', 'lodz', 'strasse', 'デプロイ')
    """
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    bare = unicodedata.normalize("NFD", folded).translate(_removals())
    return unicodedata.normalize("NFC", bare)


@cache
def _removals() -> dict[int, str | None]:
    """Marks of alphabets that are read without them: Latin, Greek, Cyrillic, Arabic, Hebrew."""
    marks = [*range(0x300, 0x370), *range(0x483, 0x488), *range(0x591, 0x5C8), 0x670, 0x640]
    marks += [*range(0x64B, 0x660), *range(0x1AB0, 0x1B00), *range(0x1DC0, 0x1E00)]
    removed = dict.fromkeys(
        (m for m in marks if unicodedata.category(chr(m)) in {"Mn", "Lm"}), None
    )
    return {**removed, **{ord(letter): plain for letter, plain in _STROKES.items()}}
