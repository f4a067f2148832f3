"""The file of what an import could not take: each record as it stood, under the reason why.

It reads as a graph file again: mend the lines, then import it.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from schemory.errors import StoreError
from schemory.model.lines.records import Fault
from schemory.model.lines.scan import NOTE_MARK
from schemory.storage.files import replace_file


def rejected_path(source: Path) -> Path:
    """Return where the rejected records of a file go when nothing else is said."""
    return source.with_name(source.name + ".rejected")


def write_rejected(path: Path, faults: Sequence[Fault]) -> None:
    """Write the file, readable by its owner only; an older one is replaced.

    Raises:
        StoreError: It cannot be written.
    """
    try:
        replace_file(path, _lines(faults))
    except StoreError as error:
        elsewhere = "Or name another place with --rejected FILE."
        suggestions = (*error.suggestions, elsewhere)
        raise type(error)(error.message, suggestions=suggestions) from error


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
