"""Finds entries of ours in clients' files that point nowhere any more."""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Final

from schemory.errors import ConfigError
from schemory.setup.clients.client import Client
from schemory.setup.clients.disk import may_mention, read_servers
from schemory.setup.clients.entry import command_line, is_ours
from schemory.setup.clients.places import Machine, all_files, project_files
from schemory.setup.clients.table import CLIENTS
from schemory.storage.keeping import Finding, Severity

_FOLDERS: Final = {"--project": "project", "--schemas": "schemas"}


def find_dead_entries(
    machine: Machine, *, project: str | None, which: Callable[[str], str | None]
) -> tuple[Finding, ...]:
    """Return a finding for each entry that cannot start what it says, in any client's file.

    Args:
        machine: Where the user's own files are looked for.
        project: A folder whose files are looked at as well.
        which: Returns the path of a command that is no path itself.
    """
    return tuple(
        finding
        for client in CLIENTS
        for file, is_project in _files(client, machine, project)
        for finding in _look(client, Path(file), project if is_project else None, which)
    )


def _files(
    client: Client, machine: Machine, project: str | None
) -> Iterator[tuple[PurePath, bool]]:
    own = all_files(client, machine)
    for file in own:
        yield file, False
    if project is not None:
        seen = {os.path.realpath(file) for file in own}  # the project may be the home folder
        for file in project_files(client, machine, project):
            if os.path.realpath(file) not in seen:
                yield file, True


def _look(
    client: Client, file: Path, project: str | None, which: Callable[[str], str | None]
) -> Iterator[Finding]:
    where = f" --project {project}" if project else ""
    again = f"`schemory install --client {client.name}{where} --force` writes it anew"
    away = f"`schemory uninstall --client {client.name}{where}` removes it."
    try:
        servers = read_servers(client, file)
    except ConfigError as fault:
        if may_mention(file, "schemory"):
            step = f"{client.title} cannot read it either. Mend that place."
            yield _finding("client.file", fault.message, step)
        return
    for name, value in servers.items():
        if is_ours(value):
            for code, what in _faults(command_line(value), which):
                told = f'{client.title} ("{name}" in {file}) points nowhere: {what}'
                yield _finding(code, told, f"{again}; {away}")


def _faults(words: Sequence[str], which: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    command = words[0]
    if not _can_run(command, which):
        yield "client.command", f"{command} is gone or cannot be run"
    for flag, value in pairwise(words):
        if flag in _FOLDERS and os.path.isabs(value) and not os.path.isdir(value):  # noqa: PTH112, PTH117 (text)
            yield f"client.{_FOLDERS[flag]}", f"the folder {value} ({flag}) is gone"


def _can_run(command: str, which: Callable[[str], str | None]) -> bool:
    if os.path.isabs(command):  # noqa: PTH117 (text)
        return os.path.isfile(command) and os.access(command, os.X_OK)  # noqa: PTH113 (text)
    return which(command) is not None


def _finding(code: str, what: str, step: str) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, what=what, next_step=step)
