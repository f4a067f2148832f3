"""How a client starts this product: the absolute command, and what to tell of it."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from schemory.model.frozen import dataclass


class InstalledBy(StrEnum):
    """What put this product where it runs."""

    UV_TOOL = "uv tool"
    PIPX = "pipx"
    UVX = "uvx"
    PIPX_RUN = "pipx run"
    OTHER = "pip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """The beginning of the command line, before `serve`.

    Attributes:
        note: What a person should know of it; None: nothing.
    """

    words: tuple[str, ...]
    by: InstalledBy
    note: str | None = None


_KINDS: Final = (
    (InstalledBy.UVX, re.compile(r"[/\\]uv[/\\](?:cache[/\\])?(?:archive|environments)-v\d+[/\\]")),
    (
        InstalledBy.PIPX_RUN,
        re.compile(r"[/\\]pipx[/\\](?:\.cache|cache)[/\\]|[/\\]\.cache[/\\]pipx[/\\]"),
    ),
    (InstalledBy.UV_TOOL, re.compile(r"[/\\]uv[/\\](?:data[/\\])?tools[/\\]schemory[/\\]")),
    (InstalledBy.PIPX, re.compile(r"[/\\]pipx[/\\]venvs[/\\]schemory[/\\]")),
)

_NOTES: Final = {
    InstalledBy.UV_TOOL: "installed by uv tool: `uv tool upgrade schemory` keeps this path",
    InstalledBy.PIPX: "installed by pipx: `pipx upgrade schemory` keeps this path",
    InstalledBy.UVX: "run by uvx, whose environment may vanish: the entry starts uvx, which makes "
    "it anew; `uv tool install schemory` starts sooner",
    InstalledBy.PIPX_RUN: "run by pipx, whose environment vanishes: the entry starts pipx, which "
    "makes it anew; `pipx install schemory` starts sooner",
}


def find_launcher(executable: str, which: Callable[[str], str | None]) -> Launcher:
    """Return how to start this product anew, by the Python that runs it.

    `-P` keeps Python from importing modules of the folder that a client happens to start it in: a
    project's own `json.py` would break the server, and a foreign project's could do worse.
    """
    by = next((kind for kind, form in _KINDS if form.search(executable)), InstalledBy.OTHER)
    if by is InstalledBy.UVX and (uvx := which("uvx")):
        return Launcher(words=(uvx, "schemory"), by=by, note=_NOTES[by])
    if by is InstalledBy.PIPX_RUN and (pipx := which("pipx")):
        return Launcher(words=(pipx, "run", "schemory"), by=by, note=_NOTES[by])
    return Launcher(words=(executable, "-P", "-m", "schemory"), by=by, note=_NOTES.get(by))
