"""`Toolbox`: the current tools over one graph; lists them, calls them, tells when they change."""

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from schemory.errors import (
    InvalidStateError,
    Problem,
    SchemoryError,
    ToolNotFoundError,
    error_for,
)
from schemory.graph.service import KnowledgeGraph
from schemory.model.frozen import replace
from schemory.model.jsonvalue import Json
from schemory.model.likeness import nearest
from schemory.model.moment import Clock
from schemory.schemas.catalog import CatalogChange, SchemaCatalog
from schemory.tools.assembly import Assembly, ToolSettings, assemble
from schemory.tools.bench import Bench
from schemory.tools.instructions import instructions
from schemory.tools.memory_replies import memory_error, memory_internal
from schemory.tools.profiles import Price, Profile, price_of
from schemory.tools.registry import (
    Asking,
    Call,
    Caller,
    Effect,
    Family,
    Reply,
    Tool,
    ignore_progress,
    never_cancelled,
)
from schemory.tools.replies import Replies, error_reply, internal_reply, shorten
from schemory.tools.sifting import all_problems, sift
from schemory.tools.validate import Examined, examine_arguments, extended, read_object

__all__ = ["Profile", "ToolSettings", "Toolbox", "build_toolbox"]

_VERBS = frozenset({"add", "update", "delete"})
_MAX_SHOWN_NAME: Final = 64

Listener: TypeAlias = Callable[[], None]
OnInternalError: TypeAlias = Callable[[str, Exception], None]


