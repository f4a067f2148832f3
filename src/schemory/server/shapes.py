"""What the parameters of MCP's methods look like in both eras, checked without a library."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from schemory.hints import TYPE_CHECKING, cast
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json

if TYPE_CHECKING:
    from typing import Final, TypeAlias

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions that begin with `initialize`, oldest first."""

BATCH_VERSION: Final = "2025-03-26"
"""The one version in which several messages may come in one array."""

MODERN_VERSIONS: Final = ("2026-07-28",)
"""Protocol versions in which each request carries an envelope instead."""

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"

Problems: TypeAlias = list[dict[str, Json]]
_Check: TypeAlias = Callable[[str, object, Problems], None]


@dataclass(frozen=True, slots=True)
class _Member:
    check: _Check
    is_required: bool = False


_Shape: TypeAlias = Mapping[str, _Member]


def problems_in(method: str, params: Mapping[str, object] | None, *, is_modern: bool) -> Problems:
    """Return everything that is wrong with `params` for `method`, each with its path."""
    shape = _METHODS.get(method, {})
    problems: Problems = []
    if params is None:
        if any(member.is_required for member in shape.values()):
            _note(problems, "params", "is missing")
        return problems
    more: _Shape = _MODERN if is_modern else {}
    _check_members("params", params, {**_COMMON, **shape, **more}, problems)
    return problems


def has_envelope(params: Mapping[str, object] | None) -> bool:
    """Return whether a request claims the era without a handshake."""
    meta = (params or {}).get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def is_implementation(value: object) -> bool:
    """Return whether `value` says of a client or server who it is: name, version and more."""
    problems: Problems = []
    _implementation("", value, problems)
    return not problems


def _note(problems: Problems, path: str, problem: str) -> None:
    problems.append({"path": path, "problem": problem})


def _check_members(
    path: str, value: Mapping[str, object], shape: _Shape, problems: Problems
) -> None:
    for name, member in shape.items():
        given = value.get(name)
        if given is not None or (member.is_required and name in value):
            member.check(f"{path}.{name}", given, problems)
        elif member.is_required:
            _note(problems, f"{path}.{name}", "is missing")


def _text(path: str, value: object, problems: Problems) -> None:
    if not isinstance(value, str):
        _note(problems, path, "must be a text")


def _flag(path: str, value: object, problems: Problems) -> None:
    if not isinstance(value, bool):
        _note(problems, path, "must be true or false")


def _object(path: str, value: object, problems: Problems) -> None:
    if not isinstance(value, dict):
        _note(problems, path, "must be an object")


def _token(path: str, value: object, problems: Problems) -> None:
    if not isinstance(value, str | int):
        _note(problems, path, "must be a text or a whole number")


def _texts(path: str, value: object, problems: Problems) -> None:
    texts = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(each, str) for each in texts):
        _note(problems, path, "must be a list of texts")


def _text_map(path: str, value: object, problems: Problems) -> None:
    texts = cast("dict[str, object]", value).values() if isinstance(value, dict) else [None]
    if not all(isinstance(each, str) for each in texts):
        _note(problems, path, "must be an object whose values are texts")


def _shaped(shape: _Shape) -> _Check:
    def check(path: str, value: object, problems: Problems) -> None:
        if isinstance(value, dict):
            _check_members(path, cast("dict[str, object]", value), shape, problems)
        else:
            _note(problems, path, "must be an object")

    return check


def _one_of(*allowed: str) -> _Check:
    def check(path: str, value: object, problems: Problems) -> None:
        if value not in allowed:
            _note(problems, path, f"must be one of {', '.join(allowed)}")

    return check


def _reference(path: str, value: object, problems: Problems) -> None:
    """Check what a completion is for: a prompt by its name, or a resource by its address."""
    members = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    kind = members.get("type")
    if not isinstance(kind, str) or kind not in _REFERENCES:
        kinds = " or ".join(_REFERENCES)
        _note(problems, path, f"must be an object with a type that is {kinds}")
        return
    _check_members(path, members, {_REFERENCES[kind]: _NEEDED_TEXT}, problems)


