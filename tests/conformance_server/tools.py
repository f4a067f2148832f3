"""The suite's tools as data: what the product's toolbox can say, and what a client is asked."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from schemory.errors import InvalidCursorError, InvalidStateError
from schemory.model.jsonvalue import Json, compact
from schemory.tools.cursors import Cursors
from schemory.tools.parts import output_schema
from schemory.tools.registry import Call, Effect, Question, Reply, Tool

KEY: Final = b"a key that only this fixture has"
_PAUSE_SECONDS: Final = 0.05
TEXT: Final[Mapping[str, Json]] = {"type": "string"}


def tool(
    name: str, handle: Callable[[Call], Reply], *, takes: str = "", needs: str = "nothing"
) -> Tool:
    """Return one of the suite's tools; `takes` is its one argument."""
    return Tool(
        name=name,
        title=name.replace("_", " "),
        description=f"For the conformance suite; needs {needs}.",
        input_schema={
            "type": "object",
            "properties": {takes: TEXT} if takes else {},
            "required": [takes] if takes else [],
            "additionalProperties": False,
        },
        output_schema=output_schema({"said": TEXT}),
        effect=Effect.READ,
        toolset="graph",
        handle=handle,
    )


def said(text: str, *, is_error: bool = False) -> Reply:
    """Return a text as an answer."""
    structured: dict[str, Json] = {"error": text} if is_error else {"data": {"said": text}}
    return Reply(structured=structured, text=text, is_error=is_error)


def _simple_text(call: Call) -> Reply:
    del call
    return said("This is a simple text response for testing.")


def _error(call: Call) -> Reply:
    del call
    return said("This tool intentionally returns an error for testing", is_error=True)


def _progress(call: Call) -> Reply:
    for done in (0, 50, 100):
        call.progress(done, 100, "")
        time.sleep(_PAUSE_SECONDS)
    return said("Made progress.")


def _asked(key: str, message: str, properties: Json, required: list[str], state: str) -> Reply:
    schema: dict[str, Json] = {"type": "object", "properties": properties, "required": [*required]}
    params: dict[str, Json] = {"mode": "form", "message": message, "requestedSchema": schema}
    return Reply(structured={}, text="", question=Question(key=key, params=params, state=state))


def _asks_once(
    key: str,
    properties: Mapping[str, Json],
    required: list[str],
    message: Callable[[Call], str],
    tell: Callable[[Mapping[str, Any]], str],
) -> Callable[[Call], Reply]:
    """Return a handler that asks one question and tells what was said."""

    def handle(call: Call) -> Reply:
        if call.asking is None:
            return said("This client shows no forms.", is_error=True)
        answer = call.asking.answers.get(key)
        if not isinstance(answer, Mapping):
            return _asked(key, message(call), properties, required, _sealed(key))
        return said(tell(answer))

    return handle


def _sealed(text: str) -> str:
    return Cursors(KEY).seal((text,), tool="conformance", space="", arguments={})


def unsealed(state: object) -> object:
    """Return what a state holds; InvalidStateError where it is none of ours."""
    try:
        (text,) = Cursors(KEY).open(str(state), tool="conformance", space="", arguments={})
    except InvalidCursorError:
        raise InvalidStateError("Invalid requestState") from None
    return text


def _outcome(answer: Mapping[str, Any]) -> str:
    content = compact(answer.get("content") or {})
    return f"Elicitation completed: action={answer.get('action')}, content={content}"


def _name_of(answer: Mapping[str, Any]) -> str:
    return f"Hello, {(answer.get('content') or {}).get('name')}!"


def _with_state(call: Call) -> Reply:
    """Ask for an OK; the answer counts only with the state that was handed out."""
    asking = call.asking
    if asking is None:
        return said("This client shows no forms.", is_error=True)
    if asking.state is None or "confirm" not in asking.answers:
        ok: Json = {"ok": {"type": "boolean"}}
        return _asked("confirm", "Please confirm", ok, ["ok"], _sealed("confirm"))
    return said(f"state-ok: {unsealed(asking.state)}")


def _multi_round(call: Call) -> Reply:
    asking = call.asking
    if asking is None:
        return said("This client shows no forms.", is_error=True)
    if asking.state is None:
        name: Json = {"name": TEXT}
        return _asked("step1", "Step 1: What is your name?", name, ["name"], _sealed("one"))
    if unsealed(asking.state) == "one":
        colour: Json = {"color": TEXT}
        question = "Step 2: What is your favorite color?"
        return _asked("step2", question, colour, ["color"], _sealed("two"))
    return said("Both steps are done.")


_DEFAULTS: Final[Mapping[str, Json]] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {
        "type": "string",
        "enum": ["active", "inactive", "pending"],
        "default": "active",
    },
    "verified": {"type": "boolean", "default": True},
}


def _titled(*pairs: tuple[str, str]) -> list[Json]:
    return [{"const": value, "title": title} for value, title in pairs]


_OPTIONS: Final[list[Json]] = ["option1", "option2", "option3"]
_ENUMS: Final[Mapping[str, Json]] = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {
        "type": "string",
        "oneOf": _titled(
            ("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")
        ),
    },
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {
        "type": "array",
        "items": {
            "anyOf": _titled(
                ("value1", "First Choice"), ("value2", "Second Choice"), ("value3", "Third Choice")
            )
        },
    },
}
_USER: Final[Mapping[str, Json]] = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}

TOOLS: Final = (
    tool("test_simple_text", _simple_text),
    tool("test_error_handling", _error),
    tool("test_tool_with_progress", _progress),
    tool(
        "test_elicitation",
        _asks_once(
            "user",
            _USER,
            ["username", "email"],
            lambda call: str(call.arguments["message"]),
            lambda answer: f"User response: {compact(answer)}",
        ),
        takes="message",
        needs="forms",
    ),
    tool(
        "test_elicitation_sep1034_defaults",
        _asks_once("defaults", _DEFAULTS, [], lambda _: "Check these values.", _outcome),
        needs="forms",
    ),
    tool(
        "test_elicitation_sep1330_enums",
        _asks_once("enums", _ENUMS, [], lambda _: "Choose some values.", _outcome),
        needs="forms",
    ),
    tool(
        "test_input_required_result_elicitation",
        _asks_once("user_name", {"name": TEXT}, ["name"], lambda _: "What is your name?", _name_of),
        needs="forms",
    ),
    tool(
        "test_streaming_elicitation",
        _asks_once("user_name", {"name": TEXT}, ["name"], lambda _: "What is your name?", _name_of),
        needs="forms",
    ),
    tool("test_input_required_result_request_state", _with_state, needs="forms"),
    tool("test_input_required_result_tampered_state", _with_state, needs="forms"),
    tool("test_input_required_result_multi_round", _multi_round, needs="forms"),
)
"""Tools that go all the way through the product's toolbox and adapters."""
