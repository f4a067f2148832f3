"""The memory as files and its record of writes: `export`, the import of one, `audit`."""

import argparse
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from schemory.cli.command import OK, Command, Request
from schemory.cli.memory_desk import (
    Answer,
    Desk,
    add_project_option,
    confirmed,
    desk,
    show,
    told,
)
from schemory.cli.memory_view import local_time
from schemory.cli.output import Output
from schemory.cli.progress import progress_bar
from schemory.errors import UsageError
from schemory.memory.audit_file import row_wire
from schemory.model.text import counted
from schemory.tools.memory_specs import CONFLICTS, FORMATS

if TYPE_CHECKING:
    from schemory.model.entry import AuditRow

_SHOWN_ROWS = 50
_STEP = 1_000
_INCLUDED = ("archived", "invalidated", "superseded")


def _configure_export(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="FILE", help="where to; in an allowed root where some are configured")
    add("--format", choices=FORMATS, help="default: by the file's ending, else json")
    for status in _INCLUDED:
        add(f"--{status}", action="store_true", help=f"also {status} entries")
    add("--all", action="store_true", help="entries of every status")
    add("--overwrite", action="store_true", help="replace a file that is there")
    add_project_option(parser)


def _run_export(request: Request) -> int:
    args = request.args
    if args.file == "-":
        raise UsageError(
            "An export is a file, complete or not there at all; it is not written to a pipe.",
            suggestions=[
                "Name a file: schemory export memory.json",
                "schemory list --json gives programs the entries.",
            ],
        )
    file = _path(args.file)
    arguments = {
        "save_path": file,
        "format": args.format,
        "overwrite": args.overwrite,
        **{f"include_{status}": args.all or getattr(args, status) for status in _INCLUDED},
    }
    with desk(request, file=file) as memory, progress_bar(request.out) as progress:
        answer = memory.call("memory_export_project", arguments, progress)
    show(request, answer, _view_export)
    return OK


def _view_export(answer: Answer, out: Output) -> None:
    entries = answer["entries"]
    noun = "entry" if entries == 1 else "entries"
    links = counted(answer["links"], "link")
    out.line(f"exported {entries:,} {noun}, {links} to {answer['save_path']}")


def _path(text: str) -> str:
    """Return a path as the person at the shell means it: from the current folder."""
    return str(Path.cwd() / Path(text).expanduser())


def configure_export_import(add: Callable[..., object]) -> None:
    """Add what an import of an export can be told beside its file."""
    add(
        "--on-conflict",
        choices=CONFLICTS,
        default=CONFLICTS[0],
        help="fail at what is there already (default), merge with it, or replace all there is",
    )


def run_export_import(request: Request) -> int:
    """Read an export into the project, all of it or nothing."""
    args = request.args
    replaces = args.on_conflict == "replace" and not args.dry_run
    question = "Replace all that the project holds (a backup is written first)?"
    file = _path(args.file)
    arguments = {
        "import_path": file,
        "on_conflict": args.on_conflict,
        "confirm_replace": (not replaces) or confirmed(request, question),
        "dry_run": args.dry_run,
        "allow_secret": args.allow_secret,
    }
    with desk(request, file=file) as memory, progress_bar(request.out) as progress:
        answer = memory.call("memory_import_project", arguments, progress)
    show(request, answer, _view_import)
    return OK


def _view_import(answer: Answer, out: Output) -> None:
    out.line(f"{'would import' if answer['dry_run'] else 'imported'} {answer['import_path']}")
    out.facts({name: f"{count:,}" for name, count in answer["counts"].items()})
    if answer.get("backup_path"):
        out.line(f"what was there before: {answer['backup_path']}")
    if answer.get("transaction") is not None:
        out.note(f"transaction {answer['transaction']}")


def _configure_audit(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("action", nargs="?", choices=("list", "prune"), default="list", help="default list")
    add("--limit", type=int, metavar="N", help="list: the newest N (default all; 50 for people)")
    add("--before", metavar="WHEN", help="prune: delete rows older than this: 90d, an ISO date")
    add("--all-projects", action="store_true", help="prune: rows of every project")
    add("--unresolved", action="store_true", help="list: refusals for which no project was told")
    add("--yes", action="store_true", help="prune: do not ask on a terminal")
    add_project_option(parser)


def _run_audit(request: Request) -> int:
    return _prune(request) if request.args.action == "prune" else _list(request)


def _list(request: Request) -> int:
    args, out = request.args, request.out
    limit = args.limit if args.limit is not None or out.is_json else _SHOWN_ROWS
    with desk(request) as memory:
        found = _unresolved(memory) if args.unresolved else _rows(memory)
        rows = list(deque(found, maxlen=limit or None))
    if out.is_json:
        out.json({"ok": True, "rows": [row_wire(row) for row in rows]})
        return OK
    shown = (
        (
            local_time(row.timestamp),
            row.operation,
            str(row.result.get("error_code") or row.result.get("outcome", "")),
            row.entry_id or "",
            row.actor,
        )
        for row in rows
    )
    out.table(("time", "operation", "outcome", "entry", "by"), shown)
    out.note(counted(len(rows), "row"))
    return OK


def _rows(memory: Desk) -> Iterator["AuditRow"]:
    after = None
    while True:
        page = memory.memory.list_audit(memory.ref, after=after, limit=_STEP)
        yield from page.rows
        after = page.more
        if after is None:
            return


def _unresolved(memory: Desk) -> Iterator["AuditRow"]:
    after = None
    with memory.memory.store.read_memory("") as reader:
        while True:
            page = reader.list_audit(after=after, limit=_STEP)
            yield from page.rows
            after = page.more
            if after is None:
                return


def _prune(request: Request) -> int:
    args = request.args
    if args.before is None:
        raise UsageError("pruning needs --before", suggestions=["For example --before 90d."])
    whose = "every project" if args.all_projects else "this project"
    if not confirmed(request, f"Delete the audit rows of {whose} older than {args.before}?"):
        raise UsageError("nothing was pruned", suggestions=["Pass --yes where nobody can answer."])
    with desk(request) as memory:
        ref = None if args.all_projects else memory.ref
        pruned = memory.memory.prune_audit(ref, args.before)
    if request.out.is_json:
        request.out.json({"ok": True, "before": pruned.before, "pruned": pruned.pruned})
    else:
        request.out.line(f"pruned {counted(pruned.pruned, 'row')}")
    return OK


COMMANDS: tuple[Command, ...] = (
    Command(
        name="export",
        summary="write the project's entries, tags and links to a file",
        configure=_configure_export,
        run=told(_run_export),
        examples=(
            "schemory export memory.jsonl --all",
            "schemory export backup.zip --overwrite",
        ),
    ),
    Command(
        name="audit",
        summary="list the project's record of writes, or delete what is old of it",
        configure=_configure_audit,
        run=told(_run_audit),
        examples=(
            "schemory audit --json --project-id team/app",
            "schemory audit prune --before 90d --yes",
        ),
    ),
)
