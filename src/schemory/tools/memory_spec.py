"""A memory tool as data, and the one way in which it is made; its calls import what they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.tools.late import late
from schemory.tools.memory_parts import TEXT, memory_output_schema
from schemory.tools.registry import Call, Confirmation, Effect, Family, Reply, Tool

if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from schemory.memory.service import ProjectMemory
    from schemory.tools.memory_bench import MemoryBench

TOOLSET: Final = "memory"

_PROJECT: Final[Mapping[str, Json]] = {
    "project_path": {"type": "string", "description": "Absolute path of your working folder."},
    "project_id": TEXT,
}
_bench_of: Callable[[MemoryDesk], MemoryBench] = late("memory_bench:bench_of")
_record_refusal: Callable[[MemoryDesk, str, Call], None] = late("memory_bench:record_refusal")

Handler: TypeAlias = "Callable[[MemoryBench, Call], Reply]"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDesk:
    """What a `MemoryBench` is made of, by the first call.

    Attributes:
        open_memory: Returns the memory; asked by calls alone, so that listing tools opens no store.
        budget: Most UTF-8 bytes of an answer; 0 = no bound.
        graph_facts: What `memory_status` tells of the graph half; None = it is not served.
    """

    open_memory: Callable[[], ProjectMemory]
    budget: int
    graph_facts: Callable[[Call], Mapping[str, Json]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirming:
    """A `Confirmation` before it has anything to work with."""

    argument: str
    title: str
    question: Callable[[MemoryBench, Call], str | None]

    def on(self, desk: MemoryDesk) -> Confirmation:
        """Return it, working on what `desk` opens."""
        return Confirmation(
            argument=self.argument,
            title=self.title,
            question=lambda call: self.question(_bench_of(desk), call),
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


def make_memory_tool(desk: MemoryDesk, spec: MemorySpec) -> Tool:
    """Return the tool that `spec` describes; its calls work on what `desk` opens."""
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
        handle=lambda call: spec.handle(_bench_of(desk), call),
        unadvertised=spec.unadvertised or {},
        refused=(
            None
            if spec.effect is Effect.READ
            else lambda call: _record_refusal(desk, spec.name, call)
        ),
        is_long=spec.is_long,
        confirmation=spec.confirming.on(desk) if spec.confirming else None,
    )
