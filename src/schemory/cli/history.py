"""`undo` and `purge`: taking back what was written, and removing it for good."""

import argparse
from typing import TYPE_CHECKING

from schemory.cli.command import OK, Command, Request
from schemory.errors import UnsupportedError, UsageError
from schemory.model.text import counted, nfc
from schemory.storage.protocols import Capability, WriteContext

if TYPE_CHECKING:
    from schemory.app import App

_WORDS = {
    "nodes": ("node", "nodes"),
    "edges": ("edge", "edges"),
    "kept": ("line of another kind", "lines of another kind"),
    "entries": ("entry", "entries"),
    "tags": ("tag", "tags"),
    "links": ("link", "links"),
}
"""What the ledger counts, by its own word."""


def _configure_undo(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("transaction", type=int, metavar="TXN", help="the number that the import reported")
    add(
        "--project-id",
        dest="MEMORY_PROJECT_ID",
        metavar="ID",
        default=argparse.SUPPRESS,
        help="of this project (default: the shared graph's, or else the current folder's)",
    )
    add("--graph", action="store_true", help="of the shared graph, where both have that number")


def _run_undo(request: Request) -> int:
    number: int = request.args.transaction
    context = WriteContext(operation="undo", author="cli", client="cli")
    settings = request.settings()
    with request.app(settings) as app:
        if Capability.HISTORY not in app.store.capabilities:
            raise UnsupportedError(
                f"{app.store.location} keeps no history, so nothing can be undone there",
                suggestions=[
                    "A graph file has its history in git: see `git log` and `git restore`."
                ],
            )
        space = app.graph.space
        if settings.project is None and not request.args.graph:
            space = _space_of(app, number, settings.working_folder)
        with app.store.transaction(space, context) as work:
            undone = work.undo(number)
            own_number = work.seq
    out = request.out
    if out.is_json:
        out.json(
            {
                "undone": undone.seq,
                "operation": undone.operation,
                "recordedAt": undone.recorded_at,
                "items": dict(undone.items),
                "project": space,
                "transaction": own_number,
            }
        )
    else:
        items = ", ".join(_told(what, count) for what, count in undone.items.items() if count)
        out.line(f"undone: transaction {undone.seq} ({undone.operation}): {items or 'nothing'}")
        out.note(f"this is transaction {own_number}")
    return OK


def _space_of(app: "App", number: int, folder: str) -> str:
    """Return whose transaction is meant: the shared graph's, or that of the folder's memory.

    Each counts its own, so a number alone may mean two things; then nobody guesses.

    Raises:
        UsageError: Both have a transaction of that number.
    """
    from schemory.memory.inputs import ProjectRef  # noqa: PLC0415 (not for help)

    shared = app.graph.space
    own = app.memory.place(ProjectRef(project_path=folder)).id
    spaces = [space for space in (shared, own) if _has(app, space, number)]
    if len(spaces) < 2:  # noqa: PLR2004 (both)
        return spaces[0] if spaces else shared
    import shlex  # noqa: PLC0415 (only for this refusal)

    raise UsageError(
        f"both the shared graph and the memory of this folder have a transaction {number}",
        suggestions=[
            f"The graph's: `schemory undo {number} --graph`.",
            f"The memory's: `schemory undo {number} --project-id {shlex.quote(own)}`.",
        ],
    )


def _has(app: "App", space: str, number: int) -> bool:
    with app.memory.store.read_memory(space) as reader:  # sees the graph's transactions too
        return any(each.seq == number for each in reader.commits(after_seq=number - 1, limit=1))


def _told(what: str, count: int) -> str:
    """Return one kind of change: `nodes_inserted`, 2 gives `2 nodes inserted`."""
    things, _, change = what.rpartition("_")
    one, many = _WORDS.get(things, (things, things))
    return f"{count:,} {one if count == 1 else many} {change}"


def _configure_purge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("node", metavar="NODE", help="the node's name, present or past")
    parser.add_argument("--yes", action="store_true", help="do not ask on a terminal")


def _run_purge(request: Request) -> int:
    name = nfc(request.args.node)
    out = request.out
    if out.is_terminal and request.stdin.isatty() and not request.args.yes and not out.is_json:
        out.line(f"Remove the node {name!r} and every trace of its text for good? [y/N] ")
        if request.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise UsageError("nothing was purged")
    context = WriteContext(operation="purge", author="cli", client="cli")
    with request.app() as app:
        with app.store.transaction(app.graph.space, context) as work:
            removed = work.purge_node(name)
        app.store.vacuum()
    if out.is_json:
        out.json({"purged": name, "ledgerRowsRemoved": removed})
    else:
        out.line(f"purged: {name}")
        out.note(f"{counted(removed, 'ledger row')} removed, free pages given back")
    return OK


COMMANDS: tuple[Command, ...] = (
    Command(
        name="undo",
        summary="reverse one committed import, if nothing it wrote has changed since",
        configure=_configure_undo,
        run=_run_undo,
        examples=("schemory undo 42", "schemory undo 42 --project-id team/app"),
    ),
    Command(
        name="purge",
        summary="remove a node and every trace of its text: ledger, index and free pages",
        configure=_configure_purge,
        run=_run_purge,
        examples=('schemory purge "Old Name" --yes',),
    ),
)
