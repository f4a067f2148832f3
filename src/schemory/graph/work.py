"""What a writing verb works with: the transaction, the schemas, and a place for its events."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from schemory.graph.events import EventBus
from schemory.graph.unit import Unit
from schemory.model.events import After, Before
from schemory.schemas.catalog import SchemaCatalog
from schemory.storage.protocols import GraphTransaction

Plan = TypeVar("Plan")


class RehearsedError(Exception):
    """A rehearsal got as far as the writing, so nothing speaks against the verb."""


class Work:
    """One verb inside a unit of work; in a rehearsal it is checked and then goes no further."""

    def __init__(
        self,
        unit: Unit,
        catalog: SchemaCatalog,
        events: EventBus,
        *,
        strict_types: bool,
        is_rehearsal: bool = False,
    ) -> None:
        self._unit = unit
        self._events = events
        self._is_rehearsal = is_rehearsal
        self.catalog = catalog
        self.strict_types = strict_types

    @property
    def tx(self) -> GraphTransaction:
        """The open store transaction."""
        return self._unit.tx

    def planned(
        self, make_plan: Callable[[], Plan], announce: Callable[[Plan], Iterable[Before]]
    ) -> Plan:
        """Return the checked plan after its `before` events were told.

        A listener may itself have written in this transaction; then the plan is made again, so that
        what is written was checked against what stands there.

        Raises:
            VetoedError: A listener refused.
            RehearsedError: This is a rehearsal, and the plan could be made.
        """
        plan = make_plan()
        if self._is_rehearsal:
            raise RehearsedError
        writes = self._unit.writes
        for event in announce(plan):
            self._events.emit(event)
        return plan if self._unit.writes == writes else make_plan()

    def done(self, *events: After) -> None:
        """Note that the verb has written; its `after` events wait for the commit."""
        self._unit.writes += 1
        self._unit.pending.extend(events)
