"""One client's conversation in either protocol era: which answer belongs to which request.

No rule of the memory lives here. A method is a row in a table: what computes its result, and
whether that may take long.
"""

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple, TypeAlias, cast

import schemory
from schemory.errors import SchemoryError, ToolNotFoundError
from schemory.model.jsonvalue import Json
from schemory.server import jsonrpc
from schemory.server.extras import Answer, Extras, rpc_error
from schemory.server.jsonrpc import Id, Notification, Object, Request, RpcError
from schemory.server.logs import log_internal_error
from schemory.server.shapes import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    SERVER_KEY,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    has_envelope,
    is_implementation,
    is_of_era,
    problems_in,
)
from schemory.server.watching import Watching
from schemory.tools.registry import Caller
from schemory.tools.toolbox import Toolbox

SERVER_INFO: Final[Object] = {
    "name": "schemory",
    "title": "Schemory",
    "version": schemory.__version__,
}

_MAX_CLIENT_CHARS: Final = 200
_MAX_SUBSCRIPTIONS: Final = 1024
_CALL: Final = "tools/call"
_LISTEN: Final = "subscriptions/listen"
_TOOLS_CHANGED: Final = "notifications/tools/list_changed"
_LISTS_CHANGED: Final = {
    "toolsListChanged": _TOOLS_CHANGED,
    # Each schema is a resource as well as tools.
    "resourcesListChanged": "notifications/resources/list_changed",
}
_FRESHNESS: Final[Object] = {"ttlMs": 0, "cacheScope": "private"}
"""Any time to live above 0 would leave clients with tools of schemas that have changed."""

Send: TypeAlias = Callable[[Object], None]
Submit: TypeAlias = Callable[[Callable[[], None]], None]


class Asked:
    """A request under way, and the only way to answer it: at most once.

    Attributes:
        caller: Who asks, as the store notes it.
    """

    def __init__(
        self, request: Request, *, is_modern: bool, caller: Caller, conversation: "Conversation"
    ) -> None:
        self.id: Id = request.id
        self.params: Object = request.params or {}
        self.is_modern = is_modern
        self.caller = caller
        self.never_ends = request.method == _LISTEN
        self._conversation = conversation
        self._cancelled = threading.Event()
        self._token = _progress_token(self.params)

    @property
    def is_cancelled(self) -> Callable[[], bool]:
        """Asks whether the client gave up."""
        return self._cancelled.is_set

    def cancel(self) -> None:
        """Have the work told that nobody waits for it any more."""
        self._cancelled.set()

    def note_progress(self, done: float, total: float | None, message: str) -> None:
        """Tell the client of a step, if it wants to hear of steps and still waits."""
        if self._token is None:
            return
        params: Object = {"progressToken": self._token, "progress": done}
        if total is not None:
            params["total"] = total
        if message:
            params["message"] = message
        told = jsonrpc.notification_of("notifications/progress", params)
        self._conversation.send_for(self, told)


class Method(NamedTuple):
    """How a method is answered.

    Attributes:
        run: Computes the result; RpcError for anything else.
        is_long: Whether it runs in the lane, one call after the other.
        is_cacheable: Whether the newest era wants to know how long the result stays fresh.
    """

    run: Callable[[Asked], Object | None]
    is_long: bool = False
    is_cacheable: bool = False


