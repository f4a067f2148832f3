"""Refuses a change of something that has changed since its caller saw it."""

from schemory.errors import ConflictError
from schemory.model.entry import Entry


def require_revision(entry: Entry, expected: int | None) -> None:
    """Pass when the entry has the revision the caller knows, or none was told.

    Raises:
        ConflictError: It has another one by now.
    """
    if expected is None or entry.revision == expected:
        return
    message = f"the entry has revision {entry.revision} by now, expected {expected}"
    hint = "Read it again with memory_read_entry and repeat the change on what stands there now."
    raise ConflictError.at(
        "$.expected_revision",
        message,
        suggestion=hint,
        context={"revision": entry.revision, "expected_revision": expected},
    )
