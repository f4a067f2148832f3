"""What an entry starts, and that no credential gets into one."""

import pytest

from schemory.errors import SecretDetectedError, UnsupportedError, UsageError
from schemory.setup.clients.entry import (
    Entry,
    Variable,
    check_name,
    command_line,
    is_ours,
    is_same,
    parse_variable,
    refuse_secrets,
    shaped,
    told,
)
from schemory.setup.clients.launcher import InstalledBy, find_launcher
from schemory.setup.clients.table import CLIENTS, find_client

PLAIN = Entry(command="/venv/bin/python", args=("-P", "-m", "schemory", "serve"))
# Put together here, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "x7Qk2mN9pR4tV6wY8zB1cD3fG5hJ0sLaEuKo"


def _with(*env: Variable) -> Entry:
    return Entry(command="python", args=(), env=env)


@pytest.mark.covers("setup.clients.secret")
@pytest.mark.parametrize(
    ("client", "key", "expected"),
    [
        ("claude-code", "env", {"A": "${A}", "B": "b"}),
        ("vscode", "env", {"A": "${env:A}", "B": "b"}),
        ("cursor", "env", {"A": "${env:A}", "B": "b"}),
        ("windsurf", "env", {"A": "${env:A}", "B": "b"}),
        ("gemini", "env", {"A": "${A}", "B": "b"}),
        ("opencode", "environment", {"A": "{env:A}", "B": "b"}),
        ("codex", "env", {"B": "b"}),
        ("codex", "env_vars", ["A"]),
    ],
)
def test_a_variable_is_referred_to_in_the_clients_own_way(
    client: str, key: str, expected: object
) -> None:
    entry = _with(Variable("A"), Variable("B", "b"))
    assert shaped(entry, find_client(client))[key] == expected


@pytest.mark.covers("setup.clients.secret")
@pytest.mark.parametrize("client", ["claude-desktop", "zed", "jetbrains", "cline"])
def test_a_client_that_cannot_refer_to_variables_is_refused_with_a_way_out(client: str) -> None:
    with pytest.raises(UnsupportedError) as fault:
        shaped(_with(Variable("MEMORY_DB_PATH")), find_client(client))
    assert "MEMORY_DB_PATH" in fault.value.message
    assert "memory.config.json" in fault.value.suggestions[0]
    assert shaped(_with(Variable("B", "b")), find_client(client))["env"] == {"B": "b"}


@pytest.mark.covers("setup.clients.secret")
def test_values_that_look_like_credentials_are_refused_without_being_shown() -> None:
    url = "postgresql://app:moonlight7@db/prod"
    env = [Variable("API_TOKEN", TOKEN), Variable("PLAIN", "yes"), Variable("REFERRED")]
    with pytest.raises(SecretDetectedError) as fault:
        refuse_secrets([("--db", url), ("--pack", "software")], env)
    assert [problem.path for problem in fault.value.problems] == ["--db", "--env API_TOKEN"]
    shown = f"{fault.value.message}{fault.value.problems}{fault.value.suggestions}"
    assert TOKEN not in shown
    assert "moonlight7" not in shown
    assert "--env API_TOKEN" in str(fault.value.suggestions)


@pytest.mark.covers("setup.clients.secret")
def test_plain_values_are_no_credentials() -> None:
    flags = [
        ("--db", r"C:\Users\Ann Lee\memory.sqlite"),
        ("--db", "postgresql://db.example/prod"),
        ("--schemas", "/home/ann/schemas"),
        ("--project", "git:github.com/ann/api"),
        ("--tools", "compact"),
    ]
    refuse_secrets(flags, [Variable("MEMORY_TOOLS", "auto")])


@pytest.mark.covers("setup.clients.secret")
def test_variables_are_read_from_the_command_line() -> None:
    assert parse_variable("A_1") == Variable("A_1")
    assert parse_variable("A=b=c") == Variable("A", "b=c")
    assert parse_variable("A=") == Variable("A", "")
    for text in ("", "1A", "A B", "=x", "A-B"):
        with pytest.raises(UsageError, match="NAME=VALUE"):
            parse_variable(text)