class Conversation:
    """What is said between one client and the tools; fed by one thread, answered from several."""

    def __init__(
        self,
        toolbox: Toolbox,
        send: Send,
        submit: Submit,
        *,
        transport: str,
        extras: Extras | None = None,
        submit_long: Submit | None = None,
    ) -> None:
        self._toolbox = toolbox
        self._send = send
        self._submit = submit
        self._submit_long = submit_long or submit
        self._extras = extras
        self._watching = Watching(extras, submit, self._tell_change) if extras else None
        self._transport = transport
        self._lock = threading.Lock()
        self._open: dict[Asked, None] = {}  # not by id: a client may use one again too early
        self._is_modern: bool | None = None
        self._has_greeted = False
        self._client: Object | None = None
        self._listeners: dict[Id, Object] = {}
        self._methods: Mapping[str, Method] = {
            "ping": Method(_pong),
            "server/discover": Method(self._discover, is_cacheable=True),
            "tools/list": Method(self._list_tools, is_cacheable=True),
            _CALL: Method(self._call_tool, is_long=True),
            _LISTEN: Method(self._listen, is_long=extras is not None),
            **(self._extra_methods(extras) if extras else {}),
        }

    @property
    def is_waited_for(self) -> bool:
        """Whether the client still waits for an answer that will come."""
        with self._lock:
            return any(not asked.never_ends for asked in self._open)

    def take(self, line: bytes | None) -> None:
        """Answer a line from the client, now or when its work is done."""
        message = jsonrpc.parse_line(line)
        if isinstance(message, jsonrpc.Fault):
            self._send(jsonrpc.error_of(*message))
        elif isinstance(message, Request):
            self._take_request(message)
        elif isinstance(message, Notification):
            self._take_notification(message)

    def announce_tools(self) -> None:
        """Tell the client that the tool list has changed, if it wants to hear of it."""
        with self._lock:
            told = [
                (key, name)
                for key, wants in self._listeners.items()
                for wanted, name in _LISTS_CHANGED.items()
                if wanted in wants
            ]
            is_told_unasked = self._has_greeted and not self._is_modern
        if is_told_unasked:
            self._send(jsonrpc.notification_of(_TOOLS_CHANGED))
        for key, name in told:
            self._send(jsonrpc.notification_of(name, {"_meta": {SUBSCRIPTION_KEY: key}}))

    def close(self) -> None:
        """Answer what is still open with an error, and have its work told to stop."""
        with self._lock:
            left = tuple(self._open)
        if self._watching is not None:
            self._watching.close()
        for asked in left:
            message = jsonrpc.error_of(asked.id, jsonrpc.CONNECTION_CLOSED, "Connection closed")
            self._settle(asked, message)
            asked.cancel()

    def send_for(self, asked: Asked, message: Object) -> None:
        """Send something about a request, unless it has been answered or given up."""
        with self._lock:
            if asked in self._open:
                self._send(message)

    def _take_request(self, request: Request) -> None:
        if self._is_modern is None:
            self._is_modern = request.method != "initialize" and has_envelope(request.params)
        asked = Asked(request, is_modern=self._is_modern, caller=self._caller(), conversation=self)
        try:
            if request.method == "initialize":
                self._send(jsonrpc.result_of(request.id, self._initialize(request)))
                return
            method = self._method_for(request)
        except RpcError as error:
            self._send(_error_message(request.id, error))
            return
        if asked.is_modern:
            asked.caller = self._caller(_envelope(request).get(CLIENT_KEY))
        with self._lock:
            self._open[asked] = None
        if method.is_long:
            is_for_long = request.method == _CALL and self._toolbox.is_long(
                str(asked.params["name"])
            )
            submit = self._submit_long if is_for_long else self._submit
            submit(lambda: self._perform(method, asked))
        else:
            self._perform(method, asked)

    def _method_for(self, request: Request) -> Method:
        """Return how a request is to be answered.

        Raises:
            RpcError: It is not to be answered.
        """
        is_modern = bool(self._is_modern)
        if is_modern:
            _check_envelope(request)
        elif has_envelope(request.params):
            told = (
                "This connection began with a handshake; requests with an envelope of the newest"
                " protocol version are not served on it"
            )
            raise RpcError(jsonrpc.INVALID_REQUEST, told)
        _check_shape(request, is_modern=is_modern)
        method = self._methods.get(request.method)
        if method is None:
            raise _not_found(request.method)
        if not is_modern and not self._is_let_in() and request.method != "ping":
            raise RpcError(jsonrpc.INVALID_PARAMS, "Invalid request parameters: initialize first")
        return method

    def _is_let_in(self) -> bool:
        return self._client is not None or self._has_greeted

    def _perform(self, method: Method, asked: Asked) -> None:
        if asked.is_cancelled():
            return
        try:
            result = method.run(asked)
            if result is None:
                return
            message = jsonrpc.result_of(asked.id, _finished(result, method, asked))
        except RpcError as error:
            message = _error_message(asked.id, error)
        except Exception as fault:  # noqa: BLE001 (the last place before the wire)
            message = _error_message(asked.id, _internal_error(fault))
        self._settle(asked, message)

    def _settle(self, asked: Asked, message: Object) -> None:
        with self._lock:
            if asked not in self._open:
                return
            del self._open[asked]
            self._forget(asked)
            self._send(message)

    def _forget(self, asked: Asked) -> None:
        if self._listeners.pop(asked.id, None) is not None and self._watching is not None:
            self._watching.remove(asked.id)

    def _take_notification(self, notification: Notification) -> None:
        params = notification.params or {}
        if notification.method == "notifications/cancelled":
            number = params.get("requestId")
            if jsonrpc.is_id(number):
                self._cancel(cast("Id", number))
        elif notification.method == "notifications/initialized" and not self._is_modern:
            with self._lock:
                self._has_greeted = isinstance(params.get("_meta", {}), dict)

    def _cancel(self, number: Id) -> None:
        with self._lock:
            for asked in [each for each in self._open if _key(each.id) == _key(number)]:
                del self._open[asked]
                self._forget(asked)
                asked.cancel()

    def _caller(self, client: object = None) -> Caller:
        told = client if client is not None else self._client
        if not is_implementation(told):
            return Caller(client=self._transport)
        known = cast("Object", told)
        name = "".join(c for c in f"{known['name']}/{known['version']}" if c.isprintable())
        return Caller(author=name[:_MAX_CLIENT_CHARS], client=self._transport)

    def _initialize(self, request: Request) -> Object:
        params = request.params or {}
        if self._is_modern:
            asked_for = params.get("protocolVersion")
            data: Object = {"supported": list(MODERN_VERSIONS)}
            if isinstance(asked_for, str):
                data["requested"] = asked_for
            told = "This connection serves protocol 2026-07-28, which has no handshake"
            raise RpcError(jsonrpc.UNSUPPORTED_VERSION, told, data)
        _check_shape(request, is_modern=False)
        wanted = params.get("protocolVersion")
        self._client = cast("Object", params["clientInfo"])
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": self._capabilities(),
            "serverInfo": dict(SERVER_INFO),
            "instructions": self._toolbox.instructions,
        }

    def _capabilities(self) -> Object:
        is_modern = bool(self._is_modern)
        more = self._extras.capabilities(is_modern=is_modern) if self._extras else {}
        return {"tools": {"listChanged": True}, **more}

    def _discover(self, asked: Asked) -> Object:
        del asked
        return {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": self._capabilities(),
            "instructions": self._toolbox.instructions,
        }

    def _list_tools(self, asked: Asked) -> Object:
        if asked.params.get("cursor") is not None:
            told = "The tool list has one page; there is no such cursor."
            raise RpcError(jsonrpc.INVALID_PARAMS, told)
        return {"tools": cast("list[Json]", self._toolbox.list_tools())}

    def _call_tool(self, asked: Asked) -> Object:
        try:
            reply = self._toolbox.call(
                str(asked.params["name"]),
                asked.params.get("arguments"),
                asked.caller,
                progress=asked.note_progress,
                is_cancelled=asked.is_cancelled,
            )
        except ToolNotFoundError as error:
            near = [name for problem in error.problems for name in problem.nearest]
            data: Object = {"nearest": [*near], "suggestions": [*error.suggestions]}
            raise RpcError(jsonrpc.INVALID_PARAMS, error.message, data) from None
        if self._watching is not None and self._toolbox.writes(str(asked.params["name"])):
            self._watching.look()
        return {
            "content": [{"type": "text", "text": reply.text}],
            "structuredContent": dict(reply.structured),
            "isError": reply.is_error,
        }

    def _listen(self, asked: Asked) -> None:
        """Begin to tell a client of the newest era what changes; ends only when it gives up."""
        wanted = cast("Object", asked.params["notifications"])
        uris = cast("list[str]", wanted.get("resourceSubscriptions") or [])
        if uris and self._watching is not None:
            self._watch(asked, asked.id, uris)
        honoured: Object = {name: wanted[name] for name in _HEARD if wanted.get(name)}
        with self._lock:
            if len(self._listeners) >= _MAX_SUBSCRIPTIONS:
                raise RpcError(jsonrpc.INTERNAL_ERROR, "Subscription limit reached")
            self._listeners[asked.id] = honoured
        params: Object = {"_meta": {SUBSCRIPTION_KEY: asked.id}, "notifications": honoured}
        told = jsonrpc.notification_of("notifications/subscriptions/acknowledged", params)
        self.send_for(asked, told)

    def _extra_methods(self, extras: Extras) -> dict[str, Method]:
        methods = {
            name: Method(
                partial(self._extra, extras.methods[name], name),
                is_long=True,
                is_cacheable=name in extras.cacheable,
            )
            for name in extras.methods
        }
        methods["resources/subscribe"] = Method(self._subscribe, is_long=True)
        methods["resources/unsubscribe"] = Method(self._unsubscribe, is_long=True)
        return methods

    def _extra(self, answer: Answer, name: str, asked: Asked) -> Object:
        with _told(name, asked):
            return dict(answer(asked.params, asked.caller))

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


