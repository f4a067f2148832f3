"""The seed's transactions by hand (G§4.6)."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from schemory.errors import ConflictError
from schemory.graph.service import KnowledgeGraph

T = TypeVar("T")


class _RolledBackError(Exception):
    """Leaves a transaction without committing it."""


class TransactionManager:
    """Begin, commit and roll back by hand, with compensations for things outside (G§4.6)."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self._open: AbstractContextManager[None] | None = None

    def begin_transaction(self) -> None:
        """Start a transaction; it belongs to this thread.

        Raises:
            ConflictError: One is open already.
        """
        if self._open is not None:
            raise ConflictError("a transaction is open already")
        opened = self._graph.transaction()
        opened.__enter__()
        self._open = opened

    def add_rollback_action(self, action: Callable[[], None], description: str = "") -> None:
        """Call `action` if the transaction is rolled back; the last one registered runs first.

        Raises:
            ConflictError: No transaction is open.
        """
        del description
        self._graph.on_rollback(action)

    def commit(self) -> None:
        """Make everything since the beginning permanent.

        Raises:
            ConflictError: No transaction is open.
        """
        self._leave().__exit__(None, None, None)

    def rollback(self) -> None:
        """Undo everything since the beginning and run the compensations.

        Raises:
            ConflictError: No transaction is open.
            ExceptionGroup: Compensations failed; all of them were tried.
        """
        try:
            self._leave().__exit__(_RolledBackError, _RolledBackError(), None)
        except ExceptionGroup as failures:
            _, real = failures.split(_RolledBackError)
            raise (real or failures) from None

    def _leave(self) -> AbstractContextManager[None]:
        opened, self._open = self._open, None
        if opened is None:
            raise ConflictError("no transaction is open")
        return opened

    def with_transaction(self, operation: Callable[[], T]) -> T:
        """Return the operation's result after committing; roll back and raise if it fails."""
        with self._graph.transaction():
            return operation()

    def is_in_transaction(self) -> bool:
        """Whether this thread is inside a transaction."""
        return self._graph.is_in_transaction()
