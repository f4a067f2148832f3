"""What a call of a tool takes: its arguments checked, its work done, its errors told."""

from collections.abc import Callable
from typing import Final

from schemory.errors import Problem, SchemoryError, ToolNotFoundError, error_for
from schemory.model.frozen import replace
from schemory.model.likeness import nearest
from schemory.tools.assembly import Assembly
from schemory.tools.memory_replies import memory_error, memory_internal
from schemory.tools.parts import VERBS
from schemory.tools.profiles import Profile
from schemory.tools.registry import Call, Family, Reply, Tool
from schemory.tools.replies import error_reply, internal_reply, shorten
from schemory.tools.sifting import all_problems, sift
from schemory.tools.spec import Rephrase
from schemory.tools.validate import Examined, examine_arguments, extended, read_object

_MAX_SHOWN_NAME: Final = 64


def perform(tool: Tool, call: Call, arguments: object, key: Callable[[], bytes]) -> Reply:
    """Return the answer of a call with these arguments.

    Args:
        tool: What is called.
        call: Without arguments.
        arguments: As the client sent them.
        key: Returns the store's secret; asked where a person has to confirm.

    Raises:
        SchemoryError: With every problem there is.
    """
    root = tool.accepted(read_object(arguments)) if tool.accepted else tool.input_schema
    examined = examine_arguments(extended(root, tool.unadvertised), arguments)
    if examined.problems and tool.refused is not None:
        tool.refused(replace(call, arguments=read_object(arguments)))
    return _made(tool, examined, call, key)


def _made(tool: Tool, examined: Examined, call: Call, key: Callable[[], bytes]) -> Reply:
    """Make the call; where items cannot be read, tell also what is wrong with the others.

    Raises:
        SchemoryError: With every problem there is.
    """
    if not examined.problems:
        call = replace(call, arguments=examined.arguments)
        if tool.confirmation is None or call.asking is None:
            return tool.handle(call)
        from schemory.tools.confirming import handle_confirmed  # noqa: PLC0415 (a rare tool's)

        return handle_confirmed(tool, call, key())
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


def refusal(tool: Tool, error: SchemoryError, rephrase: Rephrase) -> Reply:
    """Return `error` as the tool's family answers it."""
    return memory_error(error) if tool.family is Family.MEMORY else error_reply(error, rephrase)


def failure(tool: Tool, error_id: str) -> Reply:
    """Return the answer to a failure of our own, as the tool's family has it."""
    is_memory = tool.family is Family.MEMORY
    return memory_internal(error_id) if is_memory else internal_reply(error_id)


def unknown_tool(name: str, tools: Assembly, faults: int) -> ToolNotFoundError:
    """Return what a call of no tool is answered with; it names the nearest."""
    near = nearest(name, tools.registry)
    shown = shorten(name, _MAX_SHOWN_NAME).encode("utf-8", "replace").decode()
    message = f"There is no tool named {shown}."
    hint = f"Call {near[0]} instead." if near else "See tools/list for the names."
    if tools.profile is Profile.COMPACT:
        hint += " A type's own tools are not listed here: use add_node, update_node, delete_node."
    hints = [hint]
    if faults and name.partition("_")[0] in VERBS:
        one = "1 schema file is at fault and gives"
        files = one if faults == 1 else f"{faults} schema files are at fault and give"
        hints.append(f"{files} no tools; list_schemas says what is wrong.")
    problem = Problem(code="TOOL_NOT_FOUND", path="$.name", message=message, nearest=near)
    return ToolNotFoundError(message, problems=[problem], suggestions=hints)
