"""`install` and `uninstall`: tells clients of the server, in their own files."""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from schemory.cli.command import FINDING, OK, Command, Request
from schemory.cli.faults import exit_code
from schemory.cli.options import COMMON_OPTIONS
from schemory.cli.serving import SERVE_OPTIONS
from schemory.config import (
    KEYS,
    Raw,
    Settings,
    home_folder,
    load_settings,
    process_environment,
)
from schemory.errors import ConflictError, UsageError
from schemory.model.frozen import dataclass

if TYPE_CHECKING:
    from schemory.setup.clients.client import Client
    from schemory.setup.clients.entry import Entry, Variable
    from schemory.setup.clients.job import Order, Outcome
    from schemory.setup.clients.places import Machine
    from schemory.setup.clients.verify import Trial

HANDED_ON = tuple(option for option in SERVE_OPTIONS if "HTTP" not in option.setting)
"""Options of `serve` that an entry may carry, beside the common ones."""

_ALL = "all"


def _configure_target(parser: argparse.ArgumentParser, undo: str = "") -> None:
    from schemory.setup.clients.table import client_names  # noqa: PLC0415 (not for other commands)

    add = parser.add_argument
    add(
        "--client",
        action="append",
        metavar="NAME",
        help=f"{client_names()}; repeatable, with commas, or all that are here {undo}".rstrip(),
    )
    add("--user", action="store_true", help="your own file, also together with --project")
    add("--name", default="schemory", help="what the entry is called (default schemory)")
    add("--dry-run", action="store_true", help="show what would change, change nothing")


def _configure_install(parser: argparse.ArgumentParser) -> None:
    _configure_target(parser)
    add = parser.add_argument
    add("--print", dest="only_print", action="store_true", help="print the entry, touch no file")
    add("--force", action="store_true", help="replace another entry of that name")
    add("--no-verify", action="store_true", help="do not start the server to see whether it works")
    add(
        "--env",
        action="append",
        metavar="NAME[=VALUE]",
        default=[],
        help="a variable of the server's; without a value a reference to the client's own",
    )
    group = parser.add_argument_group("options that the entry hands to serve, as those below")
    for option in HANDED_ON:
        option.add_to(group)


def _configure_uninstall(parser: argparse.ArgumentParser) -> None:
    _configure_target(parser, "(the default)")
    parser.add_argument(
        "--force", action="store_true", help="remove an entry of that name that is not ours, too"
    )


def _run_install(request: Request) -> int:
    from schemory.cli.install_view import show_entry, show_outcomes  # noqa: PLC0415 (not for help)

    machine = find_machine()
    args = request.args
    clients = named_clients(args.client or [], machine)
    if not clients:
        if args.client:
            raise UsageError(
                "No client was found here.",
                suggestions=["Name one: schemory install --client NAME"],
            )
        clients = _offer(request, machine)
        if not clients:
            return OK
    if args.only_print:
        order, entry, _ = make_order(request)
        return show_entry(clients, entry, order, request.out)
    done = set_up(request, clients)
    show_outcomes(done, request.out)
    return done.code


