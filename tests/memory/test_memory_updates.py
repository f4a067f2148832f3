"""Changing entries (memory.md §5, lifecycle: update)."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemory.errors import (
    ConflictError,
    InvalidParamError,
    LimitExceededError,
    NotFoundError,
    SecretDetectedError,
)
from schemory.memory.inputs import EntryUpdate
from schemory.model.entry import SourceType, Status

if TYPE_CHECKING:
    from tests.memory.conftest import Notes

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.covers("memory.update.partial")
def test_only_what_is_named_changes(notes: "Notes", advance: Callable[[float], None]) -> None:
    before = notes.entry("Text.", title="Old", tags=("a",), confidence=0.5)
    advance(60)
    updated = notes.update(before.id, title="New", importance=5)
    after = updated.entry
    assert updated.changed == ("title", "importance")
    assert (after.title, after.importance) == ("New", 5)
    assert (after.content, after.tags, after.confidence) == ("Text.", ("a",), 0.5)
    assert (after.created_at, after.created_by) == (before.created_at, before.created_by)
    assert (after.revision, after.updated_at) == (2, "2026-03-08T09:06:07.000Z")
    assert notes.read(before.id).entry == after


@pytest.mark.covers("memory.update.content", "memory.update.history")
def test_a_new_content_is_hashed_and_found_and_the_old_text_stays_in_history(
    notes: "Notes",
) -> None:
    entry = notes.entry("The gateway listens on port quagga.")
    notes.update(entry.id, content="The gateway listens on port zebra.")
    after = notes.read(entry.id, include_history=True)
    assert after.entry.content_sha256 == hashlib.sha256(after.content.encode()).hexdigest()
    assert notes.found("zebra") == ["The gateway listens on port zebra."]
    assert notes.found("quagga") == []
    (earlier,) = after.history
    assert (earlier.revision, earlier.entry.content) == (1, "The gateway listens on port quagga.")
    assert notes.read(entry.id).history == ()


@pytest.mark.covers("memory.update.null-clears")
def test_null_clears_an_optional_field(notes: "Notes", folder: Path) -> None:
    (folder / "a.md").write_text("x")
    here = notes.at(path=folder)
    entry = here.entry(
        title="T",
        summary="S",
        source_ref="r",
        source_path="a.md",
        source_uri="u",
        tags=("a",),
        importance=5,
        confidence=0.5,
    )
    names = ("title", "summary", "source_ref", "source_path", "source_uri", "confidence")
    cleared = here.update(entry.id, **dict.fromkeys((*names, "tags", "importance"))).entry
    assert [getattr(cleared, name) for name in names] == [None] * 6
    assert (cleared.tags, cleared.importance) == ((), 3)
    assert (cleared.source_sha256, cleared.source_bytes, cleared.source_blob) == (None,) * 3


@pytest.mark.covers("memory.update.null-clears")
@pytest.mark.parametrize("field", ["scope", "topic", "content", "source_type"])
def test_null_for_a_required_field_is_refused(notes: "Notes", field: str) -> None:
    entry = notes.entry()
    with pytest.raises(InvalidParamError, match=f"{field} must not be empty"):
        notes.update(entry.id, **{field: None})


@pytest.mark.covers("memory.update.source")
def test_the_source_fields_change_too_and_naming_the_file_again_takes_a_new_fingerprint(
    notes: "Notes", folder: Path
) -> None:
    (folder / "a.md").write_text("one")
    here = notes.at(path=folder)
    entry = here.entry(source_path="a.md")
    (folder / "a.md").write_text("two")
    updated = here.update(
        entry.id, source_path="a.md", source_type="decision", source_ref="r", source_uri="u"
    )
    assert updated.changed == ("source_type", "source_ref", "source_uri", "source_path")
    assert updated.entry.source_type is SourceType.DECISION
    assert here.read(entry.id).source_state == "unchanged"


@pytest.mark.covers("memory.update.revision")
def test_another_revision_than_expected_is_a_conflict(notes: "Notes") -> None:
    entry = notes.entry()
    notes.update(entry.id, title="First")
    with pytest.raises(ConflictError, match="revision 2 by now, expected 1") as refused:
        notes.memory.update_entry(
            notes.ref,
            EntryUpdate(entry_id=entry.id, changes={"title": "Second"}, expected_revision=1),
        )
    assert refused.value.context["revision"] == 2
    assert notes.read(entry.id).entry.title == "First"
    notes.memory.update_entry(
        notes.ref, EntryUpdate(entry_id=entry.id, changes={"title": "Third"}, expected_revision=2)
    )
    assert notes.read(entry.id).entry.title == "Third"


@pytest.mark.covers("memory.update.nothing")
def test_an_update_that_names_nothing_is_refused(notes: "Notes") -> None:
    entry = notes.entry()
    with pytest.raises(InvalidParamError, match="nothing to change"):
        notes.update(entry.id)
    assert notes.read(entry.id).entry.revision == 1


@pytest.mark.covers("memory.update.same")
def test_an_update_to_what_is_there_writes_nothing(notes: "Notes") -> None:
    entry = notes.entry(title="T", tags=("a",))
    updated = notes.update(entry.id, title="T", tags=["A"])
    assert (updated.changed, updated.entry) == ((), entry)
    assert "nothing was written" in updated.warnings[0]


@pytest.mark.covers("memory.update.rules")
def test_an_update_keeps_to_the_rules_of_an_entry(notes: "Notes") -> None:
    entry = notes.entry()
    with pytest.raises(LimitExceededError):
        notes.update(entry.id, title="x" * 201)
    with pytest.raises(SecretDetectedError):
        notes.update(entry.id, summary=TOKEN)
    with pytest.raises(InvalidParamError) as refused:
        notes.update(entry.id, colour="red", tags="x", importance=0)
    assert [p.path for p in refused.value.problems] == ["$.tags", "$.importance", "$.colour"]
    assert notes.read(entry.id).entry == entry


@pytest.mark.covers("memory.update.rules")
def test_an_allowed_credential_can_be_put_in_by_an_update(notes: "Notes") -> None:
    entry = notes.entry()
    update = EntryUpdate(entry_id=entry.id, changes={"content": TOKEN}, allow_secret=True)
    told = notes.memory.update_entry(notes.ref, update).warnings
    assert any("stored as allowed" in warning for warning in told)


@pytest.mark.covers("memory.not-found")
def test_another_projects_entry_is_not_found(notes: "Notes") -> None:
    entry = notes.entry()
    for missing in (entry.id, "no-such", "a\0b", ""):
        with pytest.raises(NotFoundError):
            notes.at("other").update(missing, title="Mine")
    assert notes.read(entry.id).entry.title is None


@pytest.mark.covers("memory.update.warnings")
def test_an_update_warns_of_a_twin_and_of_a_retired_entry(notes: "Notes") -> None:
    first = notes.entry("Deploys happen from the main branch after the tests are green.")
    second = notes.entry("Something else entirely.")
    told = notes.update(second.id, content=first.content)
    assert [twin.entry.id for twin in told.similar] == [first.id]
    assert any("exactly this content" in warning for warning in told.warnings)
    notes.memory.archive_entry(notes.ref, second.id)
    told = notes.update(second.id, title="T")
    assert told.entry.status is Status.ARCHIVED
    assert any("archived" in warning for warning in told.warnings)


@pytest.mark.covers("memory.update.warnings")
def test_an_update_of_a_superseded_entry_advises_nothing_that_would_be_refused(
    notes: "Notes",
) -> None:
    old, new = notes.entry("Old."), notes.entry("New.")
    notes.link(new, "supersedes", old)
    (told,) = notes.update(old.id, title="T").warnings
    assert "superseded" in told
    assert "restore" not in told
    assert "memory_list_entry_links" in told
