"""The unit of work: one store transaction of one thread, and the events that wait for its end."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

from schemory.errors import ConflictError
from schemory.graph.events import EventBus
from schemory.graph.results import Author
from schemory.model.events import (
    AfterCommit,
    AfterRollback,
    BeforeBeginTransaction,
    BeforeRollback,
    Event,
)
from schemory.model.frozen import dataclass, field
from schemory.storage.protocols import GraphReader, GraphStore, GraphTransaction, WriteContext


@dataclass(slots=True)
class Unit:
    """An open transaction.

    Attributes:
        pending: `after` events, told in order when the outermost transaction has committed.
        writes: Grows with each verb that wrote, so that a verb notices what a listener did.
    """

    tx: GraphTransaction
    pending: list[Event] = field(default_factory=list[Event])
    writes: int = 0


class Session(threading.local):
    """The current thread's open transaction; shared by all graphs over one store."""

    current: Unit | None = None


class Units:
    """Opens units of work on one space; what is nested in a thread's open unit is a savepoint."""

    def __init__(self, store: GraphStore, space: str, events: EventBus, session: Session) -> None:
        self._store = store
        self._space = space
        self._events = events
        self._session = session

    def current(self) -> Unit | None:
        """Return this thread's open unit, if any.

        Raises:
            ConflictError: It is open on another space; one transaction touches one space.
        """
        unit = self._session.current
        if unit is not None and unit.tx.space != self._space:
            raise ConflictError(
                f"a transaction on space {unit.tx.space!r} is open in this thread; "
                "one transaction touches one space",
                context={"open": unit.tx.space, "wanted": self._space},
                suggestions=["end the open transaction first"],
            )
        return unit

    def require(self) -> Unit:
        """Return this thread's open unit.

        Raises:
            ConflictError: None is open, or on another space.
        """
        unit = self.current()
        if unit is None:
            raise ConflictError(
                "no transaction is open in this thread",
                suggestions=["open one with `transaction()`"],
            )
        return unit

    @contextmanager
    def open(self, by: Author, operation: str) -> Generator[Unit]:
        """Open the outermost transaction, or a savepoint inside the thread's open one."""
        unit = self.current()
        if unit is None:
            with self._outermost(by, operation) as unit:
                yield unit
            return
        told = len(unit.pending)
        try:
            with unit.tx.savepoint():
                yield unit
        except BaseException:
            del unit.pending[told:]
            unit.writes += 1
            raise

    @contextmanager
    def _outermost(self, by: Author, operation: str) -> Generator[Unit]:
        self._events.emit(BeforeBeginTransaction())
        context = WriteContext(operation=operation, author=by.author, client=by.client)
        try:
            with self._store.transaction(self._space, context) as tx:
                unit = Unit(tx)
                with self._entered(unit):
                    yield unit
        except BaseException:
            self._events.emit(AfterRollback())
            raise
        for event in unit.pending:
            self._events.emit(event)
        self._events.emit(AfterCommit())

    @contextmanager
    def _entered(self, unit: Unit) -> Generator[None]:
        self._session.current = unit
        try:
            yield
        except BaseException:
            self._events.emit(BeforeRollback())
            raise
        finally:
            self._session.current = None

    @contextmanager
    def read(self) -> Generator[GraphReader]:
        """Open a snapshot; inside an open unit it is that, so that own writes are seen."""
        unit = self.current()
        if unit is not None:
            yield unit.tx
            return
        with self._store.read(self._space) as reader:
            yield reader

    @contextmanager
    def pretend(self) -> Generator[Unit]:
        """Open a unit over a snapshot: good for plans, which only read."""
        with self.read() as reader:
            yield Unit(cast("GraphTransaction", reader))
