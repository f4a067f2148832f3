"""Undoing what a transaction did to the graph: what stands in the way, and the way back."""

from collections.abc import Mapping

from schemory.model.jsonvalue import compact
from schemory.model.node import Node
from schemory.storage.sqlite.adjacent import touching_ids
from schemory.storage.sqlite.edge_writer import EdgeState
from schemory.storage.sqlite.images import Image, Kind, current_image, image_after
from schemory.storage.sqlite.node_writer import NodeState
from schemory.storage.sqlite.rows import extra_text, text_digest
from schemory.storage.sqlite.space import Space, id_list
from schemory.storage.sqlite.undo_plan import Plan, next_revision
from schemory.storage.sqlite.writers import Writers


def label(plan: Plan, kind: Kind, image: Image | None) -> str:
    """Return what to call a node, an edge or a kept line."""
    if image is None or kind is Kind.KEPT:
        return "a kept line"
    if kind is Kind.NODE:
        return f"node {image['name']!r}"
    start, end = _name(plan, image["from"]), _name(plan, image["to"])
    return f"edge {start} -[{image['type']}]-> {end}"


def _name(plan: Plan, node_id: int) -> str:
    image = image_after(plan.space, Kind.NODE, node_id, plan.seq)
    return repr(image["name"]) if image else "(a deleted node)"


def find_conflicts(plan: Plan) -> None:
    """Note what others wrote that the old state cannot live with."""
    _find_torn_edges(plan)
    _find_taken_names(plan)
    _find_impossible_edges(plan)
    _find_taken_lines(plan)


def _find_torn_edges(plan: Plan) -> None:
    """A later edge would be torn off with a node that goes."""
    going, changing = plan.turns[Kind.EDGE].going, plan.turns[Kind.EDGE].changing
    for node_id in plan.turns[Kind.NODE].going:
        for edge_id in touching_ids(plan.space, node_id):
            target = changing.get(edge_id)
            is_away = target is not None and node_id not in (target["from"], target["to"])
            if edge_id not in going and not is_away:
                image = current_image(plan.space, Kind.EDGE, edge_id)
                plan.object(f"{label(plan, Kind.EDGE, image)} was added")


def _find_taken_names(plan: Plan) -> None:
    sql = "SELECT id FROM node WHERE project = ? AND name = ?"
    going = plan.turns[Kind.NODE].going
    arriving = {**plan.turns[Kind.NODE].changing, **plan.turns[Kind.NODE].coming}
    for node_id, target in arriving.items():
        for holder in plan.space.ints(sql, target["name"]):
            leaves = holder in arriving and arriving[holder]["name"] != target["name"]
            if holder != node_id and holder not in going and not leaves:
                plan.object(f"the name {target['name']!r} was given to another node")


def _find_impossible_edges(plan: Plan) -> None:
    """An edge comes back only between nodes that are there, and only once."""
    arriving = {**plan.turns[Kind.EDGE].changing, **plan.turns[Kind.EDGE].coming}
    ends = {node_id for target in arriving.values() for node_id in _triple(target)[:2]}
    missing = ends - _nodes_to_be(plan, ends)
    going, fresh = plan.turns[Kind.EDGE].going, plan.turns[Kind.NODE].coming.keys()
    for edge_id, target in arriving.items():
        start, end, _ = _triple(target)
        if {start, end} & missing:
            plan.object(f"an end of {label(plan, Kind.EDGE, target)} has gone")
        if start in fresh or end in fresh:
            continue  # no other edge can be at a node that is not there yet
        for holder in _holders(plan.space, target):
            leaves = holder in arriving and _triple(arriving[holder]) != _triple(target)
            if holder != edge_id and holder not in going and not leaves:
                plan.object(f"{label(plan, Kind.EDGE, target)} was added anew")


def _nodes_to_be(plan: Plan, ids: set[int]) -> set[int]:
    """Return which of the nodes will be there."""
    sql = """
        SELECT n.id FROM carray(?2) AS wanted CROSS JOIN node AS n
        WHERE n.id = wanted.value AND n.project = ?1
    """
    others = ids - plan.turns[Kind.NODE].targets.keys()
    there = set(plan.space.ints(sql, id_list(others))) if others else set[int]()
    return there | {i for i, target in plan.turns[Kind.NODE].targets.items() if target is not None}


def _holders(space: Space, target: Image) -> list[int]:
    sql = """
        SELECT e.id FROM edge_type AS t CROSS JOIN edge AS e INDEXED BY edge_by_triple
        WHERE t.project = ?1 AND t.name = ?4
          AND e.project = ?1 AND e.from_id = ?2 AND e.to_id = ?3 AND e.type = t.id
    """
    return space.ints(sql, *_triple(target))


def _find_taken_lines(plan: Plan) -> None:
    sql = "SELECT id FROM kept WHERE project = ? AND digest = ?"
    going = plan.turns[Kind.KEPT].going
    for target in plan.turns[Kind.KEPT].coming.values():
        if set(plan.space.ints(sql, text_digest(target["text"]))) - going:
            plan.object("the same kept line was added anew")


def _triple(image: Image) -> tuple[int, int, str]:
    return image["from"], image["to"], image["type"]


def apply(writers: Writers, plan: Plan) -> None:
    """Go the way back; edges go first and come last, so that their ends are always there."""
    staying, moving = _split_changing_edges(plan)
    writers.edges.delete(plan.turns[Kind.EDGE].going | set(moving))
    writers.delete_nodes(list(plan.turns[Kind.NODE].going))
    writers.delete_kept(plan.turns[Kind.KEPT].going)
    writers.nodes.set(_node_states(writers, plan, plan.turns[Kind.NODE].changing))
    writers.nodes.restore(_node_states(writers, plan, plan.turns[Kind.NODE].coming))
    writers.edges.set(_edge_states(plan, staying))
    writers.edges.restore(_edge_states(plan, {**plan.turns[Kind.EDGE].coming, **moving}))
    writers.restore_kept({i: image["text"] for i, image in plan.turns[Kind.KEPT].coming.items()})


def _split_changing_edges(plan: Plan) -> tuple[dict[int, Image], dict[int, Image]]:
    """Return the edges that stay between their nodes, and those that go back to others."""
    staying: dict[int, Image] = {}
    moving: dict[int, Image] = {}
    for edge_id, target in plan.turns[Kind.EDGE].changing.items():
        present = plan.turns[Kind.EDGE].present[edge_id]
        is_same = present is not None and _triple(present) == _triple(target)
        (staying if is_same else moving)[edge_id] = target
    return staying, moving


def _node_states(
    writers: Writers, plan: Plan, targets: Mapping[int, Image]
) -> dict[int, NodeState]:
    return {
        node_id: NodeState(
            node=Node(image["name"], image["type"], tuple(image["metadata"])),
            typed=compact(image["typed"]) if image.get("typed") else None,
            extra=extra_text(image.get("extra", {})),
            created_at=image["created_at"],
            updated_at=writers.entry.now,
            revision=next_revision(plan.turns[Kind.NODE], node_id, image),
        )
        for node_id, image in targets.items()
    }


def _edge_states(plan: Plan, targets: Mapping[int, Image]) -> dict[int, EdgeState]:
    return {
        edge_id: EdgeState(
            from_id=image["from"],
            to_id=image["to"],
            edge_type=image["type"],
            weight=image["weight"],
            property_name=image.get("property"),
            extra=extra_text(image.get("extra", {})),
            created_at=image["created_at"],
            revision=next_revision(plan.turns[Kind.EDGE], edge_id, image),
        )
        for edge_id, image in targets.items()
    }
