"""What edits a file for this user; apart from the settings, which every start reads."""

import os
import shlex
from collections.abc import Mapping


def editor_command(environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the command that edits a file: VISUAL, else EDITOR, else what the system has."""
    environment = os.environ if environ is None else environ
    named = environment.get("VISUAL") or environment.get("EDITOR")
    if not named:
        return ["notepad"] if os.name == "nt" else ["vi"]
    return shlex.split(named, posix=os.name != "nt")
