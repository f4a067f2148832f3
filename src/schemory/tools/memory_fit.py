"""Keeps memory answers within their bounds: whole items, as many as fit, at least one."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, compact
from schemory.tools.memory_text import cut
from schemory.tools.registry import Reply

_Item = TypeVar("_Item")

_LONG_FIELDS = ("content", "explain")
_SPARE_FIELDS = ("tags", "source_ref", "title")
_CUT_FIELDS = ("scope", "topic", "project_id")
_SHORT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that an answer may have, its structured content and its text each; 0 = no bound."""

    max_bytes: int = 0
    max_chars: int = 0

    def hold(self, reply: Reply) -> bool:
        """Return whether `reply` is within the bounds."""
        return all(self._holds(text) for text in (compact(reply.structured), reply.text))

    def _holds(self, text: str) -> bool:
        if self.max_chars and len(text) > self.max_chars:
            return False
        return not self.max_bytes or len(text.encode("utf-8", "replace")) <= self.max_bytes


def fitting_reply(
    items: Sequence[_Item], build: Callable[[Sequence[_Item]], Reply], bounds: Bounds
) -> Reply:
    """Return what `build` makes of the first items, as many as are within the bounds.

    With one item, or none, it is what it is.
    """
    whole = build(items)
    if len(items) <= 1 or bounds.hold(whole):
        return whole
    low, high = 1, len(items) - 1
    best = build(items[:1])
    while low < high:
        middle = (low + high + 1) // 2
        reply = build(items[:middle])
        if bounds.hold(reply):
            low, best = middle, reply
        else:
            high = middle - 1
    return best


def shrunk_hit(
    wire: Mapping[str, Json], build: Callable[[Mapping[str, Json]], Reply], bounds: Bounds
) -> Mapping[str, Json]:
    """Return a single hit as small as it has to be; `omitted` names what it lacks.

    First the long parts go, then the snippet is cut, then other fields go; in settings that allow
    very long names they are cut at last.
    """
    if bounds.hold(build(wire)):
        return wire
    for key in (key for key in _LONG_FIELDS if key in wire):
        wire = _without(wire, key)
        if bounds.hold(build(wire)):
            return wire
    snippet = str(wire["snippet"])
    wire = _cut_snippet(wire, snippet, build, bounds)
    for key in (key for key in _SPARE_FIELDS if wire.get(key)):
        if bounds.hold(build(wire)):
            return wire
        wire = _without(wire, key)
    if not bounds.hold(build(wire)):
        wire = {**wire, **{key: cut(str(wire[key]), _SHORT) for key in _CUT_FIELDS}}
    return wire


def _cut_snippet(
    wire: Mapping[str, Json],
    snippet: str,
    build: Callable[[Mapping[str, Json]], Reply],
    bounds: Bounds,
) -> Mapping[str, Json]:
    """Return the hit with the longest beginning of its snippet that fits; if need be with none."""
    low, high = 0, len(snippet)
    while low < high:
        middle = (low + high + 1) // 2
        if bounds.hold(build({**wire, "snippet": cut(snippet, middle)})):
            low = middle
        else:
            high = middle - 1
    return {**wire, "snippet": cut(snippet, low) if low else ""}


def _without(wire: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    omitted = wire.get("omitted")
    listed = [*omitted, key] if isinstance(omitted, list) else [key]
    # An entry always has tags in answers, so that "none shown" and "none there" differ.
    kept = {name: value for name, value in wire.items() if name not in {key, "omitted"}}
    return {**kept, **({"tags": []} if key == "tags" else {}), "omitted": listed}
