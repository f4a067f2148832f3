"""`Toolbox`: the current tools over one graph; lists them, calls them, tells when they change."""

import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from schemory.errors import Problem, SchemoryError, ToolNotFoundError
from schemory.graph.service import KnowledgeGraph
from schemory.model.jsonvalue import Json
from schemory.model.likeness import nearest
from schemory.model.moment import Clock
from schemory.schemas.catalog import CatalogChange, SchemaCatalog
from schemory.tools.admin import ADMIN_SPECS
from schemory.tools.bench import Bench, Spec, make_tool
from schemory.tools.dynamic import VERBS, entity_tools
from schemory.tools.instructions import instructions
from schemory.tools.lint import lint_tool
from schemory.tools.profiles import Price, Profile, chosen, price_of, wire_tool
from schemory.tools.query_specs import QUERY_SPECS
from schemory.tools.registry import (
    Call,
    Caller,
    Registry,
    Reply,
    Tool,
    ignore_progress,
    never_cancelled,
)
from schemory.tools.replies import Replies, error_reply, internal_reply, shorten
from schemory.tools.schema_tools import SCHEMA_SPECS
from schemory.tools.static import STATIC_SPECS
from schemory.tools.twins import TWIN_SPECS
from schemory.tools.validate import check_arguments, extended, read_object

GRAPH: Final = "graph"
GRAPH_QUERY: Final = "graph_query"
ADMIN: Final = "admin"
DEFAULT_BUDGET: Final = 60_000
_MAX_SHOWN_NAME = 64

_SPECS: Final[Mapping[str, Sequence[Spec]]] = {
    GRAPH: (*STATIC_SPECS, *SCHEMA_SPECS),
    GRAPH_QUERY: QUERY_SPECS,
    ADMIN: ADMIN_SPECS,
}

