"""Puts the tools together for one state of the schemas, as toolsets and profile say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from schemory.errors import Problem
from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass, replace
from schemory.model.jsonvalue import Json
from schemory.tools.admin_specs import ADMIN_SPECS
from schemory.tools.late import late
from schemory.tools.parts import VERBS
from schemory.tools.profiles import Profile, chosen, wire_tool
from schemory.tools.query_specs import QUERY_SPECS
from schemory.tools.registry import Registry, Tool
from schemory.tools.schema_specs import SCHEMA_SPECS
from schemory.tools.spec import Desk, Rephrase, Spec, make_tool
from schemory.tools.static import STATIC_SPECS

if TYPE_CHECKING:
    from typing import Final

    from schemory.model.schema import NodeSchema

GRAPH: Final = "graph"
GRAPH_QUERY: Final = "graph_query"
ADMIN: Final = "admin"
DEFAULT_BUDGET: Final = 60_000

# A start without schemas needs none of these.
_entity_tools: Callable[[Desk, NodeSchema], tuple[Tool, ...]] = late("entity_tools:entity_tools")
_lint_tool: Callable[[Mapping[str, Json]], tuple[Problem, ...]] = late("lint:lint_tool")
_generic_call: Rephrase = late("twins:generic_call")

_SPECS: Final[Mapping[str, Sequence[Spec]]] = {
    GRAPH: (*STATIC_SPECS, *SCHEMA_SPECS),
    GRAPH_QUERY: QUERY_SPECS,
    ADMIN: ADMIN_SPECS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """Which tools there are and how they answer.

    Attributes:
        toolsets: Of `graph`, `memory`, `graph_query`, `admin`.
        response_budget: Most UTF-8 bytes of one answer; 0 = no bound.
        allow_cross_project: Whether graph tools take `project_id`.
        manage_schemas: The same as the toolset `admin`.
        for_remote: The agents are on other machines, whose folders say nothing here.
    """

    toolsets: tuple[str, ...] = (GRAPH,)
    profile: Profile = Profile.FULL
    response_budget: int = DEFAULT_BUDGET
    allow_cross_project: bool = False
    manage_schemas: bool = False
    for_remote: bool = False

    @property
    def all_toolsets(self) -> frozenset[str]:
        """The toolsets in force."""
        own = set(self.toolsets)
        return frozenset(own | {ADMIN} if self.manage_schemas else own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """The tools for one version of the catalog.

    Attributes:
        listed: The wire form of all tools, sorted.
        faults: Why schemas that loaded bring no tools.
        profile: Full or compact, whichever is in force.
    """

    version: int
    registry: Registry
    listed: tuple[Mapping[str, Json], ...]
    faults: tuple[Problem, ...]
    profile: Profile
    rephrase: Rephrase


def assemble(desk: Desk, settings: ToolSettings, extra_tools: Iterable[Tool]) -> Assembly:
    """Return the tools for the schemas as they are now."""
    version = desk.catalog.version
    schemas = desk.catalog.schemas()
    specs = [spec for name in _SPECS if name in settings.all_toolsets for spec in _SPECS[name]]
    others = tuple(extra_tools)
    count = len(specs) + len(others)
    has_graph = GRAPH in settings.all_toolsets
    generated = len(VERBS) * len(schemas) if has_graph else 0
    profile = chosen(Profile(settings.profile), fixed=count, generated=generated)
    rephrase = _generic_call if profile is Profile.COMPACT else str
    desk = replace(desk, rephrase=rephrase)
    if has_graph and profile is Profile.COMPACT:
        from schemory.tools.twins import TWIN_SPECS  # noqa: PLC0415 (most lists are full)

        specs += TWIN_SPECS
    registry = Registry()
    for tool in (*(make_tool(desk, spec) for spec in specs), *others):
        registry.add(tool)
    faults: list[Problem] = []
    if has_graph and profile is Profile.FULL:
        for schema in schemas:
            faults += _add_generated(registry, _entity_tools(desk, schema))
    tools = tuple(registry.values())
    return Assembly(
        version=version,
        registry=registry,
        listed=tuple(wire_tool(tool) for tool in tools),
        faults=tuple(faults),
        profile=profile,
        rephrase=rephrase,
    )


def _add_generated(registry: Registry, tools: Sequence[Tool]) -> list[Problem]:
    """Add a schema's tools, all or none; returns why not."""
    problems = [problem for tool in tools for problem in _lint_tool(wire_tool(tool))]
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
