"""`init`: schemas to edit and clients set up, by flags or in one dialogue."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.output import Output, Style
from schemory.config import Raw
from schemory.errors import UsageError
from schemory.model.jsonvalue import Json
from schemory.schemas.durable import make_private_folder
from schemory.schemas.starter import PackCopy, copy_pack

if TYPE_CHECKING:
    from schemory.setup.clients.client import Client


def _configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", nargs="?", metavar="FOLDER", help="where; default your own schemas folder")
    add("--force", action="store_true", help="overwrite files that were edited")
    add(
        "--client",
        action="append",
        default=[],
        metavar="NAME",
        help="set this client up as well; repeatable, with commas, or all that are here",
    )
    add("--no-verify", action="store_true", help="do not start the server to see whether it works")


def _run(request: Request) -> int:
    if _wants_dialogue(request):
        from schemory.cli.init_dialogue import hold_dialogue  # noqa: PLC0415 (for people only)

        request = hold_dialogue(request)
    settings = request.settings()
    args = request.args
    if settings.schemas_named:
        raise UsageError(
            "init makes a folder, it does not read one",
            suggestions=["Give the folder without --schemas: schemory init FOLDER --pack rpg"],
        )
    folder = Path(args.folder).expanduser().absolute() if args.folder else None
    target = folder or Path(settings.schema_folders[0])
    clients = _clients(args.client)
    make_private_folder(target)
    copies = [copy_pack(name, target, overwrite=args.force) for name in settings.packs]
    inner = _served(request, folder)
    if request.out.is_json:
        return _answer(target, copies, clients, inner)
    out = request.out
    out.line(f"{out.style('schemas', Style.BOLD)}  {out.style(str(target), Style.GREEN)}")
    code = show_copies(copies, out)
    _show_next_steps(target, out, is_empty=not copies)
    out.line()
    if clients:
        return max(code, _set_up(clients, inner))
    _show_client(inner)
    return code


def _wants_dialogue(request: Request) -> bool:
    """Whether a person typed the bare command on a terminal."""
    args = request.args
    has_said = args.folder or args.force or args.client or request.overrides
    is_person = request.out.is_terminal and request.stdin.isatty() and not request.out.is_json
    return is_person and not has_said


def _clients(names: Sequence[str]) -> "tuple[Client, ...]":
    if not names:
        return ()
    from schemory.cli.install import find_machine, named_clients  # noqa: PLC0415 (few set one up)

    return named_clients(names, find_machine())


def _served(request: Request, folder: Path | None) -> Request:
    """Return a request for an entry that serves the folder; packs that were copied are in it."""
    overrides: dict[str, Raw] = {
        name: raw for name, raw in request.overrides.items() if name != "MEMORY_PACKS"
    }
    if folder is not None:
        overrides["MEMORY_SCHEMAS"] = (str(folder),)
    args = argparse.Namespace(
        name="schemory",
        client=request.args.client,
        env=[],
        user=False,
        force=False,
        dry_run=False,
        no_verify=request.args.no_verify,
    )
    return Request(args=args, overrides=overrides, out=request.out, stdin=request.stdin)


def _answer(
    target: Path, copies: Sequence[PackCopy], clients: "Sequence[Client]", inner: Request
) -> int:
    """Print everything as one JSON value."""
    answer: dict[str, Json] = {"folder": str(target), **copies_wire(copies)}
    code = FINDING if any(copy.kept for copy in copies) else OK
    if clients:
        from schemory.cli.install import set_up  # noqa: PLC0415 (few set a client up)
        from schemory.cli.install_view import outcomes_wire  # noqa: PLC0415 (as above)

        done = set_up(inner, clients)
        answer["install"] = outcomes_wire(done)
        code = max(code, done.code)
    inner.out.json({**answer, "client": client_entry(inner)})
    return code


def _set_up(clients: "Sequence[Client]", inner: Request) -> int:
    from schemory.cli.install import set_up  # noqa: PLC0415 (few set a client up)
    from schemory.cli.install_view import show_outcomes  # noqa: PLC0415 (as above)

    done = set_up(inner, clients)
    show_outcomes(done, inner.out)
    return done.code


def copies_wire(copies: Sequence[PackCopy]) -> dict[str, Json]:
    """Return what copying packs did, by file name."""
    return {
        "written": [file.name for copy in copies for file in copy.written],
        "unchanged": [file.name for copy in copies for file in copy.unchanged],
        "kept": [file.name for copy in copies for file in copy.kept],
    }


def show_copies(copies: Sequence[PackCopy], out: Output) -> int:
    """Print what copying packs did; exit code 1 if files of another text were left alone."""
    kept = [file.name for copy in copies for file in copy.kept]
    for copy in copies:
        for mark, files in (("+", copy.written), ("=", copy.unchanged), ("!", copy.kept)):
            for file in files:
                out.line(f"  {mark} {file.name}")
    if kept:
        out.note(
            f"{len(kept)} files marked ! differ from the pack and were kept; --force overwrites"
        )
    return FINDING if kept else OK


def client_entry(inner: Request) -> Mapping[str, Json]:
    """Return the entry as most clients want it in their file."""
    from schemory.cli.install import make_order  # noqa: PLC0415 (not for the help)

    _, entry, _ = make_order(inner)
    server: Json = {"command": entry.command, "args": list(entry.args)}
    return {"mcpServers": {"schemory": server}}


def _show_next_steps(target: Path, out: Output, *, is_empty: bool) -> None:
    out.line()
    if is_empty:
        out.line("Write a first schema, or copy a pack to edit:")
        out.line(f"  schemory schema new note --property text! --to {target}")
        out.line(f"  schemory init {target} --pack rpg")
    else:
        out.line("Edit these files as you like; a running server notices.")
        out.line(f"  schemory schema check {target}")


def _show_client(inner: Request) -> None:
    out = inner.out
    out.line("`schemory install` tells your client of it. By hand, most clients take this:")
    out.line(json.dumps(client_entry(inner), indent=2, ensure_ascii=False))


COMMANDS: tuple[Command, ...] = (
    Command(
        name="init",
        summary="make a folder of schemas to edit and set clients up; asks when nothing is said",
        configure=_configure,
        run=_run,
        examples=(
            "schemory init                                  # asks",
            "schemory init --pack software --client claude-code",
            "schemory init ./schemas --pack software --client cursor --project .",
        ),
    ),
)
