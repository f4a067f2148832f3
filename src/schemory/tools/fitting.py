"""Keeps a write's answer within the response budget: what does not fit is counted, never lost."""

from collections.abc import Mapping, Sequence
from typing import cast

from schemory.model.jsonvalue import Json
from schemory.tools.coerce import is_array
from schemory.tools.replies import wire_bytes
from schemory.tools.wire import item_bytes

ENVELOPE_BYTES = 400
"""Room for the envelope's keys, the time and an `actionTaken` of ordinary length."""

_NOTE_BYTES = 300


def fitted(data: Mapping[str, Json], budget: int, *, least: int = 1) -> dict[str, Json]:
    """Return `data` within `budget` bytes: the longest lists are cut and `omitted` counts the rest.

    The write itself is complete; what is left out of the answer can be read any time. Every list
    keeps its first `least` items, however large.
    """
    room = budget - ENVELOPE_BYTES
    result = dict(data)
    if budget <= 0 or wire_bytes(result) <= room:
        return result
    room -= _NOTE_BYTES
    omitted: dict[str, Json] = {}
    for key in sorted(_lists(result, least), key=lambda k: -wire_bytes(result[k])):
        excess = wire_bytes(result) - room
        if excess <= 0:
            break
        whole = cast("Sequence[Json]", result[key])
        kept = _without(whole, excess, least)
        if len(kept) < len(whole):
            omitted[key] = len(whole) - len(kept)
            result[key] = kept
    if omitted:
        result |= {"truncated": True, "omitted": omitted}
    return result


def _lists(data: Mapping[str, Json], least: int) -> list[str]:
    return [key for key, value in data.items() if is_array(value) and len(value) > least]


def _without(items: Sequence[Json], excess: int, least: int) -> Sequence[Json]:
    """Return the first items, as many as stay when the last `excess` bytes go; `least` at least."""
    sizes = [item_bytes(item) for item in items]
    count = len(items)
    while count > least and excess > 0:
        count -= 1
        excess -= sizes[count]
    return items[:count]
