"""Finds what a call names, or says that it is not there; another project's things are not there."""

import re

from schemory.errors import NotFoundError, Problem
from schemory.memory.faults import invalid
from schemory.model.entry import Entry, Link
from schemory.model.text import encodable, text_fault
from schemory.safety.secrets import find_secrets
from schemory.storage.memory_protocols import MemoryReader

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_SHOWN = 80


def known_id(text: str) -> str | None:
    """Return `text` when it can be an id, for the audit; anything else may be free text.

    A token with no blank in it has the form of an id, so what seems to be a credential is none.
    """
    is_id = _ID.fullmatch(text) and not find_secrets(text, precise_only=False)
    return text if is_id else None


def id_problem(field: str, text: str) -> Problem | None:
    """Return why `text` is no id at all."""
    return None if text.strip() else invalid(field, "must not be empty or blank")


def get_entry(reader: MemoryReader, entry_id: str, field: str = "entry_id") -> Entry:
    """Return an entry of the project.

    Raises:
        NotFoundError: The project holds no such entry.
    """
    entry = find_entry(reader, entry_id)
    if entry is None:
        raise no_entry(entry_id, field)
    return entry


def find_entry(reader: MemoryReader, entry_id: str) -> Entry | None:
    """Return an entry of the project, or None."""
    if text_fault(entry_id) is not None:
        return None
    return reader.find_entries([entry_id]).get(entry_id)


def get_link(reader: MemoryReader, link_id: str) -> Link:
    """Return a link of the project.

    Raises:
        NotFoundError: The project holds no such link.
    """
    link = None if text_fault(link_id) is not None else reader.find_link(link_id)
    if link is None:
        hint = "memory_list_entry_links shows the links of an entry."
        raise _not_found("link_id", f"this project holds no link {_shown(link_id)}", hint)
    return link


def no_entry(entry_id: str, field: str = "entry_id") -> NotFoundError:
    """Return the error for an entry that is not there."""
    hint = "memory_search finds entries; another project's are read with mode=cross_project only."
    return _not_found(field, f"this project holds no entry {_shown(entry_id)}", hint)


def no_link(source: str, relation: str, target: str) -> NotFoundError:
    """Return the error for a link that is not there."""
    message = f"{_shown(source)} has no link {relation} to {_shown(target)}"
    return _not_found("relation", message, "memory_list_entry_links shows the links of an entry.")


def _not_found(field: str, message: str, hint: str) -> NotFoundError:
    return NotFoundError.at(f"$.{field}", message, suggestion=hint)


def _shown(text: str) -> str:
    if find_secrets(text, precise_only=False):
        return "of that form (it seems to be a credential)"
    return repr(encodable(text)[:_LONGEST_SHOWN])
