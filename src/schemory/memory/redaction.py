"""What of a write's arguments may be recorded: every free text becomes its length and hash.

Texts that seem to hold a credential, and whatever is recorded beside them, have no hash: a short
password could be guessed from it. Source: memory.md §8.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from schemory.memory.find import known_id
from schemory.memory.inputs import CROSS_PROJECT
from schemory.model.entry import Relation, SourceType, Status
from schemory.model.jsonvalue import Json, is_finite_number
from schemory.model.text import encodable
from schemory.safety.secrets import find_secrets

_PLAIN_KEYS = frozenset(
    {
        *("importance", "confidence", "dedupe", "allow_secret", "expected_revision", "confirm"),
        *("limit", "offset", "max_chars", "include_history", "include_content", "explain"),
        *("overwrite", "confirm_replace", "dry_run"),
        *("include_archived", "include_invalidated", "include_superseded"),
    }
)
"""Arguments that are numbers or switches."""

_ID_KEYS = frozenset({"entry_id", "source_entry_id", "target_entry_id", "link_id"})
"""Arguments that are ids; anything else in their place is free text."""

_WORDS: Mapping[str, frozenset[str]] = {
    "source_type": frozenset(SourceType),
    "relation": frozenset(Relation),
    "status": frozenset({*Status, "any"}),
    "mode": frozenset({"project", CROSS_PROJECT}),
    "direction": frozenset({"in", "out", "both"}),
    "format": frozenset({"json", "zip", "jsonl"}),
    "on_conflict": frozenset({"fail", "merge", "replace"}),
}
"""Arguments that are one of a few words; anything else in their place is free text."""

_MAX_ITEMS = 50


def redacted(arguments: Mapping[str, Json], *, with_hashes: bool) -> dict[str, Json]:
    """Return `arguments` as they may be recorded.

    >>> redacted({"importance": 4, "title": "Hi"}, with_hashes=False)
    {'importance': 4, 'title': {'field': 'title', 'bytes': 2, 'chars': 2}}
    """
    return {
        encodable(key)[:80]: _redacted(encodable(key)[:80], value, with_hashes=with_hashes)
        for key, value in arguments.items()
        if value is not None
    }


def holds_secret(arguments: Mapping[str, Json]) -> bool:
    """Return whether any text of the arguments seems to hold a credential."""
    return any(find_secrets(text, precise_only=False) for text in _texts(list(arguments.values())))


def _redacted(key: str, value: Json, *, with_hashes: bool) -> Json:
    if key in _PLAIN_KEYS and (isinstance(value, bool) or is_finite_number(value)):
        return value
    if isinstance(value, str) and _is_plain_word(key, value):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str):
        shown = value[:_MAX_ITEMS]
        return [_digest(f"{key}[{n}]", item, with_hashes) for n, item in enumerate(shown)]
    return _digest(key, value, with_hashes)


def _is_plain_word(key: str, text: str) -> bool:
    if key in _ID_KEYS:
        return known_id(text) is not None
    return text in _WORDS.get(key, ())


def _digest(field: str, value: Json, with_hashes: bool) -> dict[str, Json]:  # noqa: FBT001 (private)
    # Refused arguments may hold what is no JSON number, such as NaN.
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    data = text.encode("utf-8", "surrogatepass")
    digest: dict[str, Json] = {"field": field}
    if with_hashes:
        digest["sha256"] = hashlib.sha256(data).hexdigest()
    return {**digest, "bytes": len(data), "chars": len(text)}


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)
