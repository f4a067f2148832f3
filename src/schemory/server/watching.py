"""Tells one client of changes of the addresses it watches; for adapters without an event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from schemory.hints import TYPE_CHECKING
from schemory.server.extras import POLL_SECONDS, Extras
from schemory.server.jsonrpc import Id
from schemory.tools.registry import Caller

if TYPE_CHECKING:
    from typing import TypeAlias

    from schemory.tools.resources import Watched

Key: TypeAlias = "Id | None"
"""Who watches: a listening request of the newest era, None = the client that shook hands."""


class Watching:
    """Who watches what; looked at in the lane every few seconds, and after calls that write."""

    def __init__(
        self,
        extras: Extras,
        submit: Callable[[Callable[[], None]], None],
        notify: Callable[[str, Key], None],
    ) -> None:
        self._extras = extras
        self._submit = submit
        self._notify = notify
        self._lock = threading.Lock()
        self._watched: dict[Key, Watched] = {}
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, key: Key, uris: Iterable[str], caller: Caller) -> None:
        """Watch addresses for `key`; called in the lane.

        Raises:
            NotFoundError: One has none of the forms.
        """
        with self._lock:
            watched = self._watched.get(key) or self._extras.watched(caller)
        watched.add(*uris)
        with self._lock:
            self._watched[key] = watched
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._poll, name="schemory-watching", daemon=True
                )
                self._thread.start()

    def remove(self, key: Key, uri: str | None = None) -> None:
        """Stop watching an address for `key`, or all of them."""
        with self._lock:
            if uri is None:
                self._watched.pop(key, None)
            elif key in self._watched:
                self._watched[key].remove(uri)

    def look(self) -> None:
        """Look soon whether something has changed."""
        with self._lock:
            is_needed = any(self._watched.values())
        if is_needed:
            self._submit(self._tell)

    def close(self) -> None:
        """Stop looking."""
        self._closed.set()

    def _poll(self) -> None:
        while not self._closed.wait(POLL_SECONDS):
            self.look()

    def _tell(self) -> None:
        with self._lock:
            watched = list(self._watched.items())
        for key, each in watched:
            for uri in each.changed():
                self._notify(uri, key)
