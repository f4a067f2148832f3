"""What every graph tool's handler works with."""

from collections.abc import Mapping, Sequence
from typing import cast

from schemory.errors import InvalidParamError, Problem
from schemory.graph.results import Author
from schemory.graph.service import KnowledgeGraph
from schemory.model.frozen import dataclass, replace
from schemory.model.jsonvalue import Json, compact
from schemory.model.text import nfc, text_fault
from schemory.schemas.catalog import SchemaCatalog
from schemory.tools.cursors import Cursors, Position
from schemory.tools.parts import PROJECT_ARGUMENT
from schemory.tools.registry import Call
from schemory.tools.replies import Replies
from schemory.tools.spec import Desk, Handler, Rephrase

_MAX_PROJECT_CHARS = 200

MAX_WHOLE = 1_000_000
"""No count or limit in arguments needs to be larger; the answer's size is bounded anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The parts that handlers use.

    Attributes:
        budget: Most UTF-8 bytes of an answer; 0 = no bound.
        takes_project: Whether tools accept `project_id`.
        signing_key: Signs cursors.
        rephrase: Says next steps with the tools that are listed.
    """

    graph: KnowledgeGraph
    catalog: SchemaCatalog
    replies: Replies
    budget: int
    takes_project: bool
    signing_key: bytes
    rephrase: Rephrase = str

    def graph_for(self, call: Call) -> KnowledgeGraph:
        """Return the graph that the call means.

        Raises:
            InvalidParamError: `project_id` cannot be a project's id, or is none of the caller's.
        """
        given = call.arguments.get(PROJECT_ARGUMENT)
        if not isinstance(given, str):
            return self._own_graph(call.caller.projects)
        fault = _project_fault(given)
        if fault is not None:
            message = f"{PROJECT_ARGUMENT} {fault}"
            problem = Problem(code="INVALID_PARAM", path=f"$.{PROJECT_ARGUMENT}", message=message)
            raise InvalidParamError(message, problems=[problem])
        return self._graph_of(nfc(given), call.caller.projects)

    def _own_graph(self, allowed: tuple[str, ...] | None) -> KnowledgeGraph:
        """Return the server's graph, or that of a caller who may use one project alone."""
        is_own = allowed is None or self.graph.space in allowed
        space = self.graph.space if allowed is None or is_own or len(allowed) != 1 else allowed[0]
        return self._graph_of(space, allowed)

    def _graph_of(self, space: str, allowed: tuple[str, ...] | None) -> KnowledgeGraph:
        if allowed is not None and space not in allowed:
            raise not_yours(allowed, takes_project=self.takes_project)
        return self.graph if space == self.graph.space else self.graph.for_space(space)

    def position(self, call: Call, tool: str) -> Position | None:
        """Return where the call's cursor stands, or None where it has none.

        Raises:
            InvalidCursorError: The cursor belongs to another call.
        """
        cursor = call.arguments.get("cursor")
        if not isinstance(cursor, str):
            return None
        return self._cursors.open(
            cursor, tool=tool, space=self._place(call), arguments=call.arguments
        )

    def cursor(self, call: Call, tool: str, position: Position) -> str:
        """Return the cursor with which the same call goes on at `position`."""
        return self._cursors.seal(
            position, tool=tool, space=self._place(call), arguments=call.arguments
        )

    def _place(self, call: Call) -> str:
        """Return whose listing of what it is: a cursor is no use to anybody else."""
        space = self.graph_for(call).space
        return compact([call.caller.principal, space]) if call.caller.principal else space

    @property
    def _cursors(self) -> Cursors:
        return Cursors(self.signing_key)


def bench_of(desk: Desk) -> Bench:
    """Return what a call works with."""
    graph = desk.open_graph()
    return Bench(
        graph=graph,
        catalog=desk.catalog,
        replies=Replies(desk.now),
        budget=desk.budget,
        takes_project=desk.takes_project,
        signing_key=graph.store.cursor_key,
        rephrase=desk.rephrase,
    )


def rehearse(desk: Desk, handle: Handler, call: Call) -> tuple[Problem, ...]:
    """Return what the graph has against a call, without writing."""
    bench = bench_of(desk)

    def write(graph: KnowledgeGraph) -> None:
        handle(replace(bench, graph=graph), call)

    return bench.graph_for(call).rehearse(write)


def not_yours(allowed: tuple[str, ...], *, takes_project: bool) -> InvalidParamError:
    """Return why a caller who is limited to some projects may not use another one."""
    message = "This caller may not use that project"
    named = ", ".join(allowed)
    if not allowed:
        hint = "It may use none."
    elif takes_project:
        hint = f"Pass {PROJECT_ARGUMENT}: one of {named}."
    else:
        hint = f"It may use {named}, whose graphs this server does not offer."
    return InvalidParamError.at(
        f"$.{PROJECT_ARGUMENT}", message, nearest=allowed[:3], suggestion=hint
    )


def _project_fault(text: str) -> str | None:
    if not text.strip() or text != text.strip():
        return "must not be blank, nor start or end with white space"
    if len(text) > _MAX_PROJECT_CHARS:
        return f"must have at most {_MAX_PROJECT_CHARS} characters"
    return text_fault(text)


def author_of(call: Call) -> Author:
    """Return who writes by this call."""
    return Author(author=call.caller.author, client=call.caller.client)


def text_of(call: Call, key: str) -> str:
    """Return a checked text argument."""
    return cast("str", call.arguments[key])


def texts_of(value: Json) -> tuple[str, ...]:
    """Return a checked array of texts."""
    return tuple(cast("Sequence[str]", value or ()))


def objects_of(call: Call, key: str) -> Sequence[Mapping[str, Json]]:
    """Return a checked array of objects."""
    return cast("Sequence[Mapping[str, Json]]", call.arguments[key])


def flag_of(call: Call, key: str, *, default: bool = False) -> bool:
    """Return a checked boolean argument, or `default` where it is missing."""
    return bool(call.arguments.get(key, default))


def whole_of(call: Call, key: str) -> int | None:
    """Return a checked integer argument, at most a million, or None where it is missing."""
    value = cast("int | None", call.arguments.get(key))
    return None if value is None else min(value, MAX_WHOLE)
