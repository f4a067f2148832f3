"""A graph tool as data, and the one way in which it is made; nothing its calls need is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.tools.late import late
from schemory.tools.parts import PROJECT_ARGUMENT, output_schema
from schemory.tools.registry import Call, Effect, Reply, Tool

if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from schemory.graph.service import KnowledgeGraph
    from schemory.model.moment import Clock
    from schemory.schemas.catalog import SchemaCatalog
    from schemory.tools.bench import Bench

_PROJECT: Final[Mapping[str, Json]] = {
    "type": "string",
    "description": "Project whose graph is meant; default: the server's.",
}

_bench_of: Callable[[Desk], Bench] = late("bench:bench_of")
_rehearse = late("bench:rehearse")

Rephrase: TypeAlias = Callable[[str], str]
"""Says a next step with the tools that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a `Bench` is made of, by the first call.

    Attributes:
        open_graph: Returns the graph; asked by calls alone, so that listing tools opens no store.
        budget: Most UTF-8 bytes of an answer; 0 = no bound.
        takes_project: Whether tools accept `project_id`.
        rephrase: Says next steps with the tools that are listed.
    """

    open_graph: Callable[[], KnowledgeGraph]
    catalog: SchemaCatalog
    now: Clock
    budget: int
    takes_project: bool
    rephrase: Rephrase = str


Handler: TypeAlias = "Callable[[Bench, Call], Reply]"
Chooser: TypeAlias = Callable[[Mapping[str, Json]], Mapping[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A graph tool before it has anything to work with.

    Attributes:
        properties: The advertised arguments.
        data: Properties of a success's `data`, for the output schema.
        unadvertised: Laid over `properties` when calls are checked; see `Tool`.
        chooses: Given the tool's whole input schema, returns `Tool.accepted`.
        is_shared: The tool is about schemas, which all projects share: no `project_id`.
        items: See `Tool`.
    """

    name: str
    title: str
    description: str
    effect: Effect
    handle: Handler
    properties: Mapping[str, Json]
    data: Mapping[str, Json]
    required: Sequence[str] = ()
    unadvertised: Mapping[str, Json] | None = None
    chooses: Callable[[Mapping[str, Json]], Chooser] | None = None
    toolset: str = "graph"
    is_shared: bool = False
    items: str = ""


def make_tool(desk: Desk, spec: Spec) -> Tool:
    """Return the tool that `spec` describes; its calls work on what `desk` opens."""
    input_schema = _root_schema(desk, spec)
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=input_schema,
        output_schema=output_schema(spec.data),
        effect=spec.effect,
        toolset=spec.toolset,
        handle=lambda call: spec.handle(_bench_of(desk), call),
        unadvertised=spec.unadvertised or {},
        accepted=_choosing(spec, input_schema),
        items=spec.items,
        rehearse=lambda call: _rehearse(desk, spec.handle, call),
    )


def _choosing(spec: Spec, root: Mapping[str, Json]) -> Chooser | None:
    chooses = spec.chooses
    if chooses is None:
        return None

    def choose(arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        return chooses(root)(arguments)  # only now is it imported

    return choose


def _root_schema(desk: Desk, spec: Spec) -> dict[str, Json]:
    """Return an input schema's root; it takes `project_id` where other projects are allowed."""
    own = dict(spec.properties)
    if desk.takes_project and not spec.is_shared:
        own[PROJECT_ARGUMENT] = _PROJECT
    return {
        "type": "object",
        "properties": own,
        "required": list(spec.required),
        "additionalProperties": False,
    }
