"""How a schema's texts are shown to hosts: no markup, and short enough that none refuses them."""

import re

MAX_TEXT_BYTES = 1024
"""The longest description a strict host takes, in UTF-8 bytes."""

_TAG = re.compile(r"<(/?[A-Za-z!?][^<>]*)>")
_LINK = re.compile(r"\](?=\()")
_ELLIPSIS = "…"


def find_markup(text: str) -> str | None:
    """Return the first piece of markup (`<word>` or a link's `](`), or None."""
    found = _TAG.search(text)
    if found is not None:
        return found.group()
    return "](" if _LINK.search(text) else None


def advertised(text: str, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return `text` as hosts are shown it: angle brackets of markup gone, cut at a word.

    >>> advertised("the <b>old</b> one, see [it](x)"), advertised("one two three", 10)
    ('the bold/b one, see [it] (x)', 'one two…')
    """
    shown = _LINK.sub("] ", text)
    while _TAG.search(shown):
        shown = _TAG.sub(r"\1", shown)
    return cut_at_word(shown, max_bytes)


def cut_at_word(text: str, max_bytes: int) -> str:
    """Return `text`, or as many whole words of it as fit `max_bytes` with an ellipsis."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= max_bytes:
        return text
    room = max(0, max_bytes - len(_ELLIPSIS.encode()))
    kept = encoded[:room].decode("utf-8", "ignore")
    follows = text[len(kept) : len(kept) + 1]
    words = kept if follows.isspace() else _without_last_word(kept)
    return f"{words.rstrip()}{_ELLIPSIS}"


def _without_last_word(text: str) -> str:
    # Japanese and Chinese have no spaces: then the cut is between two characters.
    match = re.search(r"\s\S*$", text)
    return text[: match.start()] if match and match.start() > len(text) // 2 else text
