"""Sets clients up and undoes that, file by file."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final

from schemory.errors import ConfigError, ConflictError, SchemoryError, UnsupportedError
from schemory.model.frozen import dataclass
from schemory.setup.clients.client import Client
from schemory.setup.clients.disk import (
    apply_change,
    backups_of,
    may_mention,
    read_file,
    read_servers,
    refuse_protected,
    remove_empty_folders,
)
from schemory.setup.clients.entry import Entry, is_ours, told
from schemory.setup.clients.places import (
    Machine,
    all_files,
    is_installed,
    project_files,
    user_files,
)
from schemory.setup.clients.plan import Change, Kind, find_servers, plan_install, plan_removal

_TIE: Final = (
    "schemory install --client {} --user --project PATH ties your own file to one project; without "
    "--project all of them share it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done with each client's files.

    Attributes:
        name: What the entry is called.
        project: The folder whose files are meant; None: the user's own files.
        is_dry: Plan only.
    """

    name: str
    project: str | None = None
    force: bool = False
    is_dry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one file.

    Attributes:
        backup: Where the file's earlier bytes are, if they were kept just now.
        fault: Why nothing was done.
    """

    client: Client
    file: PurePath
    change: Change | None = None
    backup: Path | None = None
    fault: SchemoryError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a client stands.

    Attributes:
        files: The user-level files that setting it up would change.
        entries: Files that have our entry, with what it starts.
    """

    client: Client
    is_installed: bool
    files: tuple[PurePath, ...]
    entries: tuple[tuple[PurePath, str], ...]


def files_of(client: Client, machine: Machine, project: str | None) -> tuple[PurePath, ...]:
    """Return the files that setting up `client` changes.

    Raises:
        UnsupportedError: It reads no files of a project.
    """
    if project is None:
        return user_files(client, machine)
    files = project_files(client, machine, project)
    if not files:
        raise UnsupportedError(
            f"{client.title} reads no file of a project, only your own",
            suggestions=[_TIE.format(client.name)],
        )
    return files


def install(
    clients: Sequence[Client], entry: Entry, order: Order, machine: Machine
) -> Iterator[Outcome]:
    """Put the entry into each client's files and yield what came of it, a file at a time."""
    for client in clients:
        try:
            files = files_of(client, machine, order.project)
        except UnsupportedError as fault:
            yield Outcome(client=client, file=machine.path(order.project or ""), fault=fault)
            continue
        for file in files:
            yield _install(client, Path(file), entry, order)


def _install(client: Client, file: Path, entry: Entry, order: Order) -> Outcome:
    try:
        change = plan_install(
            client,
            read_file(file),
            entry,
            name=order.name,
            file=str(file),
            force=order.force,
        )
        backup = _apply(file, change, order)
    except SchemoryError as fault:
        return Outcome(client=client, file=file, fault=fault)
    return Outcome(client=client, file=file, change=change, backup=backup)


def uninstall(clients: Sequence[Client], order: Order, machine: Machine) -> Iterator[Outcome]:
    """Take the entry out of each client's files; files without it are not told of."""
    for client in clients:
        if order.project is None:
            files = all_files(client, machine)
        else:
            files = project_files(client, machine, order.project)
        for file in files:
            outcome = _uninstall(client, Path(file), order)
            if outcome is not None:
                yield outcome


def _uninstall(client: Client, file: Path, order: Order) -> Outcome | None:
    try:
        data = read_file(file)
        if data is None:
            return None
        servers = find_servers(client, data, str(file)).servers
        if order.name not in servers:
            return None
        if not is_ours(servers[order.name]) and not order.force:
            raise _not_ours(file, order.name, servers[order.name])
        backups = [kept for backup in backups_of(file) if (kept := read_file(backup)) is not None]
        change = plan_removal(client, data, name=order.name, file=str(file), backups=backups)
        backup = _apply(file, change, order)
    except SchemoryError as fault:
        if isinstance(fault, ConfigError) and not may_mention(file, order.name):
            return None
        return Outcome(client=client, file=file, fault=fault)
    return Outcome(client=client, file=file, change=change, backup=backup)


def _apply(file: Path, change: Change, order: Order) -> Path | None:
    if order.is_dry:
        if change.before != change.after:
            refuse_protected(file)
        return None
    backup = apply_change(file, change, is_private=order.project is None)
    if change.kind is Kind.DELETED and order.project is not None:
        remove_empty_folders(file, Path(order.project))
    return backup


def standing(client: Client, machine: Machine) -> Standing:
    """Return how a client stands on this machine; files that cannot be read count as empty."""
    entries: list[tuple[PurePath, str]] = []
    for file in all_files(client, machine):
        try:
            servers = read_servers(client, Path(file))
        except ConfigError:
            continue
        entries += [(file, told(value)) for value in servers.values() if is_ours(value)]
    return Standing(
        client=client,
        is_installed=is_installed(client, machine),
        files=user_files(client, machine),
        entries=tuple(entries),
    )


def _not_ours(file: Path, name: str, value: object) -> ConflictError:
    message = f'{file} has an entry "{name}" that is not ours: it starts {told(value)}'
    return ConflictError.at(
        f"{file}: {name}", message, suggestion="--force removes it all the same."
    )
