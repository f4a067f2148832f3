"""The flags of `serve`, and which server they ask for."""

from schemory.cli.options import Option
from schemory.config import PROFILES, TOOLSETS, Settings

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

SERVE_OPTIONS: tuple[Option, ...] = (
    Option(
        flag="--toolset",
        setting="MEMORY_TOOLSET",
        shown="NAMES",
        meaning=f"groups of tools: {', '.join(TOOLSETS)}; with commas or repeated "
        "(default graph,memory; with a graph file graph)",
        is_repeatable=True,
    ),
    Option(
        flag="--tools",
        setting="MEMORY_TOOLS",
        shown="|".join(PROFILES),
        meaning="full: three tools per schema (default); compact: three in all; "
        "auto: by their number",
    ),
    Option(
        flag="--response-budget",
        setting="MEMORY_RESPONSE_BUDGET",
        shown="N",
        meaning="most bytes of one answer (default 60000); 0 lifts the bound",
    ),
    *(Option(flag=flag, setting=name, meaning=meaning) for flag, name, meaning in _SWITCHES),
    *(
        Option(flag=flag, setting=name, shown=shown, meaning=meaning)
        for flag, name, shown, meaning in _HTTP
    ),
    *(
        Option(
            flag=flag,
            setting=name,
            shown=shown,
            meaning=f"{meaning}; repeatable",
            is_repeatable=True,
        )
        for flag, name, shown, meaning in _HTTP_LISTS
    ),
)


def serve(settings: Settings) -> int:
    """Serve until the end and return the exit code.

    Raises:
        SchemoryError: The store or a setting cannot be used; nothing was served.
    """
    if settings.http:
        from schemory.server.http import serve_http  # noqa: PLC0415 (imports the SDK and a web server)

        return serve_http(settings)
    from schemory.server.serve import serve_stdio  # noqa: PLC0415 (the other is not needed)

    return serve_stdio(settings)