Listener = Callable[[], None]
OnInternalError = Callable[[str, Exception], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """Which tools there are and how they answer.

    Attributes:
        toolsets: Of `graph`, `memory`, `graph_query`, `admin`.
        response_budget: Most UTF-8 bytes of one answer; 0 = no bound.
        allow_cross_project: Whether graph tools take `project_id`.
        manage_schemas: The same as the toolset `admin`.
    """

    toolsets: tuple[str, ...] = (GRAPH,)
    profile: Profile = Profile.FULL
    response_budget: int = DEFAULT_BUDGET
    allow_cross_project: bool = False
    manage_schemas: bool = False


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The tools as they were built for one version of the catalog."""

    version: int
    registry: Registry
    accepted: Mapping[str, Mapping[str, Json]]
    listed: tuple[Mapping[str, Json], ...]
    faults: tuple[Problem, ...]
    profile: Profile


class Toolbox:
    """The tools over one graph, rebuilt whenever the schemas change; safe to share by threads."""

    def __init__(
        self,
        bench: Bench,
        settings: ToolSettings,
        *,
        extra_tools: Iterable[Tool] = (),
        on_internal_error: OnInternalError | None = None,
    ) -> None:
        self.on_internal_error = on_internal_error
        self._bench = bench
        self._settings = settings
        self._extra = tuple(extra_tools)
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._snapshot = self._build()
        self._announced = self._snapshot.listed
        self._stop = bench.catalog.subscribe(self._follow_catalog)

    @property
    def instructions(self) -> str:
        """What the server tells an agent about itself: when to search, when to save."""
        return instructions(self._settings.toolsets, self._current().profile)

    def list_tools(self) -> list[dict[str, Json]]:
        """Return the tools as `tools/list` shows them: sorted, never older than the schemas."""
        return [dict(tool) for tool in self._current().listed]

    def price(self) -> Price:
        """Return how many tools there are and about how many tokens they cost."""
        return price_of(self._current().listed)

    @property
    def profile(self) -> Profile:
        """Full or compact, whichever is in force now."""
        return self._current().profile

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
    ) -> Reply:
        """Return the answer of one tool call; whatever goes wrong inside is an answer too.

        Raises:
            ToolNotFoundError: There is no such tool; it names the nearest.
        """
        snapshot = self._current()
        tool = snapshot.registry.get(name)
        if tool is None:
            raise _unknown_tool(name, snapshot)
        try:
            call = Call(
                arguments=_checked(tool, snapshot.accepted[name], arguments),
                caller=caller or Caller(),
                progress=progress or ignore_progress,
                is_cancelled=is_cancelled or never_cancelled,
            )
            reply = tool.handle(call)
        except SchemoryError as error:
            reply = error_reply(error)
        except Exception as fault:  # noqa: BLE001 (an agent gets an id, the log the traceback)
            reply = self._failed(fault)
        return reply

    def _failed(self, fault: Exception) -> Reply:
        error_id = uuid.uuid4().hex[:12]
        if self.on_internal_error is not None:
            self.on_internal_error(error_id, fault)
        return internal_reply(error_id)

    def _current(self) -> _Snapshot:
        """Return the tools for the schemas as they are now."""
        snapshot = self._snapshot
        if snapshot.version == self._bench.catalog.version:
            return snapshot
        with self._lock:
            if self._snapshot.version != self._bench.catalog.version:
                self._snapshot = self._build()
            return self._snapshot

    def _build(self) -> _Snapshot:
        catalog = self._bench.catalog
        version = catalog.version
        schemas = catalog.schemas()
        names = [name for name in _SPECS if name in self._toolsets]
        fixed = [make_tool(self._bench, spec) for name in names for spec in _SPECS[name]]
        fixed += self._extra
        profile = chosen(
            self._settings.profile, fixed=len(fixed), generated=len(VERBS) * len(schemas)
        )
        faults: list[Problem] = []
        registry = Registry()
        for tool in fixed:
            registry.add(tool)
        if GRAPH in self._toolsets and profile is Profile.COMPACT:
            for spec in TWIN_SPECS:
                registry.add(make_tool(self._bench, spec))
        if GRAPH in self._toolsets and profile is Profile.FULL:
            for schema in schemas:
                faults += _add_generated(registry, entity_tools(self._bench, schema))
        tools = tuple(registry.values())
        return _Snapshot(
            version=version,
            registry=registry,
            accepted={t.name: extended(t.input_schema, t.unadvertised) for t in tools},
            listed=tuple(wire_tool(tool) for tool in tools),
            faults=tuple(faults),
            profile=profile,
        )

    @property
    def _toolsets(self) -> frozenset[str]:
        own = set(self._settings.toolsets)
        return frozenset(own | {ADMIN} if self._settings.manage_schemas else own)

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


def _checked(tool: Tool, accepted: Mapping[str, Json], arguments: object) -> Mapping[str, Json]:
    if tool.accepted is None:
        return check_arguments(accepted, arguments)
    chosen_schema = tool.accepted(read_object(arguments))
    return check_arguments(extended(chosen_schema, tool.unadvertised), arguments)


def _add_generated(registry: Registry, tools: Sequence[Tool]) -> list[Problem]:
    """Add a schema's tools, all or none; returns why not."""
    problems = [problem for tool in tools for problem in lint_tool(wire_tool(tool))]
    taken = {name.casefold() for name in registry}
    problems += [
        Problem(code="INVALID_PARAM", path=f"$.{tool.name}", message="another tool has this name")
        for tool in tools
        if tool.name.casefold() in taken
    ]
    if not problems:
        for tool in tools:
            registry.add(tool)
    return problems


def _unknown_tool(name: str, snapshot: _Snapshot) -> ToolNotFoundError:
    near = nearest(name, snapshot.registry)
    shown = shorten(name, _MAX_SHOWN_NAME)
    message = f"There is no tool named {shown}."
    hint = f"Call {near[0]} instead." if near else "See tools/list for the names."
    if snapshot.profile is Profile.COMPACT:
        hint += " A type's own tools are not listed here: use add_node, update_node, delete_node."
    problem = Problem(code="TOOL_NOT_FOUND", path="$.name", message=message, nearest=near)
    return ToolNotFoundError(message, problems=[problem], suggestions=[hint])


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
