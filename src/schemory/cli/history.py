"""`undo` and `purge`: taking back what was written, and removing it for good."""

import argparse

from schemory.cli.command import OK, Command, Request
from schemory.cli.output import count_of
from schemory.errors import UnsupportedError, UsageError
from schemory.model.text import nfc
from schemory.storage.protocols import Capability, WriteContext

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
    parser.add_argument(
        "transaction", type=int, metavar="TXN", help="the number that the import reported"
    )


def _run_undo(request: Request) -> int:
    number: int = request.args.transaction
    context = WriteContext(operation="undo", author="cli", client="cli")
    with request.app() as app:
        if Capability.HISTORY not in app.store.capabilities:
            raise UnsupportedError(
                f"{app.store.location} keeps no history, so nothing can be undone there",
                suggestions=[
                    "A graph file has its history in git: see `git log` and `git restore`."
                ],
            )
        with app.store.transaction(app.graph.space, context) as work:
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
                "transaction": own_number,
            }
        )
    else:
        items = ", ".join(_told(what, count) for what, count in undone.items.items() if count)
        out.line(f"undone: transaction {undone.seq} ({undone.operation}): {items or 'nothing'}")
        out.note(f"this is transaction {own_number}")
    return OK


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
        out.note(f"{count_of(removed, 'ledger row')} removed, free pages given back")
    return OK


COMMANDS: tuple[Command, ...] = (
    Command(
        name="undo",
        summary="reverse one committed import, if nothing it wrote has changed since",
        configure=_configure_undo,
        run=_run_undo,
        examples=("schemory undo 42",),
    ),
    Command(
        name="purge",
        summary="remove a node and every trace of its text: ledger, index and free pages",
        configure=_configure_purge,
        run=_run_purge,
        examples=('schemory purge "Old Name" --yes',),
    ),
)
