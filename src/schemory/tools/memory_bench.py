"""What every memory tool's handler works with, and the one way in which such a tool is made."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from schemory.errors import InvalidCursorError, InvalidParamError, Problem
from schemory.memory.inputs import CROSS_PROJECT, ProjectRef, Refused
from schemory.model.author import Author
from schemory.model.entry import Status
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json, compact
from schemory.tools.cursors import CURSOR_ARGUMENT, Cursors, Position
from schemory.tools.memory_replies import memory_output_schema
from schemory.tools.registry import Call, Confirmation, Effect, Family, Reply, Tool

if TYPE_CHECKING:
    from schemory.memory.service import ProjectMemory

TOOLSET: Final = "memory"
ANY_STATUS: Final = "any"

TEXT: Final[Mapping[str, Json]] = {"type": "string"}
FLAG: Final[Mapping[str, Json]] = {"type": "boolean"}
WHOLE: Final[Mapping[str, Json]] = {"type": "integer"}
COUNT: Final[Mapping[str, Json]] = {"type": "integer", "minimum": 1}
TEXTS: Final[Mapping[str, Json]] = {"type": "array", "items": TEXT}
ALLOW_SECRET: Final[Mapping[str, Json]] = {"allow_secret": FLAG}
"""Accepted and told by the refusal, but not advertised: it is no habit to have."""

_PROJECT: Final[Mapping[str, Json]] = {
    "project_path": {"type": "string", "description": "Absolute path of your working folder."},
    "project_id": TEXT,
}
_CURSOR_MESSAGE = "cursor does not belong to this call: it was changed, or the arguments were"
_CURSOR_HINT = (
    "Repeat the call with exactly the arguments of its first page and the next_cursor of the last "
    "one, or leave cursor out to start from the beginning."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBench:
    """The parts that handlers use.

    Attributes:
        open_memory: Returns the memory; asked by the first call, so that listing tools opens none.
        budget: Most UTF-8 bytes of an answer; 0 = no bound.
        graph_facts: What `memory_status` tells of the graph half; None = it is not served.
    """

    open_memory: "Callable[[], ProjectMemory]"
    budget: int
    graph_facts: Callable[[Call], Mapping[str, Json]] | None = None

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


def _space(call: Call, project_id: str | None) -> str:
    """Return whose listing it is: a cursor is no use to another principal or in another project."""
    return compact([call.caller.principal, project_id])


Handler: TypeAlias = Callable[[MemoryBench, Call], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirming:
    """A `Confirmation` before it has anything to work with."""

    argument: str
    title: str
    question: Callable[[MemoryBench, Call], str | None]

    def on(self, bench: MemoryBench) -> Confirmation:
        """Return it, working on `bench`."""
        return Confirmation(
            argument=self.argument,
            title=self.title,
            question=lambda call: self.question(bench, call),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySpec:
    """A memory tool before it has anything to work with.

    Attributes:
        properties: The advertised arguments beside the project's two.
        output: Properties of a success, beside those that every success has.
        unadvertised: Laid over `properties` when calls are checked; see `Tool`.
    """

    name: str
    title: str
    description: str
    effect: Effect
    handle: Handler
    properties: Mapping[str, Json]
    output: Mapping[str, Json]
    required: Sequence[str] = ()
    unadvertised: Mapping[str, Json] | None = None
    is_long: bool = False
    confirming: Confirming | None = None


def make_memory_tool(bench: MemoryBench, spec: MemorySpec) -> Tool:
    """Return the tool that `spec` describes, working on `bench`."""

    def refused(call: Call) -> None:
        told = Refused(operation=spec.name, arguments=call.arguments)
        bench.memory.record_refusal(_loose_ref(call), told, by=author_of(call))

    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema={
            "type": "object",
            "properties": {**spec.properties, **_PROJECT},
            "required": list(spec.required),
            "additionalProperties": False,
        },
        output_schema=memory_output_schema(spec.output),
        effect=spec.effect,
        toolset=TOOLSET,
        family=Family.MEMORY,
        handle=lambda call: spec.handle(bench, call),
        unadvertised=spec.unadvertised or {},
        refused=None if spec.effect is Effect.READ else refused,
        is_long=spec.is_long,
        confirmation=spec.confirming.on(bench) if spec.confirming else None,
    )


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
