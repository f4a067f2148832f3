"""What an import does with what the project holds already: fail, merge, replace (memory.md §7)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schemory.errors import (
    ConfirmRequiredError,
    ConflictError,
    InvalidParamError,
    LimitExceededError,
    SchemoryError,
)
from schemory.memory.inputs import NewEntry, ProjectRef
from schemory.memory.settings import Limits
from schemory.model.entry import Entry, Status, Tag
from schemory.transfer.memory.export import export_project
from schemory.transfer.memory.importer import import_project
from schemory.transfer.memory.options import (
    ExportOptions,
    ImportCounts,
    ImportOptions,
    OnConflict,
    TransferCancelledError,
)

if TYPE_CHECKING:
    from tests.transfer.conftest import Box, BoxMaker

EARLY, LATE = "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"
NOW = "2026-03-08T09:05:07.000Z"


@pytest.mark.covers("memory.transfer.import.fail")
def test_fail_stops_at_an_id_that_is_there(box: "Box", other: "Box") -> None:
    box.put(box.make("a", "One."), box.make("b", "Two."))
    box.export()
    other.put(other.make("b", "Something else."))
    before = other.held()
    with pytest.raises(ConflictError) as refused:
        other.take()
    assert refused.value.context["existing_entry_id"] == "b"
    assert "$.entries[1]" in refused.value.message
    assert "merge" in refused.value.suggestions[0]
    assert other.held() == before


@pytest.mark.covers("memory.transfer.import.fail")
def test_fail_stops_at_a_content_that_is_there(box: "Box", other: "Box") -> None:
    box.put(box.make("a", "One."))
    box.export()
    other.put(other.make("z", "One.", status=Status.INVALIDATED))
    with pytest.raises(ConflictError) as refused:
        other.take()
    assert refused.value.context["existing_entry_id"] == "z"


@pytest.mark.covers("memory.transfer.import.merge")
def test_merge_inserts_what_is_new_and_leaves_the_rest(box: "Box", other: "Box") -> None:
    box.put(box.make("a", "One."), box.make("b", "Two."), box.make_link("l", "b", "explains", "a"))
    box.export()
    own = other.make("c", "Three.")
    other.put(other.make("a", "One."), own)
    report = other.take(mode="merge")
    assert report.counts == ImportCounts(inserted=1, unchanged=1, links=1)
    assert set(other.statuses()) == {"a", "b", "c"}
    assert other.entry("c") == own
    assert other.found("Two") == ["b"]


@pytest.mark.covers("memory.transfer.import.merge")
def test_of_two_states_the_newer_ones_metadata_holds_and_content_never_changes(
    box: "Box", other: "Box"
) -> None:
    box.put(
        box.make("new", "Theirs.", topic="new", title="Theirs", tags=("x", "y"), updated_at=LATE),
        box.make("old", "Same.", topic="old", title="Old", tags=("x", "y"), updated_at=EARLY),
    )
    box.export()
    other.put(
        other.make(
            "new", "Ours.", title="Ours", summary="Kept.", tags=("y", "z"), metadata={"k": 1}
        ),
        other.make("old", "Same.", title="Ours", tags=("z",), updated_at=LATE),
    )
    report = other.take(mode="merge")
    assert report.counts == ImportCounts(updated=2)
    new, old = other.entry("new"), other.entry("old")
    assert (new.content, new.topic, new.title, new.summary) == ("Ours.", "new", "Theirs", "Kept.")
    assert (new.tags, new.metadata, new.updated_at, new.revision) == (
        ("x", "y", "z"),
        {"k": 1},
        LATE,
        2,
    )
    assert (old.topic, old.title, old.tags, old.updated_at) == (
        "auth",
        "Ours",
        ("x", "y", "z"),
        NOW,
    )
    assert any("1 entries have another content" in warning for warning in report.warnings)
    assert other.take(mode="merge").counts == ImportCounts(unchanged=2)


@pytest.mark.covers("memory.transfer.import.merge")
def test_an_invalidation_travels_with_the_newer_state(box: "Box", other: "Box") -> None:
    facts = {"status": Status.INVALIDATED, "invalidated_at": LATE, "invalidation_reason": "Moved."}
    box.put(box.make("a", updated_at=LATE, **facts))
    box.export()
    other.put(other.make("a"))
    other.take(mode="merge")
    taken = other.entry("a")
    assert (taken.status, taken.invalidated_at, taken.invalidation_reason) == tuple(facts.values())


@pytest.mark.covers("memory.transfer.import.merge-content")
def test_merge_recognises_a_content_under_another_id(box: "Box", other: "Box") -> None:
    box.put(
        box.make("a", "Same."),
        box.make("b", "Same."),
        box.make("c", "Other.", tags=("x",)),
        box.make_link("l", "c", "explains", "a"),
    )
    box.export()
    other.put(other.make("z", "Same."), other.make("y", "Other."))
    report = other.take(mode="merge")
    assert report.counts == ImportCounts(inserted=1, updated=1, skipped=1, links=1)
    assert set(other.statuses()) == {"z", "y", "b"}
    assert other.entry("y").tags == ("x",)
    link = other.held().links["l"]
    assert (link.source_entry_id, link.target_entry_id) == ("y", "z")
    assert other.take(mode="merge").counts == ImportCounts(unchanged=1, skipped=2)


@pytest.mark.covers("memory.transfer.import.merge-tags")
def test_tags_united_beyond_the_limit_refuse_the_file(box: "Box", open_box: "BoxMaker") -> None:
    other = open_box("other.db", limits=Limits(max_tags=3))
    box.put(box.make("a", tags=("a", "b")))
    box.export()
    other.put(other.make("a", tags=("c", "d")))
    with pytest.raises(LimitExceededError):
        other.take(mode="merge")
    assert other.entry("a").tags == ("c", "d")


@pytest.mark.covers("memory.transfer.import.supersedes")
def test_a_link_that_comes_in_supersedes_what_is_stored(box: "Box", other: "Box") -> None:
    old = box.make("a", "Old.", status=Status.SUPERSEDED)
    box.put(old, box.make("b", "New."), box.make_link("l", "b", "supersedes", "a"))
    box.export()
    other.put(other.make("a", "Old.", updated_at=LATE))
    assert other.take(mode="merge").counts == ImportCounts(inserted=1, updated=1, links=1)
    assert other.entry("a").status is Status.SUPERSEDED
    assert other.entry("a").revision == 2


@pytest.mark.covers("memory.transfer.import.supersedes")
def test_what_a_stored_link_supersedes_stays_superseded(box: "Box", other: "Box") -> None:
    box.put(box.make("a", "Old.", updated_at=LATE, title="Newer"))
    box.export()
    other.put(
        other.make("a", "Old.", status=Status.SUPERSEDED),
        other.make("b", "New."),
        other.make_link("l", "b", "supersedes", "a"),
    )
    other.take(mode="merge")
    assert (other.entry("a").status, other.entry("a").title) == (Status.SUPERSEDED, "Newer")


@pytest.mark.covers("memory.transfer.import.circle")
def test_links_that_close_a_circle_with_stored_ones_are_refused(box: "Box", other: "Box") -> None:
    superseded = Status.SUPERSEDED
    box.put(
        box.make("a", "1"),
        box.make("b", "2", status=superseded),
        box.make_link("l1", "a", "supersedes", "b"),
    )
    box.export()
    other.put(
        other.make("a", "1", status=superseded),
        other.make("b", "2", status=superseded),
        other.make("c", "3"),
        other.make_link("l2", "b", "supersedes", "c"),
        other.make_link("l3", "c", "supersedes", "a"),
    )
    before = other.held()
    with pytest.raises(ConflictError) as refused:
        other.take(mode="merge")
    assert "supersede itself" in refused.value.message
    assert other.held() == before


@pytest.mark.covers("memory.transfer.import.replace")
def test_replace_needs_to_be_confirmed(box: "Box") -> None:
    box.put(box.make("a"))
    box.export()
    for dry_run in (False, True):
        with pytest.raises(ConfirmRequiredError) as refused:
            box.take(mode="replace", confirm_replace=False, dry_run=dry_run)
        assert "confirm_replace=true" in refused.value.suggestions[0]


@pytest.mark.covers("memory.transfer.import.replace-last")
def test_a_file_that_is_not_there_is_told_before_confirmation_is_asked_for(box: "Box") -> None:
    for confirmed in (False, True):
        with pytest.raises(InvalidParamError):
            box.take(mode="replace", confirm_replace=confirmed)


@pytest.fixture
def replaced(box: "Box", other: "Box") -> "Box":
    """A project of three entries beside a file of two, one of which is in both."""
    box.put(
        Tag(name="new", created_at=EARLY, description="from the file"),
        box.make("a", "New text.", tags=("new",)),
        box.make("b", "Two."),
        box.make_link("l", "a", "explains", "b"),
    )
    box.export()
    other.put(
        other.make("a", "Old text.", tags=("gone",)),
        other.make("c", "Three.", tags=("gone",)),
        other.make("d", "Four."),
        other.make_link("l", "c", "explains", "a"),
    )
    return other


@pytest.mark.covers("memory.transfer.import.replace")
def test_replace_makes_the_file_all_that_the_project_holds(box: "Box", replaced: "Box") -> None:
    report = replaced.take(mode="replace")
    assert report.counts == ImportCounts(inserted=1, updated=1, removed=2, links=1)
    want = box.held()
    changed = replace(want.entries["a"], revision=2)  # an expected revision must not still fit
    assert replaced.held() == replace(want, entries={**want.entries, "a": changed})
    assert replaced.found("Three") == []
    assert replaced.found("New text") == ["a"]


@pytest.mark.covers("memory.transfer.import.replace")
@pytest.mark.parametrize("has_tag", [True, False], ids=["a bare tag", "no such tag"])
def test_replace_forgets_what_the_file_does_not_say_of_a_tag(
    box: "Box", other: "Box", *, has_tag: bool
) -> None:
    entry = box.make("a", "Text.", tags=("kept",) if has_tag else ())
    box.put(entry)
    box.export()
    other.put(Tag(name="kept", created_at=EARLY, description="said before"), entry)
    report = other.take(mode="replace")
    assert report.seq is not None
    described = {tag.name: tag.description for tag in other.held().tags.values()}
    assert described.get("kept") is None
    other.undo(report.seq)
    assert other.held().tags["kept"].description == "said before"
    assert other.take(mode="merge").seq is None
    assert other.held().tags["kept"].description == "said before"


@pytest.mark.covers("memory.transfer.import.backup")
def test_replace_writes_everything_beside_the_database_first(
    replaced: "Box", open_box: "BoxMaker", tmp_path: Path
) -> None:
    before = replaced.held()
    report = replaced.take(mode="replace")
    assert report.backup_path is not None
    backup = Path(report.backup_path)
    assert backup.parent == tmp_path
    assert backup.stat().st_mode & 0o777 == 0o600
    third = open_box()
    (third.folder / "backup.jsonl").write_bytes(backup.read_bytes())
    third.take("backup.jsonl")
    assert third.held() == before


@pytest.mark.covers("memory.transfer.import.backup")
def test_a_replace_that_is_refused_leaves_no_backup(replaced: "Box", tmp_path: Path) -> None:
    replaced.write("in.json", "{}!")
    with pytest.raises(InvalidParamError):
        replaced.take("in.json", "replace")
    assert not list(tmp_path.glob("*backup*"))


@pytest.mark.covers("memory.transfer.import.undo")
@pytest.mark.parametrize("mode", ["merge", "replace"])
def test_an_import_can_be_undone(replaced: "Box", mode: str) -> None:
    before = replaced.held()
    report = replaced.take(mode=mode)
    assert report.seq is not None
    assert replaced.held() != before
    replaced.undo(report.seq)
    after = replaced.held()
    assert {i: _content(e) for i, e in after.entries.items()} == {
        i: _content(e) for i, e in before.entries.items()
    }
    assert set(after.links) == set(before.links)
    assert set(after.tags) == set(before.tags)
    assert replaced.found("Three") == ["c"]


def _content(entry: Entry) -> tuple[Any, ...]:
    return (entry.content, entry.title, entry.status, entry.tags, entry.topic)


@pytest.mark.covers("memory.transfer.import.origin")
def test_another_projects_entries_become_ours_and_tell_their_origin(
    box: "Box", other: "Box"
) -> None:
    box.put(box.make("a", "One.", metadata={"k": 1}))
    box.export()
    mine = other.at("q")
    report = mine.take()
    assert (report.origin, report.renamed) == ("p", 0)
    taken = mine.entry("a")
    assert (taken.project_id, taken.metadata) == (
        "q",
        {"k": 1, "imported_from": {"project_id": "p"}},
    )
    assert other.held().entries == {}
    mine.export("again.json")
    back = other.at("r")
    back.take("again.json")
    (metadata,) = (entry.metadata for entry in back.held().entries.values())
    assert metadata == {"k": 1, "imported_from": {"project_id": "p"}}


@pytest.mark.covers("memory.transfer.import.taken-id")
def test_an_id_that_another_project_holds_is_replaced_and_links_follow(box: "Box") -> None:
    box.put(box.make("a", "One."), box.make("b", "Two."), box.make_link("l", "b", "explains", "a"))
    box.export()
    mine = box.at("q")
    assert mine.take(dry_run=True).renamed is None  # not looked for, so no claim
    report = mine.take()
    assert (report.counts.inserted, report.counts.links, report.renamed) == (2, 1, 2)
    assert any("2 entries of the file have a new id here" in told for told in report.warnings)
    entries = {entry.content: entry for entry in mine.held().entries.values()}
    assert {"a", "b"}.isdisjoint(mine.statuses())
    assert entries["One."].metadata == {"imported_from": {"project_id": "p", "entry_id": "a"}}
    link = mine.held().links["l"]
    ends = (link.source_entry_id, link.target_entry_id)
    assert ends == (entries["Two."].id, entries["One."].id)
    assert set(box.statuses()) == {"a", "b"}
    assert mine.take(mode="merge").counts == ImportCounts(skipped=2)


@pytest.mark.covers("memory.transfer.import.origin")
def test_where_a_project_lies_is_never_taken_from_a_file(box: "Box") -> None:
    project = {
        "id": "p",
        "display_name": "Evil",
        "canonical_path": "/evil",
        "git_remote": "evil.example/x",
        "metadata": {"language": "go"},
    }
    entry = {"id": "a", "scope": "s", "topic": "t", "content": "c", "source_type": "decision"}
    told = {
        "format": "memory-node.project-export",
        "version": 1,
        "project": project,
        "entries": [{**entry, "created_at": EARLY}],
    }
    box.write("in.json", json.dumps(told))
    box.take("in.json")
    with box.memory.store.read_memory("p") as reader:
        stored = reader.find_project()
    assert stored is not None
    assert (stored.display_name, stored.canonical_path) == ("project", str(box.folder))
    assert (stored.git_remote, stored.metadata) == (None, {"language": "go"})


@pytest.mark.covers("memory.transfer.import.origin")
def test_a_project_known_by_its_id_alone_takes_its_name_from_the_file(
    box: "Box", open_box: "BoxMaker"
) -> None:
    box.memory.add_entry(
        box.ref, NewEntry(topic="t", content="c", source_type="decision", scope="s")
    )
    box.export()
    other = open_box(allowed_roots=(str(box.folder),))
    alone = ProjectRef(project_id="p")
    import_project(other.memory, alone, str(box.folder / "out.json"))
    with other.memory.store.read_memory("p") as reader:
        stored = reader.find_project()
    assert stored is not None
    assert (stored.display_name, stored.canonical_path) == ("project", None)


@pytest.mark.covers("memory.transfer.import.dry-run")
@pytest.mark.parametrize("mode", ["fail", "merge", "replace"])
def test_a_dry_run_counts_and_writes_nothing(
    replaced: "Box", open_box: "BoxMaker", tmp_path: Path, mode: str
) -> None:
    target = open_box("third.db") if mode == "fail" else replaced
    before, seq, rows = target.held(), target.last_seq(), len(target.audit())
    report = target.take(mode=mode, dry_run=True)
    assert (target.held(), target.last_seq(), len(target.audit())) == (before, seq, rows)
    assert (report.seq, report.backup_path, report.dry_run) == (None, None, True)
    assert not list(tmp_path.glob("*backup*"))
    assert target.take(mode=mode).counts == report.counts


@pytest.mark.covers("memory.transfer.cancel")
@pytest.mark.parametrize("mode", ["merge", "replace"])
def test_cancelling_at_any_step_leaves_nothing(replaced: "Box", tmp_path: Path, mode: str) -> None:
    before = replaced.held()
    options = ImportOptions(on_conflict=OnConflict(mode), confirm_replace=True)
    asked = 0

    def cancelled_after(steps: int) -> Any:
        nonlocal asked
        asked = 0

        def ask() -> bool:
            nonlocal asked
            asked += 1
            return asked > steps

        return ask

    steps = 0
    while True:
        try:
            import_project(
                replaced.memory,
                replaced.ref,
                "out.json",
                options,
                is_cancelled=cancelled_after(steps),
            )
        except TransferCancelledError:
            assert replaced.held() == before
            assert not list(tmp_path.glob("*backup*"))
            steps += 1
        else:
            break
    assert steps >= 3
    assert replaced.held() != before


@pytest.mark.covers("memory.transfer.cancel")
def test_a_cancelled_export_leaves_the_old_file(box: "Box") -> None:
    box.put(box.make("a"))
    box.write("out.json", "old")
    with pytest.raises(TransferCancelledError):
        export_project(
            box.memory,
            box.ref,
            "out.json",
            ExportOptions(overwrite=True),
            is_cancelled=lambda: True,
        )
    assert [path.name for path in box.folder.iterdir()] == ["out.json"]
    assert (box.folder / "out.json").read_text() == "old"


@pytest.mark.covers("memory.transfer.progress")
def test_progress_only_rises_and_ends_at_its_total(box: "Box", other: "Box") -> None:
    box.put(*(box.make(f"e{n}", f"Note {n}.") for n in range(700)))
    steps: list[tuple[float, float | None, str]] = []
    export_project(box.memory, box.ref, "out.json", progress=lambda *step: steps.append(step))
    exported = [done for done, _, _ in steps]
    steps.clear()
    import_project(other.memory, other.ref, "out.json", progress=lambda *step: steps.append(step))
    imported = [done for done, _, _ in steps]
    for done in (exported, imported):
        assert len(done) > 4
        assert done == sorted(set(done))
    assert all(total == 100.0 for _, total, _ in steps)


@pytest.mark.covers("memory.transfer.import.race")
def test_what_is_written_meanwhile_is_seen(box: "Box", other: "Box") -> None:
    """The comparison is made before the lock is taken, and again when somebody wrote since."""
    box.put(box.make("a", "One."), box.make("b", "Two."))
    box.export()
    other.put(other.make("z", "Mine."))
    has_written = False

    def write_once(_done: float, _total: float | None, message: str) -> None:
        nonlocal has_written
        if message == "preparing the index" and not has_written:
            has_written = True
            other.put(other.make("a", "One."))

    options = ImportOptions(on_conflict=OnConflict.MERGE)
    report = import_project(other.memory, other.ref, "out.json", options, progress=write_once)
    assert has_written
    assert report.counts == ImportCounts(inserted=1, unchanged=1)


@pytest.mark.covers("memory.transfer.import.all-or-nothing")
def test_a_store_that_fails_while_writing_keeps_nothing(box: "Box", other: "Box") -> None:
    box.put(*(box.make(f"e{n}", f"Note {n}.") for n in range(1_200)))
    box.export()

    def fail(_done: float, _total: float | None, message: str) -> None:
        if message == "writing":
            raise SchemoryError("out of luck")

    with pytest.raises(SchemoryError):
        import_project(other.memory, other.ref, "out.json", progress=fail)
    assert other.held().entries == {}
    assert other.last_seq() == 0
