"""The seed's event emitter: by name, with plain data (G§8.1)."""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from schemory.graph.events import EventBus, Unsubscribe
from schemory.model.events import Before, Event
from schemory.model.frozen import dataclass

Listener: TypeAlias = Callable[[Any], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told(Event):
    """An event that a program tells under a name of its own."""

    name: str  # type: ignore[misc]  # the product's events have theirs in the class
    data: object

    def payload(self) -> dict[str, object]:
        return cast("dict[str, object]", self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToldBefore(_Told, Before):
    """The same where the name says that listeners may veto."""


class EventEmitter:
    """Publish and subscribe by name; listeners get the event's data (G§8.1)."""

    def __init__(self, bus: EventBus | None = None) -> None:
        self._bus = EventBus() if bus is None else bus
        self._own: list[tuple[str, Listener, Unsubscribe]] = []

    def on(self, event: str, listener: Listener) -> Unsubscribe:
        """Call `listener(data)` at each such event; returns what ends the subscription."""
        return self._keep(event, listener, self._bus.subscribe(event, _with_data(listener)))

    def once(self, event: str, listener: Listener) -> Unsubscribe:
        """Call `listener(data)` at the next such event only."""
        return self._keep(event, listener, self._bus.once(event, _with_data(listener)))

    def _keep(self, event: str, listener: Listener, end: Unsubscribe) -> Unsubscribe:
        entry = (event, listener, end)
        self._own.append(entry)

        def unsubscribe() -> None:
            end()
            self._own = [other for other in self._own if other is not entry]

        return unsubscribe

    def off(self, event: str, listener: Listener) -> None:
        """End all subscriptions of `listener` to the event."""
        for name, other, end in self._own:
            if name == event and other == listener:
                end()
        self._own = [own for own in self._own if own[:2] != (event, listener)]

    def emit(self, event: str, data: object = None) -> bool:
        """Tell `data` to all listeners; returns whether there were any."""
        kind = _ToldBefore if event.startswith("before") and event != "beforeRollback" else _Told
        return self._bus.emit(kind(name=event, data=data))

    def remove_all_listeners(self, event: str | None = None) -> None:
        """End all subscriptions, or all to one event."""
        self._bus.remove_all(event)
        self._own = [own for own in self._own if event is not None and own[0] != event]


def _with_data(listener: Listener) -> Callable[[Event], object]:
    return lambda event: listener(event.payload())
