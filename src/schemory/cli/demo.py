"""`demo`: what an agent sees, shown with a real client and the real server."""

import argparse
import re

from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.output import Output, Style
from schemory.model.jsonvalue import Json, compact

_WIDTH = 96


def _configure(parser: argparse.ArgumentParser) -> None:
    del parser


def _run(request: Request) -> int:
    from schemory.server.demo import Greeting, Seen, converse  # noqa: PLC0415 (imports the SDK)

    out = request.out
    seen_steps: list[Json] = []

    def greet(greeting: Greeting) -> None:
        if not out.is_json:
            out.line(out.style("A real MCP client talks to the real server.", Style.BOLD))
            out.line(f"server   {out.style(greeting.start_line, Style.DIM)}")
            out.line(f"protocol {out.style(greeting.protocol, Style.DIM)}")
            _wrapped("tools    ", ", ".join(greeting.tools), Style.DIM, out)

    def show(seen: Seen) -> None:
        step = seen.step
        seen_steps.append(
            {
                "title": step.title,
                "tool": step.tool,
                "arguments": step.arguments,
                "isError": seen.is_error,
                "structuredContent": seen.structured,
            }
        )
        if out.is_json:
            return
        out.line()
        out.line(out.style(f"{len(seen_steps):>2}. {step.title}", Style.BOLD))
        _wrapped("   > ", f"{step.tool} {compact(step.arguments)}", Style.CYAN, out)
        _wrapped("   < ", seen.text, Style.RED if seen.is_error else Style.GREEN, out)

    as_told = converse(greet, show)
    if out.is_json:
        out.json({"steps": seen_steps})
    else:
        out.line()
        out.line("Nothing of this was kept. To go on:")
        out.line("  schemory init --pack rpg    copy these schemas and edit them")
        out.line("  schemory serve              what your MCP client starts")
    return OK if as_told else FINDING


def _wrapped(mark: str, text: str, style: Style, out: Output) -> None:
    """Print `text` behind `mark` to the letter, broken only after commas and spaces."""
    lines = [""]
    for piece in re.split(r"(?<=[ ,])", text):
        if lines[-1] and len(mark) + len(lines[-1]) + len(piece.rstrip()) > _WIDTH:
            lines.append("")
        lines[-1] += piece
    for number, line in enumerate(lines):
        out.line((mark if number == 0 else " " * len(mark)) + out.style(line.rstrip(), style))


COMMANDS: tuple[Command, ...] = (
    Command(
        name="demo",
        summary="see the real server at work, as an agent sees it, in a temporary folder",
        configure=_configure,
        run=_run,
        examples=("schemory demo", "schemory demo --json"),
    ),
)
