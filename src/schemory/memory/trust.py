"""How far an entry may be trusted: constant hints by status, and what speaks against it."""

from schemory.model.entry import Entry, Status
from schemory.safety.instructions import gives_orders

STORED_INSTRUCTIONS = "stored_instructions"

_HINTS = {
    Status.ACTIVE: "Working note: check it against code, docs or tickets before relying on it.",
    Status.SUPERSEDED: "Superseded: read the entry that replaces it; this one is history.",
    Status.INVALIDATED: "Marked as no longer true: do not rely on it.",
    Status.ARCHIVED: "Archived: probably out of date; check before any use.",
}


def verification_hint(status: Status) -> str:
    """Return the reminder that goes with every entry of this status, always the same text."""
    return _HINTS[status]


def warning_codes(entry: Entry) -> tuple[str, ...]:
    """Return what a reader must know of the entry, in short.

    `status_…` unless it is active; `stored_instructions` when its text gives orders to agents.
    """
    codes: list[str] = []
    if entry.status is not Status.ACTIVE:
        codes.append(f"status_{entry.status}")
    texts = (entry.title, entry.summary, entry.content)
    if any(text and gives_orders(text) for text in texts):
        codes.append(STORED_INSTRUCTIONS)
    return tuple(codes)
