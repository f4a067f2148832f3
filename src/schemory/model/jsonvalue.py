"""The type of a JSON value and its one canonical text."""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Any JSON value; arrays are sequences, objects are mappings with text keys."""


def compact(value: object) -> str:
    """Return `value` as JSON without spaces, raw UTF-8, keys in their own order; NaN is refused.

    >>> compact({"b": [1, 2.5], "a": "ß"})
    '{"b":[1,2.5],"a":"ß"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def plain_number(value: float) -> int | float:
    """Return a whole float as an int, so that JSON shows `1`, not `1.0`.

    >>> plain_number(1.0), plain_number(0.25)
    (1, 0.25)
    """
    return int(value) if value == int(value) else value
