"""Adding and changing entries (memory.md §4, §5)."""

from collections.abc import Mapping
from typing import Any

from schemory.errors import SchemoryError
from schemory.memory import similar
from schemory.memory.entries import (
    FIELDS,
    OPTIONAL_TEXTS,
    Checked,
    EntryRules,
    check_fields,
    content_sha256,
    missing,
)
from schemory.memory.faults import Faults, invalid, refuse
from schemory.memory.find import get_entry, known_id
from schemory.memory.inputs import EntryUpdate, NewEntry, ProjectRef
from schemory.memory.labels import label_key
from schemory.memory.meaning import make_missing
from schemory.memory.place import Place
from schemory.memory.record import Record
from schemory.memory.results import EntryAdded, EntryUpdated, IndexRebuilt, SimilarEntry
from schemory.memory.revisions import require_revision
from schemory.memory.sources import Source, locate_source
from schemory.memory.work import Work
from schemory.model.author import Author
from schemory.model.entry import Entry, SourceType, Status
from schemory.model.frozen import names_of, replace
from schemory.model.jsonvalue import Json

_FLAGS = ("dedupe", "allow_secret")
_COMPARED = (*OPTIONAL_TEXTS, "scope", "topic", "source_type", "tags", "importance", "confidence")


def add_entry(work: Work, ref: ProjectRef, new: NewEntry, by: Author) -> EntryAdded:
    """Store an entry, or return the active one that has exactly its content."""
    given = _given(new)
    arguments = {**given, **{name: getattr(new, name) for name in _FLAGS}}
    with work.recording("memory_add_entry", ref, arguments, by) as record:
        place = record.place
        draft = _draft(work, place, given, record, allow_secret=new.allow_secret)
        texts = [work.store.index_text(draft)]
        twins: tuple[SimilarEntry, ...] = ()
        with record.transaction() as tx:
            same = tx.find_by_sha(draft.content_sha256, statuses=(Status.ACTIVE,))
            if same and new.dedupe:
                entry, differing = same[0], _differing(given, draft, same[0])
                record.facts["deduped"] = True
            else:
                entry = replace(draft, created_at=tx.now, updated_at=tx.now)
                differing = ()
                # The writer's connection has the index at hand; another's would read it anew.
                twins = similar.near_duplicates(tx, entry.content)
                record.keep_project(tx)
                tx.insert_entries([entry], texts=texts)
            record.entry_id = entry.id
    if differing:
        record.warn(_differing_warning(entry.id, differing))
    record.warn(*map(similar.twin_warning, twins))
    return EntryAdded(
        project=place.project,
        warnings=record.warnings,
        entry=entry,
        deduped="deduped" in record.facts,
        differing=differing,
        similar=twins,
    )


def update_entry(work: Work, ref: ProjectRef, update: EntryUpdate, by: Author) -> EntryUpdated:
    """Change fields of an entry; its earlier state stays in the ledger."""
    arguments = {
        "entry_id": update.entry_id,
        **update.changes,
        "expected_revision": update.expected_revision,
        "allow_secret": update.allow_secret,
    }
    with work.recording("memory_update_entry", ref, arguments, by) as record:
        place = record.place
        record.entry_id = known_id(update.entry_id)
        values = _changes(place, update, record)
        twins: tuple[SimilarEntry, ...] = ()
        with record.transaction() as tx:
            before = get_entry(tx, update.entry_id)
            require_revision(before, update.expected_revision)
            entry = replace(before, **_entry_fields(values))
            changed = _changed(before, entry)
            if "content" in changed:
                twins = similar.near_duplicates(tx, entry.content, without=entry.id)
            if changed:
                entry = replace(entry, revision=before.revision + 1, updated_at=tx.now)
                record.keep_project(tx)
                tx.update_entries([entry])
            record.facts["changed"] = bool(changed)
            if "content" in changed:
                record.warn(*_same_content(tx.find_by_sha(entry.content_sha256), entry.id))
    if not changed:
        record.warn("The entry had all these values already; nothing was written.")
    if entry.status is Status.SUPERSEDED:
        record.warn("The entry is superseded; memory_list_entry_links shows what replaces it.")
    elif entry.status is not Status.ACTIVE:
        record.warn(f"The entry is {entry.status}; memory_restore_entry makes it active again.")
    record.warn(*map(similar.twin_warning, twins))
    return EntryUpdated(
        project=place.project,
        warnings=record.warnings,
        entry=entry,
        changed=changed,
        similar=twins,
    )


def rebuild_index(work: Work, ref: ProjectRef, by: Author) -> IndexRebuilt:
    """Build the project's search index anew; a project that is not there has none."""
    with (
        work.recording("memory_rebuild_index", ref, {}, by) as record,
        record.transaction() as tx,
    ):
        indexed = tx.rebuild_index() if tx.find_project() is not None else 0
        if work.vectors is not None:
            tx.drop_vectors()
        record.facts["indexed"] = indexed
    make_missing(work, ref)
    with work.store.read_memory(record.place.id) as reader:
        vectors = work.vectors.count(reader) if work.vectors else None
    return IndexRebuilt(
        project=record.place.project, warnings=record.warnings, indexed=indexed, vectors=vectors
    )


