"""How errors look on the command line, and which exit code they give."""

from schemory.cli.command import FINDING, STORE, USAGE
from schemory.cli.output import Output, Style
from schemory.errors import ConfigError, Problem, SchemoryError, StoreError, UsageError

MAX_PROBLEMS = 20
"""As many problems as a tool's answer lists."""


def exit_code(error: SchemoryError) -> int:
    """Return 2 for a command line or setting that is not understood, 3 for the store, else 1."""
    if isinstance(error, UsageError | ConfigError):
        return USAGE
    return STORE if isinstance(error, StoreError) else FINDING


def show_error(error: SchemoryError, out: Output) -> int:
    """Print `error` with every problem and the next steps; return its exit code."""
    if out.is_json:
        from schemory.tools.replies import error_reply  # noqa: PLC0415 (only for programs)

        out.json(error_reply(error).structured)
        return exit_code(error)
    out.stdout.flush()
    err = Output(stdout=out.stderr, stderr=out.stderr, colour=out.colour)
    err.line(f"{err.style('error:', Style.RED)} {err.style(error.message, Style.BOLD)}")
    for problem in error.problems[:MAX_PROBLEMS]:
        _show_problem(problem, err, is_only=len(error.problems) == 1, headline=error.message)
    hidden = len(error.problems) - MAX_PROBLEMS
    if hidden > 0:
        err.line(f"  … and {hidden} more")
    told = {problem.suggestion for problem in error.problems[:MAX_PROBLEMS]}
    for suggestion in error.suggestions:
        if suggestion not in told:
            err.line(f"{err.style('try:', Style.CYAN)} {err.style(suggestion, Style.BOLD)}")
    return exit_code(error)


def _show_problem(problem: Problem, err: Output, *, is_only: bool, headline: str) -> None:
    # A lone problem mostly is the headline, which may say more behind it.
    if not (is_only and headline.startswith(problem.message)):
        place = problem.message.partition(": ")[0]
        if not (place and problem.path.startswith(place)):  # what a file holds says where it is
            place = ""
        message = problem.message.removeprefix(f"{place}: ")
        where = err.style(problem.path, Style.YELLOW)
        err.line(f"  {where} {err.style(message, Style.DIM)}")
    if problem.nearest:
        err.line(f"    nearest: {', '.join(map(repr, problem.nearest))}")
    if problem.suggestion:
        err.line(f"    {err.style('try:', Style.CYAN)} {err.style(problem.suggestion, Style.BOLD)}")