@pytest.mark.covers("setup.clients.conflict")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"command": "/v/python", "args": ["-m", "schemory", "serve"]}, True),
        ({"command": "C:\\v\\Scripts\\schemory.exe", "args": ["serve"]}, True),
        ({"command": "uvx", "args": ["schemory", "serve"]}, True),
        ({"command": "pipx", "args": ["run", "schemory"]}, True),
        ({"type": "local", "command": ["/v/python", "-P", "-m", "schemory"]}, True),
        ({"command": {"path": "/v/bin/schemory", "args": ["serve"]}}, True),
        ({"transport": {"type": "stdio", "command": "/v/bin/schemory"}}, True),
        ({"command": "/bin/uv", "args": ["tool", "run", "schemory==0.1.0"]}, True),
        ({"command": "npx", "args": ["server-memory"]}, False),
        ({"command": "uv", "args": ["--directory", "/code/schemory", "run", "x.py"]}, False),
        ({"command": "/code/schemory/bin/python", "args": ["-m", "other"]}, False),
        ({"command": "npx", "args": ["-y", "x", "y", "schemory"]}, False),
        ({"url": "https://schemory.example/mcp"}, False),
        ("schemory", False),
        (None, False),
    ],
)
def test_entries_of_ours_are_known_by_what_they_start(value: object, *, expected: bool) -> None:
    assert is_ours(value) is expected


@pytest.mark.covers("setup.clients.conflict")
def test_what_an_entry_starts_is_told_without_its_secrets() -> None:
    assert (
        told({"command": "/a b/python", "args": ["-m", "schemory"]}) == '"/a b/python" -m schemory'
    )
    assert told({"url": "https://x"}) == "a remote server"
    assert told({}) == "something else"
    assert told({"command": "x", "args": [TOKEN]}) == "a command line with a credential"
    assert command_line({"command": 1, "args": "x"}) == []


@pytest.mark.covers("setup.clients.repeated")
def test_an_entry_is_the_same_when_it_starts_the_same() -> None:
    for client in CLIENTS:
        wanted = shaped(PLAIN, client)
        assert is_same(wanted, wanted)
        assert is_same({**wanted, "timeout": 5, "env": {"X": "y"}}, wanted)
        changed = ["x"] if client.name == "opencode" else "/other/python"
        assert not is_same({**wanted, "command": changed}, wanted)
        assert not is_same({}, wanted)
        assert not is_same(None, wanted)
    without_type = {"command": PLAIN.command, "args": list(PLAIN.args)}
    assert is_same(without_type, shaped(PLAIN, find_client("cursor")))
    assert not is_same({**without_type, "type": "http"}, shaped(PLAIN, find_client("cursor")))


@pytest.mark.covers("cli.install")
def test_names_of_entries_are_such_as_every_client_takes() -> None:
    assert check_name("schemory-api_2") == "schemory-api_2"
    for name in ("", "2nd", "a b", "a.b", "ä", "x" * 49):
        with pytest.raises(UsageError, match="--name"):
            check_name(name)


@pytest.mark.covers("setup.clients.launcher")
@pytest.mark.parametrize(
    ("executable", "by"),
    [
        ("/home/ann/.venv/bin/python3", InstalledBy.OTHER),
        ("/usr/bin/python3", InstalledBy.OTHER),
        ("/home/ann/.local/share/uv/tools/schemory/bin/python", InstalledBy.UV_TOOL),
        (r"C:\Users\Ann\AppData\Roaming\uv\tools\schemory\Scripts\python.exe", InstalledBy.UV_TOOL),
        ("/home/ann/.local/share/pipx/venvs/schemory/bin/python", InstalledBy.PIPX),
        ("/home/ann/.local/pipx/venvs/schemory/bin/python", InstalledBy.PIPX),
    ],
)
def test_a_lasting_interpreter_is_started_itself_and_safely(
    executable: str, by: InstalledBy
) -> None:
    found = find_launcher(executable, lambda _name: None)
    assert found.words == (executable, "-P", "-m", "schemory")
    assert found.by is by
    assert (found.note is None) == (by is InstalledBy.OTHER)


@pytest.mark.covers("setup.clients.launcher")
@pytest.mark.parametrize(
    ("executable", "words"),
    [
        ("/home/ann/.cache/uv/archive-v0/x1Y2/bin/python", ("/bin/uvx", "schemory")),
        (
            r"C:\Users\A\AppData\Local\uv\cache\archive-v0\x\Scripts\python.exe",
            ("/bin/uvx", "schemory"),
        ),
        ("/home/ann/.local/share/pipx/.cache/0a1b/bin/python", ("/bin/pipx", "run", "schemory")),
        ("/home/ann/.cache/pipx/0a1b/bin/python", ("/bin/pipx", "run", "schemory")),
    ],
)
def test_a_throw_away_environment_is_made_anew_by_what_made_it(
    executable: str, words: tuple[str, ...]
) -> None:
    found = find_launcher(executable, lambda name: f"/bin/{name}")
    assert found.words == words
    assert "anew" in (found.note or "")
    assert find_launcher(executable, lambda _name: None).words[0] == executable
