"""Where clients' files are, on each system and with each variable that moves them."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

import pytest

from schemory.errors import UsageError
from schemory.setup.clients.client import System
from schemory.setup.clients.local import this_system
from schemory.setup.clients.places import (
    Machine,
    all_files,
    is_installed,
    project_files,
    user_files,
)
from schemory.setup.clients.table import CLIENTS, find_client

HOMES = {System.LINUX: "/home/ann", System.MACOS: "/Users/ann", System.WINDOWS: r"C:\Users\Ann Lee"}


def machine(
    system: System, there: Sequence[str] = (), programs: Sequence[str] = (), **environ: str
) -> Machine:
    return Machine(
        system=system,
        home=HOMES[system],
        environ=environ,
        find=lambda pattern: [path for path in there if fnmatchcase(path, pattern)],
        has_program=lambda name: name in programs,
    )


def files(name: str, where: Machine) -> list[str]:
    return [str(file) for file in user_files(find_client(name), where)]


@pytest.mark.covers("setup.clients.places")
@pytest.mark.parametrize("system", list(System))
def test_every_client_has_a_file_on_every_system(system: System) -> None:
    assert len(CLIENTS) == 11
    for client in CLIENTS:
        found = user_files(client, machine(system))
        assert found
        assert all(str(file).startswith(HOMES[system]) for file in found)
        assert all(("\\" in str(file)) == (system is System.WINDOWS) for file in found)


@pytest.mark.covers("setup.clients.places")
def test_variables_move_the_folders_and_relative_ones_count_for_nothing() -> None:
    linux = machine(System.LINUX, XDG_CONFIG_HOME="/cfg", CODEX_HOME="/cx", CLAUDE_CONFIG_DIR="/cl")
    assert files("vscode", linux) == ["/cfg/Code/User/mcp.json"]
    assert files("zed", linux) == ["/cfg/zed/settings.json"]
    assert files("opencode", linux) == ["/cfg/opencode/opencode.json"]
    assert files("codex", linux) == ["/cx/config.toml"]
    assert files("claude-code", linux) == ["/cl/.claude.json"]
    odd = machine(System.LINUX, XDG_CONFIG_HOME="cfg", CODEX_HOME="")
    assert files("zed", odd) == ["/home/ann/.config/zed/settings.json"]
    assert files("codex", odd) == ["/home/ann/.codex/config.toml"]
    windows = machine(System.WINDOWS, APPDATA=r"E:\Roaming Data", LOCALAPPDATA=r"E:\Local")
    assert files("claude-desktop", windows) == [
        r"E:\Roaming Data\Claude\claude_desktop_config.json"
    ]
    assert files("vscode", windows) == [r"E:\Roaming Data\Code\User\mcp.json"]
    macos = machine(System.MACOS, XDG_CONFIG_HOME="/cfg")
    assert files("zed", macos) == ["/Users/ann/.config/zed/settings.json"]
    assert files("vscode", macos) == ["/Users/ann/Library/Application Support/Code/User/mcp.json"]


@pytest.mark.covers("setup.clients.places")
def test_all_places_of_claude_desktop_that_are_in_use_on_windows_are_meant() -> None:
    home = r"C:\Users\Ann Lee\AppData"
    package = home + r"\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude"
    newest = home + r"\Local\Claude-Data\claude_main"
    classic = home + r"\Roaming\Claude"
    name = r"\claude_desktop_config.json"
    assert files("claude-desktop", machine(System.WINDOWS, [package])) == [package + name]
    both = machine(System.WINDOWS, [classic, package, newest])
    assert files("claude-desktop", both) == [classic + name, package + name, newest + name]


@pytest.mark.covers("setup.clients.places")
def test_renamed_clients_are_set_up_where_they_are_in_use() -> None:
    old = "/home/ann/.codeium/windsurf"
    new = "/home/ann/.config/devin"
    assert files("windsurf", machine(System.LINUX)) == [f"{new}/mcp_config.json"]
    assert files("devin", machine(System.LINUX, [old])) == [f"{old}/mcp_config.json"]
    assert len(files("windsurf", machine(System.LINUX, [old, new]))) == 2
    storage = "/home/ann/.config/Cursor/User/globalStorage/saoudrizwan.claude-dev"
    settings = "settings/cline_mcp_settings.json"
    assert files("cline", machine(System.LINUX, [storage])) == [f"{storage}/{settings}"]
    assert files("cline", machine(System.LINUX, [storage, "/home/ann/.cline"])) == [
        f"/home/ann/.cline/data/{settings}",
        f"{storage}/{settings}",
    ]


@pytest.mark.covers("setup.clients.places")
def test_jetbrains_has_a_file_for_each_of_its_agents_that_is_here() -> None:
    ide = "/home/ann/.config/JetBrains"
    junie, assistant = "/home/ann/.junie/mcp/mcp.json", "/home/ann/.ai/mcp/mcp.json"
    assert files("jetbrains", machine(System.LINUX)) == [junie, assistant]
    assert files("junie", machine(System.LINUX, [ide])) == [assistant]
    assert files("jetbrains", machine(System.LINUX, ["/home/ann/.junie"])) == [junie]


@pytest.mark.covers("setup.clients.places")
def test_opencodes_file_with_comments_is_used_where_there_is_one() -> None:
    commented = "/home/ann/.config/opencode/opencode.jsonc"
    here = machine(System.LINUX, ["/home/ann/.config/opencode", commented, "/p/opencode.jsonc"])
    assert files("opencode", here) == [commented]
    client = find_client("opencode")
    assert [str(file) for file in project_files(client, here, "/p")] == ["/p/opencode.jsonc"]
    assert [str(file) for file in all_files(client, here)] == [
        commented,
        "/home/ann/.config/opencode/opencode.json",
    ]


@pytest.mark.covers("setup.clients.places")
def test_clients_without_project_files_have_none() -> None:
    here = machine(System.WINDOWS)
    without = [each.name for each in CLIENTS if not project_files(each, here, r"D:\api server")]
    assert without == ["claude-desktop", "cline"]
    cursor = project_files(find_client("cursor"), here, r"D:\api server")
    assert [str(file) for file in cursor] == [r"D:\api server\.cursor\mcp.json"]


@pytest.mark.covers("setup.clients.places")
def test_clients_are_found_by_their_folders_or_their_commands() -> None:
    nothing = machine(System.LINUX)
    assert [client.name for client in CLIENTS if is_installed(client, nothing)] == []
    traces = ["/home/ann/.claude", "/home/ann/.cursor", "/home/ann/.config/Code/User"]
    some = machine(System.LINUX, traces, programs=["codex"])
    found = [client.name for client in CLIENTS if is_installed(client, some)]
    assert found == ["claude-code", "codex", "vscode", "cursor"]


@pytest.mark.covers("setup.clients.places")
def test_clients_go_by_several_names_and_a_wrong_one_is_told_with_the_nearest() -> None:
    names = [name for client in CLIENTS for name in (client.name, *client.aliases)]
    assert len(set(names)) == len(names)
    assert find_client("Claude_Code ").name == "claude-code"
    assert find_client("Copilot").name == "vscode"
    with pytest.raises(UsageError) as fault:
        find_client("cursr")
    assert fault.value.problems[0].nearest[0] == "cursor"


@pytest.mark.covers("setup.clients.places")
def test_systems_are_told_by_python() -> None:
    assert this_system("linux") is System.LINUX
    assert this_system("darwin") is System.MACOS
    assert this_system("win32") is System.WINDOWS