def _run_uninstall(request: Request) -> int:
    from schemory.cli.install_view import show_outcomes  # noqa: PLC0415 (not for help)
    from schemory.setup.clients.job import uninstall  # noqa: PLC0415 (help needs no clients)
    from schemory.setup.clients.table import CLIENTS  # noqa: PLC0415 (as above)

    machine = find_machine()
    order = _order(request, _project_folder(request))
    names = request.args.client
    clients = named_clients(names, machine) if names and not _is_all(names) else CLIENTS
    outcomes = tuple(uninstall(clients, order, machine))
    _raise_only(outcomes)
    done = Done(outcomes=outcomes, order=order)
    show_outcomes(done, request.out)
    if not outcomes:
        request.out.note(f'No entry "{order.name}" in {order.project or "your own files"}')
        return FINDING
    return done.code


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What was done, for the one who prints it.

    Attributes:
        entry: What was put into the files; None: it was taken out.
        trial: What starting it gave; None: it was not tried.
        notes: What a person should know of the entry.
    """

    outcomes: "tuple[Outcome, ...]"
    order: "Order"
    entry: "Entry | None" = None
    trial: "Trial | None" = None
    notes: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        """The exit code: the worst of all files."""
        faults = (each.fault for each in self.outcomes)
        return max((exit_code(fault) for fault in faults if fault), default=OK)


def set_up(request: Request, clients: "Sequence[Client]") -> Done:
    """Try the entry that the command line describes, then put it into the clients' files.

    Raises:
        ConflictError: The entry does not work; nothing was changed.
        SchemoryError: The fault of the only file.
    """
    from schemory.setup.clients.job import install  # noqa: PLC0415 (help needs no clients)

    order, entry, notes = make_order(request)
    if order.project is not None and _is_all(request.args.client):
        left_out = [client.title for client in clients if not client.project_files]
        clients = [client for client in clients if client.project_files]
        notes = (*notes, *(f"{title} reads no file of a project" for title in left_out))
    is_tried = not (request.args.no_verify or order.is_dry)
    trial = _try(entry, order) if is_tried else None
    outcomes = tuple(install(clients, entry, order, find_machine()))
    _raise_only(outcomes)
    return Done(outcomes=outcomes, order=order, entry=entry, trial=trial, notes=notes)


def find_machine() -> "Machine":
    """Return this machine."""
    from schemory.setup.clients.local import this_machine  # noqa: PLC0415 (help needs no clients)

    return this_machine(process_environment(), home_folder())


def named_clients(names: Iterable[str], machine: "Machine") -> tuple["Client", ...]:
    """Return the clients of these names; `all` stands for those that are here.

    Raises:
        UsageError: There is none of a name.
    """
    from schemory.setup.clients.places import is_installed  # noqa: PLC0415 (help needs no clients)
    from schemory.setup.clients.table import CLIENTS, find_client  # noqa: PLC0415 (as above)

    found: list[Client] = []
    for name in (part.strip() for text in names for part in text.split(",")):
        if name.lower() == _ALL:
            found += [client for client in CLIENTS if is_installed(client, machine)]
        elif name:
            found.append(find_client(name))
    return tuple(dict.fromkeys(found))


def make_order(request: Request) -> tuple["Order", "Entry", tuple[str, ...]]:
    """Return what is to be done, the entry, and what a person should know of it.

    Raises:
        ConfigError: A setting that the server would refuse.
        SecretDetectedError: A value looks like a credential.
    """
    from schemory.setup.clients.entry import (  # noqa: PLC0415 (help needs no clients)
        Entry,
        check_name,
        parse_variable,
        refuse_secrets,
    )
    from schemory.setup.clients.launcher import find_launcher  # noqa: PLC0415 (as above)

    check_name(request.args.name)
    env = tuple(map(parse_variable, request.args.env))
    flags = [(key.flag or key.name, request.overrides.get(key.name, ())) for key in KEYS]
    refuse_secrets([(flag, value) for flag, raw in flags for value in _values(raw)], env)
    settings = settings_of(request)
    project = _project_folder(request, settings)
    launcher = find_launcher(sys.executable, _which)
    words = (*launcher.words, "serve", *serve_arguments(settings, request.overrides))
    entry = Entry(command=words[0], args=words[1:], env=env)
    notes = [launcher.note] if launcher.note else []
    return _order(request, project), entry, (*notes, *_unseen(env))


def settings_of(request: Request) -> Settings:
    """Return the settings that the server will have: the flags', not those of this shell."""
    environ = process_environment()
    own = {name: text for name, text in environ.items() if not name.startswith("MEMORY_")}
    return load_settings(request.overrides, environ=own)


def serve_arguments(settings: Settings, given: Mapping[str, Raw]) -> list[str]:
    """Return the arguments of `serve` for what the command line said, paths absolute."""
    words: list[str] = []
    if settings.graph_file is not None:
        words += ["--graph-file", settings.graph_file]
    elif settings.store_source == "--db":
        words += ["--db", settings.database]
    if "MEMORY_PROJECT" in given:
        folder = settings.project.folder if settings.project else None
        words += ["--project", folder or settings.space]
    if settings.schemas_named:
        for schemas in settings.schema_folders:
            words += ["--schemas", schemas]
    rest = [each for each in COMMON_OPTIONS if each.setting in {"MEMORY_PACKS", "MEMORY_DEBUG"}]
    for option in (*rest, *HANDED_ON):
        for value in _values(given.get(option.setting, ())):
            words += [option.flag, value] if option.shown else [option.flag]
    return words


