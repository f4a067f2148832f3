"""Each client on each system: where its files are, and what is in them before and after.

The files in tests/golden/clients are to be read by people: line ends other than `\n` are shown as
`␍`, a byte order mark as `⟪BOM⟫`, and a last line without an end as `⟪no line end⟫`.
"""

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from schemory.errors import ConfigError, ConflictError
from schemory.setup.clients.client import Client, Format, System
from schemory.setup.clients.entry import Entry
from schemory.setup.clients.places import Machine, project_files, user_files
from schemory.setup.clients.plan import Kind, plan_install, plan_removal
from schemory.setup.clients.table import CLIENTS, find_client

GOLDEN = Path(__file__).parent.parent / "golden" / "clients"
NAME = "schemory"

HOMES = {
    System.LINUX: "/home/ann",
    System.MACOS: "/Users/Ann Lee",
    System.WINDOWS: r"C:\Users\Ann Lee",
}
PROJECTS = {
    System.LINUX: "/home/ann/code/api",
    System.MACOS: "/Users/Ann Lee/code/api server",
    System.WINDOWS: r"D:\code\api server",
}
ENTRIES = {
    System.LINUX: Entry(
        command="/home/ann/.local/share/uv/tools/schemory/bin/python",
        args=("-P", "-m", "schemory", "serve", "--pack", "software"),
    ),
    System.MACOS: Entry(
        command="/Users/Ann Lee/venv/bin/python3",
        args=("-P", "-m", "schemory", "serve", "--schemas", "/Users/Ann Lee/my schemas"),
    ),
    System.WINDOWS: Entry(
        command=r"C:\Users\Ann Lee\AppData\Roaming\uv\tools\schemory\Scripts\python.exe",
        args=("-P", "-m", "schemory", "serve", "--schemas", r"C:\Users\Ann Lee\my schemas"),
    ),
}
NEWER = {
    system: Entry(command=entry.command.replace("python", "other-python"), args=entry.args)
    for system, entry in ENTRIES.items()
}

# Each system's files have a form of their own, so that all of them are met.
STEPS = {System.LINUX: "  ", System.MACOS: "\t", System.WINDOWS: "    "}
LINE_ENDS = {System.LINUX: "\n", System.MACOS: "\n", System.WINDOWS: "\r\n"}
MARKS = {System.LINUX: b"", System.MACOS: b"", System.WINDOWS: b"\xef\xbb\xbf"}
HAS_LAST_END = {System.LINUX: True, System.MACOS: False, System.WINDOWS: True}

JSON_LIVED_IN = """{
>"theme": "dark",
>"KEY": {
>>"fetch": {
>>>"command": "uvx",
>>>"args": ["mcp-server-fetch"],
>>>"env": {"TOKEN": "kept"}
>>}
>},
>"unknown": [1, 2.50, null]
}
"""
JSON_COMMENTED = """// Ann's settings
{
>"theme": "dark", // not light
>/* servers
>   for all projects */
>"KEY": {
>>// "old": {"command": "old"},
>>"fetch": {"command": "uvx", "args": ["mcp-server-fetch"]}, // from the web
>>// more to come
>},
>"last": true, // with a comma
}
"""
TOML_LIVED_IN = """model = "o5"  # the big one
approval_policy = "on-request"

[mcp_servers.fetch]
command = "uvx"
args = [
  "mcp-server-fetch",  # from the web
]

[mcp_servers.fetch.env]
TOKEN = "kept"

[tui]
notifications = true
"""
TOML_COMMENTED = """# Ann's settings
model = 'o5'
# mcp_servers.old = { command = "old" }

# about the interface
[tui]
text = \"\"\"
[mcp_servers.schemory]
this is no table\"\"\"
# the end
"""
BROKEN = {
    Format.JSON: '{\n>"KEY": {\n>>"fetch": {"command": "uvx"\n>}\n}\n',
    Format.TOML: '[mcp_servers.fetch]\ncommand = "uvx\nargs = []\n',
}


def _sample(template: str, client: Client, system: System) -> bytes:
    text = template.replace(">", STEPS[system]) if client.format is Format.JSON else template
    text = _keyed(text, client)
    if not HAS_LAST_END[system]:
        text = text.rstrip("\n")
    return MARKS[system] + text.replace("\n", LINE_ENDS[system]).encode()


def _keyed(text: str, client: Client) -> str:
    return text.replace("KEY", client.key[-1])


