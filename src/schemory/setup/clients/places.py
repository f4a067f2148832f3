"""Which files of a client are meant on a machine; pure, for all three systems on each of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Final

from schemory.model.frozen import dataclass
from schemory.setup.clients.client import Client, Place, System

_WILDCARDS: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What paths depend on.

    Attributes:
        home: The user's home folder, absolute.
        environ: The environment's variables.
        find: Returns what is there for a path with wildcards (or without), sorted.
        has_program: Whether a command of that name can be run.
    """

    system: System
    home: str
    environ: Mapping[str, str]
    find: Callable[[str], Sequence[str]]
    has_program: Callable[[str], bool] = lambda _name: False

    def path(self, text: str) -> PurePath:
        """Return `text` as a path of this machine's system."""
        return PureWindowsPath(text) if self.system is System.WINDOWS else PurePosixPath(text)

    def roots(self) -> Mapping[str, PurePath]:
        """Return what the roots in braces stand for here."""
        home = self.path(self.home)
        return {
            "home": home,
            "config": self._named("XDG_CONFIG_HOME", home / ".config"),
            "support": home / "Library" / "Application Support",
            "appdata": self._named("APPDATA", home / "AppData" / "Roaming"),
            "localappdata": self._named("LOCALAPPDATA", home / "AppData" / "Local"),
            "claude": self._named("CLAUDE_CONFIG_DIR", home),
            "codex": self._named("CODEX_HOME", home / ".codex"),
            "cline": self._named("CLINE_DATA_DIR", home / ".cline" / "data"),
        }

    def _named(self, variable: str, otherwise: PurePath) -> PurePath:
        """Return the folder that a variable names; a relative one counts as none."""
        stated = self.environ.get(variable, "")
        return self.path(stated) if stated and self.path(stated).is_absolute() else otherwise


def user_files(client: Client, machine: Machine) -> tuple[PurePath, ...]:
    """Return the user-level files to set `client` up in: all that are in use, else its default.

    More than one where it is not known which of them the installed version reads.
    """
    found = [file for place in _here(client, machine) for file in _in_use(place, machine)]
    if not found:
        found = [
            _chosen(_expand(place.base, machine), place, machine)
            for place in _here(client, machine)
            if place.is_default
        ]
    return tuple(dict.fromkeys(found))


def project_files(client: Client, machine: Machine, folder: str) -> tuple[PurePath, ...]:
    """Return the files of a project that `client` reads; none where it reads none."""
    below = machine.path(folder)
    variants = {name for place in client.places for name in place.variants}
    files: list[PurePath] = []
    for name in client.project_files:
        file = below.joinpath(*name.split("/"))
        others = [file.with_name(other) for other in sorted(variants)]
        files.append(next((other for other in others if machine.find(str(other))), file))
    return tuple(files)


def all_files(client: Client, machine: Machine) -> tuple[PurePath, ...]:
    """Return each user-level file that `client` may read here, there or not; those in use first."""
    files = list(user_files(client, machine))
    for place in _here(client, machine):
        for base in _bases(place, machine):
            files += [base.joinpath(*n.split("/")) for n in (place.file, *place.variants)]
    return tuple(dict.fromkeys(files))


def is_installed(client: Client, machine: Machine) -> bool:
    """Whether there are traces of `client` on this machine."""
    if any(map(machine.has_program, client.programs)):
        return True
    if any(machine.find(str(_expand(trace, machine))) for trace in client.traces):
        return True
    if client.traces:
        return False
    return any(True for place in _here(client, machine) for _ in _in_use(place, machine))


def _here(client: Client, machine: Machine) -> Iterator[Place]:
    return (place for place in client.places if machine.system in place.systems)


def _in_use(place: Place, machine: Machine) -> Iterator[PurePath]:
    if place.markers:
        marked = any(machine.find(str(_expand(marker, machine))) for marker in place.markers)
        bases = _bases(place, machine) if marked else ()
    else:
        bases = tuple(map(machine.path, machine.find(str(_expand(place.base, machine)))))
    for base in bases:
        yield _chosen(base, place, machine)


def _bases(place: Place, machine: Machine) -> Sequence[PurePath]:
    base = _expand(place.base, machine)
    if _WILDCARDS.isdisjoint(place.base):
        return (base,)
    return tuple(map(machine.path, machine.find(str(base))))


def _chosen(base: PurePath, place: Place, machine: Machine) -> PurePath:
    """Return the file of that place, by the name that it has here."""
    for name in place.variants:
        variant = base.joinpath(*name.split("/"))
        if machine.find(str(variant)):
            return variant
    return base.joinpath(*place.file.split("/"))


def _expand(template: str, machine: Machine) -> PurePath:
    root, *rest = template.split("/")
    return machine.roots()[root.strip("{}")].joinpath(*rest)
