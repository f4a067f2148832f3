"""What becomes of an entry that a file and the store both know."""

from typing import Any, Final

from schemory.model.entry import Entry, Status
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json

ORIGIN: Final = "imported_from"
"""Key of an entry's metadata that tells the project (and id) it came from."""

_KEPT_APART: Final = ("scope", "topic", "title", "summary", "confidence", "importance")
_SOURCE: Final = ("source_path", "source_sha256", "source_bytes", "source_blob")
_SOURCE_WORDS: Final = ("source_type", "source_ref", "source_uri")


def merged(stored: Entry, given: Entry, *, is_held_superseded: bool) -> Entry:
    """Return `stored` with what `given` adds to it; itself when that is nothing.

    Tags are united. Of the other fields but content, id and origin those of the newer state hold;
    what the newer one does not say stays. A state that came from the file keeps its time, any other
    change has "" for `updated_at`, which the writing transaction fills.

    Args:
        stored: As it is.
        given: The file's.
        is_held_superseded: A link of the store supersedes it, so it cannot be active.
    """
    changes: dict[str, Any] = {"tags": tuple(sorted({*stored.tags, *given.tags}))}
    if given.updated_at > stored.updated_at:
        changes |= _newer(stored, given)
        if is_held_superseded and changes.get("status") is Status.ACTIVE:
            changes["status"] = stored.status
    united = replace(stored, **changes)
    if united == stored:
        return stored
    is_newer = given.updated_at > stored.updated_at
    return replace(
        united,
        updated_at=given.updated_at if is_newer else "",
        revision=stored.revision + 1,
    )


def superseded(entry: Entry) -> Entry:
    """Return an active entry as one that another supersedes now."""
    return replace(entry, status=Status.SUPERSEDED, updated_at="", revision=entry.revision + 1)


def replaced(stored: Entry, given: Entry) -> Entry:
    """Return `given` in the place of `stored`; `stored` itself when they say the same."""
    if replace(given, revision=stored.revision) == stored:
        return stored
    return replace(given, revision=max(given.revision, stored.revision + 1))


def with_origin(entry: Entry, origin: str | None, old_id: str | None) -> Entry:
    """Return an entry that tells where it came from; what it told already stays.

    Args:
        entry: To be stored.
        origin: The project it came from; None = its own.
        old_id: The id it had there, when it has another one now.
    """
    metadata = dict(entry.metadata or {})
    if (origin is None and old_id is None) or ORIGIN in metadata:
        return entry
    told: dict[str, Json] = {}
    if origin is not None:
        told["project_id"] = origin
    if old_id is not None:
        told["entry_id"] = old_id
    return replace(entry, metadata={**metadata, ORIGIN: told})


def _newer(stored: Entry, given: Entry) -> dict[str, Any]:
    """Return the fields that the newer state says, without any that it leaves empty."""
    names = (*_KEPT_APART, *_SOURCE_WORDS)
    values = {name: getattr(given, name) for name in names}
    changes = {name: value for name, value in values.items() if value is not None}
    if given.source_path is not None:  # what is known of a file goes with its path
        changes |= {name: getattr(given, name) for name in _SOURCE}
    changes |= {
        "status": given.status,
        "invalidated_at": given.invalidated_at,
        "invalidation_reason": given.invalidation_reason,
    }
    if given.metadata:
        changes["metadata"] = {**(stored.metadata or {}), **given.metadata}
    return changes
