"""Undoing what a transaction did to project memory: what stands in the way, and the way back."""

from collections.abc import Iterator, Mapping
from typing import Final

from schemory.model.entry import Entry, Tag
from schemory.model.frozen import replace
from schemory.storage.sqlite.images import Image, Kind, current_image
from schemory.storage.sqlite.memory_past import entry_of_image, link_of_image
from schemory.storage.sqlite.memory_writers import MemoryWriters
from schemory.storage.sqlite.space import id_list
from schemory.storage.sqlite.undo_plan import Plan, next_revision

_IDS: Final = """
  SELECT e.id FROM carray(?2) AS wanted CROSS JOIN memory_entries AS e
  WHERE e.row_id = wanted.value AND e.project = ?1
"""
_TOUCHING: Final = """
  SELECT number FROM memory_links INDEXED BY memory_links_by_ends
  WHERE project = ?1 AND source_entry_id = ?2
  UNION
  SELECT number FROM memory_links INDEXED BY memory_links_by_target
  WHERE project = ?1 AND target_entry_id = ?2
"""
_LIKE: Final = """
  SELECT number FROM memory_links INDEXED BY memory_links_by_ends
  WHERE project = ?1 AND source_entry_id = ?2 AND target_entry_id = ?3 AND relation = ?4
"""
_HOLDER: Final = "SELECT row_id FROM memory_entries WHERE project = ?1 AND id = ?2"


def label(_plan: Plan, kind: Kind, image: Image | None) -> str:
    """Return what to call an entry, a tag or a link: ids and names, no stored text."""
    if image is None:
        return f"a deleted {kind.value}"
    if kind is Kind.TAG:
        return f"tag {image['name']!r}"
    if kind is Kind.ENTRY:
        return f"entry {image['id']}"
    return f"link {image['source']} -[{image['relation']}]-> {image['target']}"


def find_conflicts(plan: Plan) -> None:
    """Note what others wrote that the old state cannot live with."""
    _find_torn_links(plan)
    _find_taken_ids(plan)
    _find_impossible_links(plan)


def _find_torn_links(plan: Plan) -> None:
    """A later link would be torn off with an entry that goes."""
    going = plan.turns[Kind.LINK].going
    for entry_id in _going_ids(plan):
        for number in plan.space.ints(_TOUCHING, entry_id):
            if number not in going:
                image = current_image(plan.space, Kind.LINK, number)
                plan.object(f"{label(plan, Kind.LINK, image)} was added")


def _going_ids(plan: Plan) -> Iterator[str]:
    going = plan.turns[Kind.ENTRY].going
    return (row[0] for row in plan.space.rows(_IDS, id_list(going))) if going else iter(())


def _find_taken_ids(plan: Plan) -> None:
    turn = plan.turns[Kind.ENTRY]
    for row_id, target in turn.coming.items():
        if set(plan.space.ints(_HOLDER, target["id"])) - turn.going - {row_id}:
            plan.object(f"entry {target['id']} was added anew")


def _find_impossible_links(plan: Plan) -> None:
    """A link comes back only between entries that are there, and only once."""
    turn = plan.turns[Kind.LINK]
    coming = {target["id"] for target in plan.turns[Kind.ENTRY].coming.values()}
    leaving = set(_going_ids(plan)) if turn.coming else set[str]()
    for number, target in turn.coming.items():
        for end in (target["source"], target["target"]):
            is_there = bool(plan.space.ints(_HOLDER, end)) and end not in leaving
            if not is_there and end not in coming:
                plan.object(f"an end of {label(plan, Kind.LINK, target)} has gone")
        ends = (target["source"], target["target"], target["relation"])
        if set(plan.space.ints(_LIKE, *ends)) - turn.going - {number}:
            plan.object(f"{label(plan, Kind.LINK, target)} was added anew")


def apply(writers: MemoryWriters, plan: Plan, now: str) -> None:
    """Go the way back; links go first and come last, so that their ends are always there."""
    entries, tags = plan.turns[Kind.ENTRY], plan.turns[Kind.TAG]
    links = plan.turns[Kind.LINK]
    writers.links.delete_numbers(links.going)
    writers.entries.delete(entries.going, keeps_past=True)
    writers.tags.restore(_tags(tags.coming))
    writers.tags.set_descriptions(_tags(tags.changing))
    writers.entries.set(_entries(writers, plan, entries.changing, now))
    writers.entries.restore(_entries(writers, plan, entries.coming, now))
    writers.links.restore({i: link_of_image(image) for i, image in links.coming.items()})
    writers.tags.delete_unused(tags.going)


def _entries(
    writers: MemoryWriters, plan: Plan, targets: Mapping[int, Image], now: str
) -> dict[int, Entry]:
    turn = plan.turns[Kind.ENTRY]
    return {
        row_id: replace(
            entry_of_image(image, writers.project_id),
            revision=next_revision(turn, row_id, image),
            updated_at=now,
        )
        for row_id, image in targets.items()
    }


def _tags(images: Mapping[int, Image]) -> dict[int, Tag]:
    return {
        tag_id: Tag(
            name=image["name"], created_at=image["created_at"], description=image["description"]
        )
        for tag_id, image in images.items()
    }
