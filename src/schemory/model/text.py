"""Rules for text that is stored and the foldings that compare it (graph.md §1 and §2)."""

from __future__ import annotations

import re
from functools import cache

from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    import unicodedata
else:
    from schemory.model.late import LateModule

    unicodedata = LateModule("unicodedata")  # most texts are ASCII, and ask nothing of it

MAX_NAME_CHARS = 500
"""The longest node name, type or edge type, in code points."""


@cache  # compiling takes as long as importing several modules, and a start checks no text
def _forbidden() -> re.Pattern[str]:
    return re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def nfc(text: str) -> str:
    """Return `text` in Unicode normal form C."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """Return the form in which two texts are compared for search: NFC and full case folding.

    Accents stay significant; `Straße` and `STRASSE` meet. Source: graph.md §2.

    >>> fold("Straße") == fold("STRASSE"), fold("é") == fold("e")
    (True, False)
    """
    if text.isascii():
        return text.lower()  # the same, in a third of the time
    return nfc(nfc(text).casefold())


def twin_key(text: str) -> str:
    """Return what two names share that differ only by case, white space or Unicode form.

    >>> twin_key("Data Service") == twin_key("dataservice")
    True
    """
    if text.isascii():
        return "".join(text.lower().split())  # the same, in a fraction of the time
    compatible = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", "".join(compatible.split()))


def text_fault(text: str) -> str | None:
    r"""Return why `text` cannot be stored, or None: no C0 control but \t \n \r, no surrogate."""
    if text.isprintable():  # as most is: so no mark stands in it, told in a third of the time
        return None
    found = _forbidden().search(text)
    if found is None:
        return None
    code = ord(found.group())
    kind = "a lone surrogate" if code >= 0xD800 else f"the control character U+{code:04X}"  # noqa: PLR2004 (first surrogate)
    return f"must not contain {kind} (at character {found.start() + 1})"


def name_fault(text: str) -> str | None:
    """Return why `text` cannot become a name or type, or None. Source: graph.md §1."""
    if not text.strip():
        return "must not be empty or blank"
    if text != text.strip():
        return "must not start or end with white space"
    if len(nfc(text)) > MAX_NAME_CHARS:
        return f"must have at most {MAX_NAME_CHARS} characters, has {len(nfc(text))}"
    return text_fault(text)


def is_utf8(text: str) -> bool:
    """Whether `text` can be written as UTF-8: whether it has no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encodable(text: str) -> str:
    r"""Return `text` with lone surrogates replaced, so that a message about it can be sent.

    >>> encodable("a\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode()


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as a message says it.

    >>> counted(1, "item"), counted(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