@contextmanager
def _told(method: str, asked: Asked) -> Generator[None]:
    """Turn an error of the memory's into one of the protocol's."""
    try:
        yield
    except SchemoryError as error:
        raise RpcError(*rpc_error(error, method=method, is_modern=asked.is_modern)) from None


_HEARD: Final = (
    "toolsListChanged",
    "promptsListChanged",
    "resourcesListChanged",
    "resourceSubscriptions",
)


def _pong(asked: Asked) -> Object:
    del asked
    return {}


def _key(number: Id) -> Id:
    """Return the one form of an id: clients echo 7 as "7" when they cancel."""
    try:
        return int(number)
    except ValueError:
        return number


def _progress_token(params: Object) -> Id | None:
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return cast("Id", token) if jsonrpc.is_id(token) else None


def _envelope(request: Request) -> Object:
    meta = (request.params or {}).get("_meta")
    return meta if isinstance(meta, dict) else {}


def _check_envelope(request: Request) -> None:
    meta = _envelope(request)
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        told = f"params._meta lacks what each request of this era carries: {', '.join(missing)}"
        raise RpcError(jsonrpc.INVALID_PARAMS, told)
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise RpcError(jsonrpc.INVALID_PARAMS, f"{VERSION_KEY} must be a text")
    if version not in MODERN_VERSIONS:
        data: Object = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise RpcError(jsonrpc.UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _check_shape(request: Request, *, is_modern: bool) -> None:
    if not is_of_era(request.method, is_modern=is_modern):
        raise _not_found(request.method)
    problems = problems_in(request.method, request.params, is_modern=is_modern)
    if problems:
        first = f"{problems[0]['path']} {problems[0]['problem']}"
        told = f"Invalid parameters for {request.method}: {first}"
        raise RpcError(jsonrpc.INVALID_PARAMS, told, {"problems": [*problems]})


def _finished(result: Object, method: Method, asked: Asked) -> Object:
    """Return a result with what only the newest era adds to it."""
    if not asked.is_modern:
        return result
    freshness = _FRESHNESS if method.is_cacheable else {}
    stamp: Object = {"_meta": {SERVER_KEY: dict(SERVER_INFO)}}
    return {"resultType": "complete", **freshness, **result, **stamp}


def _error_message(number: Id, error: RpcError) -> Object:
    return jsonrpc.error_of(number, error.code, error.message, error.data)


def _not_found(method: str) -> RpcError:
    return RpcError(jsonrpc.METHOD_NOT_FOUND, "Method not found", method)


def _internal_error(fault: Exception) -> RpcError:
    import uuid  # noqa: PLC0415 (a start-up should not pay for failures)

    error_id = uuid.uuid4().hex[:12]
    log_internal_error(error_id, fault)
    told = f"Internal error {error_id}; the server's log has its place."
    return RpcError(jsonrpc.INTERNAL_ERROR, told)
