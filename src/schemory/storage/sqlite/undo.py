"""Reversing one committed transaction, when nothing it wrote has changed since (storage.md).

States are compared by content, not by revision or ledger number: something that was changed and
changed back is as it was.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import apsw

from schemory.errors import InvalidParamError, Problem, UndoConflictError
from schemory.model.jsonvalue import compact
from schemory.model.node import Node
from schemory.storage.protocols import Commit
from schemory.storage.sqlite import ledger
from schemory.storage.sqlite.images import Image, Kind, content, current_image, image_after
from schemory.storage.sqlite.rows import extra_text
from schemory.storage.sqlite.writer import EdgeState, NodeState, Writer

_MOST_PROBLEMS = 20


@dataclass(slots=True)
class _Plan:
    """What has to be done to reverse a transaction: the state to return to, by kind and id.

    Attributes:
        targets: The state before; None = delete.
        present: The state now; None = not there.
    """

    targets: dict[Kind, dict[int, Image | None]] = field(
        default_factory=lambda: {kind: {} for kind in Kind}
    )
    present: dict[Kind, dict[int, Image | None]] = field(
        default_factory=lambda: {kind: {} for kind in Kind}
    )
    problems: list[Problem] = field(default_factory=list[Problem])

    def deleted(self, kind: Kind) -> set[int]:
        """Ids that go and are there now."""
        return {
            item_id
            for item_id, target in self.targets[kind].items()
            if target is None and self.present[kind][item_id] is not None
        }

    def restored(self, kind: Kind) -> dict[int, Image]:
        """States that come back and are not there now."""
        return {
            item_id: target
            for item_id, target in self.targets[kind].items()
            if target is not None and self.present[kind][item_id] is None
        }

    def changed(self, kind: Kind) -> dict[int, Image]:
        """States that replace what is there now."""
        return {
            item_id: target
            for item_id, target in self.targets[kind].items()
            if target is not None and self.present[kind][item_id] is not None
        }


def undo(db: apsw.Connection, number: int, writer: Writer, seq: int) -> Commit:
    """Reverse transaction `seq` inside the open one.

    Raises:
        UndoConflictError: Something it wrote has changed since; names what.
        InvalidParamError: No such transaction, or history does not reach back that far.
    """
    commit = _reachable(db, number, seq)
    plan = _plan(db, number, seq)
    _check_surroundings(db, number, plan)
    if plan.problems:
        raise _conflict(seq, plan.problems)
    _apply(writer, plan)
    return commit


def _reachable(db: apsw.Connection, number: int, seq: int) -> Commit:
    commit = ledger.find_commit(db, number, seq)
    newest = ledger.last_seq(db, number)
    if commit is None:
        problem = Problem(
            code=InvalidParamError.code,
            path="$.seq",
            message=f"there is no transaction {seq} in this space (the newest is {newest})",
        )
        raise InvalidParamError(problem.message, problems=[problem], context={"newest": newest})
    sql = """
        SELECT l.purged, p.history_from FROM ledger AS l JOIN projects AS p ON p.number = l.project
        WHERE l.project = ? AND l.seq = ?
    """
    purged, history_from = db.execute(sql, (number, seq)).fetchall()[0]
    if purged or seq < history_from:
        why = "something it wrote was purged" if purged else "history starts later"
        problem = Problem(
            code=InvalidParamError.code,
            path="$.seq",
            message=f"transaction {seq} cannot be undone: {why}",
        )
        raise InvalidParamError(problem.message, problems=[problem])
    return commit


def _plan(db: apsw.Connection, number: int, seq: int) -> _Plan:
    plan = _Plan()
    changes = """
        SELECT kind, item_id, image FROM change INDEXED BY change_by_seq
        WHERE project = ? AND seq = ?
    """
    for word, item_id, image in db.execute(changes, (number, seq)).fetchall():
        kind = Kind(word)
        plan.targets[kind][item_id] = None if image is None else json.loads(image)
        after = image_after(db, number, kind, item_id, seq)
        _compare(db, number, plan, kind, item_id, after)
    runs = "SELECT kind, first_id, last_id FROM insert_run WHERE project = ? AND seq = ?"
    for word, first, last in db.execute(runs, (number, seq)).fetchall():
        _plan_run(db, number, plan, Kind(word), seq, range(first, last + 1))
    return plan


def _plan_run(
    db: apsw.Connection, number: int, plan: _Plan, kind: Kind, seq: int, ids: range
) -> None:
    """Plan the deletion of items that were new; only those with later images need comparing."""
    later = """
        SELECT DISTINCT item_id FROM change
        WHERE project = ? AND kind = ? AND item_id BETWEEN ? AND ? AND seq > ?
    """
    bound = (number, kind.value, ids[0], ids[-1], seq)
    touched = {int(row[0]) for row in db.execute(later, bound).fetchall()}
    untouched: Image = {}
    for item_id in ids:
        plan.targets[kind][item_id] = None
        plan.present[kind][item_id] = untouched
        if item_id in touched:
            after = image_after(db, number, kind, item_id, seq)
            _compare(db, number, plan, kind, item_id, after)


def _compare(
    db: apsw.Connection, number: int, plan: _Plan, kind: Kind, item_id: int, after: Image | None
) -> None:
    now = current_image(db, number, kind, item_id)
    plan.present[kind][item_id] = now
    if content(kind, now) != content(kind, after):
        fate = "is gone" if now is None else "came back" if after is None else "has changed"
        plan.problems.append(_problem(f"{_label(db, kind, now or after)} {fate} since"))


def _label(db: apsw.Connection, kind: Kind, image: Image | None) -> str:
    if image is None or kind is Kind.KEPT:
        return "a kept line"
    if kind is Kind.NODE:
        return f"node {image['name']!r}"
    ends = [
        row[0] if row else f"#{node_id}"
        for node_id in (image["from"], image["to"])
        for row in (db.execute("SELECT name FROM node WHERE id = ?", (node_id,)).fetchone(),)
    ]
    return f"edge {ends[0]!r} -[{image['type']}]-> {ends[1]!r}"


def _problem(message: str) -> Problem:
    return Problem(code=UndoConflictError.code, path="$.seq", message=message)


def _conflict(seq: int, problems: list[Problem]) -> UndoConflictError:
    count = len(problems)
    return UndoConflictError(
        f"Transaction {seq} cannot be undone: {problems[0].message}"
        + (f" (and {count - 1} more)" if count > 1 else ""),
        problems=problems[:_MOST_PROBLEMS],
        context={"seq": seq, "problemCount": count},
        suggestions=["Change what has changed since by hand, or undo the later transaction first."],
    )


def _check_surroundings(db: apsw.Connection, number: int, plan: _Plan) -> None:
    """Find what others have written since that the old state cannot live with."""
    _check_strangers(db, number, plan)
    _check_names(db, number, plan)
    _check_edges(db, number, plan)


def _check_strangers(db: apsw.Connection, number: int, plan: _Plan) -> None:
    """An edge that came later would be torn off with a node that goes."""
    sql = """
        SELECT id FROM edge INDEXED BY edge_by_triple WHERE project = ?1 AND from_id = ?2
        UNION SELECT id FROM edge INDEXED BY edge_by_to WHERE project = ?1 AND to_id = ?2
    """
    going = plan.deleted(Kind.EDGE)
    moving = plan.changed(Kind.EDGE)
    for node_id in plan.deleted(Kind.NODE):
        for (edge_id,) in db.execute(sql, (number, node_id)).fetchall():
            target = moving.get(edge_id)
            if edge_id in going or (target and node_id not in (target["from"], target["to"])):
                continue
            image = current_image(db, number, Kind.EDGE, edge_id)
            plan.problems.append(_problem(f"{_label(db, Kind.EDGE, image)} was added since"))


def _check_names(db: apsw.Connection, number: int, plan: _Plan) -> None:
    sql = "SELECT id FROM node WHERE project = ? AND name = ?"
    going = plan.deleted(Kind.NODE)
    coming = {**plan.changed(Kind.NODE), **plan.restored(Kind.NODE)}
    for node_id, target in coming.items():
        row = db.execute(sql, (number, target["name"])).fetchone()
        if row is None or row[0] == node_id or row[0] in going:
            continue
        holder = coming.get(row[0])
        if holder is None or holder["name"] == target["name"]:
            plan.problems.append(_problem(f"the name {target['name']!r} is taken since"))


def _check_edges(db: apsw.Connection, number: int, plan: _Plan) -> None:
    taken = """
        SELECT e.id FROM edge_type AS t CROSS JOIN edge AS e INDEXED BY edge_by_triple
        WHERE t.project = ?1 AND t.name = ?4
          AND e.project = ?1 AND e.from_id = ?2 AND e.to_id = ?3 AND e.type = t.id
    """
    there = "SELECT 1 FROM node WHERE id = ? AND project = ?"
    going = plan.deleted(Kind.EDGE)
    nodes_going = plan.deleted(Kind.NODE)
    nodes_coming = plan.restored(Kind.NODE)
    coming = {**plan.changed(Kind.EDGE), **plan.restored(Kind.EDGE)}
    for edge_id, target in coming.items():
        for node_id in {target["from"], target["to"]} - set(nodes_coming):
            if node_id in nodes_going or not db.execute(there, (node_id, number)).fetchone():
                plan.problems.append(_problem(f"an end of {_label(db, Kind.EDGE, target)} is gone"))
        bound = (number, target["from"], target["to"], target["type"])
        row = db.execute(taken, bound).fetchone()
        if row is None or row[0] == edge_id or row[0] in going:
            continue
        holder = coming.get(row[0])
        if holder is None or _triple(holder) == _triple(target):
            plan.problems.append(_problem(f"{_label(db, Kind.EDGE, target)} was added since"))


def _triple(image: Image) -> tuple[object, ...]:
    return image["from"], image["to"], image["type"]


def _apply(writer: Writer, plan: _Plan) -> None:
    """Edges go first and come last, so that their ends are always there."""
    kept_in_place, moved = _split_edges(plan)
    writer.delete_edges(plan.deleted(Kind.EDGE) | set(moved))
    writer.delete_nodes(plan.deleted(Kind.NODE))
    writer.delete_kept(plan.deleted(Kind.KEPT))
    changed = plan.changed(Kind.NODE)
    rows = list(writer.node_rows(changed).values())
    writer.set_nodes(rows, _node_states(writer, plan, changed))
    writer.restore_nodes(_node_states(writer, plan, plan.restored(Kind.NODE)))
    edge_rows = list(writer.edge_rows(kept_in_place).values())
    writer.set_edges(edge_rows, _edge_states(plan, kept_in_place))
    writer.restore_edges(_edge_states(plan, {**plan.restored(Kind.EDGE), **moved}))
    writer.restore_kept(
        {kept_id: image["text"] for kept_id, image in plan.restored(Kind.KEPT).items()}
    )


def _split_edges(plan: _Plan) -> tuple[dict[int, Image], dict[int, Image]]:
    """Return the changed edges that stay where they are, and those that move back."""
    stay: dict[int, Image] = {}
    move: dict[int, Image] = {}
    for edge_id, target in plan.changed(Kind.EDGE).items():
        present = plan.present[Kind.EDGE][edge_id]
        is_same = present is not None and _triple(present) == _triple(target)
        (stay if is_same else move)[edge_id] = target
    return stay, move


def _revision(plan: _Plan, kind: Kind, item_id: int, target: Image) -> int:
    present = plan.present[kind][item_id]
    return int((present or target)["revision"]) + 1


def _node_states(writer: Writer, plan: _Plan, targets: Mapping[int, Image]) -> dict[int, NodeState]:
    return {
        node_id: NodeState(
            Node(image["name"], image["type"], tuple(image["metadata"])),
            compact(image["typed"]) if image.get("typed") else None,
            extra_text(image.get("extra", {})),
            image["created_at"],
            writer.entry.now,
            _revision(plan, Kind.NODE, node_id, image),
        )
        for node_id, image in targets.items()
    }


def _edge_states(plan: _Plan, targets: Mapping[int, Image]) -> dict[int, EdgeState]:
    return {
        edge_id: EdgeState(
            image["from"],
            image["to"],
            image["type"],
            image["weight"],
            image.get("property"),
            extra_text(image.get("extra", {})),
            image["created_at"],
            _revision(plan, Kind.EDGE, edge_id, image),
        )
        for edge_id, image in targets.items()
    }
