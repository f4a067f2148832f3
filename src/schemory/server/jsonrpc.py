"""JSON-RPC 2.0 messages, one a line, read and written with the standard library alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from schemory.hints import TYPE_CHECKING, cast
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.server.wire import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from typing import Final, NoReturn, TypeAlias

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
CONNECTION_CLOSED: Final = -32000
"""Implementation-defined: this server ended before the answer was there."""

UNSUPPORTED_VERSION: Final = -32022
"""MCP 2026-07-28: the protocol version asked for is not served."""

MAX_BATCH: Final = 1_000
"""How many messages a batch may hold: all their answers are kept until the last is there."""

MAX_DEPTH: Final = 190
"""How deep a message may be nested; the other adapter's reader gives up a little later."""

Id: TypeAlias = int | str
Object: TypeAlias = dict[str, Json]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class RpcError(Exception):
    """What a request is answered with instead of a result.

    Attributes:
        code: The JSON-RPC error code.
        data: What a client's program can use; None = nothing.
    """

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True)
class Request:
    """Something that wants one answer."""

    id: Id
    method: str
    params: Object | None


@dataclass(frozen=True, slots=True)
class Notification:
    """Something that wants none."""

    method: str
    params: Object | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client says to a request of ours; an error in the place of what nobody can read."""

    id: Id | None
    body: Object


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that is no message: what to answer, and to which id if it showed one."""

    id: Id | None
    code: int
    message: str

    def answer(self) -> Object:
        """Return the message that says so."""
        return error_of(self.id, self.code, self.message)


Message: TypeAlias = Request | Notification | Answer


@dataclass(frozen=True, slots=True)
class Batch:
    """Several messages in one line, whose answers come in one line as well."""

    items: tuple[Message | Fault, ...]


def parse_line(line: bytes | None) -> Message | Batch | Fault | None:
    """Return the message in `line`; None for an empty line, a fault for one that is none.

    Whether a batch is served is a matter of the protocol's version.

    Args:
        line: Without its end; None stands for a line that was too long to be read.
    """
    if line is None:
        limit = f"Invalid request: a message may have at most {MAX_MESSAGE_BYTES} bytes"
        return Fault(None, INVALID_REQUEST, limit)
    if not line.strip():
        return None
    try:
        data = _read_json(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return Fault(None, PARSE_ERROR, "Parse error: this line is no JSON text in UTF-8")
    return _batch(line, data) if isinstance(data, list) else _parsed(line, data)


def read_one(body: bytes) -> Object | Fault:
    """Return the one message that a request's body holds, or what keeps it from being one."""
    try:
        data = _read_json(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return Fault(None, PARSE_ERROR, "Parse error: the body is no JSON text in UTF-8")
    if isinstance(data, list):
        told = "Invalid request: send one message a request; batches are not served over HTTP"
        return Fault(None, INVALID_REQUEST, told)
    found = _parsed(body, data)
    if isinstance(found, Answer):
        return found.body
    return found if isinstance(found, Fault) else cast("Object", data)


def _batch(line: bytes, items: list[Json]) -> Batch | Fault:
    if not items:
        return Fault(None, INVALID_REQUEST, "Invalid request: a batch holds at least one message")
    if len(items) > MAX_BATCH:
        told = f"Invalid request: a batch may hold at most {MAX_BATCH} messages"
        return Fault(None, INVALID_REQUEST, told)
    return Batch(tuple(_parsed(line, item) for item in items))


def _parsed(line: bytes, data: Json) -> Message | Fault:
    if not isinstance(data, dict):
        return Fault(None, INVALID_REQUEST, "Invalid request: a message is an object")
    message = _message(data)
    fault = _content_fault(line, data)
    if message is not None and not fault:
        return message
    number, told = _shown_id(data.get("id")), fault or _NEED
    if number is not None and "method" not in data and ("result" in data or "error" in data):
        # Whoever asked must not wait for another answer, and an answer is never answered.
        return Answer(number, error_of(number, INVALID_REQUEST, told))
    return Fault(number, INVALID_REQUEST, told)


def _shown_id(value: Json) -> Id | None:
    """Return an id that an error can name: None where there is none, or one without UTF-8."""
    if not is_id(value):
        return None
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        return None
    return cast("Id", value)


def encode(message: Mapping[str, Json] | Sequence[Json]) -> bytes:
    """Return a message, or those of a batch, as one line in UTF-8, its end included."""
    # Half a surrogate pair has no UTF-8; backslashreplace writes it as JSON's own escape.
    return _encode(message).encode("utf-8", "backslashreplace") + b"\n"


def result_of(request_id: Id, result: Mapping[str, Json]) -> Object:
    """Return the message that answers a request with `result`."""
    return {"jsonrpc": "2.0", "id": request_id, "result": dict(result)}


def error_of(request_id: Id | None, code: int, message: str, data: Json = None) -> Object:
    """Return the message that answers a request with an error."""
    error: Object = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def request_of(request_id: Id, method: str, params: Mapping[str, Json]) -> Object:
    """Return the message that asks for `method`."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}


def notification_of(method: str, params: Mapping[str, Json] | None = None) -> Object:
    """Return the message that tells of `method` and wants no answer."""
    message: Object = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = dict(params)
    return message


def is_id(value: object) -> bool:
    """Return whether `value` can be a request's id: text or a whole number."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def key_of(number: Id) -> Id:
    """Return the one form of an id: clients echo 7 as "7" when they cancel.

    >>> key_of("7"), key_of(7), key_of("a")
    (7, 7, 'a')
    """
    try:
        return int(number)
    except ValueError:
        return number


_NEED: Final = (
    'Invalid request: a request has "jsonrpc":"2.0", a text "method", '
    'a text or whole number "id", an object "params"'
)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _read_json(text: str) -> Json:
    return cast("Json", _decode(text))


def _message(data: Object) -> Message | None:
    """Return `data` as a message, None if it is none."""
    if data.get("jsonrpc") != "2.0":
        return None
    if "method" not in data:
        return _answer(data)
    method, params, number = data["method"], data.get("params"), data.get("id")
    if not isinstance(method, str) or not (params is None or isinstance(params, dict)):
        return None
    if "id" not in data:
        return Notification(method, params)
    return Request(cast("Id", number), method, params) if is_id(number) else None


def _answer(data: Object) -> Answer | None:
    number, error = data.get("id"), data.get("error")
    if is_id(number) and isinstance(data.get("result"), dict):
        return Answer(cast("Id", number), data)
    if "id" not in data or not (number is None or is_id(number)) or not isinstance(error, dict):
        return None
    is_error = isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
    return Answer(cast("Id | None", number), data) if is_error else None


def _content_fault(line: bytes, data: Object) -> str:
    """Return what keeps well-formed JSON from being a message, or an empty text."""
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        return f"Invalid request: a message may be nested at most {MAX_DEPTH} deep"
    if b"\\ud" in line or b"\\uD" in line:
        try:
            _encode(data).encode("utf-8")
        except UnicodeEncodeError:
            return "Invalid request: a text holds half of a surrogate pair (\\ud800-\\udfff)"
    return ""


def _depth(data: Json) -> int:
    depth = 0
    level: list[Json] = [data]
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return depth
