"""How memory commands reach the memory: the current folder's project, through the tools' own code.

A command builds a tool's arguments and shows its answer, so that a person and an agent get the
same; only what is for people alone (audit, projects, brief) asks the memory itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

from schemory.cli.command import Request
from schemory.cli.memory_hints import advise_for_shell, shell_hint
from schemory.cli.output import Output, Style
from schemory.errors import SchemoryError, UsageError
from schemory.hints import TYPE_CHECKING
from schemory.model.author import Author

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from schemory.memory.inputs import ProjectRef
    from schemory.memory.service import ProjectMemory

BY = Author(author="cli", client="cli")

Answer: TypeAlias = "Mapping[str, Any]"
"""A tool's structured answer."""


def add_project_option(parser: argparse.ArgumentParser) -> None:
    """Add what chooses the project beside `--project`."""
    parser.add_argument(
        "--project-id",
        dest="MEMORY_PROJECT_ID",
        metavar="ID",
        default=argparse.SUPPRESS,
        help="the project by its id (default: that of the current folder)",
    )


class Desk:
    """The memory, and the project that the command line means."""

    def __init__(self, memory: ProjectMemory, folder: str | None) -> None:
        self.memory = memory
        self._folder = folder

    @property
    def ref(self) -> ProjectRef:
        """The project: the one that was named, else the current folder's."""
        from schemory.memory.inputs import ProjectRef  # noqa: PLC0415 (not for help)

        return ProjectRef(project_path=self._folder)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: Callable[[float, float | None, str], None] | None = None,
    ) -> Answer:
        """Return what a tool answers, without a bound; None stands for an argument not given.

        Raises:
            SchemoryError: The tool refuses.
        """
        from schemory.tools.memory import memory_tools  # noqa: PLC0415 (not for help)
        from schemory.tools.memory_bench import MemoryBench  # noqa: PLC0415 (as above)
        from schemory.tools.registry import Call, Caller, ignore_progress  # noqa: PLC0415 (as above)

        bench = MemoryBench(open_memory=lambda: self.memory, budget=0)
        keeps_none = tool == "memory_update_entry"  # where null clears a field
        given = {k: value for k, value in arguments.items() if value is not None or keeps_none}
        if self._folder is not None and given.get("mode") != "cross_project":
            given["project_path"] = self._folder
        found = next(each for each in memory_tools(bench) if each.name == tool)
        caller = Caller(author=BY.author, client=BY.client)
        call = Call(arguments=given, caller=caller, progress=progress or ignore_progress)
        return found.handle(call).structured


@contextmanager
def desk(request: Request, *, file: str | None = None) -> Generator[Desk]:
    """Open the memory for one command; `file` is one that the command line names to it."""
    from schemory.app import open_memory  # noqa: PLC0415 (help and usage errors need no store)

    settings = request.settings()
    folder = None if settings.project else settings.working_folder
    with open_memory(settings) as memory:
        yield Desk(memory if file is None else memory.with_named_file(file), folder)


def told(run: Callable[[Request], int]) -> Callable[[Request], int]:
    """Return `run` with its refusals for whoever reads: the memory's shape, or flags to use."""

    def run_told(request: Request) -> int:
        try:
            return run(request)
        except SchemoryError as error:
            if isinstance(error, UsageError):
                raise
            if not request.out.is_json:
                advise_for_shell(error)
                raise
            from schemory.cli.faults import exit_code  # noqa: PLC0415 (only for errors)
            from schemory.tools.memory_replies import memory_error  # noqa: PLC0415 (as above)

            request.out.json(memory_error(error).structured)
            return exit_code(error)

    return run_told


def show_warnings(answer: Answer, out: Output) -> None:
    """Print an answer's warnings on stderr, beside the result."""
    for warning in answer.get("warnings", ()):
        out.note(f"warning: {shell_hint(warning)}")


def show(request: Request, answer: Answer, view: Callable[[Answer, Output], None]) -> None:
    """Print an answer: as JSON for programs, else as `view` shows it."""
    if request.out.is_json:
        request.out.json(answer)
        return
    view(answer, request.out)
    show_warnings(answer, request.out)


def confirmed(request: Request, question: str) -> bool:
    """Return whether a person says yes; where nobody can be asked only `--yes` does."""
    if request.args.yes:
        return True
    out = request.out
    if not (out.is_terminal and request.stdin.isatty()) or out.is_json:
        return False
    out.line(f"{out.style(question, Style.BOLD)} [y/N] ")
    return request.stdin.readline().strip().lower() in {"y", "yes"}


def input_text(request: Request, given: str | None) -> str | None:
    """Return a text argument; `-` reads standard input to its end."""
    if given != "-":
        return given
    if request.stdin.isatty():
        request.out.note("reading standard input; end with Ctrl-D")
    # The bytes as they come: a text stream would turn line ends into its own.
    data: bytes = request.stdin.buffer.read()
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        raise UsageError(f"standard input is no UTF-8: byte {fault.start + 1}") from None
