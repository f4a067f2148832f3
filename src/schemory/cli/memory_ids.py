"""Entries by the beginning of their id, for people, who copy the first characters only."""

from collections.abc import Iterator
from typing import Final

from schemory.cli.memory_desk import Desk
from schemory.errors import InvalidParamError
from schemory.model.entry import Entry
from schemory.storage.memory_protocols import EntryFilter

ID_HELP: Final = "the entry's id, or its first six or more characters"
"""What help says of such an argument."""

_SHORTEST: Final = 6
_LONGEST_ID: Final = 64
_SHOWN: Final = 10
_PAGE: Final = 1_000


def full_id(memory: Desk, text: str, *, everywhere: bool = False) -> str:
    """Return the id that begins with `text`; `text` itself where none does, or one is just that.

    Args:
        memory: Of the project that is meant.
        text: At least six characters of an id; less is taken as it is.
        everywhere: In every project of the store.

    Raises:
        InvalidParamError: Several do; it lists them without their contents.
    """
    if not (_SHORTEST <= len(text) < _LONGEST_ID and text.isprintable()):
        return text
    found: list[Entry] = []
    for project_id in _projects(memory) if everywhere else (memory.memory.place(memory.ref).id,):
        with memory.memory.store.read_memory(project_id) as reader:
            if reader.find_entries([text]):
                return text
            page = reader.list_entries(EntryFilter(), order="id", after=(text,), limit=_SHOWN + 1)
        found += [hit.entry for hit in page.hits if hit.entry.id.startswith(text)]
    if len(found) > 1:
        raise _several(text, found)
    return found[0].id if found else text


def _projects(memory: Desk) -> Iterator[str]:
    after: str | None = ""
    while after is not None:
        listed = memory.memory.list_projects(memory.ref, after=after, limit=_PAGE)
        yield from (project.id for project in listed.projects)
        after = listed.more


def _several(text: str, found: list[Entry]) -> InvalidParamError:
    shown = [f"{e.id} ({e.source_type.value}, {e.created_at[:10]})" for e in found[:_SHOWN]]
    more = ", and more" if len(found) > _SHOWN else ""
    message = f"Several entries begin with {text!r}: {', '.join(shown)}{more}"
    hint = "Give more of the id."
    return InvalidParamError.at("$.entry_id", message, suggestion=hint)
