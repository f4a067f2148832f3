"""Reversing one committed transaction, when nothing it wrote has changed since (storage.md).

States are compared by content, not by revision or ledger number: something that was changed and
changed back is as it was.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from schemory.errors import InvalidParamError, Problem, UndoConflictError
from schemory.model.jsonvalue import compact
from schemory.model.node import Node
from schemory.storage.protocols import Commit
from schemory.storage.sqlite import ledger
from schemory.storage.sqlite.adjacent import touching_ids
from schemory.storage.sqlite.edge_writer import EdgeState
from schemory.storage.sqlite.images import (
    Image,
    Kind,
    content,
    current_image,
    image_after,
    present_marks,
)
from schemory.storage.sqlite.node_writer import NodeState
from schemory.storage.sqlite.rows import extra_text, text_digest
from schemory.storage.sqlite.space import Space, id_list
from schemory.storage.sqlite.writers import Writers

_MOST_PROBLEMS = 20
_THERE: Image = {}


@dataclass(slots=True)
class _Turn:
    """What has to be done to one kind of item.

    Attributes:
        targets: The state to return to, by id; None = it goes.
        present: What is needed to know of the state now, by id; None = it is not there.
    """

    targets: dict[int, Image | None] = field(default_factory=dict[int, Image | None])
    present: dict[int, Image | None] = field(default_factory=dict[int, Image | None])

    @property
    def going(self) -> set[int]:
        """Items that are there and will not be."""
        return {i for i, state in self.targets.items() if state is None and self._is_there(i)}

    @property
    def coming(self) -> dict[int, Image]:
        """States of items that are not there and will be."""
        return {i: state for i, state in self.targets.items() if state and not self._is_there(i)}

    @property
    def changing(self) -> dict[int, Image]:
        """New states of items that are there and stay."""
        return {i: state for i, state in self.targets.items() if state and self._is_there(i)}

    def _is_there(self, item_id: int) -> bool:
        return self.present[item_id] is not None


class _Plan:
    """The way back from one transaction, and what stands in it."""

    def __init__(self, space: Space, seq: int) -> None:
        self.space = space
        self.seq = seq
        self.problems: list[Problem] = []
        self.nodes, self.edges, self.kept = _Turn(), _Turn(), _Turn()
        self.turns = {Kind.NODE: self.nodes, Kind.EDGE: self.edges, Kind.KEPT: self.kept}

    def object(self, message: str) -> None:
        """Note something that has changed since."""
        self.problems.append(
            Problem(code=UndoConflictError.code, path="$.seq", message=f"{message} since")
        )

    def label(self, kind: Kind, image: Image | None) -> str:
        """Return what to call an item."""
        if image is None or kind is Kind.KEPT:
            return "a kept line"
        if kind is Kind.NODE:
            return f"node {image['name']!r}"
        start, end = self._name(image["from"]), self._name(image["to"])
        return f"edge {start} -[{image['type']}]-> {end}"

    def _name(self, node_id: int) -> str:
        image = image_after(self.space, Kind.NODE, node_id, self.seq)
        return repr(image["name"]) if image else "(a deleted node)"


def undo(space: Space, writers: Writers, seq: int) -> Commit:
    """Reverse transaction `seq` inside the open one; returns what was reversed.

    Raises:
        UndoConflictError: Something it wrote has changed since; names what.
        InvalidParamError: No such transaction, or history does not reach back that far.
    """
    commit = _reachable(space, seq)
    plan = _Plan(space, seq)
    _plan_changes(plan)
    _plan_insertions(plan)
    _find_torn_edges(plan)
    _find_taken_names(plan)
    _find_impossible_edges(plan)
    _find_taken_lines(plan)
    if plan.problems:
        raise _conflict(seq, plan.problems)
    _apply(writers, plan)
    return commit


def _reachable(space: Space, seq: int) -> Commit:
    commit = ledger.find_commit(space, seq)
    newest = ledger.last_seq(space)
    if commit is None:
        raise _unreachable(f"there is no transaction {seq} here; the newest is {newest}", newest)
    sql = """
        SELECT l.purged, p.history_from FROM ledger AS l JOIN projects AS p ON p.number = l.project
        WHERE l.project = ? AND l.seq = ?
    """
    purged, history_from = space.rows(sql, seq)[0]
    if purged:
        raise _unreachable(f"something that transaction {seq} wrote was purged", newest)
    if seq < history_from:
        raise _unreachable(f"history reaches back to transaction {history_from} only", newest)
    return commit


def _unreachable(message: str, newest: int) -> InvalidParamError:
    problem = Problem(code=InvalidParamError.code, path="$.seq", message=message)
    return InvalidParamError(
        f"It cannot be undone: {message}", problems=[problem], context={"newest": newest}
    )


def _conflict(seq: int, problems: list[Problem]) -> UndoConflictError:
    count = len(problems)
    more = f" (and {count - 1} more)" if count > 1 else ""
    return UndoConflictError(
        f"Transaction {seq} cannot be undone: {problems[0].message}{more}",
        problems=problems[:_MOST_PROBLEMS],
        context={"seq": seq, "problemCount": count},
        suggestions=["Undo the later transactions first, or change things back by hand."],
    )


# What it wrote, and what became of that -------------------------------------------------------


def _plan_changes(plan: _Plan) -> None:
    """What was changed goes back; only items with later images need comparing."""
    sql = """
        SELECT c.kind, c.item_id, c.image, EXISTS (
          SELECT 1 FROM change AS later WHERE later.project = c.project AND later.kind = c.kind
            AND later.item_id = c.item_id AND later.seq > c.seq)
        FROM change AS c INDEXED BY change_by_seq WHERE c.project = ? AND c.seq = ?
    """
    changed_since: list[tuple[Kind, int]] = []
    for word, item_id, text, has_later in plan.space.rows(sql, plan.seq):
        kind = Kind(word)
        plan.turns[kind].targets[item_id] = None if text is None else json.loads(text)
        if has_later:
            changed_since.append((kind, item_id))
    for kind, turn in plan.turns.items():
        there = present_marks(plan.space, kind, turn.targets)
        turn.present.update({item_id: there.get(item_id) for item_id in turn.targets})
    for kind, item_id in changed_since:
        _compare(plan, kind, item_id)


def _plan_insertions(plan: _Plan) -> None:
    """What was new goes; only items with later images need comparing."""
    sql = "SELECT kind, first_id, last_id FROM insert_run WHERE project = ? AND seq = ?"
    later = """
        SELECT DISTINCT item_id FROM change
        WHERE project = ? AND kind = ? AND item_id BETWEEN ? AND ? AND seq > ?
    """
    for word, first, last in plan.space.rows(sql, plan.seq):
        turn = plan.turns[Kind(word)]
        ids = range(first, last + 1)
        turn.targets.update(dict.fromkeys(ids))
        turn.present.update(dict.fromkeys(ids, _THERE))
        for item_id in plan.space.ints(later, word, first, last, plan.seq):
            _compare(plan, Kind(word), item_id)


def _compare(plan: _Plan, kind: Kind, item_id: int) -> None:
    now = current_image(plan.space, kind, item_id)
    then = image_after(plan.space, kind, item_id, plan.seq)
    if content(kind, now) != content(kind, then):
        fate = "has gone" if now is None else "has come back" if then is None else "has changed"
        plan.object(f"{plan.label(kind, now or then)} {fate}")


# What others wrote that the old state cannot live with ----------------------------------------


def _find_torn_edges(plan: _Plan) -> None:
    """A later edge would be torn off with a node that goes."""
    going, changing = plan.edges.going, plan.edges.changing
    for node_id in plan.nodes.going:
        for edge_id in touching_ids(plan.space, node_id):
            target = changing.get(edge_id)
            is_away = target is not None and node_id not in (target["from"], target["to"])
            if edge_id not in going and not is_away:
                image = current_image(plan.space, Kind.EDGE, edge_id)
                plan.object(f"{plan.label(Kind.EDGE, image)} was added")


def _find_taken_names(plan: _Plan) -> None:
    sql = "SELECT id FROM node WHERE project = ? AND name = ?"
    going = plan.nodes.going
    arriving = {**plan.nodes.changing, **plan.nodes.coming}
    for node_id, target in arriving.items():
        for holder in plan.space.ints(sql, target["name"]):
            leaves = holder in arriving and arriving[holder]["name"] != target["name"]
            if holder != node_id and holder not in going and not leaves:
                plan.object(f"the name {target['name']!r} was given to another node")


def _find_impossible_edges(plan: _Plan) -> None:
    """An edge comes back only between nodes that are there, and only once."""
    arriving = {**plan.edges.changing, **plan.edges.coming}
    ends = {node_id for target in arriving.values() for node_id in _triple(target)[:2]}
    missing = ends - _nodes_to_be(plan, ends)
    going, fresh = plan.edges.going, plan.nodes.coming.keys()
    for edge_id, target in arriving.items():
        start, end, _ = _triple(target)
        if {start, end} & missing:
            plan.object(f"an end of {plan.label(Kind.EDGE, target)} has gone")
        if start in fresh or end in fresh:
            continue  # no other edge can be at a node that is not there yet
        for holder in _holders(plan.space, target):
            leaves = holder in arriving and _triple(arriving[holder]) != _triple(target)
            if holder != edge_id and holder not in going and not leaves:
                plan.object(f"{plan.label(Kind.EDGE, target)} was added anew")


def _nodes_to_be(plan: _Plan, ids: set[int]) -> set[int]:
    """Return which of the nodes will be there."""
    sql = """
        SELECT n.id FROM carray(?2) AS wanted CROSS JOIN node AS n
        WHERE n.id = wanted.value AND n.project = ?1
    """
    others = ids - plan.nodes.targets.keys()
    there = set(plan.space.ints(sql, id_list(others))) if others else set[int]()
    return there | {i for i, target in plan.nodes.targets.items() if target is not None}


def _holders(space: Space, target: Image) -> list[int]:
    sql = """
        SELECT e.id FROM edge_type AS t CROSS JOIN edge AS e INDEXED BY edge_by_triple
        WHERE t.project = ?1 AND t.name = ?4
          AND e.project = ?1 AND e.from_id = ?2 AND e.to_id = ?3 AND e.type = t.id
    """
    return space.ints(sql, *_triple(target))


def _find_taken_lines(plan: _Plan) -> None:
    sql = "SELECT id FROM kept WHERE project = ? AND digest = ?"
    going = plan.kept.going
    for target in plan.kept.coming.values():
        if set(plan.space.ints(sql, text_digest(target["text"]))) - going:
            plan.object("the same kept line was added anew")


def _triple(image: Image) -> tuple[int, int, str]:
    return image["from"], image["to"], image["type"]


# The way back ---------------------------------------------------------------------------------


def _apply(writers: Writers, plan: _Plan) -> None:
    """Edges go first and come last, so that their ends are always there."""
    staying, moving = _split_changing_edges(plan)
    writers.edges.delete(plan.edges.going | set(moving))
    writers.delete_nodes(list(plan.nodes.going))
    writers.delete_kept(plan.kept.going)
    writers.nodes.set(_node_states(writers, plan, plan.nodes.changing))
    writers.nodes.restore(_node_states(writers, plan, plan.nodes.coming))
    writers.edges.set(_edge_states(plan, staying))
    writers.edges.restore(_edge_states(plan, {**plan.edges.coming, **moving}))
    writers.restore_kept({i: image["text"] for i, image in plan.kept.coming.items()})


def _split_changing_edges(plan: _Plan) -> tuple[dict[int, Image], dict[int, Image]]:
    """Return the edges that stay between their nodes, and those that go back to others."""
    staying: dict[int, Image] = {}
    moving: dict[int, Image] = {}
    for edge_id, target in plan.edges.changing.items():
        present = plan.edges.present[edge_id]
        is_same = present is not None and _triple(present) == _triple(target)
        (staying if is_same else moving)[edge_id] = target
    return staying, moving


def _node_states(
    writers: Writers, plan: _Plan, targets: Mapping[int, Image]
) -> dict[int, NodeState]:
    return {
        node_id: NodeState(
            node=Node(image["name"], image["type"], tuple(image["metadata"])),
            typed=compact(image["typed"]) if image.get("typed") else None,
            extra=extra_text(image.get("extra", {})),
            created_at=image["created_at"],
            updated_at=writers.entry.now,
            revision=_next_revision(plan.nodes, node_id, image),
        )
        for node_id, image in targets.items()
    }


def _edge_states(plan: _Plan, targets: Mapping[int, Image]) -> dict[int, EdgeState]:
    return {
        edge_id: EdgeState(
            from_id=image["from"],
            to_id=image["to"],
            edge_type=image["type"],
            weight=image["weight"],
            property_name=image.get("property"),
            extra=extra_text(image.get("extra", {})),
            created_at=image["created_at"],
            revision=_next_revision(plan.edges, edge_id, image),
        )
        for edge_id, image in targets.items()
    }


def _next_revision(turn: _Turn, item_id: int, target: Image) -> int:
    """Return a revision that this item never had, so that nobody takes it for an older state."""
    return int((turn.present[item_id] or target)["revision"]) + 1