def _machine(system: System, there: Sequence[str] = ()) -> Machine:
    def find(pattern: str) -> list[str]:
        return [path for path in there if fnmatchcase(path, pattern)]

    return Machine(system=system, home=HOMES[system], environ={}, find=find)


def _shown(data: bytes | None) -> str:
    if data is None:
        return "⟪no file⟫\n"
    text = data.decode().replace("\ufeff", "⟪BOM⟫").replace("\r", "␍")
    return text if text.endswith("\n") else f"{text}⟪no line end⟫\n"


def _transcript(client: Client, system: System) -> Iterator[str]:
    entry = ENTRIES[system]
    machine = _machine(system)
    yield f"# {client.title} on {system.value}\n"
    for file in user_files(client, machine):
        yield f"user: {file}\n"
    for file in project_files(client, machine, PROJECTS[system]):
        yield f"project: {file}\n"

    def install(data: bytes | None, new: Entry = entry, *, force: bool = False) -> bytes:
        change = plan_install(client, data, new, name=NAME, file="FILE", force=force)
        assert change.after is not None
        return change.after

    yield f"\n## fresh\n{_shown(install(None))}"
    is_json = client.format is Format.JSON
    for title, template in (
        ("lived in", JSON_LIVED_IN if is_json else TOML_LIVED_IN),
        ("commented", JSON_COMMENTED if is_json else TOML_COMMENTED),
    ):
        before = _sample(template, client, system)
        after = install(before)
        yield f"\n## {title}: before\n{_shown(before)}\n## {title}: after\n{_shown(after)}"
        replaced = install(after, NEWER[system], force=True)
        yield f"\n## {title}: after --force with another Python\n{_shown(replaced)}"
        edited = after.replace(b"fetch", b"fetch2")
        left = plan_removal(client, edited, name=NAME, file="FILE", backups=[before])
        yield f"\n## {title}: edited since, then uninstalled ({left.kind.value})\n"
        yield _shown(left.after)
    broken = _sample(BROKEN[client.format], client, system)
    with pytest.raises(ConfigError) as fault:
        install(broken)
    yield f"\n## broken\n{_shown(broken)}\n-> {fault.value.message}\n"
    with pytest.raises(ConflictError) as other:
        install(install(None), NEWER[system])
    yield f"\n## another entry of that name\n-> {other.value.message}\n"