def _input_responses(path: str, value: object, problems: Problems) -> None:
    """Check what the person behind a client said to questions of ours, by their keys."""
    answers = cast("dict[str, object]", value) if isinstance(value, dict) else {"": None}
    for key, answer in answers.items():
        members = cast("dict[str, object]", answer) if isinstance(answer, dict) else {}
        shape = next((each for name, each in _RESPONSES.items() if name in members), None)
        if shape is None:
            known = ", ".join(_RESPONSES)
            _note(problems, f"{path}.{key}", f"must be an object with one of {known}")
        else:
            _check_members(f"{path}.{key}", members, shape, problems)


def _list(path: str, value: object, problems: Problems) -> None:
    if not isinstance(value, list):
        _note(problems, path, "must be a list")


_REFERENCES: Final = {"ref/prompt": "name", "ref/resource": "uri"}
_LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
_NEEDED_TEXT: Final = _Member(_text, is_required=True)
_implementation: Final = _shaped(
    {
        "name": _NEEDED_TEXT,
        "version": _NEEDED_TEXT,
        "title": _Member(_text),
        "description": _Member(_text),
        "websiteUrl": _Member(_text),
    }
)
_capabilities: Final = _shaped(
    {
        name: _Member(_object)
        for name in ("elicitation", "experimental", "extensions", "roots", "sampling")
    }
)

_COMMON: Final[_Shape] = {"_meta": _Member(_shaped({"progressToken": _Member(_token)}))}
_MODERN: Final[_Shape] = {
    "_meta": _Member(
        _shaped(
            {
                "progressToken": _Member(_token),
                VERSION_KEY: _NEEDED_TEXT,
                CAPABILITIES_KEY: _Member(_capabilities, is_required=True),
                CLIENT_KEY: _Member(_implementation),
            }
        )
    )
}
_PAGED: Final[_Shape] = {"cursor": _Member(_text)}
_OF_A_RESOURCE: Final[_Shape] = {"uri": _NEEDED_TEXT}

_RESPONSES: Final[Mapping[str, _Shape]] = {
    "action": {
        "action": _Member(_one_of("accept", "decline", "cancel"), is_required=True),
        "content": _Member(_object),
    },
    "roots": {"roots": _Member(_list, is_required=True)},
    "model": {"model": _NEEDED_TEXT, "role": _Member(_one_of("user", "assistant"))},
}
"""What a client answers, told by the member that only this kind has."""

_REPEATED: Final[_Shape] = {
    "inputResponses": _Member(_input_responses),
    "requestState": _Member(_text),
}
"""What a request may carry that is made again with answers."""

_METHODS: Final[Mapping[str, _Shape]] = {
    "initialize": {
        "protocolVersion": _NEEDED_TEXT,
        "capabilities": _Member(_capabilities, is_required=True),
        "clientInfo": _Member(_implementation, is_required=True),
    },
    "tools/list": _PAGED,
    "tools/call": {"name": _NEEDED_TEXT, "task": _Member(_object), **_REPEATED},
    "resources/list": _PAGED,
    "resources/templates/list": _PAGED,
    "resources/read": {**_OF_A_RESOURCE, **_REPEATED},
    "resources/subscribe": _OF_A_RESOURCE,
    "resources/unsubscribe": _OF_A_RESOURCE,
    "prompts/list": _PAGED,
    "prompts/get": {"name": _NEEDED_TEXT, "arguments": _Member(_text_map), **_REPEATED},
    "logging/setLevel": {"level": _Member(_one_of(*_LEVELS), is_required=True)},
    "completion/complete": {
        "ref": _Member(_reference, is_required=True),
        "argument": _Member(
            _shaped({"name": _NEEDED_TEXT, "value": _NEEDED_TEXT}), is_required=True
        ),
        "context": _Member(_shaped({"arguments": _Member(_text_map)})),
    },
    "subscriptions/listen": {
        "notifications": _Member(
            _shaped(
                {
                    "toolsListChanged": _Member(_flag),
                    "promptsListChanged": _Member(_flag),
                    "resourcesListChanged": _Member(_flag),
                    "resourceSubscriptions": _Member(_texts),
                }
            ),
            is_required=True,
        )
    },
}

_ONLY_HANDSHAKE: Final = frozenset(
    {"initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"}
)
_ONLY_MODERN: Final = frozenset({"server/discover", "subscriptions/listen"})


def is_of_era(method: str, *, is_modern: bool) -> bool:
    """Return whether the era has `method`, or leaves it to servers as its own invention."""
    return method not in (_ONLY_HANDSHAKE if is_modern else _ONLY_MODERN)
