"""`serve`: the MCP server on standard input and output, or over HTTP."""

import argparse

from schemory.cli.command import Command, Request
from schemory.config import PROFILES, TOOLSETS

_SWITCHES = (
    ("--strict-types", "MEMORY_STRICT_TYPES", "refuse nodes whose type no schema defines"),
    ("--manage-schemas", "MEMORY_MANAGE_SCHEMAS", "let agents define and remove schemas"),
    ("--allow-cross-project", "MEMORY_ALLOW_CROSS_PROJECT", "let tools take a project_id"),
    ("--sdk", "MEMORY_SDK", "serve through the MCP SDK, not the adapter of our own"),
)
_HTTP = (
    ("--http", "MEMORY_HTTP", "HOST:PORT", "serve over HTTP at this address, endpoint /mcp"),
    ("--http-auth-file", "MEMORY_HTTP_AUTH_FILE", "FILE", "tokens with principals and scopes"),
    ("--http-public-url", "MEMORY_HTTP_PUBLIC_URL", "URL", "by which clients reach the server"),
    ("--http-issuer", "MEMORY_HTTP_ISSUER", "URL", "OAuth server whose tokens are accepted"),
    ("--http-jwks", "MEMORY_HTTP_JWKS", "URL|FILE", "that server's keys"),
)
_HTTP_LISTS = (
    ("--http-allowed-host", "MEMORY_HTTP_ALLOWED_HOSTS", "NAME", "name that clients call it by"),
    ("--http-allowed-origin", "MEMORY_HTTP_ALLOWED_ORIGINS", "ORIGIN", "web pages let in"),
)


def _configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    silent = argparse.SUPPRESS
    add(
        "--toolset",
        dest="MEMORY_TOOLSET",
        action="append",
        metavar="NAMES",
        default=silent,
        help=f"groups of tools: {', '.join(TOOLSETS)}; with commas or repeated "
        "(default graph,memory; with a graph file graph)",
    )
    add(
        "--tools",
        dest="MEMORY_TOOLS",
        metavar="|".join(PROFILES),
        default=silent,
        help="full: three tools per schema (default); compact: three in all; auto: by their number",
    )
    add(
        "--response-budget",
        dest="MEMORY_RESPONSE_BUDGET",
        metavar="N",
        default=silent,
        help="most bytes of one answer (default 60000); 0 lifts the bound",
    )
    for flag, name, meaning in _SWITCHES:
        add(flag, dest=name, action="store_const", const="1", default=silent, help=meaning)
    for flag, name, shown, meaning in _HTTP:
        add(flag, dest=name, metavar=shown, default=silent, help=meaning)
    for flag, name, shown, meaning in _HTTP_LISTS:
        told = f"{meaning}; repeatable"
        add(flag, dest=name, action="append", metavar=shown, default=silent, help=told)


def _run(request: Request) -> int:
    settings = request.settings()
    if settings.http:
        from schemory.server.http import serve_http  # noqa: PLC0415 (imports the SDK and a web server)

        return serve_http(settings)
    from schemory.server.serve import serve_stdio  # noqa: PLC0415 (of no use to other commands)

    return serve_stdio(settings)


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
