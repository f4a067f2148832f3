"""`restore`: an entry by its id, or the whole store from a backup file."""

import argparse
import re
from pathlib import Path

from schemory.cli.command import Command, Request
from schemory.cli.memory_desk import add_project_option, told
from schemory.cli.memory_write import run_status
from schemory.cli.upkeep import run_restore

_ID = re.compile(r"[0-9a-f][0-9a-f-]{5,35}", re.IGNORECASE)  # or its beginning


def _configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="ID|FILE", help="an entry's id, or a backup that `schemory backup` made")
    add("--entry", action="store_true", help="it is an entry's id, whatever it looks like")
    add("--yes", action="store_true", help="do not ask on a terminal before replacing the store")
    add_project_option(parser)


def _run(request: Request) -> int:
    text: str = request.args.file
    if request.args.entry or (_ID.fullmatch(text) and not Path(text).exists()):
        request.args.entry = text
        return told(lambda asked: run_status(asked, verb="restore"))(request)
    return run_restore(request)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="restore",
        summary="make an entry active again, or put a backup in the store's place",
        configure=_configure,
        run=_run,
        examples=(
            "schemory restore 0197c1d2-7a4b-7c31-9d2e-5f60718293a4",
            "schemory restore ~/backups/memory.sqlite",
        ),
    ),
)
