"""HTML as values: every text and attribute is escaped when it is written, there is no other way in.

What is stored may be hostile, so nothing here takes ready-made HTML.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias, Union

from schemory.model.frozen import dataclass

Child: TypeAlias = Union["Element", str, Iterable["Child"], None]
"""What may stand inside an element; None = nothing."""

_EMPTY: Final = frozenset({"br", "input", "link", "meta", "wbr"})
_ESCAPES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
)
_KEPT: Final = frozenset("\n\t\u200c\u200d")
"""Breaks, and the joiners that emoji and several scripts need."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Element:
    """An element; attributes by their HTML names."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Child, ...]


def el(tag: str, *children: Child, **attributes: str | int | bool | None) -> Element:
    """Return an element.

    Attribute names lose a trailing `_` and have `-` for `_`; True gives a bare attribute, None and
    False give none.

    >>> render(el("a", "x < y", href="?a=1&b=2", class_="far"))
    '<a href="?a=1&amp;b=2" class="far">x &lt; y</a>'
    """
    given = tuple(
        (name.rstrip("_").replace("_", "-"), "" if value is True else str(value))
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    return Element(tag, given, children)


def render(child: Child) -> str:
    """Return the HTML text of an element or a text."""
    return "".join(_written(child))


def _written(child: Child) -> Iterator[str]:
    if child is None:
        return
    if isinstance(child, str):
        yield _escaped(child)
    elif isinstance(child, Element):
        attributes = "".join(f' {name}="{_escaped(value)}"' for name, value in child.attributes)
        yield f"<{child.tag}{attributes}>"
        if child.tag in _EMPTY:
            return
        for each in child.children:
            yield from _written(each)
        yield f"</{child.tag}>"
    else:
        for each in child:
            yield from _written(each)


def _escaped(text: str) -> str:
    return shown(text).translate(_ESCAPES)


def shown(text: str) -> str:
    r"""Return `text` with control, direction and other unseen characters written out.

    >>> shown("safe" + chr(0x202E) + "txt" + chr(0)) == "safe" + r"\u202e" + "txt" + r"\x00"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        ascii(each)[1:-1] if unicodedata.category(each) in _UNSEEN and each not in _KEPT else each
        for each in text
    )