def _is_all(names: Sequence[str] | None) -> bool:
    return any(name.strip().lower() == _ALL for text in names or () for name in text.split(","))


def _raise_only(outcomes: Sequence["Outcome"]) -> None:
    faults = [each.fault for each in outcomes if each.fault]
    if len(outcomes) == 1 and faults:
        raise faults[0]


def _order(request: Request, project: str | None) -> "Order":
    from schemory.setup.clients.job import Order  # noqa: PLC0415 (help needs no clients)

    args = request.args
    return Order(
        name=args.name,
        project=None if args.user else project,
        force=args.force,
        is_dry=args.dry_run,
    )


def _project_folder(request: Request, settings: Settings | None = None) -> str | None:
    """Return the folder of the project whose files are meant; None: the user's own are.

    Raises:
        UsageError: The project was named by its id, which has no folder.
    """
    if "MEMORY_PROJECT" not in request.overrides:
        return None
    settings = settings or settings_of(request)
    if settings.project is not None and settings.project.folder is not None:
        return settings.project.folder
    if request.args.user:
        return None
    raise UsageError(
        "A project that is named by its id has no folder to put files into",
        suggestions=["Name its folder (--project PATH), or add --user for your own file."],
    )


def _try(entry: "Entry", order: "Order") -> "Trial":
    """Start the entry as a client would.

    Raises:
        ConflictError: It does not work; nothing was changed.
    """
    from schemory.setup.clients.verify import try_entry  # noqa: PLC0415 (help starts nothing)

    folder = order.project or str(home_folder())
    trial = try_entry(entry, environ=process_environment(), folder=folder)
    if trial.fault is None:
        return trial
    raise ConflictError(
        f"The entry does not work, so nothing was changed: {trial.fault}",
        suggestions=["Run it in a terminal to see more.", "--no-verify writes it all the same."],
    )


def _offer(request: Request, machine: "Machine") -> tuple["Client", ...]:
    """List the clients; on a terminal, ask which of those that are here to set up."""
    from schemory.cli.install_view import ask_clients, show_standing  # noqa: PLC0415 (as above)
    from schemory.setup.clients.job import standing  # noqa: PLC0415 (help needs no clients)
    from schemory.setup.clients.table import CLIENTS  # noqa: PLC0415 (as above)

    standings = [standing(client, machine) for client in CLIENTS]
    show_standing(standings, request.out)
    if request.out.is_json or not (request.out.is_terminal and request.stdin.isatty()):
        return ()
    return ask_clients(standings, request.out, request.stdin)


def _unseen(env: Iterable["Variable"]) -> list[str]:
    """Return a note on settings of this shell that a client may not hand on."""
    named = {variable.name for variable in env}
    here = sorted(
        name for name in process_environment() if name.startswith("MEMORY_") and name not in named
    )
    if not here:
        return []
    return [
        f"{', '.join(here)} of this shell is not in the entry; give the flags, or --env {here[0]}"
    ]


def _values(raw: Raw) -> tuple[str, ...]:
    return (raw,) if isinstance(raw, str) else raw


def _which(name: str) -> str | None:
    import shutil  # noqa: PLC0415 (only for what runs from a throw-away environment)

    return shutil.which(name)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="install",
        summary="set a client up, or list the clients that are here",
        configure=_configure_install,
        run=_run_install,
        examples=(
            "schemory install                                  # which clients are here?",
            "schemory install --client claude-code             # for all your projects",
            "schemory install --client cursor --project .      # for this project only",
            "schemory install --client all --pack software --dry-run",
            "schemory install --client vscode --print",
        ),
    ),
    Command(
        name="uninstall",
        summary="take the entry out of clients' files again",
        configure=_configure_uninstall,
        run=_run_uninstall,
        examples=(
            "schemory uninstall --client claude-code",
            "schemory uninstall --client cursor --project .",
            "schemory uninstall --dry-run                      # everywhere",
        ),
    ),
)
