"""Scopes, topics and tags: short names that are written in many ways and mean one thing."""

from schemory.model.text import nfc, text_fault


def normal_label(text: str) -> str:
    r"""Return a scope or topic as it is stored: NFC, trimmed, one space between words.

    >>> normal_label("  Build\t system ")
    'Build system'
    """
    return " ".join(nfc(text).split())


def label_key(text: str) -> str:
    """Return the text in which two scopes or topics are equal that differ by case only."""
    return nfc(normal_label(text).casefold())


def normal_tag(text: str) -> str:
    """Return a tag as it is stored: like a label, without case.

    >>> normal_tag(" Root  Cause")
    'root cause'
    """
    return label_key(text)


def label_fault(text: str) -> str | None:
    """Return why a normalised label cannot be stored, or None."""
    return "must not be empty or blank" if not text else text_fault(text)


def default_fault(text: str, max_chars: int) -> str | None:
    """Return why a setting's normalised label can stand in no entry, or None."""
    if len(text) > max_chars:
        return f"must have at most {max_chars} characters, has {len(text)}"
    return label_fault(text)
