"""`import`: moving in, from an export of this memory or from what another tool kept."""

import argparse
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.memory_desk import BY, add_project_option, confirmed, desk, show_warnings, told
from schemory.cli.memory_files import configure_export_import, run_export_import
from schemory.cli.move_in_view import plan_wire, show_plan, show_written
from schemory.cli.output import Output
from schemory.cli.progress import Progress, progress_bar
from schemory.cli.transfer import configure_graph_import, run_graph_import
from schemory.errors import SecretDetectedError, UsageError
from schemory.model.likeness import nearest
from schemory.transfer.foreign.kinds import ALIASES, SUMMARIES, Kind

if TYPE_CHECKING:
    from schemory.transfer.foreign.options import Moved

_AUTO = "auto"
_STDIN = "-"
_KINDS = "\n".join(f"  {kind.value:<13} {summary}" for kind, summary in SUMMARIES.items())


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"kinds:\n{_KINDS}\n\n{parser.epilog or ''}"
    add = parser.add_argument
    add("file", metavar="PATH", help="a file or folder")
    add(
        "--from",
        dest="kind",
        metavar="KIND",
        default=_AUTO,
        help="what it is, see below (default: found out, and said)",
    )
    add("--dry-run", action="store_true", help="tell what would happen, write nothing")
    add("--yes", action="store_true", help="do not ask; needed where nobody can answer")
    add("--allow-secret", action="store_true", help="take texts that look like credentials")
    add("--skip-secrets", action="store_true", help="leave out entries that look like credentials")
    add("--scope", metavar="SCOPE", help="of every entry, instead of what the source tells")
    add("--tag", dest="tags", action="append", default=[], metavar="TAG", help="repeatable")
    add(
        "--source-project",
        metavar="ID",
        help="memory-node: take only this project of the database",
    )
    configure_export_import(parser.add_argument_group("exports of this memory").add_argument)
    configure_graph_import(parser.add_argument_group("knowledge-graph files").add_argument)
    add_project_option(parser)


def _run(request: Request) -> int:
    if not request.args.file.strip():  # such as a variable of the shell that is not set
        raise UsageError("PATH is empty", suggestions=["`.` is the current folder."])
    kind, why = _kind(request)
    if request.args.file == _STDIN:
        return _import_stdin(request, kind)
    if kind is Kind.EXPORT:
        return run_export_import(request)
    if kind is Kind.GRAPH:
        return _import_graph(request, why)
    return _move_in(request, kind, why)


def _import_stdin(request: Request, kind: Kind) -> int:
    """Take a graph from standard input, which cannot be asked as well."""
    if kind is not Kind.GRAPH:
        raise UsageError(
            "standard input can only hold a graph file",
            suggestions=["Say so: `schemory import --from graph -`.", "Or name a file."],
        )
    return run_graph_import(request)


def _kind(request: Request) -> tuple[Kind, str]:
    """Return what is to be imported, and what shows it where nobody said it."""
    word: str = request.args.kind.lower()
    known = {**{kind.value: kind for kind in Kind}, **ALIASES}
    if word in known:
        return known[word], ""
    if word != _AUTO:
        near = nearest(word, tuple(known))
        hints = [f"Did you mean --from {each}?" for each in near]
        raise UsageError(
            f"--from {request.args.kind!r} is not known",
            suggestions=[*hints, f"Known are {', '.join((_AUTO, *known))}."],
        )
    from schemory.transfer.foreign.detect import find_kind  # noqa: PLC0415 (not for help)

    found = find_kind(_path(request))
    return (Kind.EXPORT, "") if found is None else (found.kind, found.why)


def _path(request: Request) -> Path:
    return Path(request.args.file).expanduser()


def _import_graph(request: Request, why: str) -> int:
    args, out = request.args, request.out
    if args.yes and not args.dry_run:
        return run_graph_import(request)
    plan = replace(request, args=argparse.Namespace(**{**vars(args), "dry_run": True}))
    if why:
        out.note(f"taken for {Kind.GRAPH.value}: {why}")
    code = run_graph_import(plan)
    if args.dry_run or out.is_json:
        return code
    if not confirmed(request, "Import it?"):
        raise _not_confirmed()
    return run_graph_import(request)


def _move_in(request: Request, kind: Kind, why: str) -> int:
    from schemory.transfer.foreign.importer import move_in  # noqa: PLC0415 (not for help)
    from schemory.transfer.foreign.options import MoveOptions  # noqa: PLC0415 (as above)

    args, out = request.args, request.out
    if args.allow_secret and args.skip_secrets:
        raise UsageError("--allow-secret and --skip-secrets exclude each other")
    options = MoveOptions(
        kind=kind,
        scope=args.scope,
        tags=tuple(args.tags),
        dry_run=args.dry_run,
        allow_secret=args.allow_secret,
        skip_secrets=args.skip_secrets,
        source_project=args.source_project,
        into_one=request.settings().project is not None,
    )
    is_declined = False
    bars = _Bars(out)

    def confirm(plan: "Moved") -> bool:
        nonlocal is_declined
        if args.yes or out.is_json:
            return bool(args.yes)
        bars.close()  # a bar that moves would write over the question
        show_plan(replace(plan, why=why), out)
        is_yes = confirmed(request, "Import this?")
        is_declined = not is_yes
        return is_yes

    try:
        with desk(request) as memory, closing(bars):
            moved = move_in(
                memory.memory,
                memory.ref,
                _path(request),
                options,
                confirm=confirm,
                by=BY,
                progress=bars.show,
            )
    except SecretDetectedError as error:
        error.suggestions = (
            "Pass --skip-secrets to leave these entries out and take the rest.",
            *error.suggestions,
        )
        raise
    if is_declined:
        raise _not_confirmed()
    return _told(request, replace(moved, why=why))


class _Bars:
    """Progress bars that come and go: one before the question, one after it."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._stack = ExitStack()
        self._bar: Progress | None = None

    def show(self, done: float, total: float | None, message: str) -> None:
        """Tell how far it is."""
        if self._bar is None:
            self._bar = self._stack.enter_context(progress_bar(self._out))
        self._bar(done, total, message)

    def close(self) -> None:
        """Take the bar away until there is more to tell."""
        self._stack.close()
        self._bar = None


def _told(request: Request, moved: "Moved") -> int:
    out = request.out
    if out.is_json:
        out.json(plan_wire(moved))
    elif moved.is_written and not request.args.yes:
        show_written(moved, out)
    else:
        show_plan(moved, out)
    if not out.is_json:
        show_warnings({"warnings": moved.warnings}, out)
    return FINDING if moved.refused_count or any(p.counts.secrets for p in moved.parts) else OK


def _not_confirmed() -> UsageError:
    return UsageError(
        "nothing was imported", suggestions=["Pass --yes where nobody can answer, to import it."]
    )


COMMANDS: tuple[Command, ...] = (
    Command(
        name="import",
        summary="take in an export, or what another tool kept; shows the plan first",
        configure=_configure,
        run=told(_run),
        examples=(
            "schemory import CLAUDE.md",
            "schemory import --from basic-memory ~/basic-memory --dry-run",
            "schemory import --from memory-node ~/.mcp-servers/memory/memory.sqlite --yes",
            "schemory import memory.jsonl --on-conflict merge",
        ),
    ),
)
