"""What every memory tool's handler works with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from schemory.errors import InvalidCursorError, InvalidParamError, Problem
from schemory.memory.inputs import CROSS_PROJECT, ProjectRef, Refused
from schemory.model.author import Author
from schemory.model.entry import Status
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import compact
from schemory.tools.cursors import CURSOR_ARGUMENT, Cursors, Position
from schemory.tools.memory_parts import ANY_STATUS
from schemory.tools.memory_spec import MemoryDesk
from schemory.tools.registry import Call

if TYPE_CHECKING:
    from schemory.memory.service import ProjectMemory

_CURSOR_MESSAGE = "cursor does not belong to this call: it was changed, or the arguments were"
_CURSOR_HINT = (
    "Repeat the call with exactly the arguments of its first page and the next_cursor of the last "
    "one, or leave cursor out to start from the beginning."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBench(MemoryDesk):
    """The parts that handlers use."""

    @property
    def memory(self) -> "ProjectMemory":
        """The memory of every project in the store."""
        return self.open_memory()

    def position(self, call: Call, tool: str) -> Position | None:
        """Return where the call's cursor stands, or None where it has none.

        Raises:
            InvalidParamError: The cursor belongs to another call.
        """
        cursor = call.arguments.get(CURSOR_ARGUMENT)
        if not isinstance(cursor, str):
            return None
        is_cross = call.arguments.get("mode") == CROSS_PROJECT
        project_id = None if is_cross else self.memory.place(ref_of(call)).id
        try:
            return self._cursors.open(
                cursor, tool=tool, space=_space(call, project_id), arguments=call.arguments
            )
        except InvalidCursorError:
            path = f"$.{CURSOR_ARGUMENT}"
            problem = Problem(
                code="INVALID_PARAM", path=path, message=_CURSOR_MESSAGE, suggestion=_CURSOR_HINT
            )
            context = {"project_id": project_id} if project_id else {}
            raise InvalidParamError(_CURSOR_MESSAGE, problems=[problem], context=context) from None

    def cursor(self, call: Call, tool: str, project_id: str | None, position: Position) -> str:
        """Return the cursor with which the same call goes on at `position`."""
        return self._cursors.seal(
            position, tool=tool, space=_space(call, project_id), arguments=call.arguments
        )

    @property
    def _cursors(self) -> Cursors:
        return Cursors(self.memory.store.cursor_key)


def bench_of(desk: MemoryDesk) -> MemoryBench:
    """Return what a call works with."""
    if isinstance(desk, MemoryBench):
        return desk
    return MemoryBench(
        open_memory=desk.open_memory, budget=desk.budget, graph_facts=desk.graph_facts
    )


def record_refusal(desk: MemoryDesk, operation: str, call: Call) -> None:
    """Have the audit tell of a call that broke the schema."""
    told = Refused(operation=operation, arguments=call.arguments)
    memory = desk.open_memory()
    memory.record_refusal(_loose_ref(call), told, by=author_of(call))


def _space(call: Call, project_id: str | None) -> str:
    """Return whose listing it is: a cursor is no use to another principal or in another project."""
    return compact([call.caller.principal, project_id])


def ref_of(call: Call) -> ProjectRef:
    """Return which project a checked call means, as far as its caller may choose."""
    return ProjectRef(
        project_path=optional_text(call, "project_path"),
        project_id=optional_text(call, "project_id"),
        allowed_ids=call.caller.projects,
        is_remote=bool(call.caller.principal),
    )


def _loose_ref(call: Call) -> ProjectRef:
    """Return the project of a call whose arguments may be anything."""
    given = {key: call.arguments.get(key) for key in ("project_path", "project_id")}
    texts = {key: value for key, value in given.items() if isinstance(value, str)}
    return ProjectRef(
        **texts, allowed_ids=call.caller.projects, is_remote=bool(call.caller.principal)
    )


def author_of(call: Call) -> Author:
    """Return who writes by this call."""
    return Author(author=call.caller.author, client=call.caller.client)


def text_of(call: Call, key: str) -> str:
    """Return a required, checked text."""
    return cast("str", call.arguments[key])


def optional_text(call: Call, key: str) -> str | None:
    """Return a checked text, or None where it is missing."""
    return cast("str | None", call.arguments.get(key))


def whole_of(call: Call, key: str) -> int | None:
    """Return a checked integer, or None where it is missing."""
    return cast("int | None", call.arguments.get(key))


def flag_of(call: Call, key: str, *, default: bool = False) -> bool:
    """Return a checked boolean, or `default` where it is missing."""
    return bool(call.arguments.get(key, default))


def texts_of(call: Call, key: str) -> tuple[str, ...]:
    """Return a checked array of texts, empty where it is missing."""
    return tuple(cast("Sequence[str]", call.arguments.get(key) or ()))


def status_of(call: Call) -> Status | None:
    """Return the status that is asked for: active unless it is said; None = any."""
    given = optional_text(call, "status")
    if given is None:
        return Status.ACTIVE
    return None if given == ANY_STATUS else Status(given)
