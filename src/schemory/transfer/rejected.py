"""The file of what an import could not take: each record as it stood, under the reason why.

It reads as a graph file again: mend the lines, then import it.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from schemory.errors import ConflictError, StoreError
from schemory.model.lines.records import Fault
from schemory.model.lines.scan import NOTE_MARK
from schemory.storage.files import replace_file


def rejected_path(source: Path) -> Path:
    """Return where the rejected records of a file go when nothing else is said."""
    return source.with_name(source.name + ".rejected")


def write_rejected(path: Path, faults: Sequence[Fault]) -> None:
    """Write the file, readable by its owner only; an older one of such files is replaced.

    Raises:
        ConflictError: A file of somebody else's is there.
        StoreError: It cannot be written.
    """
    if not _may_replace(path):
        raise ConflictError(
            f"{path} is there already and lists no rejected records; nothing was stored",
            suggestions=["Name another place with --rejected FILE, or move that file away."],
        )
    try:
        replace_file(path, _lines(faults))
    except StoreError as error:
        elsewhere = "Or name another place with --rejected FILE."
        suggestions = (*error.suggestions, elsewhere)
        raise type(error)(error.message, suggestions=suggestions) from error


def _may_replace(path: Path) -> bool:
    """Whether nothing is lost with what is at `path`; what is no file is written to."""
    if not path.is_file():
        return True
    try:
        with path.open("rb") as file:
            head = file.read(len(NOTE_MARK))
    except OSError:
        return False
    return head in {b"", NOTE_MARK.encode()}


def _lines(faults: Sequence[Fault]) -> Iterator[bytes]:
    for fault in faults:
        reason = " ".join(fault.reason.splitlines())
        yield f"{NOTE_MARK}line {fault.line}: {reason}\n".encode("utf-8", "replace")
        # The record's own bytes, also those that are not UTF-8.
        yield _own_bytes(fault.text) + b"\n"


def _own_bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return json.dumps(text).encode()