def entry_rules(place: Place) -> EntryRules:
    """Return what entries of this project must keep to."""
    return EntryRules(limits=place.limits, allowed_tags=place.allowed_tags)


def _given(new: NewEntry) -> dict[str, Json]:
    """Return the fields that the caller gave."""
    names = (name for name in names_of(new) if name not in _FLAGS)
    values = {name: getattr(new, name) for name in names}
    return {name: value for name, value in values.items() if value is not None and value != ()}


def _draft(
    work: Work, place: Place, given: Mapping[str, Json], record: Record, *, allow_secret: bool
) -> Entry:
    """Return the entry to be stored, without its times.

    Raises:
        SchemoryError: Something is wrong with it; all of it is told.
    """
    checked = check_fields(given, entry_rules(place))
    faults = Faults()
    faults.add(*missing(given, has_default_scope=place.scope_default is not None))
    source = _settle(faults, place, checked, record, allow_secret=allow_secret)
    faults.raise_any()
    values = {"scope": place.scope_default, **checked.values, **_source_fields(source)}
    return Entry(
        id=work.ids(),
        project_id=place.id,
        content_sha256=content_sha256(str(values["content"])),
        created_by=record.by.author or None,
        created_at="",
        updated_at="",
        **_entry_fields(values),
    )


def _settle(
    faults: Faults, place: Place, checked: Checked, record: Record, *, allow_secret: bool
) -> Source | None:
    """Collect what speaks against the fields, and find the source file among them."""
    faults.add(*checked.problems)
    source = None
    path = checked.values.get("source_path")
    if isinstance(path, str):
        try:
            source = locate_source(place, path)
            record.warn(*source.warnings)
        except SchemoryError as error:
            faults.take(error)
    settle_secrets(faults, checked, record, allow_secret=allow_secret)
    return source


def settle_secrets(faults: Faults, checked: Checked, record: Record, *, allow_secret: bool) -> None:
    """Refuse credentials, or where they are allowed warn of them and say so in the audit."""
    if not checked.findings:
        return
    record.has_secret = True
    if not allow_secret:
        faults.add_findings(checked.findings)
        return
    record.facts["allow_secret"] = True
    record.facts["findings"] = len(checked.findings)
    for finding in checked.findings:
        record.warn(
            f"{finding.field} seems to hold a credential ({finding.rule}); stored as allowed."
        )


def _source_fields(source: Source | None) -> dict[str, Json]:
    found = source.fingerprint if source else None
    return {
        "source_path": source.path if source else None,
        "source_sha256": found.sha256 if found else None,
        "source_bytes": found.size if found else None,
        "source_blob": found.blob if found else None,
    }


def _changes(place: Place, update: EntryUpdate, record: Record) -> dict[str, Json]:
    """Return the new values of an update, complete with what follows from them.

    Raises:
        InvalidParamError: Nothing is to be changed.
        SchemoryError: Something is wrong with the values; all of it is told.
    """
    if not update.changes:
        hint = f"Pass at least one of {', '.join(FIELDS)}."
        raise refuse(invalid("entry_id", "alone says nothing to change", suggestion=hint))
    checked = check_fields(update.changes, entry_rules(place))
    faults = Faults()
    source = _settle(faults, place, checked, record, allow_secret=update.allow_secret)
    faults.raise_any()
    values = dict(checked.values)
    if "source_path" in values:
        values.update(_source_fields(source))
    if "content" in values:
        values["content_sha256"] = content_sha256(str(values["content"]))
    return values


def _entry_fields(values: Mapping[str, Json]) -> dict[str, Any]:
    """Return checked values as the fields of an `Entry`."""
    own: dict[str, Any] = dict(values)
    if "tags" in own:
        own["tags"] = tuple(own["tags"])
    if "source_type" in own:
        own["source_type"] = SourceType(own["source_type"])
    return own


def _changed(before: Entry, after: Entry) -> tuple[str, ...]:
    """Return the fields a caller knows that differ; a source file that changed counts as well."""
    changed = [name for name in FIELDS if getattr(before, name) != getattr(after, name)]
    if before.source_sha256 != after.source_sha256 and "source_path" not in changed:
        changed.append("source_path")
    return tuple(changed)


def _differing(given: Mapping[str, Json], draft: Entry, existing: Entry) -> tuple[str, ...]:
    """Return the fields that the caller gave and the existing entry has otherwise."""
    names = [name for name in _COMPARED if name in given]
    return tuple(name for name in names if _told(draft, name) != _told(existing, name))


def _told(entry: Entry, name: str) -> object:
    value = getattr(entry, name)
    return label_key(value) if name in {"scope", "topic"} else value


def _differing_warning(entry_id: str, names: tuple[str, ...]) -> str:
    return (
        f"The existing entry {entry_id} has another {', '.join(names)}; "
        "memory_update_entry changes it, dedupe=false writes a second entry."
    )


def _same_content(found: tuple[Entry, ...], entry_id: str) -> list[str]:
    others = [e.id for e in found if e.status is Status.ACTIVE and e.id != entry_id]
    return [f"The active entry {others[0]} has exactly this content."] if others else []
