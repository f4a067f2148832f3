"""Asks the person behind a client before what cannot be taken back (memory.md §5, surfaces.md).

A client that shows forms is asked once, and only for a call that does not say the confirmation
itself. An adapter carries question and answer, either as a request of its own or as two rounds of
the same call; what they mean is decided here.
"""

from collections.abc import Mapping
from typing import Final, cast

from schemory.errors import ConfirmRequiredError, InvalidCursorError, Problem, SchemoryError
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.tools.cursors import Cursors
from schemory.tools.registry import Asking, Call, Confirmation, Question, Reply, Tool

_ACCEPTED: Final = "accept"
_DECLINED: Final = "decline"
_SEALED: Final = "question"


def handle_confirmed(tool: Tool, call: Call, key: bytes) -> Reply:
    """Return the call's answer, or the question that comes before it.

    Args:
        tool: One with a confirmation.
        call: Checked, from a client that can ask.
        key: The store's, so that an answer belongs to the very question that was shown.

    Raises:
        ConfirmRequiredError: The person said no, or nothing; and what the tool raises itself.
    """
    confirmation, asking = tool.confirmation, call.asking
    text = _question(confirmation, call) if confirmation and asking else None
    if confirmation is None or asking is None or text is None:
        return tool.handle(call)
    cursors, principal = Cursors(key), call.caller.principal
    bound: dict[str, Json] = {**call.arguments, _SEALED: text}
    said = asking.answers.get(confirmation.argument)
    if not isinstance(said, Mapping) or not _belongs(asking, cursors, tool.name, principal, bound):
        state = cursors.seal((), tool=tool.name, space=principal, arguments=bound)
        return Reply(structured={}, text="", question=_asked(confirmation, text, state))
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


def _belongs(
    asking: Asking, cursors: Cursors, tool: str, principal: str, bound: Mapping[str, Json]
) -> bool:
    """Return whether what was said answers this very question."""
    if not isinstance(asking.state, str):
        return False
    try:
        cursors.open(asking.state, tool=tool, space=principal, arguments=bound)
    except InvalidCursorError:
        return False
    return True


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