PAIRS = [(client.name, system) for client in CLIENTS for system in System]


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compares a text with a golden file, or writes that file."""

    def check(file: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            file.write_bytes(text.encode())
        assert file.read_bytes().decode() == text

    return check


@pytest.mark.covers("setup.clients.files")
@pytest.mark.parametrize(("name", "system"), PAIRS)
def test_what_a_clients_file_says_before_and_after(
    name: str, system: System, compare: Callable[[Path, str], None]
) -> None:
    text = "".join(_transcript(find_client(name), system))
    compare(GOLDEN / f"{name}-{system.value}.txt", text)


def _samples(client: Client, system: System) -> list[bytes | None]:
    is_json = client.format is Format.JSON
    templates = (
        (JSON_LIVED_IN, JSON_COMMENTED, "{}", "", "// nothing yet\n", "{\n>// here\n}\n")
        if is_json
        else (TOML_LIVED_IN, TOML_COMMENTED, "", "# nothing yet\n")
    )
    return [None, *(_sample(template, client, system) for template in templates)]


@pytest.mark.covers("setup.clients.repeated", "setup.clients.uninstalled")
@pytest.mark.parametrize(("name", "system"), PAIRS)
def test_the_second_run_changes_nothing_and_uninstalling_gives_the_original_bytes(
    name: str, system: System
) -> None:
    client, entry = find_client(name), ENTRIES[system]
    for before in _samples(client, system):
        after = plan_install(client, before, entry, name=NAME, file="FILE").after
        assert after is not None
        again = plan_install(client, after, entry, name=NAME, file="FILE")
        assert (again.kind, again.after) == (Kind.UNCHANGED, after)
        backups = [] if before is None else [before]
        gone = plan_removal(client, after, name=NAME, file="FILE", backups=backups)
        assert gone.after == before
        assert gone.kind is (Kind.DELETED if before is None else Kind.RESTORED)


@pytest.mark.covers("setup.clients.merged")
@pytest.mark.parametrize(("name", "system"), PAIRS)
def test_every_line_of_an_existing_file_stays_in_its_order(name: str, system: System) -> None:
    client = find_client(name)
    for before in _samples(client, system):
        after = plan_install(client, before, ENTRIES[system], name=NAME, file="FILE").after
        rest = iter((after or b"").splitlines())
        for line in (before or b"").splitlines():
            bare = line.rstrip(b"},")
            assert any(bare in other for other in rest), line


@pytest.mark.covers("setup.clients.merged")
@pytest.mark.parametrize("system", list(System))
def test_opencodes_newer_layout_is_kept_where_a_file_has_it(system: System) -> None:
    before = b'{\n  "mcp": {\n    "servers": {\n      "a": {"type": "local"}\n    }\n  }\n}\n'
    client = find_client("opencode")
    change = plan_install(client, before, ENTRIES[system], name=NAME, file="FILE")
    lines = (change.after or b"").decode().splitlines()
    assert lines[:6] == [
        "{",
        '  "mcp": {',
        '    "servers": {',
        '      "a": {"type": "local"},',
        '      "schemory": {',
        '        "type": "local",',
    ]
    assert not any("enabled" in line for line in lines)


@pytest.mark.covers("setup.clients.conflict")
def test_what_a_person_added_to_our_entry_stays_when_it_is_brought_up_to_date() -> None:
    client = find_client("cline")
    before = (
        b'{"mcpServers": {"schemory": {"command": "/old/python", "args": ["-m", "schemory", '
        b'"serve"], "autoApprove": ["memory_search"], "disabled": true}}}'
    )
    entry = Entry(command="/new/python", args=("-P", "-m", "schemory", "serve"))
    with pytest.raises(ConflictError, match="/old/python -m schemory serve"):
        plan_install(client, before, entry, name=NAME, file="FILE")
    after = plan_install(client, before, entry, name=NAME, file="FILE", force=True).after
    assert after == (
        b'{"mcpServers": {"schemory": {"command": "/new/python", "args": ["-P", "-m", "schemory", '
        b'"serve"], "autoApprove": ["memory_search"], "disabled": true}}}'
    )
    again = plan_install(client, after, entry, name=NAME, file="FILE")
    assert again.kind is Kind.UNCHANGED
    assert again.notes == ("Cline has it switched off",)


@pytest.mark.covers("setup.clients.conflict")
def test_a_foreign_entry_of_our_name_is_shown_without_its_secrets_and_replaced_whole() -> None:
    client = find_client("cursor")
    password = "hunter" + "2hunter2"
    before = (
        '{"mcpServers": {"schemory": {"command": "other", "args": '
        f'["postgres://a:{password}@h/d"], "env": {{"K": "v"}}}}}}}}'
    ).encode()
    with pytest.raises(ConflictError) as fault:
        plan_install(client, before, ENTRIES[System.LINUX], name=NAME, file="FILE")
    assert password not in str(fault.value.problems)
    change = plan_install(client, before, ENTRIES[System.LINUX], name=NAME, file="FILE", force=True)
    assert change.kind is Kind.REPLACED
    assert b'"env"' not in (change.after or b"")


@pytest.mark.covers("setup.clients.broken")
@pytest.mark.parametrize(
    ("client", "data", "told"),
    [
        ("cursor", b'{"a": 1,, }', "(line 1, column 9)"),
        ("cursor", b'{"a": 1', "(line 1, column 8)"),
        ("cursor", b'{"mcpServers": {}} x', "(line 1, column 20)"),
        ("cursor", b'{"mcpServers": []}', "mcpServers is no object"),
        ("cursor", b"[]", "the file is no object"),
        ("cursor", b'{"mcpServers": {}, "mcpServers": {}}', 'the key "mcpServers" twice'),
        ("cursor", b'{"a": NaN}', "wants a value here (line 1, column 7)"),
        ("cursor", b"{'a': 1}", "(line 1, column 2)"),
        ("cursor", b'{"a": /* ', "a comment that does not end"),
        ("cursor", b'{"a": "\\x"}', "bad escape"),
        ("cursor", b"\xff\xfe{\x00", "UTF-16"),
        ("cursor", b'{\n"a": "\xe9"}', "(line 2, column 7)"),
        ("cursor", b"[" * 100_000, "nested too deeply"),
        ("codex", b"a = 1\na = 2\n", "Cannot overwrite a value"),
        ("codex", b"mcp_servers = 1\n", "mcp_servers is no object"),
        ("codex", b"mcp_servers = { a = { command = 'a' } }\n", "cannot be edited safely"),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused_with_its_place(
    client: str, data: bytes, told: str
) -> None:
    with pytest.raises(ConfigError) as fault:
        plan_install(find_client(client), data, ENTRIES[System.LINUX], name=NAME, file="FILE")
    assert told in fault.value.message
    assert fault.value.problems
