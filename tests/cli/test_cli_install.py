"""`install`, `uninstall` and `init` as people and programs use them."""

import argparse
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemory.cli.command import make_parser
from schemory.cli.main import find_command, main
from schemory.cli.output import Output

MOVERS = ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "CLINE_DATA_DIR")
BACKUP = ".schemory-backup"


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable moves a client's folder, and no client's command is found."""
    del home
    for name in (*MOVERS, "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Runs a command line on a terminal, with what a person types."""

    def run(types: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "stdin", Terminal(types))
        out = Terminal()
        code = main(arguments, Output(stdout=out, stderr=out, is_terminal=True))
        return code, out.getvalue()

    return run


def _servers(file: Path, key: str = "mcpServers") -> Any:
    return json.loads(file.read_text(encoding="utf-8"))[key]


@pytest.mark.covers("cli.install", "cli.uninstall")
def test_installing_tries_the_entry_writes_it_and_tells_what_to_do_next(
    cli: Callable[..., Any], home: Path
) -> None:
    done = cli("install", "--client", "claude-code")
    assert done.code == 0
    entry = _servers(home / ".claude.json")["schemory"]
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-P", "-m", "schemory", "serve"]
    for told in (".claude.json", "lists", "tools", "next: Start a new session", "all projects"):
        assert told in done.out
    before = (home / ".claude.json").read_bytes()
    again = cli("install", "--client", "claude-code")
    assert "already" in again.out
    assert "next:" not in again.out
    assert (home / ".claude.json").read_bytes() == before
    gone = cli("uninstall", "--client", "claude-code")
    assert gone.code == 0
    assert not (home / ".claude.json").exists()


@pytest.mark.covers("cli.install", "cli.uninstall")
def test_a_projects_entry_names_the_project_and_paths_are_absolute(
    cli: Callable[..., Any], home: Path
) -> None:
    (home / "api").mkdir()
    (home / "my schemas").mkdir()
    done = cli(
        *("install", "--client", "vscode,codex", "--project", "api", "--schemas", "my schemas"),
        *("--pack", "software", "--db", "a.sqlite", "--tools", "compact", "--strict-types"),
        *("--no-verify", "--json"),
    )
    assert done.code == 0
    words = [
        *("-P", "-m", "schemory", "serve", "--db", str(home / "a.sqlite")),
        *("--project", str(home / "api"), "--schemas", str(home / "my schemas")),
        *("--pack", "software", "--tools", "compact", "--strict-types"),
    ]
    assert _servers(home / "api" / ".vscode" / "mcp.json", "servers")["schemory"]["args"] == words
    assert [each["action"] for each in done.data["files"]] == ["created", "created"]
    assert done.data["level"] == "project"
    assert "keep it out of git" in done.data["notes"][0]
    assert cli("uninstall", "--project", "api").code == 0
    assert list((home / "api").iterdir()) == []


@pytest.mark.covers("cli.install")
def test_a_client_without_project_files_can_be_tied_to_one_project(
    cli: Callable[..., Any], home: Path
) -> None:
    (home / "api").mkdir()
    refused = cli("install", "--client", "cline", "--project", "api", "--no-verify")
    assert refused.code == 1
    assert "--user --project PATH" in refused.err
    arguments = ("--user", "--project", "api", "--name", "api-memory", "--no-verify")
    assert cli("install", "--client", "cline", *arguments).code == 0
    file = home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    assert _servers(file)["api-memory"]["args"][-2:] == ["--project", str(home / "api")]
    by_id = cli("install", "--client", "cursor", "--project", "git:x/y", "--no-verify")
    assert by_id.code == 2
    assert "no folder" in by_id.err


@pytest.mark.covers("cli.install")
def test_an_entry_that_does_not_work_changes_nothing(
    cli: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(home / "gone" / "python"))
    refused = cli("install", "--client", "cursor")
    assert refused.code == 1
    assert "cannot be started" in refused.err
    assert "--no-verify" in refused.err
    assert not (home / ".cursor").exists()
    assert cli("install", "--client", "cursor", "--no-verify").code == 0


