"""Answers in the graph tools' shapes (graph.md §5): success and error."""

from collections.abc import Mapping
from typing import Final

from schemory.errors import Problem, SchemoryError
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, compact
from schemory.model.moment import Clock, moment_text
from schemory.model.text import encodable, is_utf8
from schemory.tools.coerce import is_array, is_object
from schemory.tools.registry import Reply
from schemory.tools.spec import Rephrase

MAX_ERROR_BYTES: Final = 8_000
MAX_PROBLEMS: Final = 20
_MAX_SUGGESTIONS = 5
_MAX_TEXT_CHARS = 600
_MAX_PATH_CHARS = 300
_MAX_CONTEXT_ITEMS = 20
_MEND = "Mend what is named here and call again."


def wire_bytes(value: Json) -> int:
    """Return how many UTF-8 bytes `value` takes as compact JSON.

    >>> wire_bytes({"a": "é"})
    10
    """
    return len(compact(value).encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Replies:
    """Renders answers; the clock gives each success its timestamp."""

    now: Clock

    def success(
        self, data: Mapping[str, Json], action_taken: str, *, ready: Mapping[str, str] | None = None
    ) -> Reply:
        """Return a success in the specified envelope.

        Args:
            data: What was asked for.
            action_taken: What was done, in a few words.
            ready: Members of `data` whose compact JSON is at hand, so that it is not made again.
        """
        moment = moment_text(self.now())
        structured: dict[str, Json] = {
            "data": data,
            "actionTaken": action_taken,
            "timestamp": moment,
        }
        if not ready:
            return as_reply(structured)
        members = ",".join(
            f"{compact(key)}:{ready[key] if key in ready else compact(value)}"
            for key, value in data.items()
        )
        rest = compact({"actionTaken": action_taken, "timestamp": moment})
        return as_reply(structured, text=f'{{"data":{{{members}}},{rest[1:]}')


def as_reply(
    structured: Mapping[str, Json], *, is_error: bool = False, text: str | None = None
) -> Reply:
    """Return `structured` as an answer whose text is the same object as compact JSON.

    `text` is that JSON where it is at hand.
    """
    text = compact(structured) if text is None else text
    if not is_utf8(text):
        structured = sendable(structured)
        text = compact(structured)
    return Reply(structured=structured, text=text, is_error=is_error)


def sendable(structured: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return `structured` with lone surrogates replaced, which no transport can carry."""
    return _cleaned_object(structured)


def _cleaned(value: Json) -> Json:
    if isinstance(value, str):
        return encodable(value)
    if is_object(value):
        return _cleaned_object(value)
    return [_cleaned(item) for item in value] if is_array(value) else value


def _cleaned_object(value: Mapping[str, Json]) -> Mapping[str, Json]:
    return {encodable(key): _cleaned(item) for key, item in value.items()}


def error_reply(error: SchemoryError, rephrase: Rephrase = str) -> Reply:
    """Return `error` in the specified shape: at most 20 problems told, at most 8 kB in all."""
    context: dict[str, Json] = {
        shorten(key, _MAX_PATH_CHARS): _bounded(value) for key, value in error.context.items()
    }
    if error.problems:
        context["problems"] = [problem_wire(p, rephrase) for p in error.problems[:MAX_PROBLEMS]]
        context["problemCount"] = len(error.problems)
    steps = (_next_step(problem) for problem in error.problems)
    suggestions = dict.fromkeys([*error.suggestions, *(step for step in steps if step)])
    structured: dict[str, Json] = {
        "error": shorten(error.message),
        "error_code": error.code,
        "context": context,
        "suggestions": [
            shorten(rephrase(s)) for s in list(suggestions or [_MEND])[:_MAX_SUGGESTIONS]
        ],
    }
    return as_reply(_fitted(structured, context), is_error=True)


def _next_step(problem: Problem) -> str | None:
    if problem.suggestion or not problem.nearest:
        return problem.suggestion
    return f"Try {compact(problem.nearest[0])}."


def internal_reply(error_id: str) -> Reply:
    """Return the answer to a failure of our own: an id to find the log entry by, nothing else."""
    return as_reply(
        {
            "error": "The server failed inside.",
            "error_code": "INTERNAL",
            "context": {"errorId": error_id},
            "suggestions": [
                "Look whether the call took effect before repeating it.",
                f"If it fails again, report error {error_id} with the server's log.",
            ],
        },
        is_error=True,
    )


def shorten(text: str, limit: int = _MAX_TEXT_CHARS) -> str:
    """Return `text` cut to `limit` characters, an ellipsis marking the cut.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def problem_wire(problem: Problem, rephrase: Rephrase = str) -> dict[str, Json]:
    """Return one problem as answers show it, every text of limited length."""
    wire: dict[str, Json] = {
        "path": shorten(problem.path, _MAX_PATH_CHARS),
        "error_code": problem.code,
        "problem": shorten(problem.message),
    }
    if problem.nearest:
        wire["nearest"] = [shorten(word, _MAX_PATH_CHARS) for word in problem.nearest[:3]]
    if problem.suggestion:
        wire["suggestion"] = shorten(rephrase(problem.suggestion))
    return wire


def _bounded(value: object, depth: int = 0) -> Json:
    """Return a fact of an error's context as JSON of limited length."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return shorten(value, _MAX_PATH_CHARS)
    if depth < 3 and is_object(value):  # noqa: PLR2004 (facts are flat; deeper is shown as text)
        listed = list(value.items())[:_MAX_CONTEXT_ITEMS]
        return {shorten(str(key), _MAX_PATH_CHARS): _bounded(v, depth + 1) for key, v in listed}
    if depth < 3 and is_array(value):  # noqa: PLR2004 (as above)
        return [_bounded(item, depth + 1) for item in value[:_MAX_CONTEXT_ITEMS]]
    return shorten(str(value), _MAX_PATH_CHARS)


def _fitted(structured: dict[str, Json], context: dict[str, Json]) -> dict[str, Json]:
    """Drop the least telling parts until the error fits: late problems, hints, other facts."""
    problems = context.get("problems")
    listed = list(problems) if is_array(problems) else []
    while wire_bytes(structured) > MAX_ERROR_BYTES:
        if len(listed) > 1:
            listed.pop()
            context["problems"] = list(listed)
            continue
        suggestions = structured["suggestions"]
        if is_array(suggestions) and suggestions:
            structured["suggestions"] = suggestions[:-1]
            continue
        removable = [key for key in context if key != "problemCount"]
        if not removable:
            break
        del context[removable[0]]
    return structured
