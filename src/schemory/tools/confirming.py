"""Asks the person behind a client before what cannot be taken back (memory.md §5, surfaces.md).

A client that shows forms is asked once, and only for a call that does not say the confirmation
itself. An adapter carries question and answer, either as a request of its own or as two rounds of
the same call; what they mean is decided here.
"""

import hashlib
from collections.abc import Mapping
from typing import Final, TypedDict, cast

from schemory.errors import (
    ConfirmRequiredError,
    InvalidCursorError,
    InvalidStateError,
    Problem,
    SchemoryError,
)
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.tools.cursors import Cursors
from schemory.tools.registry import Asking, Call, Confirmation, Question, Reply, Tool

_ACCEPTED: Final = "accept"
_DECLINED: Final = "decline"


class _Bound(TypedDict):
    """What a state is bound to."""

    tool: str
    space: str
    arguments: Mapping[str, Json]


def handle_confirmed(tool: Tool, call: Call, key: bytes) -> Reply:
    """Return the call's answer, or the question that comes before it.

    Args:
        tool: One with a confirmation.
        call: Checked, from a client that can ask.
        key: The store's, so that an answer belongs to the very question that was shown.

    Raises:
        ConfirmRequiredError: The person said no, or nothing; and what the tool raises itself.
        InvalidStateError: The answer came with a state that was not handed out for this call.
    """
    confirmation, asking = tool.confirmation, call.asking
    text = _question(confirmation, call) if confirmation and asking else None
    if confirmation is None or asking is None or text is None:
        return tool.handle(call)
    shown = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    seal = Cursors(key).seal((shown,), **_whose(tool, call))
    said = asking.answers.get(confirmation.argument)
    if _shown_before(asking, tool, call, key) != shown or not isinstance(said, Mapping):
        return Reply(structured={}, text="", question=_asked(confirmation, text, seal))
    answer = cast("Mapping[str, object]", said)
    if _is_yes(answer, confirmation.argument):
        return tool.handle(replace(call, arguments={**call.arguments, confirmation.argument: True}))
    try:
        return tool.handle(call)
    except ConfirmRequiredError as error:
        raise _refused(error, confirmation, is_no=_is_no(answer, confirmation.argument)) from None


def _question(confirmation: Confirmation, call: Call) -> str | None:
    try:
        return confirmation.question(call)
    except SchemoryError:
        return None  # the call itself tells what is wrong, and the audit hears of it


def _asked(confirmation: Confirmation, text: str, state: str) -> Question:
    wanted: dict[str, Json] = {
        "type": "boolean",
        "title": confirmation.title,
        "description": "Only a tick lets it happen.",
        "default": False,
    }
    params: dict[str, Json] = {
        "mode": "form",
        "message": text,
        "requestedSchema": {
            "type": "object",
            "properties": {confirmation.argument: wanted},
            "required": [confirmation.argument],
        },
    }
    return Question(key=confirmation.argument, params=params, state=state)


def _shown_before(asking: Asking, tool: Tool, call: Call, key: bytes) -> object:
    """Return which question was shown to the person, None where none was.

    Raises:
        InvalidStateError: The state was not handed out for this call.
    """
    if asking.state is None:
        return None
    try:
        (shown,) = Cursors(key).open(str(asking.state), **_whose(tool, call))
    except InvalidCursorError:
        told = "Invalid requestState: it was not handed out for this call"
        raise InvalidStateError(told) from None
    return shown


def _whose(tool: Tool, call: Call) -> _Bound:
    return {
        "tool": f"{tool.name}?",  # no cursor of a listing can pass for a state
        "space": call.caller.principal,
        "arguments": call.arguments,
    }


def _is_yes(answer: Mapping[str, object], argument: str) -> bool:
    return answer.get("action") == _ACCEPTED and _content(answer).get(argument) is True


def _is_no(answer: Mapping[str, object], argument: str) -> bool:
    unticked = answer.get("action") == _ACCEPTED and _content(answer).get(argument) is False
    return unticked or answer.get("action") == _DECLINED


def _content(answer: Mapping[str, object]) -> Mapping[str, object]:
    content = answer.get("content")
    return cast("Mapping[str, object]", content) if isinstance(content, Mapping) else {}


def _refused(
    error: ConfirmRequiredError, confirmation: Confirmation, *, is_no: bool
) -> ConfirmRequiredError:
    """Return the refusal of a call whose person was asked; it must not invite to overrule them."""
    if is_no:
        message = "The person was asked and said no; nothing was changed."
        hint = "Leave it as it is. Repeat the call only if they ask for it."
    else:
        message = "The person was asked and did not answer; nothing was changed."
        hint = (
            "Ask them in the conversation, and only with their consent repeat the call with "
            f"{confirmation.argument}=true."
        )
    problem = Problem(
        code=error.code, path=f"$.{confirmation.argument}", message=message, suggestion=hint
    )
    return ConfirmRequiredError(
        message, problems=[problem], suggestions=[hint], context=error.context
    )
