"""`call`: run any tool and print the answer that an agent would get."""

import argparse
import json
from typing import TYPE_CHECKING

from schemory.cli.command import FINDING, OK, STORE, Command, Request, read_text
from schemory.config import TOOLSETS
from schemory.errors import ToolNotFoundError, UsageError
from schemory.model.frozen import replace
from schemory.tools.registry import Caller, Reply

if TYPE_CHECKING:
    from schemory.app import App

_CALLER = Caller(author="cli", client="cli")


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "tool", nargs="?", metavar="TOOL", help="the tool's name; without one all are listed"
    )
    parser.add_argument(
        "arguments",
        nargs="?",
        default="{}",
        metavar="JSON|-",
        help="its arguments as a JSON object; - reads standard input (default {})",
    )


def _run(request: Request) -> int:
    if request.args.tool is None:
        return _list(request)
    text = read_text(request.args.arguments, request.stdin)
    try:
        arguments: object = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise UsageError(f"the arguments are no JSON: {fault}") from None
    settings = replace(request.settings(), toolsets=TOOLSETS)
    with request.app(settings) as app:
        reply = _call(app, request.args.tool, arguments)
    request.out.json(reply.structured)
    if not reply.is_error:
        return OK
    return STORE if str(reply.structured.get("error_code", "")).startswith("STORE") else FINDING


def _list(request: Request) -> int:
    """Print every tool with what it does."""
    with request.app(replace(request.settings(), toolsets=TOOLSETS)) as app:
        tools = app.toolbox.list_tools()
    if request.out.is_json:
        request.out.json(tools)
        return OK
    rows = ((str(tool["name"]), _gist(str(tool["description"]))) for tool in tools)
    request.out.table(("tool", "what it does"), rows)
    return OK


def _gist(description: str) -> str:
    """Return the first sentence of a description."""
    first, _, _ = description.partition(". ")
    return first.rstrip(".")


def _call(app: "App", tool: str, arguments: object) -> Reply:
    try:
        return app.toolbox.call(tool, arguments, _CALLER)
    except ToolNotFoundError as error:
        compact = app.toolbox_for("compact")
        if any(listed["name"] == tool for listed in compact.list_tools()):
            return compact.call(tool, arguments, _CALLER)
        raise UsageError(
            error.message, problems=error.problems, suggestions=error.suggestions
        ) from None


COMMANDS: tuple[Command, ...] = (
    Command(
        name="call",
        summary="run any tool and print the answer that an agent would get",
        configure=_configure,
        run=_run,
        examples=(
            'schemory call search_nodes \'{"query": "wizard"}\'',
            "schemory call add_npc - --pack rpg < npc.json",
            "schemory call                           # which tools are there?",
        ),
    ),
)
