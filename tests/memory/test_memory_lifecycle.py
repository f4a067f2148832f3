"""Invalidating, archiving, restoring and deleting entries (memory.md §5, lifecycle)."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemory.errors import (
    ConfirmRequiredError,
    ConflictError,
    InvalidParamError,
    LimitExceededError,
    NotFoundError,
    SecretDetectedError,
)
from schemory.memory.inputs import UnlinkRequest
from schemory.model.entry import Status
from schemory.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from tests.memory.conftest import Notes

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.covers("memory.invalidate")
def test_invalidating_keeps_the_entry_with_date_and_reason(
    notes: "Notes", advance: Callable[[float], None]
) -> None:
    entry = notes.entry()
    advance(1)
    done = notes.memory.invalidate_entry(notes.ref, entry.id, reason="No longer so.")
    assert (done.previous_status, done.changed) == (Status.ACTIVE, True)
    stored = notes.read(entry.id).entry
    assert (stored.status, stored.invalidation_reason) == (Status.INVALIDATED, "No longer so.")
    assert stored.invalidated_at == stored.updated_at == "2026-03-08T09:05:08.000Z"
    assert stored.revision == 2


@pytest.mark.covers("memory.invalidate.idempotent")
def test_invalidating_again_changes_nothing(
    notes: "Notes", advance: Callable[[float], None]
) -> None:
    entry = notes.entry()
    first = notes.memory.invalidate_entry(notes.ref, entry.id, reason="Once.")
    advance(1)
    again = notes.memory.invalidate_entry(notes.ref, entry.id, reason="Twice.")
    assert (again.previous_status, again.changed) == (Status.INVALIDATED, False)
    assert again.entry == first.entry
    assert notes.read(entry.id).entry == first.entry
    (told,) = again.warnings
    assert "the earlier reason stays" in told
    for reason in (None, "Once."):
        assert notes.memory.invalidate_entry(notes.ref, entry.id, reason=reason).warnings == ()
    other = notes.entry("Retired without a word.")
    notes.memory.invalidate_entry(notes.ref, other.id)
    (told,) = notes.memory.invalidate_entry(notes.ref, other.id, reason="Late.").warnings
    assert "no reason was given then" in told


@pytest.mark.covers("memory.reason")
def test_a_reason_is_checked_like_any_text(notes: "Notes") -> None:
    entry = notes.entry()
    invalidate = notes.memory.invalidate_entry
    with pytest.raises(LimitExceededError):
        invalidate(notes.ref, entry.id, reason="x" * 1001)
    with pytest.raises(InvalidParamError):
        invalidate(notes.ref, entry.id, reason="a\0")
    with pytest.raises(SecretDetectedError) as refused:
        invalidate(notes.ref, entry.id, reason=f"leaked {TOKEN}")
    assert refused.value.context["findings"] == [
        {"rule": "github-token", "field": "reason", "start": 7, "end": 47}
    ]
    assert notes.read(entry.id).entry == entry
    allowed = invalidate(notes.ref, entry.id, reason=TOKEN, allow_secret=True)
    assert any("stored as allowed" in warning for warning in allowed.warnings)
    other = notes.entry("Other.")
    assert invalidate(notes.ref, other.id, reason=" ").entry.invalidation_reason is None
    assert invalidate(notes.ref, notes.entry("Third.").id, reason="x" * 1000).changed


@pytest.mark.covers("memory.archive")
def test_archiving_puts_away_once(notes: "Notes") -> None:
    entry = notes.entry()
    done = notes.memory.archive_entry(notes.ref, entry.id)
    assert (done.previous_status, done.entry.status, done.changed) == (
        Status.ACTIVE,
        Status.ARCHIVED,
        True,
    )
    again = notes.memory.archive_entry(notes.ref, entry.id)
    assert (again.previous_status, again.changed) == (Status.ARCHIVED, False)


@pytest.mark.covers("memory.restore")
def test_restoring_makes_active_and_clears_the_reason(notes: "Notes") -> None:
    entry = notes.entry()
    notes.memory.invalidate_entry(notes.ref, entry.id, reason="Wrong.")
    done = notes.memory.restore_entry(notes.ref, entry.id)
    assert (done.previous_status, done.entry.status) == (Status.INVALIDATED, Status.ACTIVE)
    assert (done.entry.invalidated_at, done.entry.invalidation_reason) == (None, None)
    notes.memory.archive_entry(notes.ref, entry.id)
    assert notes.memory.restore_entry(notes.ref, entry.id).previous_status is Status.ARCHIVED
    assert notes.memory.restore_entry(notes.ref, entry.id).changed is False


@pytest.mark.covers("memory.restore.superseded")
def test_what_another_entry_supersedes_cannot_be_restored(notes: "Notes") -> None:
    old, new = notes.entry("Old."), notes.entry("New.")
    notes.link(new, "supersedes", old)
    with pytest.raises(ConflictError, match=new.id) as refused:
        notes.memory.restore_entry(notes.ref, old.id)
    assert "memory_unlink_entries" in refused.value.suggestions[0]
    notes.memory.invalidate_entry(notes.ref, old.id)
    with pytest.raises(ConflictError):
        notes.memory.restore_entry(notes.ref, old.id)
    assert notes.read(old.id).entry.status is Status.INVALIDATED


@pytest.mark.covers("memory.restore.same-text")
def test_restoring_beside_an_identical_active_text_warns(notes: "Notes") -> None:
    old = notes.entry("Same.")
    notes.memory.invalidate_entry(notes.ref, old.id)
    new = notes.entry("Same.")
    done = notes.memory.restore_entry(notes.ref, old.id)
    assert done.changed
    assert new.id in done.warnings[0]


@pytest.mark.covers("memory.delete.confirm")
def test_deleting_must_be_confirmed(notes: "Notes") -> None:
    entry = notes.entry()
    with pytest.raises(ConfirmRequiredError) as refused:
        notes.memory.delete_entry(notes.ref, entry.id)
    assert f'{{"entry_id":"{entry.id}","confirm":true}}' in refused.value.suggestions[0]
    assert notes.read(entry.id).entry == entry


@pytest.mark.covers("memory.delete.confirm-last")
@pytest.mark.parametrize("confirm", [False, True])
def test_deleting_what_is_not_there_says_so_rather_than_ask(
    notes: "Notes", *, confirm: bool
) -> None:
    entry = notes.entry()
    notes.memory.delete_entry(notes.ref, entry.id, confirm=True)
    for gone in (entry.id, "no-such"):
        with pytest.raises(NotFoundError):
            notes.memory.delete_entry(notes.ref, gone, confirm=confirm)


@pytest.mark.covers("memory.delete")
def test_deleting_removes_entry_tags_links_and_index(notes: "Notes") -> None:
    entry = notes.entry("The word quokka.", tags=("only here",))
    other = notes.entry("Other.")
    notes.link(entry, "explains", other)
    notes.link(other, "related_to", entry)
    done = notes.memory.delete_entry(notes.ref, entry.id, confirm=True)
    assert (done.entry_id, done.links_removed, done.restored) == (entry.id, 2, ())
    with pytest.raises(NotFoundError):
        notes.read(entry.id)
    assert notes.found("quokka") == []
    assert notes.memory.list_entry_links(notes.ref, other.id).links == ()
    with pytest.raises(NotFoundError):
        notes.memory.delete_entry(notes.ref, entry.id, confirm=True)


@pytest.mark.covers("memory.delete.superseder")
def test_deleting_a_superseder_gives_the_target_its_status_back(notes: "Notes") -> None:
    old, new = notes.entry("Old."), notes.entry("New.")
    notes.memory.archive_entry(notes.ref, old.id)
    notes.link(new, "supersedes", old)
    done = notes.memory.delete_entry(notes.ref, new.id, confirm=True)
    assert [(entry.id, entry.status) for entry in done.restored] == [(old.id, Status.ARCHIVED)]
    assert notes.read(old.id).entry.status is Status.ARCHIVED


@pytest.mark.covers("memory.delete.superseder")
def test_a_target_that_changed_since_or_has_another_superseder_keeps_its_status(
    notes: "Notes",
) -> None:
    old, new, newer = notes.entry("Old."), notes.entry("New."), notes.entry("Newer.")
    wrong = notes.entry("Wrong.")
    notes.link(new, "supersedes", old)
    notes.link(newer, "supersedes", old)
    notes.link(new, "supersedes", wrong)
    notes.memory.invalidate_entry(notes.ref, wrong.id)
    done = notes.memory.delete_entry(notes.ref, new.id, confirm=True)
    assert done.restored == ()
    assert notes.read(old.id).entry.status is Status.SUPERSEDED
    assert notes.read(wrong.id).entry.status is Status.INVALIDATED
    unlink = UnlinkRequest(source_entry_id=newer.id, target_entry_id=old.id, relation="supersedes")
    assert notes.memory.unlink_entries(notes.ref, unlink).restored is not None
    assert notes.read(old.id).entry.status is Status.ACTIVE


@pytest.mark.covers("memory.delete.no-trace")
def test_a_deleted_text_is_nowhere_in_the_file_after_vacuum(
    notes_on_disk: "Notes", memory_on_disk: SqliteStore, tmp_path: Path
) -> None:
    notes = notes_on_disk
    entry = notes.entry("The secret word is axolotlium.", title="axolotlium title")
    notes.update(entry.id, content="The other word is wolpertingerium.")
    notes.memory.invalidate_entry(notes.ref, entry.id, reason="Because of capybarium.")
    notes.memory.delete_entry(notes.ref, entry.id, confirm=True)
    memory_on_disk.vacuum()
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    for word in (b"axolotlium", b"wolpertingerium", b"capybarium"):
        assert word not in held


@pytest.mark.covers("memory.not-found")
def test_no_lifecycle_call_reaches_another_project(notes: "Notes") -> None:
    entry = notes.entry()
    memory, other = notes.memory, notes.at("other").ref
    for call in (
        lambda: memory.invalidate_entry(other, entry.id),
        lambda: memory.archive_entry(other, entry.id),
        lambda: memory.restore_entry(other, entry.id),
        lambda: memory.delete_entry(other, entry.id, confirm=True),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert notes.read(entry.id).entry == entry
    assert memory.status(other).stored is None
