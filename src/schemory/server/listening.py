"""What one client wants to hear of: changed lists, and resources that it watches."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial

from schemory.errors import SchemoryError
from schemory.hints import TYPE_CHECKING, cast
from schemory.server import jsonrpc
from schemory.server.extras import Answer, Extras, rpc_error
from schemory.server.jsonrpc import Id, Object, RpcError
from schemory.server.requests import Asked, Method, Send, Submit
from schemory.server.shapes import SUBSCRIPTION_KEY
from schemory.server.watching import Watching

if TYPE_CHECKING:
    from typing import Final

LISTEN: Final = "subscriptions/listen"
_MAX_SUBSCRIPTIONS: Final = 1024
_TOOLS_CHANGED: Final = "notifications/tools/list_changed"
_LISTS_CHANGED: Final = {
    "toolsListChanged": _TOOLS_CHANGED,
    # Each schema is a resource as well as tools.
    "resourcesListChanged": "notifications/resources/list_changed",
}
_HEARD: Final = (
    "toolsListChanged",
    "promptsListChanged",
    "resourcesListChanged",
    "resourceSubscriptions",
)


class Listening:
    """Who is told of what; safe to share by threads.

    Attributes:
        hears_unasked: Whether the client shook hands, and so is told of tools without listening.
    """

    def __init__(self, extras: Extras | None, submit: Submit, send: Send) -> None:
        self.hears_unasked = False
        self._extras = extras
        self._send = send
        self._watching = Watching(extras, submit, self._tell_change) if extras else None
        self._lock = threading.Lock()
        self._listeners: dict[Id, Object] = {}

    def methods(self) -> dict[str, Method]:
        """Return what is answered beside tools, by name."""
        extras = self._extras
        if extras is None:
            return {LISTEN: Method(self._listen)}
        return {
            LISTEN: Method(self._listen, is_long=True),
            "resources/subscribe": Method(self._subscribe, is_long=True),
            "resources/unsubscribe": Method(self._unsubscribe, is_long=True),
            **{
                name: Method(
                    partial(_extra, extras.methods[name]),
                    is_long=True,
                    is_cacheable=name in extras.cacheable,
                )
                for name in extras.methods
            },
        }

    def announce_tools(self) -> None:
        """Tell the client that the tool list has changed, if it wants to hear of it."""
        with self._lock:
            told = [
                (key, name)
                for key, wants in self._listeners.items()
                for wanted, name in _LISTS_CHANGED.items()
                if wanted in wants
            ]
        if self.hears_unasked:
            self._send(jsonrpc.notification_of(_TOOLS_CHANGED))
        for key, name in told:
            self._send(jsonrpc.notification_of(name, {"_meta": {SUBSCRIPTION_KEY: key}}))

    def look(self) -> None:
        """Look soon whether what is watched has changed."""
        if self._watching is not None:
            self._watching.look()

    def forget(self, asked: Asked) -> None:
        """Stop telling of what a listening request wanted."""
        with self._lock:
            is_known = self._listeners.pop(asked.id, None) is not None
        if is_known and self._watching is not None:
            self._watching.remove(asked.id)

    def close(self) -> None:
        """Stop looking at what is watched."""
        if self._watching is not None:
            self._watching.close()

    def _listen(self, asked: Asked) -> None:
        """Begin to tell a client of the newest era what changes; ends only when it gives up."""
        wanted = cast("Object", asked.params["notifications"])
        uris = cast("list[str]", wanted.get("resourceSubscriptions") or [])
        if uris:
            self._watch(asked, asked.id, uris)
        honoured: Object = {name: wanted[name] for name in _HEARD if wanted.get(name)}
        with self._lock:
            if len(self._listeners) >= _MAX_SUBSCRIPTIONS:
                raise RpcError(jsonrpc.INTERNAL_ERROR, "Subscription limit reached")
            self._listeners[asked.id] = honoured
        if asked.is_cancelled():  # meanwhile, so that nobody else lets go of it
            self.forget(asked)
            return
        params: Object = {"_meta": {SUBSCRIPTION_KEY: asked.id}, "notifications": honoured}
        asked.tell(jsonrpc.notification_of("notifications/subscriptions/acknowledged", params))

    def _subscribe(self, asked: Asked) -> Object:
        self._watch(asked, None, [str(asked.params["uri"])])
        return {}

    def _unsubscribe(self, asked: Asked) -> Object:
        if self._watching is not None:
            self._watching.remove(None, str(asked.params["uri"]))
        return {}

    def _watch(self, asked: Asked, key: Id | None, uris: list[str]) -> None:
        if self._watching is not None:
            with _told("resources/subscribe", asked):
                self._watching.add(key, uris, asked.caller)

    def _tell_change(self, uri: str, key: Id | None) -> None:
        params: Object = {"uri": uri}
        if key is not None:
            params["_meta"] = {SUBSCRIPTION_KEY: key}
        self._send(jsonrpc.notification_of("notifications/resources/updated", params))


def _extra(answer: Answer, asked: Asked) -> Object:
    with _told(asked.method, asked):
        return dict(answer(asked.params, asked.caller))


@contextmanager
def _told(method: str, asked: Asked) -> Generator[None]:
    """Turn an error of the memory's into one of the protocol's."""
    try:
        yield
    except SchemoryError as error:
        told = rpc_error(error, method=method, params=asked.params, is_modern=asked.is_modern)
        raise RpcError(*told) from None
