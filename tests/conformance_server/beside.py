"""The suite's resources, prompts and completions, in front of the product's own."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.conformance_server.raw import IMAGE, PNG

from schemory.model.jsonvalue import Json
from schemory.server.extras import Extras, Params
from schemory.tools.registry import Caller
from schemory.tools.resources import Resources, Watched

_TEMPLATE: Final = re.compile(r"test://template/([^/]+)/data")
_PREFIX: Final = "test://"
_RESOURCES: Final[Mapping[str, dict[str, Json]]] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}
_PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}
_CONTEXT: Final[dict[str, Json]] = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "What context should the prompt use?",
        "requestedSchema": {
            "type": "object",
            "properties": {"context": {"type": "string"}},
            "required": ["context"],
        },
    },
}


class SuiteExtras(Extras):
    """What the suite asks for; anything else is the product's to answer."""

    def __init__(self, open_resources: Callable[[], Resources]) -> None:
        super().__init__(open_resources, has_prompts=True)
        own = dict(self.methods)
        mine: dict[str, Callable[[Params], Mapping[str, Json] | None]] = {
            "resources/read": _read,
            "prompts/get": _prompt,
            "completion/complete": _complete,
        }
        more: dict[str, tuple[str, list[Json]]] = {
            "resources/list": ("resources", [_listed(uri) for uri in _RESOURCES]),
            "resources/templates/list": ("resourceTemplates", [_TEMPLATE_LISTED]),
            "prompts/list": ("prompts", [_listed_prompt(name) for name in _PROMPTS]),
        }

        def before(method: str) -> Callable[[Params, Caller], Mapping[str, Json]]:
            def answer(params: Params, caller: Caller) -> Mapping[str, Json]:
                found = mine[method](params)
                return own[method](params, caller) if found is None else found

            return answer

        def beside(method: str) -> Callable[[Params, Caller], Mapping[str, Json]]:
            key, items = more[method]

            def answer(params: Params, caller: Caller) -> Mapping[str, Json]:
                result = own[method](params, caller)
                listed = result[key]
                return {**result, key: [*items, *(listed if isinstance(listed, list) else ())]}

            return answer

        self.methods = {
            **own,
            **{name: before(name) for name in mine},
            **{name: beside(name) for name in more},
        }

    def watched(self, caller: Caller) -> Watched:
        """Return addresses to watch, among which the suite's never change."""
        return _SuiteWatched(self._resources, caller)


class _SuiteWatched(Watched):
    def add(self, *uris: str) -> None:
        """Watch those that the product knows."""
        super().add(*(uri for uri in uris if not uri.startswith(_PREFIX)))

    def remove(self, uri: str) -> None:
        """Stop watching."""
        if not uri.startswith(_PREFIX):
            super().remove(uri)


def _listed(uri: str) -> dict[str, Json]:
    name = uri.removeprefix(_PREFIX)
    kind = _RESOURCES[uri]["mimeType"]
    return {"uri": uri, "name": name, "description": f"The suite's {name}", "mimeType": kind}


_TEMPLATE_LISTED: Final[dict[str, Json]] = {
    "uriTemplate": "test://template/{id}/data",
    "name": "template",
    "description": "Data made from an id",
    "mimeType": "application/json",
}


def _listed_prompt(name: str) -> dict[str, Json]:
    needed: list[Json] = [{"name": each, "required": True} for each in _PROMPTS[name]]
    return {"name": name, "description": f"The suite's {name}", "arguments": needed}


def _read(params: Params) -> Mapping[str, Json] | None:
    uri = str(params["uri"])
    found = _TEMPLATE.fullmatch(uri)
    if found:
        number = found[1]
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        contents: dict[str, Json] = {"mimeType": "application/json", "text": json.dumps(data)}
    elif uri in _RESOURCES:
        contents = dict(_RESOURCES[uri])
    else:
        return None
    return {"contents": [{"uri": uri, **contents}]}


def _prompt(params: Params) -> Mapping[str, Json] | None:
    name, given = str(params["name"]), params.get("arguments")
    arguments: dict[str, Any] = given if isinstance(given, dict) else {}
    if name not in _PROMPTS:
        return None
    if name == "test_input_required_result_prompt" and not params.get("inputResponses"):
        return {"resultType": "input_required", "inputRequests": {"user_context": _CONTEXT}}
    return {"messages": [{"role": "user", "content": each} for each in _told(name, arguments)]}


def _told(name: str, arguments: Mapping[str, Any]) -> list[Json]:
    if name == "test_prompt_with_arguments":
        first, second = arguments.get("arg1"), arguments.get("arg2")
        return [_text(f"Prompt with arguments: arg1='{first}', arg2='{second}'")]
    if name == "test_prompt_with_image":
        return [dict(IMAGE), _text("Please analyze the image above.")]
    if name == "test_prompt_with_embedded_resource":
        resource: dict[str, Json] = {
            "uri": str(arguments.get("resourceUri")),
            "mimeType": "text/plain",
            "text": "Embedded resource content for testing.",
        }
        embedded: dict[str, Json] = {"type": "resource", "resource": resource}
        return [embedded, _text("Please process the embedded resource above.")]
    return [_text("This is a simple prompt for testing.")]


def _text(text: str) -> dict[str, Json]:
    return {"type": "text", "text": text}


def _complete(params: Params) -> Mapping[str, Json] | None:
    reference = params["ref"]
    name = reference.get("name") if isinstance(reference, dict) else None
    if name not in _PROMPTS:
        return None
    return {"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": False}}