@pytest.mark.covers("cli.install")
def test_printing_and_rehearsing_touch_no_file(cli: Callable[..., Any], home: Path) -> None:
    printed = cli("install", "--client", "zed", "--print", "--pack", "rpg")
    assert json.loads(printed.out)["context_servers"]["schemory"]["args"][-2:] == ["--pack", "rpg"]
    both = cli("install", "--client", "opencode,codex", "--print", "--json").data
    assert both["opencode"]["type"] == "local"
    assert both["codex"]["command"] == sys.executable
    (home / ".cursor").mkdir()
    file = home / ".cursor" / "mcp.json"
    lived_in = '{\n  "mcpServers": {\n    "a": {"env": {"KEY": "keep me out of logs"}}\n  }\n}\n'
    file.write_text(lived_in, encoding="utf-8")
    rehearsed = cli("install", "--client", "cursor", "--dry-run")
    assert "would add to" in rehearsed.out
    assert '+    "schemory": {' in rehearsed.out.replace("  +", "+")
    assert "next:" not in rehearsed.out
    assert file.read_text(encoding="utf-8") == lived_in
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.covers("cli.install", "cli.uninstall")
def test_without_a_client_those_that_are_here_are_listed(
    cli: Callable[..., Any], home: Path
) -> None:
    (home / ".cursor").mkdir()
    (home / ".codex").mkdir()
    listed = cli("install")
    assert listed.code == 0
    states = {row.split("\t")[0]: row.split("\t")[2] for row in listed.out.splitlines()}
    assert len(states) == 11
    assert (states["cursor"], states["gemini"]) == ("here", "-")
    assert "--client all" in listed.err
    assert cli("install", "--client", "all", "--no-verify").code == 0
    assert (home / ".cursor" / "mcp.json").exists()
    assert not (home / ".gemini").exists()
    found = {each["client"]: each for each in cli("install", "--json").data}
    assert (found["codex"]["setUp"], found["zed"]["setUp"]) == (True, False)
    assert cli("uninstall", "--dry-run").out.count("would") == 2
    assert cli("uninstall").code == 0
    assert cli("uninstall").code == 1


@pytest.mark.covers("cli.install")
def test_all_for_a_project_leaves_out_clients_without_project_files(
    cli: Callable[..., Any], home: Path
) -> None:
    (home / ".cursor").mkdir()
    (home / ".cline").mkdir()
    (home / "api").mkdir()
    done = cli("install", "--client", "all", "--project", "api", "--no-verify", "--json")
    assert done.code == 0
    assert [each["client"] for each in done.data["files"]] == ["cursor"]
    assert "Cline reads no file of a project" in done.data["notes"]


@pytest.mark.covers("cli.install")
def test_all_where_no_client_is_here_says_so(cli: Callable[..., Any]) -> None:
    nothing = cli("install", "--client", "all", "--no-verify")
    assert nothing.code == 2
    assert "No client was found" in nothing.err
    unknown = cli("install", "--client", "cursr")
    assert unknown.code == 2
    assert "'cursor'" in unknown.err


