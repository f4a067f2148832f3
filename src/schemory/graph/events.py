"""The event bus: who listens to what, and what a listener's failure means (G§8.1, graph.md §6)."""

import threading
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from schemory.errors import VetoedError
from schemory.model.events import Before, Event

E = TypeVar("E", bound=Event)
Listener: TypeAlias = Callable[[Any], object]
Unsubscribe: TypeAlias = Callable[[], None]


class EventBus:
    """Tells each event to its listeners, in the order in which they subscribed.

    Events are addressed by class or by name. Listeners notify; what must not be lost (ledger,
    audit) is written by the services inside the transaction, never by a listener.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[str, tuple[tuple[Listener, Listener], ...]] = {}

    def subscribe(self, event: type[E] | str, listener: Callable[[E], object]) -> Unsubscribe:
        """Call `listener` at each such event; returns what ends exactly this subscription."""
        return self._add(_name_of(event), cast("Listener", listener), cast("Listener", listener))

    def once(self, event: type[E] | str, listener: Callable[[E], object]) -> Unsubscribe:
        """Call `listener` at the next such event only; returns what ends the subscription."""
        name = _name_of(event)

        def call_and_forget(told: E) -> None:
            if forget():
                listener(told)

        entry = (cast("Listener", listener), cast("Listener", call_and_forget))

        def forget() -> bool:
            return self._remove(name, entry)

        self._append(name, entry)

        def unsubscribe() -> None:
            forget()

        return unsubscribe

    def off(self, event: type[E] | str, listener: Callable[[E], object]) -> bool:
        """End the first subscription of `listener`; says whether there was one."""
        name = _name_of(event)
        with self._lock:
            entries = self._listeners.get(name, ())
            found = next((entry for entry in entries if entry[0] == listener), None)
        return found is not None and self._remove(name, found)

    def remove_all(self, event: type[Event] | str | None = None) -> None:
        """End all subscriptions, or all to one event."""
        with self._lock:
            if event is None:
                self._listeners.clear()
            else:
                self._listeners.pop(_name_of(event), None)

    def has_listeners(self, event: type[Event] | str) -> bool:
        """Whether anyone listens; lets a caller spare building a payload."""
        return bool(self._listeners.get(_name_of(event)))

    def emit(self, event: Event) -> bool:
        """Tell `event` now; says whether anyone listened.

        Raises:
            VetoedError: A listener of a `Before` event raised; carries its message. The listeners
                after it are not asked any more.
        """
        entries = self._listeners.get(event.name, ())
        for _, call in entries:
            self._tell(call, event)
        return bool(entries)

    def _tell(self, call: Listener, event: Event) -> None:
        try:
            call(event)
        except Exception as error:
            if isinstance(event, Before):
                raise VetoedError(
                    str(error) or f"a listener refused {event.name}", context={"event": event.name}
                ) from error
            # Only kinds and places: a listener's message may hold stored content.
            import logging  # noqa: PLC0415 (hardly ever needed, and slow to import)

            log = logging.getLogger(__name__)
            log.warning("a listener of %s failed: %s", event.name, type(error).__name__)

    def _add(self, name: str, listener: Listener, call: Listener) -> Unsubscribe:
        entry = (listener, call)
        self._append(name, entry)

        def unsubscribe() -> None:
            self._remove(name, entry)

        return unsubscribe

    def _append(self, name: str, entry: tuple[Listener, Listener]) -> None:
        with self._lock:
            self._listeners[name] = (*self._listeners.get(name, ()), entry)

    def _remove(self, name: str, entry: tuple[Listener, Listener]) -> bool:
        with self._lock:
            before = self._listeners.get(name, ())
            after = tuple(kept for kept in before if kept is not entry)
            self._listeners[name] = after
            return len(after) < len(before)


def _name_of(event: type[Event] | str) -> str:
    return event if isinstance(event, str) else event.name
