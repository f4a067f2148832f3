"""`init`: a folder of schemas to edit, and what to tell an MCP client."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.output import Output, Style
from schemory.config import Settings
from schemory.errors import UsageError
from schemory.model.jsonvalue import Json
from schemory.schemas.durable import make_private_folder
from schemory.schemas.starter import PackCopy, copy_pack


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="where; default your own schemas folder"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that were edited")


def _run(request: Request) -> int:
    settings = request.settings()
    args = request.args
    if settings.schemas_named:
        raise UsageError(
            "init makes a folder, it does not read one",
            suggestions=["Give the folder without --schemas: schemory init FOLDER --pack rpg"],
        )
    folder = Path(args.folder).expanduser().absolute() if args.folder else None
    target = folder or settings.schema_folders[0]
    make_private_folder(target)
    copies = [copy_pack(name, target, overwrite=args.force) for name in settings.packs]
    client = client_entry(settings, folder)
    out = request.out
    if out.is_json:
        out.json(
            {
                "folder": str(target),
                **copies_wire(copies),
                "client": client,
            }
        )
        return FINDING if any(copy.kept for copy in copies) else OK
    out.line(f"{out.style('schemas', Style.BOLD)}  {out.style(str(target), Style.GREEN)}")
    code = show_copies(copies, out)
    _show_next_steps(target, client, out, is_empty=not copies)
    return code


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


def client_entry(settings: Settings, schemas: Path | None) -> dict[str, Json]:
    """Return the entry for an MCP client's configuration that serves these settings."""
    arguments = ["-m", "schemory", "serve"]
    if settings.graph_file is not None:
        arguments += ["--graph-file", str(settings.graph_file)]
    elif settings.store_source != "default":
        arguments += ["--db", settings.database]
    if settings.space_source != "default":
        arguments += ["--project", settings.space]
    if schemas is not None:
        arguments += ["--schemas", str(schemas)]
    server: dict[str, Json] = {"command": sys.executable, "args": arguments}
    return {"mcpServers": {"schemory": server}}


def _show_next_steps(target: Path, client: dict[str, Json], out: Output, *, is_empty: bool) -> None:
    out.line()
    if is_empty:
        out.line("Write a first schema, or copy a pack to edit:")
        out.line(f"  schemory schema new note --property text! --to {target}")
        out.line(f"  schemory init {target} --pack rpg")
    else:
        out.line("Edit these files as you like; a running server notices.")
        out.line(f"  schemory schema check {target}")
    out.line()
    out.line("Tell your MCP client (mcp.json, claude_desktop_config.json, ...):")
    out.line(json.dumps(client, indent=2, ensure_ascii=False))


COMMANDS: tuple[Command, ...] = (
    Command(
        name="init",
        summary="make a folder of schemas to edit, and show what to tell an MCP client",
        configure=_configure,
        run=_run,
        examples=(
            "schemory init --pack rpg",
            "schemory init ./schemas --pack software --project .",
        ),
    ),
)