@pytest.mark.covers("cli.install")
def test_one_clients_fault_does_not_keep_the_others_from_being_set_up(
    cli: Callable[..., Any], home: Path
) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{", encoding="utf-8")
    done = cli("install", "--client", "cursor,gemini", "--no-verify")
    assert done.code == 2
    assert "line 1, column 2" in done.err
    assert (home / ".gemini" / "settings.json").exists()
    assert (home / ".cursor" / "mcp.json").read_text(encoding="utf-8") == "{"
    told = cli("install", "--client", "cursor,gemini", "--no-verify", "--json")
    assert [each["action"] for each in told.data["files"]] == ["refused", "unchanged"]


@pytest.mark.covers("cli.install", "setup.clients.secret")
def test_secrets_stay_out_and_variables_of_this_shell_are_pointed_out(
    cli: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "postgresql://app:moonlight7@db/prod"
    refused = cli("install", "--client", "cursor", "--db", url)
    assert refused.code == 1
    assert "moonlight7" not in refused.out + refused.err
    assert not (home / ".cursor").exists()
    monkeypatch.setenv("MEMORY_DB_PATH", url)
    noted = cli("install", "--client", "cursor", "--no-verify", "--dry-run")
    assert "MEMORY_DB_PATH of this shell is not in the entry" in noted.out
    done = cli("install", "--client", "cursor", "--env", "MEMORY_DB_PATH", "--no-verify")
    assert done.code == 0
    assert "of this shell" not in done.out
    text = (home / ".cursor" / "mcp.json").read_text(encoding="utf-8")
    assert '"MEMORY_DB_PATH": "${env:MEMORY_DB_PATH}"' in text
    assert "moonlight7" not in text


@pytest.mark.covers("cli.install")
def test_on_a_terminal_it_asks_which_clients_to_set_up(
    typing: Callable[..., tuple[int, str]], home: Path
) -> None:
    (home / ".cursor").mkdir()
    (home / ".gemini").mkdir()
    code, out = typing("none\n", "install", "--no-verify")
    assert code == 0
    assert "Set up which?" in out
    assert not (home / ".cursor" / "mcp.json").exists()
    assert typing("gemini\n", "install", "--no-verify")[0] == 0
    assert (home / ".gemini" / "settings.json").exists()
    assert not (home / ".cursor" / "mcp.json").exists()
    assert typing("\n", "install", "--no-verify")[0] == 0
    assert (home / ".cursor" / "mcp.json").exists()
    assert "is set up" in typing("", "install")[1]


@pytest.mark.covers("cli.init")
def test_init_asks_for_everything_and_then_does_it(
    typing: Callable[..., tuple[int, str]], home: Path
) -> None:
    (home / ".cursor").mkdir()
    (home / "api").mkdir()
    code, out = typing("software\nschemas\n\napi\n", "init")
    assert code == 0, out
    assert (home / "schemas" / "service.schema.json").is_file()
    args = _servers(home / "api" / ".cursor" / "mcp.json")["schemory"]["args"]
    assert args[4:] == ["--project", str(home / "api"), "--schemas", str(home / "schemas")]
    assert "lists" in out
    assert typing("nonsense\n", "init")[0] == 2
    assert typing("\n", "init")[0] == 130


@pytest.mark.covers("cli.init")
def test_init_sets_a_client_up_by_flags(cli: Callable[..., Any], home: Path) -> None:
    done = cli("init", "--pack", "software", "--client", "gemini", "--no-verify", "--json")
    assert done.code == 0
    assert done.data["install"]["files"][0]["action"] == "created"
    args = _servers(home / ".gemini" / "settings.json")["schemory"]["args"]
    assert args == ["-P", "-m", "schemory", "serve"]
    text = cli("init", "s", "--client", "gemini", "--no-verify")
    assert text.code == 1  # another entry of ours is there
    assert "--force" in text.err


@pytest.mark.covers("cli.install")
def test_every_option_of_serve_for_standard_input_can_be_handed_on() -> None:
    def flags(command: str) -> set[str]:
        parser = make_parser(find_command(command))
        assert isinstance(parser, argparse.ArgumentParser)
        return {
            action.dest
            for action in parser._actions  # noqa: SLF001 (argparse has no public list)
            if action.dest.startswith("MEMORY_") and "HTTP" not in action.dest
        }

    assert flags("serve") <= flags("install")


@pytest.mark.covers("setup.clients.shared")
def test_the_status_says_whether_the_graph_is_shared(cli: Callable[..., Any]) -> None:
    shared = cli("call", "memory_status", '{"project_id": "p"}').data
    assert shared["graph"]["shared"] is True
    own = cli("call", "memory_status", '{"project_id": "p"}', "--project", ".").data
    assert own["graph"]["shared"] is False
    assert "shared by everything" in cli("status").out
    assert "shared" not in cli("status", "--project", ".").out
