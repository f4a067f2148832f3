"""Says what the memory's tools advise in the words of the command line."""

from __future__ import annotations

import re

from schemory.errors import SchemoryError
from schemory.hints import TYPE_CHECKING
from schemory.model.frozen import replace

if TYPE_CHECKING:
    from typing import Final

_FLAGS: Final = {
    "confirm=true": "--yes",
    "confirm_replace=true": "--yes",
    "allow_secret=true": "--allow-secret",
    "overwrite=true": "--overwrite",
    "dedupe=false": "--no-dedupe",
    "include_archived=true": "--archived",
    "include_invalidated=true": "--invalidated",
    "include_superseded=true": "--superseded",
    "on_conflict=merge": "--on-conflict merge",
    "mode=cross_project": "--all-projects",
    "status=any": "--status any",
}
_FIELDS: Final = {"created_after": "--since", "created_before": "--before", "since": "--since"}
_COMMANDS: Final = {
    "memory_search": "search",
    "memory_read_entry": "show",
    "memory_update_entry": "edit",
    "memory_invalidate_entry": "invalidate",
    "memory_restore_entry": "restore",
    "memory_rebuild_index": "doctor --fix",
    "memory_delete_entry": "delete",
    "memory_list_entry_links": "link",
    "memory_unlink_entries": "link --remove",
    "memory_export_project": "export",
}
_PHRASES: Final = {
    "Pass project_path, or start the server with that root allowed": (
        "Allow its folder with MEMORY_ALLOWED_ROOTS=FOLDER"
    ),
    "or start the server with that root allowed": "or allow its folder with MEMORY_ALLOWED_ROOTS",
}
_MOMENT = r"\bPass (\w+) as in `\w+: ([^`]+)`"
_FIELD = r"^(?:created_after|created_before|since)\b"
_CALL = r": memory_\w+ \{[^}]*\}"
_TOOL = r"\bmemory_[a-z_]+\b"


def advise_for_shell(error: SchemoryError) -> None:
    """Put the advice of a refusal, and of each of its problems, in the command line's words."""
    error.message = _in_flags(error.message)
    error.suggestions = tuple(map(shell_hint, error.suggestions))
    error.problems = tuple(
        replace(
            each,
            message=_in_flags(each.message),
            suggestion=shell_hint(each.suggestion) if each.suggestion else None,
        )
        for each in error.problems
    )


def _in_flags(message: str) -> str:
    """Return a message about a moment with the flag that gave it."""
    return re.sub(_FIELD, lambda found: _FIELDS[found.group()], message)


def shell_hint(hint: str) -> str:
    """Return a tool's advice with flags and commands in the place of arguments and tools.

    >>> shell_hint("Pass overwrite=true, or look with memory_search.")
    'Pass --overwrite, or look with `schemory search`.'
    """
    for phrase, told in _PHRASES.items():
        hint = hint.replace(phrase, told)
    argument = "|".join([rf"\b{re.escape(flag)}" for flag in _FLAGS])
    hint = re.sub(_MOMENT, _moment, hint)
    flagged = re.sub(argument, lambda found: _FLAGS[found.group()], re.sub(_CALL, "", hint))
    return re.sub(_TOOL, lambda found: _command(found.group()), flagged)


def _moment(found: re.Match[str]) -> str:
    return f"Say `{_FIELDS.get(found[1], found[1])} {found[2]}`"


def _command(tool: str) -> str:
    return f"`schemory {_COMMANDS[tool]}`" if tool in _COMMANDS else tool
