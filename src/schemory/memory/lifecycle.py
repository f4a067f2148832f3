"""From active to retired and back, and gone for good (memory.md §5, lifecycle)."""

from schemory.errors import ConfirmRequiredError, ConflictError
from schemory.memory.entries import check_text
from schemory.memory.faults import Faults
from schemory.memory.find import get_entry, known_id
from schemory.memory.inputs import ProjectRef
from schemory.memory.record import Record
from schemory.memory.results import EntryDeleted, StatusChanged
from schemory.memory.settings import MAX_REASON_CHARS
from schemory.memory.succession import give_back, superseders
from schemory.memory.work import Work
from schemory.memory.writing import settle_secrets
from schemory.model.author import Author
from schemory.model.entry import Entry, Relation, Status
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.storage.memory_protocols import MemoryTransaction

_ALL_LINKS = 1_000_000_000


def invalidate_entry(
    work: Work,
    ref: ProjectRef,
    entry_id: str,
    reason: str | None,
    by: Author,
    *,
    allow_secret: bool = False,
) -> StatusChanged:
    """Mark an entry as no longer true; what is invalidated already keeps its date and reason."""
    arguments = {"entry_id": entry_id, "reason": reason, "allow_secret": allow_secret or None}
    with work.recording("memory_invalidate_entry", ref, arguments, by) as record:
        record.entry_id = known_id(entry_id)
        checked = check_text("reason", reason, MAX_REASON_CHARS)
        faults = Faults()
        faults.add(*checked.problems)
        settle_secrets(faults, checked, record, allow_secret=allow_secret)
        faults.raise_any()
        with record.transaction() as tx:
            before = get_entry(tx, entry_id)
            after = replace(
                before,
                status=Status.INVALIDATED,
                invalidated_at=tx.now,
                invalidation_reason=checked.values["reason"],
            )
            result = _changed(record, tx, before, after)
            reasons = before.invalidation_reason, after.invalidation_reason
            if not result.changed and reasons[1] not in (None, reasons[0]):
                record.warn(_reason_ignored(reasons[0]))
    return replace(result, warnings=record.warnings)


def archive_entry(work: Work, ref: ProjectRef, entry_id: str, by: Author) -> StatusChanged:
    """Put an entry away."""
    with work.recording("memory_archive_entry", ref, {"entry_id": entry_id}, by) as record:
        record.entry_id = known_id(entry_id)
        with record.transaction() as tx:
            before = get_entry(tx, entry_id)
            result = _changed(record, tx, before, replace(before, status=Status.ARCHIVED))
    return replace(result, warnings=record.warnings)


def restore_entry(work: Work, ref: ProjectRef, entry_id: str, by: Author) -> StatusChanged:
    """Make an entry active again, without the reason it was invalidated for."""
    with work.recording("memory_restore_entry", ref, {"entry_id": entry_id}, by) as record:
        record.entry_id = known_id(entry_id)
        with record.transaction() as tx:
            before = get_entry(tx, entry_id)
            if before.status is not Status.ACTIVE:
                _require_no_superseder(tx, before)
                _warn_of_same_text(record, tx, before)
            after = replace(
                before, status=Status.ACTIVE, invalidated_at=None, invalidation_reason=None
            )
            result = _changed(record, tx, before, after)
    return replace(result, warnings=record.warnings)


def delete_entry(
    work: Work, ref: ProjectRef, entry_id: str, *, confirm: bool, by: Author
) -> EntryDeleted:
    """Remove an entry, its tags, links, index rows and every earlier text of it."""
    arguments: dict[str, Json] = {"entry_id": entry_id, "confirm": confirm}
    with work.recording("memory_delete_entry", ref, arguments, by) as record:
        record.entry_id = known_id(entry_id)
        with record.transaction() as tx:
            get_entry(tx, entry_id)
            if not confirm:  # not before: what it tells to call is to succeed
                raise _unconfirmed(entry_id)
            links = tx.list_links([entry_id], limit=_ALL_LINKS)
            replaced = [
                link.target_entry_id
                for link in links
                if link.relation is Relation.SUPERSEDES and link.source_entry_id == entry_id
            ]
            restored = tuple(
                entry for target in replaced if (entry := give_back(tx, target, without=entry_id))
            )
            record.keep_project(tx)
            tx.delete_entries([entry_id])
            record.facts["links_removed"] = len(links)
    return EntryDeleted(
        project=record.place.project,
        warnings=record.warnings,
        entry_id=entry_id,
        links_removed=len(links),
        restored=restored,
    )


def _changed(record: Record, tx: MemoryTransaction, before: Entry, after: Entry) -> StatusChanged:
    """Write the new status, unless it is the old one."""
    changed = before.status is not after.status
    if changed:
        after = replace(after, revision=before.revision + 1, updated_at=tx.now)
        record.keep_project(tx)
        tx.update_entries([after])
    record.facts["changed"] = changed
    return StatusChanged(
        project=record.place.project,
        entry=after if changed else before,
        previous_status=before.status,
        changed=changed,
    )


def _reason_ignored(earlier: str | None) -> str:
    stays = "no reason was given then" if earlier is None else "the earlier reason stays"
    hint = "memory_restore_entry, then memory_invalidate_entry, stores another one."
    return f"The entry was invalidated already and {stays}; {hint}"


def _require_no_superseder(tx: MemoryTransaction, entry: Entry) -> None:
    standing = superseders(tx, entry.id)
    if not standing:
        return
    message = f"entry {standing[0]} supersedes this one, so it cannot be active as well"
    hint = (
        f'Remove the link first: memory_unlink_entries {{"source_entry_id":"{standing[0]}",'
        f'"target_entry_id":"{entry.id}","relation":"supersedes"}}.'
    )
    raise ConflictError.at(
        "$.entry_id", message, suggestion=hint, context={"superseded_by": list(standing)}
    )


def _warn_of_same_text(record: Record, tx: MemoryTransaction, entry: Entry) -> None:
    found = tx.find_by_sha(entry.content_sha256, statuses=(Status.ACTIVE,))
    record.warn(*(f"The active entry {e.id} has exactly this content." for e in found[:1]))


def _unconfirmed(entry_id: str) -> ConfirmRequiredError:
    shown = known_id(entry_id) or "…"
    message = "deleting cannot be taken back, so it must be confirmed"
    hint = (
        f'Pass confirm=true: memory_delete_entry {{"entry_id":"{shown}","confirm":true}}; '
        "memory_invalidate_entry keeps the entry as history instead."
    )
    return ConfirmRequiredError.at("$.confirm", message, suggestion=hint)
