"""An entry as a text to edit: a few `key: value` lines, a line of dashes, the content."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from schemory.config import editor_command
from schemory.errors import UsageError

_RULE = "---"
_TEXTS = ("scope", "topic", "title", "summary", "source_ref", "source_path", "source_uri")
_KEYS = {"type": "source_type", **{key: key for key in _TEXTS}, "tags": "tags"}
_NUMBERS = {"importance": int, "confidence": float}


def draft_of(entry: Mapping[str, Any]) -> str:
    """Return the text that a person edits."""
    lines = [f"{label}: {_shown(entry.get(key))}".rstrip() for label, key in _KEYS.items()]
    lines += [f"{key}: {_shown(entry.get(key))}".rstrip() for key in _NUMBERS]
    return "\n".join([*lines, _RULE, str(entry.get("content", ""))])


def fields_of(draft: str) -> dict[str, Any]:
    """Return the fields that an edited text gives; an empty one is None.

    Raises:
        UsageError: The head has a line that is no field, or no end.
    """
    head, rule, content = draft.partition(f"\n{_RULE}\n")
    if not rule:
        raise UsageError(f"the line {_RULE} between the fields and the content is missing")
    fields: dict[str, Any] = {"content": content}
    for line in head.splitlines():
        key, colon, value = line.partition(":")
        key, value = key.strip(), value.strip()
        if not line.strip():
            continue
        if not colon or key not in {*_KEYS, *_NUMBERS}:
            known = ", ".join([*_KEYS, *_NUMBERS])
            raise UsageError(f"the line {line.strip()!r} is none of the fields {known}")
        fields[_KEYS.get(key, key)] = _parsed(key, value)
    return fields


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have another value after editing."""
    return {key: value for key, value in after.items() if value != (before.get(key) or None)}


def edited(text: str, *, ends_a_line: bool) -> tuple[str, Path]:
    """Return `text` after a person has edited it, and the file that holds it.

    Unless its content `ends_a_line`, a last line break is the editor's own and does not count.

    Raises:
        UsageError: The editor cannot be started, or failed.
    """
    descriptor, name = tempfile.mkstemp(prefix="schemory-", suffix=".md", text=False)
    file = Path(name)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(text.encode())
    command = [*editor_command(), name]
    try:
        done = subprocess.run(command, check=False)  # noqa: S603 (the person's own editor)
    except OSError as fault:
        file.unlink()
        hint = "Set EDITOR, or give the text as an argument, or - to read standard input."
        told = f"the editor {command[0]!r} cannot be started: {fault.strerror}"
        raise UsageError(told, suggestions=[hint]) from None
    if done.returncode:
        raise UsageError(f"the editor ended with code {done.returncode}; your text is in {name}")
    now = file.read_bytes().decode("utf-8", "replace")
    return now if ends_a_line else now.removesuffix("\n"), file


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, cast("Sequence[object]", value)))
    return "" if value is None else " ".join(str(value).split())


def _parsed(key: str, value: str) -> Any:
    if key == "tags":
        return [tag.strip() for tag in value.split(",") if tag.strip()] or None
    if not value:
        return None
    if key not in _NUMBERS:
        return value
    try:
        return _NUMBERS[key](value)
    except ValueError:
        raise UsageError(f"{key} must be a number, not {value!r}") from None
