"""Links between two entries of one project (memory.md §5, links)."""

from schemory.errors import ConflictError
from schemory.memory.entries import check_text
from schemory.memory.faults import Faults, invalid, one_of, refuse
from schemory.memory.find import find_entry, get_entry, get_link, id_problem, no_entry, no_link
from schemory.memory.inputs import LinkRequest, ProjectRef, UnlinkRequest
from schemory.memory.limiting import clamped
from schemory.memory.record import Record
from schemory.memory.results import LinkRemoved, LinksListed, LinkWritten
from schemory.memory.settings import DEFAULT_NAMES_LIMIT, MAX_LABEL_CHARS, MAX_NAMES_LIMIT
from schemory.memory.succession import give_back, retire, would_turn_in_circle
from schemory.memory.work import Work
from schemory.memory.writing import settle_secrets
from schemory.model.author import Author
from schemory.model.entry import Entry, Link, Relation
from schemory.storage.memory_protocols import MemoryReader, MemoryTransaction

DIRECTIONS = ("in", "out", "both")
_ALL_LINKS = 1_000_000_000


def link_entries(work: Work, ref: ProjectRef, request: LinkRequest, by: Author) -> LinkWritten:
    """Link two entries, or return the link that is there."""
    arguments = {
        "source_entry_id": request.source_entry_id,
        "target_entry_id": request.target_entry_id,
        "relation": request.relation,
        "label": request.label,
        "allow_secret": request.allow_secret or None,
    }
    with work.recording("memory_link_entries", ref, arguments, by) as record:
        label, relation = _checked(request, record)
        with record.transaction() as tx:
            target = _both_ends(tx, request)
            existing = _find_link(tx, request.source_entry_id, target.id, relation)
            if existing is not None:
                link = existing
                if label != existing.label and label is not None:
                    record.warn("The link was there already, with another label; it stays.")
            else:
                link = Link(
                    id=work.ids(),
                    source_entry_id=request.source_entry_id,
                    target_entry_id=target.id,
                    relation=relation,
                    created_at=tx.now,
                    label=label,
                )
                record.keep_project(tx)
                target = _insert(tx, link, target)
            record.entry_id = link.source_entry_id
            record.facts["changed"] = existing is None
    return LinkWritten(
        project=record.place.project,
        warnings=record.warnings,
        link=link,
        changed=existing is None,
        target=target,
    )


def unlink_entries(work: Work, ref: ProjectRef, request: UnlinkRequest, by: Author) -> LinkRemoved:
    """Remove a link by its id, or by what it says."""
    arguments = {
        "link_id": request.link_id,
        "source_entry_id": request.source_entry_id,
        "target_entry_id": request.target_entry_id,
        "relation": request.relation,
    }
    with work.recording("memory_unlink_entries", ref, arguments, by) as record:
        _require_address(request)
        with record.transaction() as tx:
            link = _addressed(tx, request)
            record.keep_project(tx)
            restored = None
            if link.relation is Relation.SUPERSEDES:
                restored = give_back(tx, link.target_entry_id, without=link.source_entry_id)
            tx.delete_links([link.id])
            record.entry_id = link.source_entry_id
    return LinkRemoved(
        project=record.place.project, warnings=record.warnings, link=link, restored=restored
    )


def list_entry_links(
    work: Work, ref: ProjectRef, entry_id: str, direction: str, limit: int | None
) -> LinksListed:
    """Return the links of one entry, by id."""
    if direction not in DIRECTIONS:
        raise refuse(one_of("direction", direction, DIRECTIONS))
    with work.reading(ref) as reading:
        most = clamped(limit, MAX_NAMES_LIMIT, reading.warnings, default=DEFAULT_NAMES_LIMIT)
        entry = get_entry(reading.reader, entry_id)
        links = reading.reader.list_links([entry.id], direction=direction, limit=most + 1)
        return LinksListed(
            project=reading.place.project,
            warnings=reading.told(),
            entry_id=entry.id,
            direction=direction,
            links=links[:most],
            truncated=len(links) > most,
        )


def _checked(request: LinkRequest, record: Record) -> tuple[str | None, Relation]:
    faults = Faults()
    for field in ("source_entry_id", "target_entry_id"):
        problem = id_problem(field, getattr(request, field))
        faults.add(*([problem] if problem else []))
    if request.source_entry_id == request.target_entry_id:
        faults.add(invalid("target_entry_id", "must be another entry than source_entry_id"))
    if request.relation not in set(Relation):
        faults.add(one_of("relation", request.relation, tuple(Relation)))
    checked = check_text("label", request.label, MAX_LABEL_CHARS)
    faults.add(*checked.problems)
    settle_secrets(faults, checked, record, allow_secret=request.allow_secret)
    faults.raise_any()
    label: str | None = checked.values["label"]
    return label, Relation(request.relation)


def _both_ends(reader: MemoryReader, request: LinkRequest) -> Entry:
    """Return the target, once both ends are known to be the project's.

    Raises:
        NotFoundError: One of them, or both, are not there.
    """
    faults = Faults()
    target = find_entry(reader, request.target_entry_id)
    if find_entry(reader, request.source_entry_id) is None:
        faults.take(no_entry(request.source_entry_id, "source_entry_id"))
    if target is None:
        faults.take(no_entry(request.target_entry_id, "target_entry_id"))
    faults.raise_any()
    return get_entry(reader, request.target_entry_id, "target_entry_id")


def _insert(tx: MemoryTransaction, link: Link, target: Entry) -> Entry:
    """Insert the link and do what its relation says; returns the target as it stands then."""
    if link.relation is not Relation.SUPERSEDES:
        tx.insert_links([link])
        return target
    if would_turn_in_circle(tx, link.source_entry_id, target.id):
        raise _circle(link)
    tx.insert_links([link])
    return retire(tx, target)


def _find_link(reader: MemoryReader, source: str, target: str, relation: Relation) -> Link | None:
    links = reader.list_links([source], direction="out", limit=_ALL_LINKS)
    same = (x for x in links if x.target_entry_id == target and x.relation is relation)
    return next(same, None)


def _require_address(request: UnlinkRequest) -> None:
    triple = (request.source_entry_id, request.target_entry_id, request.relation)
    if request.link_id is not None:
        if any(part is not None for part in triple):
            raise refuse(invalid("link_id", "alone names the link; leave the other fields out"))
    elif any(part is None for part in triple):
        fault = "must be given, or source_entry_id, target_entry_id and relation"
        raise refuse(invalid("link_id", fault))
    elif request.relation not in set(Relation):
        raise refuse(one_of("relation", str(request.relation), tuple(Relation)))


def _addressed(reader: MemoryReader, request: UnlinkRequest) -> Link:
    if request.link_id is not None:
        return get_link(reader, request.link_id)
    source, target = str(request.source_entry_id), str(request.target_entry_id)
    relation = Relation(str(request.relation))
    get_entry(reader, source, "source_entry_id")
    link = _find_link(reader, source, target, relation)
    if link is None:
        raise no_link(source, relation, target)
    return link


def _circle(link: Link) -> ConflictError:
    message = "the target supersedes the source already, directly or through others"
    hint = "Look at memory_list_entry_links of both, and remove the link that is wrong."
    return ConflictError.at(
        "$.target_entry_id",
        message,
        suggestion=hint,
        context={"source_entry_id": link.source_entry_id, "target_entry_id": link.target_entry_id},
    )
