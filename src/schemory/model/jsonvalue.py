"""The type of a JSON value and its one canonical text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache

from schemory.hints import TYPE_CHECKING
from schemory.model.text import encodable

if TYPE_CHECKING:
    from typing import TypeAlias, TypeGuard

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Any JSON value; arrays are sequences, objects are mappings with text keys."""

_WRITTEN_OUT_BELOW = 1e21
_MAX_SHOWN_KEY = 100
_MAX_BITS = 1024
_INFINITY = float("inf")


# One encoder for all: `json.dumps` would build one per call, which costs more than the encoding.
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compact(value: object) -> str:
    """Return `value` as JSON without spaces, raw UTF-8, keys in their own order; NaN is refused.

    >>> compact({"b": [1, 2.5], "a": "ß"})
    '{"b":[1,2.5],"a":"ß"}'
    """
    return _COMPACT.encode(value)


def plain_number(value: float) -> int | float:
    """Return a whole float as an int, so that JSON shows `1`, not `1.0`.

    From 1e21 on a float keeps its exponent, as in JavaScript: written out, most digits would be
    the binary form's, not the number's.

    >>> plain_number(1.0), plain_number(0.25), plain_number(1e300)
    (1, 0.25, 1e+300)
    """
    return int(value) if value == int(value) and abs(value) < _WRITTEN_OUT_BELOW else value


@cache  # a start names no path
def _plain_key() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def child_path(path: str, key: str | int) -> str:
    """Return the JSON path of one member: dotted where the key is a plain word, a long one cut.

    >>> child_path("$.npc", "role"), child_path("$.nodes", 3), child_path("$.npc", "a b")
    ('$.npc.role', '$.nodes[3]', '$.npc["a b"]')
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    if len(key) > _MAX_SHOWN_KEY:
        key = f"{key[:_MAX_SHOWN_KEY]}…"
    if _plain_key().fullmatch(key):
        return f"{path}.{key}"
    return f"{path}[{json.dumps(encodable(key), ensure_ascii=False)}]"


def place(path: str) -> str:
    """Return a JSON path as messages name it: without the root's `$.`.

    >>> place("$.nodes[3].name")
    'nodes[3].name'
    """
    return path.removeprefix("$.")


def is_finite_number(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a JSON number that a double can hold: no bool, NaN, infinity, giant.

    >>> [is_finite_number(v) for v in (1, 0.5, True, float("inf"), 10**400)]
    [True, True, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, int):
        return value.bit_length() <= _MAX_BITS
    return abs(value) < _INFINITY  # `math` would be one more library to load at a start


def json_kind(value: object) -> str:
    """Return what kind of JSON value this is, in words for a message; never the value.

    >>> [json_kind(v) for v in ("a", 1, True, None, [], {})]
    ['a string', 'a number', 'true or false', 'null', 'an array', 'an object']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float):
        return "a number"
    return "an object" if isinstance(value, Mapping) else "an array"
