"""What surrounds this process: the person's home folder, the current one, the terminal."""

from __future__ import annotations

import os
from collections.abc import Mapping

from schemory.errors import ConfigError
from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def process_environment() -> Mapping[str, str]:
    """Return the environment of this process, for what looks after other programs' files."""
    return os.environ


def home_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's home folder; `environ` None = the real environment."""
    from pathlib import Path  # noqa: PLC0415 (a start does without)

    return Path(home_of(os.environ if environ is None else environ))


def home_of(environment: Mapping[str, str]) -> str:
    """Return the user's home folder; HOME counts only where it is an absolute path.

    An empty HOME would otherwise put the store into the root of the file system, a relative one
    wherever the process happens to run.
    """
    stated = environment.get("HOME")
    if os.name != "posix" or not stated or not os.path.isabs(stated):
        return _home_of_user()
    return stated


def working_folder() -> str:
    """Return the folder that this process runs in.

    Raises:
        ConfigError: Somebody has deleted it.
    """
    try:
        return os.getcwd()
    except FileNotFoundError:
        fault = "the current folder has been deleted, so paths and the project cannot be found"
        hint = "Change into a folder that exists and try again."
        raise ConfigError.at("current folder", fault, suggestion=hint) from None


def _home_of_user() -> str:
    """Return the home folder that the system knows for this user."""
    if os.name != "posix":
        return os.path.expanduser("~")
    import pwd  # noqa: PLC0415 (where HOME is set, nothing of this is needed)

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        fault = "the user has no home folder: HOME is not set to an absolute path"
        raise ConfigError.at("HOME", fault) from None


def wants_colour(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether the environment allows colour (NO_COLOR is not set, TERM is not dumb)."""
    environment = os.environ if environ is None else environ
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
