"""This machine, as far as clients' files depend on it."""

import glob
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from schemory.setup.clients.client import System
from schemory.setup.clients.places import Machine


def this_machine(environ: Mapping[str, str], home: Path) -> Machine:
    """Return the machine that the process runs on."""
    path = environ.get("PATH")
    return Machine(
        system=this_system(sys.platform),
        home=str(home),
        environ=environ,
        find=lambda pattern: sorted(glob.glob(pattern)),  # noqa: PTH207 (absolute patterns)
        has_program=lambda name: shutil.which(name, path=path) is not None,
    )


def this_system(platform: str) -> System:
    """Return the system of a `sys.platform`.

    >>> this_system("win32"), this_system("darwin"), this_system("freebsd14")
    (<System.WINDOWS: 'windows'>, <System.MACOS: 'macos'>, <System.LINUX: 'linux'>)
    """
    if platform in {"win32", "cygwin"}:
        return System.WINDOWS
    return System.MACOS if platform == "darwin" else System.LINUX
