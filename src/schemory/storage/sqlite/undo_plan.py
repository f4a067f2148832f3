"""What has to be done to undo a transaction, and what stands in the way; for both halves.

States are compared by content, not by revision or ledger number: something that was changed and
changed back is as it was.
"""

import json
from collections.abc import Callable
from typing import TypeAlias

from schemory.errors import Problem, UndoConflictError
from schemory.model.frozen import dataclass, field
from schemory.storage.sqlite.images import (
    Image,
    Kind,
    content,
    current_image,
    image_after,
    present_marks,
)
from schemory.storage.sqlite.space import Space

_THERE: Image = {}


@dataclass(slots=True)
class Turn:
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


class Plan:
    """The way back from one transaction, and what stands in it."""

    def __init__(self, space: Space, seq: int) -> None:
        self.space = space
        self.seq = seq
        self.problems: list[Problem] = []
        self.turns = {kind: Turn() for kind in Kind}

    def object(self, message: str) -> None:
        """Note something that has changed since."""
        self.problems.append(
            Problem(code=UndoConflictError.code, path="$.seq", message=f"{message} since")
        )


Label: TypeAlias = Callable[[Plan, Kind, Image | None], str]
"""What to call an item of a kind, given one of its states."""


def plan_changes(plan: Plan, label: Label) -> None:
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
        _compare(plan, kind, item_id, label)


def plan_insertions(plan: Plan, label: Label) -> None:
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
            _compare(plan, Kind(word), item_id, label)


def _compare(plan: Plan, kind: Kind, item_id: int, label: Label) -> None:
    now = current_image(plan.space, kind, item_id)
    then = image_after(plan.space, kind, item_id, plan.seq)
    if content(kind, now) != content(kind, then):
        fate = "has gone" if now is None else "has come back" if then is None else "has changed"
        plan.object(f"{label(plan, kind, now or then)} {fate}")


def next_revision(turn: Turn, item_id: int, target: Image) -> int:
    """Return a revision that this item never had, so that nobody takes it for an older state."""
    return int((turn.present[item_id] or target)["revision"]) + 1
