"""`validate`: what in the graph does not fit the schemas, with a fix for each."""

import argparse
from collections.abc import Iterator

from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.output import Output, Style
from schemory.graph.results import NodeFault, ValidationPage
from schemory.graph.service import KnowledgeGraph
from schemory.model.jsonvalue import Json
from schemory.model.text import counted

_STEP = 200


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("type", nargs="?", metavar="TYPE", help="only nodes of this type")


def _run(request: Request) -> int:
    with request.app() as app:
        pages = list(_pages(app.graph, request.args.type))
    faults = [fault for page in pages for fault in page.faults]
    stubs = [name for page in pages for name in page.stubs]
    stale = [hit for page in pages for hit in page.stale_lines]
    checked = sum(page.checked for page in pages)
    out = request.out
    if out.is_json:
        out.json(
            {
                "checked": checked,
                "faults": [_fault_wire(fault) for fault in faults],
                "stubs": stubs,
                "staleLines": [{"node": hit.node_name, "line": hit.line} for hit in stale],
            }
        )
    else:
        for fault in faults:
            _show_fault(fault, out)
        for name in stubs:
            out.line(f"{out.style(name, Style.BOLD)} is a stub: made because something names it")
        for hit in stale:
            out.line(f"{out.style(hit.node_name, Style.BOLD)} has a line without its edge:")
            out.line(f"  {out.style(hit.line, Style.YELLOW)}")
        found = len(faults) + len(stubs) + len(stale)
        out.note(f"{counted(checked, 'node')} checked, {counted(found, 'finding')}")
    return FINDING if faults or stubs or stale else OK


def _pages(graph: KnowledgeGraph, node_type: str | None) -> Iterator[ValidationPage]:
    page = graph.validate(node_type, limit=_STEP)
    yield page
    while page.more is not None:
        page = graph.validate(node_type, limit=_STEP, after=page.more)
        yield page


def _fault_wire(fault: NodeFault) -> Json:
    return {
        "node": fault.node_name,
        "nodeType": fault.node_type,
        "problems": [
            {
                "path": problem.path,
                "problem": problem.message,
                **({"suggestion": problem.suggestion} if problem.suggestion else {}),
            }
            for problem in fault.problems
        ],
    }


def _show_fault(fault: NodeFault, out: Output) -> None:
    kind = out.style(f"({fault.node_type})", Style.DIM)
    out.line(f"{out.style(fault.node_name, Style.BOLD)} {kind}")
    for problem in fault.problems:
        out.line(
            f"  {out.style(problem.path, Style.YELLOW)} {out.style(problem.message, Style.DIM)}"
        )
        if problem.suggestion:
            out.line(
                f"    {out.style('try:', Style.CYAN)} {out.style(problem.suggestion, Style.BOLD)}"
            )


COMMANDS: tuple[Command, ...] = (
    Command(
        name="validate",
        summary="find what does not fit the schemas, with a fix for each; exit code 1 if anything",
        configure=_configure,
        run=_run,
        examples=("schemory validate --pack rpg", "schemory validate npc --json"),
    ),
)
