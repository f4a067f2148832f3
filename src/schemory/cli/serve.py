"""`serve`: the MCP server on standard input and output, or over HTTP."""

import argparse

from schemory.cli.command import Command, Request
from schemory.cli.serving import SERVE_OPTIONS, serve


def _configure(parser: argparse.ArgumentParser) -> None:
    for option in SERVE_OPTIONS:
        option.add_to(parser)


def _run(request: Request) -> int:
    return serve(request.settings())


COMMANDS: tuple[Command, ...] = (
    Command(
        name="serve",
        summary="serve the memory to an MCP client on standard input and output, or over HTTP",
        configure=_configure,
        run=_run,
        examples=(
            "schemory serve --pack rpg",
            "schemory serve --schemas ./schemas --project . --tools auto",
            "schemory serve --graph-file memory.jsonl",
            "schemory serve --http 127.0.0.1:8848",
        ),
    ),
)
