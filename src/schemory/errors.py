"""Every deliberate error of the product, each with a stable code (graph.md §5, memory.md §5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from typing import ClassVar, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with an input, told so that the caller can mend it.

    Attributes:
        code: The stable error code this problem alone would have.
        path: Where it is, as a JSON path with the wire's names: `$.nodes[3].name`.
        message: What was expected and what is wrong; names, types and keys only, never values.
        nearest: The nearest valid things (existing names, allowed values), best first.
        suggestion: The next step, ready to use: often the call that would succeed.
    """

    code: str
    path: str
    message: str
    nearest: tuple[str, ...] = ()
    suggestion: str | None = None


class SchemoryError(Exception):
    """Something the product refuses or cannot do, with all its problems at once.

    Attributes:
        code: Stable, documented, machine-readable.
        message: One sentence for a person; no stored content, no secret.
        problems: Each thing wrong, in the order of the input.
        context: Facts for a program (names, counts, limits); JSON values only.
        suggestions: Real next steps, best first.
    """

    code: ClassVar[str] = "INTERNAL"

    def __init__(
        self,
        message: str,
        *,
        problems: Iterable[Problem] = (),
        context: Mapping[str, object] | None = None,
        suggestions: Iterable[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.problems = tuple(problems)
        self.context: Mapping[str, object] = dict(context or {})
        self.suggestions = tuple(suggestions)

    @classmethod
    def at(
        cls,
        path: str,
        message: str,
        *,
        headline: str | None = None,
        nearest: tuple[str, ...] = (),
        suggestion: str | None = None,
        context: Mapping[str, object] | None = None,
        suggestions: Iterable[str] = (),
    ) -> Self:
        """Return the error for the one thing that is wrong at `path`.

        Args:
            path: Where, as in `Problem`; on the command line the flag or file.
            message: What is wrong.
            headline: The error's own message, where it says more; else it is `message`.
            nearest: The nearest valid things, best first.
            suggestion: The next step.
            context: Facts for a program.
            suggestions: Further steps.
        """
        problem = Problem(
            code=cls.code, path=path, message=message, nearest=nearest, suggestion=suggestion
        )
        first = () if suggestion is None else (suggestion,)
        return cls(
            headline or message,
            problems=[problem],
            context=context,
            suggestions=(*first, *suggestions),
        )


class NodeExistsError(SchemoryError):
    """A node name is taken in its space."""

    code = "NODE_EXISTS"


class NodeNotFoundError(SchemoryError):
    """No node of that name in the space."""

    code = "NODE_NOT_FOUND"


class EdgeExistsError(SchemoryError):
    """An edge with that (from, to, edgeType) is there already."""

    code = "EDGE_EXISTS"


class EdgeNotFoundError(SchemoryError):
    """No edge with that (from, to, edgeType)."""

    code = "EDGE_NOT_FOUND"


class WrongTypeError(SchemoryError):
    """The node exists, but with another nodeType than the call's."""

    code = "WRONG_TYPE"


class UnknownTypeError(SchemoryError):
    """No schema defines that nodeType."""

    code = "UNKNOWN_TYPE"


class InvalidParamError(SchemoryError):
    """Arguments that break the rules; every problem is listed."""

    code = "INVALID_PARAM"


class NotAGraphError(InvalidParamError):
    """A file to import holds no node and no edge in any known form."""


class DuplicateInCallError(SchemoryError):
    """The same item twice in one call."""

    code = "DUPLICATE_IN_CALL"


class NothingToChangeError(SchemoryError):
    """An update that names nothing to change."""

    code = "NOTHING_TO_CHANGE"


class InvalidCursorError(SchemoryError):
    """A cursor that was not made by this tool for these arguments in this space."""

    code = "INVALID_CURSOR"


class InvalidStateError(InvalidCursorError):
    """What came back with an answer is not what was handed out with the question."""


class ConflictError(SchemoryError):
    """The thing changed since the revision the caller named, or the states exclude each other."""

    code = "CONFLICT"


class NotFoundError(SchemoryError):
    """No such entry or link in the project; another project's are not found either."""

    code = "NOT_FOUND"


class ConfirmRequiredError(SchemoryError):
    """What cannot be taken back is done only when it is confirmed."""

    code = "CONFIRM_REQUIRED"


class UndoConflictError(ConflictError):
    """Something the transaction wrote has changed since, so it cannot be undone."""

    code = "UNDO_CONFLICT"


class VetoedError(SchemoryError):
    """A `before` listener refused the operation."""

    code = "VETOED"


class SecretDetectedError(SchemoryError):
    """A text holds what looks like a credential; only rule and place are told, never the value."""

    code = "SECRET_DETECTED"


class LimitExceededError(SchemoryError):
    """An input is over its configured limit."""

    code = "LIMIT_EXCEEDED"


class PathNotAllowedError(SchemoryError):
    """A path lies outside the allowed roots; whether it exists is not told."""

    code = "PATH_NOT_ALLOWED"

    def __init__(self, field: str, path: str, roots: Sequence[str]) -> None:
        message = f"{field} lies outside the allowed roots: {path!r}"
        suggestion = (
            f"Use a path inside {', '.join(roots)}, or start the server with that root allowed."
            if roots
            else "Pass project_path, or start the server with that root allowed."
        )
        problem = Problem(code=self.code, path=f"$.{field}", message=message, suggestion=suggestion)
        super().__init__(message, problems=[problem], suggestions=[suggestion])


class UnsupportedError(SchemoryError):
    """This store or build cannot do that."""

    code = "UNSUPPORTED"


class SchemaFaultError(InvalidParamError):
    """A schema file or definition that cannot be used; `problems` has a JSON pointer for each."""


class ConfigError(InvalidParamError):
    """A setting that does not parse: names key, value and what is allowed."""


class UsageError(InvalidParamError):
    """A command line that is not understood."""


class StoreError(SchemoryError):
    """The store could not do its work; nothing was written."""

    code = "STORE_ERROR"


class StoreBusyError(StoreError):
    """Another process holds the write lock for longer than the time-out."""

    code = "STORE_BUSY"


class StoreFullError(StoreError):
    """No space left for the write."""

    code = "STORE_FULL"


class StoreReadonlyError(StoreError):
    """The file or its folder cannot be written."""

    code = "STORE_READONLY"


class StoreCorruptError(StoreError):
    """The file is damaged, is no store of ours, or has a newer schema."""

    code = "STORE_CORRUPT"


class ToolNotFoundError(SchemoryError):
    """No tool of that name; a JSON-RPC error (-32602), not a tool answer."""

    code = "TOOL_NOT_FOUND"


_BY_CODE: Mapping[str, type[SchemoryError]] = {
    kind.code: kind
    for kind in (
        NodeExistsError,
        NodeNotFoundError,
        EdgeExistsError,
        EdgeNotFoundError,
        WrongTypeError,
        UnknownTypeError,
        InvalidParamError,
        DuplicateInCallError,
        NothingToChangeError,
        ConflictError,
        NotFoundError,
        ConfirmRequiredError,
        SecretDetectedError,
        LimitExceededError,
    )
}


def error_for(problems: Sequence[Problem], *, suggestions: Iterable[str] = ()) -> SchemoryError:
    """Return one error for all `problems`: their common code's class, else INVALID_PARAM.

    Raises:
        ValueError: `problems` is empty (a programming error).
    """
    if not problems:
        raise ValueError("an error needs at least one problem")
    codes = {problem.code for problem in problems}
    kind = _BY_CODE.get(codes.pop(), InvalidParamError) if len(codes) == 1 else InvalidParamError
    first = problems[0]
    count = len(problems)
    message = first.message if count == 1 else f"{count} problems; the first: {first.message}"
    own = [p.suggestion for p in problems if p.suggestion]
    return kind(message, problems=problems, suggestions=dict.fromkeys([*own, *suggestions]))
