"""Answers in the memory tools' shape (memory.md §5): success and error."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from schemory.errors import Problem, SchemoryError
from schemory.model.jsonvalue import Json, compact
from schemory.model.text import encodable, is_utf8
from schemory.tools.coerce import is_array
from schemory.tools.memory_lines import project_wire
from schemory.tools.registry import Reply
from schemory.tools.replies import MAX_PROBLEMS, sendable, shorten

if TYPE_CHECKING:
    from schemory.memory.handoff_results import Answer

_MAX_DETAIL_CHARS: Final = 2_500
_MAX_HINT_CHARS: Final = 1_200
_MAX_HINTS: Final = 3
_MAX_PROBLEM_CHARS: Final = 400
_MAX_FINDINGS: Final = 20

_SAID_AS: Final[Mapping[str, str]] = {
    "INVALID_CURSOR": "INVALID_PARAM",
    "DUPLICATE_IN_CALL": "INVALID_PARAM",
    "NOTHING_TO_CHANGE": "INVALID_PARAM",
    "HISTORY_PRUNED": "INVALID_PARAM",
    "UNDO_CONFLICT": "CONFLICT",
    "VETOED": "CONFLICT",
}
"""Codes of the graph half, in the words of this one."""


def success_data(
    answer: "Answer", data: Mapping[str, Json], *, with_project: bool = False
) -> dict[str, Json]:
    """Return a success's structured content; `with_project` also says what told the project."""
    head: dict[str, Json] = {"ok": True}
    if answer.project is not None:
        head["project_id"] = answer.project.id
        if with_project:
            head["project"] = project_wire(answer.project)
    return {**head, "warnings": list(answer.warnings), **data}


def memory_reply(structured: Mapping[str, Json], text: str, *, is_error: bool = False) -> Reply:
    """Return an answer whose text was written for readers."""
    if not is_utf8(text) or not is_utf8(compact(structured)):
        structured, text = sendable(structured), encodable(text)
    return Reply(structured=structured, text=text, is_error=is_error)


def with_warnings(text: str, warnings: Iterable[str]) -> str:
    """Return a success's text with a line for each warning below."""
    return "\n".join([text, *(f"Warning: {warning}" for warning in warnings)])


def memory_error(error: SchemoryError) -> Reply:
    """Return `error` in the memory tools' shape, every problem in `detail`, bounded in length."""
    code = _SAID_AS.get(error.code, error.code)
    structured: dict[str, Json] = {"ok": False, "error_code": code, "detail": _detail(error)}
    project_id = error.context.get("project_id")
    if isinstance(project_id, str):
        structured["project_id"] = project_id
    hint = _hint(error)
    if hint:
        structured["hint"] = hint
    findings = error.context.get("findings")
    if is_array(findings):
        structured["findings"] = list(findings[:_MAX_FINDINGS])
    return _error_reply(structured)


def memory_internal(error_id: str) -> Reply:
    """Return the answer to a failure of our own: an id to find the log entry by, nothing else."""
    return _error_reply(
        {
            "ok": False,
            "error_code": "INTERNAL",
            "detail": f"The server failed inside (error {error_id}).",
            "hint": "Look whether the call took effect before repeating it; if it fails again, "
            f"report error {error_id} with the server's log.",
        }
    )


def _error_reply(structured: Mapping[str, Json]) -> Reply:
    text = f"{structured['error_code']}: {structured['detail']}"
    if "hint" in structured:
        text += f"\nHint: {structured['hint']}"
    return memory_reply(structured, text, is_error=True)


def _detail(error: SchemoryError) -> str:
    problems = error.problems
    if len(problems) <= 1:
        near = _near(problems[0].nearest) if problems else ""
        return shorten(error.message, _MAX_DETAIL_CHARS) + near
    lines = [f"{len(problems)} problems:"]
    lines += [_line(problem) for problem in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        lines.append(f"- and {len(problems) - MAX_PROBLEMS} more")
    return shorten("\n".join(lines), _MAX_DETAIL_CHARS)


def _line(problem: Problem) -> str:
    return f"- {shorten(problem.message, _MAX_PROBLEM_CHARS)}{_near(problem.nearest)}"


def _near(words: Sequence[str]) -> str:
    if not words:
        return ""
    return " (nearest: " + ", ".join(shorten(word, _MAX_PROBLEM_CHARS) for word in words[:3]) + ")"


def _hint(error: SchemoryError) -> str:
    steps = (problem.suggestion for problem in error.problems)
    hints = dict.fromkeys([*error.suggestions, *(step for step in steps if step)])
    return shorten(" ".join(list(hints)[:_MAX_HINTS]), _MAX_HINT_CHARS)
