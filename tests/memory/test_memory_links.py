"""Links between entries (memory.md §5, links)."""

from typing import TYPE_CHECKING

import pytest

from schemory.errors import (
    ConflictError,
    InvalidParamError,
    LimitExceededError,
    NotFoundError,
    SecretDetectedError,
)
from schemory.memory.inputs import UnlinkRequest
from schemory.model.entry import Relation, Status

if TYPE_CHECKING:
    from tests.memory.conftest import Notes


@pytest.mark.covers("memory.links.add")
@pytest.mark.parametrize("relation", list(Relation))
def test_each_relation_links_two_entries(notes: "Notes", relation: Relation) -> None:
    first, second = notes.entry("One."), notes.entry("Two.")
    done = notes.link(first, relation, second, label="because")
    assert done.changed
    link = done.link
    assert (link.source_entry_id, link.target_entry_id) == (first.id, second.id)
    assert (link.relation, link.label) == (relation, "because")
    assert link.created_at == "2026-03-08T09:05:07.000Z"
    expected = Status.SUPERSEDED if relation is Relation.SUPERSEDES else Status.ACTIVE
    assert (done.target.status, notes.read(second.id).entry.status) == (expected, expected)
    assert notes.read(first.id).entry == first


@pytest.mark.covers("memory.links.identical")
def test_an_identical_link_is_the_old_one(notes: "Notes") -> None:
    first, second = notes.entry("One."), notes.entry("Two.")
    old = notes.link(first, "explains", second, label="a").link
    again = notes.link(first, "explains", second, label="b")
    assert (again.changed, again.link) == (False, old)
    assert "another label" in again.warnings[0]
    assert notes.link(first, "explains", second).warnings == ()
    assert notes.link(second, "explains", first).changed
    assert notes.link(first, "blocks", second).changed


@pytest.mark.covers("memory.links.self")
def test_a_link_to_itself_is_refused(notes: "Notes") -> None:
    entry = notes.entry()
    for relation in ("related_to", "supersedes"):
        with pytest.raises(InvalidParamError, match="another entry"):
            notes.link(entry, relation, entry)


@pytest.mark.covers("memory.links.circle")
def test_superseding_in_a_circle_is_refused(notes: "Notes") -> None:
    one, two, three = (notes.entry(f"{n}.") for n in range(3))
    notes.link(one, "supersedes", two)
    notes.link(two, "supersedes", three)
    for source in (two, three):
        with pytest.raises(ConflictError):
            notes.link(source, "supersedes", one)
    assert notes.read(one.id).entry.status is Status.ACTIVE
    assert notes.link(one, "supersedes", three).changed
    assert notes.link(two, "explains", one).changed


@pytest.mark.covers("memory.links.one-project")
def test_both_ends_are_in_the_project(notes: "Notes") -> None:
    mine, theirs = notes.entry("Mine."), notes.at("other").entry("Theirs.")
    with pytest.raises(NotFoundError) as refused:
        notes.link(mine, "explains", theirs)
    assert [p.path for p in refused.value.problems] == ["$.target_entry_id"]
    with pytest.raises(NotFoundError):
        notes.link(theirs, "explains", mine)
    with pytest.raises(NotFoundError) as refused:
        notes.at("third").link(mine, "explains", theirs)
    assert len(refused.value.problems) == 2


@pytest.mark.covers("memory.links.checked")
def test_relation_and_label_are_checked(notes: "Notes") -> None:
    first, second = notes.entry("One."), notes.entry("Two.")
    with pytest.raises(InvalidParamError) as refused:
        notes.link(first, "superseeds", second, label="a\0")
    assert [p.path for p in refused.value.problems] == ["$.relation", "$.label"]
    assert refused.value.problems[0].nearest[0] == "supersedes"
    with pytest.raises(LimitExceededError):
        notes.link(first, "explains", second, label="x" * 201)
    with pytest.raises(SecretDetectedError):
        notes.link(first, "explains", second, label='password = "hunter2hunter2"')
    assert notes.link(first, "explains", second, label="x" * 200).link.label == "x" * 200


