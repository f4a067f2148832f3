"""The YAML between `---` at a file's head, as far as notes use it: no library, no surprises.

Flat keys with texts, quoted texts, lists and folded blocks are understood; anything else of YAML
stays in the text of the block, which is kept with the entry, so nothing is lost.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from schemory.model.frozen import dataclass

Value: TypeAlias = str | tuple[str, ...]

_MAX_LINES: Final = 300
_KEY: Final = re.compile(r"(?P<key>[A-Za-z_$][\w .$/-]*?)\s*:(?:\s+(?P<value>.*))?\s*")
_ITEM: Final = re.compile(r"\s*-(?:\s+(?P<value>.*))?")
_BLOCK: Final = re.compile(r"[|>][+-]?\d?")
_QUOTES: Final = ('"', "'")
_ENDS: Final = frozenset({"---", "..."})


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a file says of itself; `end` is the number of lines it takes, 0 = none."""

    values: Mapping[str, Value]
    text: str
    end: int

    def text_of(self, *keys: str) -> str | None:
        """Return the first of these keys that has a text."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, str) and value:
                return value
        return None

    def list_of(self, key: str) -> tuple[str, ...]:
        """Return a key's list; a text is one, cut at commas."""
        value = self.values.get(key, ())
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(part.strip() for part in parts if part.strip())


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Return the front matter of a file's lines; several blocks one after another are one.

    Of two values for one key the later stays, unless it is empty.
    """
    values: dict[str, Value] = {}
    texts: list[str] = []
    end = 0
    while True:
        start = _next_text(lines, end)
        stop = _block_end(lines, start)
        if stop is None:
            break
        body = [line.rstrip("\n") for line in lines[start + 1 : stop]]
        values.update({key: value for key, value in _pairs(body) if value or key not in values})
        texts.append("\n".join(body))
        end = stop + 1
    return FrontMatter(values, "\n".join(texts), end)


def _next_text(lines: Sequence[str], at: int) -> int:
    if at == 0:
        return 0  # at the very head, or it is none
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at


def _block_end(lines: Sequence[str], start: int) -> int | None:
    """Return where the block that begins at `start` ends, None where there is none."""
    if start >= len(lines) or lines[start].rstrip() != "---":
        return None
    has_key = False
    for number in range(start + 1, min(len(lines), start + _MAX_LINES)):
        line = lines[number].rstrip()
        if line in _ENDS:
            return number if has_key else None
        if line.startswith((" ", "\t", "#", "-")) or not line:
            continue
        if not _KEY.fullmatch(line):
            return None
        has_key = True
    return None


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, Value]]:
    at = 0
    while at < len(lines):
        found = _KEY.fullmatch(lines[at])
        at += 1
        if found is None:
            continue
        inner: list[str] = []
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t-"):
            inner.append(lines[at])
            at += 1
        yield found["key"].strip(), _value((found["value"] or "").strip(), inner)


def _value(text: str, inner: Sequence[str]) -> Value:
    if _BLOCK.fullmatch(text):
        glue = " " if text.startswith(">") else "\n"
        return glue.join(line.strip() for line in inner if line.strip())
    if text.startswith("[") and text.endswith("]"):
        return tuple(filter(None, (_plain(part) for part in text[1:-1].split(","))))
    items = [found for line in inner if (found := _ITEM.fullmatch(line))]
    if not text and items:
        return tuple(filter(None, (_plain(found["value"] or "") for found in items)))
    return _plain(text)


def _plain(text: str) -> str:
    """Return a scalar without quotes and without a comment behind it."""
    text = text.strip()
    if text[:1] in _QUOTES and len(text) > 1:
        end = text.rfind(text[0])
        if end > 0:
            return text[1:end]
    if text in {"null", "~"}:
        return ""
    return re.sub(r"\s+#.*$", "", text)
