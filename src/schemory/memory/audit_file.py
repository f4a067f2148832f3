"""Appends audit rows to a file of JSON lines, for people who collect their logs (memory.md §8)."""

import os
from pathlib import Path

from schemory.model.entry import AuditRow
from schemory.model.jsonvalue import Json, compact

_OWNER_ONLY = 0o600
_OWNER_FOLDER = 0o700


def append_line(file: Path, row: AuditRow) -> None:
    """Append one row in one write, so that lines of several processes do not mix.

    Raises:
        OSError: The file cannot be written.
    """
    file.parent.mkdir(mode=_OWNER_FOLDER, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _OWNER_ONLY)
    try:
        os.write(descriptor, (compact(row_wire(row)) + "\n").encode())
    finally:
        os.close(descriptor)


def row_wire(row: AuditRow) -> dict[str, Json]:
    """Return a row as JSON, under the names of the table's columns."""
    return {
        "id": row.id,
        "timestamp": row.timestamp,
        "project_id": row.project_id,
        "operation": row.operation,
        "entry_id": row.entry_id,
        "actor": row.actor,
        "params": row.params,
        "result": row.result,
    }
