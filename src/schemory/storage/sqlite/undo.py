"""Reversing one committed transaction, when nothing it wrote has changed since (storage.md)."""

from types import ModuleType

from schemory.errors import InvalidParamError, Problem, UndoConflictError
from schemory.storage.protocols import Commit
from schemory.storage.sqlite import ledger, undo_graph
from schemory.storage.sqlite.images import Image, Kind
from schemory.storage.sqlite.space import Space
from schemory.storage.sqlite.undo_plan import Plan, plan_changes, plan_insertions
from schemory.storage.sqlite.writers import Writers

_MOST_PROBLEMS = 20
_MEMORY = frozenset({Kind.ENTRY, Kind.TAG, Kind.LINK})


def undo(space: Space, writers: Writers, seq: int) -> Commit:
    """Reverse transaction `seq` inside the open one; returns what was reversed.

    Raises:
        UndoConflictError: Something it wrote has changed since; names what.
        InvalidParamError: No such transaction, or history does not reach back that far.
        UnsupportedError: It wrote memory, and the store was opened for the graph alone.
    """
    commit = _reachable(space, seq)
    plan = Plan(space, seq)
    plan_changes(plan, _label)
    plan_insertions(plan, _label)
    touches_memory = any(plan.turns[kind].targets for kind in _MEMORY)
    undo_graph.find_conflicts(plan)
    if touches_memory:
        _memory().find_conflicts(plan)
    if plan.problems:
        raise _conflict(seq, plan.problems)
    undo_graph.apply(writers, plan)
    if touches_memory:
        _memory().apply(writers.memory, plan, writers.entry.now)
    return commit


def _label(plan: Plan, kind: Kind, image: Image | None) -> str:
    label = _memory().label if kind in _MEMORY else undo_graph.label
    return label(plan, kind, image)


def _memory() -> ModuleType:
    from schemory.storage.sqlite import undo_memory  # noqa: PLC0415 (most stores start without)

    return undo_memory


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
    return InvalidParamError.at(
        "$.seq", message, headline=f"It cannot be undone: {message}", context={"newest": newest}
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
