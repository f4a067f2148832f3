"""`Toolbox`: the current tools over one graph; lists them, calls them, tells when they change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

from schemory.errors import InvalidStateError, Problem, SchemoryError
from schemory.hints import TYPE_CHECKING
from schemory.model.jsonvalue import Json
from schemory.tools.assembly import Assembly, ToolSettings, assemble
from schemory.tools.instructions import instructions
from schemory.tools.late import late
from schemory.tools.profiles import Price, Profile, price_of
from schemory.tools.registry import (
    Asking,
    Call,
    Caller,
    Effect,
    Reply,
    Tool,
    ignore_progress,
    never_cancelled,
)
from schemory.tools.spec import Desk

if TYPE_CHECKING:
    from typing import TypeAlias

    from schemory.graph.service import KnowledgeGraph
    from schemory.model.moment import Clock
    from schemory.schemas.catalog import CatalogChange, SchemaCatalog

__all__ = ["Profile", "ToolSettings", "Toolbox", "build_toolbox"]

_perform: Callable[[Tool, Call, object, Callable[[], bytes]], Reply] = late("performing:perform")
_refusal: Callable[[Tool, SchemoryError, Callable[[str], str]], Reply] = late("performing:refusal")
_failure: Callable[[Tool, str], Reply] = late("performing:failure")
_unknown_tool: Callable[[str, Assembly, int], Exception] = late("performing:unknown_tool")

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
        desk: Desk,
        settings: ToolSettings,
        *,
        extra_tools: Iterable[Tool] = (),
    ) -> None:
        self.on_internal_error: OnInternalError | None = None
        self._desk = desk
        self._settings = settings
        self._extra = tuple(extra_tools)
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._tools = assemble(desk, settings, self._extra)
        self._announced = self._tools.listed
        self._stop = desk.catalog.subscribe(self._follow_catalog)

    @property
    def instructions(self) -> str:
        """What the server tells an agent about itself: when to search, when to save."""
        settings = self._settings
        return instructions(
            settings.all_toolsets,
            self._current().profile,
            for_remote=settings.for_remote,
            takes_project=settings.allow_cross_project,
        )

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
            raise _unknown_tool(name, tools, len(self._desk.catalog.faults()))
        call = Call(
            arguments={},
            caller=caller or Caller(),
            progress=progress or ignore_progress,
            is_cancelled=is_cancelled or never_cancelled,
            asking=asking,
        )
        try:
            return _perform(tool, call, arguments, self._signing_key)
        except InvalidStateError:
            raise
        except SchemoryError as error:
            return _refusal(tool, error, tools.rephrase)
        except Exception as fault:  # noqa: BLE001 (an agent gets an id, the log the traceback)
            return self._failed(tool, fault)

    def _signing_key(self) -> bytes:
        return self._desk.open_graph().store.cursor_key

    def _failed(self, tool: Tool, fault: Exception) -> Reply:
        import uuid  # noqa: PLC0415 (a start-up should not pay for failures)

        error_id = uuid.uuid4().hex[:12]
        if self.on_internal_error is not None:
            self.on_internal_error(error_id, fault)
        return _failure(tool, error_id)

    def _current(self) -> Assembly:
        """Return the tools for the schemas as they are now."""
        tools = self._tools
        if tools.version == self._desk.catalog.version:
            return tools
        with self._lock:
            if self._tools.version != self._desk.catalog.version:
                self._tools = assemble(self._desk, self._settings, self._extra)
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


def build_toolbox(
    graph: KnowledgeGraph | Callable[[], KnowledgeGraph],
    catalog: SchemaCatalog,
    settings: ToolSettings,
    now: Clock,
    *,
    extra_tools: Iterable[Tool] = (),
) -> Toolbox:
    """Return the toolbox over `graph`, which may also be what opens it for the first call.

    `extra_tools` are those of other rooms (memory).
    """
    desk = Desk(
        open_graph=graph if callable(graph) else lambda: graph,
        catalog=catalog,
        now=now,
        budget=settings.response_budget,
        takes_project=settings.allow_cross_project,
    )
    return Toolbox(desk, settings, extra_tools=extra_tools)
