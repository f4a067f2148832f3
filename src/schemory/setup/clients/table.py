"""The eleven clients; docs/explanation/clients.md tells where each fact comes from."""

from typing import Final

from schemory.errors import UsageError
from schemory.model.likeness import nearest
from schemory.setup.clients.client import Client, Format, Place, Shape, System

_EDITORS: Final = ("Code", "Code - Insiders", "Cursor", "Windsurf", "VSCodium")
"""Editors whose folders extensions keep their things in."""


def _editor_roots(below: str) -> tuple[tuple[System, str], ...]:
    return (
        (System.LINUX, f"{{config}}/{below}"),
        (System.MACOS, f"{{support}}/{below}"),
        (System.WINDOWS, f"{{appdata}}/{below}"),
    )


def _in_editor(editor: str, file: str, *, marker: str = "", default: bool = False) -> list[Place]:
    """Return one place for each system, below an editor's `User` folder."""
    return [
        Place(
            base=root,
            file=file,
            markers=(f"{root}/{marker}",) if marker else (),
            is_default=default,
            systems=(system,),
        )
        for system, root in _editor_roots(f"{editor}/User")
    ]


_CLINE_FOLDER: Final = "globalStorage/saoudrizwan.claude-dev"

CLIENTS: Final[tuple[Client, ...]] = (
    Client(
        name="claude-code",
        title="Claude Code",
        aliases=("claude",),
        places=(Place(base="{claude}", file=".claude.json", is_default=True),),
        project_files=(".mcp.json",),
        shape=Shape.TYPED,
        reference="${NAME}",
        reads_comments=False,
        programs=("claude",),
        traces=("{home}/.claude", "{claude}/.claude.json"),
        restart="Start a new session of `claude`.",
        check="`/mcp` lists schemory as connected.",
        project_note="Claude Code asks once whether to trust the project's servers.",
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        places=(
            Place(
                base="{support}/Claude",
                file="claude_desktop_config.json",
                is_default=True,
                systems=(System.MACOS,),
            ),
            Place(
                base="{appdata}/Claude",
                file="claude_desktop_config.json",
                is_default=True,
                systems=(System.WINDOWS,),
            ),
            Place(
                base="{localappdata}/Packages/Claude_*/LocalCache/Roaming/Claude",
                file="claude_desktop_config.json",
                systems=(System.WINDOWS,),
            ),
            Place(
                base="{localappdata}/Claude-Data/[Cc]laude*",
                file="claude_desktop_config.json",
                systems=(System.WINDOWS,),
            ),
            Place(
                base="{config}/Claude",
                file="claude_desktop_config.json",
                is_default=True,
                systems=(System.LINUX,),
            ),
        ),
        reads_comments=False,
        restart="Quit Claude Desktop altogether (closing the window is not enough), then open it.",
        check="Settings, Developer lists schemory as running.",
    ),
    Client(
        name="codex",
        title="Codex",
        aliases=("codex-cli", "openai-codex"),
        places=(Place(base="{codex}", file="config.toml", is_default=True),),
        project_files=(".codex/config.toml",),
        format=Format.TOML,
        key=("mcp_servers",),
        shape=Shape.CODEX,
        reference="NAME",
        reads_comments=True,
        programs=("codex",),
        restart="Start a new session of `codex`, or restart the editor with its extension.",
        check="`codex mcp list` or `/mcp` shows schemory.",
        project_note="Codex reads a project's file only once the project is trusted.",
    ),
    Client(
        name="vscode",
        title="VS Code with Copilot",
        aliases=("code", "vs-code", "copilot", "github-copilot"),
        places=(
            *_in_editor("Code", "mcp.json", default=True),
            *_in_editor("Code - Insiders", "mcp.json"),
        ),
        project_files=(".vscode/mcp.json",),
        key=("servers",),
        shape=Shape.TYPED,
        reference="${env:NAME}",
        reads_comments=True,
        programs=("code", "code-insiders"),
        restart="Run `MCP: List Servers` in VS Code and start schemory; it asks once for trust.",
        check="The chat in agent mode lists schemory's tools under Configure Tools.",
    ),
    Client(
        name="cursor",
        title="Cursor",
        places=(Place(base="{home}/.cursor", file="mcp.json", is_default=True),),
        project_files=(".cursor/mcp.json",),
        shape=Shape.TYPED,
        reference="${env:NAME}",
        programs=("cursor", "cursor-agent"),
        restart="Restart Cursor, or switch schemory on in its settings under MCP.",
        check="Its settings list schemory with its tools under MCP.",
    ),
    Client(
        name="windsurf",
        title="Windsurf (Devin Desktop)",
        aliases=("devin", "devin-desktop", "codeium", "cascade"),
        places=(
            Place(
                base="{config}/devin",
                file="mcp_config.json",
                is_default=True,
                systems=(System.LINUX, System.MACOS),
            ),
            Place(
                base="{appdata}/devin",
                file="mcp_config.json",
                is_default=True,
                systems=(System.WINDOWS,),
            ),
            Place(base="{home}/.codeium/windsurf", file="mcp_config.json"),
        ),
        project_files=(".devin/mcp_config.json",),
        reference="${env:NAME}",
        programs=("windsurf", "devin-desktop", "devin"),
        restart="Restart the editor, or press Refresh in its list of MCP servers.",
        check="Its list of MCP servers shows schemory with its tools.",
        project_note="Only Devin Desktop reads a project's file; Windsurf before 2026-06 does not.",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        aliases=("gemini-cli",),
        places=(Place(base="{home}/.gemini", file="settings.json", is_default=True),),
        project_files=(".gemini/settings.json",),
        reference="${NAME}",
        reads_comments=True,
        programs=("gemini",),
        restart="Start a new session of `gemini`.",
        check="In a folder that it trusts, `gemini mcp list` shows schemory as connected.",
        project_note="Gemini CLI starts servers, also your own ones, only in trusted folders.",
    ),
    Client(
        name="zed",
        title="Zed",
        places=(
            Place(
                base="{config}/zed",
                file="settings.json",
                is_default=True,
                systems=(System.LINUX,),
            ),
            Place(
                base="{home}/.config/zed",
                file="settings.json",
                is_default=True,
                systems=(System.MACOS,),
            ),
            Place(
                base="{appdata}/Zed",
                file="settings.json",
                is_default=True,
                systems=(System.WINDOWS,),
            ),
        ),
        project_files=(".zed/settings.json",),
        key=("context_servers",),
        reads_comments=True,
        programs=("zed", "zeditor"),
        restart="Nothing: Zed notices when the file is saved.",
        check="The agent panel's settings show a green dot beside schemory.",
        project_note="Zed starts a project's servers only once the project is trusted.",
    ),
    Client(
        name="jetbrains",
        title="JetBrains (Junie and AI Assistant)",
        aliases=("junie", "ai-assistant", "intellij", "pycharm"),
        places=(
            Place(
                base="{home}",
                file=".junie/mcp/mcp.json",
                markers=("{home}/.junie",),
                is_default=True,
            ),
            *(
                Place(
                    base="{home}",
                    file=".ai/mcp/mcp.json",
                    markers=("{home}/.ai", root),
                    is_default=True,
                    systems=(system,),
                )
                for system, root in _editor_roots("JetBrains")
            ),
        ),
        project_files=(".junie/mcp/mcp.json", ".ai/mcp/mcp.json"),
        programs=("junie", "idea", "pycharm", "webstorm", "goland"),
        restart="Restart the IDE.",
        check="Settings, Tools: Junie and AI Assistant list schemory under MCP.",
    ),
    Client(
        name="opencode",
        title="opencode",
        aliases=("open-code",),
        places=(
            Place(
                base="{config}/opencode",
                file="opencode.json",
                variants=("opencode.jsonc",),
                is_default=True,
            ),
        ),
        project_files=("opencode.json",),
        key=("mcp",),
        newer_key=("mcp", "servers"),
        shape=Shape.OPENCODE,
        reference="{env:NAME}",
        reads_comments=True,
        preset=(("$schema", "https://opencode.ai/config.json"),),
        programs=("opencode",),
        restart="Start a new session of `opencode`.",
        check="`opencode mcp list` shows schemory as connected.",
    ),
    Client(
        name="cline",
        title="Cline",
        places=(
            Place(
                base="{cline}",
                file="settings/cline_mcp_settings.json",
                markers=("{home}/.cline",),
                is_default=True,
            ),
            *(
                place
                for editor in _EDITORS
                for place in _in_editor(
                    editor,
                    f"{_CLINE_FOLDER}/settings/cline_mcp_settings.json",
                    marker=_CLINE_FOLDER,
                )
            ),
        ),
        reads_comments=False,
        programs=("cline",),
        restart="Press Restart Server beside schemory in Cline's MCP servers, or reload.",
        check="Cline's MCP servers show a green dot beside schemory.",
    ),
)
"""In the order of the help."""


def find_client(name: str) -> Client:
    """Return the client of that name or alias.

    Raises:
        UsageError: There is none; the nearest are named.
    """
    word = name.strip().lower().replace("_", "-").replace(" ", "-")
    for client in CLIENTS:
        if word == client.name or word in client.aliases:
            return client
    near = nearest(word, [each for client in CLIENTS for each in (client.name, *client.aliases)])
    message = f"There is no client {name!r}; known: {client_names()}, or all"
    raise UsageError.at("--client", message, nearest=near)


def client_names() -> str:
    """Return the names of all clients for a sentence."""
    return ", ".join(client.name for client in CLIENTS)