@pytest.mark.covers("memory.links.unlink")
def test_a_link_is_removed_by_its_id_or_by_what_it_says(notes: "Notes") -> None:
    first, second = notes.entry("One."), notes.entry("Two.")
    link = notes.link(first, "explains", second).link
    unlink = notes.memory.unlink_entries
    assert unlink(notes.ref, UnlinkRequest(link_id=link.id)).link == link
    with pytest.raises(NotFoundError):
        unlink(notes.ref, UnlinkRequest(link_id=link.id))
    notes.link(first, "explains", second)
    triple = UnlinkRequest(source_entry_id=first.id, target_entry_id=second.id, relation="explains")
    assert unlink(notes.ref, triple).link.source_entry_id == first.id
    with pytest.raises(NotFoundError):
        unlink(notes.ref, triple)
    assert notes.memory.list_entry_links(notes.ref, first.id).links == ()


@pytest.mark.covers("memory.links.unlink")
def test_a_link_must_be_named_in_one_way(notes: "Notes") -> None:
    for request in (
        UnlinkRequest(),
        UnlinkRequest(source_entry_id="a", target_entry_id="b"),
        UnlinkRequest(link_id="x", source_entry_id="a"),
        UnlinkRequest(source_entry_id="a", target_entry_id="b", relation="likes"),
    ):
        with pytest.raises(InvalidParamError):
            notes.memory.unlink_entries(notes.ref, request)


@pytest.mark.covers("memory.links.one-project")
def test_another_projects_link_cannot_be_removed(notes: "Notes") -> None:
    first, second = notes.entry("One."), notes.entry("Two.")
    link = notes.link(first, "explains", second).link
    other = notes.at("other")
    with pytest.raises(NotFoundError):
        other.memory.unlink_entries(other.ref, UnlinkRequest(link_id=link.id))
    assert notes.memory.list_entry_links(notes.ref, first.id).links == (link,)


@pytest.mark.covers("memory.links.unlink-restores")
def test_unlinking_a_supersedes_gives_the_status_back_unless_another_one_stands(
    notes: "Notes",
) -> None:
    old, new, newer = notes.entry("Old."), notes.entry("New."), notes.entry("Newer.")
    notes.memory.invalidate_entry(notes.ref, old.id, reason="Wrong.")
    first = notes.link(new, "supersedes", old).link
    second = notes.link(newer, "supersedes", old).link
    unlink = notes.memory.unlink_entries
    assert unlink(notes.ref, UnlinkRequest(link_id=first.id)).restored is None
    assert notes.read(old.id).entry.status is Status.SUPERSEDED
    restored = unlink(notes.ref, UnlinkRequest(link_id=second.id)).restored
    assert restored
    assert (restored.status, restored.invalidation_reason) == (Status.INVALIDATED, "Wrong.")
    assert notes.read(old.id).entry == restored


@pytest.mark.covers("memory.links.unlink-restores")
def test_a_target_whose_status_changed_since_keeps_it(notes: "Notes") -> None:
    old, new = notes.entry("Old."), notes.entry("New.")
    link = notes.link(new, "supersedes", old).link
    notes.memory.archive_entry(notes.ref, old.id)
    assert notes.memory.unlink_entries(notes.ref, UnlinkRequest(link_id=link.id)).restored is None
    assert notes.read(old.id).entry.status is Status.ARCHIVED


@pytest.mark.covers("memory.links.unlink-restores")
def test_a_new_text_of_the_superseded_entry_does_not_hide_its_earlier_status(
    notes: "Notes",
) -> None:
    old, new = notes.entry("Old."), notes.entry("New.")
    link = notes.link(new, "supersedes", old).link
    notes.update(old.id, title="Edited meanwhile")
    restored = notes.memory.unlink_entries(notes.ref, UnlinkRequest(link_id=link.id)).restored
    assert restored
    assert (restored.status, restored.title) == (Status.ACTIVE, "Edited meanwhile")


@pytest.mark.covers("memory.links.list")
def test_links_are_listed_by_direction(notes: "Notes") -> None:
    hub, left, right = notes.entry("Hub."), notes.entry("Left."), notes.entry("Right.")
    into = notes.link(left, "explains", hub).link
    out = notes.link(hub, "blocks", right).link
    notes.link(left, "related_to", right)
    listed = notes.memory.list_entry_links
    assert listed(notes.ref, hub.id).links == (into, out)
    assert listed(notes.ref, hub.id, direction="in").links == (into,)
    assert listed(notes.ref, hub.id, direction="out").links == (out,)
    page = listed(notes.ref, hub.id, limit=1)
    assert (page.links, page.truncated) == ((into,), True)
    with pytest.raises(InvalidParamError):
        listed(notes.ref, hub.id, direction="sideways")
    with pytest.raises(NotFoundError):
        listed(notes.at("other").ref, hub.id)
