"""The methods about tools: listing them, calling them, and asking the person behind the client."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from schemory.errors import InvalidStateError, ToolNotFoundError
from schemory.hints import TYPE_CHECKING, cast
from schemory.model.jsonvalue import Json
from schemory.server import jsonrpc
from schemory.server.asking import ASK, Questions
from schemory.server.jsonrpc import Object, RpcError
from schemory.server.requests import Asked, Method
from schemory.tools.registry import Asking, Question
from schemory.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from typing import Final

CALL: Final = "tools/call"

INVALID_STATE: Final[Mapping[str, Json]] = {"reason": "invalid_request_state"}
"""What a client's program is told when it repeats a call with a state that is not ours."""


class Calling:
    """Answers `tools/list` and `tools/call` out of a toolbox."""

    def __init__(
        self,
        toolbox: Toolbox,
        questions: Questions,
        *,
        resume: Callable[[Asked], None],
        after_write: Callable[[], None],
    ) -> None:
        self._toolbox = toolbox
        self._questions = questions
        self._resume = resume
        self._after_write = after_write

    def methods(self) -> dict[str, Method]:
        """Return the methods, by name."""
        return {
            "tools/list": Method(self._list_tools, is_cacheable=True),
            CALL: Method(self._call_tool, is_long=True),
        }

    def _list_tools(self, asked: Asked) -> Object:
        if asked.params.get("cursor") is not None:
            told = "The tool list has one page; there is no such cursor."
            raise RpcError(jsonrpc.INVALID_PARAMS, told)
        return {"tools": cast("list[Json]", self._toolbox.list_tools())}

    def _call_tool(self, asked: Asked) -> Object | None:
        name = str(asked.params["name"])
        try:
            reply = self._toolbox.call(
                name,
                asked.params.get("arguments"),
                asked.caller,
                progress=asked.note_progress,
                is_cancelled=asked.is_cancelled,
                asking=asked.asking,
            )
        except ToolNotFoundError as error:
            near = [name for problem in error.problems for name in problem.nearest]
            data: Object = {"nearest": [*near], "suggestions": [*error.suggestions]}
            raise RpcError(jsonrpc.INVALID_PARAMS, error.message, data) from None
        except InvalidStateError as error:
            raise RpcError(jsonrpc.INVALID_PARAMS, error.message, dict(INVALID_STATE)) from None
        if reply.question is not None:
            return self._ask(asked, reply.question)
        if self._toolbox.writes(name):
            self._after_write()
        return {
            "content": [{"type": "text", "text": reply.text}],
            "structuredContent": dict(reply.structured),
            "isError": reply.is_error,
        }

    def _ask(self, asked: Asked, question: Question) -> Object | None:
        if asked.is_modern:
            return input_required(question)

        def go_on(said: Mapping[str, object]) -> None:
            asked.asking = Asking(answers={question.key: said}, state=question.state)
            self._resume(asked)

        self._questions.ask(question, about=asked, then=go_on)
        return None


def input_required(question: Question) -> Object:
    """Return the result of the newest era that asks a client's person and for the call again."""
    request: Object = {"method": ASK, "params": dict(question.params)}
    return {
        "resultType": "input_required",
        "inputRequests": {question.key: request},
        "requestState": question.state,
    }


def answers_in(params: Mapping[str, Json]) -> Asking:
    """Return what a call of the newest era brings along of its person's answers."""
    answers = params.get("inputResponses")
    state = params.get("requestState")
    return Asking(answers=answers if isinstance(answers, dict) else {}, state=state)
