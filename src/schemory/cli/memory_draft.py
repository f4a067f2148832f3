"""An entry as a text to edit: a few `key: value` lines, a line of dashes, the content."""

import os
import re
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from schemory.config.editor import editor_command
from schemory.errors import UsageError

_RULE = "---"
_HEAD_END = re.compile(rf"\r?\n{_RULE}(?:\r?\n|\Z)")
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
    head, *rest = _HEAD_END.split(draft, maxsplit=1)
    if not rest:
        raise UsageError(f"the line {_RULE} between the fields and the content is missing")
    fields: dict[str, Any] = {"content": rest[0]}
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

    Unless its content `ends_a_line`, a last line break is the editor's own and does not count;
    neither do a byte order mark, nor Windows' line ends where `text` has none.

    Raises:
        UsageError: The editor cannot be started, or failed, or left no text.
    """
    descriptor, name = tempfile.mkstemp(prefix="schemory-", suffix=".md", text=False)
    file = Path(name)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(text.encode())
    command = _editor(file)
    try:
        with _left_to_the_editor():
            done = subprocess.run([*command, name], check=False)  # noqa: S603 (the person's own)
    except OSError as fault:
        file.unlink()
        raise _no_editor(f"{command[0]!r} cannot be started: {fault.strerror}") from None
    now = _read_back(file)
    if done.returncode:
        raise _failed_editor(done.returncode, file, is_changed=now != text)
    if now == text:
        return text, file
    now = now.removeprefix("\ufeff")
    if "\r\n" not in text:
        now = now.replace("\r\n", "\n")
    return now if ends_a_line else now.removesuffix("\n"), file


def _editor(file: Path) -> list[str]:
    try:
        command = editor_command()
    except ValueError:
        command = []
    if not command:
        file.unlink()
        raise _no_editor("that EDITOR or VISUAL names is no command line")
    return command


def _no_editor(fault: str) -> UsageError:
    hint = "Set EDITOR, or give the text as an argument, or - to read standard input."
    return UsageError(f"the editor {fault}", suggestions=[hint])


def _failed_editor(code: int, file: Path, *, is_changed: bool) -> UsageError:
    if not is_changed:
        file.unlink()
    kept = f"your text is in {file}" if is_changed else "nothing was stored"
    return UsageError(f"the editor ended with code {code}; {kept}")


def _read_back(file: Path) -> str:
    """Return what the editor left.

    Raises:
        UsageError: It left no file, or none of text.
    """
    try:
        return file.read_bytes().decode()
    except OSError:
        raise UsageError(f"the editor left no text in {file}; nothing was stored") from None
    except UnicodeDecodeError as fault:
        told = f"byte {fault.start + 1} of {file} is no UTF-8; nothing was stored"
        hint = "Your text is kept there; save it as UTF-8 and pass its content with -."
        raise UsageError(told, suggestions=[hint]) from None


def _go_on(_signal: int, _frame: object) -> None:
    """Do nothing about a signal."""


@contextmanager
def _left_to_the_editor() -> Generator[None]:
    """Leave Ctrl-C to the editor, to which it may mean something else than the end."""
    import signal  # noqa: PLC0415 (only for those who edit)
    import threading  # noqa: PLC0415 (as above)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A handler that does nothing, not SIG_IGN: the editor would inherit that.
    before = signal.signal(signal.SIGINT, _go_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
