"""One client's conversation in either protocol era: which answer belongs to which request.

No rule of the memory lives here. A method is a row in a table: what computes its result, and
whether that may take long.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

import schemory
from schemory.hints import TYPE_CHECKING, cast
from schemory.server import jsonrpc
from schemory.server.asking import ANSWER_SECONDS, Questions, can_ask
from schemory.server.calling import CALL, Calling, answers_in
from schemory.server.envelope import check_envelope, check_shape, envelope_of, not_found
from schemory.server.extras import Extras
from schemory.server.failing import log_internal_error
from schemory.server.jsonrpc import Batch, Fault, Id, Notification, Object, Request, RpcError
from schemory.server.listening import LISTEN, Listening
from schemory.server.requests import Answering, Asked, Method, SendLine, Submit
from schemory.server.shapes import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    SERVER_KEY,
    VERSION_KEY,
    has_envelope,
    is_implementation,
)
from schemory.tools.registry import Asking, Caller
from schemory.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from typing import Final

SERVER_INFO: Final[Object] = {
    "name": "schemory",
    "title": "Schemory",
    "version": schemory.__version__,
}

_MAX_CLIENT_CHARS: Final = 200
_FRESHNESS: Final[Object] = {"ttlMs": 0, "cacheScope": "private"}
"""Any time to live above 0 would leave clients with tools of schemas that have changed."""


class Conversation:
    """What is said between one client and the tools; fed by one thread, answered from several."""

    def __init__(
        self,
        toolbox: Toolbox,
        send: SendLine,
        submit: Submit,
        *,
        transport: str,
        extras: Extras | None = None,
        submit_long: Submit | None = None,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._toolbox = toolbox
        self._send = send
        self._submit = submit
        self._submit_long = submit_long or submit
        self._extras = extras
        self._transport = transport
        self._lock = threading.Lock()
        self._open: dict[Asked, None] = {}  # not by id: a client may use one again too early
        self._is_modern: bool | None = None
        self._has_greeted = False
        self._client: Object | None = None
        self._client_capabilities: Object = {}
        self._version: str | None = None
        self._listening = Listening(extras, submit, send)
        self._questions = Questions(send, answer_seconds)
        calling = Calling(
            toolbox, self._questions, resume=self._start, after_write=self._listening.look
        )
        self._methods: Mapping[str, Method] = {
            "ping": Method(_pong),
            "server/discover": Method(self._discover, is_cacheable=True),
            **calling.methods(),
            **self._listening.methods(),
        }

    @property
    def is_waited_for(self) -> bool:
        """Whether the client still waits for an answer that will come."""
        with self._lock:
            return any(not asked.never_ends for asked in self._open)

    def take(self, line: bytes | None) -> None:
        """Answer a line from the client, now or when its work is done."""
        message = jsonrpc.parse_line(line)
        if isinstance(message, Batch):
            self._take_batch(message)
        elif message is not None:
            self._take_one(message, self._answer_alone)

    def announce_tools(self) -> None:
        """Tell the client that the tool list has changed, if it wants to hear of it."""
        self._listening.announce_tools()

    def end_input(self) -> None:
        """Take note that the client will say no more, so that nobody waits for its person."""
        self._questions.go_deaf()

    def close(self) -> None:
        """Answer what is still open with an error, and have its work told to stop."""
        with self._lock:
            left = tuple(self._open)
        self._listening.close()
        for asked in left:
            message = jsonrpc.error_of(asked.id, jsonrpc.CONNECTION_CLOSED, "Connection closed")
            self._settle(asked, message)
            asked.cancel()

    def _answer_alone(self, message: Object | None) -> None:
        if message is not None:
            self._send(message)

    def _take_batch(self, batch: Batch) -> None:
        from schemory.server.batches import (  # noqa: PLC0415 (one old version has them)
            Gathering,
            items_of,
            refusal,
        )

        told = refusal(self._version)
        if told:
            self._send(jsonrpc.error_of(None, jsonrpc.INVALID_REQUEST, told))
            return
        gathering: Gathering[Object] = Gathering(batch)

        def answer(message: Object | None) -> None:
            answers = gathering.add(message)
            if answers:
                self._send(answers)

        for item in items_of(batch):
            self._take_one(item, answer)

    def _take_one(self, message: jsonrpc.Message | Fault, answer: Answering) -> None:
        if isinstance(message, Fault):
            answer(message.answer())
        elif isinstance(message, Request):
            self._take_request(message, answer)
        elif isinstance(message, Notification):
            self._take_notification(message)
        else:
            self._questions.hear(message)

    def _take_request(self, request: Request, answer: Answering) -> None:
        if self._is_modern is None:
            self._is_modern = request.method != "initialize" and has_envelope(request.params)
        try:
            if request.method == "initialize":
                answer(jsonrpc.result_of(request.id, self._initialize(request)))
                return
            self._method_for(request)
        except RpcError as error:
            answer(_error_message(request.id, error))
            return
        asked = self._asked(request, answer)
        with self._lock:
            self._open[asked] = None
        self._start(asked)

    def _asked(self, request: Request, answer: Answering) -> Asked:
        """Return a request that will be answered, with what its client says of itself."""
        is_modern = bool(self._is_modern)
        told = envelope_of(request) if is_modern else {}
        asked = Asked(
            request,
            is_modern=is_modern,
            caller=self._caller(told.get(CLIENT_KEY)),
            answer=answer,
            tell=self._tell,
        )
        asked.never_ends = request.method == LISTEN
        version = told.get(VERSION_KEY) if is_modern else self._version
        capabilities = told.get(CAPABILITIES_KEY) if is_modern else self._client_capabilities
        if request.method == CALL and can_ask(cast("str | None", version), capabilities):
            asked.asking = answers_in(asked.params) if is_modern else Asking()
        return asked

    def _start(self, asked: Asked) -> None:
        """Have a request's work done, here or in a lane."""
        method = self._methods[asked.method]
        if not method.is_long:
            self._perform(method, asked)
            return
        is_for_long = asked.method == CALL and self._toolbox.is_long(str(asked.params["name"]))
        submit = self._submit_long if is_for_long else self._submit
        submit(lambda: self._perform(method, asked))

    def _method_for(self, request: Request) -> Method:
        """Return how a request is to be answered.

        Raises:
            RpcError: It is not to be answered.
        """
        is_modern = bool(self._is_modern)
        if is_modern:
            check_envelope(request)
        elif has_envelope(request.params):
            told = (
                "This connection began with a handshake; requests with an envelope of the newest"
                " protocol version are not served on it"
            )
            raise RpcError(jsonrpc.INVALID_REQUEST, told)
        check_shape(request, is_modern=is_modern)
        method = self._methods.get(request.method)
        if method is None:
            raise not_found(request.method)
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

    def _tell(self, asked: Asked, message: Object) -> None:
        with self._lock:
            if asked in self._open:
                self._send(message)

    def _settle(self, asked: Asked, message: Object | None) -> None:
        """Answer a request, or with None let go of it; once at most."""
        with self._lock:
            if asked not in self._open:
                return
            del self._open[asked]
            self._listening.forget(asked)
            asked.answer(message)

    def _take_notification(self, notification: Notification) -> None:
        params = notification.params or {}
        if notification.method == "notifications/cancelled":
            number = params.get("requestId")
            if jsonrpc.is_id(number):
                self._cancel(cast("Id", number))
        elif notification.method == "notifications/initialized" and not self._is_modern:
            self._has_greeted = isinstance(params.get("_meta", {}), dict)
            self._listening.hears_unasked = self._has_greeted

    def _cancel(self, number: Id) -> None:
        with self._lock:
            key = jsonrpc.key_of(number)
            meant = [each for each in self._open if jsonrpc.key_of(each.id) == key]
        for asked in meant:
            asked.cancel()
            self._settle(asked, None)
            self._questions.withdraw(asked)

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
        check_shape(request, is_modern=False)
        wanted = params.get("protocolVersion")
        self._version = str(wanted) if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        self._client = cast("Object", params["clientInfo"])
        self._client_capabilities = cast("Object", params["capabilities"])
        return {
            "protocolVersion": self._version,
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


def _pong(asked: Asked) -> Object:
    del asked
    return {}


def _finished(result: Object, method: Method, asked: Asked) -> Object:
    """Return a result with what only the newest era adds to it."""
    if not asked.is_modern:
        return result
    freshness = _FRESHNESS if method.is_cacheable else {}
    stamp: Object = {"_meta": {SERVER_KEY: dict(SERVER_INFO)}}
    return {"resultType": "complete", **freshness, **result, **stamp}


def _error_message(number: Id, error: RpcError) -> Object:
    return jsonrpc.error_of(number, error.code, error.message, error.data)


def _internal_error(fault: Exception) -> RpcError:
    import uuid  # noqa: PLC0415 (a start-up should not pay for failures)

    error_id = uuid.uuid4().hex[:12]
    log_internal_error(error_id, fault)
    told = f"Internal error {error_id}; the server's log has its place."
    return RpcError(jsonrpc.INTERNAL_ERROR, told)
