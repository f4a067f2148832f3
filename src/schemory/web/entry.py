"""One entry: its text, where it comes from, what it is linked to, and what it said before."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from schemory.errors import SchemoryError
from schemory.memory.inputs import ProjectRef, ReadRequest
from schemory.memory.results import EntryRead
from schemory.memory.service import ProjectMemory
from schemory.model.entry import Entry, Link, Status
from schemory.storage.memory_protocols import EarlierText
from schemory.web.asked import Asked
from schemory.web.entries import told
from schemory.web.layout import Page, alert, badge, facts, note, table, when
from schemory.web.markup import Child, Element, el

if TYPE_CHECKING:
    from schemory.web.shelf import Shelf

_MOST_LINKS: Final = 50
_TOLD_FIELDS: Final = (
    *("title", "summary", "scope", "topic", "tags", "source_type", "source_ref", "source_path"),
    *("source_uri", "importance", "confidence", "status"),
)
_STATES: Final = {
    "unchanged": "unchanged since the entry was written",
    "changed": "changed since the entry was written",
    "missing": "no longer there",
}


def entry(shelf: "Shelf", asked: Asked) -> Page:
    """Return the page of one entry.

    Raises:
        NotFoundError: The project has no such entry.
    """
    memory = shelf.memory
    if memory is None:
        return Page(title="Entry", content=(note("A graph file holds no project memory."),))
    ref = ProjectRef(project_id=asked.exact("project"))
    read = memory.read_entry(ref, ReadRequest(entry_id=asked.text("id"), include_history=True))
    one = read.entry
    return Page(
        title=one.title or f"{one.scope} / {one.topic}",
        content=(
            el("p", badge(one.source_type.value), badge(one.status.value)),
            map(alert, read.warnings or map(told, read.codes)),
            _successors(read, asked),
            el("pre", read.content, class_="stored", tabindex="0", aria_label="Text"),
            facts(_facts(read, asked)),
            note(read.verification_hint),
            _links(memory, ref, one, asked),
            _history(read),
        ),
    )


def _facts(read: EntryRead, asked: Asked) -> Iterator[tuple[str, Child]]:
    one = read.entry
    project = el("a", one.project_id, href=asked.to("entries", project=one.project_id))
    yield "Project", project
    yield "Scope", _narrowed(asked, one, "scope", one.scope)
    yield "Topic", _narrowed(asked, one, "topic", one.topic)
    tags = ((_narrowed(asked, one, "tag", tag), " ") for tag in one.tags)
    yield "Tags", tuple(tags)
    yield "Summary", one.summary
    yield "Source", one.source_ref
    yield "File", _file(read)
    yield "Address", one.source_uri  # as text: whoever wrote it may have written anything
    yield "Importance", f"{one.importance} of 5"
    yield "Confidence", None if one.confidence is None else f"{one.confidence:g}"
    yield "Written by", one.created_by
    yield "Created", when(one.created_at)
    yield "Changed", when(one.updated_at)
    yield "Invalidated", when(one.invalidated_at) if one.invalidated_at else None
    yield "Reason", one.invalidation_reason
    yield "Revision", str(one.revision)
    yield "Id", el("code", one.id)


def _narrowed(asked: Asked, one: Entry, kind: str, name: str) -> Element:
    return el("a", name, href=asked.to("entries", project=one.project_id, **{kind: name}))


def _file(read: EntryRead) -> Child:
    path = read.entry.source_path
    state = _STATES.get(read.source_state or "")
    return f"{path} ({state})" if path and state else path


def _successors(read: EntryRead, asked: Asked) -> Child:
    return (
        alert(
            "Read instead: ",
            el("a", each, href=asked.to("entry", project=read.entry.project_id, id=each)),
        )
        for each in read.successors
    )


def _links(memory: ProjectMemory, ref: ProjectRef, one: Entry, asked: Asked) -> Iterator[Child]:
    listed = memory.list_entry_links(ref, one.id, limit=_MOST_LINKS)
    if not listed.links:
        return
    yield el("h2", "Links")
    rows = (_link(memory, ref, one, link, asked) for link in listed.links)
    yield table(("This entry", "Other entry", "Label", "Since"), rows, label="Links")
    if listed.truncated:
        yield note(f"Only the first {_MOST_LINKS} are shown.")


def _link(
    memory: ProjectMemory, ref: ProjectRef, one: Entry, link: Link, asked: Asked
) -> tuple[Child, ...]:
    is_out = link.source_entry_id == one.id
    other = link.target_entry_id if is_out else link.source_entry_id
    relation = link.relation.value.replace("_", " ")
    address = asked.to("entry", project=one.project_id, id=other)
    return (
        f"{relation} →" if is_out else f"← {relation}",
        el("a", _title(memory, ref, other), href=address),
        link.label,
        when(link.created_at),
    )


def _title(memory: ProjectMemory, ref: ProjectRef, entry_id: str) -> Child:
    try:
        other = memory.read_entry(ref, ReadRequest(entry_id=entry_id, max_chars=1)).entry
    except SchemoryError:  # deleted since the links were read
        return entry_id
    name = other.title or f"{other.scope} / {other.topic}"
    return name if other.status is Status.ACTIVE else (name, " ", badge(other.status.value))


def _history(read: EntryRead) -> Iterator[Child]:
    if read.history:
        newer = (read.entry, *(each.entry for each in read.history))
        yield el("h2", "Earlier texts")
        yield (_earlier(*each) for each in zip(read.history, newer, strict=False))
    if read.has_older_texts:
        yield note("There are older texts than these.")


def _earlier(earlier: EarlierText, newer: Entry) -> Element:
    """Return a state before a change: its text, and whatever else was otherwise."""
    was = earlier.entry
    same = note("The text was the same.") if was.content == newer.content else None
    return el(
        "details",
        el("summary", f"Revision {earlier.revision}, until ", when(earlier.changed_at)),
        same or el("pre", was.content, class_="stored"),
        facts(
            (field.replace("_", " ").capitalize(), _told(was, field))
            for field in _TOLD_FIELDS
            if _told(was, field) != _told(newer, field)
        ),
    )


def _told(one: Entry, field: str) -> str:
    if field == "tags":
        return ", ".join(one.tags) or "none"
    value: object = getattr(one, field)
    return "none" if value is None else str(value)
