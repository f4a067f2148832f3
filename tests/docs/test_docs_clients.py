"""The page on clients says what the product does: files, entries, what to do next."""

from pathlib import Path

import pytest

from schemory.setup.clients.client import Client, System
from schemory.setup.clients.entry import Entry
from schemory.setup.clients.places import Machine, project_files, user_files
from schemory.setup.clients.plan import plan_install
from schemory.setup.clients.table import CLIENTS

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "how-to" / "connect-a-client.md").read_text(encoding="utf-8")
SOURCES = (DOCS / "explanation" / "clients.md").read_text(encoding="utf-8")
HOMES = {System.LINUX: "/H", System.MACOS: "/H", System.WINDOWS: r"C:\H"}
SHOWN = (
    (r"C:\H\AppData\Roaming", "%APPDATA%"),
    (r"C:\H\AppData\Local", "%LOCALAPPDATA%"),
    (r"C:\H", "%USERPROFILE%"),
    ("/H", "~"),
)
ENTRY = Entry(
    command="/home/me/.venv/bin/python", args=("-P", "-m", "schemory", "serve", "--pack", "rpg")
)


def _machine(system: System) -> Machine:
    return Machine(system=system, home=HOMES[system], environ={}, find=lambda _pattern: [])


def _shown(path: str) -> str:
    for start, name in SHOWN:
        if path.startswith(start):
            return name + path[len(start) :]
    return path


def _section(client: Client) -> str:
    start = PAGE.index(f"\n## {client.title}\n")
    end = PAGE.find("\n## ", start + 4)
    return PAGE[start : len(PAGE) if end < 0 else end]


@pytest.mark.covers("setup.clients.places")
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_each_client_has_its_section_with_its_files_and_entry(client: Client) -> None:
    section = _section(client)
    assert f"schemory install --client {client.name}\n" in section
    assert f"`schemory uninstall --client {client.name}`" in section
    for system in System:
        for file in user_files(client, _machine(system)):
            assert f"`{_shown(str(file))}`" in section
    files = project_files(client, _machine(System.LINUX), "/")
    for file in files:
        assert f"`{str(file)[1:]}`" in section
    assert ("no file of a project" in section) == (not files)
    fresh = plan_install(client, None, ENTRY, name="schemory", file="").after or b""
    assert f"\n```{client.format.value}\n{fresh.decode()}```\n" in section
    for words in (client.restart, client.check, client.project_note or ""):
        assert " ".join(words.split()) in " ".join(section.split())


def test_the_page_has_no_section_of_a_client_that_is_not_known() -> None:
    titles = {line[3:] for line in PAGE.splitlines() if line.startswith("## ")}
    assert {client.title for client in CLIENTS} <= titles


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_where_each_clients_facts_come_from_is_told(client: Client) -> None:
    assert f"\n| {client.title} |" in SOURCES