class Toolbox:
    """The tools over one graph, rebuilt whenever the schemas change; safe to share by threads.

    Attributes:
        on_internal_error: Told of each failure of our own, with the id that the answer shows; set
            by the server, which logs it.
    """

    def __init__(
        self,
        bench: Bench,
        settings: ToolSettings,
        *,
        extra_tools: Iterable[Tool] = (),
    ) -> None:
        self.on_internal_error: OnInternalError | None = None
        self._bench = bench
        self._settings = settings
        self._extra = tuple(extra_tools)
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._tools = assemble(bench, settings, self._extra)
        self._announced = self._tools.listed
        self._stop = bench.catalog.subscribe(self._follow_catalog)

    @property
    def instructions(self) -> str:
        """What the server tells an agent about itself: when to search, when to save."""
        return instructions(self._settings.all_toolsets, self._current().profile)

    def list_tools(self) -> list[dict[str, Json]]:
        """Return the tools as `tools/list` shows them: sorted, never older than the schemas."""
        return [dict(tool) for tool in self._current().listed]

    def price(self) -> Price:
        """Return how many tools there are and about how many tokens they cost."""
        return price_of(self._current().listed)

    @property
    def registry(self) -> Mapping[str, Tool]:
        """The tools by name."""
        return self._current().registry

    @property
    def profile(self) -> Profile:
        """Full or compact, whichever is in force now."""
        return self._current().profile

    def is_long(self, name: str) -> bool:
        """Return whether a call may take so long that others should not wait for it."""
        tool = self._current().registry.get(name)
        return tool is not None and tool.is_long

    def writes(self, name: str) -> bool:
        """Return whether a call may change what is stored."""
        tool = self._current().registry.get(name)
        return tool is not None and tool.effect is not Effect.READ

    def faults(self) -> tuple[Problem, ...]:
        """Return why schemas that loaded bring no tools: strict hosts would refuse them."""
        return self._current().faults

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` whenever the tool list has changed; returns what stops that."""
        with self._lock:
            self._listeners.append(listener)

        def stop() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return stop

    def close(self) -> None:
        """Stop following the schemas."""
        self._stop()

    def call(
        self,
        name: str,
        arguments: object,
        caller: Caller | None = None,
        *,
        progress: Callable[[float, float | None, str], None] | None = None,
        is_cancelled: Callable[[], bool] | None = None,
        asking: Asking | None = None,
    ) -> Reply:
        """Return the answer of one tool call; whatever goes wrong inside is an answer too.

        With `asking` it may be a question first.

        Raises:
            ToolNotFoundError: There is no such tool; it names the nearest.
            InvalidStateError: `asking` came back with a state that was not handed out for this.
        """
        tools = self._current()
        tool = tools.registry.get(name)
        if tool is None:
            raise _unknown_tool(name, tools, len(self._bench.catalog.faults()))
        try:
            call = Call(
                arguments={},
                caller=caller or Caller(),
                progress=progress or ignore_progress,
                is_cancelled=is_cancelled or never_cancelled,
                asking=asking,
            )
            examined = _examined(tool, tools.accepted[name], arguments)
            if examined.problems and tool.refused is not None:
                tool.refused(replace(call, arguments=read_object(arguments)))
            reply = _perform(tool, examined, call, self._bench.signing_key)
        except InvalidStateError:
            raise
        except SchemoryError as error:
            is_memory = tool.family is Family.MEMORY
            reply = memory_error(error) if is_memory else error_reply(error, tools.rephrase)
        except Exception as fault:  # noqa: BLE001 (an agent gets an id, the log the traceback)
            reply = self._failed(fault, tool.family)
        return reply

    def _failed(self, fault: Exception, family: Family) -> Reply:
        import uuid  # noqa: PLC0415 (a start-up should not pay for failures)

        error_id = uuid.uuid4().hex[:12]
        if self.on_internal_error is not None:
            self.on_internal_error(error_id, fault)
        return memory_internal(error_id) if family is Family.MEMORY else internal_reply(error_id)

    def _current(self) -> Assembly:
        """Return the tools for the schemas as they are now."""
        tools = self._tools
        if tools.version == self._bench.catalog.version:
            return tools
        with self._lock:
            if self._tools.version != self._bench.catalog.version:
                self._tools = assemble(self._bench, self._settings, self._extra)
            return self._tools

    def _follow_catalog(self, change: CatalogChange) -> None:
        del change
        listed = self._current().listed
        with self._lock:
            has_changed = listed != self._announced
            self._announced = listed
            listeners = tuple(self._listeners)
        if has_changed:
            for listener in listeners:
                listener()


def _examined(tool: Tool, accepted: Mapping[str, Json], arguments: object) -> Examined:
    if tool.accepted is None:
        return examine_arguments(accepted, arguments)
    chosen_schema = tool.accepted(read_object(arguments))
    return examine_arguments(extended(chosen_schema, tool.unadvertised), arguments)


def _perform(tool: Tool, examined: Examined, call: Call, key: bytes) -> Reply:
    """Make the call; where items cannot be read, tell also what is wrong with the others.

    Raises:
        SchemoryError: With every problem there is.
    """
    if not examined.problems:
        call = replace(call, arguments=examined.arguments)
        if tool.confirmation is None or call.asking is None:
            return tool.handle(call)
        from schemory.tools.confirming import handle_confirmed  # noqa: PLC0415 (a rare tool's)

        return handle_confirmed(tool, call, key)
    sifted = sift(examined, tool.items) if tool.items else None
    if sifted is None or tool.rehearse is None:
        raise error_for(examined.problems)
    call = replace(call, arguments=sifted.arguments, places=sifted.places, left_out=sifted.left_out)
    if not call.arguments.get("continueOnError"):
        raise error_for(all_problems(call, tool.items, tool.rehearse(call)))
    try:
        return tool.handle(call)
    except SchemoryError as error:
        raise error_for(all_problems(call, tool.items, error.problems)) from None


def _unknown_tool(name: str, tools: Assembly, faults: int) -> ToolNotFoundError:
    near = nearest(name, tools.registry)
    shown = shorten(name, _MAX_SHOWN_NAME).encode("utf-8", "replace").decode()
    message = f"There is no tool named {shown}."
    hint = f"Call {near[0]} instead." if near else "See tools/list for the names."
    if tools.profile is Profile.COMPACT:
        hint += " A type's own tools are not listed here: use add_node, update_node, delete_node."
    hints = [hint]
    if faults and name.partition("_")[0] in _VERBS:
        files = "1 schema file is" if faults == 1 else f"{faults} schema files are"
        hints.append(f"{files} at fault and give no tools; list_schemas says what is wrong.")
    problem = Problem(code="TOOL_NOT_FOUND", path="$.name", message=message, nearest=near)
    return ToolNotFoundError(message, problems=[problem], suggestions=hints)


def build_toolbox(
    graph: KnowledgeGraph,
    catalog: SchemaCatalog,
    settings: ToolSettings,
    now: Clock,
    *,
    extra_tools: Iterable[Tool] = (),
) -> Toolbox:
    """Return the toolbox over `graph`; `extra_tools` are those of other rooms (memory)."""
    bench = Bench(
        graph=graph,
        catalog=catalog,
        replies=Replies(now),
        budget=settings.response_budget,
        takes_project=settings.allow_cross_project,
        signing_key=graph.store.cursor_key,
    )
    return Toolbox(bench, settings, extra_tools=extra_tools)
