"""What is to be known of a client: where its files are, and the shape of an entry in them."""

from enum import StrEnum
from typing import TypeAlias

from schemory.model.frozen import dataclass

KeyPath: TypeAlias = tuple[str, ...]
"""Keys from a file's root down to the object or table that holds the servers."""


class System(StrEnum):
    """An operating system, as far as paths differ."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"


class Format(StrEnum):
    """How a file is written."""

    JSON = "json"
    TOML = "toml"


class Shape(StrEnum):
    """How an entry says what to start."""

    PLAIN = "plain"
    """`command` and `args`."""
    TYPED = "typed"
    """The same, with `type: stdio`."""
    OPENCODE = "opencode"
    """`type: local`, with command and arguments in one list."""
    CODEX = "codex"
    """The same as plain in TOML; names of variables to pass on are a list of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file of the user's that a client reads.

    Attributes:
        base: A folder; may begin with a root such as `{home}` and hold wildcards.
        file: The file below it.
        variants: Other names of the same file; one that is there is used instead.
        markers: Folders or files that tell that this place is in use; without any, `base` does.
        is_default: Used where no place of the client is in use yet.
        systems: Where there is such a place.
    """

    base: str
    file: str
    variants: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    is_default: bool = False
    systems: tuple[System, ...] = tuple(System)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that starts MCP servers.

    Attributes:
        name: As typed after `--client`.
        title: Its name for people.
        aliases: Other names that people type.
        places: Where its user-level files are.
        project_files: Below a project's folder; none: it has no files for a project.
        key: Where the servers are in a file.
        newer_key: The same in a newer layout; used in files that have it already.
        reference: How a text refers to an environment variable, `NAME` standing for its name; None:
            not at all.
        reads_comments: Whether its files may hold comments; None: not known.
        preset: Members of a file that does not exist yet, before the servers.
        programs: Commands that tell that it is installed.
        traces: Folders or files that tell the same, beside its places.
        restart: What to do for it to notice.
        check: How to see that it did.
        project_note: What else a project's file needs.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    places: tuple[Place, ...]
    project_files: tuple[str, ...] = ()
    format: Format = Format.JSON
    key: KeyPath = ("mcpServers",)
    newer_key: KeyPath | None = None
    shape: Shape = Shape.PLAIN
    reference: str | None = None
    reads_comments: bool | None = None
    preset: tuple[tuple[str, str], ...] = ()
    programs: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    restart: str
    check: str
    project_note: str | None = None
