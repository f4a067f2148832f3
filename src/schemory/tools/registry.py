"""What a tool is: frozen data with a handler, in a registry that refuses equal names."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum

from schemory.errors import Problem
from schemory.model.frozen import dataclass, field
from schemory.model.jsonvalue import Json


class Effect(StrEnum):
    """What a call may do; becomes the four MCP annotation hints."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"

    @property
    def hints(self) -> dict[str, Json]:
        """The annotation hints, all four explicit; nothing reaches beyond the store."""
        return {
            "readOnlyHint": self is Effect.READ,
            "destructiveHint": self is Effect.DESTRUCTIVE,
            "idempotentHint": self is Effect.READ,
            "openWorldHint": False,
        }


class Family(StrEnum):
    """Which of the two specified answer shapes a tool speaks (graph.md §5, memory.md §5)."""

    GRAPH = "graph"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls.

    Attributes:
        author: Stored with what is written: client name/version, a principal, `cli`.
        client: Transport and client, for the ledger.
        principal: Whom a token stands for, over HTTP; cursors belong to it.
        projects: The only projects it may use; None = all.
    """

    author: str = ""
    client: str = ""
    principal: str = ""
    projects: tuple[str, ...] | None = None


def ignore_progress(done: float, total: float | None, message: str) -> None:
    """Take a step's report for nobody."""
    del done, total, message


def never_cancelled() -> bool:
    """Return False: nobody can give up this call."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """That the client can ask the person behind it, and what they have said.

    Attributes:
        answers: Results of `elicitation/create` by the question's key, as the client sent them;
            empty where nobody was asked yet.
        state: What came with the question, echoed.
    """

    answers: Mapping[str, object] = field(default_factory=dict[str, object])
    state: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the person has to be asked before the call can go on.

    Attributes:
        key: Names the question among others; the answer comes under it.
        params: Those of `elicitation/create`.
        state: To be handed back with the answer.
    """

    key: str
    params: Mapping[str, Json]
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call: arguments that satisfy the tool's input schema, and its surroundings.

    Attributes:
        left_out: Problems of listed items that are not among the arguments, by their index.
        places: Where each listed item stood in the call; empty = where it stands.
        progress: Reports (done, total or None, message); a no-op when nobody listens.
        is_cancelled: Whether the client gave up; long work asks between steps.
        asking: None where the client cannot ask its person anything.
    """

    arguments: Mapping[str, Json]
    caller: Caller = field(default_factory=Caller)
    left_out: Mapping[int, tuple[Problem, ...]] = field(
        default_factory=dict[int, tuple[Problem, ...]]
    )
    places: tuple[int, ...] = ()
    progress: Callable[[float, float | None, str], None] = ignore_progress
    is_cancelled: Callable[[], bool] = never_cancelled
    asking: Asking | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A tool's answer, ready for any adapter: each of the two forms is enough alone.

    Attributes:
        structured: `structuredContent`.
        text: The one text content block.
        question: Comes instead of both: nothing has been done yet, and the call is to be made again
            with the answer.
    """

    structured: Mapping[str, Json]
    text: str
    is_error: bool = False
    question: Question | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a person confirms before a tool does it, where their client can ask them.

    Attributes:
        argument: The flag that says it in the call itself.
        title: What the person ticks.
        question: What they read first; None = this call needs no confirmation, or has it.
    """

    argument: str
    title: str
    question: Callable[[Call], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as data.

    Attributes:
        input_schema: JSON Schema that strict hosts accept; also what calls are checked against.
        unadvertised: Argument schemas that are accepted but not listed: merged, to any depth, into
            the properties of `input_schema` before a call is checked.
        items: The argument that lists things to write, each of which may fail by itself; "" = none.
        rehearse: Returns what the graph has against a call, without writing; goes with `items`.
        accepted: Chooses, by the arguments of a call, the schema it is checked against instead,
            where older dialects have another shape; raises what no dialect allows.
        output_schema: Satisfied by successes and errors alike.
        toolset: `graph`, `memory`, `graph_query` or `admin`.
        refused: Told of a call that broke the schema and never came to `handle`, as it was made.
        is_long: May take long enough that other calls should not wait for it.
        confirmation: For what cannot be taken back.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Json]
    output_schema: Mapping[str, Json]
    effect: Effect
    toolset: str
    handle: Callable[[Call], Reply]
    family: Family = Family.GRAPH
    unadvertised: Mapping[str, Json] = field(default_factory=dict[str, Json])
    accepted: Callable[[Mapping[str, Json]], Mapping[str, Json]] | None = None
    items: str = ""
    rehearse: Callable[[Call], tuple[Problem, ...]] | None = None
    refused: Callable[[Call], None] | None = None
    is_long: bool = False
    confirmation: Confirmation | None = None


class Registry(Mapping[str, Tool]):
    """Tools by name, listed sorted; a name that differs only by case from another is refused."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._folded: set[str] = set()

    def add(self, tool: Tool) -> None:
        """Add `tool`.

        Raises:
            ValueError: The name is taken, ignoring case.
        """
        folded = tool.name.casefold()
        if folded in self._folded:
            raise ValueError(f"tool name {tool.name!r} is taken")
        self._folded.add(folded)
        self._tools[tool.name] = tool

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._tools))

    def __len__(self) -> int:
        return len(self._tools)
