"""What of a write's arguments may be recorded: every free text becomes its length and hash.

The name of an argument that there is not is free text as well. Texts that seem to hold a
credential, and whatever is recorded beside them, have no hash: a short password could be guessed
from it. Source: memory.md §8.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from schemory.memory.find import known_id
from schemory.memory.inputs import CROSS_PROJECT
from schemory.model.entry import Relation, SourceType, Status
from schemory.model.jsonvalue import Json, is_finite_number
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

_TEXT_KEYS = frozenset(
    {
        *("project_id", "project_path", "scope", "topic", "title", "content", "summary", "tags"),
        *("source_ref", "source_path", "source_uri", "query", "text", "reason", "label", "since"),
        *("cursor", "created_after", "created_before", "tags_match", "save_path", "import_path"),
    }
)
"""Arguments whose values are free text, or may be."""

NAMES = _PLAIN_KEYS | _ID_KEYS | _TEXT_KEYS | frozenset(_WORDS)
"""Every argument there is; any other name is free text itself."""

_MAX_ITEMS = 50


def redacted(arguments: Mapping[str, Json], *, with_hashes: bool) -> dict[str, Json]:
    """Return `arguments` as they may be recorded.

    >>> redacted({"importance": 4, "title": "Hi"}, with_hashes=False)
    {'importance': 4, 'title': {'field': 'title', 'bytes': 2, 'chars': 2}}
    """
    params: dict[str, Json] = {}
    unknown = 0
    for key, value in arguments.items():
        if value is None:
            continue
        name = key
        if key not in NAMES:
            unknown += 1
            name = f"unknown_{unknown}"
        params[name] = _redacted(name, value, with_hashes=with_hashes)
    return params


def holds_secret(arguments: Mapping[str, Json]) -> bool:
    """Return whether a name or text of the arguments seems to hold a credential."""
    return any(find_secrets(text, precise_only=False) for text in _texts(dict(arguments)))


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
        import hashlib  # noqa: PLC0415 (reading needs none)

        digest["sha256"] = hashlib.sha256(data).hexdigest()
    return {**digest, "bytes": len(data), "chars": len(text)}


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)
